//! What a requester does: the whole operation, on the memory of the responder.
//!
//! [`execute`] carries out the request at the head of a send queue. It finds the process of the
//! responder by the number of the destination QP, takes the lock of that QP, checks what an adapter
//! would check, moves the bytes, takes the receive and adds the receiver's completion. What stands
//! in the way for the moment (no receive, a peer that is not ready) leaves the request where it is,
//! for a later try.
//!
//! * [`local`]: the requester's own memory;
//! * [`route`]: what a QP remembers of the way to its peer;
//! * [`responder`]: finding the QP of the peer, its lock, its fate after an error;
//! * [`bytes`]: moving them between lists of pieces in several processes;
//! * [`message`]: what takes a receive: sends, and writes with immediate data;
//! * [`memory`]: reads, writes, atomics, flushes;
//! * [`datagram`]: UD: addresses, the global route header;
//! * [`multicast`]: the groups of all processes;
//! * [`fast`]: requests on a connection that is known to be in order;
//! * [`stop`]: why an operation did not succeed, and what the requester makes of it.

mod bytes;
mod datagram;
mod fast;
mod local;
mod memory;
mod message;
mod multicast;
mod responder;
mod route;
mod stop;

pub(crate) use fast::{Destination, Fast, Job, Message};
pub(crate) use multicast::{attach_mcast, detach_mcast, is_attached};
pub(crate) use responder::somebody_answers;
pub(crate) use route::Route;
pub(crate) use stop::Reason;

use crate::abi::*;
use crate::urxe::explain;
use crate::urxe::host::{self, Host, Peer};
use crate::urxe::pair::{Attempt, Done, Outcome, Qp, Target, Wqe};
use crate::urxe::region;
use crate::urxe::{limits, shared};
use route::{Files, destination};
use stop::Stop;

/// A request and whose it is.
#[derive(Clone, Copy)]
pub(crate) struct Operation<'a> {
    host: &'a Host,
    qp: &'a Qp,
    attr: &'a ibv_qp_attr,
    wqe: Wqe<'a>,
    /// The process of the destination QP, if the request has one and it is there.
    peer: Option<&'a Peer>,
    /// Files of peers that the QP has used last.
    files: &'a Files,
    /// How long this try waits for what others have in use, in nanoseconds.
    patience: u64,
}

/// [`Operation::patience`] of the first try. Those who have a lock have it for as long as a message
/// takes, or as they wait for a processor.
const PATIENCE: u64 = 100_000_000;
/// And of each later one: the caller has others to look after.
const LATER: u64 = 5_000_000;

/// Carries out the request at the head of the send queue of a QP, which is in a state that sends,
/// with the lock of the send queue held. The receiver's side is complete with it; the completion of
/// the request itself is the caller's to write. `route` is that of the QP.
pub(crate) fn execute(
    qp: &Qp,
    attr: &ibv_qp_attr,
    wqe: Wqe<'_>,
    attempt: &mut Attempt,
    route: &mut Route,
) -> Outcome {
    let host = match host::host() {
        Ok(host) => host,
        // A child of the process that made the QP, and no room for a slot of its own.
        Err(_) => return failed(IBV_WC_FATAL_ERR, Reason::NoHost),
    };
    // Who withdraws a key waits until this is through.
    let _using = region::using(host);
    let (peer, files) = route.to(host, destination(attr, &wqe));
    let patience = if attempt.has_begun() { LATER } else { PATIENCE };
    let operation = Operation { host, qp, attr, wqe, peer, files, patience };
    match operation.run() {
        Ok(bytes) => Outcome::Done(Done::success(bytes)),
        Err(stop) => stop::outcome(&operation, stop, attempt),
    }
}

fn failed(status: ibv_wc_status, reason: Reason) -> Outcome {
    Outcome::Done(Done::failure(status, reason as u32))
}

impl Operation<'_> {
    /// Does it; the value is `ibv_wc::byte_len` of the completion.
    fn run(&self) -> Result<u32, Stop> {
        match self.wqe.opcode {
            IBV_WR_LOCAL_INV => self.local_invalidate(),
            IBV_WR_BIND_MW => self.bind(),
            IBV_WR_SEND | IBV_WR_SEND_WITH_IMM | IBV_WR_SEND_WITH_INV => self.send(),
            IBV_WR_RDMA_WRITE | IBV_WR_RDMA_WRITE_WITH_IMM => self.write(),
            IBV_WR_RDMA_READ => self.read(),
            IBV_WR_ATOMIC_CMP_AND_SWP | IBV_WR_ATOMIC_FETCH_AND_ADD => self.atomic(),
            IBV_WR_ATOMIC_WRITE => self.atomic_write(),
            IBV_WR_FLUSH => self.flush(),
            _ => Err(Stop::local(IBV_WC_LOC_QP_OP_ERR, Reason::Opcode)),
        }
    }

    /// `ibv_wc::byte_len` of this request.
    fn byte_len(&self) -> u32 {
        self.wqe.length as u32
    }

    /// Refuses a message that is longer than any may be.
    fn check_length(&self) -> Result<(), Stop> {
        if self.wqe.length <= limits::MAX_MESSAGE {
            return Ok(());
        }
        explain!(
            "urxe: QP {:#x}, wr_id {:#x}: {} bytes in a message, the most are {}",
            self.qp.number,
            self.wqe.wr_id,
            self.wqe.length,
            limits::MAX_MESSAGE,
        );
        Err(Stop::local(IBV_WC_LOC_LEN_ERR, Reason::MessageLength))
    }

    /// `IBV_WR_LOCAL_INV`
    fn local_invalidate(&self) -> Result<u32, Stop> {
        let key = self.wqe.imm_or_key;
        let memory = self.host.memory();
        let own = memory.at::<shared::QpShared>(self.qp.record);
        let own = own.ok_or(Stop::local(IBV_WC_FATAL_ERR, Reason::Damaged))?;
        let (_guard, _) = self.host.lock(&own.lock, self.patience).map_err(|_| Stop::Busy)?;
        region::window::invalidate(memory, key, self.qp.pd, self.qp.number).map_err(|denied| {
            explain!(
                "urxe: QP {:#x}, wr_id {:#x}: local invalidation: {denied}",
                self.qp.number,
                self.wqe.wr_id
            );
            Stop::local(IBV_WC_MW_BIND_ERR, Reason::Invalidate)
        })?;
        self.host.pass_marks_of(own).map_err(|_| Stop::local(IBV_WC_FATAL_ERR, Reason::Damaged))?;
        Ok(0)
    }

    /// `IBV_WR_BIND_MW`
    fn bind(&self) -> Result<u32, Stop> {
        let Target::Window { bind, .. } = &self.wqe.target else {
            return Err(Stop::local(IBV_WC_LOC_QP_OP_ERR, Reason::Opcode));
        };
        bind.carry_out(self.qp.host, self.qp.number, self.qp.pd).map_err(|reason| {
            explain!(
                "urxe: QP {:#x}, wr_id {:#x}: binding a window: {reason}",
                self.qp.number,
                self.wqe.wr_id
            );
            Stop::local(IBV_WC_MW_BIND_ERR, Reason::Bind)
        })?;
        Ok(0)
    }
}

#[cfg(test)]
mod tests;
