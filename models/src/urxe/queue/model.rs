//! `urxe/queue`: receives that the owner posts, and requesters take.

use loom::thread;

use super::owner::{Identity, OwnQueue};
use super::{Queue, polled};
use crate::abi::*;
use crate::death;
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::sync;
use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use crate::urxe::completion::model::{Handle, success};
use crate::urxe::completion::quick::Success;
use crate::urxe::completion::{self, Entry};
use crate::urxe::host::{Host, agent, processes};
use crate::urxe::origin::Origin;
use crate::urxe::region::model as keys;
use crate::urxe::shared::{CQE_PAYLOAD, Guard, Header, Lock, PATIENCE, QpShared, TakenOver};

const RING: &str = "urxe/queue/ring.rs";
const OWNER: &str = "urxe/queue/owner.rs";

/// A receive queue, and the lock of its QP, or its own.
#[derive(Clone, Copy)]
pub(super) struct Receives {
    owner: &'static Host,
    own: &'static OwnQueue,
}

// SAFETY: threads of a model are one of the system.
unsafe impl Send for Receives {}

impl Receives {
    /// A queue for two receives of one piece.
    pub(super) fn new(owner: &'static Host, in_order: bool) -> Receives {
        let receives = Receives::of_keys(owner, in_order);
        // What a QP and its owner note of keys; there are none in most models.
        sync::plain(&receives.queue().shared.plain);
        receives
    }

    /// The same, as a model that is about keys needs it.
    fn of_keys(owner: &'static Host, in_order: bool) -> Receives {
        let identity = Identity { in_order, pd: 1, ..Identity::default() };
        let own = Box::leak(Box::new(OwnQueue::new(owner, 2, 1, identity).unwrap()));
        let receives = Receives { owner, own };
        let shared = receives.queue().shared;
        sync::plain(&shared.pd);
        sync::plain(&shared.max_sge);
        receives
    }

    fn queue(&self) -> Queue<'static> {
        self.own.view().unwrap()
    }

    fn lock(&self) -> &'static Lock {
        &self.queue().shared.lock
    }

    /// Posts a receive whose piece says the same as its number.
    pub(super) fn post(&self, number: u64) {
        self.post_list([ibv_sge { addr: number, length: 1, lkey: 0 }]);
    }

    /// Posts receives of a piece each, by one call.
    fn post_list<const N: usize>(&self, mut pieces: [ibv_sge; N]) {
        let mut next = core::ptr::null_mut();
        let mut list = pieces.each_mut().map(|piece| ibv_recv_wr {
            wr_id: piece.addr,
            next: core::ptr::null_mut(),
            sg_list: piece,
            num_sge: 1,
        });
        for request in list.iter_mut().rev() {
            request.next = next;
            next = request;
        }
        // SAFETY: requests of one piece.
        assert!(unsafe { self.own.post(next) }.is_ok());
    }

    /// Takes the lock as a requester does.
    fn enter(&self, me: &'static Host) -> (Guard<'static>, TakenOver) {
        me.lock(self.lock(), PATIENCE).unwrap()
    }

    /// The number of the first receive, which stays.
    fn first(&self) -> Option<u64> {
        let receive = self.queue().first()?;
        assert_eq!(receive.list[0].addr.load(Relaxed), receive.wr_id, "half of a receive");
        Some(receive.wr_id)
    }

    /// Completes the first receive, as a requester does; its number.
    pub(super) fn complete(&self, me: &'static Host, cq: Handle) -> Option<u64> {
        let (_guard, _) = self.enter(me);
        let queue = self.queue();
        if queue.is_torn() {
            completion::restore(me, self.owner.own(), &queue, PATIENCE).unwrap();
        }
        let receive = queue.first()?;
        let entry = Entry {
            wr_id: receive.wr_id,
            byte_len: receive.wr_id as u32,
            origin: Origin::receive(queue.offset, queue.generation(), receive.slot),
            ..Entry::default()
        };
        completion::receive(me, self.owner.own(), &queue, cq.record(), &entry, PATIENCE);
        Some(receive.wr_id)
    }
}

impl Receives {
    /// As [`complete`](Self::complete), as a requester does that has found the connection in order.
    fn complete_quickly(&self, me: &'static Host, cq: Handle) {
        let (_guard, _) = self.enter(me);
        let queue = self.queue();
        if queue.is_torn() || queue.is_empty() {
            return;
        }
        let origin = queue.next_origin();
        let Some(place) = cq.place(me, self.owner) else { return };
        queue.begin_taking_in_order(Queue::name_of_cq(cq.record()), place.number);
        // The receives are used in order, and their numbers are.
        let number = queue.shared.head.load(Relaxed);
        place.add(Success { origin, ..success(number) }, &[]);
        queue.taken();
    }
}

