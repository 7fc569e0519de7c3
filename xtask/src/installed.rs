//! Debian's own programs with the library preloaded, on the machine where the tests run.

use std::path::Path;
use std::time::Duration;

use crate::error::Result;
use crate::sh::Cmd;
use crate::vm::{Suite, chroot};
use crate::{packages, paths};

/// The packages with the programs.
const PACKAGES: &[&str] = &[
    "ibverbs-providers",
    "ibverbs-utils",
    "libfabric-bin",
    "perftest",
    "python3-pyverbs",
    "rdmacm-utils",
    "ucx-utils",
];

/// What runs them.
const SCRIPT: &str = include_str!("../guest/installed.sh");

/// Runs the programs with and without `library`.
///
/// On Debian 12 they are those of the machine itself, elsewhere those of Debian 12's root file
/// system on this machine's kernel.
pub(crate) fn check(library: &Path) -> Result<String> {
    let share = paths::scratch("installed")?;
    paths::copy(library, &share.join("libibverbs.so.1"))?;
    paths::write(&share.join("installed.sh"), SCRIPT)?;
    let (program, place) = if is_bookworm() {
        packages::ensure(PACKAGES)?;
        let library = share.join("libibverbs.so.1");
        (Cmd::new("sh").arg("installed.sh").arg(library).dir(&share), "here")
    } else {
        let script = "cd /share && exec sh installed.sh /share/libibverbs.so.1";
        let command = ["sh", "-c", script].map(str::to_owned);
        (chroot::command(Suite::Bookworm, Some(&share), &command)?, "in the bookworm root")
    };
    let output = program.timeout(Duration::from_secs(120)).output()?;
    Ok(format!("{} {place}", output.lines().last().unwrap_or_default()))
}

/// Whether this machine runs Debian 12.
pub(crate) fn is_bookworm() -> bool {
    let release = paths::read(Path::new("/etc/os-release")).unwrap_or_default();
    release.lines().any(|line| line == "VERSION_CODENAME=bookworm")
}
