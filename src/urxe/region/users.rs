//! Who in this process is using memory by its keys.
//!
//! Remote keys are used with the lock of a QP held. Local ones are used by the thread that posts or
//! polls, and whoever withdraws a key waits until all that may have seen it are through. Each thread
//! has a [`Mark`] that is set while it is about it, and so has each completion queue, which one thread
//! at a time polls.

use crate::sync;
use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use crate::sync::atomic::fence;
use core::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::sys::fork_mutex::{ForkMutex, Rank};
use crate::urxe::host::{self, Host};
use crate::urxe::shared::{Mark, Marked};

/// One that uses memory, in one thread at a time. Who withdraws keys knows it until it is dropped.
pub(crate) struct User(Arc<Entered>);

/// On a cache line of its own.
#[repr(align(64))]
struct Entered {
    mark: Mark,
    /// The mark is set by a full fence, as this process can make no barriers.
    fenced: bool,
    /// Address of the host: a forked child has another one, and none of the threads of its parent.
    host: usize,
}

/// All users.
static USERS: ForkMutex<Vec<Arc<Entered>>> = ForkMutex::new(Rank::Users, Vec::new());

impl User {
    pub(crate) fn new(host: &Host) -> User {
        let entered = Arc::new(Entered {
            mark: Mark::new(),
            fenced: host.header().map_or(true, |header| header.barriers.load(Relaxed) == 0),
            host: core::ptr::from_ref(host).addr(),
        });
        USERS.lock().push(Arc::clone(&entered));
        User(entered)
    }

    /// Begins to use memory of this process by local keys, before any of them is looked at, until the
    /// value is dropped. Not nested.
    #[inline]
    pub(crate) fn enter(&self) -> Marked<'_> {
        self.0.mark.set(self.0.fenced)
    }

    fn is_of(&self, host: &Host) -> bool {
        self.0.host == core::ptr::from_ref(host).addr()
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let mut users = USERS.lock();
        if let Some(place) = users.iter().position(|other| Arc::ptr_eq(other, &self.0)) {
            users.swap_remove(place);
        }
    }
}

/// A thread as a user, and how often it has entered.
struct Thread {
    user: RefCell<Option<User>>,
    depth: Cell<u32>,
}

impl Thread {
    fn enter(&self, host: &Host) {
        let depth = self.depth.get();
        self.depth.set(depth + 1);
        if depth != 0 {
            return;
        }
        let mut place = self.user.borrow_mut();
        let user = match &*place {
            Some(user) if user.is_of(host) => user,
            _ => {
                drop(place.take());
                place.insert(User::new(host))
            }
        };
        user.enter().keep();
    }

    fn leave(&self) {
        let depth = self.depth.get().saturating_sub(1);
        self.depth.set(depth);
        if depth == 0
            && let Some(user) = &*self.user.borrow()
        {
            user.0.mark.clear();
        }
    }
}

sync::thread_local! {
    static THREAD: Thread =
        const { Thread { user: RefCell::new(None), depth: Cell::new(0) } };
}

/// The calling thread uses memory by local keys, until the value is dropped.
pub(crate) struct Using(());

/// Begins to use memory of this process by local keys: [`check`](super::check()), and then the
/// bytes. May be nested.
#[inline]
pub(crate) fn using(host: &Host) -> Using {
    // A thread that ends has no mark any more; it uses memory in nobody's way but its own.
    let _ = THREAD.try_with(|thread| thread.enter(host));
    Using(())
}

impl Drop for Using {
    #[inline]
    fn drop(&mut self) {
        let _ = THREAD.try_with(Thread::leave);
    }
}

/// Waits until nobody else uses memory by a key that it saw before this call. What the calling
/// thread itself is about does not count.
pub(super) fn pass(host: &Host) {
    fence(SeqCst);
    let own =
        THREAD.try_with(|thread| thread.user.borrow().as_ref().map(|user| Arc::clone(&user.0)));
    let own = own.ok().flatten();
    let users = USERS.lock().clone();
    let is_other = |user: &&Arc<Entered>| {
        user.host == core::ptr::from_ref(host).addr()
            && own.as_ref().is_none_or(|own| !Arc::ptr_eq(own, user))
    };
    // They are all alike.
    if users.iter().find(is_other).is_some_and(|user| !user.fenced) {
        host::own_barrier();
    }
    for user in users.iter().filter(is_other) {
        // Threads of this process come to an end.
        let _ = user.mark.wait(u64::MAX, &|| false);
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
            THREAD.with(|thread| Arc::downgrade(&thread.user.borrow().as_ref().unwrap().0))
        });
        let user = thread.join().unwrap();
        assert!(USERS.lock().iter().all(|other| Arc::as_ptr(other) != user.as_ptr()));
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
