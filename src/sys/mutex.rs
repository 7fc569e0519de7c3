//! The mutex of the C library.
//!
//! The standard library's mutex is futex(2) and atomics alone. Tools that look for races in running
//! programs (helgrind, drd) see neither, and report everything that it protects; they know this one.

use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

/// A value that one thread at a time can reach.
///
/// Nothing of a mutex that is not locked depends on where it is, so it may be moved then. It is
/// never poisoned: what holds it does not unwind into code that could see the value.
pub(crate) struct Mutex<T> {
    raw: UnsafeCell<libc::pthread_mutex_t>,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only by the thread that has the lock.
unsafe impl<T: Send> Sync for Mutex<T> {}
// SAFETY: an unlocked mutex is plain data; a locked one is borrowed by its guard.
unsafe impl<T: Send> Send for Mutex<T> {}

/// The right to reach the value; given back when dropped, by the thread that got it.
pub(crate) struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    not_send: PhantomData<*const ()>,
}

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Mutex<T> {
        Mutex {
            raw: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            value: UnsafeCell::new(value),
        }
    }

    /// The mutex of the C library.
    pub(super) fn raw(&self) -> *mut libc::pthread_mutex_t {
        self.raw.get()
    }

    /// Waits for the lock. A thread that has it already waits for ever.
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        // SAFETY: an initialized mutex; locking one of this kind cannot fail.
        unsafe { libc::pthread_mutex_lock(self.raw.get()) };
        MutexGuard { mutex: self, not_send: PhantomData }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this thread has the lock.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this thread has the lock, and there is one guard of it.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: this thread has the lock.
        unsafe { libc::pthread_mutex_unlock(self.mutex.raw.get()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::rounds;

    #[test]
    fn one_thread_at_a_time() {
        static COUNT: Mutex<u32> = Mutex::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..rounds(1000) {
                        let mut count = COUNT.lock();
                        let before = *count;
                        std::hint::spin_loop();
                        *count = before + 1;
                    }
                });
            }
        });
        assert_eq!(u64::from(*COUNT.lock()), 4 * rounds(1000));
    }

    #[test]
    fn a_value_that_moves() {
        let mutex = Mutex::new(vec![1]);
        mutex.lock().push(2);
        let moved = Box::new(mutex);
        moved.lock().push(3);
        assert_eq!(*moved.lock(), [1, 2, 3]);
    }
}
