//! Short sends: the message travels in the completion, and the owner of the receive puts it where it
//! belongs.
//!
//! The lock of the peer's QP is held, as for each request that takes a receive: it alone says who
//! takes the next one. What the receive is like is known without a look at it, see
//! [`Queue::is_plain`].

use crate::sync::atomic::Ordering::{Acquire, Relaxed};
use core::slice;

use super::super::message::no_room;
use super::super::responder::Responder;
use super::Fast;
use super::keys::Owner;
use crate::abi::*;
use crate::urxe::completion::{self, Added, Entry};
use crate::urxe::pair::Qp;
use crate::urxe::queue::Queue;
use crate::urxe::shared::CQE_PAYLOAD;

/// A message, as it was posted. Its opcode and flags are good.
#[derive(Clone, Copy)]
pub(crate) struct Message<'a> {
    /// Its bytes.
    pub(crate) entry: Option<&'a ibv_sge>,
    /// They are not behind a key.
    pub(crate) inline: bool,
    /// Immediate data.
    pub(crate) imm: Option<u32>,
    pub(crate) solicited: bool,
    /// `ibv_send_wr::wr_id`.
    pub(crate) wr_id: u64,
}

impl Fast {
    /// Carries out a send, which is the next request of its QP, with the lock of the send queue held;
    /// the number of its bytes. `None` if it is one for the general way.
    #[inline(never)]
    pub(crate) fn send(&mut self, qp: &Qp, message: &Message<'_>) -> Option<u32> {
        let Fast { link, peer, near, .. } = self;
        let (this, peer) = (link.as_ref()?, peer.as_deref()?);
        let length = message.entry.map_or(0, |entry| entry.length);
        if length as usize > CQE_PAYLOAD {
            return None;
        }
        let _mark = this.own.mark.set(this.fenced);
        let _guard = this.far.lock.try_lock(qp.host.holder())?;
        let stamps = (this.own.stamp.load(Acquire), this.far.stamp.load(Acquire));
        if stamps != this.stamps {
            *link = None;
            return None;
        }
        let payload = match message.entry {
            Some(entry) if length > 0 => {
                let address = if message.inline {
                    entry.addr as usize
                } else {
                    let owner = || Some(Owner { peer: qp.host.own(), pd: qp.pd, number: 0 });
                    near.find(entry.lkey, entry.addr, length.into(), 0, owner)?.address
                };
                let bytes = core::ptr::with_exposed_provenance::<u8>(address);
                // SAFETY: memory of the program, which leaves it alone until the request is done;
                // withdrawing its key waits for the mark.
                unsafe { slice::from_raw_parts(bytes, length as usize) }
            }
            _ => &[],
        };
        let queue = Queue::at(peer.memory(), this.queue)?;
        if queue.is_torn() || queue.is_empty() || !queue.is_plain(length) {
            return None;
        }
        let entry = Entry {
            opcode: IBV_WC_RECV,
            byte_len: length,
            imm_or_key: message.imm.unwrap_or(0),
            qp_num: this.number,
            src_qp: qp.number,
            wc_flags: if message.imm.is_some() { IBV_WC_WITH_IMM } else { 0 },
            sl: this.sl,
            slid: this.lid,
            origin: queue.next_origin(),
            solicited: message.solicited,
            payload,
            wr_id_is_there: true,
            ..Entry::default()
        };
        let added = completion::receive(qp.host, peer, &queue, this.cq, &entry);
        let msn = &this.far.msn;
        msn.store(msn.load(Relaxed).wrapping_add(1), Relaxed);
        if added != Added::Done {
            let (host, shared, number) = (qp.host, this.far, this.number);
            let receive = queue.last_taken().map_or(0, |receive| receive.wr_id);
            no_room(&Responder { host, peer, shared, number }, qp, message.wr_id, receive);
        }
        Some(length)
    }
}
