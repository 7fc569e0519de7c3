//! `urxe/gate.rs`: locks that the first thread has without an exchange.

use loom::thread;

use super::gate::Gate;
use super::host::{Host, processes};
use super::shared::QpShared;
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::Relaxed;

const FILE: &str = "urxe/gate.rs";

/// The lock of a process that can make barriers.
fn gate(host: &Host) -> &'static Gate {
    host.header().unwrap().barriers.store(1, Relaxed);
    Box::leak(Box::new(Gate::new(host)))
}

fn number(host: &Host) -> &AtomicU64 {
    &host.memory().at::<QpShared>(0x10_8000).unwrap().user_handle
}

/// Counts, with the lock held.
fn count(host: &Host) {
    let before = number(host).load(Relaxed);
    number(host).store(before + 1, Relaxed);
}

pub(crate) static FIRST: Model = Model {
    name: "gates, the first and another",
    property: "one thread at a time, which sees what the one before stored",
    preemptions: Some(3),
    mortal: false,
    program: first,
    mutations: &[
        skip(FILE, "light_fence();"),
        skip(FILE, "self.busy.store(1, Ordering::Relaxed);\n        light_fence();"),
        skip(FILE, "self.right.store(WITHDRAWN, Ordering::Relaxed);"),
        skip("urxe/host/marks.rs", "fence(SeqCst);\n    let make"),
        relax(FILE, "self.busy.store(0, Ordering::Release);\n        } else {"),
        relax(FILE, "if self.busy.load(Ordering::Acquire) != 0 {"),
    ],
};

/// Takes the lock if nobody has it, and counts then; how much.
fn try_count(gate: &Gate, host: &Host) -> u64 {
    let has_it = gate.try_lock();
    if has_it {
        count(host);
        gate.unlock();
    }
    u64::from(has_it)
}

/// One thread waits, the other comes twice and does not: loom is not fair to two that wait.
fn first() {
    let [host] = processes();
    let gate = gate(host);
    let other = thread::spawn(move || {
        gate.lock();
        count(host);
        gate.unlock();
    });
    let counted = try_count(gate, host) + try_count(gate, host);
    other.join().unwrap();
    gate.lock();
    assert_eq!(number(host).load(Relaxed), 1 + counted);
    gate.unlock();
}

pub(crate) static ON_BEHALF: Model = Model {
    name: "gates, given back by another",
    property: "the first sees what the thread stored that gave the lock back for it",
    preemptions: None,
    mortal: false,
    program: on_behalf,
    // That the first acquires what it finds is not seen here: a fence follows.
    mutations: &[relax(FILE, "self.busy.store(0, Ordering::Release);\n        } else {")],
};

fn on_behalf() {
    let [host] = processes();
    let gate = gate(host);
    gate.lock();
    gate.unlock();
    gate.lock();
    let other = thread::spawn(move || {
        count(host);
        gate.unlock();
    });
    let counted = 1 + try_count(gate, host) + try_count(gate, host);
    other.join().unwrap();
    assert_eq!(number(host).load(Relaxed), counted);
}

pub(crate) static OTHERS: Model = Model {
    name: "gates, several others",
    property: "one thread at a time, also of several that withdraw the right of the first",
    preemptions: Some(2),
    mortal: false,
    program: others,
    mutations: &[
        relax(FILE, "self.word.store(0, Ordering::Release);\n            return true;"),
        relax(FILE, "Kind::Biased | Kind::Fair => self.word.store(0, Ordering::Release),"),
        skip(
            FILE,
            "self.word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()",
        ),
        skip(FILE, "self.busy.store(1, Ordering::Relaxed);\n            self.first"),
    ],
};

fn others() {
    let [host] = processes();
    let gate = gate(host);
    let waits = thread::spawn(move || {
        gate.lock();
        count(host);
        gate.unlock();
    });
    let tries = thread::spawn(move || try_count(gate, host));
    let counted = 1 + try_count(gate, host) + tries.join().unwrap();
    waits.join().unwrap();
    assert_eq!(number(host).load(Relaxed), counted);
}

pub(crate) static ALIKE: Model = Model {
    name: "gates, no first",
    property: "one thread at a time has the lock, and sees what the one before stored",
    preemptions: None,
    mortal: false,
    program: alike,
    mutations: &[
        relax(
            FILE,
            "self.word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()",
        ),
        skip(
            FILE,
            "self.word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()",
        ),
        relax(FILE, "Kind::Biased | Kind::Fair => self.word.store(0, Ordering::Release),"),
    ],
};

/// Without barriers.
fn alike() {
    let [host] = processes();
    let gate: &'static Gate = Box::leak(Box::new(Gate::new(host)));
    let other = thread::spawn(move || {
        gate.lock();
        count(host);
        gate.unlock();
        try_count(gate, host)
    });
    gate.lock();
    count(host);
    gate.unlock();
    let counted = 2 + other.join().unwrap();
    assert_eq!(number(host).load(Relaxed), counted);
    assert!(gate.try_lock() && !gate.try_lock());
}
