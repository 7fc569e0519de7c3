//! A receive queue as its owner has it.

use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::ffi::c_int;

use super::Slots;
use super::ring::{LENGTH, Queue, WITHDRAWALS};
use crate::abi::*;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::urxe::completion;
use crate::urxe::gate::Gated;
use crate::urxe::host::{Host, Kind, Memory, agent};
use crate::urxe::region::Known;
use crate::urxe::shared::{CQE_PAYLOAD, Guard, PATIENCE, QueueShared, RecvHeader, RecvSge};

/// A receive queue of this process.
pub(crate) struct OwnQueue {
    host: &'static Host,
    offset: u64,
    shared: &'static QueueShared,
    /// Held while receives are posted, or the size is changed.
    posting: Gated<Size>,
}

/// Size and memory of a queue.
struct Size {
    max_wr: u32,
    max_sge: u32,
    /// Slots with memory; those beyond `max_wr`, after the queue has been made smaller, are in
    /// `parked`.
    slots: u32,
    parked: Vec<u32>,
    ring: Part,
    list: Part,
    /// Memory of before, which a completion may still be read from.
    retired: Vec<Part>,
    /// The queue has been given up.
    closed: bool,
    /// Where receives are posted, of the queue of a QP.
    in_order: Option<Slots>,
    /// The region that the last receive was in.
    known: Known,
    /// Position of the last receive that had no more room than `QueueShared::plain` says.
    shortest: u32,
}

/// A part of the own slot file.
#[derive(Clone, Copy)]
struct Part {
    offset: u64,
    length: u64,
}

impl Part {
    fn new(host: &Host, length: u64) -> Result<Part> {
        Ok(Part { offset: host.alloc(length, 64)?, length })
    }
}

/// What the record of a new queue says of it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Identity {
    /// Number of the protection domain.
    pub(crate) pd: u32,
    /// Number of the context whose event file gets its events.
    pub(crate) events: u32,
    /// Offset of the CQ of an XRC SRQ.
    pub(crate) cq: u64,
    /// XRC domain of an XRC SRQ.
    pub(crate) xrcd: u64,
    /// It is the queue of one QP, whose receives are polled in the order in which they are posted.
    pub(crate) in_order: bool,
}

/// Bytes of a slot for lists of so many entries.
fn slot_size(max_sge: u32) -> u64 {
    (size_of::<RecvHeader>() + max_sge as usize * size_of::<RecvSge>()) as u64
}

impl OwnQueue {
    /// An empty queue for `max_wr` receives of `max_sge` entries. ENOMEM.
    pub(crate) fn new(
        host: &'static Host,
        max_wr: u32,
        max_sge: u32,
        identity: Identity,
    ) -> Result<OwnQueue> {
        let capacity = max_wr.max(1).next_power_of_two();
        let (ring, slots) = match identity.in_order {
            true => (Part { offset: 0, length: 0 }, capacity),
            false => (Part::new(host, u64::from(capacity) * 4)?, max_wr.max(1)),
        };
        let free = |part: Part| {
            if part.length > 0 {
                host.free(part.offset, part.length);
            }
        };
        let list =
            Part::new(host, u64::from(slots) * slot_size(max_sge)).inspect_err(|_| free(ring))?;
        let offset = host.new_record::<QueueShared>(Kind::Queue).inspect_err(|_| {
            free(ring);
            free(list);
        })?;
        let shared = host.memory().at::<QueueShared>(offset).ok_or(Errno::EIO)?;
        shared.capacity.store(capacity, Relaxed);
        shared.max_sge.store(max_sge, Relaxed);
        shared.slot_size.store(slot_size(max_sge) as u32, Relaxed);
        shared.ring.store(ring.offset, Relaxed);
        shared.slots.store(list.offset, Relaxed);
        for place in [
            &shared.head,
            &shared.seen_tail,
            &shared.limit,
            &shared.srq_num,
            &shared.tail,
            &shared.freed,
        ] {
            place.store(0, Relaxed);
        }
        shared.plain.store(CQE_PAYLOAD as u64, Relaxed);
        shared.pd.store(identity.pd, Relaxed);
        shared.user_handle.store(0, Relaxed);
        shared.waiter.store(0, Relaxed);
        shared.events.store(identity.events, Relaxed);
        shared.xrcd.store(identity.xrcd, Relaxed);
        shared.cq.store(identity.cq, Relaxed);
        shared.taking.store(0, Relaxed);
        shared.free.store(0, Relaxed);
        // Odd from now on: it exists.
        shared.generation.store(shared.generation.load(Relaxed) | 1, Release);
        let view = Queue::at(host.memory(), offset);
        let size = Size {
            max_wr,
            max_sge,
            slots: max_wr,
            parked: Vec::new(),
            ring,
            list,
            retired: Vec::new(),
            closed: false,
            in_order: view.as_ref().and_then(Slots::of),
            known: Known::default(),
            shortest: 0,
        };
        if let Some(view) = view
            && !identity.in_order
        {
            (0..max_wr).rev().for_each(|slot| view.push_free(slot));
        }
        Ok(OwnQueue { host, offset, shared, posting: Gated::new(host, size) })
    }

