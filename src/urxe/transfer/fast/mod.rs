//! Requests on a connection that was found in order before: what the general way finds out
//! anew for each request is remembered, with numbers that tell whether it still holds.
//!
//! * [`Fast`]: the connection; the [stamps](QpShared::stamp) of both QPs tell that nothing about it
//!   has changed;
//! * [`keys`]: the keys that were used last, with the sequence numbers of their entries;
//! * [`bytes`]: moving the bytes;
//! * [`send`]: messages on connections;
//! * [`datagram`]: messages of UD;
//! * [`several`]: several requests by one system call.
//!
//! Reads and writes take no lock. The [mark](QpShared::mark) of the own QP is set meanwhile, and who changes a QP
//! or withdraws a key waits for it. Whatever is out of the ordinary, errors above all, is left to the
//! general way, which then finds everything as if nothing had been tried.

mod bytes;
mod datagram;
mod keys;
mod send;
mod several;

use core::mem;
use std::sync::Arc;

use super::bytes::List;
use super::responder::{Responder, connected};
use super::{PATIENCE, Route};
use crate::abi::*;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use crate::sync::atomic::fence;
use crate::urxe::completion::quick;
use crate::urxe::host::{Peer, ticks};
use crate::urxe::limits::MAX_MESSAGE;
use crate::urxe::pair::Qp;
use crate::urxe::queue::Queue;
use crate::urxe::shared::{DeviceShared, QpShared};
pub(crate) use datagram::Destination;
pub(crate) use send::Message;

use bytes::{Piece, move_here, move_lists, move_there};
use keys::{Keys, Kind, Owner};

/// Requests that go the general way after the connection was not found in order.
const REST: u32 = 8;
/// How often it is looked whether the peer still lives, in [ticks]: every few milliseconds.
const LOOK: u64 = 1 << 22;

/// A read or a write, as it was posted. Its opcode and flags are good, and its list has no more
/// entries than the QP takes.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    /// Bytes of the peer are read, and not written.
    pub(crate) reads: bool,
    /// First address at the peer.
    pub(crate) address: u64,
    pub(crate) rkey: u32,
    /// The bytes here.
    pub(crate) list: &'a [ibv_sge],
    /// They are not behind keys.
    pub(crate) inline: bool,
}

/// What a QP remembers of its connection.
#[derive(Default)]
pub(crate) struct Fast {
    link: Option<Link>,
    /// Keeps the memory of `link` mapped, and that of the keys.
    peer: Option<Arc<Peer>>,
    near: Keys,
    far: Keys,
    /// Those of receives.
    receives: Keys,
    /// Requests that go the general way before the connection is looked at again.
    rest: u32,
    /// The last request was for ordinary memory of another process.
    several: bool,
}

/// A connection in order.
#[derive(Clone, Copy)]
struct Link {
    own: &'static QpShared,
    /// Lives as long as `Fast::peer`.
    far: &'static QpShared,
    /// Stamps of both QPs.
    stamps: (u32, u32),
    /// What the peer lets its QP be used for; without reads if there is no room for any.
    access: u32,
    /// Number of the PD, and of the QP, of the peer.
    pd: u32,
    number: u32,
    /// Offsets of its receive queue, and of the CQ of that.
    queue: u64,
    cq: u64,
    /// The receive queue is its own, and not shared by several.
    in_order: bool,
    /// Its receive queue and the CQ of that once more, which live as long as `Fast::peer`.
    receive_queue: Option<Queue<'static>>,
    completions: Option<quick::Known<'static>>,
    /// [Name](Queue::name_of_cq) of that CQ.
    cq_name: u64,
    /// Its device.
    device: &'static DeviceShared,
    /// Service level and own LID, of which its completions tell.
    sl: u8,
    lid: u16,
    /// The mark is set by a full fence.
    fenced: bool,
    /// When the peer was alive.
    looked: u64,
}

impl Link {
    /// Whether both QPs are as they were when the link was made. That stays so while the mark of the
    /// own one is set, which must have been set before.
    #[inline(always)]
    fn is_current(&self) -> bool {
        (self.own.stamp.load(Acquire), self.far.stamp.load(Acquire)) == self.stamps
    }
}

