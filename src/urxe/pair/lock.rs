//! The lock of a send queue.

use crate::sync::atomic::{AtomicU32, Ordering};
use core::cell::UnsafeCell;
use core::time::Duration;

use crate::sync::{hint, looks, thread};
use crate::sys::valgrind;

/// A lock that one call can take and another give back, as `ibv_wr_start` and `ibv_wr_complete` do:
/// one exchange to take it, one store to give it back.
///
/// Tools that look for races in running programs see none in that. With them it is a mutex of the C
/// library, which they know.
pub(crate) struct Lock {
    /// 1 while somebody has it.
    word: AtomicU32,
    is_watched: bool,
    mutex: UnsafeCell<libc::pthread_mutex_t>,
}

// SAFETY: a mutex is made for that.
unsafe impl Sync for Lock {}
// SAFETY: nobody holds it while it moves: it moves only before the QP exists.
unsafe impl Send for Lock {}

/// Looks at the lock before the thread gives way to others.
const SPINS: u32 = looks(200);
/// Times the thread gives way before it sleeps between looks.
const YIELDS: u32 = looks(200);

impl Lock {
    pub(crate) fn new() -> Lock {
        Lock {
            word: AtomicU32::new(0),
            is_watched: valgrind::looks_for_races(),
            mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
        }
    }

    /// Waits for the lock. A thread that has it waits for ever.
    #[inline(always)]
    pub(crate) fn lock(&self) {
        if self.is_watched || self.word.swap(1, Ordering::Acquire) != 0 {
            self.wait();
        }
    }

    #[cold]
    fn wait(&self) {
        if self.is_watched {
            // SAFETY: an initialized mutex.
            unsafe { libc::pthread_mutex_lock(self.mutex.get()) };
            return;
        }
        let mut looks = 0_u32;
        while self.word.load(Ordering::Relaxed) != 0 || self.word.swap(1, Ordering::Acquire) != 0 {
            looks = looks.saturating_add(1);
            if looks < SPINS {
                hint::spin_loop();
            } else if looks < SPINS + YIELDS {
                thread::yield_now();
            } else {
                thread::sleep(Duration::from_micros(50));
            }
        }
    }

    /// Takes the lock if nobody has it.
    #[inline]
    pub(crate) fn try_lock(&self) -> bool {
        if self.is_watched {
            // SAFETY: an initialized mutex.
            return unsafe { libc::pthread_mutex_trylock(self.mutex.get()) == 0 };
        }
        self.word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Gives the lock back; by the thread that has it.
    #[inline(always)]
    pub(crate) fn unlock(&self) {
        if self.is_watched {
            self.unlock_mutex();
        } else {
            self.word.store(0, Ordering::Release);
        }
    }

    #[cold]
    fn unlock_mutex(&self) {
        // SAFETY: an initialized mutex, which the thread has.
        unsafe { libc::pthread_mutex_unlock(self.mutex.get()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::rounds;

    #[test]
    fn one_thread_at_a_time() {
        for is_watched in [false, true] {
            let lock = Lock { is_watched, ..Lock::new() };
            let count = AtomicU32::new(0);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for _ in 0..rounds(2000) {
                            lock.lock();
                            let value = count.load(Ordering::Relaxed);
                            core::hint::spin_loop();
                            count.store(value + 1, Ordering::Relaxed);
                            lock.unlock();
                        }
                    });
                }
            });
            assert_eq!(u64::from(count.load(Ordering::Relaxed)), 4 * rounds(2000));
            assert!(lock.try_lock() && !lock.try_lock());
            lock.unlock();
        }
    }
}
