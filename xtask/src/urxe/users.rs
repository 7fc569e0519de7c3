//! Who must not reach a process that uses the device inside the library: another user at all, a
//! process of the same user beyond its keys.

use std::path::Path;
use std::time::Duration;

use super::{errors, run, share};
use crate::error::Result;
use crate::paths;

/// The longest that the program may take.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The processes meet where they do by default, of users that nobody else is.
const SCRIPT: &str = r"
cd /share
LD_PRELOAD= gcc -O2 -Wall -Wextra -Werror -o users users.c -libverbs || exit 1
unset URXE_DIR
user=$((64000 + $$ % 400 * 3))
./users $user $((user + 1))
status=$?
rm -rf /dev/shm/libibverbs-rs-$user /dev/shm/libibverbs-rs-$((user + 1))
exit $status
";

/// Runs the program; how many rows there are, or those that failed.
pub(crate) fn check(library: &Path) -> Result<String> {
    let share = share("users", library)?;
    for name in ["errors.h", "users.c"] {
        paths::copy(&paths::checkout().join("abi-tests/urxe").join(name), &share.join(name))?;
    }
    errors::rows(&run(&share, SCRIPT, TIMEOUT)?)
}
