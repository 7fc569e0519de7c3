//! The sources of Debian's packages, compiled against our headers, .pc file and library.
//!
//! A copy of forky's root file system in the cache has the sources and what compiling them takes.
//! What is compiled is gone afterwards, but for the programs, which then run as Debian's own do.
//!
//! Each package is compiled with Debian's own headers, too, once for all: what cannot be compiled
//! with those either is the package's fault, and the objects of both have to be the same ones and to
//! take the same symbols from elsewhere.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::folder;
use super::objects::Objects;
use crate::error::{Context, Error, Result};
use crate::sh::Cmd;
use crate::vm::{Suite, chroot, programs, rootfs};
use crate::{cache, paths, urxe};

/// What fetches them, in forky.
const FETCH: &str = include_str!("../../guest/sources-fetch.sh");

/// What compiles them there.
const BUILD: &str = include_str!("../../guest/sources.sh");

/// The longest that fetching, or compiling one package, may take.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// The packages.
const PACKAGES: &[&str] = &["perftest", "qperf", "ucx", "libfabric", "rdma-core"];

/// Compiles each of `packages`, or all there are if none is named, and runs the programs among what was
/// built. What goes wrong with one of them is an error when all have had their turn.
pub(super) fn run(packages: &[&str], library: &Path) -> Result<String> {
    let packages = if packages.is_empty() { PACKAGES } else { packages };
    let mut failures = Vec::new();
    for package in packages {
        match compile(package, library).and_then(|built| built.run_programs(library)) {
            Ok(found) => println!("{found}"),
            Err(error) => {
                println!("{package} FAILED");
                failures.push(format!("{package}: {error}"));
            }
        }
    }
    match failures.as_slice() {
        [] => Ok(format!("as with Debian's headers: {}", packages.join(", "))),
        _ => Err(Error::new(failures.join("\n"))),
    }
}

/// Those that are compiled quickly enough for every run of the tests, beside perftest.
const QUICK: &[&str] = &["qperf", "rdma-core"];

/// Compiles the packages that are quick to compile; part of the tests.
pub(crate) fn check_quick(library: &Path) -> Result<String> {
    let found = QUICK.iter().map(|package| Ok(compile(package, library)?.found));
    Ok(found.collect::<Result<Vec<_>>>()?.join("; "))
}

/// Compiles perftest and runs it; part of the tests.
pub(crate) fn check_perftest(library: &Path) -> Result<String> {
    compile("perftest", library)?.run_programs(library)
}

/// A package that was compiled.
struct Built {
    package: String,
    /// What is to be said about it, in one line.
    found: String,
    /// The folder with its programs.
    programs: PathBuf,
}

impl Built {
    /// Runs the programs, if there are any, in all ways in which Debian's own run: on the device
    /// inside the library, and in a virtual machine with this library and Debian's.
    fn run_programs(self, library: &Path) -> Result<String> {
        let found = self.found;
        let only = match self.package.as_str() {
            "perftest" => "ib_",
            "qperf" => "qperf",
            "rdma-core" => "_pingpong",
            _ => return Ok(found),
        };
        let in_vm = programs::run(Suite::Forky, library, Some(&self.programs), only)?.check()?;
        // qperf's runs on this device are with other clients.
        if only == "qperf" {
            return Ok(format!("{found}; on rxe {in_vm}"));
        }
        let on_urxe = urxe::programs::check(library, Suite::Forky, Some(&self.programs), only)?;
        Ok(format!("{found}; on urxe {on_urxe}; on rxe {in_vm}"))
    }
}

/// Compiles `package` with our headers, and compares with what Debian's give.
fn compile(package: &str, library: &Path) -> Result<Built> {
    let root = root()?;
    // Debian's first: what fails with those is the package's own failure.
    let debian = with_debian_headers(&root, package)?;
    let share = paths::scratch("sources")?;
    paths::copy_folder(&folder(), &share.join("infiniband"))?;
    paths::copy(library, &share.join("libibverbs.so.1"))?;
    let template = paths::read(&paths::checkout().join("pkgconfig/libibverbs.pc.in"))?;
    let pc = template
        .replace("@prefix@", "/usr")
        .replace("@libdir@", "/usr/lib/x86_64-linux-gnu")
        .replace("@includedir@", "/usr/include");
    paths::write(&share.join("libibverbs.pc"), pc)?;
    let found = build(&root, &share, package)?;
    let read = |dir: &Path| Objects::read(&dir.join("objects"), package);
    let differences = read(&share)?.differences(&read(&debian)?);
    if !differences.is_empty() {
        return Err(Error::new(format!(
            "{package} is not what Debian's headers make it (see {} and {}):\n    {}",
            share.join("objects").display(),
            debian.join("objects").display(),
            differences.join("\n    ")
        )));
    }
    Ok(Built {
        package: package.to_owned(),
        found: format!("{found}, the symbols they take as with Debian's headers"),
        programs: share.join("built"),
    })
}

/// The folder with what compiling `package` with Debian's headers has left.
fn with_debian_headers(root: &Path, package: &str) -> Result<PathBuf> {
    let stamp = format!("{}{BUILD}", stamp());
    cache::entry(&format!("debian-headers-{package}"), &stamp, |dir| {
        let found = build(root, dir, package)
            .context(|| format!("{package} does not compile with Debian's own headers"))?;
        println!("{found}, with Debian's headers");
        Ok(())
    })
}

/// Compiles `package` with what is in `share`; what the script says, in one line. The log of a
/// failure stays with the logs of the tasks.
fn build(root: &Path, share: &Path, package: &str) -> Result<String> {
    paths::write(&share.join("sources.sh"), BUILD)?;
    let command = ["sh", "/share/sources.sh", package].map(str::to_owned);
    let output = chroot::in_root(root, Some(share), &command)?.timeout(TIMEOUT).output();
    let output = output.map_err(|error| {
        let kept = keep_log(share, package);
        kept.map_or_else(
            |lost| Error::new(format!("{error}\n{lost}")),
            |log| Error::new(format!("{error}\nits log is {}", log.display())),
        )
    })?;
    Ok(output.trim_end().replace('\t', " ").replace('\n', "; "))
}

/// Copies the log of `package` out of `share`, which does not stay.
fn keep_log(share: &Path, package: &str) -> Result<PathBuf> {
    let log = paths::logs()?.join(format!("sources-{package}-{}.log", std::process::id()));
    paths::copy(&share.join("logs").join(package), &log)?;
    Ok(log)
}

/// What the root file system with the sources is made from.
fn stamp() -> String {
    format!("{}{FETCH}", rootfs::stamp(Suite::Forky))
}

/// Forky's root file system with the sources and what compiling them takes.
fn root() -> Result<PathBuf> {
    let plain = rootfs::root(Suite::Forky)?;
    let entry = cache::entry("root-forky-sources", &stamp(), |dir| {
        let root = dir.join("root");
        Cmd::new("cp").args(["-a", "--reflink=auto"]).arg(&plain).arg(&root).run()?;
        paths::write(&root.join("tmp/fetch.sh"), FETCH)?;
        let command = ["sh", "/tmp/fetch.sh"].map(str::to_owned);
        chroot::change(&root, &command)?.timeout(TIMEOUT).run()
    })?;
    Ok(entry.join("root"))
}
