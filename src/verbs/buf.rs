//! Buffers that a provider allocates: ordinary memory, or a dma-buf that the device can reach where
//! it cannot reach ordinary memory.

use core::ffi::{c_int, c_void};

use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::call_op;
use crate::sys::errno::{Errno, Result, ReturnMinusOne, ReturnPointer, from_minus_one, from_null};
use crate::verbs::refuse;

/// Allocates `size` bytes as the provider of the PD thinks fit and stores the buffer's handle in
/// `buf`. Returns its address; NULL with `errno` on failure. The PD must outlive the buffer.
/// `ibv_alloc_buf(3)`
pub(super) unsafe extern "C" fn ibv_alloc_buf(
    pd: *mut ibv_pd,
    size: usize,
    buf: *mut *mut ibv_buf,
) -> *mut c_void {
    // SAFETY: the caller passes NULL or a PD and room for the handle.
    unsafe { allocate(pd, size, buf) }.or_null()
}
export!(ibv_alloc_buf @@ "IBVERBS_1.17");

unsafe fn allocate(pd: *mut ibv_pd, size: usize, buf: *mut *mut ibv_buf) -> Result<*mut c_void> {
    if pd.is_null() || buf.is_null() {
        return refuse!(EINVAL, "ibv_alloc_buf: no PD or no place for the handle");
    }
    // SAFETY: the caller's promise.
    from_null(unsafe { call_op!((*pd).context, alloc_buf(pd, size, buf)) })
}

/// Frees a buffer, which must not be registered any more; nothing for NULL. `ibv_free_buf(3)`
pub(super) unsafe extern "C" fn ibv_free_buf(buf: *mut ibv_buf) {
    if !buf.is_null() {
        // SAFETY: the caller passes a buffer, whose PD still exists, and uses it no more.
        unsafe { call_op!((*(*buf).pd).context, free_buf(buf)) }
    }
}
export!(ibv_free_buf @@ "IBVERBS_1.17");

/// Returns a new descriptor of the buffer's dma-buf, closed on exec, which is the caller's to
/// close. -1 with `errno`: ENODATA for a buffer without a dma-buf; what fcntl(2) says.
/// `ibv_export_buf_dmabuf_fd(3)`
pub(super) unsafe extern "C" fn ibv_export_buf_dmabuf_fd(buf: *mut ibv_buf) -> c_int {
    // SAFETY: the caller passes NULL or a buffer.
    unsafe { export_dmabuf(buf) }.or_minus_one()
}
export!(ibv_export_buf_dmabuf_fd @@ "IBVERBS_1.18");

unsafe fn export_dmabuf(buf: *mut ibv_buf) -> Result<c_int> {
    if buf.is_null() {
        return refuse!(EINVAL, "ibv_export_buf_dmabuf_fd: no buffer");
    }
    // SAFETY: the caller's promise.
    let fd = unsafe { (*buf).dmabuf_fd };
    if fd < 0 {
        return Err(Errno::ENODATA);
    }
    // SAFETY: duplicating a descriptor has no preconditions.
    from_minus_one(unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) })
}

#[cfg(test)]
mod tests {
    use core::ptr;
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

    use super::*;
    use crate::verbs::testing::{Call, Fake, words};

    #[test]
    fn the_provider_of_the_pd_allocates_and_frees() {
        let fake = Fake::new();
        let mut pd = fake.pd();
        let mut memory = [0_u8; 8];
        let mut buf = ibv_buf { pd: &raw mut pd, ..ibv_buf::zeroed() };
        let mut handle = ptr::null_mut();
        fake.answer_object(memory.as_mut_ptr());
        // SAFETY: live objects.
        unsafe {
            let address = ibv_alloc_buf(&mut pd, 8, &mut handle);
            assert_eq!(address, memory.as_mut_ptr().cast());
            ibv_free_buf(&mut buf);
        }
        assert_eq!(
            fake.calls(),
            [
                Call("alloc_buf", words![&raw const pd, 8, &raw const handle]),
                Call("free_buf", words![&raw const buf]),
            ]
        );
    }

