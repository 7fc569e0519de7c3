//! Every opcode over every type of queue pair, on the device inside the library: a C program that
//! compares each byte and each field of the completions. In one process and in several, and where
//! processes cannot reach each other's memory.

use std::path::Path;
use std::time::Duration;

use super::{NO_ACCESS, run, share};
use crate::error::{Error, Result};
use crate::paths;

/// What compiles the program and runs it.
const RUNNER: &str = include_str!("../../guest/matrix.sh");

/// How often it does.
const MODES: usize = 6;

/// The longest that all runs may take together.
const TIMEOUT: Duration = Duration::from_secs(1500);

/// Runs the cases of the links whose title contains `only`; how many there are, or what failed.
pub(crate) fn check(library: &Path, only: &str) -> Result<String> {
    let share = share("matrix", library)?;
    paths::copy_folder(&paths::checkout().join("abi-tests"), &share.join("abi-tests"))?;
    paths::write(&share.join("no_access.c"), NO_ACCESS)?;
    paths::write(&share.join("matrix.sh"), RUNNER)?;
    let output = run(&share, &format!("sh /share/matrix.sh '{only}'\n"), TIMEOUT)?;
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    for (title, summary) in output.lines().filter_map(|line| line.split_once('\t')) {
        let is_good = summary.ends_with(" 0 failures") && !summary.starts_with("0 cases");
        if is_good { &mut found } else { &mut failed }.push(format!("{title}: {summary}"));
    }
    if found.len() == MODES {
        return Ok(found.join("; "));
    }
    Err(Error::new(format!(
        "{} of {MODES} runs are not as they should be (see {}/*.txt):\n    {}",
        MODES - found.len().min(MODES),
        share.display(),
        failed.join("\n    ")
    )))
}