pub(crate) static POSTING: Model = Model {
    name: "receives, posting",
    property: "a receive that is taken is whole, and those of a queue are taken in order",
    preemptions: Some(2),
    mortal: false,
    program: || posting(true),
    mutations: &[relax(
        OWNER,
        "shared.tail.store(tail.wrapping_add(1), Release);\n        Ok(())\n    }\n\n    /// Tells",
    )],
};

pub(crate) static POSTING_SHARED: Model = Model {
    name: "receives, posting to an SRQ",
    property: "a receive that is taken is whole, and those of a queue are taken in order",
    preemptions: Some(2),
    mortal: false,
    program: || posting(false),
    mutations: &[relax(
        OWNER,
        "shared.tail.store(tail.wrapping_add(1), Release);\n        Ok(())\n    }\n\n    /// Gives",
    )],
};

fn posting(in_order: bool) {
    let [owner, peer] = processes();
    let receives = Receives::new(owner, in_order);
    let requester = thread::spawn(move || {
        for number in 1..=2 {
            let (_guard, _) = receives.enter(peer);
            match receives.first() {
                None => return,
                Some(found) => assert_eq!(found, number),
            }
            receives.queue().take();
        }
    });
    receives.post(1);
    receives.post(2);
    requester.join().unwrap();
}

pub(crate) static WAITING: Model = Model {
    name: "receives, waiting",
    property: "a requester that waits for a receive hears of the next one",
    preemptions: Some(2),
    mortal: false,
    program: waiting,
    mutations: &[
        relax(OWNER, "tail.swap(tail.load(Relaxed), SeqCst);"),
        skip(RING, "self.shared.waiter.store(slot, SeqCst);"),
    ],
};

fn waiting() {
    let [owner, peer] = processes();
    let receives = Receives::new(owner, true);
    let requester = thread::spawn(move || {
        let (_guard, _) = receives.enter(peer);
        if receives.first().is_none() && !receives.queue().wait(peer.slot()) {
            agent::hear(peer.slot());
        }
        assert_eq!(receives.first(), Some(1));
    });
    receives.post(1);
    requester.join().unwrap();
}

pub(crate) static SLOTS: Model = Model {
    name: "receives, free slots",
    property: "each slot of an SRQ is given out once, whoever gives it back meanwhile",
    preemptions: Some(2),
    mortal: false,
    program: slots,
    mutations: &[
        relax(RING, "match self.shared.free.compare_exchange_weak(free, new, AcqRel, Acquire) {"),
        skip(RING, "match self.shared.free.compare_exchange_weak(free, new, Acquire, Acquire) {"),
    ],
};

/// Two threads give one back each, and the owner takes both.
fn slots() {
    let [owner] = processes();
    let receives = Receives::new(owner, false);
    let queue = receives.queue();
    let mut taken = [queue.pop_free().unwrap(), queue.pop_free().unwrap()];
    let threads = taken.map(|slot| {
        thread::spawn(move || {
            let queue = receives.queue();
            polled(owner.memory(), queue.offset, queue.generation(), slot);
        })
    });
    let early = queue.pop_free();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let mut found: Vec<u32> =
        early.into_iter().chain(core::iter::from_fn(|| queue.pop_free())).collect();
    taken.sort();
    found.sort();
    assert_eq!(found, taken);
}

pub(crate) static GROWING: Model = Model {
    name: "receives, growing",
    property: "a larger SRQ has all its receives and slots, whoever gives one back meanwhile",
    preemptions: Some(2),
    mortal: false,
    program: growing,
    mutations: &[skip(RING, "let before = self.shared.free.fetch_or(u64::from(MOVING), AcqRel);")],
};

/// One slot is posted, the other is given back while the queue moves.
fn growing() {
    let [owner, peer] = processes();
    let receives = Receives::new(owner, false);
    let queue = receives.queue();
    receives.post(1);
    let slot = queue.pop_free().unwrap();
    let poller = thread::spawn(move || {
        let queue = receives.queue();
        polled(owner.memory(), queue.offset, queue.generation(), slot);
    });
    receives.own.resize(3, || Ok(receives.enter(owner).0)).unwrap();
    poller.join().unwrap();
    assert_eq!(receives.first(), Some(1));
    let mut found: Vec<u32> = core::iter::from_fn(|| queue.pop_free()).collect();
    found.sort();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.contains(&slot) && found.contains(&2));
    let _ = peer;
}

