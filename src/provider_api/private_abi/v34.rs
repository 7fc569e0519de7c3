//! Private ABI 34: rdma-core 36 to 56, five layouts under one number. Releases 34 and 35 have the
//! number too, but another table of operations, and are not served.

use core::ffi::c_int;
use core::ptr;

use super::{Layout, v57};
use crate::abi::export::export;
use crate::abi::*;
use crate::cmd;
use crate::provider_api::{private, registry};
use crate::uapi::ib_uverbs_get_context_resp;

pub(super) const LAYOUTS: &[Layout] = &[
    // The extended QP ends before `wr_atomic_write`,
    Layout { releases: 36..=43, qp_tail: 344, port_attr_size: 52, ..RELEASE_49 },
    // before `wr_flush`,
    Layout { releases: 44..=44, qp_tail: 352, port_attr_size: 52, ..RELEASE_49 },
    // and the attributes of a port end before `active_speed_ex`.
    Layout { releases: 45..=48, port_attr_size: 52, ..RELEASE_49 },
    RELEASE_49,
    Layout { releases: 54..=56, dmabuf_mr_has_driver: true, ..RELEASE_49 },
];

const RELEASE_49: Layout =
    Layout { private_abi: 34, releases: 49..=53, dmabuf_mr_has_driver: false, ..v57::LAYOUTS[0] };

/// Called by a plugin's constructor. `driver.h: verbs_register_driver`
pub(crate) unsafe extern "C" fn verbs_register_driver_34(ops: *const verbs_device_ops) {
    registry::register(34, ops);
}
export!(verbs_register_driver_34 @@ "IBVERBS_PRIVATE_34");

/// Without descriptors for the driver. `driver.h: ibv_cmd_get_context`
pub(super) unsafe extern "C" fn ibv_cmd_get_context(
    context: *mut verbs_context,
    cmd: *mut ibv_get_context,
    cmd_size: usize,
    resp: *mut ib_uverbs_get_context_resp,
    resp_size: usize,
) -> c_int {
    let fds = ptr::null_mut();
    // SAFETY: the provider passes what the newest function needs as well.
    unsafe { cmd::ibv_cmd_get_context::<34>(context, cmd, cmd_size, fds, resp, resp_size) }
}
export!(ibv_cmd_get_context @ "IBVERBS_PRIVATE_34");

/// Without `driver` before release 54: its place holds anything then, and is not looked at.
/// `driver.h: ibv_cmd_reg_dmabuf_mr`
pub(super) unsafe extern "C" fn ibv_cmd_reg_dmabuf_mr(
    pd: *mut ibv_pd,
    offset: u64,
    length: usize,
    iova: u64,
    fd: c_int,
    access: c_int,
    vmr: *mut verbs_mr,
    driver: *mut ibv_command_buffer,
) -> c_int {
    // SAFETY: the provider passes its PD and what the newest function needs.
    unsafe {
        let has_driver = private((*pd).context).layout.dmabuf_mr_has_driver;
        let driver = if has_driver { driver } else { ptr::null_mut() };
        cmd::ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, vmr, driver)
    }
}
export!(ibv_cmd_reg_dmabuf_mr @ "IBVERBS_PRIVATE_34");
