//! A receive queue in the memory of any process.
//!
//! Nothing that is read here is believed: numbers of slots and offsets are checked before they are
//! used, as a peer can have damaged them.

use crate::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use crate::sync::atomic::{AtomicU32, fence};
use crate::sync::thread;

use crate::urxe::host::Memory;
use crate::urxe::limits::MAX_QP_WR;
use crate::urxe::origin::{Origin, same_receive_generation};
use crate::urxe::shared::{
    CQE_PAYLOAD, PATIENCE, Patience, QueueShared, RecvHeader, RecvSge, will_read, will_write,
};

/// A receive queue that exists.
#[derive(Clone, Copy)]
pub(crate) struct Queue<'a> {
    /// Its record.
    pub(crate) shared: &'a QueueShared,
    /// Offset of the record.
    pub(crate) offset: u64,
    memory: &'a Memory,
}

/// A posted receive.
#[derive(Clone, Copy)]
pub(crate) struct Receive<'a> {
    /// Number of its slot.
    pub(crate) slot: u32,
    /// `ibv_recv_wr::wr_id`.
    pub(crate) wr_id: u64,
    /// Where the message goes.
    pub(crate) list: &'a [RecvSge],
}

/// A receive that has been taken, and whose completion may be missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Taken {
    /// Its slot.
    pub(crate) slot: u32,
    /// Offset of the record of the CQ.
    pub(crate) cq: u64,
    /// The completion has this number in the CQ, or a later one; the low bits of it.
    pub(crate) position: u64,
}

/// `QueueShared::taking`: bit 63 is set; bit 62 is the lowest of `head` before; then the offset of
/// the CQ divided by 64, and the position.
const TAKING: u64 = 1 << 63;
const PARITY_BIT: u32 = 62;
const CQ_BITS: u32 = 26;
const POSITION_BITS: u32 = 36;
/// The bits of a position that are kept.
pub(crate) const POSITION_MASK: u64 = (1 << POSITION_BITS) - 1;

const _: () = assert!(CQ_BITS + POSITION_BITS == PARITY_BIT);
const _: () = assert!(crate::urxe::shared::FILE_SIZE >> 6 <= 1 << CQ_BITS);

impl<'a> Queue<'a> {
    /// The queue whose record is at an offset; `None` if there is none.
    #[inline]
    pub(crate) fn at(memory: &'a Memory, offset: u64) -> Option<Queue<'a>> {
        if offset == 0 {
            return None;
        }
        let shared = memory.at::<QueueShared>(offset)?;
        let exists = shared.generation.load(Acquire) & 1 != 0;
        exists.then_some(Queue { shared, offset, memory })
    }

    /// The memory that it is in.
    pub(super) fn memory(&self) -> &'a Memory {
        self.memory
    }

    /// Which use of the record this is.
    pub(crate) fn generation(&self) -> u32 {
        self.shared.generation.load(Relaxed)
    }

    /// Receives that were posted and not taken.
    pub(crate) fn waiting(&self) -> u32 {
        let head = self.shared.head.load(Relaxed);
        let waiting = self.shared.tail.load(SeqCst).wrapping_sub(head);
        // More than the ring has there cannot be.
        if waiting <= self.shared.capacity.load(Relaxed) { waiting } else { 0 }
    }

