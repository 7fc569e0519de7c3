//! Debian packages that a task needs on the machine where it runs.

use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::error::{Context, Error, Result};
use crate::sh::Cmd;

/// What building the library needs beside Rust.
pub(crate) const FOR_BUILD: &[&str] = &["gcc", "libc6-dev"];

/// What the virtual machine needs.
pub(crate) const FOR_VM: &[&str] =
    &["qemu-system-x86", "seabios", "mmdebstrap", "cpio", "gzip", "procps", "xz-utils"];

/// Makes sure that `packages` are installed, and installs what is missing if that is allowed.
///
/// Within this process one call installs at a time.
pub(crate) fn ensure(packages: &[&str]) -> Result<()> {
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let missing = missing(packages)?;
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(" ");
    if !is_root()? {
        return Err(Error::new(format!(
            "these Debian packages are missing; install them and run this again:\n    \
             apt-get install --no-install-recommends {list}"
        )));
    }
    let apt = || Cmd::new("apt-get").env("DEBIAN_FRONTEND", "noninteractive");
    apt().arg("update").run()?;
    apt()
        .args(["install", "-y", "--no-install-recommends"])
        .args(&missing)
        .timeout(Duration::from_secs(1200))
        .run()
        .context(|| format!("cannot install {list}"))
}

/// Whether this process may do everything.
pub(crate) fn is_root() -> Result<bool> {
    let me = std::fs::metadata("/proc/self").context(|| "cannot read /proc/self".to_owned())?;
    Ok(me.uid() == 0)
}

/// Those of `packages` that are not installed.
fn missing<'a>(packages: &[&'a str]) -> Result<Vec<&'a str>> {
    if packages.is_empty() {
        return Ok(Vec::new());
    }
    // One line for each package that dpkg knows; its exit code only says that it knows them all.
    let output = Command::new("dpkg-query")
        .args(["--show", "--showformat", "${Package} ${db:Status-Status}\\n"])
        .args(packages)
        .output()
        .context(|| "cannot ask dpkg-query which packages are installed".to_owned())?;
    let known = String::from_utf8_lossy(&output.stdout);
    let installed =
        |package: &str| known.lines().any(|line| line == format!("{package} installed"));
    Ok(packages.iter().copied().filter(|package| !installed(package)).collect())
}
