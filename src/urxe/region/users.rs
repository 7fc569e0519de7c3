//! Threads of this process that are using memory by its keys.
//!
//! Remote keys are used with the lock of a QP held. Local ones are used by the thread that posts or
//! polls, and whoever withdraws a key waits until each thread that may have seen it is through. Each
//! thread has a number that is odd while it is about it.

use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use crate::sync::atomic::fence;
use crate::sync::{self, hint, looks, thread};
use core::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::sys::fork_mutex::{ForkMutex, Rank};
use crate::urxe::host::Host;

/// On a cache line of its own.
#[repr(align(64))]
struct Number {
    count: AtomicU32,
    /// Address of the host: a forked child has another one, and none of the threads of its parent.
    host: usize,
}

/// The numbers of all threads that ever used memory and still run.
static THREADS: ForkMutex<Vec<Arc<Number>>> = ForkMutex::new(Rank::Threads, Vec::new());

/// The number of a thread, and how often it has entered.
struct Thread {
    number: RefCell<Option<Arc<Number>>>,
    depth: Cell<u32>,
}

impl Thread {
    fn enter(&self, host: &Host) {
        let depth = self.depth.get();
        self.depth.set(depth + 1);
        if depth != 0 {
            return;
        }
        let mut place = self.number.borrow_mut();
        let address = core::ptr::from_ref(host).addr();
        let number = match &*place {
            Some(number) if number.host == address => number,
            _ => {
                forget(place.take());
                let number = Arc::new(Number { count: AtomicU32::new(0), host: address });
                THREADS.lock().push(Arc::clone(&number));
                place.insert(number)
            }
        };
        // Before any key is looked at.
        let count = number.count.load(Relaxed);
        number.count.swap(count.wrapping_add(1), SeqCst);
    }

    fn leave(&self) {
        let depth = self.depth.get().saturating_sub(1);
        self.depth.set(depth);
        if depth == 0
            && let Some(number) = &*self.number.borrow()
        {
            let count = number.count.load(Relaxed);
            number.count.store(count.wrapping_add(1), Release);
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        forget(self.number.take());
    }
}

fn forget(number: Option<Arc<Number>>) {
    if let Some(number) = number {
        THREADS.lock().retain(|other| !Arc::ptr_eq(other, &number));
    }
}

sync::thread_local! {
    static THREAD: Thread =
        const { Thread { number: RefCell::new(None), depth: Cell::new(0) } };
}

/// The calling thread uses memory by local keys, until the value is dropped.
pub(crate) struct Using(());

/// Begins to use memory of this process by local keys: [`check`](super::check()), and then the
/// bytes. May be nested.
#[inline]
pub(crate) fn using(host: &Host) -> Using {
    // A thread that ends has no number any more; it uses memory in nobody's way but its own.
    let _ = THREAD.try_with(|thread| thread.enter(host));
    Using(())
}

impl Drop for Using {
    #[inline]
    fn drop(&mut self) {
        let _ = THREAD.try_with(Thread::leave);
    }
}

/// Looks at a number before the thread gives way to others, and before it sleeps between looks.
const SPINS: u32 = looks(200);
const GIVES_WAY: u32 = SPINS + looks(200);

/// Waits until no other thread uses memory by a key that it saw before this call. What the calling
/// thread itself is about does not count.
pub(super) fn pass(host: &Host) {
    fence(SeqCst);
    let threads: Vec<_> = THREADS.lock().clone();
    let own = THREAD.try_with(|thread| thread.number.borrow().clone()).ok().flatten();
    for thread in threads {
        let is_own = own.as_ref().is_some_and(|own| Arc::ptr_eq(own, &thread));
        if is_own || thread.host != core::ptr::from_ref(host).addr() {
            continue;
        }
        let count = thread.count.load(SeqCst);
        let mut looks = 0_u32;
        while !count.is_multiple_of(2) && thread.count.load(SeqCst) == count {
            looks = looks.saturating_add(1);
            match looks {
                0..SPINS => hint::spin_loop(),
                SPINS..GIVES_WAY => thread::yield_now(),
                _ => thread::sleep(core::time::Duration::from_micros(50)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::sync::atomic::AtomicBool;

    use super::*;
    use crate::sync::rounds;
    use crate::urxe::host::testing::{Child, Scratch};

    #[test]
    fn passing_waits_for_those_who_were_there_before() {
        let scratch = Scratch::new();
        let host = scratch.host();
        let (inside, released) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let outer = using(host);
                drop(using(host));
                inside.store(true, SeqCst);
                std::thread::sleep(core::time::Duration::from_millis(20));
                released.store(true, SeqCst);
                drop(outer);
                // Comes again and again: that is not waited for.
                for _ in 0..rounds(10_000) {
                    drop(using(host));
                }
            });
            while !inside.load(SeqCst) {
                std::thread::yield_now();
            }
            pass(host);
            assert!(released.load(SeqCst));
            pass(host);
        });
    }

    #[test]
    fn who_uses_memory_may_withdraw_keys() {
        let scratch = Scratch::new();
        let host = scratch.host();
        let _using = using(host);
        pass(host);
        drop(using(host));
        pass(host);
    }

    #[test]
    fn threads_that_end_are_forgotten() {
        let scratch = Scratch::new();
        let host = scratch.host();
        let thread = std::thread::spawn(move || {
            drop(using(host));
            THREAD.with(|thread| Arc::downgrade(thread.number.borrow().as_ref().unwrap()))
        });
        let number = thread.join().unwrap();
        assert!(THREADS.lock().iter().all(|other| Arc::as_ptr(other) != number.as_ptr()));
    }

    #[test]
    fn a_child_does_not_wait_for_threads_of_its_parent() {
        let scratch = Scratch::new();
        let (host, other) = (scratch.host(), scratch.host());
        let (inside, done) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _using = using(host);
                inside.store(true, SeqCst);
                while !done.load(SeqCst) {
                    std::thread::yield_now();
                }
            });
            while !inside.load(SeqCst) {
                std::thread::yield_now();
            }
            // The child is another host.
            let mut child = Child::start(|| {
                let _using = using(other);
                pass(other);
            });
            child.join();
            done.store(true, SeqCst);
        });
    }
}
