//! The library below other languages: crates of crates.io and wheels of PyPI, built and run with an
//! installation of it, on the device inside it.

pub(crate) mod crates;
pub(crate) mod wheels;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::error::{Error, Result};
use crate::install::{self, Installed};
use crate::packages;
use crate::paths;
use crate::sh::Cmd;

/// What `cargo xtask bindings` can do.
const USAGE: &str = "\
usage: cargo xtask bindings devices|crates|wheels [--lib FILE] [--ibverbs-checkout DIR]

  devices   build a program on each of the crates rdma-sys, ibverbs and sideway; list the devices
  crates    run these crates' own tests and examples, and tests of ours with them
  wheels    move data between two processes with the PyPI packages ibverbs and
            mooncake-transfer-engine-non-cuda

FILE is the library, otherwise the release build. What cargo and pip fetch and build is kept in the
cache folder. With DIR, a checkout of the repository of the crate ibverbs, `crates` runs the loopback
tests in it instead, as they are: they are in no published version.
";

/// Runs the command in `args`.
pub(crate) fn main(args: &[String]) -> Result<ExitCode> {
    let (mut library, mut checkout) = (paths::target().join("release/libibverbs.so"), None);
    let [command, options @ ..] = args else { return Err(Error::new(USAGE)) };
    for option in options.chunks(2) {
        match option {
            [name, file] if name == "--lib" => library = PathBuf::from(file),
            [name, folder] if name == "--ibverbs-checkout" => checkout = Some(Path::new(folder)),
            _ => return Err(Error::new(USAGE)),
        }
    }
    let (needs, run): (_, fn(&Path) -> Result<String>) = match (command.as_str(), checkout) {
        ("devices", None) => (crates::PACKAGES, crates::devices),
        ("crates", _) => (crates::PACKAGES, crates::tests),
        ("wheels", None) => (wheels::PACKAGES, wheels::check),
        _ => return Err(Error::new(USAGE)),
    };
    packages::ensure(needs)?;
    println!("{}", checkout.map_or_else(|| run(&library), |it| crates::checkout(&library, it))?);
    Ok(ExitCode::SUCCESS)
}

/// An installation in a folder of its own, and a directory where processes on the device meet, which
/// goes away with this.
struct Place {
    installed: Installed,
    meeting: PathBuf,
}

impl Place {
    fn new(name: &str, library: &Path) -> Result<Place> {
        let installed = install::below(paths::scratch(name)?, library)?;
        let meeting = format!("/dev/shm/libibverbs-rs-{name}-{}", std::process::id());
        Ok(Place { installed, meeting: PathBuf::from(meeting) })
    }

    /// What makes programs use the installation, and the device in it.
    fn environment(&self) -> [(&'static str, &Path); 5] {
        [
            ("PKG_CONFIG_PATH", &self.installed.pkgconfig),
            ("LIBRARY_PATH", &self.installed.libdir),
            ("LD_LIBRARY_PATH", &self.installed.libdir),
            ("IBV_DRIVERS", Path::new("urxe")),
            ("URXE_DIR", &self.meeting),
        ]
    }

    /// A command with that environment.
    fn command(&self, command: Cmd) -> Cmd {
        self.environment()
            .into_iter()
            .fold(command, |command, (name, value)| command.env(name, value))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // It is not there when no program has opened the device.
        let _ = std::fs::remove_dir_all(&self.meeting);
    }
}

/// A shell script that gets namespaces of its own for networks and mounts; an ordinary user is root
/// in them.
fn isolated(script: &Path) -> Result<Cmd> {
    let unshare = Cmd::new("unshare").args(["--net", "--mount", "--propagation", "private"]);
    let unshare = if packages::is_root()? { unshare } else { unshare.arg("--map-root-user") };
    Ok(unshare.arg("sh").arg(script))
}
