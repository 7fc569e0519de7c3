//! `cargo xtask install` and `uninstall`: the library, headers, pkg-config file and man pages, where
//! a distribution would have put them, with a record of every file so that all of it can be removed.

pub(crate) mod check;
pub(crate) mod deb;
pub(crate) mod deb_check;
mod files;
mod record;
mod write;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::error::{Error, Result};
use crate::paths;
use crate::sh::Cmd;

use files::Places;

/// The release of rdma-core that the library stands in for.
const UPSTREAM_RELEASE: &str = "65.0";
/// What the linker of other programs asks for at run time.
const SONAME: &str = "libibverbs.so.1";
/// The file behind it: named as that of the release, so that `ldconfig` and plugins take it for one.
const LIBRARY_FILE: &str = "libibverbs.so.1.18.65.0";

const USAGE: &str = "\
usage: cargo xtask install [--prefix P] [--destdir D] [--libdir L] [--lib FILE]
       cargo xtask uninstall [--prefix P] [--destdir D]

  --prefix P   the folder that holds lib, include and share (/usr/local)
  --libdir L   the folder for the library, absolute or below the prefix (lib; below /usr the
               distribution's folder for libraries of this machine)
  --destdir D  a folder that stands for / while the files are laid out, for those who make packages
  --lib FILE   the library to install; otherwise it is built

A file that is there already and is not of an earlier installation is never overwritten: nothing is
installed then. To stand in for a distribution's own files, make a package: cargo xtask deb.
";

/// What the command line asks for.
#[derive(Debug)]
struct Options {
    places: Places,
    destdir: PathBuf,
    library: Option<PathBuf>,
}

/// Reads the options of both tasks.
fn options(args: &[String]) -> Result<Options> {
    let (mut prefix, mut libdir) = (PathBuf::from("/usr/local"), None);
    let (mut destdir, mut library) = (PathBuf::from("/"), None);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        // Both `--prefix P` and `--prefix=P` are what people type.
        let (name, joined) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (arg.as_str(), None),
        };
        if !["--prefix", "--destdir", "--libdir", "--lib"].contains(&name) {
            return Err(Error::new(format!("unknown option '{arg}'\n\n{USAGE}")));
        }
        let value = match joined {
            Some(value) => value,
            None => args.next().ok_or_else(|| Error::new(format!("{arg} needs a value")))?,
        };
        let value = PathBuf::from(value);
        match name {
            "--prefix" => prefix = value,
            "--destdir" => destdir = absolute(&value)?,
            "--libdir" => libdir = Some(value),
            _ => library = Some(value),
        }
    }
    if !prefix.is_absolute() {
        return Err(Error::new(format!("--prefix {} is no absolute path", prefix.display())));
    }
    Ok(Options { places: Places::new(prefix, libdir), destdir, library })
}

/// A path that stays the same when the folder changes.
fn absolute(path: &Path) -> Result<PathBuf> {
    use crate::error::Context;
    std::path::absolute(path).context(|| format!("cannot tell where {} is", path.display()))
}

/// Where an installation for other programs has what they need.
pub(crate) struct Installed {
    /// The folder of the library.
    pub(crate) libdir: PathBuf,
    /// The folder of the file for pkg-config.
    pub(crate) pkgconfig: PathBuf,
    /// The library itself, behind all links.
    pub(crate) library: PathBuf,
}

/// Installs `library` below `prefix`, as `cargo xtask install` does.
pub(crate) fn below(prefix: PathBuf, library: &Path) -> Result<Installed> {
    let places = Places::new(prefix, None);
    write::install(&files::all(&places, library)?, Path::new("/"), &places.record())?;
    let library = places.libdir.join(LIBRARY_FILE);
    Ok(Installed { pkgconfig: places.devdir.join("pkgconfig"), libdir: places.libdir, library })
}

/// Runs `cargo xtask install`.
pub(crate) fn install(args: &[String]) -> Result<ExitCode> {
    let options = options(args)?;
    let library = match &options.library {
        Some(file) => file.clone(),
        None => build()?,
    };
    let files = files::all(&options.places, &library)?;
    let count = write::install(&files, &options.destdir, &options.places.record())?;
    println!("{count} files and links installed below {}", options.places.prefix.display());
    if is_searched(&options)? {
        refresh(&options)?;
    } else if is_running_system(&options) {
        let libdir = options.places.libdir.display();
        println!("programs find the library with LD_LIBRARY_PATH={libdir}");
    }
    println!("to remove them: cargo xtask uninstall{}", again(&options));
    Ok(ExitCode::SUCCESS)
}

/// Runs `cargo xtask uninstall`.
pub(crate) fn uninstall(args: &[String]) -> Result<ExitCode> {
    let options = options(args)?;
    // The folder may go.
    let was_searched = is_searched(&options)?;
    let count = write::uninstall(&options.destdir, &options.places.record())?;
    println!("{count} files and links removed below {}", options.places.prefix.display());
    if was_searched {
        refresh(&options)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The options that name the same installation.
fn again(options: &Options) -> String {
    let mut text = String::new();
    if options.places.prefix != Path::new("/usr/local") {
        text.push_str(&format!(" --prefix {}", options.places.prefix.display()));
    }
    if options.destdir != Path::new("/") {
        text.push_str(&format!(" --destdir {}", options.destdir.display()));
    }
    text
}

/// Builds the library for installation.
fn build() -> Result<PathBuf> {
    Cmd::new("cargo").args(["build", "--release"]).dir(paths::checkout()).run()?;
    Ok(paths::target().join("release/libibverbs.so"))
}

fn is_running_system(options: &Options) -> bool {
    options.destdir == Path::new("/")
}

/// Whether the dynamic linker of the running system looks for libraries where the library goes.
fn is_searched(options: &Options) -> Result<bool> {
    if !is_running_system(options) {
        return Ok(false);
    }
    // It lists the folders, and writes nothing.
    let listing = Cmd::new("/sbin/ldconfig").args(["-v", "-N", "-X"]).quiet().output()?;
    Ok(lists(&listing, &options.places.libdir))
}

/// Whether ldconfig(8) lists a folder, under whatever name.
fn lists(listing: &str, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real(folder);
    let names = listing.lines().filter(|line| line.starts_with('/'));
    names.filter_map(|line| line.split_once(':')).any(|(name, _)| real(Path::new(name)) == folder)
}

/// Has the dynamic linker look at its folders again.
fn refresh(options: &Options) -> Result<()> {
    if crate::packages::is_root()? {
        return Cmd::new("/sbin/ldconfig").run();
    }
    println!(
        "only root can tell the dynamic linker: programs find the library with LD_LIBRARY_PATH={}",
        options.places.libdir.display()
    );
    Ok(())
}

#[cfg(test)]
mod tests;
