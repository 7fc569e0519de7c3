//! Where things are: the checkout, the folder for build results, the logs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Context, Result};

/// The root of the checkout.
pub(crate) fn checkout() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

/// Cargo's folder for build results: `CARGO_TARGET_DIR`, or `target` in the checkout.
pub(crate) fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) if !dir.is_empty() => checkout().join(dir),
        _ => checkout().join("target"),
    }
}

/// The folder for the logs of the commands that tasks run, made if missing.
pub(crate) fn logs() -> Result<PathBuf> {
    make_dir(target().join("xtask-logs"))
}

/// An empty folder for the files of one run of a virtual machine, `name` telling what it does.
pub(crate) fn scratch(name: &str) -> Result<PathBuf> {
    let dir = target().join("xtask-vm").join(format!("{name}-{}", std::process::id()));
    if dir.exists() {
        fs::remove_dir_all(&dir).context(|| format!("cannot empty {}", dir.display()))?;
    }
    make_dir(dir)
}

/// Makes `dir` and its parents, and hands it back.
pub(crate) fn make_dir(dir: PathBuf) -> Result<PathBuf> {
    fs::create_dir_all(&dir).context(|| format!("cannot make {}", dir.display()))?;
    Ok(dir)
}

/// Reads a text file; bytes that are not UTF-8 become replacement characters.
pub(crate) fn read(path: &Path) -> Result<String> {
    let bytes = fs::read(path).context(|| format!("cannot read {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes a file.
pub(crate) fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    fs::write(path, contents).context(|| format!("cannot write {}", path.display()))
}

/// Copies a file, its mode included.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to)
        .map(|_| ())
        .context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

/// The files and folders in `dir`, sorted by name.
pub(crate) fn list(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).context(|| format!("cannot list {}", dir.display()))?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<Vec<_>>>()
        .context(|| format!("cannot list {}", dir.display()))?;
    paths.sort();
    Ok(paths)
}
