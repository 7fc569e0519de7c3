//! Private ABI 57: rdma-core 57 and 58. No operations for DMA handles and for registration by
//! attributes.

use super::{Layout, v59};
use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::{OpIndex, op_index, registry};

pub(super) const LAYOUTS: &[Layout] = &[Layout {
    private_abi: 57,
    releases: 57..=58,
    context_offset: 320,
    absent_ops: ABSENT_OPS,
    ..v59::LAYOUTS[0]
}];

/// Operations that private ABI 34 lacks as well.
pub(super) const ABSENT_OPS: &[OpIndex] = &[
    op_index!(alloc_buf),
    op_index!(alloc_dmah),
    op_index!(create_comp_cntr),
    op_index!(dealloc_dmah),
    op_index!(destroy_comp_cntr),
    op_index!(dm_export_dmabuf_fd),
    op_index!(free_buf),
    op_index!(inc_comp_cntr),
    op_index!(inc_err_comp_cntr),
    op_index!(qp_attach_comp_cntr),
    op_index!(query_comp_cntr_caps),
    op_index!(query_port_speed),
    op_index!(read_comp_cntr),
    op_index!(read_err_comp_cntr),
    op_index!(reg_mr_ex),
    op_index!(set_comp_cntr),
    op_index!(set_err_comp_cntr),
];

/// Called by a plugin's constructor. `driver.h: verbs_register_driver`
pub(crate) unsafe extern "C" fn verbs_register_driver_57(ops: *const verbs_device_ops) {
    registry::register(57, ops);
}
export!(verbs_register_driver_57 @@ "IBVERBS_PRIVATE_57");
