//! Contexts: the first command of a device file, and the file for asynchronous events.

use crate::sync::atomic::{AtomicU64, Ordering};
use core::ffi::c_int;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{Blocks, Buffers, Command, Kernel, method};
use crate::provider_api::op_index;
use crate::provider_api::private_abi::public_context;
use crate::sys::errno::{Result, ReturnNumber};
use crate::uapi::*;

/// Creates the kernel's context: fills in `num_comp_vectors`, and `core_support` of the device
/// (ioctl) or `async_fd` (write). `fd_arr`, which may be NULL, are file descriptors for the driver;
/// a kernel without the ioctl does not get them. `driver.h: ibv_cmd_get_context`
pub(crate) unsafe fn ibv_cmd_get_context<const ABI: u32>(
    context_ex: *mut verbs_context,
    cmd: *mut ibv_get_context,
    cmd_size: usize,
    fd_arr: *mut ibv_fd_arr,
    resp: *mut ib_uverbs_get_context_resp,
    resp_size: usize,
) -> c_int {
    // SAFETY: the provider passes its context, which nobody else knows yet, descriptors and
    // buffers of these sizes.
    unsafe {
        let kernel = Kernel::of(public_context::<ABI>(context_ex));
        let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
        let fds = match fd_arr.as_ref() {
            Some(fds) if !fds.arr.is_null() && fds.count > 0 => {
                core::slice::from_raw_parts(fds.arr, fds.count as usize)
            }
            _ => &[],
        };
        get_context(kernel, buffers, fds).map(|properties| properties.store(kernel))
    }
    .or_number()
}
export_private!(since 57 fn ibv_cmd_get_context::<ABI>(
    context_ex: *mut verbs_context,
    cmd: *mut ibv_get_context,
    cmd_size: usize,
    fd_arr: *mut ibv_fd_arr,
    resp: *mut ib_uverbs_get_context_resp,
    resp_size: usize,
) -> c_int);

/// What the kernel says about a context.
struct Properties {
    num_comp_vectors: u32,
    /// Bits of `enum ib_uverbs_core_support`.
    core_support: Option<u64>,
    async_fd: Option<c_int>,
}

impl Properties {
    /// # Safety
    ///
    /// Nobody else may use the context, but for other contexts of its device.
    unsafe fn store(&self, kernel: Kernel<'_>) {
        let context = kernel.context();
        // SAFETY: the caller's promise.
        let device = unsafe {
            (*context).num_comp_vectors = self.num_comp_vectors as c_int;
            if let Some(fd) = self.async_fd {
                (*context).async_fd = fd;
            }
            (*context).device.cast::<verbs_device>()
        };
        if let Some(bits) = self.core_support
            && !device.is_null()
        {
            // SAFETY: the device lives; this is the one place that changes the member.
            let core_support = unsafe { AtomicU64::from_ptr(&raw mut (*device).core_support) };
            // All contexts of a device store the same, and others may be reading it.
            if core_support.load(Ordering::Relaxed) != bits {
                core_support.store(bits, Ordering::Relaxed);
            }
        }
    }
}

fn get_context(kernel: Kernel<'_>, buffers: Buffers<'_>, fds: &[c_int]) -> Result<Properties> {
    let (mut num_comp_vectors, mut core_support) = (0, 0);
    let mut cmd = Command::new(method!(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT));
    cmd.output(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &mut num_comp_vectors)
        .output(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &mut core_support)
        .provider_bytes(&buffers);
    if !fds.is_empty() {
        cmd.input_slice(UVERBS_ATTR_GET_CONTEXT_FD_ARR, fds);
    }
    let request = ib_uverbs_get_context::zeroed();
    match cmd.execute_or_write(kernel, op_index!(free_context), request)? {
        None => {
            Ok(Properties { num_comp_vectors, core_support: Some(core_support), async_fd: None })
        }
        Some(response) => Ok(Properties {
            num_comp_vectors: response.num_comp_vectors,
            core_support: None,
            async_fd: Some(response.async_fd as c_int),
        }),
    }
}

/// Asks about a context that another process created: fills in `num_comp_vectors`, and
/// `core_support` of the device. `driver` are the provider's attributes, may be NULL.
/// `driver.h: ibv_cmd_query_context`
pub(super) unsafe extern "C" fn ibv_cmd_query_context(
    context: *mut ibv_context,
    driver: *mut ibv_command_buffer,
) -> c_int {
    // SAFETY: the provider passes its context, which nobody else knows yet, and its blocks.
    unsafe {
        let kernel = Kernel::of(context);
        query_context(kernel, Blocks::new(driver)).map(|properties| properties.store(kernel))
    }
    .or_number()
}
export_private!(ibv_cmd_query_context);

fn query_context(kernel: Kernel<'_>, driver: Blocks<'_>) -> Result<Properties> {
    let (mut num_comp_vectors, mut core_support) = (0, 0);
    Command::new(method!(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT))
        .output(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, &mut num_comp_vectors)
        .output(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, &mut core_support)
        .link(driver)
        .execute(kernel)?;
    Ok(Properties { num_comp_vectors, core_support: Some(core_support), async_fd: None })
}

/// Opens the file for the asynchronous events of a context, which then owns it as `async_fd`.
///
/// # Safety
///
/// `context` must be a set-up context that no other thread uses.
pub(crate) unsafe fn alloc_async_fd(context: *mut ibv_context) -> Result<()> {
    let mut fd = -1;
    let method = method!(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
    // SAFETY: the caller's promise, here and below.
    let kernel = unsafe { Kernel::of(context) };
    Command::new(method)
        .new_fd(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, &mut fd)
        .execute(kernel)?;
    // SAFETY: see above.
    unsafe { (*context).async_fd = fd };
    Ok(())
}

#[cfg(test)]
mod tests;
