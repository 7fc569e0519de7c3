//! Discovery: which RDMA devices the kernel has, and the list of them that programs see.
//!
//! In the order of a call of `ibv_get_device_list`: [`list`] compares what [`enumerate`] finds,
//! through [`nldev`] or [`sysfs`], with the devices that it kept, and has [`crate::plugin`] find
//! providers for new ones. [`mod@open`] and [`device_file`] open a device.

mod device_file;
mod enumerate;
mod list;
mod nldev;
mod open;
mod record;
mod reference;
mod sysfs;
pub(crate) mod values;

#[cfg(test)]
pub(crate) mod tests;

use crate::sync::atomic::{AtomicU32, Ordering};

pub(crate) use list::{devices, node_guid};
pub(crate) use nldev::copy_on_fork;
pub(crate) use open::{close, import, open};
pub(crate) use record::{Record, store_text, text, transport_type};
pub(crate) use reference::{device_get, device_put};
pub(crate) use sysfs::{device_text, path as sysfs_path};

/// The version of the kernel's verbs interface; 0 before a device was found.
static UVERBS_ABI: AtomicU32 = AtomicU32::new(0);

/// The version of the kernel's verbs interface (`IB_USER_VERBS_ABI_VERSION`), 3 to 6; 0 before a
/// device was found.
pub(crate) fn uverbs_abi() -> u32 {
    UVERBS_ABI.load(Ordering::Relaxed)
}
