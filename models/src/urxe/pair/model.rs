//! `urxe/pair`: the lock of a send queue, and which of its places are free.

use loom::thread;

use super::freed;
use super::lock::Lock;
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::sync;
use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::Relaxed;

const LOCK: &str = "urxe/pair/lock.rs";
const FREED: &str = "urxe/pair/freed.rs";

pub(crate) static EXCLUSION: Model = Model {
    name: "send queue, lock",
    property: "one thread at a time has the lock, and sees what the one before stored",
    preemptions: None,
    mortal: false,
    program: exclusion,
    mutations: &[
        relax(LOCK, "if self.is_watched || self.word.swap(1, Ordering::Acquire) != 0 {"),
        skip(LOCK, "if self.is_watched || self.word.swap(1, Ordering::Acquire) != 0 {"),
        relax(LOCK, "while self.word.load(Ordering::Relaxed) != 0 || self.word.swap(1"),
        relax(
            LOCK,
            "self.word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()",
        ),
        skip(
            LOCK,
            "self.word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()",
        ),
        relax(LOCK, "self.word.store(0, Ordering::Release);"),
    ],
};

/// What the lock protects.
static COUNT: AtomicU32 = AtomicU32::new(0);

fn count(lock: &Lock) {
    COUNT.store(COUNT.load(Relaxed) + 1, Relaxed);
    lock.unlock();
}

fn exclusion() {
    sync::stores_exchange();
    let lock: &'static Lock = Box::leak(Box::new(Lock::new()));
    let thread = thread::spawn(move || {
        lock.lock();
        count(lock);
        let got = lock.try_lock();
        if got {
            count(lock);
        }
        u32::from(got)
    });
    lock.lock();
    count(lock);
    let more = thread.join().unwrap();
    assert!(lock.try_lock() && !lock.try_lock());
    assert_eq!(COUNT.load(Relaxed), 2 + more);
}

pub(crate) static PLACES: Model = Model {
    name: "send queue, places",
    property: "a place is used again when its completion has been polled, whoever polls, and not by \
               completions of a QP that was there before",
    preemptions: Some(2),
    mortal: false,
    program: places,
    mutations: &[
        relax(FREED, "if freed.compare_exchange(before, after, Release, Relaxed).is_err() {"),
        skip(FREED, "if freed.compare_exchange(before, after, Release, Relaxed).is_err() {"),
        relax(FREED, "of(index).load(Acquire) as u32"),
    ],
};

/// 1 when the request of a position has been polled.
static POLLED: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

/// Two threads poll a completion each, and one of a QP that had the index before; the owner looks.
fn places() {
    const INDEX: u32 = 3;
    freed::set(INDEX, 5, 0);
    let threads = [1, 2].map(|position| {
        thread::spawn(move || {
            POLLED[position as usize - 1].store(1, Relaxed);
            freed::polled(INDEX, 5, position);
            if position == 1 {
                freed::polled(INDEX, 4, 3);
            }
        })
    });
    // The last one speaks for all: threads that poll may be late.
    let position = freed::position(INDEX);
    if let Some(last) = POLLED.get(position.wrapping_sub(1) as usize) {
        assert_eq!(last.load(Relaxed), 1, "it is in use");
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(freed::position(INDEX), 2);
}
