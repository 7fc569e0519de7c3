//! A lock between processes that outlives the death of its holder.
//!
//! The word names the holder: its slot and the epoch of that slot. Taking it is one
//! compare-and-swap, giving it back one store. Who waits looks from time to time whether the holder
//! is still alive; if it is not, the waiter takes the lock over and is told so, because what the lock
//! protects may be half changed.
//!
//! The lock of a process that lives is never taken away, as that process may go on at any time: one
//! that was stopped with it finds all as it was. But nobody waits for it for ever: after a while the
//! waiter gives up, and does without what it wanted to do. So a process that is stopped, or a word
//! that names one which knows nothing of it, costs others their requests and not their threads.

use super::patience::Patience;
use crate::sync::atomic::{AtomicU64, Ordering, fence};
use crate::sync::{hint, looks, thread};
use crate::sys::errno::{Errno, Result};

/// Which process holds a lock: bits 0 to 9 the slot, 32 to 63 the low half of the slot's epoch. Never
/// 0, as no slot is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Holder(u64);

impl Holder {
    /// The process that has a slot.
    pub(crate) fn new(slot: u32, epoch: u64) -> Holder {
        Holder(epoch << 32 | u64::from(slot & 0x3ff))
    }

    /// Number of the holder's slot.
    pub(crate) fn slot(self) -> u32 {
        (self.0 & 0x3ff) as u32
    }

    /// Low half of the epoch of the holder's slot.
    pub(crate) fn epoch(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// The lock; 0 when free.
#[repr(transparent)]
pub(crate) struct Lock(AtomicU64);

/// Whether the lock came from a dead holder: then what it protects may be half changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TakenOver {
    No,
    FromTheDead,
}

/// The lock is held; dropped, it is free again.
pub(crate) struct Guard<'a>(&'a Lock);

/// Looks at the lock before the thread gives way to others.
const SPINS: u32 = looks(200);
/// Times the thread gives way before it sleeps between looks.
const YIELDS: u32 = looks(200);