    /// Whether no receive waits. The owner's cache line is looked at only if it matters. With the
    /// lock of the QP held, of an SRQ perhaps by several requesters at once.
    ///
    /// The tail moves forward alone, so one that was seen before is a lower bound, whoever has
    /// stored it; and a head that is beyond it makes the queue look empty, or as if it had more than
    /// its ring. Acquire and release: the receives before the tail are seen by whom it is passed on.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        let shared = self.shared;
        let waiting = shared.seen_tail.load(Acquire).wrapping_sub(shared.head.load(Relaxed));
        if waiting != 0 && waiting <= shared.capacity.load(Relaxed) {
            return false;
        }
        shared.seen_tail.store(shared.tail.load(SeqCst), Release);
        self.waiting() == 0
    }

    /// The receive that the next message takes, with the lock of the queue held; `None` if there is
    /// none. It stays until [`take`](Self::take).
    #[inline]
    pub(crate) fn first(&self) -> Option<Receive<'a>> {
        if self.is_empty() {
            return None;
        }
        self.receive(self.slot_at(self.shared.head.load(Relaxed))?)
    }

    /// Takes the first receive out of the queue, with the lock held, without a completion.
    #[inline]
    pub(crate) fn take(&self) {
        self.shared.head.store(self.shared.head.load(Relaxed).wrapping_add(1), Release);
    }

    /// Fetches the receive that the next message takes, as far as one is known to be there.
    #[inline]
    pub(crate) fn fetch_next(&self) {
        let head = self.shared.head.load(Relaxed);
        if self.shared.seen_tail.load(Relaxed) != head
            && let Some(header) = self.slot_at(head).and_then(|slot| self.header(slot))
        {
            will_read(header);
        }
    }

    /// Fetches what is written when a slot is given back, and the next receive is posted: the owner's
    /// stores need not wait for it then.
    #[inline]
    pub(crate) fn fetch_free(&self, slot: u32) {
        if self.is_in_order() {
            return;
        }
        let (header, tail) = (self.header(slot), self.shared.tail.load(Relaxed));
        if let (Some(header), Some(entry)) = (header, self.ring_entry(tail)) {
            will_write(header);
            will_write(entry);
        }
    }

    /// Takes the first receive out of the queue, with the lock held, to add its completion to the CQ
    /// whose record is at this offset, at this position or later. To be followed by
    /// [`taken`](Self::taken).
    #[inline]
    pub(crate) fn begin_taking(&self, cq: u64, position: u64) {
        let parity = u64::from(self.shared.head.load(Relaxed) & 1);
        let taking = Self::name_of_cq(cq) | parity << PARITY_BIT | position & POSITION_MASK;
        self.hold_first();
        self.shared.taking.store(taking, Relaxed);
        self.take();
    }

    /// As [`begin_taking`](Self::begin_taking), of a queue in order. `cq` is its
    /// [name](Self::name_of_cq), and the completion has this number.
    #[inline(always)]
    pub(crate) fn begin_taking_in_order(&self, cq: u64, number: u64) {
        let head = self.shared.head.load(Relaxed);
        let taking = cq | u64::from(head & 1) << PARITY_BIT | number & POSITION_MASK;
        self.shared.taking.store(taking, Relaxed);
        self.shared.head.store(head.wrapping_add(1), Release);
    }

    /// What [`QueueShared::taking`] says of the CQ with this offset.
    pub(crate) fn name_of_cq(cq: u64) -> u64 {
        TAKING | (cq >> 6 & ((1 << CQ_BITS) - 1)) << POSITION_BITS
    }

    /// Marks the slot of the first receive, so that it can be told whether it has been free since.
    /// Where slots are used in order, that can be told anyway.
    #[inline]
    fn hold_first(&self) {
        if !self.is_in_order()
            && let Some(slot) = self.slot_at(self.shared.head.load(Relaxed))
            && let Some(header) = self.header(slot)
        {
            header.next.store(HELD, Relaxed);
        }
    }

    /// Whether the slot of a receive has been given back after that was taken, as polling its
    /// completion does. With the lock of the queue held since.
    pub(crate) fn is_freed(&self, taken: Taken) -> bool {
        if !self.is_in_order() {
            let header = self.header(taken.slot);
            return header.is_none_or(|header| header.next.load(Acquire) != HELD);
        }
        let freed = self.shared.freed.load(Acquire);
        let position = self.shared.head.load(Relaxed).wrapping_sub(1);
        position.wrapping_sub(freed) >= self.shared.tail.load(Relaxed).wrapping_sub(freed)
    }

    /// The completion has been added.
    #[inline]
    pub(crate) fn taken(&self) {
        self.shared.taking.store(0, Release);
    }

    /// Whether somebody died while it took a receive, with the lock of the queue held.
    #[inline]
    pub(crate) fn is_torn(&self) -> bool {
        self.shared.taking.load(Relaxed) != 0
    }

    /// What one that died had taken, with the lock of the queue held; nothing if it had not come so
    /// far.
    pub(crate) fn torn(&self) -> Option<Taken> {
        let taking = self.shared.taking.load(Relaxed);
        let head = self.shared.head.load(Relaxed);
        if taking == 0 || u64::from(head & 1) == taking >> PARITY_BIT & 1 {
            return None;
        }
        Some(Taken {
            slot: self.slot_at(head.wrapping_sub(1))?,
            cq: (taking >> POSITION_BITS & ((1 << CQ_BITS) - 1)) << 6,
            position: taking & POSITION_MASK,
        })
    }

    /// Gives the last receive that was taken back to the queue, with the lock held. Its entry of the
    /// ring is still there: until its completion is polled, so many slots are not in the ring.
    pub(crate) fn put_back(&self) {
        self.shared.head.store(self.shared.head.load(Relaxed).wrapping_sub(1), Release);
    }

    /// Whether the limit of an SRQ has been passed by the last [`take`](Self::take), and so
    /// `IBV_EVENT_SRQ_LIMIT_REACHED` is to be sent, once. With the lock held.
    #[inline]
    pub(crate) fn passed_limit(&self) -> bool {
        let limit = self.shared.limit.load(Relaxed);
        limit != 0
            && self.waiting() < limit
            && self.shared.limit.compare_exchange(limit, 0, AcqRel, Relaxed).is_ok()
    }

    /// Asks the owner to ring the doorbell of a process, by the number of its slot, when it posts.
    /// Returns whether something has been posted meanwhile, so that there is no need to wait.
    pub(crate) fn wait(&self, slot: u32) -> bool {
        self.shared.waiter.store(slot, SeqCst);
        fence(SeqCst);
        self.waiting() != 0
    }

    /// A receive by the number of its slot.
    #[inline]
    pub(crate) fn receive(&self, slot: u32) -> Option<Receive<'a>> {
        let (header, list) = self.parts(slot)?;
        let list = list.get(..header.num_sge.load(Relaxed) as usize)?;
        Some(Receive { slot, wr_id: header.wr_id.load(Relaxed), list })
    }

    /// Whether receives are polled in the order in which they were posted, so that slots are used one
    /// after the other: those of a QP's own queue.
    #[inline]
    pub(crate) fn is_in_order(&self) -> bool {
        self.shared.ring.load(Relaxed) == 0
    }

    /// The receive that was taken last, with the lock of the queue held.
    pub(crate) fn last_taken(&self) -> Option<Receive<'a>> {
        self.receive(self.slot_at(self.shared.head.load(Relaxed).wrapping_sub(1))?)
    }

    /// The number of the slot at a position.
    #[inline]
    pub(super) fn slot_at(&self, position: u32) -> Option<u32> {
        if self.is_in_order() {
            return Some(position & SLOT_MASK);
        }
        Some(self.ring_entry(position)?.load(Relaxed))
    }

    /// The entry of the ring at a position.
    #[inline]
    pub(super) fn ring_entry(&self, position: u32) -> Option<&'a AtomicU32> {
        let capacity = self.shared.capacity.load(Relaxed);
        if !capacity.is_power_of_two() {
            return None;
        }
        let index = position & (capacity - 1);
        self.memory.at(self.shared.ring.load(Relaxed).checked_add(u64::from(index) * 4)?)
    }

    /// The begin of a slot.
    #[inline]
    pub(super) fn header(&self, slot: u32) -> Option<&'a RecvHeader> {
        self.memory.at(self.slot_place(slot)?)
    }

    /// The begin of a slot, and its list with all entries that there is room for.
    #[inline]
    pub(super) fn parts(&self, slot: u32) -> Option<(&'a RecvHeader, &'a [RecvSge])> {
        self.parts_at(self.memory, self.slot_place(slot)?)
    }

    /// The same of one that begins at an offset.
    #[inline]
    pub(super) fn parts_at<'b>(
        &self,
        memory: &'b Memory,
        place: u64,
    ) -> Option<(&'b RecvHeader, &'b [RecvSge])> {
        let list = place.checked_add(size_of::<RecvHeader>() as u64)?;
        let count = self.shared.max_sge.load(Relaxed) as usize;
        Some((memory.at(place)?, memory.slice(list, count)?))
    }

    #[inline]
    fn slot_place(&self, slot: u32) -> Option<u64> {
        let capacity = self.shared.capacity.load(Relaxed);
        let index = match self.is_in_order() {
            true if !capacity.is_power_of_two() => return None,
            true => slot & (capacity - 1),
            false => slot,
        };
        let offset = u64::from(index) * u64::from(self.shared.slot_size.load(Relaxed));
        self.shared.slots.load(Relaxed).checked_add(offset)
    }

    /// Whether a message of so many bytes may go to the next receive without a look at it: its key
    /// was good when it was posted, and there is room. With the lock of the QP held.
    #[inline]
    pub(crate) fn is_plain(&self, length: u32) -> bool {
        let plain = self.shared.plain.load(Acquire);
        let ahead = ((plain >> 32) as u32).wrapping_sub(self.shared.head.load(Relaxed));
        // One that is far ahead was passed long ago.
        length <= (plain & LENGTH) as u32
            && !(1..=MAX_QP_WR).contains(&ahead)
            && self.shared.capacity.load(Relaxed).is_power_of_two()
    }

    /// The origin of the completion of the receive that the next message takes, of a queue in order.
    #[inline]
    pub(crate) fn next_origin(&self) -> Origin {
        let slot = self.shared.head.load(Relaxed) & SLOT_MASK;
        Origin::receive(self.offset, self.generation(), slot)
    }

    /// Makes requesters look at all receives that are posted now. What they need to look at must be
    /// stored before.
    ///
    /// Who is posting just now finds another [count](WITHDRAWALS) when it is through, or its
    /// receives are seen here, the second time.
    pub(crate) fn distrust(&self) {
        self.distrust_posted();
        self.distrust_posted();
    }

    fn distrust_posted(&self) {
        let shared = self.shared;
        let mut plain = shared.plain.load(Relaxed);
        loop {
            let tail = shared.tail.load(SeqCst);
            let count = plain.wrapping_add(LENGTH + 1) & WITHDRAWALS;
            // The owner may have found that one which it is about to post is bad.
            let from = (plain >> 32) as u32;
            let is_ahead = (1..=MAX_QP_WR).contains(&from.wrapping_sub(tail));
            let new = u64::from(if is_ahead { from } else { tail }) << 32 | count | plain & LENGTH;
            match shared.plain.compare_exchange_weak(plain, new, SeqCst, Relaxed) {
                Ok(_) => return,
                Err(now) => plain = now,
            }
        }
    }

    /// Gives a slot back, whose completion has been polled. Only the owner does that; of a queue in
    /// order, one thread at a time.
    #[inline]
    pub(crate) fn free(&self, slot: u32) {
        if !self.is_in_order() {
            return self.push_free(slot);
        }
        let freed = self.shared.freed.load(Relaxed);
        let ahead = slot.wrapping_sub(freed) & SLOT_MASK;
        // What was outstanding when the queue was cleared frees nothing that is not.
        if ahead < self.shared.tail.load(Acquire).wrapping_sub(freed) {
            self.shared.freed.store(freed.wrapping_add(ahead).wrapping_add(1), Release);
        }
    }

    /// Puts a slot on the stack of the free ones. Only the owner does that, from any thread; it
    /// waits while the slots are moved. If that takes longer than it can, a peer has stored nonsense
    /// there, and the slot is lost.
    pub(super) fn push_free(&self, slot: u32) {
        let mut free = self.shared.free.load(Acquire);
        let mut waiting = Patience::default();
        loop {
            if free as u32 == MOVING {
                if waiting.is_over(PATIENCE) {
                    return;
                }
                thread::yield_now();
                free = self.shared.free.load(Acquire);
                continue;
            }
            // The place is looked up after `free`, so it is where the slot is until that changes.
            let Some(header) = self.header(slot) else { return };
            header.next.store(free as u32, Relaxed);
            let new = free & HIGH | u64::from(slot.wrapping_add(1));
            match self.shared.free.compare_exchange_weak(free, new, AcqRel, Acquire) {
                Ok(_) => return,
                Err(now) => free = now,
            }
        }
    }

    /// Takes a slot from the stack of the free ones. Only one thread of the owner at a time: while
    /// a slot is the first nobody else takes it away, so its link is right.
    pub(super) fn pop_free(&self) -> Option<u32> {
        let mut free = self.shared.free.load(Acquire);
        loop {
            let slot = (free as u32).checked_sub(1)?;
            let new = free & HIGH | u64::from(self.header(slot)?.next.load(Relaxed));
            match self.shared.free.compare_exchange_weak(free, new, Acquire, Acquire) {
                Ok(_) => return Some(slot),
                Err(now) => free = now,
            }
        }
    }

    /// Empties the stack of free slots and keeps it so, until [`moved`](Self::moved). The slots
    /// that were on it.
    pub(super) fn begin_move(&self, slots: u32) -> Vec<u32> {
        let before = self.shared.free.fetch_or(u64::from(MOVING), AcqRel);
        let mut found = Vec::new();
        let mut next = before as u32;
        while let Some(slot) = next.checked_sub(1)
            && found.len() < slots as usize
            && let Some(header) = self.header(slot)
        {
            found.push(slot);
            next = header.next.load(Relaxed);
        }
        found
    }

    /// Makes the stack of free slots usable again, empty.
    pub(super) fn moved(&self) {
        let count = self.shared.free.load(Relaxed) >> 32;
        self.shared.free.store(count.wrapping_add(1) << 32, Release);
    }
}

