//! Private ABI 57: rdma-core 57 and 58. No operations for DMA handles and for registration by
//! attributes.

use core::ffi::c_int;
use core::ptr;

use super::{Layout, v59};
use crate::abi::export::export;
use crate::abi::*;
use crate::cmd;
use crate::provider_api::registry;
use crate::uapi::ib_uverbs_ex_create_cq_resp;

pub(super) const LAYOUTS: &[Layout] = &[Layout {
    private_abi: 57,
    releases: 57..=58,
    context_offset: 320,
    ..v59::LAYOUTS[0]
}];

/// Called by a plugin's constructor. `driver.h: verbs_register_driver`
pub(crate) unsafe extern "C" fn verbs_register_driver_57(ops: *const verbs_device_ops) {
    registry::register(57, ops);
}
export!(verbs_register_driver_57 @@ "IBVERBS_PRIVATE_57");

/// Without a buffer of the provider. `driver.h: ibv_cmd_create_cq_ex`
pub(super) unsafe extern "C" fn ibv_cmd_create_cq_ex(
    context: *mut ibv_context,
    cq_attr: *const ibv_cq_init_attr_ex,
    cq: *mut verbs_cq,
    cmd: *mut ibv_create_cq_ex,
    cmd_size: usize,
    resp: *mut ib_uverbs_ex_create_cq_resp,
    resp_size: usize,
    cmd_flags: u32,
) -> c_int {
    let buffer = ptr::null_mut();
    // SAFETY: the provider passes what the newest function needs as well.
    unsafe {
        cmd::ibv_cmd_create_cq_ex(
            context, cq_attr, buffer, cq, cmd, cmd_size, resp, resp_size, cmd_flags,
        )
    }
}
export!(ibv_cmd_create_cq_ex @ "IBVERBS_PRIVATE_57");
export!(ibv_cmd_create_cq_ex @ "IBVERBS_PRIVATE_34");

/// Without a buffer of the provider. `driver.h: ibv_cmd_create_cq_ex2`
pub(super) unsafe extern "C" fn ibv_cmd_create_cq_ex2(
    context: *mut ibv_context,
    cq_attr: *const ibv_cq_init_attr_ex,
    cq: *mut verbs_cq,
    cmd: *mut ibv_create_cq_ex,
    cmd_size: usize,
    resp: *mut ib_uverbs_ex_create_cq_resp,
    resp_size: usize,
    cmd_flags: u32,
    driver: *mut ibv_command_buffer,
) -> c_int {
    let buffer = ptr::null_mut();
    // SAFETY: the provider passes what the newest function needs as well.
    unsafe {
        cmd::ibv_cmd_create_cq_ex2(
            context, cq_attr, buffer, cq, cmd, cmd_size, resp, resp_size, cmd_flags, driver,
        )
    }
}
export!(ibv_cmd_create_cq_ex2 @ "IBVERBS_PRIVATE_57");
export!(ibv_cmd_create_cq_ex2 @ "IBVERBS_PRIVATE_34");
