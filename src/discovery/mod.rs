//! Discovery: which RDMA devices the kernel has, and the list of them that programs see.

mod nldev;
mod reference;
mod sysfs;

use core::sync::atomic::{AtomicU32, Ordering};

pub(crate) use nldev::copy_on_fork;
pub(crate) use reference::{device_get, device_put};
pub(crate) use sysfs::{device_text, path as sysfs_path, read_device_file};

/// The version of the kernel's verbs interface; 0 before a device was found.
static UVERBS_ABI: AtomicU32 = AtomicU32::new(0);

/// The version of the kernel's verbs interface (`IB_USER_VERBS_ABI_VERSION`), 3 to 6; 0 before a
/// device was found.
pub(crate) fn uverbs_abi() -> u32 {
    UVERBS_ABI.load(Ordering::Relaxed)
}