    /// Offset of its record in the own slot.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The host on which it was created.
    pub(crate) fn host(&self) -> &'static Host {
        self.host
    }

    /// The queue as everybody sees it.
    pub(crate) fn view(&self) -> Option<Queue<'static>> {
        Queue::at(self.host.memory(), self.offset)
    }

    /// Most receives, and most entries of a list.
    pub(crate) fn caps(&self) -> (u32, u32) {
        let size = self.posting.lock_seldom();
        (size.max_wr, size.max_sge)
    }

    /// Posts a list of receives. On failure returns the first that was not posted as well; those
    /// before it are. `ibv_post_recv(3)`
    ///
    /// # Errors
    ///
    /// ENOMEM if the queue is full; EINVAL for a list of more entries than there is room for.
    ///
    /// # Safety
    ///
    /// `wr` must be NULL or a valid list of requests.
    pub(crate) unsafe fn post(
        &self,
        mut wr: *mut ibv_recv_wr,
    ) -> core::result::Result<(), (Errno, *mut ibv_recv_wr)> {
        let mut size = self.posting.lock();
        let size = &mut *size;
        let mut result = Ok(());
        let withdrawals = self.withdrawals();
        // SAFETY: the caller's promise.
        while let Some(request) = unsafe { wr.as_ref() } {
            // SAFETY: the caller's promise.
            let posted = unsafe {
                match size.in_order {
                    Some(slots) => size.post_in_order(self.host, &slots, request),
                    None => self.post_one(request),
                }
            };
            if let Err(errno) = posted {
                result = Err((errno, wr));
                break;
            }
            wr = request.next;
        }
        self.notify();
        if self.withdrawals() != withdrawals
            && let Some(queue) = self.view()
        {
            queue.distrust();
        }
        result
    }

    /// See [`WITHDRAWALS`].
    #[inline]
    fn withdrawals(&self) -> u64 {
        self.shared.plain.load(Acquire) & WITHDRAWALS
    }

    /// Wakes the requester that waits for a receive, if one does. What has been posted is seen by all
    /// who store something that the caller does not see afterwards (in sequential consistency).
    #[inline]
    fn notify(&self) {
        // Who waits stores its wish first and looks at the tail then; here it is the other way round.
        // So it is with the state of the QP and who flushes its receives. The tail is stored once
        // more, as a store that comes before all later loads: cheaper than a fence. Only this thread
        // changes it.
        let QueueShared { tail, waiter, .. } = self.shared;
        tail.swap(tail.load(Relaxed), SeqCst);
        if waiter.load(SeqCst) != 0 {
            agent::ring_slot(self.host, waiter.swap(0, SeqCst));
        }
    }

    /// Takes all receives out of the queue of a QP, without completions. With the lock of the QP held.
    pub(crate) fn clear(&self) {
        let _posting = self.posting.lock_seldom();
        let Some(queue) = self.view() else { return };
        if queue.is_torn() {
            // All receives go, those that nobody knows of too.
            let _ = completion::restore(self.host, self.host.own(), &queue, PATIENCE);
        }
        // They have not been posted; nobody else looks at the queue now.
        let (shared, head) = (queue.shared, queue.shared.head.load(Relaxed));
        shared.tail.store(head, Release);
        shared.seen_tail.store(head, Relaxed);
    }

    /// Changes the number of receives that there is room for. `lock` gives the lock of the queue,
    /// which keeps requesters away. `ibv_modify_srq(3)`
    ///
    /// # Errors
    ///
    /// EINVAL if more receives are outstanding; ENOMEM; what `lock` gives.
    pub(crate) fn resize<'a>(
        &self,
        max_wr: u32,
        lock: impl FnOnce() -> Result<Guard<'a>>,
    ) -> Result<()> {
        let mut size = self.posting.lock_seldom();
        let queue = self.view().ok_or(Errno::EINVAL)?;
        if max_wr <= size.max_wr {
            size.shrink(&queue, max_wr)
        } else {
            let from_parked = (size.parked.len() as u32).min(max_wr - size.max_wr);
            let more = max_wr - size.max_wr - from_parked;
            if more > 0 {
                size.grow(self.host, &queue, more, lock)?;
            }
            for _ in 0..from_parked {
                if let Some(slot) = size.parked.pop() {
                    queue.push_free(slot);
                }
            }
            size.max_wr = max_wr;
            Ok(())
        }
    }
}

