//! Private ABI 65: rdma-core 65. What the library is written for.

use core::mem::offset_of;

use super::Layout;
use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::registry;

pub(super) const LAYOUTS: &[Layout] = &[Layout {
    private_abi: 65,
    releases: 65..=65,
    context_offset: offset_of!(verbs_context, context),
    qp_tail: offset_of!(verbs_qp, comp_mask),
    port_attr_size: size_of::<ibv_port_attr>(),
    dmabuf_mr_has_driver: true,
    absent_ops: &[],
}];

/// Called by a plugin's constructor. `driver.h: verbs_register_driver`
pub(crate) unsafe extern "C" fn verbs_register_driver_65(ops: *const verbs_device_ops) {
    registry::register(65, ops);
}
export!(verbs_register_driver_65 @@ "IBVERBS_PRIVATE_65");
