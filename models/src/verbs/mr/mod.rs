//! Regions.

#[path = "../../../../src/verbs/mr/device_address.rs"]
mod device_address;
pub(crate) mod device_address_model;
