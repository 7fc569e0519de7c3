//! A receive queue in order, as its owner knows it without looking at all of the record again.

use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::ring::SLOT_MASK;
use super::{Queue, Receive};
use crate::urxe::shared::{QueueShared, RecvHeader, RecvSge};

/// The queue of a QP of this process. Its slots stay where they are as long as it exists.
#[derive(Clone, Copy)]
pub(crate) struct Slots {
    pub(crate) shared: &'static QueueShared,
    generation: u32,
    /// Most entries of the list of a receive.
    max_sge: u32,
    /// Number of slots, a power of two, less one.
    mask: u32,
    /// All slots, one after the other: a header and the list of each.
    words: &'static [RecvSge],
}

// A header has the room of an entry, and what one stores the other may read.
const _: () = assert!(size_of::<RecvHeader>() == size_of::<RecvSge>());
const _: () = assert!(align_of::<RecvHeader>() == align_of::<RecvSge>());

impl Slots {
    /// Those of a queue; `None` if it is not in order, or a peer has damaged its record.
    pub(crate) fn of(queue: &Queue<'static>) -> Option<Slots> {
        let shared = queue.shared;
        let (capacity, max_sge) = (shared.capacity.load(Relaxed), shared.max_sge.load(Relaxed));
        let stride = u64::from(max_sge) + 1;
        if !queue.is_in_order()
            || !capacity.is_power_of_two()
            || u64::from(shared.slot_size.load(Relaxed)) != stride * size_of::<RecvSge>() as u64
        {
            return None;
        }
        let count = usize::try_from(u64::from(capacity) * stride).ok()?;
        let words = queue.memory().slice(shared.slots.load(Relaxed), count)?;
        Some(Slots { shared, generation: queue.generation(), max_sge, mask: capacity - 1, words })
    }

    /// Whether the queue still exists.
    #[inline]
    pub(crate) fn is_current(&self) -> bool {
        self.shared.generation.load(Acquire) == self.generation
    }

    /// The begin of a slot, and its list with all entries that there is room for.
    #[inline]
    pub(crate) fn parts(&self, slot: u32) -> Option<(&'static RecvHeader, &'static [RecvSge])> {
        let begin = (slot & self.mask) as usize * (self.max_sge as usize + 1);
        let (header, list) = self.words.get(begin..)?.split_first()?;
        // SAFETY: of the same layout, and made of atomics as well.
        let header = unsafe { &*core::ptr::from_ref(header).cast::<RecvHeader>() };
        Some((header, list.get(..self.max_sge as usize)?))
    }

    /// A receive by the number of its slot.
    #[inline]
    pub(crate) fn receive(&self, slot: u32) -> Option<Receive<'static>> {
        let (header, list) = self.parts(slot)?;
        let list = list.get(..header.num_sge.load(Relaxed) as usize)?;
        Some(Receive { slot, wr_id: header.wr_id.load(Relaxed), list })
    }

    /// Gives a slot back, whose completion has been polled; one thread at a time.
    #[inline]
    pub(crate) fn free(&self, slot: u32) {
        let freed = self.shared.freed.load(Relaxed);
        let ahead = slot.wrapping_sub(freed) & SLOT_MASK;
        // What was outstanding when the queue was cleared frees nothing that is not.
        if ahead < self.shared.tail.load(Acquire).wrapping_sub(freed) {
            self.shared.freed.store(freed.wrapping_add(ahead).wrapping_add(1), Release);
        }
    }
}
