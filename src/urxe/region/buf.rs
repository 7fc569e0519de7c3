//! Buffers that the device allocates: in files, so that peers reach them by plain stores.

use core::alloc::Layout;
use core::ffi::{c_int, c_void};
use core::ptr::NonNull;
use std::sync::Arc;

use super::files::{DeviceFile, Purpose};
use crate::abi::*;
use crate::sys::errno::{Errno, Result, ReturnPointer};
use crate::sys::heap;
use crate::sys::page;
use crate::urxe::device::{Pd, is_confidential};
use crate::urxe::explain;
use crate::urxe::host;

/// A buffer.
#[repr(C)]
struct Buf {
    buf: ibv_buf,
    memory: Memory,
}

/// Where a buffer is.
enum Memory {
    /// In a file, which its regions keep as well.
    File(#[allow(dead_code, reason = "kept for its memory")] Arc<DeviceFile>),
    /// In ordinary memory.
    Ordinary(NonNull<u8>, Layout),
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Memory::Ordinary(address, layout) = *self {
            // SAFETY: allocated with this layout.
            unsafe { std::alloc::dealloc(address.as_ptr(), layout) };
        }
    }
}

/// `ibv_alloc_buf(3)`: page aligned. A parent domain that allows memory which is shared with the
/// host of a confidential guest gets a dma-buf.
///
/// # Errors
///
/// EINVAL for no bytes; ENOMEM.
pub(crate) unsafe extern "C" fn alloc_buf(
    pd: *mut ibv_pd,
    size: usize,
    buf: *mut *mut ibv_buf,
) -> *mut c_void {
    // SAFETY: the caller passes a PD of this device, and room for the handle.
    unsafe { allocate(pd, size, buf) }.or_null()
}

unsafe fn allocate(pd: *mut ibv_pd, size: usize, out: *mut *mut ibv_buf) -> Result<*mut c_void> {
    heap::enough()?;
    if size == 0 {
        explain!("ibv_alloc_buf: no bytes");
        return Err(Errno::EINVAL);
    }
    // SAFETY: the caller's promise.
    let is_dmabuf = unsafe { Pd::of(pd) }.allows_unprotected();
    let file = host::host().and_then(|host| DeviceFile::new(host, size as u64, Purpose::Buffer));
    let memory = match file {
        // In a confidential guest the device reaches dma-bufs alone.
        Ok(file) if is_dmabuf || !is_confidential() => Memory::File(file),
        Err(errno) if is_dmabuf => return Err(errno),
        _ => ordinary(size)?,
    };
    let (addr, dmabuf_fd): (*mut u8, c_int) = match &memory {
        Memory::File(file) if is_dmabuf => (file.address(), file.fd()),
        Memory::File(file) => (file.address(), -1),
        Memory::Ordinary(address, _) => (address.as_ptr(), -1),
    };
    let addr = addr.cast();
    let buf = Box::new(Buf { buf: ibv_buf { addr, size, pd, dmabuf_fd }, memory });
    // SAFETY: the caller's promise.
    unsafe { *out = Box::into_raw(buf).cast() };
    Ok(addr)
}

fn ordinary(size: usize) -> Result<Memory> {
    let layout = Layout::from_size_align(size, page::size()).map_err(|_| Errno::ENOMEM)?;
    // SAFETY: the size is not 0.
    let address = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) });
    Ok(Memory::Ordinary(address.ok_or(Errno::ENOMEM)?, layout))
}

/// `ibv_free_buf(3)`
pub(crate) unsafe extern "C" fn free_buf(buf: *mut ibv_buf) {
    // SAFETY: made as a box; the caller passes a buffer and uses it no more.
    drop(unsafe { Box::from_raw(buf.cast::<Buf>()) });
}

#[cfg(test)]
mod tests;
