//! The lock of a send queue.

use core::cell::UnsafeCell;

/// A lock that one call can take and another give back, as `ibv_wr_start` and `ibv_wr_complete` do.
///
/// A mutex of the C library, which tools that look for races know.
pub(crate) struct Lock(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: a mutex is made for that.
unsafe impl Sync for Lock {}
// SAFETY: nobody holds it while it moves: it moves only before the QP exists.
unsafe impl Send for Lock {}

impl Lock {
    pub(crate) const fn new() -> Lock {
        Lock(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER))
    }

    /// Waits for the lock. A thread that has it waits for ever.
    #[inline]
    pub(crate) fn lock(&self) {
        // SAFETY: an initialized mutex.
        unsafe { libc::pthread_mutex_lock(self.0.get()) };
    }

    /// Takes the lock if nobody has it.
    #[inline]
    pub(crate) fn try_lock(&self) -> bool {
        // SAFETY: an initialized mutex.
        unsafe { libc::pthread_mutex_trylock(self.0.get()) == 0 }
    }

    /// Gives the lock back; by the thread that has it.
    #[inline]
    pub(crate) fn unlock(&self) {
        // SAFETY: an initialized mutex.
        unsafe { libc::pthread_mutex_unlock(self.0.get()) };
    }
}
