//! The sources of Debian's packages, compiled against our headers, .pc file and library.

use std::path::Path;
use std::time::Duration;

use super::folder;
use crate::error::Result;
use crate::paths;
use crate::vm::{Suite, chroot};

/// What fetches and compiles them, in forky.
const SCRIPT: &str = include_str!("../../guest/headers-sources.sh");

/// The longest that it may take.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// Compiles `packages`, separated by spaces, or all if there are none. Nothing of what is fetched
/// and built is kept but the logs and programs in the folder that the answer names.
pub(super) fn run(packages: &str, library: &Path) -> Result<String> {
    let share = paths::scratch("headers-sources")?;
    paths::copy_folder(&folder(), &share.join("infiniband"))?;
    paths::copy(library, &share.join("libibverbs.so.1"))?;
    let template = paths::read(&paths::checkout().join("pkgconfig/libibverbs.pc.in"))?;
    let pc = template
        .replace("@prefix@", "/usr")
        .replace("@libdir@", "/usr/lib/x86_64-linux-gnu")
        .replace("@includedir@", "/usr/include");
    paths::write(&share.join("libibverbs.pc"), pc)?;
    paths::write(&share.join("sources.sh"), SCRIPT)?;
    let command = ["sh", "/share/sources.sh", packages].map(str::to_owned);
    let output =
        chroot::command(Suite::Forky, Some(&share), &command)?.timeout(TIMEOUT).output()?;
    Ok(format!("{output}see {}", share.display()))
}
