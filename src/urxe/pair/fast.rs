//! Requests that are carried out straight from what the caller has posted, without a place in the
//! ring: the next one of an idle send queue, if it is of a kind that is known how to.
//!
//! [`try_post`] is asked for each request that is posted, [`try_run`] for each that is in the ring.
//! Both do a request wholly, completion and all, or nothing at all.

use core::slice;

use super::attempt::Done;
use super::qp::{Qp, SendQueue};
use super::run::{complete, tell, tell_success};
use super::wqe::{Data, Target};
use crate::abi::*;
use crate::urxe::device::{Ah, Pd};
use crate::urxe::transfer::{Destination, Job, Message};

/// Flags of a request that is posted this way. All before it is done, so there is nothing to fence.
const FLAGS: u32 = IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE;

/// Whether requests can be carried out at once, before the first of several: the send queue is idle
/// and the connection in order.
#[inline(always)]
pub(super) fn is_ready(qp: &Qp, send: &mut SendQueue) -> bool {
    #[cfg(test)]
    if super::testing::is_scripted() {
        return false;
    }
    let SendQueue { ring, fast, attr, route, .. } = send;
    ring.is_idle() && fast.is_ready(qp, attr, route)
}

/// Carries out a request that is posted, when all [is ready](is_ready); false if it is to be put
/// into the ring.
///
/// # Safety
///
/// The request must be valid for its opcode and the type of the QP.
#[inline(always)]
pub(super) unsafe fn try_post(qp: &Qp, send: &mut SendQueue, wr: &ibv_send_wr) -> bool {
    // SAFETY: the caller's promise.
    let Some((opcode, bytes)) = (unsafe { carry_out(qp, send, wr) }) else { return false };
    let tail = done(send);
    if asks(qp, wr) {
        tell_success(qp, tail, wr.wr_id, opcode, bytes);
    }
    true
}

/// What a request is that has been carried out, and how many bytes it had.
///
/// # Safety
///
/// As for [`try_post`].
#[inline(always)]
unsafe fn carry_out(
    qp: &Qp,
    send: &mut SendQueue,
    wr: &ibv_send_wr,
) -> Option<(ibv_wc_opcode, u32)> {
    if matches!(wr.opcode, IBV_WR_SEND | IBV_WR_SEND_WITH_IMM) {
        // SAFETY: the caller's promise.
        return Some((IBV_WC_SEND, unsafe { try_send(qp, send, wr) }?));
    }
    // SAFETY: the caller's promise.
    let job = unsafe { job_of(send.ring.caps(), wr) }?;
    if !send.ring.has_room_now(|| qp.freed()) {
        return None;
    }
    let opcode = if job.reads { IBV_WC_RDMA_READ } else { IBV_WC_RDMA_WRITE };
    Some((opcode, send.fast.run(qp, &job)?))
}

/// A read or a write, if it is one, of a QP whose ring has these [caps](super::wqe::Ring::caps).
///
/// # Safety
///
/// As for [`try_post`].
#[inline(always)]
unsafe fn job_of((_, max_sge, max_inline): (u32, u32, u32), wr: &ibv_send_wr) -> Option<Job<'_>> {
    let reads = match wr.opcode {
        IBV_WR_RDMA_WRITE => false,
        IBV_WR_RDMA_READ => true,
        _ => return None,
    };
    let flags = wr.send_flags;
    let inline = flags & IBV_SEND_INLINE != 0;
    let count = wr.num_sge.cast_unsigned();
    if flags & !FLAGS != 0 || count > max_sge.max(1) {
        return None;
    }
    let list = if count == 0 {
        &[]
    } else {
        if wr.sg_list.is_null() {
            return None;
        }
        // SAFETY: the caller's promise.
        unsafe { slice::from_raw_parts(wr.sg_list.cast_const(), count as usize) }
    };
    if inline && (reads || !matches!(list, [entry] if entry.length <= max_inline)) {
        return None;
    }
    if !inline && count > max_sge {
        return None;
    }
    // SAFETY: the member that is good for the opcode.
    let rdma = unsafe { wr.wr.rdma };
    Some(Job { reads, address: rdma.remote_addr, rkey: rdma.rkey, list, inline })
}

/// A request that was posted has been carried out well; its position.
#[inline(always)]
fn done(send: &mut SendQueue) -> u32 {
    #[cfg(test)]
    super::testing::count_at_once();
    let tail = send.ring.tail.wrapping_add(1);
    (send.ring.head, send.ring.tail) = (tail, tail);
    tail
}

/// Whether a request that was posted asks for its completion.
#[inline(always)]
fn asks(qp: &Qp, wr: &ibv_send_wr) -> bool {
    wr.send_flags & IBV_SEND_SIGNALED != 0 || qp.init.sq_sig_all != 0
}

/// Whether [`post_several`] should be tried from a request on.
#[inline(always)]
pub(super) fn likes_several(send: &SendQueue, wr: &ibv_send_wr) -> bool {
    !wr.next.is_null() && send.fast.likes_several()
}

