//! The data path: the five functions that inline functions of the old header find in a context.
//!
//! Chains of work requests are translated piece by piece on the stack, because posting must neither
//! allocate nor depend on how long the chain is. Posting a chain in pieces is the same to the
//! program: a request that cannot be posted ends it, and those before it are posted either way.

use core::ffi::{c_int, c_uint};
use core::ptr;

use crate::abi::*;
use crate::sys::errno::{Errno, Result, ReturnMinusOne};

/// How many work requests are translated at a time.
const PIECE: usize = 8;

/// Takes completions from a CQ. `ibv_poll_cq(3)`
pub(super) unsafe extern "C" fn poll_cq(
    cq: *mut ibv_cq_1_0,
    num_entries: c_int,
    wc: *mut ibv_wc,
) -> c_int {
    // SAFETY: the caller passes a CQ and room for the completions, whose struct is today's.
    unsafe {
        let real = (*cq).real_cq;
        match (*(*real).context).ops.poll_cq {
            Some(poll_cq) => poll_cq(real, num_entries, wc),
            None => Err::<(), _>(Errno::EOPNOTSUPP).or_minus_one(),
        }
    }
}

/// Asks for an event at the next completion. `ibv_req_notify_cq(3)`
pub(super) unsafe extern "C" fn req_notify_cq(cq: *mut ibv_cq_1_0, solicited_only: c_int) -> c_int {
    // SAFETY: the caller passes a CQ.
    unsafe {
        let real = (*cq).real_cq;
        match (*(*real).context).ops.req_notify_cq {
            Some(req_notify_cq) => req_notify_cq(real, solicited_only),
            None => libc::EOPNOTSUPP,
        }
    }
}

/// Posts work requests to a send queue. `ibv_post_send(3)`
pub(super) unsafe extern "C" fn post_send(
    qp: *mut ibv_qp_1_0,
    wr: *mut ibv_send_wr_1_0,
    bad_wr: *mut *mut ibv_send_wr_1_0,
) -> c_int {
    // SAFETY: the caller passes a QP, a chain of work requests, and room for the bad one.
    unsafe {
        let real = (*qp).real_qp;
        let ud = (*qp).qp_type == IBV_QPT_UD;
        let post = (*(*real).context).ops.post_send;
        post_chain(real, post, wr, bad_wr, |wr| send_wr(wr, ud))
    }
}

/// Posts work requests to a receive queue. `ibv_post_recv(3)`
pub(super) unsafe extern "C" fn post_recv(
    qp: *mut ibv_qp_1_0,
    wr: *mut ibv_recv_wr_1_0,
    bad_wr: *mut *mut ibv_recv_wr_1_0,
) -> c_int {
    // SAFETY: the caller passes a QP, a chain of work requests, and room for the bad one.
    unsafe {
        let real = (*qp).real_qp;
        let post = (*(*real).context).ops.post_recv;
        post_chain(real, post, wr, bad_wr, |wr| Ok(recv_wr(wr)))
    }
}

/// Posts work requests to an SRQ. `ibv_post_srq_recv(3)`
pub(super) unsafe extern "C" fn post_srq_recv(
    srq: *mut ibv_srq_1_0,
    wr: *mut ibv_recv_wr_1_0,
    bad_wr: *mut *mut ibv_recv_wr_1_0,
) -> c_int {
    // SAFETY: the caller passes an SRQ, a chain of work requests, and room for the bad one.
    unsafe {
        let real = (*srq).real_srq;
        let post = (*(*real).context).ops.post_srq_recv;
        post_chain(real, post, wr, bad_wr, |wr| Ok(recv_wr(wr)))
    }
}

/// A work request that is part of a chain.
trait Chained: Plain {
    fn next(&mut self) -> &mut *mut Self;
}

macro_rules! chained {
    ($($wr:ty),*) => {
        $(impl Chained for $wr {
            fn next(&mut self) -> &mut *mut Self {
                &mut self.next
            }
        })*
    };
}
chained!(ibv_send_wr_1_0, ibv_recv_wr_1_0, ibv_send_wr, ibv_recv_wr);

/// The provider's function that posts requests of a type to a QP or an SRQ; a provider may lack it.
type Post<Queue, New> = Option<unsafe extern "C" fn(*mut Queue, *mut New, *mut *mut New) -> c_int>;

