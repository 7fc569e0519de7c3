//! `urxe/completion/moderation.rs`: events that are held back.

use loom::thread;

use super::Added;
use super::cq::{destroy_cq, modify_cq, req_notify_cq};
use super::model::Handle;
use crate::abi::*;
use crate::mutation::skip;
use crate::runner::Model;
use crate::urxe::device::events;
use crate::urxe::host::processes;

const RING: &str = "urxe/completion/ring.rs";

/// Wants an event after so many completions.
fn moderate(cq: Handle, cq_count: u16) {
    let mut attr = ibv_modify_cq_attr {
        attr_mask: IBV_CQ_ATTR_MODERATE,
        moderate: ibv_moderate_cq { cq_count, cq_period: 0 },
    };
    // SAFETY: a queue of the model, and attributes.
    assert_eq!(unsafe { modify_cq(cq.0, &raw mut attr) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { req_notify_cq(cq.0, 0) }, 0);
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
    moderate(cq, 2);
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
