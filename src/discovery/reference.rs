//! The reference count of a device: one for the internal list, one per appearance in a list that a
//! program holds, one per open context.

use crate::sync::atomic::Ordering;

use crate::abi::*;
use crate::discovery::record;

/// Takes a reference.
///
/// # Safety
///
/// `device` must be a live device.
pub(crate) unsafe fn device_get(device: *mut verbs_device) {
    // SAFETY: the caller's promise.
    unsafe { (*device).refcount.fetch_add(1, Ordering::Relaxed) };
}

/// Drops a reference; the last one frees the device: first our record of it, then the provider's
/// part by its `uninit_device` (which some providers lack).
///
/// # Safety
///
/// `device` must be a live device, and the caller must own the reference.
pub(crate) unsafe fn device_put(device: *mut verbs_device) {
    // SAFETY: the caller's promise; the last owner frees.
    unsafe {
        if (*device).refcount.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        let sysfs = (*device).sysfs;
        if !sysfs.is_null() {
            record::free(sysfs);
        }
        if let Some(uninit_device) = (*(*device).ops).uninit_device {
            uninit_device(device);
        }
    }
}
