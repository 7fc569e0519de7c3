//! The two system calls of the command layer; tests put a fake kernel in their place.

#[cfg(not(test))]
pub(super) use real::{ioctl, write};

#[cfg(test)]
pub(super) use crate::cmd::fake::{ioctl, write};

#[cfg(not(test))]
mod real {
    use core::ffi::c_int;

    use crate::uapi::{RDMA_VERBS_IOCTL, ib_uverbs_ioctl_hdr};

    /// ioctl(2) with `RDMA_VERBS_IOCTL`: -1 with `errno`, or 0.
    ///
    /// # Safety
    ///
    /// `message` must be a header with its attributes behind it, each of which is valid for what
    /// the method does with it.
    pub(in crate::cmd) unsafe fn ioctl(fd: c_int, message: *mut ib_uverbs_ioctl_hdr) -> c_int {
        // SAFETY: the caller's promise.
        unsafe { libc::ioctl(fd, libc::c_ulong::from(RDMA_VERBS_IOCTL) as _, message) }
    }

    /// write(2): -1 with `errno`, or the number of bytes taken.
    ///
    /// # Safety
    ///
    /// `message` must be readable for `length` bytes, and the response address in it writable for
    /// as many words as its header says.
    pub(in crate::cmd) unsafe fn write(fd: c_int, message: *const u8, length: usize) -> isize {
        // SAFETY: the caller's promise.
        unsafe { libc::write(fd, message.cast(), length) }
    }
}
