//! UCX: `ucx_perftest` over its transports `rc_verbs` and `ud_verbs`.

use std::path::Path;

use super::{DEVICES, Script};
use crate::error::Result;

/// What runs it.
const TEXT: &str = include_str!("../../../guest/clients/ucx.py");

/// Gives UCX the character device that it wants to see, with the name of the verbs device.
pub(super) const LOOKED_AT: &str = "ln -s /dev/null /dev/infiniband/urxe0\n";

/// Runs its tests; how many there were.
pub(super) fn check(library: &Path) -> Result<usize> {
    let before = format!("{DEVICES}{LOOKED_AT}");
    Script { name: "ucx", text: TEXT, arguments: "", sources: &[], before }.run(library)
}
