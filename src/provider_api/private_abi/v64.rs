//! Private ABI 64: rdma-core 64. No operations for completion counters.

use super::{Layout, v65};
use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::{OpIndex, op_index, registry};

pub(super) const LAYOUTS: &[Layout] =
    &[Layout { private_abi: 64, releases: 64..=64, absent_ops: ABSENT_OPS, ..v65::LAYOUTS[0] }];

const ABSENT_OPS: &[OpIndex] = &[
    op_index!(create_comp_cntr),
    op_index!(destroy_comp_cntr),
    op_index!(inc_comp_cntr),
    op_index!(inc_err_comp_cntr),
    op_index!(qp_attach_comp_cntr),
    op_index!(query_comp_cntr_caps),
    op_index!(read_comp_cntr),
    op_index!(read_err_comp_cntr),
    op_index!(set_comp_cntr),
    op_index!(set_err_comp_cntr),
];

/// Called by a plugin's constructor. `driver.h: verbs_register_driver`
pub(crate) unsafe extern "C" fn verbs_register_driver_64(ops: *const verbs_device_ops) {
    registry::register(64, ops);
}
export!(verbs_register_driver_64 @@ "IBVERBS_PRIVATE_64");
