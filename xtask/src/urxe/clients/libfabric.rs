//! libfabric: datagrams of its provider verbs, with its own program and with one of ours.

use std::path::Path;
use std::time::Duration;

use super::{DEVICES, Script, count};
use crate::error::Result;
use crate::vm::{Suite, Vm};

/// What runs them.
const TEXT: &str = include_str!("../../../guest/clients/libfabric.py");

/// Compiles our program.
const COMPILE: &str =
    "LD_PRELOAD= gcc -O2 -Wall -Wextra -Werror -o libfabric libfabric.c -lfabric || exit 1\n";

/// What runs in the virtual machine.
const IN_MACHINE: &str = "\
export IBV_DRIVERS=urxe
python3 run.py /share/libibverbs.so.1 pingpong
";

/// The longest that it may take there.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Runs them on this machine; how many runs there were.
pub(super) fn check(library: &Path) -> Result<usize> {
    let (sources, before) = (&["bytes.h", "libfabric.c"], format!("{DEVICES}{COMPILE}"));
    let arguments = "plain pingpong";
    Script { name: "libfabric", text: TEXT, arguments, sources, before }.run(library)
}

/// Runs libfabric's own program in a kernel that has a connection manager, with Debian 13's packages.
pub(crate) fn check_in_machine(library: &Path) -> Result<String> {
    let before = String::new();
    let script = Script { name: "libfabric", text: TEXT, arguments: "", sources: &[], before };
    let share = script.prepare(library)?;
    let result = Vm::new(Suite::Trixie).share(&share).run_script(IN_MACHINE, TIMEOUT)?;
    result.success()?;
    let tests = count(&result.output()?, &share)?;
    Ok(format!("{tests} tests of fi_pingpong, in {} s", result.time.as_secs()))
}