    #[test]
    fn a_failed_allocation_is_passed_on() {
        let fake = Fake::new();
        let mut pd = fake.pd();
        let mut handle = ptr::dangling_mut();
        fake.answer(libc::ENOMEM);
        // SAFETY: live objects.
        assert!(unsafe { ibv_alloc_buf(&mut pd, 8, &mut handle) }.is_null());
        assert_eq!((Errno::last(), handle), (Errno::ENOMEM, ptr::dangling_mut()));
    }

    #[test]
    fn without_the_arguments_there_is_no_buffer() {
        let fake = Fake::new();
        let mut pd = fake.pd();
        let mut handle = ptr::null_mut();
        // SAFETY: NULL is allowed.
        unsafe {
            assert!(ibv_alloc_buf(ptr::null_mut(), 8, &mut handle).is_null());
            assert_eq!(Errno::last(), Errno::EINVAL);
            assert!(ibv_alloc_buf(&mut pd, 8, ptr::null_mut()).is_null());
            assert_eq!(Errno::last(), Errno::EINVAL);
            ibv_free_buf(ptr::null_mut());
            assert_eq!(ibv_export_buf_dmabuf_fd(ptr::null_mut()), -1);
            assert_eq!(Errno::last(), Errno::EINVAL);
        }
        assert!(fake.calls().is_empty());
    }

    #[test]
    fn the_default_is_page_aligned_memory_without_a_dmabuf() {
        let fake = Fake::with_ops(&verbs_context_ops::zeroed());
        let mut pd = fake.pd();
        for size in [1, 100, 4096, 70_000] {
            let mut handle = ptr::null_mut();
            // SAFETY: a live PD; the buffer is freed once.
            unsafe {
                let address = ibv_alloc_buf(&mut pd, size, &mut handle);
                assert!(!address.is_null());
                assert_eq!(address.addr() % 4096, 0);
                address.cast::<u8>().write_bytes(0x5a, size);
                assert_eq!(((*handle).addr, (*handle).size), (address, size));
                assert_eq!(((*handle).pd, (*handle).dmabuf_fd), (&raw mut pd, -1));
                assert_eq!(ibv_export_buf_dmabuf_fd(handle), -1);
                assert_eq!(Errno::last(), Errno::ENODATA);
                ibv_free_buf(handle);
            }
        }
        let mut handle = ptr::dangling_mut();
        // SAFETY: a live PD.
        assert!(unsafe { ibv_alloc_buf(&mut pd, usize::MAX / 2, &mut handle) }.is_null());
        assert_eq!((Errno::last(), handle), (Errno::ENOMEM, ptr::dangling_mut()));
    }

    #[test]
    fn an_exported_descriptor_is_a_new_one_that_exec_closes() {
        let fake = Fake::new();
        let mut pd = fake.pd();
        let (reader, _writer) = std::io::pipe().unwrap();
        let mut buf =
            ibv_buf { pd: &raw mut pd, dmabuf_fd: reader.as_raw_fd(), ..ibv_buf::zeroed() };
        // SAFETY: a live buffer; the new descriptor is ours.
        unsafe {
            let fd = ibv_export_buf_dmabuf_fd(&mut buf);
            assert!(fd >= 0 && fd != reader.as_raw_fd());
            let fd = OwnedFd::from_raw_fd(fd);
            assert_eq!(libc::fcntl(fd.as_raw_fd(), libc::F_GETFD), libc::FD_CLOEXEC);
            assert_eq!(buf.dmabuf_fd, reader.as_raw_fd());
            buf.dmabuf_fd = c_int::MAX;
            assert_eq!(ibv_export_buf_dmabuf_fd(&mut buf), -1);
            assert_eq!(Errno::last(), Errno(libc::EBADF));
        }
        assert!(fake.calls().is_empty());
    }
}
