//! The unit tests in other surroundings: with the address sanitizer, and under memcheck and drd of
//! valgrind.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::fuzz::TRIPLE;
use crate::paths;
use crate::sh::{Cmd, tail};

/// What the steps need beside Rust.
pub(crate) const ADDRESS_NEEDS: &[&str] = &["gcc", "libc6-dev", "iproute2"];

pub(crate) const VALGRIND_NEEDS: &[&str] = &["gcc", "libc6-dev", "iproute2", "valgrind"];

/// What the address sanitizer is told: some tests ask for more memory than there is, and expect
/// NULL.
const ADDRESS_OPTIONS: &str =
    "detect_leaks=1:detect_stack_use_after_return=1:allocator_may_return_null=1";

/// All unit tests with the address sanitizer and its leak checker, in the processes that tests start
/// as well. The standard library is not instrumented, its allocations are known.
pub(crate) fn address() -> Result<String> {
    let program = build_for_address()?;
    let output = Cmd::new(&program)
        .env("ASAN_OPTIONS", ADDRESS_OPTIONS)
        .env("RUST_BACKTRACE", "0")
        .dir(paths::checkout())
        .timeout(Duration::from_secs(900))
        .output()?;
    // A process that a test started may have had its own to say, which the test did not see.
    if let Some(error) = output.lines().find(|line| line.contains("ERROR: ")) {
        return Err(Error::new(format!("a process of a test: {error}")));
    }
    Ok(format!("{} tests, none left out", passed(&output)?))
}

/// The test program, built with the address sanitizer.
///
/// The flag is one of nightly compilers; a released one takes it with this variable, and what rustup
/// installs has the sanitizer's runtime for it.
fn build_for_address() -> Result<PathBuf> {
    let folder = Cmd::new("rustc").args(["--print", "target-libdir"]).quiet().output()?;
    let runtimes = paths::list(folder.trim().as_ref())?;
    if !runtimes.iter().any(|file| file.to_string_lossy().ends_with("_rt.asan.a")) {
        return Err(Error::new(format!(
            "the compiler has no runtime of the address sanitizer in {}; those that rustup \
             installs have",
            folder.trim()
        )));
    }
    let build = Cmd::new("cargo")
        .args(["test", "--lib", "--no-run", "--target", TRIPLE])
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .env("CARGO_TARGET_DIR", paths::target().join("address"));
    program(build)
}

/// The test program that a build of cargo names.
fn program(build: Cmd) -> Result<PathBuf> {
    let output = build.dir(paths::checkout()).timeout(Duration::from_secs(1200)).output()?;
    let named = output.lines().find_map(|line| line.trim().strip_prefix("Executable unittests "));
    let path = named.and_then(|line| line.split_once('(')?.1.strip_suffix(')'));
    path.map(|path| paths::checkout().join(path))
        .ok_or_else(|| Error::new("cargo did not say where the tests are"))
}

/// Tests of the device under memcheck, those of a module in a process of their own: a test process
/// keeps the slots that it has made, of 4 GiB each, and valgrind has room for some thirty. What the
/// lists hold, and all that is outside of the device, runs side by side.
const MODULES: [&[&str]; 2] = [
    &["urxe::transfer"],
    &[
        "urxe::completion",
        "urxe::device",
        "urxe::gate",
        "urxe::host",
        "urxe::pair",
        "urxe::queue",
        "urxe::region",
        "urxe::shared",
    ],
];

/// Tests that are left out under memcheck: parsers and tables without `unsafe`, with inputs by the ten
/// thousand, which take minutes there. They run with the address sanitizer.
const LEFT_OUT: &[&str] = &[
    "address::resolve::tests::silence_ends_the_search_in_time",
    "discovery::values::tests::garbage_does_not_panic",
    "fork::ranges::tests::counts_are_those_of_a_page_by_page_model",
    "fork::ranges::tests::long_lists_are_kept_in_chunks",
    "fork::smaps::tests::any_bytes_are_survived",
    "plugin::config::tests::files_that_are_none",
    "plugin::config::tests::garbage_does_not_panic",
    "plugin::elf::tests::garbage_does_not_panic",
    "plugin::release::names::tests::garbage_does_not_panic",
    "sys::netlink::tests::garbage_ends_and_does_not_panic",
];

/// The test that runs those of the fast path in a process of its own, which memcheck would not see. The
/// address sanitizer sees it.
const FAST: &str = "urxe::transfer::tests::fast::in_a_process_of_their_own";

/// The unit tests under memcheck. Leaks are looked for outside of the device alone: to look for them
/// there valgrind would read all of the slots, which are sparse; the address sanitizer finds those.
pub(crate) fn memcheck() -> Result<String> {
    let build = Cmd::new("cargo").args(["test", "--lib", "--no-run"]);
    let program = program(build)?;
    let suppressions =
        format!("--suppressions={}", paths::checkout().join("xtask/memcheck.supp").display());
    let run = |options: &[&str], tests: &[&str]| {
        let output = Cmd::new("valgrind")
            .args(["-q", "--error-exitcode=9", "--num-callers=30", &suppressions])
            .args(options)
            .arg(&program)
            .args(["--test-threads", "1", "--skip", FAST])
            .args(tests)
            .dir(paths::checkout())
            .timeout(Duration::from_secs(900))
            .output()?;
        passed(&output)
    };
    let leaks = [
        "--leak-check=full",
        "--show-leak-kinds=definite",
        "--errors-for-leak-kinds=definite",
        // A forked child has what its parent has.
        "--child-silent-after-fork=yes",
    ];
    let mut others = vec!["--skip", "urxe::"];
    others.extend(LEFT_OUT.iter().flat_map(|test| ["--skip", test]));
    let count = std::thread::scope(|scope| {
        let run = &run;
        let device = MODULES.map(|modules| {
            let each = |module: &&str| run(&["--leak-check=no"], &[*module]);
            scope.spawn(move || modules.iter().map(each).sum::<Result<u32>>())
        });
        let mut count = run(&leaks, &others)?;
        for part in device {
            count += part.join().map_err(|_| Error::new("a thread of the step ended early"))??;
        }
        Ok::<u32, Error>(count)
    })?;
    let left_out = LEFT_OUT.join(", ");
    Ok(format!("{count} tests; left out, as they take minutes: {left_out}, and {FAST}"))
}

