//! The command line of `cargo xtask vm`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use super::library::Library;
use super::suite::SuiteRun;
use super::{Suite, Vm, chroot, programs, rootfs};
use crate::error::{Context, Error, Result};
use crate::paths;

/// What `cargo xtask vm` can do.
const USAGE: &str = "\
usage: cargo xtask vm COMMAND

  build SUITE                    make the root file system, if it is not in the cache
  run SUITE SCRIPT [--lib FILE --mode preload|replace] [--share DIR] [--timeout SECONDS]
                                 boot, run the shell script SCRIPT as root, show what it prints;
                                 DIR is /share in the guest
  suite SUITE [--lib FILE --mode preload|replace] [--no-ioctl] [--plugins-of SUITE]
              [--only PART] [--record]
                                 run upstream's tests on rxe0 and compare each test's outcome with
                                 what is expected; without RDMA ioctls; with the rxe plugin of
                                 another suite's release; only tests whose name contains PART;
                                 write down the outcomes as those expected
  programs SUITE [--lib FILE] [--only PART]
                                 run real programs with the suite's library and with FILE, and
                                 compare what they print; only those whose title contains PART
  abi [...]                      the programs of abi-tests with both libraries; --help says more
  chroot SUITE [--share DIR] -- COMMAND...
                                 run a command in the root file system on this machine's kernel

SUITE is forky (rdma-core 65.0), trixie (56.1) or bookworm (44.0). The cache is
$LIBIBVERBS_RS_CACHE, or libibverbs-rs in the user's cache folder.
";

/// How long a script may run unless told otherwise.
const SCRIPT_TIME: u64 = 600;

/// Runs the command in `args`.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let Some((command, rest)) = args.split_first() else {
        print!("{USAGE}");
        return Ok(ExitCode::SUCCESS);
    };
    if command == "abi" {
        return crate::abi_suite::main(rest);
    }
    let mut options = Options::parse(rest)?;
    let suite = Suite::parse(&options.positional("SUITE")?)?;
    match command.as_str() {
        "build" => {
            println!("{}", rootfs::root(suite)?.display());
            Ok(ExitCode::SUCCESS)
        }
        "run" => run_script(suite, options),
        "suite" => run_suite(suite, options),
        "programs" => run_programs(suite, options),
        "chroot" => run_chroot(suite, options),
        other => Err(Error::new(format!("unknown command '{other}'\n\n{USAGE}"))),
    }
}

/// `vm run`.
fn run_script(suite: Suite, mut options: Options) -> Result<ExitCode> {
    let file = options.positional("SCRIPT")?;
    let mut script = paths::read(Path::new(&file))?;
    let timeout = options.number("--timeout")?.unwrap_or(SCRIPT_TIME);
    let share = match options.value("--share") {
        Some(dir) => absolute(&dir)?,
        None => paths::scratch("run")?,
    };
    let library = options.library()?;
    options.done()?;
    let vm = library.install(Vm::new(suite).share(&share).hugepages(64), &share)?;
    if let Some(preload) = library.preload() {
        script.insert_str(0, &format!("export LD_PRELOAD={preload}\n"));
    }
    let result = vm.run_script(&script, Duration::from_secs(timeout))?;
    print!("{}", result.output()?);
    println!(
        "exit status {} after {} s in {}",
        result.exit,
        result.time.as_secs(),
        share.display()
    );
    Ok(exit_code(result.exit))
}

/// `vm suite`.
fn run_suite(suite: Suite, mut options: Options) -> Result<ExitCode> {
    let mut run = SuiteRun::new(suite, options.library()?);
    if options.flag("--no-ioctl") {
        run = run.no_ioctl();
    }
    if let Some(other) = options.value("--plugins-of") {
        run = run.plugins_of(Suite::parse(&other)?);
    }
    if let Some(part) = options.value("--only") {
        run = run.only(&part);
    }
    let record = options.flag("--record");
    options.done()?;
    let summary = if record { run.record()? } else { run.check()? };
    println!("{summary}");
    Ok(ExitCode::SUCCESS)
}

