//! The decision: which layout a provider has, by all that can be seen of its file.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::imports::Span;
use super::names::{self, LIBRARIES, Named, release_in};
use crate::plugin::elf;
use crate::provider_api::private_abi::{Layout, layout, layouts_of};

/// Releases by how common they are, where nothing else tells.
const COMMON: [u32; 7] = [50, 54, 44, 39, 46, 60, 62];
/// How many links from file to file are followed.
const LINKS: usize = 8;
/// The longest plugin file that is looked into, in bytes.
const LONGEST_FILE: u64 = 64 * 1024 * 1024;
/// How many files of a directory are looked at.
const FILES: usize = 100_000;

/// A provider whose layout is to be found out.
pub(super) struct Subject<'a> {
    /// What the provider calls itself.
    pub(super) provider: &'a [u8],
    pub(super) private_abi: u32,
    /// The file that it is in, if that is known.
    pub(super) file: Option<&'a Path>,
}

/// What was found out.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) layout: &'static Layout,
    /// From what, for people.
    pub(super) from: String,
    /// Whether it is a guess.
    pub(super) is_guess: bool,
    /// What the user said of it, if that cannot be true.
    pub(super) misfit: Option<String>,
}

/// A provider of a release that the library does not serve.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Unserved {
    pub(super) release: u32,
    pub(super) from: String,
}

/// A release and where it stands.
struct Found {
    release: u32,
    from: String,
    /// Whether other releases stand in places that are as good.
    is_guess: bool,
}

impl Subject<'_> {
    /// Whether a release has the private ABI. Its number is that of the first one that has it.
    fn fits(&self, release: u32) -> bool {
        let last = layouts_of(self.private_abi).map(|layout| *layout.releases.end()).max();
        last.is_some_and(|last| (self.private_abi..=last).contains(&release))
    }

    /// The names that the user may give it: what it calls itself, and that of its file.
    fn is_name(&self, name: &[u8]) -> bool {
        let file = self.file.and_then(Path::file_name).map(OsStrExt::as_bytes).unwrap_or_default();
        let of_file = file.strip_prefix(b"lib").and_then(|rest| rest.strip_prefix(name));
        name == self.provider || of_file.is_some_and(|it| matches!(it.first(), Some(b'-' | b'.')))
    }

    /// Decides, with what the user said of it.
    pub(super) fn decide(&self, told: Option<&[u8]>) -> Result<Decision, Unserved> {
        let told = told.map_or(Ok(None), |value| {
            names::told(value, |name| self.is_name(name), |release| self.fits(release))
        });
        match told {
            Ok(None) => self.by_files(),
            Ok(Some(release)) => self.is_of(Found {
                release,
                from: "what the user says".to_owned(),
                is_guess: false,
            }),
            Err(text) => {
                let misfit = Some(text.escape_ascii().to_string());
                self.by_files().map(|decision| Decision { misfit, ..decision })
            }
        }
    }

    /// Decides by its file and those beside it.
    fn by_files(&self) -> Result<Decision, Unserved> {
        let files = self.file.map(links).unwrap_or_default();
        let own_name = files.iter().find_map(|file| {
            let name = file.file_name()?;
            let release = release_in(name.as_bytes())?.release;
            let from = format!("its file name {}", name.display());
            self.fits(release).then_some(Found { release, from, is_guess: false })
        });
        if let Some(found) = own_name {
            return self.is_of(found);
        }
        let span = self.file.map_or_else(Span::all, |file| self.by_imports(file));
        let is_left = |layout: &&Layout| {
            layout.releases.start() <= span.releases.end()
                && layout.releases.end() >= span.releases.start()
        };
        let left: Vec<_> = layouts_of(self.private_abi).filter(is_left).collect();
        if let ([layout], Some(why)) = (&left[..], &span.why) {
            return Ok(Decision { layout, from: why.clone(), is_guess: false, misfit: None });
        }
        let may_be =
            |named: &Named| self.fits(named.release) && span.releases.contains(&named.release);
        if let Some(found) = beside(&files, self.private_abi, may_be) {
            return self.is_of(found);
        }
        let of_left = |release: &u32| left.iter().find(|it| it.releases.contains(release)).copied();
        let from = span.why.unwrap_or_else(|| "nothing that tells more".to_owned());
        match COMMON.iter().find_map(of_left).or_else(|| left.first().copied()) {
            Some(layout) => Ok(Decision { layout, from, is_guess: true, misfit: None }),
            None => Err(Unserved { release: self.private_abi, from }),
        }
    }

    fn is_of(&self, found: Found) -> Result<Decision, Unserved> {
        let Found { release, from, is_guess } = found;
        match layout(self.private_abi, release) {
            Some(layout) => Ok(Decision { layout, from, is_guess, misfit: None }),
            None => Err(Unserved { release, from }),
        }
    }

    /// What the functions tell that its file calls.
    fn by_imports(&self, file: &Path) -> Span {
        let bytes = read(file).unwrap_or_default();
        let imports: Vec<_> = elf::imports(&bytes).collect();
        Span::of(self.private_abi, self.provider, &imports)
    }
}

