//! A completion queue in shared memory.
//!
//! Who adds holds the lock; the owner takes without it. An entry is there when its sequence number
//! is stored, so who dies before that has added nothing, and who dies after it has added the whole
//! entry: `tail` is brought up to date by the next one, who is told that the lock came from the dead.

use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use super::entry::Entry;
use crate::urxe::origin::Origin;
use crate::urxe::shared::{ARMED_NEXT, ARMED_SOLICITED, CqShared, Cqe, NOT_ARMED};

/// A queue and its entries; the number of entries is a power of two.
#[derive(Clone, Copy)]
pub(super) struct Ring<'a> {
    pub(super) shared: &'a CqShared,
    entries: &'a [Cqe],
}

/// What became of a completion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Put {
    /// It is in the queue.
    Done,
    /// It is not: there was no room, for the first time.
    Overrun,
    /// It is not: there was no room before.
    OverrunBefore,
}

/// Whether an event is to be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// None is wanted.
    No,
    /// One is held back for more completions, or for a time that the owner has to watch.
    HeldBack,
    /// One is to be sent; [`Ring::sent`] is called then.
    Send,
}

impl<'a> Ring<'a> {
    /// `None` if the number of entries is no power of two.
    pub(super) fn new(shared: &'a CqShared, entries: &'a [Cqe]) -> Option<Ring<'a>> {
        entries.len().is_power_of_two().then_some(Ring { shared, entries })
    }

    /// Number of entries.
    #[inline]
    pub(super) fn length(&self) -> u64 {
        self.entries.len() as u64
    }

    #[inline]
    pub(super) fn entry(&self, number: u64) -> &'a Cqe {
        // The number of entries is a power of two, so this is inside.
        &self.entries[number as usize & (self.entries.len() - 1)]
    }

    /// Adds a completion, with the lock held. `now` is CLOCK_MONOTONIC in nanoseconds.
    pub(super) fn put(&self, entry: &Entry<'_>, now: impl FnOnce() -> u64) -> Put {
        let shared = self.shared;
        if shared.overrun.load(Relaxed) != 0 {
            return Put::OverrunBefore;
        }
        let tail = shared.tail.load(Relaxed);
        let flags = shared.flags.load(Relaxed);
        let limit = u64::from(shared.limit.load(Relaxed)).min(self.entries.len() as u64);
        if !self.has_room(tail, limit) {
            if flags & CqShared::IGNORE_OVERRUN != 0 {
                return Put::Done;
            }
            shared.overrun.store(1, Relaxed);
            return Put::Overrun;
        }
        let cqe = self.entry(tail);
        entry.store(cqe, if flags & CqShared::TIMESTAMPS != 0 { now() } else { 0 });
        cqe.sequence.store(tail.wrapping_add(1), Release);
        shared.tail.store(tail.wrapping_add(1), Release);
        Put::Done
    }

    /// Whether fewer than `limit` completions wait. The owner's cache line is looked at only if it
    /// matters.
    fn has_room(&self, tail: u64, limit: u64) -> bool {
        let shared = self.shared;
        if tail.wrapping_sub(shared.seen_head.load(Relaxed)) < limit {
            return true;
        }
        let head = shared.head.0.load(Acquire);
        shared.seen_head.store(head, Relaxed);
        tail.wrapping_sub(head) < limit
    }

    /// Whether an event is due after a completion that may be `solicited`. With the lock held.
    ///
    /// The owner asks for an event with the lock held, and looks for completions afterwards. So
    /// either the wish was there before the completion, and is seen here; or the completion was, and
    /// the owner sees it.
    #[inline]
    pub(super) fn event(&self, solicited: bool, now: impl FnOnce() -> u64) -> Event {
        let shared = self.shared;
        let armed = shared.armed.load(Relaxed);
        if armed == NOT_ARMED || armed == ARMED_SOLICITED && !solicited {
            return Event::No;
        }
        let moderation = shared.moderation.load(Relaxed);
        if moderation != 0 && !self.is_enough(moderation, now) {
            return Event::HeldBack;
        }
        self.fire()
    }

    /// Takes up the wish for an event, if there still is one. With the lock held.
    pub(super) fn fire(&self) -> Event {
        let shared = self.shared;
        shared.held_back.store(0, SeqCst);
        shared.sending.store(1, SeqCst);
        if shared.armed.swap(NOT_ARMED, SeqCst) == NOT_ARMED {
            shared.sending.store(0, SeqCst);
            return Event::No;
        }
        Event::Send
    }

    /// Counts a completion, and tells whether there are as many, or the first of them is as old, as
    /// moderation wants before an event.
    fn is_enough(&self, moderation: u32, now: impl FnOnce() -> u64) -> bool {
        let shared = self.shared;
        let (count, period) = (moderation & 0xffff, u64::from(moderation >> 16) * 1000);
        let held_back = shared.held_back.load(Relaxed).saturating_add(1);
        if count != 0 && held_back >= count {
            return true;
        }
        if period != 0 {
            let now = now();
            if held_back == 1 {
                shared.held_back_since.store(now, Relaxed);
            }
            if now.saturating_sub(shared.held_back_since.load(Relaxed)) >= period {
                return true;
            }
        }
        shared.held_back.store(held_back, SeqCst);
        false
    }

    /// Notes that the event has been sent.
    pub(super) fn sent(&self) {
        self.shared.sending.store(0, SeqCst);
    }

    /// Brings the queue in order after the holder of the lock has died. Returns whether its event
    /// may not have been sent; one too many does no harm. With the lock held.
    pub(super) fn repair(&self) -> bool {
        let shared = self.shared;
        let tail = shared.tail.load(Relaxed);
        let added = self.entry(tail).sequence.load(Acquire) == tail.wrapping_add(1);
        if added {
            shared.tail.store(tail.wrapping_add(1), Release);
        }
        if shared.sending.load(SeqCst) != 0 {
            return true;
        }
        // It may have died between adding and looking whether an event is wanted.
        let sends = added && shared.armed.load(SeqCst) != NOT_ARMED;
        if sends {
            shared.sending.store(1, SeqCst);
            shared.armed.store(NOT_ARMED, SeqCst);
        }
        sends
    }

    /// Whether a completion of this origin has been added, polled or not, since the tail had this
    /// number, of which the bits in `mask` are known. `None` if it is not among those that are still
    /// there, and others have been added that are not. With the lock held.
    pub(super) fn has_since(&self, position: u64, mask: u64, origin: Origin) -> Option<bool> {
        let tail = self.shared.tail.load(Relaxed);
        let added = tail.wrapping_sub(position) & mask;
        let count = added.min(self.entries.len() as u64);
        let mut all_are_there = count == added;
        for back in 1..=count {
            match self.at(tail.wrapping_sub(back)) {
                Some(cqe) if cqe.origin() == origin => return Some(true),
                Some(_) => {}
                None => all_are_there = false,
            }
        }
        all_are_there.then_some(false)
    }

    /// The completion of this number, if it is there.
    #[inline]
    pub(super) fn at(&self, number: u64) -> Option<&'a Cqe> {
        let cqe = self.entry(number);
        (cqe.sequence.load(Acquire) == number.wrapping_add(1)).then_some(cqe)
    }

    /// Tells those who add that the completions before `head` are taken.
    pub(super) fn publish(&self, head: u64) {
        self.shared.head.0.store(head, Release);
    }

    /// Copies the completions from `head` on to another ring, and returns their number; `None` if it
    /// is too small. With the lock held.
    pub(super) fn copy_to(&self, head: u64, to: &Ring<'_>) -> Option<u64> {
        let waiting = self.shared.tail.load(Acquire).wrapping_sub(head);
        if waiting > to.entries.len() as u64 {
            return None;
        }
        for number in (0..waiting).map(|ahead| head.wrapping_add(ahead)) {
            let new = to.entry(number);
            match self.at(number) {
                Some(old) => old.copy_to(new),
                None => new.forget(),
            }
            new.sequence.store(number.wrapping_add(1), Release);
        }
        Some(waiting)
    }
}

impl CqShared {
    /// Asks for an event: for the next completion, or the next solicited or failed one. A wish for
    /// the next one is not weakened. With the lock held.
    pub(super) fn arm(&self, solicited_only: bool) {
        if solicited_only {
            let _ = self.armed.compare_exchange(NOT_ARMED, ARMED_SOLICITED, SeqCst, SeqCst);
        } else {
            self.armed.store(ARMED_NEXT, SeqCst);
        }
    }
}

#[cfg(test)]
mod tests;