impl Lock {
    /// Takes the lock if it is free.
    #[inline]
    pub(crate) fn try_lock(&self, me: Holder) -> Option<Guard<'_>> {
        self.0
            .compare_exchange(0, me.0, Ordering::SeqCst, Ordering::Relaxed)
            .is_ok()
            // Not `then_some`: a guard that is made and dropped gives the lock of others back.
            .then(|| Guard(self))
    }

    /// Waits for the lock, for `patience` nanoseconds or a little more. `is_dead` says whether a
    /// holder's process has ended; it is asked only after a while.
    ///
    /// # Errors
    ///
    /// EIO if others have had it all the time, or one that lives and does not give it back.
    #[inline]
    pub(crate) fn lock(
        &self,
        me: Holder,
        patience: u64,
        is_dead: impl Fn(Holder) -> bool,
    ) -> Result<(Guard<'_>, TakenOver)> {
        match self.try_lock(me) {
            Some(guard) => Ok((guard, TakenOver::No)),
            None => self.wait(me, patience, is_dead),
        }
    }

    #[cold]
    fn wait(
        &self,
        me: Holder,
        patience: u64,
        is_dead: impl Fn(Holder) -> bool,
    ) -> Result<(Guard<'_>, TakenOver)> {
        let (mut looks, mut waiting) = (0_u32, Patience::default());
        loop {
            if let Some(guard) = self.try_lock(me) {
                return Ok((guard, TakenOver::No));
            }
            looks = looks.saturating_add(1);
            if looks < SPINS {
                hint::spin_loop();
            } else if looks < SPINS + YIELDS {
                thread::yield_now();
            } else {
                let held = self.0.load(Ordering::SeqCst);
                if held != 0 && is_dead(Holder(held)) {
                    let swap =
                        self.0.compare_exchange(held, me.0, Ordering::SeqCst, Ordering::Relaxed);
                    if swap.is_ok() {
                        return Ok((Guard(self), TakenOver::FromTheDead));
                    }
                }
                if waiting.is_over(patience) {
                    return Err(Errno::EIO);
                }
                thread::sleep(core::time::Duration::from_micros(50));
            }
        }
    }

    /// Waits until nobody holds the lock, or a dead one does, without taking it if it is free. What
    /// was stored before is seen by all who take the lock afterwards. EIO as for [`lock`](Self::lock).
    pub(crate) fn pass(
        &self,
        me: Holder,
        patience: u64,
        is_dead: impl Fn(Holder) -> bool,
    ) -> Result<()> {
        fence(Ordering::SeqCst);
        if self.0.load(Ordering::SeqCst) != 0 {
            drop(self.lock(me, patience, is_dead)?);
        }
        Ok(())
    }
}

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.0.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::super::patience::PATIENCE;
    use super::*;
    use crate::sync::rounds;
    use std::sync::Arc;

    fn free() -> Lock {
        Lock(AtomicU64::new(0))
    }

    #[test]
    fn holders_name_slot_and_epoch() {
        let holder = Holder::new(1023, 0x1234_5678_9abc_def0);
        assert_eq!((holder.slot(), holder.epoch()), (1023, 0x9abc_def0));
        assert_ne!(Holder::new(1, 7), Holder::new(1, 8));
    }

    #[test]
    fn one_holder_at_a_time() {
        let lock = Arc::new((free(), AtomicU64::new(0)));
        let threads: Vec<_> = (1..=4)
            .map(|thread| {
                let lock = Arc::clone(&lock);
                std::thread::spawn(move || {
                    for _ in 0..rounds(2000) {
                        let (_guard, from) =
                            lock.0.lock(Holder::new(1, thread), PATIENCE, |_| false).unwrap();
                        assert_eq!(from, TakenOver::No);
                        let value = lock.1.load(Ordering::Relaxed);
                        core::hint::spin_loop();
                        lock.1.store(value + 1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(lock.1.load(Ordering::Relaxed), 4 * rounds(2000));
    }

    #[test]
    fn the_lock_of_the_dead_is_taken_over() {
        let lock = free();
        let (dead, me) = (Holder::new(5, 77), Holder::new(6, 78));
        core::mem::forget(lock.try_lock(dead).unwrap());
        assert!(lock.try_lock(me).is_none());
        let (guard, from) = lock.lock(me, PATIENCE, |holder| holder == dead).unwrap();
        assert_eq!(from, TakenOver::FromTheDead);
        drop(guard);
        let (_guard, from) = lock.lock(me, PATIENCE, |_| panic!("nobody holds it")).unwrap();
        assert_eq!(from, TakenOver::No);
    }

    #[test]
    fn the_lock_of_one_that_lives_is_waited_for_and_not_taken_away() {
        let lock = free();
        let holder = Holder::new(5, 77);
        let guard = lock.try_lock(holder).unwrap();
        for me in [Holder::new(6, 78), holder] {
            assert!(lock.lock(me, 5_000_000, |_| false).is_err_and(|errno| errno == Errno::EIO));
            assert_eq!(lock.pass(me, 5_000_000, |_| false), Err(Errno::EIO));
        }
        assert_eq!(lock.0.load(Ordering::SeqCst), holder.0);
        drop(guard);
        assert!(lock.lock(Holder::new(6, 78), 0, |_| false).is_ok());
    }

    #[test]
    fn passing_waits_for_the_holder() {
        let lock = Arc::new(free());
        let guard = lock.try_lock(Holder::new(1, 1)).unwrap();
        let passer = {
            let lock = Arc::clone(&lock);
            std::thread::spawn(move || lock.pass(Holder::new(1, 2), PATIENCE, |_| false))
        };
        std::thread::sleep(core::time::Duration::from_millis(20));
        assert!(!passer.is_finished());
        drop(guard);
        assert_eq!(passer.join().unwrap(), Ok(()));
        assert_eq!(lock.pass(Holder::new(1, 2), 0, |_| false), Ok(()));
        assert!(lock.try_lock(Holder::new(1, 3)).is_some());
    }
}