/// Translates a chain and posts it. On failure stores which request of the caller's is the first
/// that was not posted, and returns the error number: EOPNOTSUPP without a function for it.
///
/// # Safety
///
/// `post` must be for `queue`, `wr` NULL or a chain, and there must be room for the bad one.
unsafe fn post_chain<Queue, Old: Chained, New: Chained>(
    queue: *mut Queue,
    post: Post<Queue, New>,
    wr: *mut Old,
    bad_wr: *mut *mut Old,
    translate: impl Fn(&Old) -> Result<New>,
) -> c_int {
    let mut rest = wr;
    loop {
        let mut piece = [New::zeroed(); PIECE];
        let mut given = [ptr::null_mut(); PIECE];
        let mut length = 0;
        let mut refused = None;
        for (real, given) in piece.iter_mut().zip(&mut given) {
            if rest.is_null() {
                break;
            }
            // SAFETY: the caller's promise.
            match translate(unsafe { &*rest }) {
                Ok(translated) => *real = translated,
                Err(errno) => {
                    refused = Some(errno);
                    break;
                }
            }
            *given = rest;
            // SAFETY: the caller's promise.
            rest = unsafe { *(*rest).next() };
            length += 1;
        }
        let base = piece.as_mut_ptr();
        for place in 1..length {
            *piece[place - 1].next() = base.wrapping_add(place);
        }
        // An empty chain is posted too, for the provider to say what it thinks of it.
        if length > 0 || wr.is_null() {
            let first = if length > 0 { base } else { ptr::null_mut() };
            let mut real_bad_wr = first;
            let status = match post {
                // SAFETY: the caller's promise; the chain is ours.
                Some(post) => unsafe { post(queue, first, &raw mut real_bad_wr) },
                None => libc::EOPNOTSUPP,
            };
            if status != 0 {
                // The first one when the provider names none of them.
                let place = real_bad_wr.addr().wrapping_sub(base.addr()) / size_of::<New>();
                let bad = if place < length { given[place] } else { given[0] };
                // SAFETY: the caller's promise.
                unsafe { bad_wr.write(bad) };
                return status;
            }
        }
        if let Some(errno) = refused {
            errno.store();
            // SAFETY: the caller's promise.
            unsafe { bad_wr.write(rest) };
            return errno.0;
        }
        if rest.is_null() {
            return 0;
        }
    }
}

fn recv_wr(wr: &ibv_recv_wr_1_0) -> ibv_recv_wr {
    ibv_recv_wr { wr_id: wr.wr_id, next: ptr::null_mut(), sg_list: wr.sg_list, num_sge: wr.num_sge }
}

/// Translates a request for a QP of type UD or another one. EINVAL for operations that the old
/// struct has no room for, and for a datagram without an address.
fn send_wr(wr: &ibv_send_wr_1_0, ud: bool) -> Result<ibv_send_wr> {
    let mut real = ibv_send_wr::zeroed();
    real.wr_id = wr.wr_id;
    real.sg_list = wr.sg_list;
    real.num_sge = wr.num_sge;
    real.opcode = wr.opcode;
    real.send_flags = wr.send_flags as c_uint;
    // Also the key to invalidate.
    real.imm.imm_data = wr.imm_data;
    // SAFETY: which member of the union is meant follows from the QP type and the opcode; each is
    // made of integers, or of a pointer to an address handle that the caller vouches for.
    unsafe {
        match wr.opcode {
            IBV_WR_BIND_MW | IBV_WR_TSO.. => return Err(Errno::EINVAL),
            _ if ud => {
                let to = wr.wr.ud;
                if to.ah.is_null() {
                    return Err(Errno::EINVAL);
                }
                real.wr.ud = ibv_send_wr_wr_ud {
                    ah: (*to.ah).real_ah,
                    remote_qpn: to.remote_qpn,
                    remote_qkey: to.remote_qkey,
                };
            }
            IBV_WR_RDMA_WRITE | IBV_WR_RDMA_WRITE_WITH_IMM | IBV_WR_RDMA_READ => {
                let ibv_send_wr_1_0_wr_rdma { remote_addr, rkey } = wr.wr.rdma;
                real.wr.rdma = ibv_send_wr_wr_rdma { remote_addr, rkey };
            }
            IBV_WR_ATOMIC_CMP_AND_SWP | IBV_WR_ATOMIC_FETCH_AND_ADD => {
                let ibv_send_wr_1_0_wr_atomic { remote_addr, compare_add, swap, rkey } =
                    wr.wr.atomic;
                real.wr.atomic = ibv_send_wr_wr_atomic { remote_addr, compare_add, swap, rkey };
            }
            _ => {}
        }
    }
    Ok(real)
}

#[cfg(test)]
mod tests;