impl Size {
    /// Takes free slots out of use.
    fn shrink(&mut self, queue: &Queue<'_>, max_wr: u32) -> Result<()> {
        let before = self.parked.len();
        for _ in 0..self.max_wr - max_wr {
            match queue.pop_free() {
                Some(slot) => self.parked.push(slot),
                None => {
                    for slot in self.parked.drain(before..) {
                        queue.push_free(slot);
                    }
                    return Err(Errno::EINVAL);
                }
            }
        }
        self.max_wr = max_wr;
        Ok(())
    }

    /// Moves the queue to larger memory. Slots keep their numbers.
    fn grow<'a>(
        &mut self,
        host: &Host,
        queue: &Queue<'_>,
        more: u32,
        lock: impl FnOnce() -> Result<Guard<'a>>,
    ) -> Result<()> {
        let slots = self.slots.checked_add(more).ok_or(Errno::EINVAL)?;
        let capacity = slots.max(1).next_power_of_two();
        let ring = Part::new(host, u64::from(capacity) * 4)?;
        let list = Part::new(host, u64::from(slots) * slot_size(self.max_sge))
            .inspect_err(|_| host.free(ring.offset, ring.length))?;
        let guard = lock().inspect_err(|_| {
            host.free(ring.offset, ring.length);
            host.free(list.offset, list.length);
        })?;
        let free = queue.begin_move(self.slots);
        let head = queue.shared.head.load(Relaxed);
        let memory = host.memory();
        for ahead in 0..queue.waiting() {
            let position = head.wrapping_add(ahead);
            let place = ring.offset + u64::from(position & (capacity - 1)) * 4;
            let entry = memory.at::<AtomicU32>(place);
            if let (Some(to), Some(slot)) = (entry, queue.slot_at(position)) {
                to.store(slot, Relaxed);
            }
        }
        for slot in 0..self.slots {
            let place = list.offset + u64::from(slot) * slot_size(self.max_sge);
            copy_slot(memory, queue, slot, place);
        }
        let shared = queue.shared;
        shared.ring.store(ring.offset, Relaxed);
        shared.slots.store(list.offset, Relaxed);
        shared.capacity.store(capacity, Release);
        queue.moved();
        drop(guard);
        self.retired.extend([self.ring, self.list]);
        (self.ring, self.list) = (ring, list);
        (self.slots..slots).rev().chain(free).for_each(|slot| queue.push_free(slot));
        self.slots = slots;
        Ok(())
    }
}

fn copy_slot(memory: &Memory, queue: &Queue<'_>, slot: u32, place: u64) {
    let (Some((header, list)), Some((new_header, new_list))) =
        (queue.parts(slot), queue.parts_at(memory, place))
    else {
        return;
    };
    new_header.wr_id.store(header.wr_id.load(Relaxed), Relaxed);
    new_header.num_sge.store(header.num_sge.load(Relaxed), Relaxed);
    for (from, to) in list.iter().zip(new_list) {
        to.addr.store(from.addr.load(Relaxed), Relaxed);
        to.length.store(from.length.load(Relaxed), Relaxed);
        to.lkey.store(from.lkey.load(Relaxed), Relaxed);
    }
}

impl Size {
    /// Posts one receive of a queue in order.
    ///
    /// # Safety
    ///
    /// The list of the request must be valid.
    #[inline(always)]
    unsafe fn post_in_order(
        &mut self,
        host: &'static Host,
        slots: &Slots,
        request: &ibv_recv_wr,
    ) -> Result<()> {
        let shared = slots.shared;
        // SAFETY: the caller's promise.
        let list = unsafe { list_of(request, self.max_sge) }?;
        let tail = shared.tail.load(Relaxed);
        // Receives whose completions have not been polled.
        if tail.wrapping_sub(shared.freed.load(Acquire)) >= self.max_wr {
            return Err(Errno::ENOMEM);
        }
        if !slots.is_current() {
            return Err(Errno::EINVAL);
        }
        let (header, places) = slots.parts(tail).ok_or(Errno::EIO)?;
        header.wr_id.store(request.wr_id, Relaxed);
        header.num_sge.store(list.len() as u32, Relaxed);
        let (mut room, mut is_good) = (0, true);
        let pd = shared.pd.load(Relaxed);
        for (sge, place) in list.iter().zip(places) {
            store(place, sge);
            let length = u64::from(sge.length);
            room += length;
            is_good &= length == 0
                || self.known.find(host.keys(), pd, sge.lkey, sge.addr, length).is_some();
        }
        self.note(shared, tail, room, is_good);
        shared.tail.store(tail.wrapping_add(1), Release);
        Ok(())
    }

