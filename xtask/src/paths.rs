//! Where things are: the checkout, the folder for build results, the logs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Context, Error, Result};

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

/// An empty folder for the files of one run, `name` telling of what.
///
/// It stays for the user to look at until another process makes one of the same name.
pub(crate) fn scratch(name: &str) -> Result<PathBuf> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let parent = make_dir(target().join("xtask-vm"))?;
    remove_abandoned(&parent, &format!("{name}-"))?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let dir = parent.join(format!("{name}-{}.{number}", std::process::id()));
    if dir.exists() {
        remove(&dir)?;
    }
    make_dir(dir)
}

/// Removes the folders in `parent` that are named `prefix` and the number of a process that is no
/// more, with or without a further number behind a point.
pub(crate) fn remove_abandoned(parent: &Path, prefix: &str) -> Result<()> {
    // Threads that begin at a time find the same folders.
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for dir in list(parent)? {
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let numbers = name.strip_prefix(prefix).unwrap_or_default();
        let pid = numbers.split('.').next().and_then(|pid| pid.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
            remove(&dir)?;
        }
    }
    Ok(())
}

/// Removes a folder and all that is in it, unless something is mounted there.
pub(crate) fn remove(dir: &Path) -> Result<()> {
    let mounts = read(Path::new("/proc/self/mounts"))?;
    let inside = format!("{}/", dir.display());
    if mounts.lines().filter_map(|line| line.split(' ').nth(1)).any(|at| at.starts_with(&inside)) {
        return Err(Error::new(format!("something is mounted in {}; unmount it", dir.display())));
    }
    match fs::remove_dir_all(dir) {
        // Another process has removed it meanwhile.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        outcome => outcome.context(|| format!("cannot remove {}", dir.display())),
    }
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

/// Copies a folder with all that is in it.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    make_dir(to.to_owned())?;
    for path in list(from)? {
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_folder(&path, &target)?;
        } else {
            copy(&path, &target)?;
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_find_the_same_left_over_do_not_mind() {
        let parent = scratch("left-over").unwrap();
        // No process has a number like that.
        for number in 0..50 {
            make_dir(parent.join(format!("x-4294967295.{number}/inside"))).unwrap();
        }
        std::thread::scope(|scope| {
            let removers = [(); 4].map(|()| scope.spawn(|| remove_abandoned(&parent, "x-")));
            for remover in removers {
                remover.join().unwrap().unwrap();
            }
        });
        assert!(list(&parent).unwrap().is_empty());
        remove(&parent.join("gone")).unwrap();
    }
}
