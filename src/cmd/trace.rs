//! The golden trace: for each function the calls to the kernel that it must make, in order.
//!
//! `testdata/cmd-trace-65.txt` was recorded from rdma-core 65.0 with a recorder in place of the two
//! system calls. Each mode runs the same sequence of functions on one context, so what a context
//! remembers about the kernel shows as well. The tables below call the functions with arguments
//! that lead to the recorded calls.

mod memory;
mod objects;

use core::cell::Cell;
use core::ffi::c_int;
use std::rc::Rc;

use crate::cmd::fake::{self, CMD_FD, Call, DRIVER_ID, Form, Reply, TestContext};
use crate::cmd::probe_write_by_ioctl;

const TRACE: &str = include_str!("testdata/cmd-trace-65.txt");

/// Calls a function of the trace, the `nth` time (from 0) that it comes up; nothing when the
/// function is in another table.
type Table = fn(context: &TestContext, function: &str, nth: usize) -> Option<c_int>;

const TABLES: &[Table] = &[memory::call, objects::call];

/// A function of the trace.
struct Step<'a> {
    function: &'a str,
    /// In the format of [`fake::calls`].
    calls: Vec<&'a str>,
    /// What it returned; nothing for `init`.
    result: Option<c_int>,
}

/// The steps of a mode, by its number in the file.
fn steps(mode: u32) -> Vec<Step<'static>> {
    let title = format!("## mode {mode}:");
    let mut lines = TRACE.lines().skip_while(|line| !line.starts_with(&title)).skip(1);
    let mut steps = Vec::<Step>::new();
    for line in lines.by_ref().take_while(|line| !line.starts_with("##")) {
        match (line.strip_prefix("   "), steps.last_mut()) {
            (Some(call), Some(step)) => match call.strip_prefix("-> ") {
                Some(result) => step.result = Some(result.parse().unwrap()),
                None => step.calls.push(call),
            },
            // Sizes of the recording run.
            _ if line.starts_with("sz ") => {}
            _ => steps.push(Step { function: line, calls: Vec::new(), result: None }),
        }
    }
    steps
}

/// What the recorder said.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    /// Every ioctl succeeds; destroy functions find the device gone.
    Ioctl,
    /// The kernel has no method at all.
    Write,
    /// The kernel has `INVOKE_WRITE` alone.
    InvokeWrite,
}

fn is_destroy(function: &str) -> bool {
    ["destroy", "dealloc", "dereg", "free", "close"].iter().any(|verb| function.contains(verb))
}

/// Runs a mode.
fn run(mode: Mode) {
    let (number, form) = match mode {
        Mode::Ioctl => (1, Form::Write),
        Mode::Write => (2, Form::Write),
        Mode::InvokeWrite => (3, Form::InvokeWrite),
    };
    let destroying = Rc::new(Cell::new(false));
    let gone = Rc::clone(&destroying);
    fake::set_allow_disassociate_destroy(true);
    fake::answer(move |call| match call {
        Call::Write(_) => Reply::Done,
        Call::Ioctl(ioctl) => {
            let invoke_write = (ioctl.object, ioctl.method) == (0, 0);
            match mode {
                Mode::Ioctl if gone.get() => Reply::Fail(libc::EIO),
                Mode::Ioctl => Reply::Done,
                Mode::InvokeWrite if invoke_write => Reply::Done,
                _ => Reply::Fail(libc::EPROTONOSUPPORT),
            }
        }
    });
    // The recording run found no device, so it knew no interface version.
    fake::set_uverbs_abi(0);
    let context = TestContext::new(form);
    let mut seen = Vec::new();
    for step in steps(number) {
        let nth = seen.iter().filter(|function| **function == step.function).count();
        seen.push(step.function);
        destroying.set(is_destroy(step.function));
        if step.function == "init" {
            let by_ioctl = probe_write_by_ioctl(CMD_FD, DRIVER_ID);
            assert_eq!(by_ioctl, mode != Mode::Write);
            assert_eq!(fake::calls(), step.calls, "mode {number}: init");
            continue;
        }
        let result = TABLES.iter().find_map(|table| table(&context, step.function, nth));
        assert!(result.is_some(), "no table has {}", step.function);
        let what = format!("mode {number}: {}, call {nth}", step.function);
        assert_eq!(fake::calls(), step.calls, "{what}");
        assert_eq!(result, step.result, "{what}");
    }
    assert!(seen.len() > 50, "the file has the mode");
}

#[test]
fn every_ioctl_succeeds_and_destroyed_objects_are_gone() {
    run(Mode::Ioctl);
}

#[test]
fn a_kernel_without_methods_gets_write_commands() {
    run(Mode::Write);
}

#[test]
fn write_commands_go_through_the_ioctl() {
    run(Mode::InvokeWrite);
}
