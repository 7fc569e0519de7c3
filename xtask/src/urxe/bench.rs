//! `cargo xtask bench urxe`: the device inside the library beside its peers and the limits of the
//! machine, in one run: every measurement once per round, and the rounds one after the other, so
//! that what disturbs the machine disturbs all alike.

pub(crate) mod counts;
mod cpus;
mod measure;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::error::{Error, Result};
use crate::sh::Cmd;
use crate::{packages, paths};
use cpus::Cpus;
use measure::{Measurement, Samples};

/// What `cargo xtask bench urxe` can do.
const USAGE: &str = "\
usage: cargo xtask bench urxe [--lib FILE] [--rounds N] [--seconds S] [--only PART]...
                              [--counts | --check]

  compares FILE (the release build) on its own device with UCX, libfabric and what the machine can
  do at best, in N rounds (5) of one sample each, S seconds (0.25) where the time can be chosen;
  only rows whose title contains PART; --counts measures no times: system calls, allocations, copies
  and instructions per operation, which repeat exactly; --check fails if they are not as they should
";

/// What it runs.
const NEEDS: &[&str] =
    &["gcc", "libc6-dev", "libfabric-bin", "perftest", "ucx-utils", "util-linux", "valgrind"];

/// Where the programs are, and how they are run.
#[derive(Debug)]
struct Bench {
    /// The programs and the library under test.
    folder: PathBuf,
    /// Where the device's processes meet.
    meeting: PathBuf,
    cpus: Cpus,
    /// The time of a sample, as the programs take it.
    seconds: String,
}

/// `cargo xtask bench urxe`.
pub(crate) fn main(args: &[String]) -> Result<ExitCode> {
    let mut library = paths::target().join("release/libibverbs.so");
    let (mut rounds, mut seconds, mut only) = (5_usize, "0.25".to_owned(), Vec::new());
    let (mut counts_alone, mut is_check) = (false, false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        counts_alone |= arg == "--counts";
        is_check |= arg == "--check";
        if arg == "--counts" || arg == "--check" {
            continue;
        }
        let value =
            args.next().ok_or_else(|| Error::new(format!("{arg} needs a value\n\n{USAGE}")))?;
        let number = || Error::new(format!("{value} is no number\n\n{USAGE}"));
        match arg.as_str() {
            "--lib" => library = value.into(),
            "--rounds" => rounds = value.parse().map_err(|_| number())?,
            "--seconds" => {
                value.parse::<f64>().map_err(|_| number())?;
                seconds.clone_from(value);
            }
            "--only" => only.push(value.clone()),
            _ => return Err(Error::new(format!("unknown option '{arg}'\n\n{USAGE}"))),
        }
    }
    if is_check {
        packages::ensure(packages::FOR_BUILD)?;
        println!("{}", counts::check(&library)?);
        return Ok(ExitCode::SUCCESS);
    }
    packages::ensure(NEEDS)?;
    let bench = Bench::new(&library, seconds)?;
    if !counts_alone {
        bench.compile("fabric", &["-lfabric"])?;
        times(&bench, rounds.max(1), &only)?;
    }
    println!("{}", counts::table(&bench)?);
    Ok(ExitCode::SUCCESS)
}

/// Measures all times, and prints them.
fn times(bench: &Bench, rounds: usize, only: &[String]) -> Result<()> {
    let rows: Vec<table::Row> = table::rows()
        .into_iter()
        .filter(|row| only.is_empty() || only.iter().any(|part| row.title.contains(part)))
        .collect();
    let mut wanted: Vec<Measurement> = Vec::new();
    for measurement in rows.iter().flat_map(table::Row::measurements) {
        if !wanted.contains(&measurement) {
            wanted.push(measurement);
        }
    }
    println!("{} measurements, {rounds} rounds, {}", wanted.len(), bench.cpus.describe());
    let mut samples = Samples::new(wanted.clone(), bench.cpus.is_fixed);
    for round in 1..=rounds {
        let (mut disturbed, mut load) = (0, 0.0);
        for measurement in &wanted {
            let measured = bench.cpus.watch(|| measurement.run(bench)).or_else(|error| {
                // A busy machine can make a program miss a time-out of its own.
                println!("once more, after: {error}");
                bench.cpus.watch(|| measurement.run(bench))
            });
            let (value, foreign) = measured?;
            disturbed += u32::from(samples.add(measurement, value, foreign));
            load += foreign / wanted.len() as f64;
        }
        println!(
            "round {round}: others had {:.0} % of the CPUs; {disturbed} samples dropped for that",
            load * 100.0
        );
    }
    let raw = bench.folder.join("samples.tsv");
    paths::write(&raw, samples.to_text())?;
    println!("{}\nsamples: {}", table::print(&rows, &samples), raw.display());
    Ok(())
}

impl Bench {
    /// Compiles the programs, and puts the library beside them.
    fn new(library: &Path, seconds: String) -> Result<Bench> {
        let cpus = Cpus::choose()?;
        let folder = paths::scratch("bench-urxe")?;
        let name = format!("libibverbs-rs-bench-{}", std::process::id());
        let bench = Bench { folder, meeting: Path::new("/dev/shm").join(name), cpus, seconds };
        paths::copy(library, &bench.file("libibverbs.so.1"))?;
        let ibverbs = bench.file("libibverbs.so.1").display().to_string();
        let headers = format!("-I{}", paths::checkout().join("include").display());
        bench.compile("limits", &[])?;
        bench.compile("verbs", &[&headers, &ibverbs])?;
        bench.compile("calls", &[])?;
        bench.compile("counter", &["-shared", "-fPIC"])?;
        Ok(bench)
    }

    /// A file of the run.
    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Compiles one program, or shared object.
    fn compile(&self, name: &str, more: &[&str]) -> Result<()> {
        let sources = paths::checkout().join("abi-tests/bench/urxe");
        Cmd::new("gcc")
            .args(["-std=gnu17", "-Wall", "-Wextra", "-Werror", "-O2", "-g", "-o"])
            .args([self.file(name), sources.join(format!("{name}.c"))])
            .args(more)
            .quiet()
            .run()
    }

    /// A command whose output goes to the run's log; verbs programs in it find the device.
    fn command(&self, program: impl AsRef<Path>) -> Cmd {
        Cmd::new(program)
            .quiet()
            .env("IBV_DRIVERS", "urxe")
            .env("URXE_DIR", &self.meeting)
            // Yama may forbid it, but the device is to be seen at its best.
            .env("URXE_ALLOW_ACCESS", "1")
            .env("LD_LIBRARY_PATH", &self.folder)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // It is not there when no program got so far.
        let _ = std::fs::remove_dir_all(&self.meeting);
    }
}
