//! Private ABI 34: rdma-core 36 to 56, five layouts under one number. Releases 34 and 35 have the
//! number too, but another table of operations, and are not served.

use super::{Layout, v57};
use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::registry;

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
