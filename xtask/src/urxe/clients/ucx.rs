//! UCX: `ucx_perftest` over its transports `rc_verbs` and `ud_verbs`.

use std::path::Path;

use crate::error::Result;

/// What runs it.
const RUNNER: &str = include_str!("../../../guest/clients/ucx.py");

/// Gives UCX the character device that it wants to see, with the name of the verbs device.
pub(super) const DEVICE: &str = "\
made=
[ -d /dev/infiniband ] || { mkdir /dev/infiniband && made=yes; }
mount -t tmpfs tmpfs /dev/infiniband
leave() {
    umount /dev/infiniband
    [ -z \"$made\" ] || rmdir /dev/infiniband
    rm -rf $URXE_DIR
}
trap leave EXIT
ln -s /dev/null /dev/infiniband/urxe0
";

/// Runs its tests; how many there were.
pub(super) fn check(library: &Path) -> Result<usize> {
    super::run_python("ucx", RUNNER, DEVICE, library)
}
