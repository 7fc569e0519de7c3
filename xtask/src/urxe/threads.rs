//! Objects that several threads share: every message once and whole, while locks that were one
//! thread's alone become those of all.

use std::path::Path;
use std::time::Duration;

use super::{errors, run, share};
use crate::error::Result;
use crate::paths;

/// The longest that the program may take.
const TIMEOUT: Duration = Duration::from_secs(600);

const SCRIPT: &str = r"
cd /share
LD_PRELOAD= gcc -std=gnu17 -O2 -Wall -Wextra -Werror -o threads threads.c -libverbs || exit 1
./threads
";

/// Runs the program; how many rows there are, or those that failed.
pub(crate) fn check(library: &Path) -> Result<String> {
    let share = share("threads", library)?;
    for name in ["errors.h", "threads.c"] {
        paths::copy(&paths::checkout().join("abi-tests/urxe").join(name), &share.join(name))?;
    }
    errors::rows(&run(&share, SCRIPT, TIMEOUT)?)
}