impl Fast {
    /// Whether the connection is in order and the peer alive, as far as is known without looking
    /// again: before the first of several requests. Of datagrams each may have another destination,
    /// so their peer is looked at with them.
    #[inline(always)]
    pub(crate) fn is_ready(&mut self, qp: &Qp, attr: &ibv_qp_attr, route: &mut Route) -> bool {
        let now = ticks();
        match &self.link {
            Some(link) if now.wrapping_sub(link.looked) <= LOOK => true,
            _ => self.look(qp, attr, route, now),
        }
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self, qp: &Qp, attr: &ibv_qp_attr, route: &mut Route, now: u64) -> bool {
        if let Some(link) = &mut self.link {
            if self.peer.as_ref().is_some_and(|peer| peer.is_alive()) {
                link.looked = now;
                return true;
            }
            // What the process has left is not kept open.
            *self = Fast { near: mem::take(&mut self.near), ..Fast::default() };
        }
        qp.kind == IBV_QPT_UD || self.try_connect(qp, attr, route, attr.dest_qp_num)
    }

    /// Looks whether the connection with a QP is in order, if that was not found out just now.
    fn try_connect(&mut self, qp: &Qp, attr: &ibv_qp_attr, route: &mut Route, number: u32) -> bool {
        if self.rest > 0 {
            self.rest -= 1;
            return false;
        }
        self.link = self.connect(qp, attr, route, number);
        if self.link.is_none() {
            self.rest = REST;
        }
        self.link.is_some()
    }

    /// Carries out a request, which is the next one of its QP, with the lock of the send queue held;
    /// the number of its bytes. `None` if it is one for the general way.
    #[inline(always)]
    pub(crate) fn run(&mut self, qp: &Qp, job: &Job<'_>) -> Option<u32> {
        let Fast { link, peer, near, far, .. } = self;
        let this = link.as_ref()?;
        let _mark = this.own.mark.set(this.fenced);
        if !this.is_current() {
            *link = None;
            return None;
        }
        let right = if job.reads { IBV_ACCESS_REMOTE_READ } else { IBV_ACCESS_REMOTE_WRITE };
        if this.access & right == 0 {
            return None;
        }
        let [entry] = job.list else { return self.run_list(qp, job, right) };
        let length = entry.length;
        if length == 0 {
            return Some(0);
        }
        let near = near_piece(near, qp, job, entry)?;
        let place = far_place(far, peer, this, job, right, length.into())?;
        if place.kind == Kind::There {
            move_there(peer.as_deref()?, job.reads, near, place.address)?;
            self.several = true;
            return Some(length);
        }
        move_here(job.reads, near, place.address);
        Some(length)
    }

    /// As [`run`](Self::run), for none or several entries.
    #[cold]
    #[inline(never)]
    fn run_list(&mut self, qp: &Qp, job: &Job<'_>, right: u32) -> Option<u32> {
        let Fast { link, peer, near, far, .. } = self;
        let access = if job.reads { IBV_ACCESS_LOCAL_WRITE } else { 0 };
        let mut pieces = List::new();
        let length = near_pieces(near, qp, job.list, job.inline, access, &mut pieces)?;
        if length == 0 {
            return Some(0);
        }
        let place = far_place(far, peer, link.as_ref()?, job, right, length)?;
        let mut there = List::new();
        there.push(place.address, length as usize)?;
        let peer = peer.as_deref()?;
        move_lists(peer, job.reads, &mut pieces, &mut there, place.kind, length as usize)?;
        Some(length as u32)
    }

