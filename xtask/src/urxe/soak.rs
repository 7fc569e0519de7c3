//! Data integrity under load, on the device inside the library: several processes, random requests
//! of all kinds between them, every byte compared.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{run, share};
use crate::error::{Error, Result};
use crate::paths;

/// How long it runs in the suite, in seconds.
pub(crate) const SECONDS: u32 = 60;

/// What it may take beside that, in seconds: it ends by itself when nothing happens for ten minutes.
const GRACE: u32 = 900;

/// Compiles the program and runs it. The library says why a request failed.
const SCRIPT: &str = "\
cd /share/abi-tests/urxe
LD_PRELOAD= gcc -std=gnu17 -O2 -g -Wall -Wextra -Werror -o /share/soak soak.c -libverbs || exit 1
export VERBS_LOG_LEVEL=2
";

/// Runs it for so many seconds; `seed` decides which requests there are, one is chosen if there is
/// none. A summary, or what failed and how to repeat it.
pub(crate) fn check(library: &Path, seconds: u32, seed: Option<u32>) -> Result<String> {
    let seed = seed.unwrap_or_else(|| {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.subsec_nanos())
    });
    let share = share("soak", library)?;
    paths::copy_folder(&paths::checkout().join("abi-tests"), &share.join("abi-tests"))?;
    let limit = seconds.saturating_add(GRACE);
    let script = format!(
        "{SCRIPT}timeout -k 5 {limit} /share/soak urxe0 {seconds} {seed} >/share/soak.txt 2>&1 || \
         echo \"exit status $?\" >>/share/soak.txt\n\
         grep -v '^ ' /share/soak.txt | tail -n 20\n"
    );
    let output = run(&share, &script, Duration::from_secs(u64::from(limit) + 60))?;
    match output.lines().last() {
        Some(summary) if summary.ends_with("no failures") => Ok(summary.to_owned()),
        _ => Err(Error::new(format!(
            "see {}/soak.txt; the same requests again, if not in the same order: \
             cargo xtask urxe soak --seconds {seconds} --seed {seed}\n{output}",
            share.display(),
        ))),
    }
}
