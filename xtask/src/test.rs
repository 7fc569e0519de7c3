//! `cargo xtask test`: all checks of the project, one after the other, and a table of how they went.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::abi_suite::AbiRun;
use crate::error::{Context, Error, Result};
use crate::sh::Cmd;
use crate::vm::Suite;
use crate::vm::library::Library;
use crate::vm::suite::SuiteRun;
use crate::{abi_bench, abi_suite, dropin, fuzz, matrix, packages, paths, symbols, tools, vm};

/// What `cargo xtask test` can do.
const USAGE: &str = "\
usage: cargo xtask test [--quick] [--list] [STEP...]

  runs all steps, or those whose name contains one of STEP; --quick leaves out the slow ones;
  --list shows their names. With CI=true a step whose packages cannot be installed fails.
";

/// What a step is given.
#[derive(Debug)]
pub(crate) struct Ctx {
    /// The library under test, as the step that builds it leaves it.
    pub(crate) library: PathBuf,
}

/// One check.
#[derive(Debug)]
pub(crate) struct Step {
    /// What it checks.
    name: &'static str,
    /// The Debian packages that it needs.
    needs: &'static [&'static str],
    /// Whether `--quick` leaves it out: it takes a virtual machine, a root file system or a tool
    /// that has to be built first.
    slow: bool,
    /// Runs it; what it found, in a few words, or why it failed.
    run: fn(&Ctx) -> Result<String>,
}

/// How a step ended.
#[derive(Debug)]
enum Outcome {
    Passed(String),
    Failed(String),
    Skipped(String),
}

/// All steps, in the order in which they run.
const STEPS: &[Step] = &[
    Step { name: "format", needs: &[], slow: false, run: format },
    Step { name: "clippy", needs: &[], slow: false, run: clippy },
    Step { name: "documentation", needs: &[], slow: false, run: documentation },
    Step { name: "dependencies", needs: &[], slow: true, run: dependencies },
    Step { name: "unit tests", needs: &["iproute2"], slow: false, run: unit_tests },
    Step { name: "fuzzing", needs: &["g++"], slow: false, run: fuzzing },
    Step { name: "release build", needs: packages::FOR_BUILD, slow: false, run: release_build },
    Step { name: "size", needs: &["binutils"], slow: false, run: size },
    Step { name: "exports", needs: &["binutils"], slow: false, run: exports },
    Step { name: "exports and their tests", needs: &[], slow: false, run: exports_table },
    Step { name: "without a device", needs: &[], slow: false, run: without_device },
    Step { name: "abidiff", needs: ABIDIFF, slow: true, run: abidiff },
    Step { name: "loading in Debian's place", needs: packages::FOR_VM, slow: true, run: loading },
    Step { name: "abi-tests", needs: packages::FOR_VM, slow: true, run: abi_tests },
    Step { name: "control path", needs: packages::FOR_VM, slow: true, run: control_path },
    Step { name: "upstream's tests", needs: packages::FOR_VM, slow: true, run: suite_preload },
    Step {
        name: "upstream's tests, file replaced",
        needs: packages::FOR_VM,
        slow: true,
        run: suite_replace,
    },
    Step { name: "upstream's tests, no ioctl", needs: packages::FOR_VM, slow: true, run: no_ioctl },
    Step { name: "real programs", needs: packages::FOR_VM, slow: true, run: programs },
];

/// What comparing with Debian's library takes.
const ABIDIFF: &[&str] = &["abigail-tools", "mmdebstrap"];

/// Runs the steps that `args` select.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let (flags, names): (Vec<&String>, Vec<&String>) =
        args.iter().partition(|arg| arg.starts_with("--"));
    let mut quick = false;
    for flag in flags {
        match flag.as_str() {
            "--quick" => quick = true,
            "--list" => return Ok(list()),
            other => return Err(Error::new(format!("unknown option '{other}'\n\n{USAGE}"))),
        }
    }
    let wanted = |step: &&Step| names.is_empty() || names.iter().any(|n| step.name.contains(*n));
    let steps: Vec<&Step> = STEPS.iter().filter(wanted).collect();
    if steps.is_empty() {
        return Err(Error::new(format!("no such step; --list shows all\n\n{USAGE}")));
    }
    let ctx = Ctx { library: paths::target().join("release/libibverbs.so") };
    let mut table = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        println!("\n[{}/{}] {}", number + 1, steps.len(), step.name);
        let start = Instant::now();
        let outcome = step.outcome(&ctx, quick);
        let time = start.elapsed();
        outcome.show(time);
        table.push((step.name, outcome, time));
    }
    Ok(summary(&table))
}

impl Step {
    /// Runs the step, if it is to run and has what it needs.
    fn outcome(&self, ctx: &Ctx, quick: bool) -> Outcome {
        if quick && self.slow {
            return Outcome::Skipped("slow".to_owned());
        }
        if let Err(error) = packages::ensure(self.needs) {
            let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
            let outcome = if in_ci { Outcome::Failed } else { Outcome::Skipped };
            return outcome(error.to_string());
        }
        match (self.run)(ctx) {
            Ok(found) => Outcome::Passed(found),
            Err(error) => Outcome::Failed(error.to_string()),
        }
    }
}

impl Outcome {
    /// The word for it.
    fn word(&self) -> &'static str {
        match self {
            Outcome::Passed(_) => "passed",
            Outcome::Failed(_) => "failed",
            Outcome::Skipped(_) => "skipped",
        }
    }

    /// Prints it with what there is to say.
    fn show(&self, time: Duration) {
        let (Outcome::Passed(text) | Outcome::Failed(text) | Outcome::Skipped(text)) = self;
        println!("{} after {:.1} s: {text}", self.word(), time.as_secs_f64());
    }
}

