//! Large things that outlive a checkout, root file systems above all.
//!
//! An entry is a folder with a stamp that says what it was made from. It is built under another
//! name and gets its own only when complete, so that an interrupted build is never used.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::error::{Context, Error, Result};
use crate::paths;

/// The name of the file with the stamp inside an entry.
const STAMP: &str = "stamp";

/// The cache: `LIBIBVERBS_RS_CACHE`, or `libibverbs-rs` where the user's caches are.
pub(crate) fn dir() -> Result<PathBuf> {
    let var = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let dir = var("LIBIBVERBS_RS_CACHE")
        .or_else(|| var("XDG_CACHE_HOME").map(|dir| dir.join("libibverbs-rs")))
        .or_else(|| var("HOME").map(|dir| dir.join(".cache/libibverbs-rs")))
        .ok_or_else(|| Error::new("no folder for the cache: set LIBIBVERBS_RS_CACHE or HOME"))?;
    paths::make_dir(dir)
}

/// The folder of entry `name`, filled by `build` if it is missing or its stamp is another one.
///
/// Within this process one entry is built at a time.
pub(crate) fn entry(
    name: &str,
    stamp: &str,
    build: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let cache = dir()?;
    let entry = cache.join(name);
    if has_stamp(&entry, stamp) {
        return Ok(entry);
    }
    for kind in ["new", "old"] {
        paths::remove_abandoned(&cache, &format!("{name}.{kind}-"))?;
    }
    let fresh = cache.join(format!("{name}.new-{}", std::process::id()));
    paths::make_dir(fresh.clone())?;
    if let Err(error) = build(&fresh) {
        paths::remove(&fresh)?;
        return Err(error);
    }
    paths::write(&fresh.join(STAMP), stamp)?;
    // Somebody else may have built the same in the meantime, and may be using it already.
    if has_stamp(&entry, stamp) {
        paths::remove(&fresh)?;
        return Ok(entry);
    }
    if entry.exists() {
        let old = cache.join(format!("{name}.old-{}", std::process::id()));
        rename(&entry, &old)?;
        paths::remove(&old)?;
    }
    rename(&fresh, &entry)?;
    Ok(entry)
}

/// Whether `entry` is complete and was made from what `stamp` says.
fn has_stamp(entry: &Path, stamp: &str) -> bool {
    fs::read_to_string(entry.join(STAMP)).is_ok_and(|found| found == stamp)
}

/// Gives an entry another name.
fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).context(|| format!("cannot rename {} to {}", from.display(), to.display()))
}
