//! `cargo xtask test`: all checks of the project, and a table of how they went.

mod steps;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::{packages, paths};
use steps::STEPS;

/// What `cargo xtask test` can do.
const USAGE: &str = "\
usage: cargo xtask test [--quick] [--list] [--jobs N] [STEP...]

  runs all steps, or those whose name contains one of STEP; --quick leaves out the slow ones;
  --list shows their names; N virtual machines run side by side, otherwise as many as there are
  CPUs, but four at most. With CI=true a step whose packages cannot be installed fails.
";

/// How many virtual machines run side by side unless told otherwise.
const MOST_JOBS: usize = 4;

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
    /// When it runs.
    class: Class,
    /// Runs it; what it found, in a few words, or why it failed.
    run: fn(&Ctx) -> Result<String>,
}

/// When a step runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Always, in the order of the table.
    Quick,
    /// The same, but not with `--quick`: it takes a root file system or a tool that has to be
    /// built first.
    Slow,
    /// Not with `--quick`, and after all others: most of its time is that of a virtual machine,
    /// which keeps one CPU busy, so that several can run side by side.
    Machine,
}

/// How a step ended.
#[derive(Debug)]
enum Outcome {
    Passed(String),
    Failed(String),
    Skipped(String),
}

/// A step that has run: its place in the table of steps, how it ended, and how long it took.
type Done = (usize, Outcome, Duration);

/// Runs the steps that `args` select.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let (mut quick, mut jobs, mut names) = (false, None, Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--quick" => quick = true,
            "--list" => return Ok(list()),
            "--jobs" => jobs = args.next().and_then(|number| number.parse::<usize>().ok()),
            option if option.starts_with("--") => {
                return Err(Error::new(format!("unknown option '{option}'\n\n{USAGE}")));
            }
            name => names.push(name),
        }
    }
    let wanted =
        |step: &Step| names.is_empty() || names.iter().any(|name| step.name.contains(name));
    let chosen: Vec<usize> = (0..STEPS.len()).filter(|number| wanted(&STEPS[*number])).collect();
    if chosen.is_empty() {
        return Err(Error::new(format!("no such step; --list shows all\n\n{USAGE}")));
    }
    let ctx = Ctx { library: paths::target().join("release/libibverbs.so") };
    let in_order = Mutex::new(Vec::new());
    let (machines, others): (VecDeque<usize>, VecDeque<usize>) =
        chosen.iter().partition(|number| STEPS[**number].class == Class::Machine && !quick);
    let work = |queue: &Mutex<VecDeque<usize>>| {
        // Not in the condition of the loop, which would hold the lock while the step runs.
        let next = || lock(queue).pop_front();
        while let Some(number) = next() {
            let done = STEPS[number].perform(number, &ctx, quick);
            lock(&in_order).push(done);
        }
    };
    work(&Mutex::new(others));
    let machines = Mutex::new(machines);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..jobs.unwrap_or(cpus.min(MOST_JOBS)).max(1) {
            scope.spawn(|| work(&machines));
        }
    });
    let mut table = in_order.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    table.sort_by_key(|(number, ..)| *number);
    Ok(summary(&table))
}

/// What is inside a mutex, whatever happened to its other users.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Step {
    /// Runs the step and shows how it went.
    fn perform(&self, number: usize, ctx: &Ctx, quick: bool) -> Done {
        println!("\n[{}/{}] {}", number + 1, STEPS.len(), self.name);
        let start = Instant::now();
        let outcome = self.outcome(ctx, quick);
        let time = start.elapsed();
        let (Outcome::Passed(text) | Outcome::Failed(text) | Outcome::Skipped(text)) = &outcome;
        println!("{} {} after {:.1} s: {text}", self.name, outcome.word(), time.as_secs_f64());
        (number, outcome, time)
    }

    /// Runs the step, if it is to run and has what it needs.
    fn outcome(&self, ctx: &Ctx, quick: bool) -> Outcome {
        if quick && self.class != Class::Quick {
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
}

/// Prints the names of all steps.
fn list() -> ExitCode {
    for step in STEPS {
        println!("{}{}", step.name, if step.class == Class::Quick { "" } else { " (slow)" });
    }
    ExitCode::SUCCESS
}

/// The last lines of a text: a test program says at its end what failed.
fn end_of(text: &str) -> String {
    const LINES: usize = 60;
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(LINES);
    let left_out = if from > 0 { format!("({from} lines before)\n") } else { String::new() };
    left_out + &lines[from..].join("\n")
}

/// Prints the table, why steps failed, and the closing line.
fn summary(table: &[Done]) -> ExitCode {
    println!();
    for (number, outcome, time) in table {
        let (name, word) = (STEPS[*number].name, outcome.word());
        println!("{name:32} {word:8} {:8.1} s", time.as_secs_f64());
    }
    let count = |word| table.iter().filter(|(_, outcome, _)| outcome.word() == word).count();
    let (passed, failed, skipped) = (count("passed"), count("failed"), count("skipped"));
    let more = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
    // Once more where the reader of a long log looks first: at its end.
    for (number, outcome, _) in table {
        if let Outcome::Failed(reason) = outcome {
            println!("\n{} failed: {}", STEPS[*number].name, end_of(reason));
        }
    }
    println!("\n{passed} passed, {failed} failed{more}");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
