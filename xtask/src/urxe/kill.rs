//! Processes that are killed while they work with another one over the device inside the library.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{errors, run, share};
use crate::error::{Context, Result};
use crate::paths;

/// Processes that are killed in the suite.
pub(crate) const ROUNDS: u32 = 500;

/// Of so many, one is killed where processes may not reach each other's memory.
const WITHOUT_ACCESS: u32 = 5;

/// Builds the program.
const SCRIPT: &str = r"
cd /share
LD_PRELOAD= gcc -O2 -Wall -Wextra -Werror -o kill kill.c -libverbs || exit 1
";

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
    let without = rounds / WITHOUT_ACCESS;
    let script = format!(
        "{SCRIPT}./kill {} {seed} || exit 1\nURXE_NO_ACCESS=1 ./kill {without} {seed}\n",
        rounds - without
    );
    let output = run(&share, &script, limit)
        .context(|| format!("cargo xtask urxe kill --rounds {rounds} --seed {seed}"))?;
    errors::rows(&output)
        .context(|| format!("cargo xtask urxe kill --rounds {rounds} --seed {seed}"))?;
    let summaries = output.lines().filter(|line| line.contains("killed"));
    let texts: Vec<&str> = summaries.map(|line| line.trim_end_matches("\tok")).collect();
    Ok(texts.join("; "))
}
