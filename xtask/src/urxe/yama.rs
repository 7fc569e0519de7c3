//! The device inside the library in a kernel whose Yama lets only ancestors reach the memory of a
//! process (`kernel.yama.ptrace_scope` 1, the setting of some distributions): it works all the same
//! and says nothing, and `URXE_ALLOW_ACCESS` brings the direct way back.

use std::path::Path;
use std::time::Duration;

use super::share;
use crate::error::{Error, Result};
use crate::paths;
use crate::vm::{Suite, Vm, chroot};

/// What runs the programs in the guest.
const RUNNER: &str = include_str!("../../guest/yama.sh");

/// The longest that all may take.
const TIMEOUT: Duration = Duration::from_secs(600);

/// How many messages a pair of programs sends.
const MESSAGES: u32 = 100;

/// Whether a run's summary is what its title wants.
fn is_good(title: &str, summary: &str) -> bool {
    let direct = format!("exit 0 and 0, 0 messages, {MESSAGES} copied, 0 refused");
    match title {
        "free" | "opened" => summary == direct,
        // A thread of the owner copies there.
        "closed" => summary.starts_with("exit 0 and 0, 0 messages, 0 copied, "),
        _ => summary.ends_with(" 0 failures") && !summary.starts_with("0 cases"),
    }
}

/// Boots forky and runs the programs as an ordinary user; what came of them.
pub(crate) fn check(library: &Path) -> Result<String> {
    let share = share("yama", library)?;
    paths::copy_folder(&paths::checkout().join("abi-tests"), &share.join("abi-tests"))?;
    // The emulated processor would take minutes for this.
    let compile = "gcc -std=gnu17 -O1 -o /share/matrix /share/abi-tests/urxe/matrix.c -libverbs";
    let command = ["sh", "-c", compile].map(str::to_owned);
    chroot::command(Suite::Forky, Some(&share), &command)?.run()?;
    let result = Vm::new(Suite::Forky).share(&share).run_script(RUNNER, TIMEOUT)?;
    let output = result.output()?;
    let runs: Vec<(&str, &str)> = output.lines().filter_map(|line| line.split_once('\t')).collect();
    let text: Vec<String> =
        runs.iter().map(|(title, summary)| format!("{title}: {summary}")).collect();
    let text = text.join("; ");
    let titles: Vec<&str> = runs.iter().map(|(title, _)| *title).collect();
    let all = titles == ["closed", "compared", "opened", "free"];
    if all && runs.iter().all(|(title, summary)| is_good(title, summary)) {
        return Ok(format!("{text}; in {} s", result.time.as_secs()));
    }
    Err(Error::new(format!("{text} (see {}/*.txt):\n{output}", share.display())))
}
