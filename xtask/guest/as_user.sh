# Runs a command as an ordinary user who has a copy of the build results as their own:
#     sh as_user.sh TARGET COPY COMMAND...
# in a mount namespace that nobody else sees; COPY is an empty folder.

set -e
target=$1 copy=$2
shift 2
user=65534

# The folder that Cargo wants, the copy, is in the place of the original.
mkdir -p "$copy/home" "$copy/debug"
cp -a "$target/release" "$copy"
cp -a "$target/debug/xtask" "$copy/debug"
chown -R $user:$user "$copy"
mount --bind "$copy" "$target"

# Root's home, in which the toolchain may be, is open: each folder in it is, as it was.
if [ -d "$HOME" ] && ! setpriv --reuid $user --regid $user --clear-groups test -x "$HOME"; then
    mount --rbind "$HOME" /mnt
    mount -t tmpfs -o mode=755 tmpfs "$HOME"
    for folder in /mnt/* /mnt/.[!.]*; do
        [ -d "$folder" ] || continue
        mkdir "$HOME/${folder#/mnt/}"
        mount --rbind "$folder" "$HOME/${folder#/mnt/}"
    done
fi
mount -t tmpfs -o mode=1777 tmpfs /dev/shm

export CARGO_HOME="${CARGO_HOME:-$HOME/.cargo}" RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}"
export HOME="$target/home"
exec setpriv --reuid $user --regid $user --clear-groups "$@"
