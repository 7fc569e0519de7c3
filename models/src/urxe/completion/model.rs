//! `urxe/completion`: completions that several add and one polls.

use loom::thread;

use super::cq::{Cq, create_cq, req_notify_cq};
use super::poll::poll_cq;
use super::quick::{Known, Place, Success};
use super::{Added, Entry, add};
use crate::abi::*;
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::sync;
use crate::sync::atomic::Ordering::Relaxed;
use crate::urxe::device::{Context, events};
use crate::urxe::host::{Host, processes};
use crate::urxe::origin::Origin;
use crate::urxe::shared::{CqShared, Cqe, PATIENCE};

const RING: &str = "urxe/completion/ring.rs";
const QUICK: &str = "urxe/completion/quick.rs";

/// A queue of a process, as C knows it.
#[derive(Clone, Copy)]
pub(crate) struct Handle(pub(super) *mut ibv_cq);

// SAFETY: threads of a model are one of the system.
unsafe impl Send for Handle {}

impl Handle {
    pub(crate) fn new(owner: &'static Host, entries: i32) -> Handle {
        let (none, context) = (core::ptr::null_mut(), Context::pointer(owner));
        // SAFETY: a context of the model.
        let cq = Handle(unsafe { create_cq(context, entries, none, 0) });
        assert!(!cq.0.is_null());
        let shared = cq.shared();
        let count = shared.capacity.load(Relaxed) as usize;
        let ring = owner.memory().slice::<Cqe>(shared.ring.load(Relaxed), count).unwrap();
        for cqe in ring {
            // Two members that must go together, and the mark of an entry that is there.
            for member in [&cqe.status_opcode, &cqe.vendor_err, &cqe.imm_or_key] {
                sync::plain(member);
            }
            for member in [&cqe.qp_num, &cqe.src_qp, &cqe.flags, &cqe.pkey_slid] {
                sync::plain(member);
            }
            sync::plain(&cqe.origin);
            sync::plain(&cqe.payload);
            sync::plain(&cqe.timestamp);
        }
        cq
    }

    pub(super) fn cq(&self) -> &'static Cq {
        // SAFETY: made by `new`, and never destroyed.
        unsafe { Cq::of(self.0) }
    }

    pub(crate) fn record(&self) -> u64 {
        self.cq().record()
    }

    fn shared(&self) -> &'static CqShared {
        self.cq().shared()
    }

    /// Adds a completion with a number.
    pub(super) fn add(&self, me: &Host, owner: &Host, number: u32) -> Added {
        let entry = Entry { wr_id: u64::from(number), byte_len: number, ..Entry::default() };
        add(me, owner.own(), self.cq().record(), &entry, PATIENCE)
    }

    /// As [`add`](Self::add), in a model where nobody else adds; false if there is no room.
    pub(crate) fn add_if_room(&self, me: &Host, owner: &Host, number: u32) -> bool {
        let shared = self.shared();
        shared.flags.store(CqShared::IGNORE_OVERRUN, Relaxed);
        assert_eq!(self.add(me, owner, number), Added::Done);
        shared.flags.store(0, Relaxed);
        let last = shared.tail.load(Relaxed).wrapping_sub(1);
        // As who adds finds the ring.
        let last = super::add::ring_of(owner.own(), shared).and_then(|ring| ring.at(last));
        last.is_some_and(|cqe| cqe.byte_len.load(Relaxed) == number)
    }

    /// Waits until one more can be added, in such a model.
    pub(crate) fn wait_for_room(&self) {
        let shared = self.shared();
        let waiting = || shared.tail.load(Relaxed).wrapping_sub(shared.head.0.load(Relaxed));
        while waiting() >= u64::from(shared.limit.load(Relaxed)) {
            thread::yield_now();
        }
    }

    /// The next place, if all that there is to do is to fill it.
    pub(crate) fn place<'a>(&self, me: &Host, owner: &'a Host) -> Option<Place<'a>> {
        Known::of(owner.own(), self.record())?.place(me, false)
    }

    /// As [`add`](Self::add), without an entry if that can be.
    fn add_quickly(&self, me: &Host, owner: &Host, number: u32) -> Added {
        match self.place(me, owner) {
            Some(place) => place.add(success(number), &[]),
            None => return self.add(me, owner, number),
        }
        Added::Done
    }

    /// The number of the next completion.
    pub(crate) fn poll(&self) -> Option<u32> {
        let mut wc = ibv_wc::zeroed();
        // SAFETY: room for one.
        let got = unsafe { poll_cq(self.0, 1, &raw mut wc) };
        assert!(got == 0 || got == 1, "{got}");
        assert!(got == 0 || wc.wr_id == u64::from(wc.byte_len), "half of a completion");
        (got == 1).then_some(wc.byte_len)
    }

    /// The numbers of the next completions.
    fn wait<const N: usize>(&self) -> [u32; N] {
        core::array::from_fn(|_| {
            loop {
                match self.poll() {
                    Some(number) => return number,
                    None => thread::yield_now(),
                }
            }
        })
    }
}

/// A completion with a number.
pub(crate) fn success(number: u32) -> Success {
    Success {
        wr_id: Some(number.into()),
        opcode: IBV_WC_RECV,
        byte_len: number,
        imm: None,
        qp_num: 0,
        src_qp: 0,
        sl: 0,
        slid: 0,
        origin: Origin::NONE,
    }
}

