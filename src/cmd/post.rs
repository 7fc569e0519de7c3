//! Posting work requests through the kernel. `ibv_post_send(3)`, `ibv_post_recv(3)`,
//! `ibv_post_srq_recv(3)`

use core::ffi::c_int;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::work_request::{PostRequest, WorkRequest, post_request, refused};
use crate::cmd::{Kernel, Request};
use crate::sys::errno::{Result, ReturnNumber};
use crate::uapi::*;

/// Posts a list of requests to a send queue. Returns 0 or the error number; `bad_wr` gets the
/// first request that was not posted. `driver.h: ibv_cmd_post_send`
pub(super) unsafe extern "C" fn ibv_cmd_post_send(
    ibqp: *mut ibv_qp,
    wr: *mut ibv_send_wr,
    bad_wr: *mut *mut ibv_send_wr,
) -> c_int {
    // SAFETY: the provider passes a QP, a list and a place for a pointer.
    unsafe {
        let queue = Queue { handle: (*ibqp).handle, qp_type: (*ibqp).qp_type };
        post::<ib_uverbs_post_send, _>(Kernel::of((*ibqp).context), queue, wr, bad_wr)
    }
    .or_number()
}
export_private!(ibv_cmd_post_send);

/// Posts a list of requests to a receive queue. Returns 0 or the error number; `bad_wr` gets the
/// first request that was not posted. `driver.h: ibv_cmd_post_recv`
pub(super) unsafe extern "C" fn ibv_cmd_post_recv(
    ibqp: *mut ibv_qp,
    wr: *mut ibv_recv_wr,
    bad_wr: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the provider passes a QP, a list and a place for a pointer.
    unsafe {
        let queue = Queue { handle: (*ibqp).handle, qp_type: (*ibqp).qp_type };
        post::<ib_uverbs_post_recv, _>(Kernel::of((*ibqp).context), queue, wr, bad_wr)
    }
    .or_number()
}
export_private!(ibv_cmd_post_recv);

/// Posts a list of requests to a shared receive queue. Returns 0 or the error number; `bad_wr`
/// gets the first request that was not posted. `driver.h: ibv_cmd_post_srq_recv`
pub(super) unsafe extern "C" fn ibv_cmd_post_srq_recv(
    srq: *mut ibv_srq,
    wr: *mut ibv_recv_wr,
    bad_wr: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the provider passes an SRQ, a list and a place for a pointer.
    unsafe {
        let queue = Queue { handle: (*srq).handle, qp_type: IBV_QPT_RC };
        post::<ib_uverbs_post_srq_recv, _>(Kernel::of((*srq).context), queue, wr, bad_wr)
    }
    .or_number()
}
export_private!(ibv_cmd_post_srq_recv);

/// Where requests go. The type decides what of a send request counts.
struct Queue {
    handle: u32,
    qp_type: ibv_qp_type,
}

/// Posts the list. `bad_wr` (which may be NULL) gets the request that the kernel names, or the
/// first one if the command as a whole failed: then nothing was posted.
///
/// # Safety
///
/// As for [`post_request`]; `bad_wr` must be NULL or writable.
unsafe fn post<Q, Wr>(
    kernel: Kernel<'_>,
    queue: Queue,
    wr: *mut Wr,
    bad_wr: *mut *mut Wr,
) -> Result<()>
where
    Q: PostRequest + Request<Response: BadRequest>,
    Wr: WorkRequest,
{
    let mut response = Q::Response::zeroed();
    // SAFETY: the caller's promise.
    let result = unsafe { post_request::<Q, Wr>(queue.handle, queue.qp_type, wr) }
        .and_then(|mut request| request.send_into(kernel, &mut response));
    // SAFETY: the caller's promise.
    let mut bad = unsafe { refused(wr, response.number()) };
    if result.is_err() {
        bad = bad.or(Some(wr));
    }
    if let Some(bad) = bad
        && !bad_wr.is_null()
    {
        // SAFETY: the caller's promise.
        unsafe { *bad_wr = bad };
    }
    result
}

/// A response that says which request was refused.
trait BadRequest {
    /// Counted from 1; 0 for none.
    fn number(&self) -> u32;
}

macro_rules! bad_request {
    ($($response:ident)*) => {
        $(impl BadRequest for $response {
            fn number(&self) -> u32 {
                self.bad_wr
            }
        })*
    };
}
bad_request!(ib_uverbs_post_send_resp ib_uverbs_post_recv_resp ib_uverbs_post_srq_recv_resp);

#[cfg(test)]
mod tests;