/// The bits of a position that are the number of a slot, in a queue in order.
pub(crate) const SLOT_MASK: u32 = MAX_QP_WR - 1;
const _: () = assert!(MAX_QP_WR.is_power_of_two());

/// The low half of [`QueueShared::free`] while slots are moved.
const MOVING: u32 = u32::MAX;
/// [`RecvHeader::next`] of a slot of an SRQ whose receive has been taken: no number of a slot.
const HELD: u32 = u32::MAX - 1;
const HIGH: u64 = !(u32::MAX as u64);
/// The bits of [`QueueShared::plain`] that are a number of bytes.
pub(super) const LENGTH: u64 = 0xff;
/// Those that count how often keys have been withdrawn that receives may name. Who posts looks at them
/// before it looks at keys, and after a full fence behind the last receive; if they have changed, it
/// [distrusts](Queue::distrust) what it has posted.
pub(super) const WITHDRAWALS: u64 = !HIGH & !LENGTH;

const _: () = assert!(CQE_PAYLOAD as u64 <= LENGTH);

/// Gives the slot of a completion that has been polled back to its queue, if that still exists.
#[inline]
pub(crate) fn polled(memory: &Memory, offset: u64, generation: u32, slot: u32) {
    if let Some(queue) = of_completion(memory, offset, generation) {
        queue.free(slot);
    }
}

/// The queue that a completion belongs to, if it still exists; `generation` is that of its
/// [origin](crate::urxe::origin).
#[inline]
pub(crate) fn of_completion(memory: &Memory, offset: u64, generation: u32) -> Option<Queue<'_>> {
    Queue::at(memory, offset)
        .filter(|queue| same_receive_generation(generation, queue.generation()))
}
