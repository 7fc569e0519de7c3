//! Receive queues, a QP's own or shared by several.

use crate::sync::atomic::{AtomicU32, AtomicU64};

use super::{Lock, NewLine, Shared};

/// A receive queue: slots with the work requests, and of an SRQ a ring of slot numbers in the order
/// in which the slots were posted.
///
/// The owner posts: it fills a free slot, writes its number into the ring and stores `tail`. A
/// requester takes: with the QP's lock held (that of an SRQ: its own) it reads the slot that `head`
/// names and stores `head` when the message is in place. A slot is free again when the owner has
/// polled its completion.
///
/// The receives of a QP's own queue are polled in the order in which they were posted, so slots are
/// used one after the other and need neither the ring nor the stack of free ones. Nor does a
/// requester look at the slot for a short message, which travels in the completion, as long as
/// `plain` says that it would find nothing there that stands in the way.
#[repr(C, align(64))]
pub(crate) struct QueueShared {
    /// Of an SRQ: held by a requester that takes. Locked after the QP's lock, before that of the
    /// completion queue.
    pub(crate) lock: Lock,
    /// Next to take, not wrapped; changed by requesters.
    pub(crate) head: AtomicU32,
    /// `tail` as requesters have seen it last: it is read again only when the queue looks empty.
    pub(crate) seen_tail: AtomicU32,
    /// SRQ: an event is sent when fewer than this are left; 0: none.
    pub(crate) limit: AtomicU32,
    /// While a receive is taken and its completion added: what `queue::Taken` says of it. 0
    /// otherwise, so who holds the lock of the queue and finds something else follows one that died.
    pub(crate) taking: AtomicU64,
    /// What changes seldom.
    _settings: NewLine,
    /// Adds one when the record gets a queue and when it loses it: odd while there is one.
    pub(crate) generation: AtomicU32,
    /// Entries of the ring, a power of two.
    pub(crate) capacity: AtomicU32,
    /// Most entries of the list of a receive.
    pub(crate) max_sge: AtomicU32,
    /// Bytes of a slot: [`RecvHeader`] and `max_sge` times [`RecvSge`].
    pub(crate) slot_size: AtomicU32,
    /// Offset of the ring (`AtomicU32` slot numbers); 0 for the queue of a QP, whose slot numbers are
    /// the low bits of positions.
    pub(crate) ring: AtomicU64,
    /// Offset of the slots.
    pub(crate) slots: AtomicU64,
    /// Number of the protection domain, with which the keys of the receives are checked.
    pub(crate) pd: AtomicU32,
    /// SRQ number; 0 for the queue of a QP.
    pub(crate) srq_num: AtomicU32,
    /// Of the queue of a QP: the keys of all receives from the position in the high half on were
    /// good when they were posted, and each has room for as many bytes as the low 8 bits say, at most
    /// [`CQE_PAYLOAD`](super::CQE_PAYLOAD). The 24 bits in between count how often keys have been
    /// withdrawn.
    pub(crate) plain: AtomicU64,
    /// Offset of the completion queue of the receives; XRC SRQs.
    pub(crate) cq: AtomicU64,
    /// Number of the context whose event file gets the asynchronous events.
    pub(crate) events: AtomicU32,
    /// What the owner changes when it posts and polls.
    _posting: NewLine,
    /// Next to post, not wrapped; changed by the owner.
    pub(crate) tail: AtomicU32,
    /// Slot number of a requester that found the queue empty and wants its doorbell rung by the
    /// next post; 0: none.
    pub(crate) waiter: AtomicU32,
    /// Stack of the free slots: in the low half the number of the first plus one, 0 for none; those
    /// below it are linked by [`RecvHeader::next`]. The high half counts how often the slots have
    /// moved. Only the owner uses it.
    pub(crate) free: AtomicU64,
    /// Number of the XRC domain; XRC SRQs.
    pub(crate) xrcd: AtomicU64,
    /// Address of the `ibv_srq` in the owner's memory, which events name.
    pub(crate) user_handle: AtomicU64,
    /// Of the queue of a QP: the first whose completion has not been polled, not wrapped.
    pub(crate) freed: AtomicU32,
}

/// Begin of a receive's slot.
#[repr(C)]
pub(crate) struct RecvHeader {
    /// `ibv_recv_wr::wr_id`.
    pub(crate) wr_id: AtomicU64,
    /// Entries of the list.
    pub(crate) num_sge: AtomicU32,
    /// While the slot is free: number of the next free one plus one, 0 for none. Of an SRQ, `HELD`
    /// from when its receive is taken until it is free.
    pub(crate) next: AtomicU32,
}

/// Entry of a receive's list.
#[repr(C)]
pub(crate) struct RecvSge {
    /// First address.
    pub(crate) addr: AtomicU64,
    /// Length in bytes.
    pub(crate) length: AtomicU32,
    /// Local key.
    pub(crate) lkey: AtomicU32,
}

// abi-tests/urxe/errors.c damages this place.
const _: () = assert!(core::mem::offset_of!(QueueShared, capacity) == 68);
const _: () = assert!(size_of::<QueueShared>() == 192);
const _: () = assert!(size_of::<RecvHeader>() == 16 && size_of::<RecvSge>() == 16);

// SAFETY: nothing but atomics.
unsafe impl Shared for QueueShared {}
// SAFETY: nothing but atomics.
unsafe impl Shared for RecvHeader {}
// SAFETY: nothing but atomics.
unsafe impl Shared for RecvSge {}
