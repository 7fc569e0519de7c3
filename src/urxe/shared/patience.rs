//! How long a process waits for another one that lives.

use crate::urxe::host::now;

/// How long who cannot do without it waits for what a process that lives has in use, in nanoseconds:
/// many times longer than one with a lock was ever seen to wait for a processor.
pub(crate) const PATIENCE: u64 = if cfg!(fuzzing) { 20_000_000 } else { 10_000_000_000 };

/// Most that the time from one look to the next counts: a process that was stopped itself, or got no
/// processor, has not waited for others meanwhile.
const STEP: u64 = 100_000_000;

/// A wait that comes to an end. All zero before it begins.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Patience {
    waited: u64,
    /// When it was looked last; 0 before the first time.
    looked: u64,
}

impl Patience {
    /// Whether it has lasted for `most` nanoseconds; to be asked at each look, the first of which
    /// begins it.
    pub(crate) fn is_over(&mut self, most: u64) -> bool {
        #[cfg(test)]
        let most = if IN_A_HURRY.get() { most / 1000 } else { most };
        self.is_over_at(now(), most)
    }

    fn is_over_at(&mut self, now: u64, most: u64) -> bool {
        if self.looked != 0 {
            self.waited += now.saturating_sub(self.looked).min(STEP);
        }
        self.looked = now;
        self.waited >= most
    }
}

#[cfg(test)]
std::thread_local! {
    /// Whether this thread waits for a thousandth of the time: tests that wait in vain.
    pub(crate) static IN_A_HURRY: core::cell::Cell<bool> = const { core::cell::Cell::new(false) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_without_a_look_counts_little() {
        let mut patience = Patience::default();
        assert!(!patience.is_over_at(5, 2 * STEP));
        assert!(!patience.is_over_at(5 + 10 * STEP, 2 * STEP));
        assert!(!patience.is_over_at(4 + 11 * STEP, 2 * STEP));
        assert!(patience.is_over_at(5 + 11 * STEP, 2 * STEP));
        assert!(Patience::default().is_over(0));
        assert!(!Patience::default().is_over(1));
    }
}
