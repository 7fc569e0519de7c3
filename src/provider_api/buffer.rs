//! Buffers of a provider that has no allocator of its own: plain page-aligned memory.

use core::ffi::c_void;
use core::ptr;

use crate::abi::*;
use crate::sys::errno::{Errno, Result, ReturnPointer};
use crate::sys::page;

/// Default of the operation `alloc_buf`: `length` bytes, page aligned, without a dma-buf.
/// Returns the address and stores the buffer in `out`. `ibv_alloc_buf(3)`
pub(super) unsafe extern "C" fn alloc_buf(
    pd: *mut ibv_pd,
    length: usize,
    out: *mut *mut ibv_buf,
) -> *mut c_void {
    // SAFETY: the operation's contract: `pd` is a PD, `out` is writable.
    unsafe { allocate(pd, length, out) }.or_null()
}

unsafe fn allocate(pd: *mut ibv_pd, length: usize, out: *mut *mut ibv_buf) -> Result<*mut c_void> {
    let mut address = ptr::null_mut();
    // SAFETY: posix_memalign has no preconditions but a valid place for the result.
    let status = unsafe { libc::posix_memalign(&raw mut address, page::size(), length) };
    if status != 0 {
        return Err(Errno(status));
    }
    let buf = Box::new(ibv_buf { addr: address, size: length, pd, dmabuf_fd: -1 });
    // SAFETY: the caller's promise.
    unsafe { *out = Box::into_raw(buf) };
    Ok(address)
}

/// Default of the operation `free_buf`: frees the memory and the buffer. `ibv_free_buf(3)`
pub(super) unsafe extern "C" fn free_buf(buf: *mut ibv_buf) {
    // SAFETY: the buffer came from `alloc_buf` above, as the operations of a context come in pairs.
    unsafe {
        libc::free((*buf).addr);
        drop(Box::from_raw(buf));
    }
}
