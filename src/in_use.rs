//! How many use an object, which goes away when nobody does.

use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// The number of those who use an object.
pub(crate) struct InUse(AtomicU32);

impl InUse {
    /// Nobody uses the object.
    pub(crate) const fn none() -> InUse {
        InUse(AtomicU32::new(0))
    }

    /// Who creates the object uses it.
    pub(crate) const fn one() -> InUse {
        InUse(AtomicU32::new(1))
    }

    /// One more. The caller knows that the object is there, and stays meanwhile.
    pub(crate) fn hold(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    /// One more, unless nobody uses the object any more: then it is about to go.
    pub(crate) fn hold_if_used(&self) -> bool {
        let more = |count: u32| if count == 0 { None } else { count.checked_add(1) };
        self.0.fetch_update(Relaxed, Relaxed, more).is_ok()
    }

    /// One less; whether that was the last one. What others have done before they did the same is
    /// seen by the last one, and by who finds [nobody](Self::count) then.
    pub(crate) fn release(&self) -> bool {
        self.0.fetch_sub(1, AcqRel) == 1
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        self.0.load(Acquire)
    }
}
