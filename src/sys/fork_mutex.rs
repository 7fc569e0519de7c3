//! Mutexes of the process that a forked child finds free.
//!
//! A child has the thread that forked and no other, so what another one held at that time stays held
//! in it for ever, and what that one was changing stays half changed. A fork therefore waits until
//! nobody holds these (`pthread_atfork(3)`), and both processes go on without. Children made another
//! way (`_Fork(3)`, clone(2)) must not use the library, as they must not use malloc(3).
//!
//! The mutexes of objects need none of this: a child does not use its parent's.

use crate::sync::atomic::AtomicPtr;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::ptr;
use std::sync::Once;

use super::mutex::{Mutex, MutexGuard};

/// Which mutex it is. A fork takes them in this order, so who holds one takes only later ones.
#[derive(Clone, Copy, Debug)]
#[repr(usize)]
pub(crate) enum Rank {
    /// Contexts of the interface of version 1.0.
    OldContexts,
    /// Memory that children do not get, `ibv_fork_init(3)`.
    #[cfg_attr(test, expect(dead_code, reason = "tests have many of them"))]
    Ranges,
    /// Device addresses of regions.
    Addresses,
    /// Protection domains.
    Domains,
    /// Memory windows; regions change with it held.
    Windows,
    /// The table of keys.
    Keys,
    /// Files of buffers.
    Files,
    /// Bytes of device memory.
    DeviceMemory,
    /// Multicast groups.
    Groups,
    /// Threads that use memory.
    Threads,
    /// One that a test makes.
    #[cfg(test)]
    Test,
    /// No rank, but how many there are.
    Count,
}

const RANKS: usize = Rank::Count as usize;

/// A mutex of which there is one in the process.
pub(crate) struct ForkMutex<T: 'static> {
    mutex: Mutex<T>,
    rank: Rank,
}

/// The mutexes in use, by rank.
static KNOWN: [AtomicPtr<libc::pthread_mutex_t>; RANKS] =
    [const { AtomicPtr::new(ptr::null_mut()) }; RANKS];

/// Held by the thread that forks, with those of [`KNOWN`] that it has taken.
static FORKING: Mutex<()> = Mutex::new(());
static TAKEN: [AtomicPtr<libc::pthread_mutex_t>; RANKS] =
    [const { AtomicPtr::new(ptr::null_mut()) }; RANKS];

impl<T> ForkMutex<T> {
    pub(crate) const fn new(rank: Rank, value: T) -> ForkMutex<T> {
        ForkMutex { mutex: Mutex::new(value), rank }
    }

    /// Waits for the lock. A thread that has it already waits for ever.
    pub(crate) fn lock(&'static self) -> MutexGuard<'static, T> {
        keep_free(self.rank, &self.mutex);
        self.mutex.lock()
    }
}

/// Makes forks wait for a mutex: for one that is part of something else. A fork that is under way
/// in the moment of its first use does not wait for it yet.
#[inline]
pub(crate) fn keep_free<T>(rank: Rank, mutex: &'static Mutex<T>) {
    if let Some(known) = KNOWN.get(rank as usize)
        && known.load(Relaxed).is_null()
    {
        make_known(known, mutex.raw());
    }
}

#[cold]
fn make_known(known: &AtomicPtr<libc::pthread_mutex_t>, mutex: *mut libc::pthread_mutex_t) {
    static ONCE: Once = Once::new();
    // No memory for that leaves forks as they would be without.
    // SAFETY: functions that live as long as the library.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(Some(before), Some(after), Some(after));
    });
    known.store(mutex, Release);
}

/// Before a fork: takes all.
unsafe extern "C" fn before() {
    // SAFETY: mutexes of the process, never destroyed; each is given back by `after`.
    unsafe {
        libc::pthread_mutex_lock(FORKING.raw());
        for (known, taken) in KNOWN.iter().zip(&TAKEN) {
            let mutex = known.load(Acquire);
            if !mutex.is_null() {
                libc::pthread_mutex_lock(mutex);
            }
            taken.store(mutex, Relaxed);
        }
    }
}

/// After it, in both processes: gives them back.
unsafe extern "C" fn after() {
    // SAFETY: this thread has taken them.
    unsafe {
        for taken in TAKEN.iter().rev() {
            let mutex = taken.swap(ptr::null_mut(), Relaxed);
            if !mutex.is_null() {
                libc::pthread_mutex_unlock(mutex);
            }
        }
        libc::pthread_mutex_unlock(FORKING.raw());
    }
}

#[cfg(test)]
mod tests {
    use crate::sync::atomic::AtomicBool;

    use super::*;

    /// Two numbers that are equal unless a thread is changing them.
    static PAIR: ForkMutex<(u32, u32)> = ForkMutex::new(Rank::Test, (0, 0));

    fn change() {
        let mut pair = PAIR.lock();
        pair.0 += 1;
        std::thread::yield_now();
        pair.1 += 1;
    }

    #[test]
    fn children_find_them_free_and_whole() {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !done.load(Relaxed) {
                        change();
                    }
                });
            }
            // Whether the pair that a child sees is whole; None if it does not see it. The status of the
            // child may be that of a tool that looks for leaks.
            let look = || {
                let (mut pipe, mut said) = ([0; 2], 0_u8);
                // SAFETY: the child does no more than this and ends, by an alarm if it waits for
                // ever; descriptors of this thread, and a byte.
                unsafe {
                    assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
                    let child = libc::fork();
                    if child == 0 {
                        libc::alarm(60);
                        let pair = PAIR.lock();
                        said = if pair.0 == pair.1 { b'y' } else { b'n' };
                        libc::write(pipe[1], (&raw const said).cast(), 1);
                        libc::_exit(0);
                    }
                    libc::close(pipe[1]);
                    let heard = child > 0 && libc::read(pipe[0], (&raw mut said).cast(), 1) == 1;
                    libc::waitpid(child, ptr::null_mut(), 0);
                    libc::close(pipe[0]);
                    heard.then_some(said)
                }
            };
            // Two threads fork at a time.
            let looks = move || (0..50).map(|_| look()).find(|said| *said != Some(b'y'));
            let other = scope.spawn(looks);
            let bad = [looks(), other.join().unwrap_or(Some(None))];
            done.store(true, Relaxed);
            assert_eq!(bad, [None, None]);
        });
        change();
        let pair = PAIR.lock();
        assert!(pair.0 == pair.1 && pair.0 > 0);
    }
}
