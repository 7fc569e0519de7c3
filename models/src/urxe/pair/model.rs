//! `urxe/pair`: which places of a send queue are free.

use loom::thread;

use super::freed;
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::Relaxed;

const FREED: &str = "urxe/pair/freed.rs";

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
