//! qperf, on a port of InfiniBand.

use std::path::Path;

use crate::error::Result;

/// What runs it.
const RUNNER: &str = include_str!("../../../guest/clients/qperf.py");

/// Runs its tests; how many there were.
pub(super) fn check(library: &Path) -> Result<usize> {
    super::run_python("qperf", RUNNER, "", library)
}
