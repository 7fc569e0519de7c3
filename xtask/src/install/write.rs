//! Writing the files of an installation, and removing them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::files::{Content, File};
use super::record::Record;
use crate::error::{Context, Error, Result};
use crate::paths;

/// How many files an error names.
const NAMED: usize = 5;

/// Where `path` of the installed system is below `destdir`.
pub(super) fn below(destdir: &Path, path: &Path) -> PathBuf {
    destdir.join(path.strip_prefix("/").unwrap_or(path))
}

/// Installs `files` and writes what it made into the file `record`; how many there are.
///
/// Nothing is changed if a file of somebody else is in the way. Files of an earlier installation
/// are replaced, each at once, so that a running program keeps the one that it has opened; those
/// that are not part of this one are removed.
pub(super) fn install(files: &[File], destdir: &Path, record: &Path) -> Result<usize> {
    let before = read(destdir, record)?;
    let foreign: Vec<&Path> = files
        .iter()
        .filter(|file| !matches!(file.content, Content::Folder))
        .map(|file| file.path.as_path())
        .filter(|path| !before.has(path) && exists(&below(destdir, path)))
        .collect();
    if !foreign.is_empty() {
        let named: Vec<String> =
            foreign.iter().take(NAMED).map(|path| path.display().to_string()).collect();
        return Err(Error::new(format!(
            "{} files of another installation are in the way, {} among them: choose another \
             --prefix, or make a package that stands in for them: cargo xtask deb",
            foreign.len(),
            named.join(", ")
        )));
    }
    // The record comes first: whatever happens afterwards, all of it can be removed.
    let now = plan(files, destdir, record, before.folders.clone());
    make_parents(destdir, record)?;
    let both = Record {
        files: before.files.iter().filter(|it| !now.has(it)).chain(&now.files).cloned().collect(),
        folders: now.folders.clone(),
    };
    paths::write(&below(destdir, record), both.text())?;
    lay_out(files, destdir)?;
    for old in before.files.iter().filter(|it| !now.has(it) && *it != record) {
        remove_file(&below(destdir, old))?;
    }
    paths::write(&below(destdir, record), now.text())?;
    Ok(files.iter().filter(|file| !matches!(file.content, Content::Folder)).count())
}

/// Writes `files` below `destdir`, which is nobody else's.
pub(super) fn lay_out(files: &[File], destdir: &Path) -> Result<()> {
    for file in files {
        make_parents(destdir, &file.path)?;
        put(file, destdir)?;
    }
    Ok(())
}

/// Removes what the record tells of, and the record; how many files and links that were.
pub(super) fn uninstall(destdir: &Path, record: &Path) -> Result<usize> {
    let found = below(destdir, record);
    if !exists(&found) {
        return Err(Error::new(format!("nothing is installed: there is no {}", found.display())));
    }
    let made = read(destdir, record)?;
    let mut count = 0;
    // The record last: an attempt that failed half way can be repeated.
    for file in made.files.iter().filter(|file| *file != record) {
        count += usize::from(remove_file(&below(destdir, file))?);
    }
    remove_file(&found)?;
    for folder in made.folders.iter().rev() {
        match fs::remove_dir(below(destdir, folder)) {
            Ok(()) => {}
            // Somebody else has files there by now, or has removed it.
            Err(error) if is_kept(&error) => {}
            Err(error) => {
                return Err(Error::new(format!("cannot remove {}: {error}", folder.display())));
            }
        }
    }
    Ok(count)
}

/// Whether a folder is left for a good reason.
fn is_kept(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{DirectoryNotEmpty, NotFound};
    matches!(error.kind(), DirectoryNotEmpty | NotFound)
}

/// What the installation will have made.
fn plan(files: &[File], destdir: &Path, record: &Path, folders: Vec<PathBuf>) -> Record {
    let mut plan = Record { files: vec![record.to_owned()], folders };
    for File { path, content } in files.iter().filter(|file| file.path != record) {
        if !matches!(content, Content::Folder) {
            plan.files.push(path.clone());
        }
    }
    let paths = files.iter().filter(|file| matches!(file.content, Content::Folder));
    let parents = plan.files.iter().filter_map(|file| file.parent());
    let folders: Vec<&Path> = parents.chain(paths.map(|file| file.path.as_path())).collect();
    for folder in folders {
        let mut new: Vec<PathBuf> = folder
            .ancestors()
            .filter(|dir| !exists(&below(destdir, dir)) && !plan.folders.iter().any(|it| it == dir))
            .map(Path::to_owned)
            .collect();
        new.reverse();
        plan.folders.append(&mut new);
    }
    plan
}

/// The record of an earlier installation, empty if there was none.
fn read(destdir: &Path, record: &Path) -> Result<Record> {
    let file = below(destdir, record);
    if !exists(&file) {
        return Ok(Record::default());
    }
    Ok(Record::parse(&paths::read(&file)?))
}

/// Whether anything is at `path`, be it a link to nowhere.
fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Makes the folders above `path`.
fn make_parents(destdir: &Path, path: &Path) -> Result<()> {
    match below(destdir, path).parent() {
        Some(parent) => paths::make_dir(parent.to_owned()).map(drop),
        None => Ok(()),
    }
}

/// Puts one file in place at once, under another name first.
fn put(file: &File, destdir: &Path) -> Result<()> {
    let target = below(destdir, &file.path);
    let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let fresh = target.with_file_name(format!(".{name}.new"));
    let mode = match &file.content {
        Content::Folder => return paths::make_dir(target).map(drop),
        Content::Link(to) => {
            remove_file(&fresh)?;
            symlink(to, &fresh).context(|| format!("cannot make {}", fresh.display()))?;
            None
        }
        Content::Text(text) => {
            paths::write(&fresh, text)?;
            Some(0o644)
        }
        Content::Copy { from, executable } => {
            paths::copy(from, &fresh)?;
            Some(if *executable { 0o755 } else { 0o644 })
        }
    };
    if let Some(mode) = mode {
        fs::set_permissions(&fresh, fs::Permissions::from_mode(mode))
            .context(|| format!("cannot set the mode of {}", fresh.display()))?;
    }
    fs::rename(&fresh, &target)
        .context(|| format!("cannot rename {} to {}", fresh.display(), target.display()))
}

/// Removes a file or link; whether there was one.
fn remove_file(path: &Path) -> Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::new(format!("cannot remove {}: {error}", path.display()))),
    }
}
