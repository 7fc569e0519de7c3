//! The responder's half of a queue pair.

use crate::sync::atomic::Ordering::{Release, SeqCst};
use crate::sync::atomic::{AtomicU32, AtomicU64};

use super::{Lock, Mark, NewLine, Shared};
use crate::abi::IBV_QPS_RESET;

/// What a requester needs of the QP that it sends to. Records of this kind stay of this kind.
///
/// With the lock held, and `generation` as it was when the requester looked the QP up, the receive
/// queue and the completion queue that are named here exist.
///
/// A requester that has found all in order once need not take the lock for reads and writes: as long
/// as `stamp` is what it was then, nothing has changed. It sets the `mark` of its own QP before it
/// looks, and who changes something waits for the mark of the peer; see `host::marks`.
#[repr(C, align(64))]
pub(crate) struct QpShared {
    /// Held during each request, and by the owner when it changes the QP.
    pub(crate) lock: Lock,
    /// Inbound messages that were completed, modulo 2^24.
    pub(crate) msn: AtomicU32,
    /// Bits: [`QpShared::COMMUNICATION_SEEN`], [`QpShared::PEER_MARKS`], [`QpShared::MARKS`].
    pub(crate) flags: AtomicU32,
    /// What changes seldom, and both sides read for each request.
    _settings: NewLine,
    /// Adds one when the record gets a QP and when it loses it: odd while there is one.
    pub(crate) generation: AtomicU32,
    /// `enum ibv_qp_state`.
    pub(crate) state: AtomicU32,
    /// Its number.
    pub(crate) qp_num: AtomicU32,
    /// `enum ibv_qp_type`.
    pub(crate) qp_type: AtomicU32,
    /// QP it is connected to; connected types, from RTR on.
    pub(crate) dest_qp_num: AtomicU32,
    /// `ibv_access_flags` of the QP: what peers may do.
    pub(crate) access: AtomicU32,
    /// Number of the protection domain.
    pub(crate) pd: AtomicU32,
    /// Adds one with each change of what peers go by, with the lock held.
    pub(crate) stamp: AtomicU32,
    /// Offset of the receive queue ([`QueueShared`](super::QueueShared)), its own or an SRQ; 0 for
    /// none.
    pub(crate) queue: AtomicU64,
    /// Offset of the completion queue of receives ([`CqShared`](super::CqShared)).
    pub(crate) recv_cq: AtomicU64,
    /// [Epoch](super::Header::epoch) of the process that it is connected to: another process with
    /// the same QP number is a stranger. 0 if it is not known.
    pub(crate) peer_epoch: AtomicU64,
    /// Number of the device in the header, and its port.
    pub(crate) device: AtomicU32,
    /// What is counted: bits of `ibv_qp_attach_comp_cntr_op`, each with its place in `counters`.
    pub(crate) counted: AtomicU32,
    /// Address of the `ibv_qp` in the owner's memory, which events name.
    pub(crate) user_handle: AtomicU64,
    /// Number of the XRC domain; XRC_RECV.
    pub(crate) xrcd: AtomicU64,
    /// `enum ibv_mtu`.
    pub(crate) path_mtu: AtomicU32,
    /// RNR NAK timer as coded in `ibv_qp_attr`: what a requester without a receive waits.
    pub(crate) min_rnr_timer: AtomicU32,
    /// Number of the context whose event file gets the asynchronous events.
    pub(crate) events: AtomicU32,
    /// Reads and atomics that it has room for at once (`max_dest_rd_atomic`).
    pub(crate) reads: AtomicU32,
    /// Offsets of the counters ([`CounterShared`](super::CounterShared)), by the number of the bit.
    pub(crate) counters: [AtomicU64; COUNTED],
    /// Q_Key; UD.
    pub(crate) qkey: AtomicU32,
    /// What the owner changes for each request of its own.
    _requesting: NewLine,
    /// Set while a request of this QP goes by stamps and keys alone.
    pub(crate) mark: Mark,
}

/// Kinds of operations that can be counted.
pub(crate) const COUNTED: usize = 6;

impl QpShared {
    /// The first request has come (event `COMM_EST` is sent once).
    pub(crate) const COMMUNICATION_SEEN: u32 = 1;
    /// The peer sets its mark, and not the lock, while it reads and writes.
    pub(crate) const PEER_MARKS: u32 = 2;
    /// The owner does.
    pub(crate) const MARKS: u32 = 4;

    /// Makes the record that of a QP, all that is in it being as it should: peers find it from now on.
    /// `generation` is odd.
    pub(crate) fn begin(&self, generation: u32) {
        self.change();
        self.generation.store(generation, Release);
    }

    /// Takes the QP of this generation away, with the lock held.
    pub(crate) fn end(&self, generation: u32) {
        // Even: whoever comes now finds nothing.
        self.generation.store(generation.wrapping_add(1), SeqCst);
        self.state.store(IBV_QPS_RESET, SeqCst);
        self.queue.store(0, SeqCst);
        self.recv_cq.store(0, SeqCst);
        self.counted.store(0, SeqCst);
    }

    /// Notes that something is not as it was, with the lock held: requesters look again.
    pub(crate) fn change(&self) {
        self.stamp.fetch_add(1, SeqCst);
    }
}

// abi-tests/urxe/errors.c damages these places.
const _: () = assert!(core::mem::offset_of!(QpShared, lock) == 0);
const _: () = assert!(core::mem::offset_of!(QpShared, queue) == 96);
const _: () = assert!(core::mem::offset_of!(QpShared, mark) == 256);
const _: () = assert!(size_of::<QpShared>() == 320);

// SAFETY: nothing but atomics.
unsafe impl Shared for QpShared {}
