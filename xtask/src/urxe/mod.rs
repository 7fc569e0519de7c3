//! The device inside the library: real programs and upstream's tests on it, in the root file system
//! of a Debian release or with what this machine has installed, and on this machine's kernel, which
//! needs no RDMA for that.

pub(crate) mod bench;
pub(crate) mod clients;
pub(crate) mod errors;
pub(crate) mod kill;
pub(crate) mod matrix;
pub(crate) mod programs;
pub(crate) mod soak;
pub(crate) mod suite;
pub(crate) mod threads;
pub(crate) mod users;
pub(crate) mod yama;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::sh::Cmd;
use crate::vm::{Suite, chroot};
use crate::{installed, packages, paths};

/// The C source of what keeps programs from the memory of other processes.
const NO_ACCESS: &str = include_str!("../../c/no_access.c");

/// What `cargo xtask urxe` can do.
const USAGE: &str = "\
usage: cargo xtask urxe COMMAND [SUITE] [--lib FILE] [--only PART] [--record] [--repeat NUMBER]
                        [--seconds N] [--rounds N] [--seed S]

  suite     run upstream's tests and compare each test's outcome with what is expected; --record
            writes the outcomes down as those expected; --repeat does it so many times
  programs  run the examples of rdma-core and perftest, a server and a client each
  matrix    move data with every opcode over every type of queue pair, and compare each byte and
            each field of the completions; only the links whose title contains PART
  soak      move data between several processes for N seconds (60) with random requests, and compare
            each byte; S decides which requests
  clients   run clients of verbs (UCX, Open MPI, libfabric, qperf), those whose name contains PART
  libfabric run libfabric's own program, and tests of the crate sideway, in a virtual machine, whose
            kernel has a connection manager
  errors    provoke every refusal, error completion and event, and read what explains them
  kill      kill N processes (500) while they work with another one, which must get over it; S
            decides what they do and when
  threads   send between queue pairs that several threads share, and compare what comes
  users     try to reach a process as another user, and with forged keys
  yama      programs of an ordinary user in a virtual machine whose kernel keeps processes from each
            other's memory

The first two run with what the Debian SUITE has, forky unless told otherwise, on this machine's
kernel: in the suite's root file system, or where this machine itself is of that suite, bookworm,
with its own packages; the others in the root file system of forky. FILE is the library, otherwise
the release build; only tests and programs whose name contains PART.
";

/// Runs the command in `args`.
pub(crate) fn main(args: &[String]) -> Result<ExitCode> {
    let (mut library, mut only) = (paths::target().join("release/libibverbs.so"), String::new());
    let (mut record, mut repeat, mut words) = (false, 1, Vec::new());
    let (mut seconds, mut rounds, mut seed) = (soak::SECONDS, kill::ROUNDS, None);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| Error::new(format!("{arg} needs a value")));
        match arg.as_str() {
            "--lib" => library = value()?.into(),
            "--only" => only.clone_from(value()?),
            "--record" => record = true,
            "--repeat" => repeat = number(arg, value()?)?,
            "--seconds" => seconds = number(arg, value()?)?,
            "--rounds" => rounds = number(arg, value()?)?,
            "--seed" => seed = Some(number(arg, value()?)?),
            word => words.push(word),
        }
    }
    let suite = words.get(1).map_or(Ok(Suite::Forky), |name| Suite::parse(name))?;
    for _ in 0..repeat {
        let found = match words.first() {
            Some(&"suite") if record => suite::record(&library, suite),
            Some(&"suite") => {
                suite::check(&library, suite, Some(only.as_str()).filter(|it| !it.is_empty()))
            }
            Some(&"programs") => programs::check(&library, suite, None, &only),
            Some(&"errors") => errors::check(&library),
            Some(&"kill") => kill::check(&library, rounds, seed),
            Some(&"threads") => threads::check(&library),
            Some(&"users") => users::check(&library),
            Some(&"yama") => yama::check(&library),
            Some(&"clients") => clients::check(&library, &only),
            Some(&"libfabric") => clients::libfabric::check_in_machine(&library),
            Some(&"matrix") => matrix::check(&library, &only),
            Some(&"soak") => soak::check(&library, seconds, seed),
            _ => return Err(Error::new(USAGE)),
        };
        println!("{}", found?);
    }
    Ok(ExitCode::SUCCESS)
}

/// The number that an option has as its value.
fn number(option: &str, value: &str) -> Result<u32> {
    value.parse().map_err(|_| Error::new(format!("{option} needs a number, not '{value}'")))
}

/// A folder for what a run needs and leaves, with the library in it.
fn share(name: &str, library: &Path) -> Result<PathBuf> {
    let share = paths::scratch(&format!("urxe-{name}"))?;
    paths::copy(library, &share.join("libibverbs.so.1"))?;
    Ok(share)
}

/// What programs see, beside what the script sets: the library in the share, the device, and a
/// directory of their own for its files.
const ENVIRONMENT: &str = "\
export LD_PRELOAD=$SHARE/libibverbs.so.1 IBV_DRIVERS=urxe
export URXE_DIR=/dev/shm/libibverbs-rs-xtask-$$
trap 'rm -rf $URXE_DIR $URXE_DIR-user' EXIT
";

/// What the scripts need where they do not run in a root file system.
const PACKAGES: &[&str] = &[
    "gcc",
    "ibverbs-utils",
    "iproute2",
    "libfabric-bin",
    "libfabric-dev",
    "libibverbs-dev",
    "libopenmpi-dev",
    "openmpi-bin",
    "perftest",
    "python3-pyverbs",
    "qperf",
    "ucx-utils",
];

/// Runs a shell script in the root file system of forky, with `share` at `/share`; what it prints.
fn run(share: &Path, script: &str, limit: Duration) -> Result<String> {
    run_in(Suite::Forky, share, script, limit)
}

/// Runs a shell script with what `suite` has; what it prints. The folder `share` is `$SHARE`.
fn run_in(suite: Suite, share: &Path, script: &str, limit: Duration) -> Result<String> {
    let here = suite == Suite::Bookworm && installed::is_bookworm();
    let place = if here { share } else { Path::new("/share") };
    let setting = format!("export SHARE={}\n", place.display());
    paths::write(&share.join("run.sh"), format!("{setting}{ENVIRONMENT}{script}"))?;
    let command = if here {
        packages::ensure(PACKAGES)?;
        // What the script mounts is nobody else's business.
        let unshare = Cmd::new("unshare").args(["--mount", "--propagation", "private", "sh"]);
        unshare.arg(share.join("run.sh"))
    } else {
        let command = ["sh", "/share/run.sh"].map(str::to_owned);
        chroot::command(suite, Some(share), &command)?
    };
    command.timeout(limit).output()
}
