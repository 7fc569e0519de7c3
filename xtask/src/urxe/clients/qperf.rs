//! qperf, on a port of InfiniBand.

use std::path::Path;

use super::Script;
use crate::error::Result;

/// What runs it.
const TEXT: &str = include_str!("../../../guest/clients/qperf.py");

/// Runs its tests; how many there were.
pub(super) fn check(library: &Path) -> Result<usize> {
    Script { name: "qperf", text: TEXT, arguments: "", sources: &[], before: String::new() }
        .run(library)
}
