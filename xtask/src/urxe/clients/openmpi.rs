//! Open MPI with UCX below it: a program of our own, whose ranks compare all that they send each other.

use std::path::Path;

use super::{DEVICES, Script, ucx};
use crate::error::Result;

/// What runs it.
const TEXT: &str = include_str!("../../../guest/clients/openmpi.py");

/// Compiles the program.
const COMPILE: &str = "LD_PRELOAD= mpicc -O2 -Wall -Wextra -Werror -o mpi mpi.c || exit 1\n";

/// Runs it over each transport; how many runs there were.
pub(super) fn check(library: &Path) -> Result<usize> {
    let before = format!("{DEVICES}{}{COMPILE}", ucx::LOOKED_AT);
    let sources = &["bytes.h", "mpi.c"];
    Script { name: "openmpi", text: TEXT, arguments: "", sources, before }.run(library)
}