/// A file and those that it is a link to, one after the other; they need not be there.
fn links(file: &Path) -> Vec<PathBuf> {
    let mut files = vec![file.to_owned()];
    while files.len() <= LINKS {
        let Some(last) = files.last() else { break };
        let Ok(target) = std::fs::read_link(last) else { break };
        let target = last.parent().unwrap_or(Path::new("/")).join(target);
        files.push(target);
    }
    files
}

/// The content of a file that is not too long to be a plugin.
fn read(path: &Path) -> Option<Vec<u8>> {
    let mut file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
    let about = file.metadata().ok()?;
    if !about.is_file() || about.len() > LONGEST_FILE {
        return None;
    }
    let mut bytes = vec![0; usize::try_from(about.len()).ok()?];
    let mut length = 0;
    while let Some(rest) = bytes.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    bytes.truncate(length);
    Some(bytes)
}

/// The release that files beside a plugin tell: other plugins of its private ABI that are links to
/// libraries, then those libraries themselves, by the links to them, then by their names.
fn beside(files: &[PathBuf], private_abi: u32, may_be: impl Fn(&Named) -> bool) -> Option<Found> {
    let mut own: Vec<&Path> = Vec::new();
    for directory in [files.first(), files.last()].into_iter().flatten() {
        own.extend(directory.parent().filter(|it| !own.contains(it)));
    }
    let by_link = |link: PathBuf| {
        let target = std::fs::read_link(&link).ok()?;
        let named = release_in(target.file_name()?.as_bytes()).filter(|it| may_be(it))?;
        let from = format!("{} -> {}", link.display(), target.display());
        Some(Found { release: named.release, from, is_guess: false })
    };
    let plugins = own.iter().flat_map(|directory| {
        let providers = LIBRARIES.iter().filter(|library| library.is_provider);
        providers.map(|it| directory.join(format!("lib{}-rdmav{private_abi}.so", it.name)))
    });
    if let Some(found) = plugins.into_iter().find_map(by_link) {
        return Some(found);
    }
    let around: Vec<_> =
        own.iter().flat_map(|directory| [directory.join(".."), directory.to_path_buf()]).collect();
    let libraries = around.iter().flat_map(|directory| {
        LIBRARIES.iter().map(|it| directory.join(format!("lib{}.so.{}", it.name, it.major)))
    });
    libraries.into_iter().find_map(by_link).or_else(|| {
        let names = |directory: &PathBuf| listed(directory, private_abi, &may_be);
        around.iter().find_map(names)
    })
}

/// The release that the names of a directory's files tell: that of the library which is most likely
/// to be of the same package, and the newest of it.
fn listed(directory: &Path, private_abi: u32, may_be: impl Fn(&Named) -> bool) -> Option<Found> {
    let entries = std::fs::read_dir(directory).ok()?.flatten().take(FILES);
    let named = entries.filter_map(|entry| {
        let named = release_in(entry.file_name().as_bytes())?;
        may_be(&named).then(|| (named, entry.path()))
    });
    let named: Vec<_> = named.collect();
    let (best, path) =
        named.iter().min_by_key(|(named, _)| (named.library, core::cmp::Reverse(named.release)))?;
    let first_release = |release| layout(private_abi, release).map(|it| *it.releases.start());
    let is_guess = named.iter().any(|(other, _)| {
        other.library == best.library && first_release(other.release) != first_release(best.release)
    });
    Some(Found { release: best.release, from: path.display().to_string(), is_guess })
}
