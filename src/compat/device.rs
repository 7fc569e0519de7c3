//! The device list and the devices in it.

use core::ffi::{c_char, c_int};

use crate::abi::export::export;
use crate::abi::*;
use crate::in_use::InUse;
use crate::sys::errno::{Errno, Result, ReturnPointer, from_null, keep_errno};
use crate::verbs;

/// A device of this interface: the part that programs know, and who holds it.
#[repr(C)]
struct Device {
    public: ibv_device_1_0,
    /// One for its list, one for each context opened through it: programs read the `device` of a
    /// context when the list is long freed.
    references: InUse,
}

/// Takes a reference.
///
/// # Safety
///
/// `device` must be a device of a list that is not freed.
pub(super) unsafe fn get(device: *mut ibv_device_1_0) {
    // SAFETY: the caller's promise; devices are only made here.
    unsafe { (*device.cast::<Device>()).references.hold() };
}

/// Drops a reference.
///
/// # Safety
///
/// The caller must own the reference.
pub(super) unsafe fn put(device: *mut ibv_device_1_0) {
    // SAFETY: the caller's promise; the last owner frees.
    unsafe {
        if (*device.cast::<Device>()).references.release() {
            libc::free(device.cast());
        }
    }
}

/// Lists the devices, and stores their number in `num` unless that is NULL. The array ends in NULL
/// and has one slot in front, which holds the list of today. NULL with `errno` on failure.
/// `ibv_get_device_list(3)`
unsafe extern "C" fn get_device_list(num: *mut c_int) -> *mut *mut ibv_device_1_0 {
    // SAFETY: the caller passes NULL or room for the number.
    unsafe {
        if !num.is_null() {
            num.write(0);
        }
        list(num).or_null()
    }
}
export!(ibv_get_device_list @ "IBVERBS_1.0" as get_device_list);

/// # Safety
///
/// `num` must be NULL or room for the number.
unsafe fn list(num: *mut c_int) -> Result<*mut *mut ibv_device_1_0> {
    let mut count = 0;
    // SAFETY: there is room for the number; the list is ours.
    unsafe {
        let real = from_null(verbs::device::ibv_get_device_list(&raw mut count))?;
        let list = wrap(real, usize::try_from(count).unwrap_or(0)).inspect_err(|_| {
            keep_errno(|| verbs::device::ibv_free_device_list(real));
        })?;
        if !num.is_null() {
            num.write(count);
        }
        Ok(list)
    }
}

/// Wraps a list of `count` devices; ENOMEM. The real list belongs to the new one.
///
/// # Safety
///
/// `real` must be a list of so many devices.
unsafe fn wrap(real: *mut *mut ibv_device, count: usize) -> Result<*mut *mut ibv_device_1_0> {
    let slots = count.checked_add(2).ok_or(Errno::ENOMEM)?;
    // SAFETY: calloc has no preconditions.
    let array = from_null(unsafe { libc::calloc(slots, size_of::<*mut Device>()) })?;
    let array = array.cast::<*mut ibv_device_1_0>();
    // SAFETY: the array has a slot for the real list, one per device and one for the end; zero
    // bytes are NULL.
    unsafe {
        array.write(real.cast());
        let list = array.add(1);
        for place in 0..count {
            match new_device(real.add(place).read()) {
                Ok(device) => list.add(place).write(device),
                Err(errno) => {
                    free_wrappers(list);
                    return Err(errno);
                }
            }
        }
        Ok(list)
    }
}

/// Wraps a device, with one reference; ENOMEM.
pub(super) fn new_device(real: *mut ibv_device) -> Result<*mut ibv_device_1_0> {
    // SAFETY: malloc has no preconditions.
    let device = from_null(unsafe { libc::malloc(size_of::<Device>()) })?.cast::<Device>();
    let public = ibv_device_1_0 { real_device: real, ..ibv_device_1_0::zeroed() };
    // SAFETY: the memory is ours and large enough.
    unsafe { device.write(Device { public, references: InUse::one() }) };
    Ok(device.cast())
}

