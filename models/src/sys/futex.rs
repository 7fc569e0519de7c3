//! The `sys::futex` of the models, and their clock. A time-out never comes, unless the model says that
//! it does: then a wake-up that is missed is a thread that sleeps for ever, which loom finds.
//!
//! In a model whose [time goes on](time_goes_on) a time-out is over before, while or after others do
//! something. One of [`FALL_BACK`] or more is for wake-ups that are missed: it does not come before
//! the model [says so](fall_back).

use core::cell::{Cell, RefCell};
use core::time::Duration;
use std::collections::HashMap;
use std::rc::Rc;

use crate::sync::atomic::{AtomicU32, Ordering, fence};

/// The kernel's queues of sleepers.
struct Queues {
    lock: loom::sync::Mutex<()>,
    woken: loom::sync::Condvar,
    clock: loom::sync::atomic::AtomicU64,
}

std::thread_local! {
    static QUEUES: RefCell<Option<Rc<Queues>>> = const { RefCell::new(None) };
    /// How often the sleepers of a word were woken.
    static WAKES: RefCell<HashMap<usize, u64>> = RefCell::default();
    /// The clock goes, and time-outs come.
    static GOES_ON: Cell<bool> = const { Cell::new(false) };
    /// Time-outs of [`FALL_BACK`] are over.
    static FALLS_BACK: Cell<bool> = const { Cell::new(false) };
}

/// A time-out that is there for wake-ups that were missed.
const FALL_BACK: Duration = Duration::from_secs(1);
/// The clock when an execution begins.
const BEGIN: u64 = 1_000_000;

pub(crate) fn begin() {
    let (lock, woken) = (loom::sync::Mutex::new(()), loom::sync::Condvar::new());
    let clock = loom::sync::atomic::AtomicU64::new(BEGIN);
    QUEUES.set(Some(Rc::new(Queues { lock, woken, clock })));
    WAKES.take();
    GOES_ON.set(false);
    FALLS_BACK.set(false);
}

/// From here on each time-out comes at some time, but those that are a fall-back.
pub(crate) fn time_goes_on() {
    GOES_ON.set(true);
}

/// From here on those come as well.
pub(crate) fn fall_back() {
    let queues = queues();
    let _queue = queues.lock.lock().unwrap();
    FALLS_BACK.set(true);
    queues.woken.notify_all();
}

/// CLOCK_MONOTONIC, in nanoseconds. It is the same to all threads, and orders nothing else.
pub(crate) fn now() -> u64 {
    if GOES_ON.get() { queues().clock.fetch_add(0, Ordering::Relaxed) } else { BEGIN }
}

fn queues() -> Rc<Queues> {
    QUEUES.with_borrow(|queues| Rc::clone(queues.as_ref().expect("an execution has begun")))
}

fn wakes(address: usize) -> u64 {
    WAKES.with_borrow(|wakes| wakes.get(&address).copied().unwrap_or(0))
}

/// As the library's.
pub(crate) fn sleep(word: &AtomicU32, value: u32, time: Option<Duration>) -> bool {
    let time = time.filter(|_| GOES_ON.get());
    let end = time.filter(|time| *time < FALL_BACK).map(|time| now() + time.as_nanos() as u64);
    let (queues, address) = (queues(), word.as_ptr().addr());
    let mut queue = queues.lock.lock().unwrap();
    fence(Ordering::SeqCst);
    if word.load(Ordering::Acquire) != value {
        return true;
    }
    let before = wakes(address);
    if let Some(end) = end {
        drop(queue);
        // Others may do much, or nothing, before it is over.
        loom::thread::yield_now();
        let _queue = queues.lock.lock().unwrap();
        if wakes(address) == before {
            queues.clock.fetch_max(end, Ordering::Relaxed);
            return false;
        }
        return true;
    }
    while wakes(address) == before {
        if time.is_some() && FALLS_BACK.get() {
            return false;
        }
        queue = queues.woken.wait(queue).unwrap();
    }
    true
}

/// As the library's.
pub(crate) fn wake(word: &AtomicU32) {
    let (queues, address) = (queues(), word.as_ptr().addr());
    let _queue = queues.lock.lock().unwrap();
    fence(Ordering::SeqCst);
    WAKES.with_borrow_mut(|wakes| *wakes.entry(address).or_default() += 1);
    queues.woken.notify_all();
}
