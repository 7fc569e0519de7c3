//! `urxe/completion/moderation.rs`: events that are held back.

use loom::thread;

use super::Added;
use super::cq::{destroy_cq, modify_cq, req_notify_cq};
use super::model::Handle;
use crate::abi::*;
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::sys::futex;
use crate::urxe::device::events;
use crate::urxe::host::processes;

const FILE: &str = "urxe/completion/moderation.rs";
const RING: &str = "urxe/completion/ring.rs";

/// Wants an event after so many completions, and so many microseconds.
fn moderate(cq: Handle, cq_count: u16, cq_period: u16) {
    let mut attr = ibv_modify_cq_attr {
        attr_mask: IBV_CQ_ATTR_MODERATE,
        moderate: ibv_moderate_cq { cq_count, cq_period },
    };
    // SAFETY: a queue of the model, and attributes.
    assert_eq!(unsafe { modify_cq(cq.0, &raw mut attr) }, 0);
}

fn request(cq: Handle) {
    // SAFETY: a queue of the model.
    assert_eq!(unsafe { req_notify_cq(cq.0, 0) }, 0);
}

/// Destroys a queue, and lets the thread that watches it see that.
fn destroy(cq: Handle) {
    // SAFETY: a queue of the model, which nobody uses any more.
    assert_eq!(unsafe { destroy_cq(cq.0) }, 0);
    futex::fall_back();
}

pub(crate) static COUNT: Model = Model {
    name: "moderation, count",
    property: "the last of as many completions as are wanted sends the event, whoever adds it",
    preemptions: Some(2),
    mortal: false,
    program: count,
    mutations: &[skip(RING, "shared.held_back.store(held_back, SeqCst);")],
};

fn count() {
    let [owner, peer] = processes();
    let cq = Handle::new(owner, 2);
    moderate(cq, 2, 0);
    request(cq);
    let adder = thread::spawn(move || {
        assert_eq!(cq.add(peer, owner, 1), Added::Done);
    });
    assert_eq!(cq.add(owner, owner, 2), Added::Done);
    events::wait();
    let mut found = [cq.poll().unwrap(), cq.poll().unwrap()];
    found.sort();
    assert_eq!(found, [1, 2]);
    adder.join().unwrap();
}

pub(crate) static TIME: Model = Model {
    name: "moderation, time",
    property: "the event of a completion that nothing follows comes after the time that is wanted, \
               and not before",
    preemptions: Some(1),
    mortal: false,
    program: time,
    mutations: &[
        skip(RING, "shared.held_back.store(held_back, SeqCst);"),
        skip(RING, "shared.held_back_since.store(now, Relaxed);"),
        skip(FILE, "shared.changes.fetch_add(1, SeqCst);"),
    ],
};

fn time() {
    futex::time_goes_on();
    let [owner, peer] = processes();
    let cq = Handle::new(owner, 2);
    moderate(cq, 0, 1);
    request(cq);
    let begin = futex::now();
    let adder = thread::spawn(move || {
        assert_eq!(cq.add(peer, owner, 1), Added::Done);
    });
    events::wait();
    assert!(futex::now() >= begin + 1000, "too early");
    adder.join().unwrap();
    assert_eq!(cq.poll(), Some(1));
    destroy(cq);
}

pub(crate) static CHANGED: Model = Model {
    name: "moderation, changed",
    property: "an event that is held back when a time is set comes after that time",
    preemptions: Some(2),
    mortal: false,
    program: changed,
    mutations: &[
        skip(FILE, "shared.changes.fetch_add(1, SeqCst);"),
        relax(FILE, "let changes = shared.changes.load(SeqCst);"),
    ],
};

fn changed() {
    futex::time_goes_on();
    let [owner] = processes();
    let cq = Handle::new(owner, 2);
    moderate(cq, 2, 0);
    request(cq);
    assert_eq!(cq.add(owner, owner, 1), Added::Done);
    moderate(cq, 2, 1);
    events::wait();
    destroy(cq);
}
