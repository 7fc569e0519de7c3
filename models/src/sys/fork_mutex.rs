//! The `sys::fork_mutex` of the models, in which nobody forks.

use super::mutex::{Mutex, MutexGuard};

/// As the library's.
#[derive(Clone, Copy)]
pub(crate) enum Rank {
    Addresses,
    Groups,
    Keys,
    Users,
    Windows,
}

/// As the library's.
pub(crate) struct ForkMutex<T: 'static>(Mutex<T>);

impl<T> ForkMutex<T> {
    pub(crate) const fn new(_: Rank, value: T) -> ForkMutex<T> {
        ForkMutex(Mutex::new(value))
    }

    pub(crate) fn lock(&'static self) -> MutexGuard<'static, T> {
        self.0.lock()
    }
}
