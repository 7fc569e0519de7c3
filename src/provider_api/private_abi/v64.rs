//! Private ABI 64: rdma-core 64. No operations for completion counters.

use super::{Layout, v65};
use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::registry;

pub(super) const LAYOUTS: &[Layout] =
    &[Layout { private_abi: 64, releases: 64..=64, ..v65::LAYOUTS[0] }];

/// Called by a plugin's constructor. `driver.h: verbs_register_driver`
pub(crate) unsafe extern "C" fn verbs_register_driver_64(ops: *const verbs_device_ops) {
    registry::register(64, ops);
}
export!(verbs_register_driver_64 @@ "IBVERBS_PRIVATE_64");
