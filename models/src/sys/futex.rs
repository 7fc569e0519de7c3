//! The `sys::futex` of the models. A time-out never comes, unless the model says that it does: then a
//! wake-up that is missed is a thread that sleeps for ever, which loom finds.

use core::cell::{Cell, RefCell};
use core::time::Duration;
use std::collections::HashMap;
use std::rc::Rc;

use crate::sync::atomic::{AtomicU32, Ordering, fence};

/// The kernel's queues of sleepers.
struct Queues {
    lock: loom::sync::Mutex<()>,
    woken: loom::sync::Condvar,
}

std::thread_local! {
    static QUEUES: RefCell<Option<Rc<Queues>>> = const { RefCell::new(None) };
    /// How often the sleepers of a word were woken.
    static WAKES: RefCell<HashMap<usize, u64>> = RefCell::default();
    static TIME_PASSES: Cell<bool> = const { Cell::new(false) };
}

pub(crate) fn begin() {
    let queues = Queues { lock: loom::sync::Mutex::new(()), woken: loom::sync::Condvar::new() };
    QUEUES.set(Some(Rc::new(queues)));
    WAKES.take();
    TIME_PASSES.set(false);
}

/// From here on each time-out is over at once.
pub(crate) fn time_passes() {
    TIME_PASSES.set(true);
}

fn queues() -> Rc<Queues> {
    QUEUES.with_borrow(|queues| Rc::clone(queues.as_ref().expect("an execution has begun")))
}

fn wakes(address: usize) -> u64 {
    WAKES.with_borrow(|wakes| wakes.get(&address).copied().unwrap_or(0))
}

/// As the library's.
pub(crate) fn sleep(word: &AtomicU32, value: u32, time: Option<Duration>) -> bool {
    if time.is_some() && TIME_PASSES.get() {
        loom::thread::yield_now();
        return false;
    }
    let (queues, address) = (queues(), word.as_ptr().addr());
    let mut queue = queues.lock.lock().unwrap();
    fence(Ordering::SeqCst);
    if word.load(Ordering::Acquire) != value {
        return true;
    }
    let before = wakes(address);
    while wakes(address) == before {
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
