//! Contexts: set-up and tear-down on behalf of a provider.

use core::ffi::{c_int, c_void};
use core::mem::offset_of;
use core::ptr;

use crate::abi::export::export;
use crate::abi::*;
use crate::cmd;
use crate::discovery;
use crate::provider_api::{ContextPrivate, DEFAULT_OPS, ops};
use crate::sys::errno::{Errno, keep_errno};

/// Allocates a provider's context and prepares the part of it that the library knows.
///
/// `size` is the size of the provider's struct in bytes and `context_offset` the offset of its
/// `verbs_context` member, passed as a pointer value. Takes ownership of `cmd_fd`, which is closed
/// on failure (-1: no kernel device). Returns NULL with `errno` ENOMEM when memory is short.
/// `driver.h: _verbs_init_and_alloc_context`
pub(super) unsafe extern "C" fn _verbs_init_and_alloc_context(
    device: *mut ibv_device,
    cmd_fd: c_int,
    size: usize,
    context_offset: *mut verbs_context,
    driver_id: u32,
) -> *mut c_void {
    let offset = context_offset.addr();
    // SAFETY: calloc has no preconditions.
    let provider_context = unsafe { libc::calloc(1, size) };
    if provider_context.is_null() {
        close_fd(cmd_fd);
        Errno::ENOMEM.store();
        return ptr::null_mut();
    }
    let context = provider_context.wrapping_byte_add(offset).cast::<verbs_context>();
    // SAFETY: the provider's struct holds a verbs_context at that offset; `device` is a device of
    // the list.
    unsafe { init(context, device, cmd_fd, driver_id) };
    provider_context
}
export!(_verbs_init_and_alloc_context @@ "IBVERBS_PRIVATE_65");

/// Fills in a zeroed extended context and takes a reference to the device.
///
/// # Safety
///
/// `context` must point to a zeroed `verbs_context`, `device` to a device of the list.
pub(crate) unsafe fn init(
    context: *mut verbs_context,
    device: *mut ibv_device,
    cmd_fd: c_int,
    driver_id: u32,
) {
    // SAFETY: the caller's promise, for all places below.
    unsafe {
        discovery::device_get(device.cast());
        let public = &raw mut (*context).context;
        (*public).device = device;
        (*public).cmd_fd = cmd_fd;
        (*public).async_fd = -1;
        (*public).abi_compat = ptr::without_provenance_mut(usize::MAX);
        libc::pthread_mutex_init(&raw mut (*public).mutex, ptr::null());
        (*context).sz = size_of::<verbs_context>();
        let write_by_ioctl = cmd_fd >= 0 && cmd::probe_write_by_ioctl(cmd_fd, driver_id);
        let private = Box::new(ContextPrivate::new(DEFAULT_OPS, driver_id, write_by_ioctl));
        (*context).priv_ = Box::into_raw(private).cast();
        ops::set_ops(context, &DEFAULT_OPS);
    }
}

/// Undoes [`_verbs_init_and_alloc_context`] but for the memory, which is the provider's.
/// `driver.h: verbs_uninit_context`
pub(crate) unsafe extern "C" fn verbs_uninit_context(context: *mut verbs_context) {
    // SAFETY: the provider passes a context that it got from us, for the last time.
    unsafe {
        drop(Box::from_raw((*context).priv_.cast::<ContextPrivate>()));
        (*context).priv_ = ptr::null_mut();
        let public = &raw mut (*context).context;
        close_fd((*public).cmd_fd);
        close_fd((*public).async_fd);
        libc::pthread_mutex_destroy(&raw mut (*public).mutex);
        discovery::device_put((*public).device.cast());
    }
}
export!(verbs_uninit_context @@ "IBVERBS_PRIVATE_65");

fn close_fd(fd: c_int) {
    if fd != -1 {
        // SAFETY: the descriptor belongs to the context that goes away.
        keep_errno(|| unsafe { libc::close(fd) });
    }
}

/// Stores a provider's operations. May be called any number of times; NULL leaves what is there.
/// `driver.h: verbs_set_ops`
pub(super) unsafe extern "C" fn verbs_set_ops(
    context: *mut verbs_context,
    given: *const verbs_context_ops,
) {
    // SAFETY: the provider passes its own context, before others see it.
    unsafe { ops::set_ops(context, &*given) }
}
export!(verbs_set_ops @@ "IBVERBS_PRIVATE_65");

const _: () = assert!(offset_of!(verbs_context, context) == 368);
