//! The `sys::mutex` of the models: a mutex of loom stands for each.

use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use std::rc::Rc;

/// As the library's.
pub(crate) struct Mutex<T>(UnsafeCell<T>);

// SAFETY: the value is reached only with the lock.
unsafe impl<T: Send> Sync for Mutex<T> {}
// SAFETY: plain data without the lock.
unsafe impl<T: Send> Send for Mutex<T> {}

/// As the library's.
pub(crate) struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    _guard: loom::sync::MutexGuard<'static, ()>,
    _lock: Rc<loom::sync::Mutex<()>>,
}

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Mutex<T> {
        Mutex(UnsafeCell::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        let lock = crate::sync::lock_of(self.0.get().addr());
        // SAFETY: the guard is dropped before the mutex.
        let fixed: &'static loom::sync::Mutex<()> = unsafe { &*Rc::as_ptr(&lock) };
        let guard = fixed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        MutexGuard { mutex: self, _guard: guard, _lock: lock }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.mutex.0.get() }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held, by this guard alone.
        unsafe { &mut *self.mutex.0.get() }
    }
}
