//! The list of devices, opening and closing them.

use core::ffi::{c_char, c_int, c_void};
use core::ptr;

use crate::abi::export::{export, export_private};
use crate::abi::*;
use crate::discovery;
use crate::provider_api::live;
use crate::sys::errno::{Errno, Result, ReturnPointer};
use crate::sys::heap;
use crate::verbs::report;

/// The devices that there are now, as an array that ends with NULL and that
/// [`ibv_free_device_list`] frees; `num`, unless NULL, gets their number. NULL with `errno` on
/// failure: ENOSYS without RDMA in the kernel, ENOMEM. `ibv_get_device_list(3)`
pub(crate) unsafe extern "C" fn ibv_get_device_list(num: *mut c_int) -> *mut *mut ibv_device {
    let list = array_of_devices();
    if !num.is_null() {
        let count = list.as_ref().map_or(0, |(_, count)| *count);
        // SAFETY: the caller passes room for the number.
        unsafe { *num = c_int::try_from(count).unwrap_or(c_int::MAX) };
    }
    list.map(|(array, _)| array).or_null()
}
export!(ibv_get_device_list @@ "IBVERBS_1.1");

fn array_of_devices() -> Result<(*mut *mut ibv_device, usize)> {
    heap::enough()?;
    // What was not found for lack of memory is not missing.
    let devices = discovery::devices().map_err(|errno| heap::enough().err().unwrap_or(errno))?;
    let count = devices.len();
    // SAFETY: calloc has no preconditions.
    let array = unsafe { libc::calloc(count + 1, size_of::<*mut ibv_device>()) };
    let array = array.cast::<*mut ibv_device>();
    if array.is_null() || heap::enough().is_err() {
        // SAFETY: the memory is ours, or NULL.
        unsafe { libc::free(array.cast()) };
        for device in devices {
            // SAFETY: the reference is ours.
            unsafe { discovery::device_put(device.cast()) };
        }
        return Err(Errno::ENOMEM);
    }
    // SAFETY: the array has room for the devices and the final NULL.
    unsafe { ptr::copy_nonoverlapping(devices.as_ptr(), array, count) };
    Ok((array, count))
}

/// Frees an array of [`ibv_get_device_list`]; NULL is left alone. Devices that are open stay valid.
/// `ibv_free_device_list(3)`
pub(crate) unsafe extern "C" fn ibv_free_device_list(list: *mut *mut ibv_device) {
    if list.is_null() {
        return;
    }
    // SAFETY: the caller passes an array of ours for the last time; the array owns a reference to
    // each device.
    unsafe {
        let mut next = list;
        while !(*next).is_null() {
            discovery::device_put((*next).cast());
            next = next.add(1);
        }
        libc::free(list.cast());
    }
}
export!(ibv_free_device_list @@ "IBVERBS_1.1");

/// The name of a device, valid as long as the device. `ibv_get_device_name(3)`
pub(crate) unsafe extern "C" fn ibv_get_device_name(device: *mut ibv_device) -> *const c_char {
    // SAFETY: the caller passes a live device.
    unsafe { (&raw const (*device).name).cast() }
}
export!(ibv_get_device_name @@ "IBVERBS_1.1");

/// The node GUID of a device in network byte order; 0 if it cannot be found out.
/// `ibv_get_device_guid(3)`
pub(crate) unsafe extern "C" fn ibv_get_device_guid(device: *mut ibv_device) -> __be64 {
    // SAFETY: the caller passes a live device.
    unsafe { discovery::node_guid(device) }
}
export!(ibv_get_device_guid @@ "IBVERBS_1.1");

/// The kernel's number of a device, which no other device gets while the kernel runs; -1 if the
/// kernel does not tell. `ibv_get_device_index(3)`
unsafe extern "C" fn ibv_get_device_index(device: *mut ibv_device) -> c_int {
    // SAFETY: the caller passes a live device; its record lives as long.
    unsafe { (*device.cast::<verbs_device>()).sysfs.as_ref().map_or(-1, |it| it.ibdev_idx) }
}
export!(ibv_get_device_index @@ "IBVERBS_1.9");

/// Opens a device. NULL with `errno` on failure. `ibv_open_device(3)`
pub(crate) unsafe extern "C" fn ibv_open_device(device: *mut ibv_device) -> *mut ibv_context {
    // SAFETY: the caller passes a live device.
    unsafe { discovery::open(device, ptr::null_mut()) }.or_null()
}
export!(ibv_open_device @@ "IBVERBS_1.1");

/// Opens a device with attributes that only its provider knows. `driver.h: verbs_open_device`
unsafe extern "C" fn verbs_open_device(
    device: *mut ibv_device,
    private_data: *mut c_void,
) -> *mut ibv_context {
    // SAFETY: the provider passes its live device.
    unsafe { discovery::open(device, private_data) }.or_null()
}
export_private!(verbs_open_device);

/// Closes a context. Objects that were made in it must be gone. Returns 0, or EBADF if it is closed
/// already and that can be told. `ibv_close_device(3)`
pub(crate) unsafe extern "C" fn ibv_close_device(context: *mut ibv_context) -> c_int {
    if !live::is_live(context) {
        return report(live::too_late("ibv_close_device"));
    }
    // SAFETY: the caller passes an open context for the last time.
    unsafe { discovery::close(context) };
    0
}
export!(ibv_close_device @@ "IBVERBS_1.1");

/// Makes a context of a descriptor of a device that another process opened and sent. NULL with
/// `errno` on failure: EINVAL for no device file, ENODEV for none of ours, EOPNOTSUPP if the
/// provider cannot do it. `ibv_import_device(3)`
unsafe extern "C" fn ibv_import_device(cmd_fd: c_int) -> *mut ibv_context {
    discovery::import(cmd_fd).or_null()
}
export!(ibv_import_device @@ "IBVERBS_1.10");
