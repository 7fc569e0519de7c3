//! Adding the completion of a success where nothing else is to be done: no event is due, there is
//! room, and nobody else is about it. [`add`](super::add::add()) does what is not for here.

use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::entry::{LENGTH_SHIFT, WR_ID_IS_THERE, store_payload};
use super::ring::Ring;
use crate::abi::*;
use crate::urxe::host::Host;
use crate::urxe::origin::Origin;
use crate::urxe::shared::{ARMED_SOLICITED, CqShared, Cqe, Guard, NOT_ARMED};

/// A place in a queue, with the lock of the queue, until it is [added](Place::add).
pub(crate) struct Place<'a> {
    shared: &'a CqShared,
    cqe: &'a Cqe,
    /// The number of the completion.
    pub(crate) number: u64,
    _guard: Guard<'a>,
}

/// What a completion tells of a success.
#[derive(Clone, Copy)]
pub(crate) struct Success {
    /// `ibv_wc::wr_id`; `None` if it is that of the receive.
    pub(crate) wr_id: Option<u64>,
    pub(crate) opcode: ibv_wc_opcode,
    pub(crate) byte_len: u32,
    pub(crate) imm: Option<u32>,
    pub(crate) qp_num: u32,
    pub(crate) src_qp: u32,
    pub(crate) sl: u8,
    pub(crate) slid: u16,
    pub(crate) origin: Origin,
}

impl<'a> Ring<'a> {
    /// The next place, if all that there is to do is to fill it.
    #[inline(always)]
    pub(super) fn place(&self, me: &Host, solicited: bool) -> Option<Place<'a>> {
        let shared = self.shared;
        let guard = shared.lock.try_lock(me.holder())?;
        let armed = shared.armed.load(Relaxed);
        let tail = shared.tail.load(Relaxed);
        let limit = u64::from(shared.limit.load(Relaxed)).min(self.length());
        let is_plain = (armed == NOT_ARMED || armed == ARMED_SOLICITED && !solicited)
            && shared.flags.load(Relaxed) == 0
            && shared.overrun.load(Relaxed) == 0
            && tail.wrapping_sub(shared.seen_head.load(Relaxed)) < limit;
        is_plain.then(|| Place { shared, cqe: self.entry(tail), number: tail, _guard: guard })
    }
}

/// The queue of a process, for one that adds to it again and again.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    place: u64,
    ring: Ring<'a>,
}

impl<'a> Known<'a> {
    /// The queue at this offset in the slot of a process; `None` if there is none.
    pub(crate) fn of(peer: &'a crate::urxe::host::Peer, cq: u64) -> Option<Known<'a>> {
        let shared = peer.memory().at::<CqShared>(cq)?;
        let place = shared.ring.load(Relaxed);
        Some(Known { place, ring: super::add::ring_of(peer, shared)? })
    }

    /// The next place, if all that there is to do is to fill it. The queue must still exist.
    #[inline(always)]
    pub(crate) fn place(&self, me: &Host, solicited: bool) -> Option<Place<'a>> {
        self.ring.place(me, solicited).filter(|_| self.is_current())
    }

    /// Whether the ring is where it was. With the lock held it stays there.
    #[inline(always)]
    pub(crate) fn is_current(&self) -> bool {
        let shared = self.ring.shared;
        shared.ring.load(Relaxed) == self.place
            && u64::from(shared.capacity.load(Relaxed)) == self.ring.length()
            && shared.generation.load(Acquire) & 1 != 0
    }
}

impl Place<'_> {
    /// Adds a completion, with a short message.
    #[inline(always)]
    pub(crate) fn add(self, success: Success, payload: &[u8]) {
        let Place { shared, cqe, number, .. } = &self;
        let Success { wr_id, opcode, byte_len, imm, qp_num, src_qp, sl, slid, origin } = success;
        let mut flags = u32::from(sl) << 16 | (payload.len() as u32) << LENGTH_SHIFT;
        flags |= if imm.is_some() { IBV_WC_WITH_IMM } else { 0 };
        flags |= if wr_id.is_none() { WR_ID_IS_THERE } else { 0 };
        cqe.wr_id.store(wr_id.unwrap_or(0), Relaxed);
        cqe.status_opcode.store(IBV_WC_SUCCESS | opcode << 16, Relaxed);
        cqe.vendor_err.store(0, Relaxed);
        cqe.byte_len.store(byte_len, Relaxed);
        cqe.imm_or_key.store(imm.unwrap_or(0), Relaxed);
        cqe.qp_num.store(qp_num, Relaxed);
        cqe.src_qp.store(src_qp, Relaxed);
        cqe.flags.store(flags, Relaxed);
        cqe.pkey_slid.store(u32::from(slid) << 16, Relaxed);
        cqe.origin.store(origin.0, Relaxed);
        store_payload(cqe, payload);
        cqe.sequence.store(number.wrapping_add(1), Release);
        shared.tail.store(number.wrapping_add(1), Release);
    }
}
