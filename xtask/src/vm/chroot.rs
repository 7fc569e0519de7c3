//! Running a command in a suite's root file system on the host's kernel.

use std::path::Path;

use super::{Suite, rootfs};
use crate::error::{Error, Result};
use crate::packages;
use crate::sh::Cmd;

/// Enters the root with memory over it for what is written; `$1` is the root, `$2` the share.
///
/// All mounts are in a namespace of their own and go away with the command.
const ENTER: &str = r#"
set -e
root=$1 share=$2
shift 2
mount -t tmpfs tmpfs /mnt
mkdir /mnt/data /mnt/work /mnt/root
mount -t overlay -o "lowerdir=$root,upperdir=/mnt/data,workdir=/mnt/work" overlay /mnt/root
mount -t proc proc /mnt/root/proc
mount --rbind /dev /mnt/root/dev
mount --rbind /sys /mnt/root/sys
if [ -n "$share" ]; then
    mkdir -p /mnt/root/share
    mount --bind "$share" /mnt/root/share
fi
exec chroot /mnt/root "$@"
"#;

/// A command that will run as root in the root file system of `suite`.
///
/// The folder `share` is at `/share` there; what is written elsewhere is gone afterwards.
pub(crate) fn command(suite: Suite, share: Option<&Path>, command: &[String]) -> Result<Cmd> {
    if !packages::is_root()? {
        return Err(Error::new("only root can enter a root file system"));
    }
    let root = rootfs::root(suite)?;
    println!("+ in the {} root: {}", suite.name(), command.join(" "));
    Ok(Cmd::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", ENTER, "chroot"])
        .arg(root)
        .arg(share.unwrap_or(Path::new("")))
        .args(command)
        .quiet())
}