/// Carries out the first requests of a list, when all [is ready](is_ready), as far as one system call
/// does them; the rest of the list.
///
/// # Safety
///
/// `wr` must be NULL or a list of requests that are valid for [`try_post`].
#[inline(never)]
pub(super) unsafe fn post_several(
    qp: &Qp,
    send: &mut SendQueue,
    wr: *mut ibv_send_wr,
) -> *mut ibv_send_wr {
    let (room, caps) = (send.ring.room(qp.freed()), send.ring.caps());
    let mut next = wr;
    let jobs = core::iter::from_fn(|| {
        // SAFETY: the caller's promise.
        let (wr, job) = unsafe { next.as_ref().map(|wr| (wr, job_of(caps, wr)))? };
        next = wr.next;
        job
    });
    let count = send.fast.run_several(qp, jobs.take(room as usize));
    let mut rest = wr;
    for _ in 0..count {
        // SAFETY: as above; each of them has been one with one entry.
        let Some((wr, entry)) =
            (unsafe { rest.as_ref().and_then(|wr| Some((wr, wr.sg_list.as_ref()?))) })
        else {
            break;
        };
        let reads = wr.opcode == IBV_WR_RDMA_READ;
        let opcode = if reads { IBV_WC_RDMA_READ } else { IBV_WC_RDMA_WRITE };
        let tail = done(send);
        if asks(qp, wr) {
            tell(qp, tail, wr.wr_id, opcode, Done::success(entry.length));
        }
        rest = wr.next;
    }
    rest
}

/// As [`carry_out`], for a send: its bytes.
///
/// # Safety
///
/// As for [`try_post`].
#[inline(always)]
unsafe fn try_send(qp: &Qp, send: &mut SendQueue, wr: &ibv_send_wr) -> Option<u32> {
    let flags = wr.send_flags;
    let inline = flags & IBV_SEND_INLINE != 0;
    let (_, max_sge, max_inline) = send.ring.caps();
    if flags & !FLAGS != 0 || !send.ring.has_room_now(|| qp.freed()) {
        return None;
    }
    let count = wr.num_sge.cast_unsigned();
    let list = match (count, wr.sg_list.is_null()) {
        (0, _) => &[],
        (_, true) => return None,
        // SAFETY: the caller's promise.
        _ if count <= max_sge.max(1) => unsafe {
            slice::from_raw_parts(wr.sg_list.cast_const(), count as usize)
        },
        _ => return None,
    };
    let fits = match list {
        [] => true,
        [entry] if inline => entry.length <= max_inline,
        _ => !inline && count <= max_sge,
    };
    if !fits {
        return None;
    }
    // SAFETY: the member that is good for the opcode; a number.
    let imm = (wr.opcode == IBV_WR_SEND_WITH_IMM).then_some(unsafe { wr.imm.imm_data });
    let solicited = flags & IBV_SEND_SOLICITED != 0;
    let message = Message { list, inline, imm, solicited, wr_id: wr.wr_id };
    if qp.kind == IBV_QPT_UD {
        // SAFETY: the member that is good for this type.
        let to = unsafe { wr.wr.ud };
        // SAFETY: the caller's promise; a PD outlives its address handles.
        match unsafe { to.ah.as_ref().map(|ah| (Ah::of(to.ah).attr(), Pd::of(ah.pd).number())) } {
            Some((address, pd)) if pd == qp.pd => {
                let to = Destination { address, number: to.remote_qpn, qkey: to.remote_qkey };
                send.fast.send_datagram(qp, &send.attr, &mut send.route, &message, &to)
            }
            _ => None,
        }
    } else {
        send.fast.send(qp, &message)
    }
}

/// Carries out the request at the head of the ring, which has not been tried yet; false if that is
/// not for here.
#[inline(never)]
pub(super) fn try_run(qp: &Qp, send: &mut SendQueue) -> bool {
    #[cfg(test)]
    if super::testing::is_scripted() {
        return false;
    }
    let SendQueue { ring, fast, attr, route, .. } = send;
    let wqe = ring.wqe(ring.head);
    let reads = match wqe.opcode {
        IBV_WR_RDMA_WRITE => Some(false),
        IBV_WR_RDMA_READ => Some(true),
        IBV_WR_SEND | IBV_WR_SEND_WITH_IMM => None,
        _ => return false,
    };
    let entry;
    let (list, inline) = match wqe.data {
        Data::List(list) => (list, false),
        Data::Inline(bytes) => {
            let addr = bytes.as_ptr().expose_provenance() as u64;
            entry = [ibv_sge { addr, length: bytes.len() as u32, lkey: 0 }];
            (&entry[..], true)
        }
    };
    if !fast.is_ready(qp, attr, route) {
        return false;
    }
    let done = match (reads, wqe.target) {
        (Some(reads), Target::Memory { address, rkey }) => {
            fast.run(qp, &Job { reads, address, rkey, list, inline })
        }
        (None, target) => {
            let imm = (wqe.opcode == IBV_WR_SEND_WITH_IMM).then_some(wqe.imm_or_key);
            let (solicited, wr_id) = (wqe.is_solicited(), wqe.wr_id);
            let message = Message { list, inline, imm, solicited, wr_id };
            match target {
                Target::Datagram { ah, qp_num, qkey } => {
                    let to = Destination { address: &ah, number: qp_num, qkey };
                    fast.send_datagram(qp, attr, route, &message, &to)
                }
                _ => fast.send(qp, &message),
            }
        }
        _ => None,
    };
    let Some(bytes) = done else { return false };
    #[cfg(test)]
    super::testing::count_at_once();
    complete(qp, send, Done::success(bytes));
    true
}
