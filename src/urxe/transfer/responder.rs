//! The QP at the other end: finding it, its lock, and its fate after an error.

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::Arc;

use super::Operation;
use super::stop::{Reason, Stop};
use crate::abi::*;
use crate::urxe::completion::counter;
use crate::urxe::explain;
use crate::urxe::host::{Host, Peer, Table};
use crate::urxe::pair::{Qp, enter_error, error};
use crate::urxe::queue::Queue;
use crate::urxe::shared::{DeviceShared, Guard, Header, QPS, QpShared, TakenOver};

/// The QP of a peer.
#[derive(Clone, Copy)]
pub(crate) struct Responder<'a> {
    pub(super) host: &'a Host,
    pub(super) peer: &'a Peer,
    pub(super) shared: &'a QpShared,
    pub(super) number: u32,
}

/// A QP that requests come to, with its lock held.
pub(super) struct Connection<'a> {
    pub(super) responder: Responder<'a>,
    /// The process whose memory it is about: that of the QP, or of the SRQ for XRC.
    pub(super) site: &'a Peer,
    /// Number of the protection domain of that memory.
    pub(super) pd: u32,
    /// The receive queue.
    pub(super) queue: Option<Queue<'a>>,
    /// Offset of the completion queue of receives, in the slot of `site`.
    pub(super) cq: u64,
    /// Whether errors are answered, and end the connection.
    pub(super) reliable: bool,
    /// An SRQ that came with the request; its lock is held.
    pub(super) is_xrc: bool,
}

/// The process that has a QP or an SRQ, by its number.
fn peer_of(host: &Host, number: u32) -> Result<Arc<Peer>, Stop> {
    host.peer(number / QPS).map_err(|_| Stop::Silence)
}

impl<'a> Responder<'a> {
    /// The QP with this number in the process that has it.
    pub(super) fn find(host: &'a Host, peer: &'a Peer, number: u32) -> Result<Self, Stop> {
        let offset = Table::Qp.find(peer.memory(), number).ok_or(Stop::Silence)?;
        let shared = peer.memory().at::<QpShared>(offset).ok_or(Stop::Silence)?;
        Ok(Responder { host, peer, shared, number })
    }

    /// Takes the lock, and makes sure that the QP is of this type and can receive. The lock of a
    /// process that died in the middle of a request leaves an unknown part of it undone: the QP
    /// fails.
    pub(super) fn lock(&self, kind: ibv_qp_type, patience: u64) -> Result<Guard<'a>, Stop> {
        let locked = self.host.lock(&self.shared.lock, patience);
        let (guard, taken_over) = locked.map_err(|_| Stop::Busy)?;
        let shared = self.shared;
        if shared.generation.load(Acquire) & 1 == 0
            || shared.qp_num.load(Relaxed) != self.number
            || shared.qp_type.load(Relaxed) != kind
        {
            return Err(Stop::Silence);
        }
        if taken_over == TakenOver::FromTheDead {
            explain!("urxe: QP {:#x}: a peer died in the middle of a request", self.number);
            self.fail(Some(IBV_EVENT_QP_FATAL));
        }
        match shared.state.load(Acquire) {
            IBV_QPS_RTR => {
                self.communication_is_established();
                Ok(guard)
            }
            IBV_QPS_RTS | IBV_QPS_SQD | IBV_QPS_SQE => Ok(guard),
            _ => Err(Stop::Silence),
        }
    }

    /// Tells the owner once that the first request has come, in RTR.
    fn communication_is_established(&self) {
        let flags = &self.shared.flags;
        if flags.load(Relaxed) & QpShared::COMMUNICATION_SEEN == 0 {
            flags.fetch_or(QpShared::COMMUNICATION_SEEN, Relaxed);
            error::send(self.peer, self.shared, IBV_EVENT_COMM_EST);
        }
    }

    /// The addresses of the device of the QP.
    pub(super) fn device(&self) -> Option<&'a DeviceShared> {
        let number = self.shared.device.load(Relaxed) as usize;
        self.peer.memory().at::<Header>(0)?.devices.get(number)
    }

    /// The receive queue; `None` if the QP has none.
    pub(super) fn queue(&self) -> Option<Queue<'a>> {
        Queue::at(self.peer.memory(), self.shared.queue.load(Relaxed))
    }

    /// Counts a completion at this QP, with its lock held: its bytes, or none for an error.
    #[inline]
    pub(super) fn count(&self, operation: ibv_qp_attach_comp_cntr_op, bytes: Option<u64>) {
        counter::count(self.peer.memory(), self.shared, operation, bytes);
    }

    /// Moves the QP to the error state, with its lock held: an event says why.
    pub(super) fn fail(&self, event: Option<ibv_event_type>) {
        enter_error(self.host, self.peer, self.shared, event);
    }
}

/// Whether a QP is connected to the process with this epoch, and not to one that had its slot before.
fn is_connected_to(qp: &QpShared, epoch: u64) -> bool {
    let wanted = qp.peer_epoch.load(Relaxed);
    wanted == 0 || wanted == epoch
}

