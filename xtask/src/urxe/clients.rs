//! Clients of verbs on the device inside the library: UCX, and qperf.

use std::path::Path;
use std::time::Duration;

use super::{run_in, share};
use crate::error::{Error, Result};
use crate::paths;
use crate::vm::Suite;

/// What runs the clients.
const RUNNER: &str = include_str!("../../guest/clients.py");

/// The longest that all clients may take together.
const TIMEOUT: Duration = Duration::from_secs(600);

/// UCX wants a character device with the name of the verbs device.
const SCRIPT: &str = "\
made=
[ -d /dev/infiniband ] || { mkdir /dev/infiniband && made=yes; }
mount -t tmpfs tmpfs /dev/infiniband
ln -s /dev/null /dev/infiniband/urxe0
cd $SHARE
LD_PRELOAD= /usr/bin/python3 clients.py $SHARE/libibverbs.so.1
code=$?
umount /dev/infiniband
[ -z \"$made\" ] || rmdir /dev/infiniband
exit $code
";

/// Runs them with the packages of Debian 12; how many there are, or those that failed.
pub(crate) fn check(library: &Path) -> Result<String> {
    let share = share("clients", library)?;
    paths::write(&share.join("clients.py"), RUNNER)?;
    let output = run_in(Suite::Bookworm, &share, SCRIPT, TIMEOUT)?;
    let rows: Vec<_> = output.lines().filter_map(|line| line.split_once('\t')).collect();
    let failed: Vec<_> = rows.iter().filter(|(_, outcome)| *outcome != "ok").collect();
    if failed.is_empty() && !rows.is_empty() {
        return Ok(format!("{} tests of UCX and qperf, in two processes each", rows.len()));
    }
    let failed: Vec<_> =
        failed.iter().map(|(title, what)| format!("\n    {title}: {what}")).collect();
    Err(Error::new(format!(
        "{} of {} failed (see {}):{}",
        failed.len(),
        rows.len(),
        share.display(),
        failed.concat()
    )))
}
