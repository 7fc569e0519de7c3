//! Messages to the receives of a QP.
//!
//! A short one travels in the completion, and the owner of the receive puts it where it belongs: what
//! the receive is like is then known without a look at it, see [`Queue::is_plain`]. Longer ones are
//! moved into the memory of the receive.
//!
//! The lock of the peer's QP is held, as for each request that takes a receive: it alone says who
//! takes the next one, and who withdraws a key of the peer waits for it. That of an SRQ is held as
//! well.

use crate::sync::atomic::Ordering::Relaxed;
use core::ptr;
use core::slice;

use super::super::PATIENCE;
use super::super::bytes::List;
use super::super::message::no_room;
use super::super::responder::Responder;
use super::bytes::move_lists;
use super::keys::{Keys, Kind, Owner};
use super::{Fast, Link, near_pieces};
use crate::abi::*;
use crate::urxe::completion::quick::Success;
use crate::urxe::completion::{self, Added, Entry};
use crate::urxe::device::events;
use crate::urxe::host::Peer;
use crate::urxe::limits::MAX_MESSAGE;
use crate::urxe::origin::Origin;
use crate::urxe::pair::Qp;
use crate::urxe::queue::{Queue, Receive};
use crate::urxe::shared::CQE_PAYLOAD;

/// A message, as it was posted. Its opcode and flags are good, and its list has no more entries than
/// the QP takes.
#[derive(Clone, Copy)]
pub(crate) struct Message<'a> {
    /// Its bytes.
    pub(crate) list: &'a [ibv_sge],
    /// They are not behind keys.
    pub(crate) inline: bool,
    /// Immediate data.
    pub(crate) imm: Option<u32>,
    pub(crate) solicited: bool,
    /// `ibv_send_wr::wr_id`.
    pub(crate) wr_id: u64,
}

/// What precedes the bytes of a message in its receive.
pub(super) struct Front<'a> {
    /// Bytes that are written.
    pub(super) header: &'a [u8],
    /// Bytes that stay as they are.
    pub(super) room: usize,
    /// Service level of the packets.
    pub(super) sl: u8,
    /// `ibv_wc::wc_flags` that tell of it.
    pub(super) flags: ibv_wc_flags,
}

impl Message<'_> {
    /// Bytes in all.
    pub(super) fn length(&self) -> u64 {
        self.list.iter().map(|entry| u64::from(entry.length)).sum()
    }

    /// The completion of the receive, without what is known of that.
    #[inline(always)]
    fn entry<'a>(&self, qp: &Qp, this: &Link, byte_len: u32) -> Entry<'a> {
        Entry {
            opcode: IBV_WC_RECV,
            byte_len,
            imm_or_key: self.imm.unwrap_or(0),
            qp_num: this.number,
            src_qp: qp.number,
            wc_flags: if self.imm.is_some() { IBV_WC_WITH_IMM } else { 0 },
            sl: this.sl,
            slid: this.lid,
            solicited: self.solicited,
            ..Entry::default()
        }
    }
}

impl Fast {
    /// Carries out a send, which is the next request of its QP, with the lock of the send queue held;
    /// the number of its bytes. `None` if it is one for the general way.
    #[inline(never)]
    pub(crate) fn send(&mut self, qp: &Qp, message: &Message<'_>) -> Option<u32> {
        let (entry, length) = match message.list {
            [entry] if entry.length as usize <= CQE_PAYLOAD => (Some(entry), entry.length),
            [] => (None, 0),
            _ => return self.send_long(qp, message, None),
        };
        let Fast { link, near, .. } = self;
        let this = link.as_ref()?;
        if !this.in_order {
            return self.send_long(qp, message, None);
        }
        let _mark = this.own.mark.set(this.fenced);
        let _guard = this.far.lock.try_lock(qp.host.holder())?;
        if !this.is_current() {
            *link = None;
            return None;
        }
        let payload = match entry {
            Some(entry) if length > 0 => {
                let address = if message.inline {
                    entry.addr as usize
                } else {
                    let owner = || Some(Owner { peer: qp.host.own(), pd: qp.pd, number: 0 });
                    near.find(entry.lkey, entry.addr, length.into(), 0, owner)?.address
                };
                let bytes = ptr::with_exposed_provenance::<u8>(address);
                // SAFETY: memory of the program, which leaves it alone until the request is done;
                // withdrawing its key waits for the mark.
                unsafe { slice::from_raw_parts(bytes, length as usize) }
            }
            _ => &[],
        };
        let queue = this.receive_queue?;
        if queue.is_torn() || queue.is_empty() || !queue.is_plain(length) {
            return None;
        }
        let origin = queue.next_origin();
        if let Some(place) = this.completions.and_then(|cq| cq.place(qp.host, message.solicited)) {
            queue.begin_taking_in_order(this.cq_name, place.number);
            let success = Success {
                wr_id: None,
                opcode: IBV_WC_RECV,
                byte_len: length,
                imm: message.imm,
                qp_num: this.number,
                src_qp: qp.number,
                sl: this.sl,
                slid: this.lid,
                origin,
            };
            place.add(success, payload);
            queue.taken();
            this.count_message();
            return Some(length);
        }
        self.send_by_entry(qp, message, length, payload)
    }

    /// Carries out a short send whose completion is not added just so, with the locks held.
    #[cold]
    #[inline(never)]
    fn send_by_entry(
        &mut self,
        qp: &Qp,
        message: &Message<'_>,
        length: u32,
        payload: &[u8],
    ) -> Option<u32> {
        let Fast { link, peer, .. } = self;
        let (this, peer) = (link.as_mut()?, peer.as_deref()?);
        let queue = this.receive_queue?;
        let mut entry = message.entry(qp, this, length);
        (entry.origin, entry.payload) = (queue.next_origin(), payload);
        entry.wr_id_is_there = true;
        this.complete(qp, peer, &queue, message, &entry)?;
        this.look_at_completions(peer);
        Some(length)
    }

