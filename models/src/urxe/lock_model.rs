//! `urxe/shared/lock.rs`: the lock between processes.

use loom::thread;

use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::sync::atomic::{AtomicU64, Ordering::Relaxed};
use crate::urxe::host::{Host, processes};
use crate::urxe::shared::{KeyEntry, Lock, PATIENCE, QpShared, TakenOver};

const FILE: &str = "urxe/shared/lock.rs";

pub(crate) static EXCLUSION: Model = Model {
    name: "lock, exclusion",
    property: "one holder at a time, who sees what the one before stored",
    preemptions: None,
    mortal: false,
    program: exclusion,
    mutations: &[
        relax(FILE, "self.0.0.store(0, Ordering::Release);"),
        relax(FILE, ".compare_exchange(0, me.0, Ordering::SeqCst, Ordering::Relaxed)"),
        skip(FILE, ".compare_exchange(0, me.0, Ordering::SeqCst, Ordering::Relaxed)"),
        skip(FILE, "self.0.0.store(0, Ordering::Release);"),
    ],
};

fn qp(host: &Host) -> (&Lock, &AtomicU64) {
    let qp = host.memory().at::<QpShared>(0x10_8000).unwrap();
    (&qp.lock, &qp.user_handle)
}

fn count(owner: &Host, me: &Host) -> TakenOver {
    let (lock, count) = qp(owner);
    let (_guard, taken_over) = me.lock(lock, PATIENCE).unwrap();
    let before = count.load(Relaxed);
    count.store(before + 1, Relaxed);
    taken_over
}

fn exclusion() {
    let [owner, peer] = processes();
    let thread = thread::spawn(move || {
        count(owner, peer);
        count(owner, peer)
    });
    assert_eq!(count(owner, owner), TakenOver::No);
    assert_eq!(thread.join().unwrap(), TakenOver::No);
    assert_eq!(qp(owner).1.load(Relaxed), 3);
}

pub(crate) static TAKE_OVER: Model = Model {
    name: "lock, take-over",
    property: "the lock of a dead holder is taken over by one, who is told, and no other is",
    preemptions: None,
    mortal: false,
    program: take_over,
    mutations: &[
        skip(FILE, "self.0.compare_exchange(held, me.0, Ordering::SeqCst, Ordering::Relaxed);"),
        relax(FILE, "self.0.0.store(0, Ordering::Release);"),
    ],
};

/// The first holder dies with the lock; two wait.
fn take_over() {
    let [owner, peer, dead] = processes();
    let (lock, value) = qp(owner);
    core::mem::forget(lock.try_lock(dead.holder()).unwrap());
    value.store(10, Relaxed);
    dead.ends();
    let thread = thread::spawn(move || count(owner, peer));
    let told = [count(owner, owner), thread.join().unwrap()];
    assert!(told.contains(&TakenOver::No) && told.contains(&TakenOver::FromTheDead), "{told:?}");
    assert_eq!(value.load(Relaxed), 12);
}

pub(crate) static PASSING: Model = Model {
    name: "lock, passing",
    property: "who passes through waits for the holder, and who comes later sees what was stored",
    preemptions: None,
    mortal: false,
    program: passing,
    mutations: &[
        skip(FILE, "fence(Ordering::SeqCst);"),
        skip(FILE, ".compare_exchange(0, me.0, Ordering::SeqCst, Ordering::Relaxed)"),
    ],
};

/// The owner withdraws something and passes; a requester looks at it with the lock held and uses it.
fn passing() {
    let [owner, peer] = processes();
    let (lock, in_use) = qp(owner);
    let allowed = &owner.memory().at::<KeyEntry>(0x10_8400).unwrap().iova;
    allowed.store(1, Relaxed);
    let requester = thread::spawn(move || {
        let (lock, in_use) = qp(owner);
        let _guard = lock.lock(peer.holder(), PATIENCE, |_| false).unwrap();
        if allowed.load(Relaxed) == 1 {
            in_use.store(1, Relaxed);
            in_use.store(0, Relaxed);
        }
    });
    allowed.store(0, Relaxed);
    lock.pass(owner.holder(), PATIENCE, |_| false).unwrap();
    assert_eq!(in_use.load(Relaxed), 0, "it is used after it was withdrawn");
    requester.join().unwrap();
}
