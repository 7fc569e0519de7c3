//! Devices.

#[path = "../../../src/discovery/reference.rs"]
mod reference;
pub(crate) mod reference_model;

/// Whether the kernel copies pinned pages when a process forks; see `fork`.
pub(crate) fn copy_on_fork() -> bool {
    false
}

mod record {
    use crate::abi::verbs_sysfs_dev;

    /// Devices of models have no record.
    pub(super) unsafe fn free(_: *mut verbs_sysfs_dev) {
        unreachable!("a device of a model has no record")
    }
}
