//! Shared receive queues.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::verbs::inline::{slot, through_public_slot, through_slot, unsupported};
use crate::verbs::srq::ibv_create_srq;

through_public_slot! {
    /// Posts receive requests to an SRQ. Returns 0, or an error number and the first request that
    /// was not posted. `ibv_post_srq_recv(3)`
    fn ibv_post_srq_recv(
        srq: *mut ibv_srq,
        recv_wr: *mut ibv_recv_wr,
        bad_recv_wr: *mut *mut ibv_recv_wr
    ) -> c_int: (*srq).context => post_srq_recv;
}

through_slot! {
    /// Stores the number by which XRC peers name an SRQ. Returns 0 or an error number.
    /// `ibv_get_srq_num(3)`
    fn ibv_get_srq_num(srq: *mut ibv_srq, srq_num: *mut u32) -> c_int:
        (*srq).context => get_srq_num;
}

/// Creates an SRQ of any type; NULL with `errno` on failure. `ibv_create_srq_ex(3)`
pub(super) unsafe extern "C" fn ibv_create_srq_ex(
    context: *mut ibv_context,
    attr: *mut ibv_srq_init_attr_ex,
) -> *mut ibv_srq {
    // SAFETY: the caller passes a context and attributes, which begin like the plain ones.
    unsafe {
        let mask = (*attr).comp_mask;
        let has_type = mask & IBV_SRQ_INIT_ATTR_TYPE != 0;
        if mask & !IBV_SRQ_INIT_ATTR_TYPE == IBV_SRQ_INIT_ATTR_PD
            && (!has_type || (*attr).srq_type == IBV_SRQT_BASIC)
        {
            return ibv_create_srq((*attr).pd, attr.cast());
        }
        match slot!(context, create_srq_ex) {
            Some(create_srq_ex) => create_srq_ex(context, attr),
            None => unsupported(),
        }
    }
}
export!(ibv_create_srq_ex @@ "IBVERBS_RS_1.0");

/// Posts tag matching requests. Returns 0, or an error number and the first request that was not
/// posted. `ibv_post_srq_ops(3)`
pub(super) unsafe extern "C" fn ibv_post_srq_ops(
    srq: *mut ibv_srq,
    op: *mut ibv_ops_wr,
    bad_op: *mut *mut ibv_ops_wr,
) -> c_int {
    // SAFETY: the caller passes an SRQ, requests and room for the bad one.
    unsafe {
        match slot!((*srq).context, post_srq_ops) {
            Some(post_srq_ops) => post_srq_ops(srq, op, bad_op),
            None => {
                *bad_op = op;
                unsupported()
            }
        }
    }
}
export!(ibv_post_srq_ops @@ "IBVERBS_RS_1.0");
