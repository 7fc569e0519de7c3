//! Programs of rdma-core and perftest on the device inside the library, in two processes.

use std::path::Path;
use std::time::Duration;

use super::{NO_ACCESS, run, share};
use crate::error::{Error, Result};
use crate::paths;

/// What runs the programs.
const RUNNER: &str = include_str!("../../guest/urxe.py");

/// The longest that all programs may take together.
const TIMEOUT: Duration = Duration::from_secs(1800);

/// Runs the programs whose title contains `only`; how many there are, or those that failed.
pub(crate) fn check(library: &Path, only: &str) -> Result<String> {
    let share = share("programs", library)?;
    paths::write(&share.join("urxe.py"), RUNNER)?;
    paths::write(&share.join("no_access.c"), NO_ACCESS)?;
    let script = format!(
        "LD_PRELOAD= gcc -O2 -Wall -Werror -o /share/no_access /share/no_access.c || exit 1\n\
         python3 /share/urxe.py 127.0.0.1 '{only}'\n"
    );
    let output = run(&share, &script, TIMEOUT)?;
    let mut count = 0;
    let mut failed = Vec::new();
    for line in output.lines() {
        let mut fields = line.split('\t');
        let (Some(title), Some(outcome)) = (fields.next(), fields.next()) else { continue };
        count += 1;
        if outcome != "ok" {
            failed.push(format!("{title}: {outcome}"));
        }
    }
    if count == 0 {
        return Err(Error::new(format!("no program ran; see {}", share.display())));
    }
    if failed.is_empty() {
        return Ok(format!("{count} programs and options, in two processes each"));
    }
    Err(Error::new(format!(
        "{} of {count} failed (see {}/results):\n    {}",
        failed.len(),
        share.display(),
        failed.join("\n    ")
    )))
}