/// `vm programs`.
fn run_programs(suite: Suite, mut options: Options) -> Result<ExitCode> {
    let library = match options.value("--lib") {
        Some(file) => absolute(&file)?,
        None => rootfs::root(suite)?.join("usr/lib/x86_64-linux-gnu/libibverbs.so.1"),
    };
    let only = options.value("--only").unwrap_or_default();
    options.done()?;
    println!("{}", programs::run(suite, &library, None, &only)?.check()?);
    Ok(ExitCode::SUCCESS)
}

/// `vm chroot`.
fn run_chroot(suite: Suite, mut options: Options) -> Result<ExitCode> {
    let share = options.value("--share").map(|dir| absolute(&dir)).transpose()?;
    let command = std::mem::take(&mut options.command);
    options.done()?;
    if command.is_empty() {
        return Err(Error::new("no command to run: put it after --"));
    }
    let finished = chroot::command(suite, share.as_deref(), &command)?.finish()?;
    print!("{}", paths::read(&finished.log)?);
    Ok(exit_code(finished.code))
}

/// A guest's or a command's exit status as ours.
fn exit_code(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

/// `path` from the root of the file system on; it has to exist.
fn absolute(path: &str) -> Result<PathBuf> {
    Path::new(path).canonicalize().context(|| format!("no file {path}"))
}

/// The options that have no value.
const FLAGS: [&str; 2] = ["--no-ioctl", "--record"];

/// The arguments of a command, taken one by one.
#[derive(Default)]
struct Options {
    positional: std::collections::VecDeque<String>,
    named: Vec<(String, String)>,
    flags: Vec<String>,
    command: Vec<String>,
}

impl Options {
    /// Sorts `args`: `--name value` pairs, other words, and what stands after `--`.
    fn parse(args: &[String]) -> Result<Options> {
        let mut options = Options::default();
        let mut args = args.iter().cloned();
        while let Some(arg) = args.next() {
            if arg == "--" {
                options.command = args.by_ref().collect();
            } else if FLAGS.contains(&arg.as_str()) {
                options.flags.push(arg);
            } else if arg.starts_with("--") {
                let value =
                    args.next().ok_or_else(|| Error::new(format!("{arg} needs a value")))?;
                options.named.push((arg, value));
            } else {
                options.positional.push_back(arg);
            }
        }
        Ok(options)
    }

    /// Takes the next plain word, `what` being its name in the usage.
    fn positional(&mut self, what: &str) -> Result<String> {
        self.positional.pop_front().ok_or_else(|| Error::new(format!("no {what}\n\n{USAGE}")))
    }

    /// Takes the value of option `name`.
    fn value(&mut self, name: &str) -> Option<String> {
        let at = self.named.iter().position(|(found, _)| found == name)?;
        Some(self.named.remove(at).1)
    }

    /// Takes the flag `name`, and says whether it was there.
    fn flag(&mut self, name: &str) -> bool {
        let before = self.flags.len();
        self.flags.retain(|found| found != name);
        self.flags.len() < before
    }

    /// Takes `--lib` and `--mode`.
    fn library(&mut self) -> Result<Library> {
        let file = self.value("--lib").map(|file| absolute(&file)).transpose()?;
        Library::parse(file, self.value("--mode").as_deref())
    }

    /// Takes the number that option `name` has.
    fn number(&mut self, name: &str) -> Result<Option<u64>> {
        let Some(value) = self.value(name) else { return Ok(None) };
        value.parse().map(Some).context(|| format!("{name} {value}"))
    }

    /// An error if anything is left.
    fn done(self) -> Result<()> {
        let rest = self.named.iter().map(|(name, _)| name).chain(&self.flags);
        match rest.chain(&self.positional).chain(&self.command).next() {
            Some(arg) => Err(Error::new(format!("unexpected argument '{arg}'\n\n{USAGE}"))),
            None => Ok(()),
        }
    }
}
