//! Contexts: set-up and tear-down on behalf of a provider.
//!
//! The functions that plugins call take the plugin's own `verbs_context`; what they do is done to
//! the public context in it.

use core::ffi::{c_int, c_void};
use core::ptr;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd;
use crate::discovery;
use crate::log::log;
use crate::provider_api::private_abi::{Layout, public_context};
use crate::provider_api::{ContextPrivate, DEFAULT_OPS, live, member, ops, private, registry};
use crate::sys::errno::{Errno, Result, ReturnPointer, keep_errno};

/// Allocates a provider's context and prepares the part of it that the library knows.
///
/// `size` is the size of the provider's struct in bytes and `context_offset` the offset of its
/// `verbs_context` member, passed as a pointer value. Takes ownership of `cmd_fd`, which is closed
/// on failure (-1: no kernel device). Returns NULL with `errno` ENOMEM when memory is short, EINVAL
/// when the struct has no room for a `verbs_context` at that offset, EOPNOTSUPP for a provider of a
/// release that is too old.
/// `driver.h: _verbs_init_and_alloc_context`
pub(super) unsafe fn _verbs_init_and_alloc_context<const ABI: u32>(
    device: *mut ibv_device,
    cmd_fd: c_int,
    size: usize,
    context_offset: *mut verbs_context,
    driver_id: u32,
) -> *mut c_void {
    // SAFETY: `device` is a device of the list; its provider is the caller.
    unsafe {
        registry::layout_of_context(ABI, (*device.cast::<verbs_device>()).ops)
            .and_then(|layout| Ok((layout, allocate(layout, size, context_offset.addr())?)))
            .inspect_err(|_| close_fd(cmd_fd))
            .map(|(layout, (provider_context, public))| {
                init(public, layout, device, cmd_fd, driver_id);
                provider_context
            })
    }
    .or_null()
}
export_private!(fn _verbs_init_and_alloc_context::<ABI>(
    device: *mut ibv_device,
    cmd_fd: c_int,
    size: usize,
    context_offset: *mut verbs_context,
    driver_id: u32,
) -> *mut c_void);

/// Zeroed memory for a provider's context, and the public context in it.
fn allocate(
    layout: &Layout,
    size: usize,
    offset: usize,
) -> Result<(*mut c_void, *mut ibv_context)> {
    let end = offset.checked_add(layout.context_size());
    if end.is_none_or(|end| end > size) {
        log!(
            VERBS_LOG_ERR,
            "a provider asks for a context of {size} bytes, which is too small for that of \
             private ABI {} (rdma-core {:?}) at {offset}",
            layout.private_abi,
            layout.releases,
        );
        return Err(Errno::EINVAL);
    }
    // SAFETY: calloc has no preconditions.
    let memory = unsafe { libc::calloc(1, size) };
    if memory.is_null() {
        return Err(Errno::ENOMEM);
    }
    let public = memory.wrapping_byte_add(offset + layout.context_offset);
    Ok((memory, public.cast()))
}

/// Fills in a zeroed context and takes a reference to the device.
///
/// # Safety
///
/// `context` must point to the public part of a zeroed `verbs_context` of this layout, `device` to
/// a device of the list.
pub(crate) unsafe fn init(
    context: *mut ibv_context,
    layout: &'static Layout,
    device: *mut ibv_device,
    cmd_fd: c_int,
    driver_id: u32,
) {
    // SAFETY: the caller's promise, for all places below.
    unsafe {
        discovery::device_get(device.cast());
        (*context).device = device;
        (*context).cmd_fd = cmd_fd;
        (*context).async_fd = -1;
        (*context).abi_compat = ptr::without_provenance_mut(usize::MAX);
        libc::pthread_mutex_init(&raw mut (*context).mutex, ptr::null());
        member!(context, sz).write(layout.context_size());
        let write_by_ioctl = cmd_fd >= 0 && cmd::probe_write_by_ioctl(cmd_fd, driver_id);
        let private = ContextPrivate::new(DEFAULT_OPS, layout, driver_id, write_by_ioctl);
        member!(context, priv_).write(Box::into_raw(Box::new(private)).cast());
        ops::set_ops(context, &DEFAULT_OPS);
    }
    live::add(context);
}

/// Undoes [`fn@_verbs_init_and_alloc_context`] but for the memory, which is the provider's.
/// `driver.h: verbs_uninit_context`
pub(super) unsafe fn verbs_uninit_context<const ABI: u32>(context: *mut verbs_context) {
    // SAFETY: the provider passes a context that it got from us, for the last time.
    unsafe { uninit(public_context::<ABI>(context)) }
}
export_private!(fn verbs_uninit_context::<ABI>(context: *mut verbs_context));

/// Undoes [`init`].
///
/// # Safety
///
/// `context` must be a set-up context, used for the last time.
pub(crate) unsafe fn uninit(context: *mut ibv_context) {
    live::remove(context);
    // SAFETY: the caller's promise.
    unsafe {
        let private = member!(context, priv_);
        drop(Box::from_raw(private.read().cast::<ContextPrivate>()));
        private.write(ptr::null_mut());
        close_fd((*context).cmd_fd);
        close_fd((*context).async_fd);
        libc::pthread_mutex_destroy(&raw mut (*context).mutex);
        discovery::device_put((*context).device.cast());
    }
}

fn close_fd(fd: c_int) {
    if fd != -1 {
        // SAFETY: the descriptor belongs to the context that goes away.
        keep_errno(|| unsafe { libc::close(fd) });
    }
}

/// Stores a provider's operations. May be called any number of times; NULL leaves what is there.
/// `driver.h: verbs_set_ops`
pub(super) unsafe fn verbs_set_ops<const ABI: u32>(
    context: *mut verbs_context,
    given: *const verbs_context_ops,
) {
    // SAFETY: the provider passes its own context, before others see it, and a table as its
    // private ABI defines it.
    unsafe {
        let context = public_context::<ABI>(context);
        let given = private(context).layout.newest_ops(given);
        ops::set_ops(context, &given);
    }
}
export_private!(fn verbs_set_ops::<ABI>(
    context: *mut verbs_context,
    given: *const verbs_context_ops,
));
