//! A mark that says: the owner is using something that others may take away.
//!
//! Who uses sets the mark and looks then whether the thing is still there; who takes away changes the
//! thing, and looks at the mark then. The two stores and looks must not pass each other. That takes
//! a full fence on each side; as using is frequent and taking away is not, the latter makes the
//! former pass its fence as well (membarrier(2)), where the system can do that.

use core::sync::atomic::compiler_fence;

use super::patience::Patience;
use crate::sync::atomic::{AtomicU32, Ordering, fence};
use crate::sync::{hint, looks, thread};
use crate::sys::errno::{Errno, Result};

/// A number that is odd while its owner, one thread at a time, uses something.
#[repr(transparent)]
pub(crate) struct Mark(AtomicU32);

/// The mark is set, until this is dropped.
pub(crate) struct Marked<'a> {
    mark: &'a Mark,
    count: u32,
}

/// Looks at a mark before the thread gives way to others.
const SPINS: u32 = looks(200);
/// Times the thread gives way before it sleeps between looks.
const YIELDS: u32 = looks(200);

impl Mark {
    /// A mark of this process, not set.
    pub(crate) const fn new() -> Mark {
        Mark(AtomicU32::new(0))
    }

    /// Takes the mark away that this thread has [set](Self::set) and kept.
    #[inline]
    pub(crate) fn clear(&self) {
        let count = self.0.load(Ordering::Relaxed);
        self.0.store(count.wrapping_add(1), Ordering::Release);
    }

    /// Sets the mark. `fenced`: by a full fence, as nobody else makes this thread pass one.
    #[inline(always)]
    pub(crate) fn set(&self, fenced: bool) -> Marked<'_> {
        let count = self.0.load(Ordering::Relaxed).wrapping_add(1);
        // Who waits for the use before this one may find this number instead: it must see the same.
        self.0.store(count, Ordering::Release);
        if fenced {
            fence(Ordering::SeqCst);
        } else {
            compiler_fence(Ordering::SeqCst);
        }
        Marked { mark: self, count }
    }

    /// Waits until the mark has been taken away once, if it is set, or `is_gone` says that its owner
    /// is no more; for `patience` nanoseconds or a little more. A fence must have come before, on both
    /// sides.
    ///
    /// # Errors
    ///
    /// EIO if it has been set all the time.
    pub(crate) fn wait(&self, patience: u64, is_gone: &dyn Fn() -> bool) -> Result<()> {
        let count = self.0.load(Ordering::Acquire);
        if count.is_multiple_of(2) {
            return Ok(());
        }
        let (mut looks, mut waiting) = (0_u32, Patience::default());
        while self.0.load(Ordering::Acquire) == count {
            looks = looks.saturating_add(1);
            if looks < SPINS {
                hint::spin_loop();
            } else if looks < SPINS + YIELDS {
                thread::yield_now();
            } else if is_gone() {
                return Ok(());
            } else {
                if waiting.is_over(patience) {
                    return Err(Errno::EIO);
                }
                thread::sleep(core::time::Duration::from_micros(50));
            }
        }
        Ok(())
    }
}

impl Marked<'_> {
    /// Keeps the mark until [`Mark::clear`].
    #[inline]
    pub(crate) fn keep(self) {
        core::mem::forget(self);
    }
}

impl Drop for Marked<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.mark.0.store(self.count.wrapping_add(1), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::atomic::AtomicBool;
    use crate::sync::rounds;

    #[test]
    fn waiting_ends_when_the_mark_is_taken_away_or_its_owner_is_gone() {
        let mark = Mark(AtomicU32::new(0));
        assert_eq!(mark.wait(0, &|| panic!("it is not set")), Ok(()));
        let set = mark.set(true);
        assert_eq!(mark.wait(u64::MAX, &|| true), Ok(()));
        assert_eq!(mark.wait(1_000_000, &|| false), Err(Errno::EIO));
        let (waits, done) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let waited = mark.wait(u64::MAX, &|| {
                    waits.store(true, Ordering::SeqCst);
                    false
                });
                assert_eq!(waited, Ok(()));
                assert!(done.load(Ordering::SeqCst));
            });
            while !waits.load(Ordering::SeqCst) {
                thread::yield_now();
            }
            done.store(true, Ordering::SeqCst);
            drop(set);
            // That it is set again is not waited for.
            core::mem::forget(mark.set(true));
        });
    }

    #[test]
    fn nothing_is_used_after_it_was_taken_away() {
        // The thing, and how many use it.
        let (mark, thing, used) =
            (Mark(AtomicU32::new(0)), AtomicBool::new(true), AtomicU32::new(0));
        for _ in 0..rounds(200) {
            thing.store(true, Ordering::SeqCst);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..rounds(100) {
                        let _set = mark.set(true);
                        if thing.load(Ordering::Acquire) {
                            used.fetch_add(1, Ordering::SeqCst);
                            used.fetch_sub(1, Ordering::SeqCst);
                        }
                    }
                });
                thing.store(false, Ordering::Relaxed);
                fence(Ordering::SeqCst);
                assert_eq!(mark.wait(u64::MAX, &|| false), Ok(()));
                assert_eq!(used.load(Ordering::SeqCst), 0);
            });
        }
    }
}
