//! Root file systems, made by mmdebstrap and kept in the cache.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Suite;
use crate::cache;
use crate::error::{Context, Error, Result};
use crate::packages;
use crate::paths;
use crate::sh::Cmd;

/// The root file system of `suite`, built if it is missing or not what it has to be.
pub(crate) fn root(suite: Suite) -> Result<PathBuf> {
    packages::ensure(packages::FOR_VM)?;
    let entry = cache::entry(&format!("root-{}", suite.name()), &stamp(suite), |dir| {
        build(suite, &suite.packages().join(","), &dir.join("root"))
    })?;
    Ok(entry.join("root"))
}

/// What the root file system of `suite` is made from.
pub(crate) fn stamp(suite: Suite) -> String {
    format!("{} {}\n", suite.name(), suite.packages().join(","))
}

/// The release of the kernel in `root`.
pub(super) fn kernel_release(root: &Path) -> Result<String> {
    let dirs = paths::list(&root.join("usr/lib/modules"))?;
    match dirs.as_slice() {
        [dir] => Ok(dir.file_name().unwrap_or_default().to_string_lossy().into_owned()),
        _ => Err(Error::new(format!("{} has {} kernels, not one", root.display(), dirs.len()))),
    }
}

/// Makes a new root file system in `dir`.
fn build(suite: Suite, packages: &str, dir: &Path) -> Result<()> {
    if !packages::is_root()? {
        return Err(Error::new("only root can build a root file system with device nodes in it"));
    }
    // A testing suite's release file is refused when its snapshot is a few days old.
    Cmd::new("mmdebstrap")
        .args(["--mode=root", "--variant=minbase"])
        .arg("--aptopt=Acquire::Check-Valid-Until \"false\"")
        .arg(format!("--include={packages}"))
        .arg(suite.name())
        .arg(dir)
        .timeout(Duration::from_secs(1200))
        .run()
        .context(|| format!("cannot build the root file system of {}", suite.name()))
}
