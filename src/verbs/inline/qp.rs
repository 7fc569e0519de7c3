//! Queue pairs and the requests of the older posting interface.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::verbs::inline::{slot, through_public_slot, through_slot, unsupported};
use crate::verbs::qp::ibv_create_qp;

through_public_slot! {
    /// Posts send requests. Returns 0, or an error number and the first request that was not
    /// posted. `ibv_post_send(3)`
    fn ibv_post_send(
        qp: *mut ibv_qp,
        wr: *mut ibv_send_wr,
        bad_wr: *mut *mut ibv_send_wr
    ) -> c_int: (*qp).context => post_send;

    /// Posts receive requests. Returns 0, or an error number and the first request that was not
    /// posted. `ibv_post_recv(3)`
    fn ibv_post_recv(
        qp: *mut ibv_qp,
        wr: *mut ibv_recv_wr,
        bad_wr: *mut *mut ibv_recv_wr
    ) -> c_int: (*qp).context => post_recv;
}

through_slot! {
    /// Opens a QP that is shared through an XRC domain; NULL with `errno` on failure.
    /// `ibv_open_qp(3)`
    fn ibv_open_qp(context: *mut ibv_context, attr: *mut ibv_qp_open_attr) -> *mut ibv_qp:
        context => open_qp;

    /// Limits the rate at which a QP sends. Returns 0 or an error number.
    /// `ibv_modify_qp_rate_limit(3)`
    fn ibv_modify_qp_rate_limit(qp: *mut ibv_qp, attr: *mut ibv_qp_rate_limit_attr) -> c_int:
        (*qp).context => modify_qp_rate_limit;
}

/// Creates a QP with any options; NULL with `errno` on failure. `ibv_create_qp_ex(3)`
pub(super) unsafe extern "C" fn ibv_create_qp_ex(
    context: *mut ibv_context,
    attr: *mut ibv_qp_init_attr_ex,
) -> *mut ibv_qp {
    // SAFETY: the caller passes a context and attributes, which begin like the plain ones.
    unsafe {
        if (*attr).comp_mask == IBV_QP_INIT_ATTR_PD {
            return ibv_create_qp((*attr).pd, attr.cast());
        }
        match slot!(context, create_qp_ex) {
            Some(create_qp_ex) => create_qp_ex(context, attr),
            None => unsupported(),
        }
    }
}
export!(ibv_create_qp_ex @@ "IBVERBS_RS_1.0");
