//! Does the package do what it says? Installed in Debian's root file systems, used, and removed.

use std::path::Path;
use std::time::Duration;

use super::deb;
use crate::error::Result;
use crate::paths;
use crate::vm::{Suite, chroot};

/// The suites whose root file systems have Debian's own packages of the newest and an old release.
const SUITES: [Suite; 2] = [Suite::Forky, Suite::Bookworm];

/// The longest that a suite may take.
const TIMEOUT: Duration = Duration::from_secs(600);

const SCRIPT: &str = include_str!("../../guest/deb.sh");

/// Makes the package of `library` and tries it.
pub(crate) fn check(library: &Path) -> Result<String> {
    let package = deb::make(library)?;
    let mut found = Vec::new();
    for suite in SUITES {
        let share = paths::scratch(&format!("deb-{}", suite.name()))?;
        paths::copy(&package, &share.join("libibverbs-rs.deb"))?;
        paths::write(&share.join("deb.sh"), SCRIPT)?;
        let command = ["sh", "/share/deb.sh"].map(str::to_owned);
        let output = chroot::command(suite, Some(&share), &command)?.timeout(TIMEOUT).output()?;
        let last = output.lines().last().unwrap_or_default();
        found.push(format!("{}: {last}", suite.name()));
    }
    Ok(found.join("; "))
}
