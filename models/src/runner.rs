//! Runs the models and their mutations, and says what came out.

use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::death;
use crate::models::ALL;
use crate::mutation::{self, Mutation};
use crate::sync;

/// A property of a structure, and the program that has it.
pub(crate) struct Model {
    pub(crate) name: &'static str,
    /// What holds in every execution.
    pub(crate) property: &'static str,
    /// How often a thread may be interrupted at a point that is not a wait; `None`: at each.
    pub(crate) preemptions: Option<usize>,
    /// A thread of it dies: the model is run for each of its stores.
    pub(crate) mortal: bool,
    pub(crate) program: fn(),
    /// What makes it fail.
    pub(crate) mutations: &'static [Mutation],
}

impl Model {
    /// Tries all executions; their number. A failure is a panic.
    fn run(&self) -> u64 {
        let program = self.program;
        for stores in 0.. {
            death::after(stores);
            let mut builder = loom::model::Builder::new();
            builder.preemption_bound = self.preemptions;
            builder.max_branches = 10_000;
            builder.check(move || {
                sync::begin();
                program();
            });
            if !self.mortal || !death::has_died() {
                break;
            }
        }
        sync::executions()
    }
}

/// What came out of a model or a mutation.
enum Outcome {
    Good(String),
    Bad(String),
}

pub(crate) fn main() -> i32 {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [flag, model, mutation] if flag == "--one" => one(model, mutation),
        [] => all(""),
        [name] => all(name),
        _ => {
            eprintln!("usage: models [NAME]");
            2
        }
    }
}

/// Runs one model in this process, with a mutation or none.
fn one(model: &str, mutation: &str) -> i32 {
    let Some(model) = ALL.iter().find(|other| other.name == model) else { return 2 };
    // Whatever fails, it is said and the process ends: threads of loom cannot be unwound well.
    std::panic::set_hook(Box::new(|info| {
        if !info.payload().is::<death::Died>() {
            println!("{info}");
            std::process::exit(1);
        }
    }));
    if let Some(mutation) =
        mutation.parse().ok().and_then(|index: usize| model.mutations.get(index))
        && let Err(error) = mutation::activate(*mutation)
    {
        println!("{error}");
        return 3;
    }
    println!("{}", model.run());
    if mutation != "-" && mutation::hits() == 0 {
        println!("the line of the mutation was never reached");
        return 4;
    }
    0
}

/// Runs all models whose name contains `name`, and their mutations, each in a process.
fn all(name: &str) -> i32 {
    let jobs: Vec<(&Model, Option<usize>)> = ALL
        .iter()
        .copied()
        .filter(|model| model.name.contains(name))
        .flat_map(|model| {
            let mutations = (0..model.mutations.len()).map(Some);
            core::iter::once(None).chain(mutations).map(move |mutation| (model, mutation))
        })
        .collect();
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let output = Mutex::new(());
    let work = || {
        while let Some((model, mutation)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let begin = Instant::now();
            let outcome = start(model, *mutation);
            let time = begin.elapsed();
            let _output = output.lock();
            if !report(model, *mutation, outcome, time) {
                failed.fetch_add(1, Ordering::Relaxed);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get().min(2));
    std::thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
    let failed = failed.into_inner();
    let models = jobs.iter().filter(|(_, mutation)| mutation.is_none()).count();
    println!("{models} models, {} mutations, {failed} failures", jobs.len() - models);
    i32::from(failed != 0 || models == 0)
}

fn start(model: &Model, mutation: Option<usize>) -> Outcome {
    let this = std::env::current_exe().expect("the path of this program");
    let number = mutation.map_or("-".to_owned(), |index| index.to_string());
    let output = Command::new(this)
        .args(["--one", model.name, &number])
        .output()
        .expect("this program can be started");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match (mutation, output.status.code()) {
        (None, Some(0)) => Outcome::Good(format!("{} executions", text.trim())),
        // A wait without end, which loom takes for a model that is too long, counts: without the
        // mutation there is none.
        (Some(_), Some(1)) => Outcome::Good(first_line(&text)),
        (Some(_), Some(0)) => Outcome::Bad(format!("not noticed in {} executions", text.trim())),
        (_, code) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            Outcome::Bad(format!("status {code:?}: {text}{errors}"))
        }
    }
}

/// What a panic says, without its place.
fn first_line(text: &str) -> String {
    text.lines().nth(1).or(text.lines().next()).unwrap_or_default().trim().to_owned()
}

fn report(model: &Model, mutation: Option<usize>, outcome: Outcome, time: Duration) -> bool {
    let (mark, text) = match &outcome {
        Outcome::Good(text) => ("ok", text),
        Outcome::Bad(text) => ("FAILED", text),
    };
    match mutation.and_then(|index| model.mutations.get(index)) {
        None => {
            println!(
                "{mark} {}: {}: {text}, {:.1} s",
                model.name,
                model.property,
                time.as_secs_f64()
            )
        }
        Some(mutation) => println!(
            "{mark} {}: {} without `{}` ({:?}): {text}, {:.1} s",
            model.name,
            mutation.file,
            mutation.line.lines().next().unwrap_or_default(),
            mutation.change,
            time.as_secs_f64()
        ),
    }
    mark == "ok"
}