    /// As [`send`](Self::send), for a message of any length to any receive; `front` of datagrams.
    #[inline(never)]
    pub(super) fn send_long(
        &mut self,
        qp: &Qp,
        message: &Message<'_>,
        front: Option<Front<'_>>,
    ) -> Option<u32> {
        let Fast { link, peer, near, receives, .. } = self;
        let (this, peer) = (link.as_ref()?, peer.as_deref()?);
        let host = qp.host;
        let _mark = this.own.mark.set(this.fenced);
        let _guard = this.far.lock.try_lock(host.holder())?;
        if !this.is_current() {
            *link = None;
            return None;
        }
        let (mut pieces, mut bytes) = (List::new(), 0);
        if let Some(front) = &front {
            bytes = front.header.len() as u64;
            pieces.add(front.header.as_ptr().cast_mut().cast(), front.header.len()).ok()?;
        }
        let length = near_pieces(near, qp, message.list, message.inline, 0, &mut pieces)?;
        if length > MAX_MESSAGE {
            return None;
        }
        bytes += length;
        let queue = Queue::at(peer.memory(), this.queue)?;
        let is_shared = queue.shared.srq_num.load(Relaxed) != 0;
        let locked = is_shared.then(|| queue.shared.lock.try_lock(host.holder()));
        if matches!(locked, Some(None)) {
            return None;
        }
        if queue.is_torn() {
            return None;
        }
        let receive = queue.first()?;
        let room = front.as_ref().map_or(0, |front| front.room);
        let mut there = List::new();
        let owner = Owner { peer, pd: this.pd, number: 0 };
        let kind = receive_pieces(receives, owner, &receive, room, bytes, &mut there)?;
        let (mut short, mut payload) = ([0; CQE_PAYLOAD], None);
        if kind == Kind::There && front.is_none() {
            // Saves the system call. A completion has no room for a header.
            payload = pieces.gather(&mut short);
        }
        if payload.is_none() {
            move_lists(peer, false, &mut pieces, &mut there, kind, bytes as usize)?;
        }
        let mut entry = message.entry(qp, this, length as u32);
        entry.wr_id = receive.wr_id;
        entry.origin = Origin::receive(queue.offset, queue.generation(), receive.slot);
        entry.payload = payload.unwrap_or_default();
        if let Some(front) = &front {
            entry.byte_len += (front.header.len() + front.room) as u32;
            entry.wc_flags |= front.flags;
            entry.sl = front.sl;
        }
        this.complete(qp, peer, &queue, message, &entry)?;
        if !this.in_order && queue.passed_limit() {
            let handle = queue.shared.user_handle.load(Relaxed);
            let number = queue.shared.events.load(Relaxed);
            events::send(peer, number, IBV_EVENT_SRQ_LIMIT_REACHED, handle);
        }
        queue.fetch_next();
        Some(length as u32)
    }
}

impl Link {
    /// Counts a message that the peer has got.
    #[inline(always)]
    fn count_message(&self) {
        let msn = &self.far.msn;
        msn.store(msn.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// Looks where the completion queue is, if that is not known.
    pub(super) fn look_at_completions(&mut self, peer: &Peer) {
        if self.completions.is_none_or(|cq| !cq.is_current()) {
            let peer: *const Peer = peer;
            // SAFETY: the peer is kept as long as the link.
            self.completions = completion::quick::Known::of(unsafe { &*peer }, self.cq);
        }
    }

    /// Takes the receive out of the queue and adds its completion; `None` if somebody keeps the
    /// completion queue: nothing has happened then.
    #[inline(never)]
    fn complete(
        &self,
        qp: &Qp,
        peer: &Peer,
        queue: &Queue<'_>,
        message: &Message<'_>,
        entry: &Entry<'_>,
    ) -> Option<()> {
        let added = completion::receive(qp.host, peer, queue, self.cq, entry, PATIENCE);
        if added == Added::Busy {
            return None;
        }
        self.count_message();
        if added != Added::Done {
            let (host, shared, number) = (qp.host, self.far, self.number);
            let receive = queue.last_taken().map_or(0, |receive| receive.wr_id);
            no_room(&Responder { host, peer, shared, number }, qp, message.wr_id, receive);
        }
        Some(())
    }
}

/// Adds the memory of a receive, behind its first `skip` bytes, to pieces, and tells where they are;
/// all are of one kind. `None` if there is no room for so many bytes.
fn receive_pieces(
    keys: &mut Keys,
    owner: Owner<'_>,
    receive: &Receive<'_>,
    mut skip: usize,
    mut left: u64,
    pieces: &mut List,
) -> Option<Kind> {
    let mut kind = None;
    for entry in receive.list {
        let size = entry.length.load(Relaxed) as usize;
        let begin = skip.min(size);
        skip -= begin;
        let part = ((size - begin) as u64).min(left);
        if part == 0 {
            continue;
        }
        let address = entry.addr.load(Relaxed).wrapping_add(begin as u64);
        let key = entry.lkey.load(Relaxed);
        let place = keys.find(key, address, part, IBV_ACCESS_LOCAL_WRITE, || Some(owner))?;
        if kind.is_some_and(|kind| kind != place.kind) {
            return None;
        }
        kind = Some(place.kind);
        pieces.push(place.address, part as usize)?;
        left -= part;
    }
    (left == 0).then(|| kind.unwrap_or_default())
}
