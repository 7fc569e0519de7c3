//! Mutexes of the process that a forked child finds free.
//!
//! A child has the thread that forked and no other, so what another one held at that time stays held
//! in it for ever, and what that one was changing stays half changed. A fork therefore waits until
//! nobody holds these (`pthread_atfork(3)`), and both processes go on without. Children made another
//! way (`_Fork(3)`, clone(2)) must not use the library, as they must not use malloc(3).
//!
//! The mutexes of objects need none of this: a child does not use its parent's.

use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use crate::sync::atomic::{AtomicBool, AtomicPtr};
use crate::sync::thread;
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
    /// Who uses memory.
    Users,
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
/// Those that every fork from now on waits for.
static SURE: [AtomicBool; RANKS] = [const { AtomicBool::new(false) }; RANKS];
/// Set while a fork has taken all mutexes that are known.
static FROZEN: AtomicBool = AtomicBool::new(false);

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

/// Makes forks wait for a mutex: for one that is part of something else. A fork that began before the
/// very first use of any does not wait for that one.
#[inline]
pub(crate) fn keep_free<T>(rank: Rank, mutex: &'static Mutex<T>) {
    if SURE.get(rank as usize).is_some_and(|sure| !sure.load(Relaxed)) {
        make_known(rank as usize, mutex.raw());
    }
}

/// A fork either finds the mutex known, or is waited for. The thread may hold mutexes of earlier
/// ranks: they were known before, so a fork that is frozen does not wait for them.
#[cold]
fn make_known(rank: usize, mutex: *mut libc::pthread_mutex_t) {
    static ONCE: Once = Once::new();
    // No memory for that leaves forks as they would be without.
    // SAFETY: functions that live as long as the library.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(Some(before), Some(after), Some(after));
    });
    let (Some(known), Some(sure)) = (KNOWN.get(rank), SURE.get(rank)) else { return };
    known.store(mutex, SeqCst);
    while FROZEN.load(SeqCst) {
        thread::yield_now();
    }
    sure.store(true, Relaxed);
}

/// Before a fork: takes all.
unsafe extern "C" fn before() {
    // SAFETY: mutexes of the process, never destroyed; each is given back by `give_back`.
    unsafe {
        libc::pthread_mutex_lock(FORKING.raw());
        loop {
            for (known, taken) in KNOWN.iter().zip(&TAKEN) {
                let mutex = known.load(SeqCst);
                if !mutex.is_null() {
                    libc::pthread_mutex_lock(mutex);
                }
                taken.store(mutex, Relaxed);
            }
            FROZEN.store(true, SeqCst);
            let mut all = KNOWN.iter().zip(&TAKEN);
            if all.all(|(known, taken)| known.load(SeqCst) == taken.load(Relaxed)) {
                return;
            }
            // One became known meanwhile, and may be in use: it has its place in the order.
            give_back();
        }
    }
}

/// Gives back what [`before`] has taken.
///
/// # Safety
///
/// It must have been this thread that took it.
unsafe fn give_back() {
    FROZEN.store(false, SeqCst);
    for taken in TAKEN.iter().rev() {
        let mutex = taken.swap(ptr::null_mut(), Relaxed);
        if !mutex.is_null() {
            // SAFETY: this thread has taken it.
            unsafe { libc::pthread_mutex_unlock(mutex) };
        }
    }
}

/// After it, in both processes: gives them back.
unsafe extern "C" fn after() {
    // SAFETY: this thread has taken them.
    unsafe {
        give_back();
        libc::pthread_mutex_unlock(FORKING.raw());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two numbers that are equal unless a thread is changing them.
    static PAIR: ForkMutex<(u32, u32)> = ForkMutex::new(Rank::Test, (0, 0));

    fn change() {
        let mut pair = PAIR.lock();
        pair.0 += 1;
        std::thread::yield_now();
        pair.1 += 1;
    }

    /// Whether the pair that a child sees is whole; `None` if it does not see it. The status of the
    /// child may be that of a tool that looks for leaks.
    fn look() -> Option<u8> {
        let (mut pipe, mut said) = ([0; 2], 0_u8);
        // SAFETY: the child does no more than this and ends, by an alarm if it waits for ever;
        // descriptors of this thread, and a byte.
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
    }

    /// What a look in each of so many children finds wrong, while other threads change the pair.
    fn look_in_children(count: usize) -> [Option<Option<u8>>; 2] {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !done.load(Relaxed) {
                        change();
                    }
                });
            }
            // Two threads fork at a time.
            let looks = move || (0..count).map(|_| look()).find(|said| *said != Some(b'y'));
            let other = scope.spawn(looks);
            let bad = [looks(), other.join().unwrap_or(Some(None))];
            done.store(true, Relaxed);
            bad
        })
    }

    /// As if the mutex had never been used.
    fn forget() {
        KNOWN[Rank::Test as usize].store(ptr::null_mut(), SeqCst);
        SURE[Rank::Test as usize].store(false, SeqCst);
    }

    #[test]
    fn children_find_them_free_and_whole() {
        // Who uses it for the first time while a fork is under way waits for the end of that.
        for _ in 0..3 {
            change();
            forget();
            let used = AtomicBool::new(false);
            std::thread::scope(|scope| {
                // SAFETY: as a fork does, which this thread ends below.
                unsafe { before() };
                scope.spawn(|| {
                    change();
                    used.store(true, SeqCst);
                });
                std::thread::sleep(core::time::Duration::from_millis(20));
                let early = used.load(SeqCst);
                // SAFETY: this thread has begun it.
                unsafe { after() };
                assert!(!early);
            });
            assert!(used.load(SeqCst));
        }
        assert_eq!(look_in_children(50), [None, None]);
        // It becomes known while there are forks, again and again.
        for turn in 0..50 {
            forget();
            assert_eq!(look_in_children(1), [None, None], "{turn}");
        }
        change();
        let pair = PAIR.lock();
        assert!(pair.0 == pair.1 && pair.0 > 0);
    }
}