/// Prints the names of all steps.
fn list() -> ExitCode {
    for step in STEPS {
        println!("{}{}", step.name, if step.slow { " (slow)" } else { "" });
    }
    ExitCode::SUCCESS
}

/// Prints the table and the closing line.
fn summary(table: &[(&str, Outcome, Duration)]) -> ExitCode {
    println!();
    for (name, outcome, time) in table {
        println!("{name:32} {:8} {:8.1} s", outcome.word(), time.as_secs_f64());
    }
    let count = |word| table.iter().filter(|(_, outcome, _)| outcome.word() == word).count();
    let (passed, failed, skipped) = (count("passed"), count("failed"), count("skipped"));
    let more = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
    println!("\n{passed} passed, {failed} failed{more}");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Cargo with a subcommand, in the checkout.
fn cargo(subcommand: &str) -> Cmd {
    Cmd::new("cargo").arg(subcommand).dir(paths::checkout()).timeout(Duration::from_secs(1800))
}

fn format(_: &Ctx) -> Result<String> {
    cargo("fmt").args(["--all", "--check"]).run()?;
    Ok("formatted".to_owned())
}

fn clippy(_: &Ctx) -> Result<String> {
    cargo("clippy").args(["--workspace", "--all-targets", "--", "-D", "warnings"]).run()?;
    Ok("no warnings".to_owned())
}

fn documentation(_: &Ctx) -> Result<String> {
    cargo("doc")
        .args(["--workspace", "--no-deps", "--document-private-items"])
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()?;
    Ok("no warnings".to_owned())
}

fn dependencies(_: &Ctx) -> Result<String> {
    let deny = tools::ensure("cargo-deny", "0.20.2")?;
    // The advisory database is not asked: this has to work without a network.
    Cmd::new(deny)
        .args(["--offline", "check", "licenses", "bans", "sources"])
        .dir(paths::checkout())
        .run()?;
    Ok("licences, bans and sources".to_owned())
}

fn unit_tests(_: &Ctx) -> Result<String> {
    let output = cargo("test").args(["--workspace", "--", "--show-output"]).output()?;
    let counts = output.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
    let passed = counts.filter_map(|line| line.split(' ').next()?.parse::<u32>().ok());
    let mut found = format!("{} tests", passed.sum::<u32>());
    // A test that this machine cannot run says so.
    let skipped: Vec<&str> = output.lines().filter(|line| line.starts_with("SKIPPED")).collect();
    if !skipped.is_empty() {
        found.push_str(&format!(", {} of them skipped: {}", skipped.len(), skipped.join("; ")));
    }
    Ok(found)
}

fn fuzzing(_: &Ctx) -> Result<String> {
    fuzz::run(5)
}

fn release_build(ctx: &Ctx) -> Result<String> {
    cargo("build").arg("--release").run()?;
    Ok(ctx.library.display().to_string())
}

/// The library must be smaller than what it replaces: rdma-core's libibverbs and the two libnl
/// files that it no longer needs, in bytes.
const SIZE_LIMIT: u64 = 150_272 + 648_760 + 145_536;

fn size(ctx: &Ctx) -> Result<String> {
    let stripped = paths::scratch("size")?.join("libibverbs.so");
    Cmd::new("strip").arg("-o").arg(&stripped).arg(&ctx.library).run()?;
    let size = std::fs::metadata(&stripped).context(|| "cannot read the size".to_owned())?.len();
    let found = format!("{size} bytes stripped, {SIZE_LIMIT} allowed");
    if size < SIZE_LIMIT { Ok(found) } else { Err(Error::new(found)) }
}

fn exports(ctx: &Ctx) -> Result<String> {
    symbols::check(&ctx.library)
}

fn exports_table(_: &Ctx) -> Result<String> {
    matrix::check()
}

fn abidiff(ctx: &Ctx) -> Result<String> {
    dropin::check_abidiff(&ctx.library)
}

fn loading(ctx: &Ctx) -> Result<String> {
    dropin::check_loading(Suite::Forky, &ctx.library)
}

fn abi_tests(ctx: &Ctx) -> Result<String> {
    AbiRun::new(&ctx.library).run()
}

fn suite_preload(ctx: &Ctx) -> Result<String> {
    SuiteRun::new(Suite::Forky, Library::Preload(ctx.library.clone())).check()
}

fn suite_replace(ctx: &Ctx) -> Result<String> {
    SuiteRun::new(Suite::Forky, Library::Replace(ctx.library.clone())).check()
}

fn no_ioctl(ctx: &Ctx) -> Result<String> {
    SuiteRun::new(Suite::Forky, Library::Replace(ctx.library.clone())).no_ioctl().check()
}

fn without_device(ctx: &Ctx) -> Result<String> {
    abi_suite::without_device(&ctx.library)
}

fn control_path(ctx: &Ctx) -> Result<String> {
    let share = abi_bench::prepare(&ctx.library)?;
    println!("{}", abi_bench::instructions(&share)?);
    println!("{}", abi_bench::control(&share, "30", "3")?);
    Ok("no more system calls than upstream's, few instructions; times above".to_owned())
}

fn programs(ctx: &Ctx) -> Result<String> {
    vm::programs::run(Suite::Forky, &ctx.library, "")?.check()
}
