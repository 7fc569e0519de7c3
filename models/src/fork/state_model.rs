//! `fork/state.rs`: fork support that is asked for while memory is registered.

use loom::thread;

use super::state::State;
use crate::mutation::{relax, skip};
use crate::runner::Model;

const FILE: &str = "fork/state.rs";

const PAGE: usize = 4096;
static STATE: State = State::new();

pub(crate) static IN_TIME: Model = Model {
    name: "fork support, in time",
    property: "it is enabled if and only if all memory is marked, with pages of the right size",
    preemptions: Some(3),
    mortal: false,
    program: in_time,
    mutations: &[
        relax(FILE, ".compare_exchange(UNUSED, ENABLED, Ordering::AcqRel, Ordering::Acquire)"),
        skip(FILE, ".compare_exchange(UNUSED, ENABLED, Ordering::AcqRel, Ordering::Acquire)"),
        relax(FILE, "let is_enabled = self.state.load(Ordering::Acquire) == ENABLED;"),
        skip(FILE, "self.state.compare_exchange(UNUSED, TOO_LATE, Ordering::AcqRel"),
    ],
};

/// Two threads register memory, while a third one asks for fork support.
fn in_time() {
    let threads = [(); 2].map(|()| thread::spawn(|| STATE.register()));
    let is_enabled = STATE.enable(PAGE).is_ok();
    let marked = threads.map(|thread| thread.join().unwrap());
    let wanted = if is_enabled { Some(PAGE) } else { None };
    assert_eq!(marked, [wanted; 2], "it is enabled: {is_enabled}");
    assert_eq!(STATE.page_size(), wanted);
    assert_eq!(STATE.is_enabled().unwrap_or(false), is_enabled);
}
