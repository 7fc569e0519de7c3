//! The sources of Debian's packages, compiled against our headers, .pc file and library.
//!
//! A copy of forky's root file system in the cache has the sources and what compiling them takes.
//! What is compiled is gone afterwards, but for the programs, which then run as Debian's own do.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::folder;
use crate::error::{Error, Result};
use crate::sh::Cmd;
use crate::vm::{Suite, chroot, programs, rootfs};
use crate::{cache, paths, urxe};

/// What fetches them, in forky.
const FETCH: &str = include_str!("../../guest/sources-fetch.sh");

/// What compiles them there.
const BUILD: &str = include_str!("../../guest/sources.sh");

/// The longest that either may take.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// The packages.
const PACKAGES: &[&str] = &["perftest", "qperf", "ucx", "libfabric", "rdma-core"];

/// Compiles `packages`, or all if there are none, and runs the programs among what was built. What
/// cannot be compiled is an error.
pub(super) fn run(packages: &[&str], library: &Path) -> Result<String> {
    let packages = if packages.is_empty() { PACKAGES } else { packages };
    let (output, built) = compile(packages, library)?;
    let mut found = vec![output.trim_end().to_owned()];
    for (package, only) in [("perftest", "ib_"), ("qperf", "qperf"), ("rdma-core", "_pingpong")] {
        if packages.contains(&package) {
            found.push(run_programs(&built, library, only)?);
        }
    }
    Ok(found.join("\n"))
}

/// Compiles perftest and runs it; part of the tests.
pub(crate) fn check_perftest(library: &Path) -> Result<String> {
    let (output, built) = compile(&["perftest"], library)?;
    let output = output.trim_end().replace('\t', " ");
    Ok(format!("{output}; {}", run_programs(&built, library, "ib_")?))
}

/// Runs the programs in `built` whose title contains `only`, in all ways in which Debian's own run:
/// on the device inside the library, and in a virtual machine with this library and Debian's.
fn run_programs(built: &Path, library: &Path, only: &str) -> Result<String> {
    let in_vm = programs::run(Suite::Forky, library, Some(built), only)?.check()?;
    // qperf's runs on this device are with other clients.
    if only == "qperf" {
        return Ok(format!("{only}: on rxe {in_vm}"));
    }
    let on_urxe = urxe::programs::check(library, Suite::Forky, Some(built), only)?;
    Ok(format!("{only}: on urxe {on_urxe}; on rxe {in_vm}"))
}

/// Compiles `packages`; a line for each, and the folder with their programs.
fn compile(packages: &[&str], library: &Path) -> Result<(String, PathBuf)> {
    let root = root()?;
    let share = paths::scratch("sources")?;
    paths::copy_folder(&folder(), &share.join("infiniband"))?;
    paths::copy(library, &share.join("libibverbs.so.1"))?;
    let template = paths::read(&paths::checkout().join("pkgconfig/libibverbs.pc.in"))?;
    let pc = template
        .replace("@prefix@", "/usr")
        .replace("@libdir@", "/usr/lib/x86_64-linux-gnu")
        .replace("@includedir@", "/usr/include");
    paths::write(&share.join("libibverbs.pc"), pc)?;
    paths::write(&share.join("sources.sh"), BUILD)?;
    let words = ["sh", "/share/sources.sh"].iter().chain(packages);
    let command: Vec<String> = words.map(|word| (*word).to_owned()).collect();
    let output = chroot::in_root(&root, Some(&share), &command)?.timeout(TIMEOUT).output();
    let output = output.map_err(|error| {
        Error::new(format!("{error}\nthe logs are in {}", share.join("logs").display()))
    })?;
    Ok((output, share.join("built")))
}

/// Forky's root file system with the sources and what compiling them takes.
fn root() -> Result<PathBuf> {
    let plain = rootfs::root(Suite::Forky)?;
    let stamp = format!("{}{FETCH}", rootfs::stamp(Suite::Forky));
    let entry = cache::entry("root-forky-sources", &stamp, |dir| {
        let root = dir.join("root");
        Cmd::new("cp").args(["-a", "--reflink=auto"]).arg(&plain).arg(&root).run()?;
        paths::write(&root.join("tmp/fetch.sh"), FETCH)?;
        let command = ["sh", "/tmp/fetch.sh"].map(str::to_owned);
        chroot::change(&root, &command)?.timeout(TIMEOUT).run()
    })?;
    Ok(entry.join("root"))
}
