//! Processes that are killed while they work with another one over the device inside the library.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{errors, run, share};
use crate::error::{Context, Result};
use crate::paths;

/// Processes that are killed in the suite.
pub(crate) const ROUNDS: u32 = 500;

/// Builds and runs the program; its arguments are appended.
const SCRIPT: &str = r"
cd /share
LD_PRELOAD= gcc -O2 -Wall -Wextra -Werror -o kill kill.c -libverbs || exit 1
./kill";

/// Kills so many processes; `seed` decides what they do and when, one is chosen if there is none.
/// What was found, or the rounds that went wrong.
pub(crate) fn check(library: &Path, rounds: u32, seed: Option<u32>) -> Result<String> {
    let seed = seed.unwrap_or_else(|| {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.subsec_nanos())
    });
    let share = share("kill", library)?;
    for name in ["errors.h", "kill.c"] {
        paths::copy(&paths::checkout().join("abi-tests/urxe").join(name), &share.join(name))?;
    }
    let limit = Duration::from_secs(120 + u64::from(rounds));
    let output = run(&share, &format!("{SCRIPT} {rounds} {seed}\n"), limit)
        .context(|| format!("cargo xtask urxe kill --rounds {rounds} --seed {seed}"))?;
    errors::rows(&output)
        .context(|| format!("cargo xtask urxe kill --rounds {rounds} --seed {seed}"))?;
    let summary = output.lines().find(|line| line.contains("killed")).unwrap_or_default();
    Ok(summary.trim_end_matches("\tok").to_owned())
}
