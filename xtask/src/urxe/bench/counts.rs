//! What an operation takes, counted: it repeats exactly, on a busy machine as well.
//!
//! `calls` counts system calls through ptrace(2), of all threads of each process. `counter`, which
//! is preloaded, counts allocations and what goes through memcpy(3). Callgrind counts instructions.

use std::path::Path;
use std::time::Duration;

use super::Bench;
use super::measure::Measurement;
use crate::error::{Error, Result};
use crate::paths;

/// The longest that counting one operation may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// An operation: the test of `verbs`, the bytes, the memory, and whether they are posted one by one or
/// in lists.
#[derive(Clone, Copy, Debug)]
struct Operation(&'static str, u64, &'static str, &'static str);

/// Operations that share a system call, where several do, in lists of 32.
const SHARED: u64 = 16;

/// What is counted; the first ones by the test command, too.
const OPERATIONS: &[Operation] = &[
    Operation("send-count", 8, "ordinary", "one"),
    Operation("write-count", 8, "ordinary", "one"),
    Operation("write-count", 8, "buf", "one"),
    Operation("read-count", 8, "buf", "one"),
    Operation("write-count", 65_536, "ordinary", "one"),
    Operation("send-count", 65_536, "ordinary", "one"),
    Operation("write-count", 8, "ordinary", "list"),
    Operation("read-count", 8, "ordinary", "one"),
    Operation("send-count", 65_536, "buf", "one"),
    Operation("write-count", 65_536, "buf", "one"),
    Operation("read-count", 65_536, "ordinary", "one"),
    Operation("read-count", 65_536, "buf", "one"),
];

/// How many of them the test command counts.
const CHECKED: usize = 7;

/// What one side took for all operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Side {
    /// process_vm_readv(2) and process_vm_writev(2), and the bytes that they moved.
    process_vm: u64,
    process_vm_bytes: u64,
    /// All other system calls.
    calls: u64,
    allocations: u64,
    /// Bytes through memcpy(3), of copies that are not compiled in.
    copied: u64,
    threads: u64,
}

/// What both sides took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    operations: u64,
    /// Requester and responder.
    sides: [Side; 2],
}

impl Operation {
    /// Runs the operations, and counts.
    fn count(self, bench: &Bench) -> Result<Counts> {
        let preload = format!("LD_PRELOAD={}", bench.file("counter").display());
        let verbs = bench.file("verbs").display().to_string();
        let output = bench
            .command(bench.file("calls"))
            .args(["/usr/bin/env", &preload, &verbs])
            .args(self.args(bench))
            .log(bench.file("calls.log"))
            .timeout(TIMEOUT)
            .output()?;
        parse(&output).ok_or_else(|| Error::new(format!("calls printed: {output}")))
    }

    /// What `verbs` is told.
    fn args(self, bench: &Bench) -> Vec<String> {
        let [first, second] = bench.cpus.numbers.map(|number| number.to_string());
        let Operation(test, size, memory, post) = self;
        [test, &size.to_string(), memory, post, "0", &first, &second].map(str::to_owned).to_vec()
    }

    /// Instructions of requester and responder for an operation, by callgrind.
    fn instructions(self, bench: &Bench) -> Result<[u64; 2]> {
        let mut valgrind = bench
            .command("valgrind")
            .args(["--tool=callgrind", "--toggle-collect=requester_part"])
            .args(["--toggle-collect=responder_posts", "--toggle-collect=responder_part"]);
        let file = bench.file("callgrind.%p").display().to_string();
        valgrind = valgrind.arg(format!("--callgrind-out-file={file}"));
        let output = valgrind
            .arg(bench.file("verbs"))
            .args(self.args(bench))
            .log(bench.file("valgrind.log"))
            .timeout(TIMEOUT)
            .output()?;
        let mut found = [0; 2];
        for line in output.lines() {
            let Some((side, pid, operations)) = process(line) else { continue };
            let profile = paths::read(Path::new(&file.replace("%p", pid)))?;
            let sum = profile.lines().find_map(|line| line.strip_prefix("summary: "));
            let sum: u64 = sum.and_then(|sum| sum.trim().parse().ok()).unwrap_or_default();
            // They are done twice, the first time to warm up.
            found[side] = sum / (2 * operations);
        }
        Ok(found)
    }