pub(crate) static COMPLETIONS: Model = Model {
    name: "completions, several add",
    property: "each completion comes once and as a whole, those of one process in order",
    preemptions: None,
    mortal: false,
    program: completions,
    mutations: &[
        relax(RING, "cqe.sequence.store(tail.wrapping_add(1), Release);"),
        skip(RING, "shared.tail.store(tail.wrapping_add(1), Release);\n        Put"),
        skip(
            "urxe/shared/lock.rs",
            ".compare_exchange(0, me.0, Ordering::SeqCst, Ordering::Relaxed)",
        ),
    ],
};

/// A peer adds one, and the owner one of its own before it polls.
fn completions() {
    let [owner, peer] = processes();
    let cq = Handle::new(owner, 2);
    let adder = thread::spawn(move || {
        assert_eq!(cq.add(peer, owner, 1), Added::Done);
    });
    assert_eq!(cq.add(owner, owner, 2), Added::Done);
    let mut numbers = cq.wait::<2>();
    numbers.sort();
    assert_eq!(numbers, [1, 2]);
    assert_eq!(cq.poll(), None);
    adder.join().unwrap();
}

pub(crate) static QUICKLY: Model = Model {
    name: "completions, without entry",
    property: "each completion comes once and as a whole, whichever way it is added",
    preemptions: None,
    mortal: false,
    program: quickly,
    mutations: &[
        relax(QUICK, "cqe.sequence.store(number.wrapping_add(1), Release);"),
        skip(QUICK, "cqe.sequence.store(number.wrapping_add(1), Release);"),
    ],
};

/// As [`completions`], where the peer finds nothing else to be done.
fn quickly() {
    let [owner, peer] = processes();
    let cq = Handle::new(owner, 2);
    let adder = thread::spawn(move || {
        assert_eq!(cq.add_quickly(peer, owner, 1), Added::Done);
    });
    assert_eq!(cq.add(owner, owner, 2), Added::Done);
    let early = [cq.poll(), cq.poll()];
    adder.join().unwrap();
    let late = core::iter::from_fn(|| cq.poll());
    let mut numbers: Vec<u32> = early.into_iter().flatten().chain(late).collect();
    numbers.sort();
    assert_eq!(numbers, [1, 2]);
}

pub(crate) static ROOM: Model = Model {
    name: "completions, room",
    property: "an entry is used again only when the owner is through with it",
    preemptions: None,
    mortal: false,
    program: room,
    mutations: &[skip(RING, "self.shared.head.0.store(head, Release);")],
};

/// A queue of one entry; what finds no room is dropped.
fn room() {
    let [owner, peer] = processes();
    let cq = Handle::new(owner, 1);
    cq.shared().flags.store(CqShared::IGNORE_OVERRUN, Relaxed);
    let adder = thread::spawn(move || {
        for number in 1..=2 {
            assert_eq!(cq.add(peer, owner, number), Added::Done);
        }
    });
    assert_eq!(cq.wait(), [1]);
    let second = cq.poll();
    assert!(second.is_none() || second == Some(2));
    adder.join().unwrap();
    if second.is_none() && cq.poll().is_none() {
        assert_eq!(cq.add(peer, owner, 3), Added::Done);
        assert_eq!(cq.poll(), Some(3));
    }
}

pub(crate) static EVENTS: Model = Model {
    name: "completions, events",
    property: "who asks for an event and finds no completion is woken by the next one",
    preemptions: None,
    mortal: false,
    program: event,
    mutations: &[
        skip(RING, "self.armed.store(ARMED_NEXT, SeqCst);"),
        skip(
            "urxe/shared/lock.rs",
            ".compare_exchange(0, me.0, Ordering::SeqCst, Ordering::Relaxed)",
        ),
    ],
};

fn event() {
    let [owner, peer] = processes();
    let cq = Handle::new(owner, 2);
    let adder = thread::spawn(move || {
        assert_eq!(cq.add_quickly(peer, owner, 1), Added::Done);
    });
    // SAFETY: a queue of the model.
    assert_eq!(unsafe { req_notify_cq(cq.0, 0) }, 0);
    if cq.poll().is_none() {
        events::wait();
        assert_eq!(cq.poll(), Some(1));
    }
    adder.join().unwrap();
}

pub(crate) static DEATH: Model = Model {
    name: "completions, death",
    property: "who dies while it adds has added all or nothing, and its event is not lost",
    preemptions: Some(1),
    mortal: true,
    program: dying,
    mutations: &[
        skip(RING, "shared.sending.store(1, SeqCst);\n        if shared.armed"),
        skip(RING, "shared.tail.store(tail.wrapping_add(1), Release);\n        }"),
    ],
};

/// One adds a completion and dies on the way; another adds one behind it, as the owner sleeps.
fn dying() {
    let [owner, mortal, peer] = processes();
    let cq = Handle::new(owner, 2);
    // SAFETY: a queue of the model.
    assert_eq!(unsafe { req_notify_cq(cq.0, 0) }, 0);
    let thread = thread::spawn(move || {
        let died = crate::death::mortal(|| _ = cq.add(mortal, owner, 1));
        mortal.ends();
        died
    });
    let other = thread::spawn(move || {
        assert_eq!(cq.add(peer, owner, 2), Added::Done);
    });
    let first = cq.poll();
    events::wait();
    other.join().unwrap();
    let died = thread.join().unwrap();
    let found: Vec<u32> = first.into_iter().chain(core::iter::from_fn(|| cq.poll())).collect();
    let is_right = match &found[..] {
        [1, 2] | [2, 1] => true,
        [2] => died,
        _ => false,
    };
    assert!(is_right, "{found:?}");
}
