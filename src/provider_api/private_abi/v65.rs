//! Private ABI 65: rdma-core 65. What the library is written for.

use super::Layout;
use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::registry;

pub(super) const LAYOUTS: &[Layout] = &[Layout {
    private_abi: 65,
    releases: 65..=65,
    context_offset: 368,
    qp_tail: 360,
    port_attr_size: 56,
    dmabuf_mr_has_driver: true,
}];

/// Called by a plugin's constructor. `driver.h: verbs_register_driver`
pub(crate) unsafe extern "C" fn verbs_register_driver_65(ops: *const verbs_device_ops) {
    registry::register(65, ops);
}
export!(verbs_register_driver_65 @@ "IBVERBS_PRIVATE_65");
