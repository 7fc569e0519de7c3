//! libfabric: datagrams of its provider verbs, with its own program and with one of ours.

use std::path::Path;
use std::time::Duration;

use super::{DEVICES, Script, count};
use crate::bindings::crates;
use crate::error::{Error, Result};
use crate::paths;
use crate::vm::{Suite, Vm};

/// What runs them.
const TEXT: &str = include_str!("../../../guest/clients/libfabric.py");

/// Compiles our program.
const COMPILE: &str =
    "LD_PRELOAD= gcc -O2 -Wall -Wextra -Werror -o libfabric libfabric.c -lfabric || exit 1\n";

/// What runs in the virtual machine: libfabric's program on urxe, and sideway's tests of connections on
/// soft-RoCE over the interface whose address they resolve.
const IN_MACHINE: &str = "\
IBV_DRIVERS=urxe python3 run.py /share/libibverbs.so.1 pingpong || exit 1
rdma link add rxe_lo type rxe netdev lo || exit 1
patience=300
until grep -qs 7f00:0001 /sys/class/infiniband/rxe_lo/ports/1/gids/* && [ -c /dev/infiniband/uverbs2 ]; do
    patience=$((patience - 1))
    [ $patience -gt 0 ] || exit 1
    sleep 0.1
done
LD_LIBRARY_PATH=/share VERBS_LOG_LEVEL=4 ./sideway --test-threads=1 rdmacm:: >sideway.txt 2>sideway.log ||
    { cat sideway.txt sideway.log; exit 1; }
";

/// What the library says when a program of sideway's tests has found the kernel's connection manager.
const FOUND: &str = "device rxe_lo: provider rxe takes it";

/// The longest that it may take there.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Runs them on this machine; how many runs there were.
pub(super) fn check(library: &Path) -> Result<usize> {
    let (sources, before) = (&["bytes.h", "libfabric.c"], format!("{DEVICES}{COMPILE}"));
    let arguments = "plain pingpong";
    Script { name: "libfabric", text: TEXT, arguments, sources, before }.run(library)
}

/// Runs libfabric's own program, and the tests of connections that sideway has, in a kernel that has a
/// connection manager, with Debian 13's packages.
pub(crate) fn check_in_machine(library: &Path) -> Result<String> {
    let before = String::new();
    let script = Script { name: "libfabric", text: TEXT, arguments: "", sources: &[], before };
    let share = script.prepare(library)?;
    paths::copy(&crates::sideway_tests(library)?, &share.join("sideway"))?;
    let result = Vm::new(Suite::Trixie).share(&share).run_script(IN_MACHINE, TIMEOUT)?;
    result.success()?;
    let tests = count(&result.output()?, &share)?;
    let (text, log) = (share.join("sideway.txt"), share.join("sideway.log"));
    let connections = crates::connections(&paths::read(&text)?);
    // Without a connection manager they return at once.
    if connections == 0 || !paths::read(&log)?.contains(FOUND) {
        return Err(Error::new(format!(
            "no device was opened for sideway's tests: {}",
            log.display()
        )));
    }
    Ok(format!(
        "{tests} tests of fi_pingpong, {connections} of sideway with connections, in {} s",
        result.time.as_secs()
    ))
}