    /// Tells requesters whether they need to look at a receive that is about to be posted.
    #[inline]
    fn note(&mut self, shared: &QueueShared, position: u32, room: u64, is_good: bool) {
        let mut plain = shared.plain.load(Relaxed);
        let room = room.min(CQE_PAYLOAD as u64);
        if is_good && room == plain & LENGTH {
            self.shortest = position;
            return;
        }
        loop {
            let (count, least) = (plain & WITHDRAWALS, plain & LENGTH);
            let new = if !is_good {
                u64::from(position.wrapping_add(1)) << 32 | count | least
            } else if room < least {
                plain - least + room
            } else if position.wrapping_sub(self.shortest) >= self.max_wr {
                // The short ones have been polled; those in between need not be as long as this one.
                u64::from(position) << 32 | count | room
            } else {
                return;
            };
            // Who withdraws a key may change it just now.
            match shared.plain.compare_exchange(plain, new, Release, Relaxed) {
                Ok(_) => break,
                Err(now) => plain = now,
            }
        }
        self.shortest = position;
    }
}

/// The list of a request: EINVAL if it has more entries than there is room for.
///
/// # Safety
///
/// The list must be valid.
unsafe fn list_of(request: &ibv_recv_wr, most: u32) -> Result<&[ibv_sge]> {
    let count = u32::try_from(request.num_sge).map_err(|_| Errno::EINVAL)?;
    if count > most || count > 0 && request.sg_list.is_null() {
        return Err(Errno::EINVAL);
    }
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts(request.sg_list, count as usize) })
}

fn store(place: &RecvSge, sge: &ibv_sge) {
    place.addr.store(sge.addr, Relaxed);
    place.length.store(sge.length, Relaxed);
    place.lkey.store(sge.lkey, Relaxed);
}

impl OwnQueue {
    /// Posts one receive of an SRQ, with the lock for posting held.
    ///
    /// # Safety
    ///
    /// The list of the request must be valid.
    unsafe fn post_one(&self, request: &ibv_recv_wr) -> Result<()> {
        let queue = self.view().ok_or(Errno::EINVAL)?;
        let shared = queue.shared;
        // SAFETY: the caller's promise.
        let sges = unsafe { list_of(request, shared.max_sge.load(Relaxed)) }?;
        let slot = queue.pop_free().ok_or(Errno::ENOMEM)?;
        let tail = shared.tail.load(Relaxed);
        let (Some((header, list)), Some(entry)) = (queue.parts(slot), queue.ring_entry(tail))
        else {
            queue.push_free(slot);
            return Err(Errno::EIO);
        };
        header.wr_id.store(request.wr_id, Relaxed);
        header.num_sge.store(sges.len() as u32, Relaxed);
        list.iter().zip(sges).for_each(|(place, sge)| store(place, sge));
        entry.store(slot, Relaxed);
        shared.tail.store(tail.wrapping_add(1), Release);
        Ok(())
    }

    /// Gives the queue up. No requester looks at it any more: no QP or table names it, and their
    /// locks have been passed through.
    pub(crate) fn close(&self) {
        if !self.host.is_current() {
            return;
        }
        let mut size = self.posting.lock_seldom();
        if core::mem::replace(&mut size.closed, true) {
            return;
        }
        if let Some(queue) = self.view() {
            queue.shared.generation.store(queue.generation().wrapping_add(1), SeqCst);
        }
        let parts = size.retired.iter().chain([&size.ring, &size.list]);
        for part in parts.filter(|part| part.length > 0) {
            self.host.free(part.offset, part.length);
        }
        self.host.free_record(Kind::Queue, self.offset);
    }
}

impl OwnQueue {
    /// Gives the queue up, and leaves its memory to a process that may go on to use it.
    pub(crate) fn abandon(&self) {
        self.posting.lock_seldom().closed = true;
    }
}

impl Drop for OwnQueue {
    fn drop(&mut self) {
        self.close();
    }
}

/// What a posting function returns; the program is told the first request that is not posted.
///
/// # Safety
///
/// `bad` must be NULL or have room for a pointer.
pub(crate) unsafe fn answer<Request>(
    posted: core::result::Result<(), (Errno, *mut Request)>,
    bad: *mut *mut Request,
) -> c_int {
    let Err((errno, first)) = posted else { return 0 };
    if !bad.is_null() {
        // SAFETY: the caller's promise.
        unsafe { *bad = first };
    }
    Err(errno).or_number()
}
