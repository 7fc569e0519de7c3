//! What is installed, and where.

use std::path::{Path, PathBuf};

use super::{LIBRARY_FILE, SONAME, UPSTREAM_RELEASE};
use crate::error::Result;
use crate::{man, paths};

/// The name that the project's own folders have.
pub(super) const PROJECT: &str = "libibverbs-rs";

/// The folders of an installation.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) prefix: PathBuf,
    /// Where the library is.
    pub(super) libdir: PathBuf,
    /// Where what programs are linked with is: the link `libibverbs.so` and the pkg-config file.
    pub(super) devdir: PathBuf,
}

impl Places {
    /// The places below `prefix`; `libdir` is taken as being below it unless it is absolute.
    pub(super) fn new(prefix: PathBuf, libdir: Option<PathBuf>) -> Places {
        // Debian's folders for one machine's libraries are known to its linker below /usr and
        // /usr/local alike, but only the package manager puts files into the former.
        let usual = if prefix == Path::new("/usr") { "lib/x86_64-linux-gnu" } else { "lib" };
        let libdir = prefix.join(libdir.unwrap_or_else(|| PathBuf::from(usual)));
        Places { prefix, devdir: libdir.clone(), libdir }
    }

    /// Documents of the project.
    fn doc(&self) -> PathBuf {
        self.prefix.join("share/doc").join(PROJECT)
    }

    /// The record of what was installed.
    pub(super) fn record(&self) -> PathBuf {
        self.doc().join("installed")
    }
}

/// What is at a path after the installation.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// A copy of a file.
    Copy { from: PathBuf, executable: bool },
    /// A text file.
    Text(String),
    /// A symbolic link.
    Link(PathBuf),
    /// A folder.
    Folder,
}

/// One file, link or folder.
#[derive(Clone, Debug)]
pub(super) struct File {
    /// Where it is in the installed system; absolute.
    pub(super) path: PathBuf,
    pub(super) content: Content,
}

impl File {
    fn copy(from: &Path, path: PathBuf) -> File {
        File { path, content: Content::Copy { from: from.to_owned(), executable: false } }
    }

    fn link(path: PathBuf, target: impl Into<PathBuf>) -> File {
        File { path, content: Content::Link(target.into()) }
    }

    fn text(path: PathBuf, text: String) -> File {
        File { path, content: Content::Text(text) }
    }
}

/// All files of an installation.
pub(super) fn all(places: &Places, library: &Path) -> Result<Vec<File>> {
    let mut files = run_time(places, library);
    files.extend(development(places)?);
    files.extend(manual(places)?);
    let root = paths::checkout();
    for name in ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md"] {
        files.push(File::copy(&root.join(name), places.doc().join(name)));
    }
    Ok(files)
}

/// What running programs need. The folder for names of plugins is empty: without a file in it, the
/// library looks for plugins by itself. A private prefix is not the place for it.
fn run_time(places: &Places, library: &Path) -> Vec<File> {
    let copy = Content::Copy { from: library.to_owned(), executable: true };
    let mut files = vec![
        File { path: places.libdir.join(LIBRARY_FILE), content: copy },
        File::link(places.libdir.join(SONAME), LIBRARY_FILE),
    ];
    if places.prefix.starts_with("/usr") {
        files.push(File { path: "/etc/libibverbs.d".into(), content: Content::Folder });
    }
    files
}

/// What compiling and linking programs needs.
fn development(places: &Places) -> Result<Vec<File>> {
    let root = paths::checkout();
    let includes = places.prefix.join("include");
    let mut files = Vec::new();
    for header in paths::list(&root.join("include/infiniband"))? {
        let name = header.file_name().unwrap_or_default();
        files.push(File::copy(&header, includes.join("infiniband").join(name)));
    }
    let target = match places.libdir.strip_prefix(&places.devdir) {
        Ok(below) => below.join(SONAME),
        Err(_) => places.libdir.join(SONAME),
    };
    files.push(File::link(places.devdir.join("libibverbs.so"), target));
    let template = paths::read(&root.join("pkgconfig/libibverbs.pc.in"))?;
    let text = template
        .replace("@prefix@", &places.prefix.display().to_string())
        .replace("@libdir@", &places.devdir.display().to_string())
        .replace("@includedir@", &includes.display().to_string())
        .replace("@version@", &format!("1.18.{UPSTREAM_RELEASE}"));
    files.push(File::text(places.devdir.join("pkgconfig/libibverbs.pc"), text));
    Ok(files)
}

/// The man pages, and a page for each further name of one.
fn manual(places: &Places) -> Result<Vec<File>> {
    let folder = |section: &str| places.prefix.join(format!("share/man/man{section}"));
    let mut files = Vec::new();
    for page in paths::list(&paths::checkout().join("man"))? {
        let Some(section) = page.extension().and_then(|it| it.to_str()) else { continue };
        let name = page.file_name().unwrap_or_default();
        files.push(File::copy(&page, folder(section).join(name)));
    }
    for (name, text) in man::links()? {
        files.push(File::text(folder("3").join(name), text));
    }
    Ok(files)
}