    /// Looks whether the connection with a QP is in order.
    fn connect(
        &mut self,
        qp: &Qp,
        attr: &ibv_qp_attr,
        route: &mut Route,
        number: u32,
    ) -> Option<Link> {
        let host = qp.host;
        let own: &'static QpShared = host.memory().at(qp.record)?;
        // Before all that is looked at.
        let own_stamp = own.stamp.load(Acquire);
        let is_connected = matches!(qp.kind, IBV_QPT_RC | IBV_QPT_UC);
        let is_known = is_connected || qp.kind == IBV_QPT_UD;
        if !is_known || own.state.load(Acquire) != IBV_QPS_RTS || own.counted.load(Relaxed) != 0 {
            return None;
        }
        let peer = Arc::clone(route.peer(host, number)?);
        let (responder, _guard) = if is_connected {
            connected(host, qp, attr, &peer, PATIENCE).ok()?
        } else {
            let responder = Responder::find(host, &peer, number).ok()?;
            (responder, responder.lock(IBV_QPT_UD, PATIENCE).ok()?)
        };
        let device: *const DeviceShared = responder.device()?;
        let far: *const QpShared = responder.shared;
        // SAFETY: the peer, which is kept as long as the link, keeps its memory mapped.
        let (far, device) = unsafe { (&*far, &*device) };
        let far: &'static QpShared = far;
        if far.counted.load(Relaxed) != 0 {
            return None;
        }
        let mut access = 0;
        if is_connected {
            // Whoever does not know us cannot wait for us.
            if far.peer_epoch.load(Relaxed) != host.epoch() {
                return None;
            }
            access = far.access.load(Relaxed);
            let is_deep = attr.max_rd_atomic > 0 && far.reads.load(Relaxed) > 0;
            if !is_deep || qp.kind != IBV_QPT_RC {
                access &= !IBV_ACCESS_REMOTE_READ;
            }
            // Seen by who changes something before this thread sees that it has not been changed.
            far.flags.fetch_or(QpShared::PEER_MARKS, SeqCst);
        }
        own.flags.fetch_or(QpShared::MARKS, SeqCst);
        fence(SeqCst);
        let own_device = host.header().ok()?.devices.get(qp.device as usize);
        let cq = far.recv_cq.load(Relaxed);
        let kept: *const Peer = Arc::as_ptr(&peer);
        // SAFETY: the peer is kept as long as the link.
        let kept: &'static Peer = unsafe { &*kept };
        let queue = Queue::at(kept.memory(), far.queue.load(Relaxed));
        let link = Link {
            own,
            far,
            stamps: (own_stamp, far.stamp.load(Acquire)),
            access,
            pd: far.pd.load(Relaxed),
            number,
            queue: queue.as_ref().map_or(0, |queue| queue.offset),
            cq,
            in_order: queue.as_ref().is_some_and(Queue::is_in_order),
            receive_queue: queue,
            completions: quick::Known::of(kept, cq),
            cq_name: Queue::name_of_cq(cq),
            device,
            sl: attr.ah_attr.sl,
            lid: own_device.map_or(0, |device| device.lid.load(Relaxed) as u16),
            fenced: !host.has_barriers_with(&peer),
            looked: ticks(),
        };
        (self.far, self.receives) = (Keys::default(), Keys::default());
        self.peer = Some(Arc::clone(&peer));
        Some(link)
    }
}

/// The memory of an entry of the list.
#[inline(always)]
fn near_piece(keys: &mut Keys, qp: &Qp, job: &Job<'_>, entry: &ibv_sge) -> Option<Piece> {
    let length = entry.length as usize;
    if job.inline {
        return Some(Piece { address: entry.addr as usize, length });
    }
    let access = if job.reads { IBV_ACCESS_LOCAL_WRITE } else { 0 };
    let owner = || Some(Owner { peer: qp.host.own(), pd: qp.pd, number: 0 });
    let place = keys.find(entry.lkey, entry.addr, length as u64, access, owner)?;
    Some(Piece { address: place.address, length })
}

/// Adds the memory of all entries of a list to pieces; the number of bytes.
fn near_pieces(
    keys: &mut Keys,
    qp: &Qp,
    list: &[ibv_sge],
    inline: bool,
    access: u32,
    pieces: &mut List,
) -> Option<u64> {
    let mut length = 0;
    for entry in list.iter().filter(|entry| entry.length > 0) {
        let bytes = entry.length as usize;
        let mut address = entry.addr as usize;
        if !inline {
            let owner = || Some(Owner { peer: qp.host.own(), pd: qp.pd, number: 0 });
            address = keys.find(entry.lkey, entry.addr, bytes as u64, access, owner)?.address;
        }
        pieces.push(address, bytes)?;
        length += bytes as u64;
    }
    Some(length)
}

/// The memory of the peer.
#[inline(always)]
fn far_place(
    keys: &mut Keys,
    peer: &Option<Arc<Peer>>,
    link: &Link,
    job: &Job<'_>,
    right: u32,
    length: u64,
) -> Option<Place> {
    if length > MAX_MESSAGE {
        return None;
    }
    let owner = || Some(Owner { peer: peer.as_deref()?, pd: link.pd, number: link.number });
    keys.find(job.rkey, job.address, length, right, owner)
}

/// A place behind a key that is in order.
#[derive(Clone, Copy)]
struct Place {
    /// In this process, or of ordinary memory of the peer there.
    address: usize,
    kind: Kind,
}
