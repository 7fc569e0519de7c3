//! Completion queues.

use crate::sync::atomic::{AtomicU32, AtomicU64};

use super::{Line, Lock, Shared};

/// [`CqShared::armed`]: no event is wanted.
pub(crate) const NOT_ARMED: u32 = 0;
/// [`CqShared::armed`]: an event for the next completion.
pub(crate) const ARMED_NEXT: u32 = 1;
/// [`CqShared::armed`]: an event for the next solicited or failed one.
pub(crate) const ARMED_SOLICITED: u32 = 2;

/// Bytes of a message that fit into a completion; the owner copies them on when it polls.
pub(crate) const CQE_PAYLOAD: usize = 64;

/// A completion queue: any process adds, with the lock held; the owner polls without it.
///
/// Entry `n` is valid once its [`sequence`](Cqe::sequence) is `n + 1`. Who adds stores that last,
/// then `tail`; who dies before has added nothing.
#[repr(C, align(64))]
pub(crate) struct CqShared {
    /// Held by who adds, and by the owner when it replaces the ring.
    pub(crate) lock: Lock,
    /// Adds one when the record gets a queue and when it loses it: odd while there is one.
    pub(crate) generation: AtomicU32,
    /// Entries of the ring, a power of two.
    pub(crate) capacity: AtomicU32,
    /// Offset of the ring of [`Cqe`].
    pub(crate) ring: AtomicU64,
    /// Next to add, not wrapped.
    pub(crate) tail: AtomicU64,
    /// Set when a completion found no room; the queue is in error from then on.
    pub(crate) overrun: AtomicU32,
    /// Number of the channel's file; 0 for none.
    pub(crate) channel: AtomicU32,
    /// Address of the `ibv_cq` in the owner's memory, which events name.
    pub(crate) user_handle: AtomicU64,
    /// Number of the context whose event file gets the asynchronous events.
    pub(crate) events: AtomicU32,
    /// Most completions that may wait, as the owner asked; at most `capacity`.
    pub(crate) limit: AtomicU32,
    /// `head` as those who add have seen it last: it is read again only when the ring looks full.
    pub(crate) seen_head: AtomicU64,
    /// Next to poll, not wrapped, as last published by the owner; read by who finds the ring full.
    pub(crate) head: Line<AtomicU64>,
    /// [`NOT_ARMED`], [`ARMED_NEXT`] or [`ARMED_SOLICITED`].
    pub(crate) armed: AtomicU32,
    /// Bits: [`CqShared::TIMESTAMPS`], [`CqShared::IGNORE_OVERRUN`].
    pub(crate) flags: AtomicU32,
    /// Moderation of events: completions in the low 16 bits, microseconds in the high 16; 0: none.
    pub(crate) moderation: AtomicU32,
    /// 1 while an event is being sent; who takes the lock over from the dead sends it again.
    pub(crate) sending: AtomicU32,
    /// Completions for which an event is held back.
    pub(crate) held_back: AtomicU32,
    /// Futex of the thread that watches the time of events; who holds one back, or changes what is
    /// wanted, adds one and wakes.
    pub(crate) changes: AtomicU32,
    /// CLOCK_MONOTONIC, in nanoseconds, of the first completion whose event is held back.
    pub(crate) held_back_since: AtomicU64,
}

impl CqShared {
    /// Completions carry a [`timestamp`](Cqe::timestamp).
    pub(crate) const TIMESTAMPS: u32 = 1;
    /// A completion that finds no room is dropped without an error.
    pub(crate) const IGNORE_OVERRUN: u32 = 2;
}

/// A completion.
#[repr(C, align(128))]
pub(crate) struct Cqe {
    /// `ibv_wc::wr_id`.
    pub(crate) wr_id: AtomicU64,
    /// `enum ibv_wc_status` in the low 16 bits, `enum ibv_wc_opcode` in the high 16.
    pub(crate) status_opcode: AtomicU32,
    /// `ibv_wc::vendor_err`.
    pub(crate) vendor_err: AtomicU32,
    /// `ibv_wc::byte_len`.
    pub(crate) byte_len: AtomicU32,
    /// Immediate data (network order) or invalidated key.
    pub(crate) imm_or_key: AtomicU32,
    /// QP to which it belongs.
    pub(crate) qp_num: AtomicU32,
    /// QP of the sender; UD, and XRC.
    pub(crate) src_qp: AtomicU32,
    /// `ibv_wc_flags` in the low 16 bits, SL in bits 16..24, bytes of `payload` in bits 24..32.
    pub(crate) flags: AtomicU32,
    /// P_Key index in the low 16 bits, source LID in the high 16.
    pub(crate) pkey_slid: AtomicU32,
    /// What polling gives back, see `completion::Origin`.
    pub(crate) origin: AtomicU64,
    /// Number of the entry plus one.
    pub(crate) sequence: AtomicU64,
    /// A short message; behind 40 bytes of GRH that are not stored, for UD. Its first word is on
    /// the first cache line, which is all that travels for a message of 8 bytes.
    pub(crate) payload: [AtomicU64; CQE_PAYLOAD / 8],
    /// CLOCK_MONOTONIC of the completion in nanoseconds; 0 if the queue has no timestamps.
    pub(crate) timestamp: AtomicU64,
}

const _: () = assert!(size_of::<CqShared>() == 192);
const _: () = assert!(size_of::<Cqe>() == 128);
const _: () = assert!(core::mem::offset_of!(Cqe, payload) == 64 - 8);

// SAFETY: nothing but atomics.
unsafe impl Shared for CqShared {}
// SAFETY: nothing but atomics.
unsafe impl Shared for Cqe {}
