//! Running a command in a root file system on the host's kernel.

use std::path::Path;

use super::{Suite, rootfs};
use crate::error::{Error, Result};
use crate::packages;
use crate::sh::Cmd;

/// Puts the root `$1` to `$at` with memory over it for what is written.
const FLEETING: &str = r#"
mount -t tmpfs tmpfs /mnt
mkdir /mnt/data /mnt/work /mnt/root
at=/mnt/root
mount -t overlay -o "lowerdir=$1,upperdir=/mnt/data,workdir=/mnt/work" overlay $at
"#;

/// Puts the root `$1` to `$at` as it is.
const LASTING: &str = r#"
at=/mnt
mount --bind "$1" $at
"#;

/// Enters the root at `$at`; `$2` is the share.
///
/// All mounts are in a namespace of their own and go away with the command.
const ENTER: &str = r#"
share=$2
shift 2
mount -t proc proc $at/proc
mount --rbind /dev $at/dev
mount --rbind /sys $at/sys
if [ -n "$share" ]; then
    mkdir -p $at/share
    mount --bind "$share" $at/share
fi
exec chroot $at "$@"
"#;

/// A command that will run as root in the root file system of `suite`.
///
/// The folder `share` is at `/share` there; what is written elsewhere is gone afterwards.
pub(crate) fn command(suite: Suite, share: Option<&Path>, command: &[String]) -> Result<Cmd> {
    in_root(&rootfs::root(suite)?, share, command)
}

/// The same in another root file system.
pub(crate) fn in_root(root: &Path, share: Option<&Path>, command: &[String]) -> Result<Cmd> {
    enter(FLEETING, root, share, command)
}

/// A command that changes the root file system in which it runs as root.
pub(crate) fn change(root: &Path, command: &[String]) -> Result<Cmd> {
    enter(LASTING, root, None, command)
}

fn enter(how: &str, root: &Path, share: Option<&Path>, command: &[String]) -> Result<Cmd> {
    if !packages::is_root()? {
        return Err(Error::new("only root can enter a root file system"));
    }
    println!("+ in {}: {}", root.display(), command.join(" "));
    Ok(Cmd::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c"])
        .arg(format!("set -e{how}{ENTER}"))
        .arg("chroot")
        .arg(root)
        .arg(share.unwrap_or(Path::new("")))
        .args(command)
        .quiet())
}
