//! Programs of rdma-core and perftest on the device inside the library, in two processes.

use std::path::Path;
use std::time::Duration;

use super::{NO_ACCESS, run_in, share};
use crate::error::{Error, Result};
use crate::paths;
use crate::vm::Suite;

/// What runs the programs.
const RUNNER: &str = include_str!("../../guest/urxe.py");

/// The C source of what makes perftest quick, and post in both ways.
const FOR_PERFTEST: &str = include_str!("../../c/for_perftest.c");

/// The longest that all programs may take together.
const TIMEOUT: Duration = Duration::from_secs(1800);

/// Runs the programs whose title contains `only`; how many there are, or those that failed.
///
/// They are those in the folder `built`, if there is one, and all others those of `suite`.
pub(crate) fn check(
    library: &Path,
    suite: Suite,
    built: Option<&Path>,
    only: &str,
) -> Result<String> {
    let share = share("programs", library)?;
    paths::write(&share.join("urxe.py"), RUNNER)?;
    paths::write(&share.join("no_access.c"), NO_ACCESS)?;
    paths::write(&share.join("for_perftest.c"), FOR_PERFTEST)?;
    if let Some(built) = built {
        paths::copy_folder(built, &share.join("bin"))?;
    }
    let script = format!(
        "cd $SHARE\n\
         export PATH=$SHARE/bin:$PATH\n\
         LD_PRELOAD= gcc -O2 -Wall -Werror -o no_access no_access.c || exit 1\n\
         LD_PRELOAD= gcc -O2 -Wall -Werror -shared -fPIC -o for_perftest.so for_perftest.c || exit 1\n\
         LD_PRELOAD= /usr/bin/python3 urxe.py 127.0.0.1 $SHARE/libibverbs.so.1 '{only}'\n"
    );
    let output = run_in(suite, &share, &script, TIMEOUT)?;
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
    let ran = paths::list(&share.join("results"))?.len();
    if count == 0 || count != ran {
        return Err(Error::new(format!(
            "{ran} programs ran, and {count} outcomes were told; see {}",
            share.display()
        )));
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
