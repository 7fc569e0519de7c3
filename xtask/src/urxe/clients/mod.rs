//! Clients of verbs on the device inside the library: real programs that bring more than a test of
//! verbs, each in a module of its own.

pub(crate) mod libfabric;
mod openmpi;
mod qperf;
mod ucx;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::paths;
use crate::vm::Suite;

/// A client.
struct Client {
    name: &'static str,
    /// Runs it with the library; how many tests it was, or those that failed.
    check: fn(&Path) -> Result<usize>,
}

/// All clients.
const CLIENTS: &[Client] = &[
    Client { name: "UCX", check: ucx::check },
    Client { name: "Open MPI", check: openmpi::check },
    Client { name: "libfabric", check: libfabric::check },
    Client { name: "qperf", check: qperf::check },
];

/// What the scripts have in common.
const COMMON: &str = include_str!("../../../guest/clients/client.py");

/// The longest that one client may take.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Runs the clients whose name contains `only`; how many tests there were, or those that failed.
pub(crate) fn check(library: &Path, only: &str) -> Result<String> {
    let (mut passed, mut failed) = (Vec::new(), Vec::new());
    for client in CLIENTS.iter().filter(|client| client.name.contains(only)) {
        match (client.check)(library) {
            Ok(tests) => passed.push(format!("{} {tests}", client.name)),
            Err(error) => failed.push(format!("{}: {error}", client.name)),
        }
    }
    if !failed.is_empty() {
        return Err(Error::new(failed.join("\n")));
    }
    if passed.is_empty() {
        return Err(Error::new(format!("no client has '{only}' in its name")));
    }
    Ok(format!("tests: {}", passed.join(", ")))
}

/// Gives programs a `/dev/infiniband` of their own, which goes away with the script.
const DEVICES: &str = "\
made=
[ -d /dev/infiniband ] || { mkdir /dev/infiniband && made=yes; }
mount -t tmpfs tmpfs /dev/infiniband || exit 1
leave() {
    umount /dev/infiniband
    [ -z \"$made\" ] || rmdir /dev/infiniband
    rm -rf $URXE_DIR
}
trap leave EXIT
";

/// A script that runs a client.
struct Script<'a> {
    /// What its folder is named after.
    name: &'a str,
    text: &'a str,
    /// Its arguments beside the library.
    arguments: &'a str,
    /// Sources of our own in abi-tests/urxe that it needs in its folder.
    sources: &'a [&'a str],
    /// Shell commands that run before it, in its folder.
    before: String,
}

impl Script<'_> {
    /// A folder with the library and all that the script needs.
    fn prepare(&self, library: &Path) -> Result<PathBuf> {
        let share = super::share(&format!("clients-{}", self.name), library)?;
        paths::write(&share.join("client.py"), COMMON)?;
        paths::write(&share.join("run.py"), self.text)?;
        for name in self.sources {
            let source = paths::checkout().join("abi-tests/urxe").join(name);
            paths::copy(&source, &share.join(name))?;
        }
        Ok(share)
    }

    /// Runs it with the packages of Debian 12; how many tests passed, or those that did not.
    fn run(&self, library: &Path) -> Result<usize> {
        let share = self.prepare(library)?;
        let command = format!(
            "cd $SHARE\n{}\nLD_PRELOAD= /usr/bin/python3 run.py $SHARE/libibverbs.so.1 {}\n",
            self.before, self.arguments
        );
        count(&super::run_in(Suite::Bookworm, &share, &command, TIMEOUT)?, &share)
    }
}

/// How many lines with a title, a tab and "ok" there are; an error if there is none, or another one.
fn count(output: &str, share: &Path) -> Result<usize> {
    let rows: Vec<_> = output.lines().filter_map(|line| line.split_once('\t')).collect();
    let failed: Vec<_> = rows.iter().filter(|(_, outcome)| *outcome != "ok").collect();
    if failed.is_empty() && !rows.is_empty() {
        return Ok(rows.len());
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
