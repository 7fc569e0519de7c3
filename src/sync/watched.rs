//! Atomics that drd understands: it is told which of their accesses order others.
//!
//! Drd sees an atomic access as one of any kind, that orders nothing. Here a store that releases
//! says before it that what its thread did until now comes first, and a load that acquires says after
//! it that what was said so about this address has happened. Who reads what is not told apart: a load
//! is behind all releases of its address so far, and all fences order one another. So some races are
//! not seen, and none is made up. The models try all orders; this looks at the real program.

use core::sync::atomic as real;
pub(crate) use core::sync::atomic::Ordering;

use crate::sys::valgrind::{happens_after, happens_before};

/// What stands for all fences: they are in one order.
static FENCES: u8 = 0;

fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

fn before<T>(atomic: &T, order: Ordering) {
    if releases(order) {
        happens_before(core::ptr::from_ref(atomic).addr());
    }
}

fn after<T>(atomic: &T, order: Ordering) {
    if acquires(order) {
        happens_after(core::ptr::from_ref(atomic).addr());
    }
}

pub(crate) fn fence(order: Ordering) {
    before(&FENCES, order);
    real::fence(order);
    after(&FENCES, order);
}

/// Functions that read and write: name, further parameters, result.
macro_rules! changes {
    ($value:ty; $($function:ident)*) => {
        $(
            #[inline(never)]
            pub(crate) fn $function(&self, value: $value, order: Ordering) -> $value {
                before(self, order);
                let old = self.0.$function(value, order);
                after(self, order);
                old
            }
        )*
    };
}

macro_rules! atomic {
    ($name:ident $(<$parameter:ident>)?, $value:ty; $($function:ident)*) => {
        /// As that of the standard library.
        #[repr(transparent)]
        #[derive(Debug, Default)]
        #[allow(unreachable_pub)]
        pub struct $name $(<$parameter>)? (real::$name $(<$parameter>)?);

        impl $(<$parameter>)? From<$value> for $name $(<$parameter>)? {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }

        #[allow(dead_code)]
        impl $(<$parameter>)? $name $(<$parameter>)? {
            pub(crate) const fn new(value: $value) -> Self {
                Self(real::$name::new(value))
            }

            #[inline(never)]
            pub(crate) fn load(&self, order: Ordering) -> $value {
                let value = self.0.load(order);
                after(self, order);
                value
            }

            #[inline(never)]
            pub(crate) fn store(&self, value: $value, order: Ordering) {
                before(self, order);
                self.0.store(value, order);
            }

            #[inline(never)]
            pub(crate) fn compare_exchange(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                before(self, success);
                let result = self.0.compare_exchange(old, new, success, failure);
                after(self, if result.is_ok() { success } else { failure });
                result
            }

            pub(crate) fn compare_exchange_weak(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(old, new, success, failure)
            }

            pub(crate) fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut update: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut before = self.load(fetch);
                while let Some(new) = update(before) {
                    match self.compare_exchange(before, new, set, fetch) {
                        Ok(_) => return Ok(before),
                        Err(now) => before = now,
                    }
                }
                Err(before)
            }

            pub(crate) fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            pub(crate) const fn as_ptr(&self) -> *mut $value {
                self.0.as_ptr()
            }

            pub(crate) fn into_inner(self) -> $value {
                self.0.into_inner()
            }

            /// As that of the standard library.
            ///
            /// # Safety
            ///
            /// The same.
            pub(crate) const unsafe fn from_ptr<'a>(place: *mut $value) -> &'a Self {
                // SAFETY: the caller's promise; the type has the same layout.
                unsafe { &*place.cast() }
            }

            changes! { $value; swap $($function)* }
        }
    };
}

atomic!(AtomicBool, bool; fetch_and fetch_or);
atomic!(AtomicU8, u8; fetch_add fetch_sub fetch_and fetch_or fetch_max);
atomic!(AtomicU32, u32; fetch_add fetch_sub fetch_and fetch_or fetch_max);
atomic!(AtomicI32, i32; fetch_add fetch_sub fetch_and fetch_or fetch_max);
atomic!(AtomicU64, u64; fetch_add fetch_sub fetch_and fetch_or fetch_max);
atomic!(AtomicUsize, usize; fetch_add fetch_sub fetch_and fetch_or fetch_max);
atomic!(AtomicPtr<T>, *mut T;);

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::UnsafeCell;

    struct Passed {
        value: UnsafeCell<u64>,
        is_there: AtomicBool,
    }

    // SAFETY: whoever shares it sees to it, or shows what comes of that.
    unsafe impl Sync for Passed {}

    /// A value that one thread writes, another reads when it is said to be there.
    fn pass(said: Ordering, looked: Ordering) {
        let passed = Passed { value: UnsafeCell::new(0), is_there: AtomicBool::new(false) };
        let passed = &passed;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // SAFETY: others look when it is said to be there.
                unsafe { passed.value.get().write(7) };
                passed.is_there.store(true, said);
            });
            while !passed.is_there.load(looked) {
                std::thread::yield_now();
            }
            // SAFETY: as above.
            assert_eq!(unsafe { passed.value.get().read() }, 7);
        });
    }

    #[test]
    fn what_is_released_and_acquired_is_in_order() {
        pass(Ordering::Release, Ordering::Acquire);
    }

    // Those that have to be reported: who runs them looks.

    #[test]
    #[ignore]
    fn race_of_what_is_not_released() {
        pass(Ordering::Relaxed, Ordering::Acquire);
    }

    #[test]
    #[ignore]
    fn race_of_what_is_not_acquired() {
        pass(Ordering::Release, Ordering::Relaxed);
    }
}