    /// Whether the bytes are stored by the requester: small messages travel in the completion, and
    /// files are mapped.
    fn is_direct(self) -> bool {
        let Operation(test, size, memory, _) = self;
        memory == "buf" || (test == "send-count" && size < 256)
    }

    fn title(self) -> String {
        let Operation(test, size, memory, post) = self;
        let size = if size < 1024 { format!("{size} B") } else { format!("{} KiB", size / 1024) };
        let memory = if memory == "buf" { " alloc_buf" } else { "" };
        let post = if post == "list" { ", lists" } else { "" };
        format!("{} {size}{memory}{post}", test.trim_end_matches("-count"))
    }
}

/// The number of a side by its name.
fn side(name: &str) -> Option<usize> {
    ["requester", "responder"].iter().position(|it| *it == name)
}

/// A line "process SIDE PID OPERATIONS ...".
fn process(line: &str) -> Option<(usize, &str, u64)> {
    let mut fields = line.strip_prefix("process\t")?.split('\t');
    let side = side(fields.next()?)?;
    let pid = fields.next()?;
    let operations = fields.next()?.parse().ok().filter(|number| *number > 0)?;
    Some((side, pid, operations))
}

/// What `calls`, `counter` and `verbs` print together.
fn parse(output: &str) -> Option<Counts> {
    let mut counts = Counts::default();
    let mut lines = 0;
    for line in output.lines() {
        let mut fields = line.split('\t');
        let (kind, name) = (fields.next()?, fields.next());
        let numbers: Vec<u64> = fields.filter_map(|field| field.parse().ok()).collect();
        match (kind, numbers.as_slice()) {
            ("counted", [allocations, _, bytes]) => {
                let side = &mut counts.sides[side(name?)?];
                (side.allocations, side.copied) = (*allocations, *bytes);
                lines += 1;
            }
            ("process", [_, operations, threads]) => {
                counts.operations = *operations;
                counts.sides[side(name?)?].threads = *threads;
                lines += 1;
            }
            ("calls", [process_vm, bytes, others]) => {
                let side = counts.sides.get_mut(name?.parse::<usize>().ok()?)?;
                side.process_vm = *process_vm;
                side.process_vm_bytes = *bytes;
                side.calls = *others;
                lines += 1;
            }
            _ => {}
        }
    }
    (lines == 6 && counts.operations > 0).then_some(counts)
}

/// All counts as a text.
pub(super) fn table(bench: &Bench) -> Result<String> {
    let mut text = format!(
        "per operation; requester and responder (r.)\n\n{:26} {:>11} {:>7} {:>7} \
         {:>7} {:>7} {:>10} {:>12} {:>9}\n",
        "",
        "process_vm",
        "other",
        "r. all",
        "allocs",
        "r. al.",
        "copies of",
        "instructions",
        "r. instr."
    );
    text.push_str(&format!(
        "{:26} {:>11} {:>7} {:>7} {:>7} {:>7} {:>10} {:>12} {:>9}\n",
        "", "calls", "calls", "calls", "", "", "the bytes", "", ""
    ));
    let mut wrong = Vec::new();
    for operation in OPERATIONS {
        let counts = operation.count(bench)?;
        wrong.extend(problems(*operation, &counts));
        let instructions = operation.instructions(bench)?;
        let [requester, responder] = counts.sides;
        let each = |number: u64| short(number as f64 / counts.operations as f64);
        text.push_str(&format!(
            "{:26} {:>11} {:>7} {:>7} {:>7} {:>7} {:>10} {:>12} {:>9}\n",
            operation.title(),
            each(requester.process_vm),
            each(requester.calls),
            each(responder.process_vm + responder.calls),
            each(requester.allocations),
            each(responder.allocations),
            copies(*operation, &counts),
            instructions[0],
            instructions[1],
        ));
    }
    text.push_str(
        "copies of the bytes: what process_vm and memcpy moved, in all, by the size of the message; \
         of small ones\nonly what process_vm moved, since their copies are compiled in\n",
    );
    for problem in wrong {
        text.push_str(&format!("NOT as it should be: {problem}\n"));
    }
    Ok(text)
}

/// How often the bytes of a message are copied.
fn copies(operation: Operation, counts: &Counts) -> String {
    let Operation(_, size, _, _) = operation;
    let moved: u64 = counts.sides.iter().map(|side| side.process_vm_bytes).sum();
    let copied: u64 = counts.sides.iter().map(|side| side.copied).sum();
    let bytes = if size < 4096 { moved } else { moved + copied };
    short(bytes as f64 / (size * counts.operations) as f64)
}