pub(crate) static KEYS: Model = Model {
    name: "receives, keys",
    property: "when a region is deregistered every receive that names it is looked at",
    preemptions: Some(2),
    mortal: false,
    program: withdrawal,
    mutations: &[
        skip(RING, "match shared.plain.compare_exchange_weak(plain, new, SeqCst, Relaxed) {"),
        relax(RING, "match shared.plain.compare_exchange_weak(plain, new, SeqCst, Relaxed) {"),
        relax(OWNER, "tail.swap(tail.load(Relaxed), SeqCst);"),
    ],
};

/// A receive is posted while its key is withdrawn.
fn withdrawal() {
    let [owner, peer] = processes();
    let receives = Receives::of_keys(owner, true);
    // Receives are checked with the table of the process alone.
    owner.keys().at::<Header>(0).unwrap().keys.store(256, Relaxed);
    let key = keys::region_of(owner, CQE_PAYLOAD as u64);
    // What the receive is like otherwise does not matter.
    let (header, list) = receives.queue().parts(0).unwrap();
    sync::plain(header);
    sync::plain(&list[0]);
    sync::plain(&receives.queue().shared.waiter);
    sync::plain(&receives.queue().shared.freed);
    let poster = thread::spawn(move || {
        let piece = ibv_sge { addr: 0, length: CQE_PAYLOAD as u32, lkey: key };
        receives.post_list([piece]);
    });
    keys::withdraw(owner, key);
    let queue = receives.queue();
    queue.distrust();
    receives.lock().pass(owner.holder(), PATIENCE, |_| false).unwrap();
    poster.join().unwrap();
    let (_guard, _) = receives.enter(peer);
    assert!(!queue.is_empty() && !queue.is_plain(8), "the receive is not looked at");
}

pub(crate) static DEATH: Model = Model {
    name: "receives, death",
    property: "a receive whose taker dies is completed once, by it or by the next one",
    preemptions: Some(1),
    mortal: true,
    program: dying,
    mutations: &[
        skip(RING, "self.shared.taking.store(taking, Relaxed);\n        self.take();"),
        skip(
            RING,
            "self.shared.head.store(self.shared.head.load(Relaxed).wrapping_sub(1), Release);",
        ),
    ],
};

/// One requester dies while it completes the first receive, another completes what there is.
fn dying() {
    let [owner, mortal, peer] = processes();
    let receives = Receives::new(owner, true);
    let cq = Handle::new(owner, 2);
    receives.post(1);
    receives.post(2);
    let thread = thread::spawn(move || {
        death::mortal(|| _ = receives.complete(mortal, cq));
        mortal.ends();
    });
    while receives.complete(peer, cq).is_some() {}
    thread.join().unwrap();
    while receives.complete(peer, cq).is_some() {}
    let mut numbers: Vec<u32> = core::iter::from_fn(|| cq.poll()).collect();
    numbers.sort();
    assert_eq!(numbers, [1, 2]);
}

pub(crate) static QUICK_DEATH: Model = Model {
    name: "receives, death without entry",
    property: "a receive whose taker dies is completed once, by it or by the next one",
    preemptions: Some(1),
    mortal: true,
    program: dying_quickly,
    mutations: &[
        skip(
            RING,
            "self.shared.taking.store(taking, Relaxed);\n        self.shared.head.store(head",
        ),
        skip(RING, "self.shared.head.store(head.wrapping_add(1), Release);\n    }\n\n    /// What"),
    ],
};

fn dying_quickly() {
    let [owner, mortal, peer] = processes();
    let receives = Receives::new(owner, true);
    let cq = Handle::new(owner, 2);
    receives.post(1);
    receives.post(2);
    let thread = thread::spawn(move || {
        death::mortal(|| receives.complete_quickly(mortal, cq));
        mortal.ends();
    });
    while receives.complete(peer, cq).is_some() {}
    thread.join().unwrap();
    while receives.complete(peer, cq).is_some() {}
    let mut numbers: Vec<u32> = core::iter::from_fn(|| cq.poll()).collect();
    numbers.sort();
    assert_eq!(numbers, [1, 2]);
}