/// Tests that start threads, by the beginning of their names: those that drd looks at. What one thread
/// does alone is no race. `slots_are_freed_while_the_queue_grows` is left out: its threads wait for each
/// other in loops, which takes minutes there.
const THREADS: &[&str] = &[
    "cmd::cq::tests::existing::destroying_waits",
    "cmd::events::tests::the_last",
    "discovery::device_file::tests::a_link_that_appears",
    "fork::tests::a_kernel_without_the_advice",
    "fork::tests::threads_share_the_counts",
    "sync::atomic::tests::what",
    "sys::mutex::tests",
    "urxe::completion::ring::tests::adding_and_taking_at_once",
    "urxe::completion::tests::events_follow_wishes",
    "urxe::device::events::tests::events_reach",
    "urxe::device::watch::tests::a_signal",
    "urxe::device::watch::tests::changes",
    "urxe::gate::tests",
    "urxe::host::agent::tests::the_pusher",
    "urxe::host::agent::tests::words_of_another_process",
    "urxe::region::keys::tests::readers",
    "urxe::region::mr::tests::deregistration_waits",
    "urxe::region::mr::tests::regions_of_many_threads",
    "urxe::region::users::tests",
    "urxe::shared",
    "urxe::transfer::tests::fast::nothing_is_written",
    "urxe::transfer::tests::fast::threads_share",
    "verbs::comp_channel::tests::an_acknowledgement",
];

/// Tests of `sync/watched.rs` that have a race each.
const RACES: &[&str] = &[
    "sync::atomic::tests::race_of_what_is_not_acquired",
    "sync::atomic::tests::race_of_what_is_not_released",
];

/// How drd begins a report.
const REPORT: &str = "Conflicting ";

/// Exit code of valgrind when there was one.
const ERRORS: i32 = 9;

/// The unit tests that start threads under drd, built so that the atomics of the library tell it what
/// they order, and before that tests with a race, each of which it must report. The stack is looked at
/// there alone: drd does not see when std::thread::scope has its threads behind it, after which their
/// places on the stack are used again.
///
/// Each test has a process of its own. The standard library detaches the threads of a scope; when one
/// of them has ended before that, drd goes on to know it by its `pthread_t`, which a later thread gets
/// again, and takes a join with the later one for a join with the earlier.
pub(crate) fn races() -> Result<String> {
    let build = Cmd::new("cargo")
        .args(["test", "--lib", "--no-run"])
        .env("RUSTFLAGS", "--cfg watched")
        .env("CARGO_TARGET_DIR", paths::target().join("watched"));
    let program = program(build)?;
    let suppressions = paths::checkout().join("xtask/races.supp");
    let drd = |options: &[&str], test: &str| {
        Cmd::new("valgrind")
            .args(["-q", "--tool=drd", "--num-callers=30"])
            .arg(format!("--error-exitcode={ERRORS}"))
            // Otherwise a thread that looks at a word in a loop keeps the others from running.
            .arg("--fair-sched=try")
            .args(options)
            .arg(format!("--suppressions={}", suppressions.display()))
            .arg(&program)
            // Some tests are ignored, as another one starts them in a process that valgrind does not see.
            .args(["--test-threads", "1", "--nocapture", "--include-ignored", "--exact", test])
            .dir(paths::checkout())
            .timeout(Duration::from_secs(300))
    };
    for race in RACES {
        let finished = drd(&["--check-stack-var=yes"], race).finish()?;
        let output = paths::read(&finished.log)?;
        let is_seen = output.contains(REPORT) && output.contains("watched.rs");
        if finished.code != ERRORS || !is_seen {
            let log = finished.log.display();
            return Err(Error::new(format!(
                "drd does not report {race}; what it says is in {log}"
            )));
        }
    }
    let mut count = 0;
    for test in tests_of_threads(&program)? {
        let output = drd(&[], &test).output()?;
        // A process that a test started may have had its own to say, which the test did not see.
        if output.contains(REPORT) {
            let end = tail(&output, 40);
            return Err(Error::new(format!("a process of {test} has a race:\n{end}")));
        }
        count += passed(&output)?;
    }
    Ok(format!("{count} tests that start threads; {} with a race were reported", RACES.len()))
}

/// The names of all tests that [`THREADS`] names the beginnings of.
fn tests_of_threads(program: &Path) -> Result<Vec<String>> {
    let list = Cmd::new(program).args(["--list", "--format", "terse"]).quiet().output()?;
    let tests: Vec<&str> = list.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    let mut of_threads = Vec::new();
    for begin in THREADS {
        let before = of_threads.len();
        of_threads.extend(
            tests.iter().filter(|test| test.starts_with(begin)).map(|test| (*test).to_owned()),
        );
        if of_threads.len() == before {
            return Err(Error::new(format!("no test begins with {begin}")));
        }
    }
    Ok(of_threads)
}

/// The number of tests that have passed.
fn passed(output: &str) -> Result<u32> {
    let line = output.lines().find_map(|line| line.strip_prefix("test result: ok. "));
    line.and_then(|line| line.split(' ').next()?.parse().ok())
        .ok_or_else(|| Error::new("the tests did not say how many passed"))
}