/// Frees a list and drops its devices, but not the real list.
///
/// # Safety
///
/// `list` must be a list made by [`wrap`], which is not used any more.
unsafe fn free_wrappers(list: *mut *mut ibv_device_1_0) {
    // SAFETY: the caller's promise: NULL ends the list, and the array begins one slot before it.
    unsafe {
        let mut place = list;
        while !(*place).is_null() {
            put(*place);
            place = place.add(1);
        }
        libc::free(list.sub(1).cast());
    }
}

/// Frees a list. `ibv_free_device_list(3)`
unsafe extern "C" fn free_device_list(list: *mut *mut ibv_device_1_0) {
    if list.is_null() {
        return;
    }
    // SAFETY: the caller passes a list that it got, and uses it no more; the slot in front holds
    // the real one.
    unsafe {
        let real = list.sub(1).read().cast::<*mut ibv_device>();
        free_wrappers(list);
        verbs::device::ibv_free_device_list(real);
    }
}
export!(ibv_free_device_list @ "IBVERBS_1.0" as free_device_list);

/// The kernel's name of a device. `ibv_get_device_name(3)`
unsafe extern "C" fn get_device_name(device: *mut ibv_device_1_0) -> *const c_char {
    // SAFETY: the caller passes a device.
    unsafe { verbs::device::ibv_get_device_name((*device).real_device) }
}
export!(ibv_get_device_name @ "IBVERBS_1.0" as get_device_name);

/// The node GUID of a device, in network order; 0 if it cannot be read. `ibv_get_device_guid(3)`
unsafe extern "C" fn get_device_guid(device: *mut ibv_device_1_0) -> u64 {
    // SAFETY: the caller passes a device.
    unsafe { verbs::device::ibv_get_device_guid((*device).real_device) }
}
export!(ibv_get_device_guid @ "IBVERBS_1.0" as get_device_guid);

#[cfg(test)]
mod tests {
    use core::ptr;

    use super::*;

    /// A list that stands for one of the real library.
    fn real_list(devices: &mut [ibv_device]) -> Vec<*mut ibv_device> {
        let mut list: Vec<_> = devices.iter_mut().map(|device| &raw mut *device).collect();
        list.push(ptr::null_mut());
        list
    }

    #[test]
    fn a_list_has_the_real_one_in_front() {
        let mut devices = [ibv_device::zeroed(), ibv_device::zeroed()];
        let mut real = real_list(&mut devices);
        // SAFETY: the list holds two devices; the wrapped one is freed once.
        unsafe {
            let list = wrap(real.as_mut_ptr(), 2).unwrap();
            assert_eq!(list.sub(1).read().cast(), real.as_mut_ptr());
            for (place, real) in real.iter().take(2).enumerate() {
                let device = list.add(place).read();
                assert_eq!((*device).real_device, *real);
                assert!((*device).obsolete_sysfs_dev.is_null());
                assert!((*device)._ops._dummy1.is_none());
            }
            assert!(list.add(2).read().is_null());
            free_wrappers(list);
        }
    }

    #[test]
    fn an_empty_list_has_its_ends() {
        let mut real = real_list(&mut []);
        // SAFETY: the list is empty; the wrapped one is freed once.
        unsafe {
            let list = wrap(real.as_mut_ptr(), 0).unwrap();
            assert!(list.read().is_null());
            free_wrappers(list);
        }
    }

    #[test]
    fn a_device_that_is_in_use_outlives_its_list() {
        let mut devices = [ibv_device::zeroed()];
        devices[0].name[..4].copy_from_slice(&[b'm' as c_char, b'l' as c_char, b'x' as c_char, 0]);
        let mut real = real_list(&mut devices);
        // SAFETY: as above; the device has a reference of its own.
        unsafe {
            let list = wrap(real.as_mut_ptr(), 1).unwrap();
            let device = list.read();
            get(device);
            free_wrappers(list);
            let name = core::ffi::CStr::from_ptr(get_device_name(device));
            assert_eq!(name, c"mlx");
            put(device);
        }
    }

    #[test]
    fn an_impossible_length_is_no_memory() {
        // SAFETY: no device of the list is read.
        let result = unsafe { wrap(ptr::null_mut(), usize::MAX) };
        assert_eq!(result, Err(Errno::ENOMEM));
    }

    #[test]
    fn no_list_is_freed_without_harm() {
        // SAFETY: NULL is ignored.
        unsafe { free_device_list(ptr::null_mut()) };
    }
}
