//! Private ABI 59: rdma-core 59 to 63. No operations for buffers; before release 62, none for the
//! dma-buf of device memory and for a port's speed either. `ibv_mr_init_attr` ends before `buf`.

use core::ffi::c_int;
use core::ptr;

use super::{Layout, v64};
use crate::abi::export::export;
use crate::abi::*;
use crate::cmd;
use crate::provider_api::registry;
use crate::uapi::ib_uverbs_ex_create_qp_resp;

pub(super) const LAYOUTS: &[Layout] = &[
    Layout {
        private_abi: 59,
        releases: 59..=61,
        context_offset: 344,
        ..v64::LAYOUTS[0]
    },
    Layout {
        private_abi: 59,
        releases: 62..=63,
        context_offset: 352,
        ..v64::LAYOUTS[0]
    },
];

/// Called by a plugin's constructor. `driver.h: verbs_register_driver`
pub(crate) unsafe extern "C" fn verbs_register_driver_59(ops: *const verbs_device_ops) {
    registry::register(59, ops);
}
export!(verbs_register_driver_59 @@ "IBVERBS_PRIVATE_59");

/// Without attributes of the provider. `driver.h: ibv_cmd_create_qp_ex2`
pub(super) unsafe extern "C" fn ibv_cmd_create_qp_ex2(
    context: *mut ibv_context,
    qp: *mut verbs_qp,
    attr_ex: *mut ibv_qp_init_attr_ex,
    cmd: *mut ibv_create_qp_ex,
    cmd_size: usize,
    resp: *mut ib_uverbs_ex_create_qp_resp,
    resp_size: usize,
) -> c_int {
    let driver = ptr::null_mut();
    // SAFETY: the provider passes what the newest function needs as well.
    unsafe {
        cmd::ibv_cmd_create_qp_ex2(context, qp, attr_ex, cmd, cmd_size, resp, resp_size, driver)
    }
}
export!(ibv_cmd_create_qp_ex2 @ "IBVERBS_PRIVATE_59");
export!(ibv_cmd_create_qp_ex2 @ "IBVERBS_PRIVATE_57");
export!(ibv_cmd_create_qp_ex2 @ "IBVERBS_PRIVATE_34");