/// A number without digits that say nothing.
fn short(value: f64) -> String {
    if value == value.round() { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// Counts what does not depend on the machine: the check of the test command.
pub(crate) fn check(library: &Path) -> Result<String> {
    let bench = Bench::new(library, "0".to_owned())?;
    // Some containers forbid it; then a thread of the responder copies.
    let may_copy = Measurement::Limit("vm-call", 8).run(&bench).is_ok();
    let chosen = OPERATIONS[..CHECKED].iter().filter(|operation| may_copy || operation.is_direct());
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for operation in chosen {
        checked += 1;
        wrong.extend(problems(*operation, &operation.count(&bench)?));
    }
    if !wrong.is_empty() {
        return Err(Error::new(wrong.join("\n    ")));
    }
    let skipped = match CHECKED - checked {
        0 => String::new(),
        count => format!("; SKIPPED {count}: process_vm_writev(2) is forbidden here"),
    };
    Ok(format!(
        "{checked} operations: nothing allocated, no thread, one copying call where memory is ordinary{skipped}"
    ))
}

/// What is not as it has to be.
fn problems(operation: Operation, counts: &Counts) -> Vec<String> {
    let [requester, responder] = counts.sides;
    let calls = match operation {
        _ if operation.is_direct() => 0,
        Operation(.., "list") => counts.operations / SHARED,
        _ => counts.operations,
    };
    // The thread that watches the network may wake up meanwhile; and whether the peer lives is asked
    // once in 10 ms, which under ptrace(2) is soon.
    let few = counts.operations / 8;
    let mut problems = Vec::new();
    let mut expect = |what: &str, is: u64, wanted: u64, more: u64| {
        if is < wanted || is > wanted + more {
            let (title, operations) = (operation.title(), counts.operations);
            problems.push(format!("{title}: {is} {what} in {operations}, {wanted} expected"));
        }
    };
    expect("copying calls of the requester", requester.process_vm, calls, 0);
    expect("copying calls of the responder", responder.process_vm, 0, 0);
    expect("other system calls of the requester", requester.calls, 0, few);
    expect("other system calls of the responder", responder.calls, 0, few);
    expect("threads of the requester", requester.threads, 1, 0);
    expect("threads of the responder", responder.threads, 1, 0);
    expect("allocations of the requester", requester.allocations, 0, few);
    expect("allocations of the responder", responder.allocations, 0, few);
    problems
}

#[cfg(test)]
mod tests {
    use super::{Counts, Operation, Side, copies, parse, problems};

    const OUTPUT: &str = "process\trequester\t10\t128\t1\ncounted\trequester\t1\t3\t400\n\
        process\tresponder\t11\t128\t1\ncounted\tresponder\t0\t0\t0\nside 0: system call 72: 1\n\
        calls\t0\t128\t1024\t1\ncalls\t1\t0\t0\t0\n";

    #[test]
    fn output_of_the_counters() {
        let requester = Side {
            process_vm: 128,
            process_vm_bytes: 1024,
            calls: 1,
            allocations: 1,
            copied: 400,
            threads: 1,
        };
        let sides = [requester, Side { threads: 1, ..Side::default() }];
        let counts = Counts { operations: 128, sides };
        assert_eq!(parse(OUTPUT), Some(counts));
        assert_eq!(parse(OUTPUT.rsplit_once("calls").unwrap().0), None);
        assert_eq!(copies(Operation("write-count", 8, "ordinary", "one"), &counts), "1");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let counts = parse(OUTPUT).unwrap();
        let write = |memory, post| problems(Operation("write-count", 8, memory, post), &counts);
        assert!(write("ordinary", "one").is_empty());
        let calls = "write 8 B alloc_buf: 128 copying calls of the requester in 128, 0 expected";
        assert_eq!(write("buf", "one"), [calls]);
        let calls = "write 8 B, lists: 128 copying calls of the requester in 128, 8 expected";
        assert_eq!(write("ordinary", "list"), [calls]);
        let mut counts = counts;
        counts.sides[1].allocations = 17;
        assert_eq!(problems(Operation("write-count", 8, "ordinary", "one"), &counts).len(), 1);
    }
}
