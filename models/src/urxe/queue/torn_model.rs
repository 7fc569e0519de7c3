//! `urxe/queue`: whether a receive of somebody who has died was completed, when its completion cannot
//! be found any more as the ring of the CQ has come round: its slot tells.

use loom::thread;

use super::model::Receives;
use crate::death;
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::urxe::completion::model::Handle;
use crate::urxe::host::{Host, processes};

const RING: &str = "urxe/queue/ring.rs";
const CQ: &str = "urxe/completion/ring.rs";

const PROPERTY: &str = "a receive whose taker died is completed once, also when the owner has polled \
                        that and others have used its place";

pub(crate) static SHARED: Model = Model {
    name: "receives, polled, of an SRQ",
    property: PROPERTY,
    preemptions: Some(1),
    mortal: true,
    program: || polling(false),
    mutations: &[
        skip(RING, "header.next.store(HELD, Relaxed);"),
        skip(RING, "header.next.store(free as u32, Relaxed);"),
        relax(CQ, "self.shared.head.0.store(head, Release);"),
    ],
};

pub(crate) static OWN: Model = Model {
    name: "receives, polled, of a QP",
    property: PROPERTY,
    preemptions: Some(1),
    mortal: true,
    program: || polling(true),
    mutations: &[relax(CQ, "self.shared.head.0.store(head, Release);")],
};

/// Waits for room in a queue that only the caller adds to.
fn add(cq: Handle, me: &'static Host, owner: &'static Host, number: u32) {
    while !cq.add_if_room(me, owner, number) {
        thread::yield_now();
    }
}

/// One dies while it completes the first receive; another adds two completions to the same ring of
/// one entry, and then those of the receives that are left, while the owner polls.
fn polling(in_order: bool) {
    let [owner, mortal, peer] = processes();
    let receives = Receives::new(owner, in_order);
    receives.post(1);
    receives.post(2);
    let cq = Handle::new(owner, 1);
    let dying = thread::spawn(move || {
        death::mortal(|| _ = receives.complete(mortal, cq));
        mortal.ends();
    });
    dying.join().unwrap();
    let completer = thread::spawn(move || {
        add(cq, peer, owner, 10);
        add(cq, peer, owner, 11);
        loop {
            cq.wait_for_room();
            if receives.complete(peer, cq).is_none() {
                break;
            }
        }
    });
    let mut found = Vec::new();
    while found.len() < 4 {
        match cq.poll() {
            Some(number) => found.push(number),
            None => thread::yield_now(),
        }
    }
    found.sort();
    assert_eq!(found, [1, 2, 10, 11]);
    completer.join().unwrap();
    assert_eq!(cq.poll(), None);
}