/// The QP that one with these attributes is connected to, with its lock.
pub(super) fn connected<'a>(
    host: &'a Host,
    qp: &Qp,
    attr: &ibv_qp_attr,
    peer: &'a Peer,
    patience: u64,
) -> Result<(Responder<'a>, Guard<'a>), Stop> {
    let responder = Responder::find(host, peer, attr.dest_qp_num)?;
    let kind = match qp.kind {
        IBV_QPT_XRC_SEND => IBV_QPT_XRC_RECV,
        kind => kind,
    };
    let guard = responder.lock(kind, patience)?;
    let shared = responder.shared;
    let own = host.memory().at::<QpShared>(qp.record);
    let device = responder.device().ok_or(Stop::Silence)?;
    if shared.dest_qp_num.load(Relaxed) != qp.number
        || !is_address_of(&attr.ah_attr, device)
        || !is_connected_to(shared, host.epoch())
        || !own.is_some_and(|own| is_connected_to(own, peer.epoch()))
    {
        return Err(Stop::Silence);
    }
    Ok((responder, guard))
}

impl<'a> Operation<'a> {
    /// Does something with the QP that the own one is connected to, with its lock held; of XRC that
    /// of the SRQ as well.
    pub(super) fn with_connection<T>(
        &self,
        action: impl FnOnce(&Connection<'_>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let (responder, _guard) = {
            let peer = self.peer.ok_or(Stop::Silence)?;
            connected(self.host, self.qp, self.attr, peer, self.patience)?
        };
        let reliable = self.qp.kind != IBV_QPT_UC;
        if self.qp.kind != IBV_QPT_XRC_SEND {
            let (site, pd) = (responder.peer, responder.shared.pd.load(Relaxed));
            let (queue, cq) = (responder.queue(), responder.shared.recv_cq.load(Relaxed));
            return action(&Connection { responder, site, pd, queue, cq, reliable, is_xrc: false });
        }
        let number = self.wqe.remote_srqn;
        let found = peer_of(self.host, number);
        let queue = found.as_ref().ok().and_then(|site| Some((site, srq(site, number)?)));
        let Some((site, queue)) = queue else {
            self.explain(format_args!("there is no SRQ {number:#x}"));
            responder.fail(Some(IBV_EVENT_QP_REQ_ERR));
            return Err(Stop::remote(IBV_WC_REM_INV_REQ_ERR, Reason::Srq));
        };
        let _queue_guard = self.lock(&queue)?;
        let domains = (queue.shared.xrcd.load(Relaxed), responder.shared.xrcd.load(Relaxed));
        if queue.shared.generation.load(Acquire) & 1 == 0 || domains.0 != domains.1 {
            self.explain(format_args!(
                "SRQ {number:#x} is of XRC domain {:#x}, QP {:#x} of domain {:#x}",
                domains.0, responder.number, domains.1,
            ));
            responder.fail(Some(IBV_EVENT_QP_REQ_ERR));
            return Err(Stop::remote(IBV_WC_REM_INV_REQ_ERR, Reason::Srq));
        }
        let (pd, cq) = (queue.shared.pd.load(Relaxed), queue.shared.cq.load(Relaxed));
        action(&Connection { responder, site, pd, queue: Some(queue), cq, reliable, is_xrc: true })
    }

    /// Takes the lock of a receive queue.
    fn lock<'b>(&self, queue: &Queue<'b>) -> Result<Guard<'b>, Stop> {
        let locked = self.host.lock(&queue.shared.lock, self.patience);
        locked.map(|(guard, _)| guard).map_err(|_| Stop::Busy)
    }

    /// Takes the lock of a receive queue, if it is shared and not locked already.
    pub(super) fn lock_queue<'b>(
        &self,
        connection: &Connection<'_>,
        queue: &Queue<'b>,
    ) -> Result<Option<Guard<'b>>, Stop> {
        let needed = !connection.is_xrc && queue.shared.srq_num.load(Relaxed) != 0;
        needed.then(|| self.lock(queue)).transpose()
    }

    /// Explains what the responder refused.
    pub(super) fn explain(&self, what: core::fmt::Arguments<'_>) {
        explain!("urxe: QP {:#x}, wr_id {:#x}: {what}", self.qp.number, self.wqe.wr_id);
    }
}

/// Whether an address is one of a device.
pub(super) fn is_address_of(address: &ibv_ah_attr, device: &DeviceShared) -> bool {
    if address.is_global == 0 {
        return u32::from(address.dlid) == device.lid.load(Relaxed);
    }
    // SAFETY: a GID is 16 bytes in each of its forms.
    let wanted = unsafe { address.grh.dgid.raw };
    [gid(&device.gid0), gid(&device.gid1)].contains(&wanted)
}

/// Whether an address is one of a device that a process has open: the own devices, those of the
/// process that has the QP `number`, if it is for one, those of the others. To look at all of them
/// takes time.
pub(crate) fn somebody_answers(host: &Host, address: &ibv_ah_attr, number: Option<u32>) -> bool {
    let has = |peer: &Peer| {
        peer.memory().at::<Header>(0).is_some_and(|header| {
            let count = header.device_count.load(Acquire) as usize;
            header.devices.iter().take(count).any(|device| is_address_of(address, device))
        })
    };
    has(host.own())
        || number.is_some_and(|number| peer_of(host, number).is_ok_and(|peer| has(&peer)))
        || host.all_peers().iter().any(|peer| has(peer))
}

/// A GID in shared memory.
pub(super) fn gid(words: &[AtomicU64; 2]) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (part, word) in bytes.chunks_exact_mut(8).zip(words) {
        part.copy_from_slice(&word.load(Relaxed).to_ne_bytes());
    }
    bytes
}

/// A shared receive queue by its number, in the process that has it.
pub(super) fn srq(peer: &Peer, number: u32) -> Option<Queue<'_>> {
    let offset = Table::Srq.find(peer.memory(), number)?;
    let queue = Queue::at(peer.memory(), offset)?;
    (queue.shared.srq_num.load(Relaxed) == number).then_some(queue)
}
