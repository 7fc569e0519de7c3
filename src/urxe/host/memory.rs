//! A mapped slot file: the only way to what processes share.

use core::ffi::c_void;
use core::ptr::NonNull;
use std::os::fd::{AsFd, AsRawFd};

use crate::sys::errno::{Errno, Result};
use crate::urxe::shared::{FILE_SIZE, Shared};

/// A slot file in this process' address space.
pub(crate) struct Memory {
    base: NonNull<u8>,
    length: u64,
}

// SAFETY: all access is by atomics.
unsafe impl Send for Memory {}
// SAFETY: all access is by atomics.
unsafe impl Sync for Memory {}

impl Memory {
    /// Maps a slot file. The caller has made sure that the file has its full size; what mmap(2)
    /// says otherwise.
    pub(super) fn map(file: impl AsFd) -> Result<Memory> {
        Self::map_length(file, FILE_SIZE)
    }

    /// Memory of this process alone, which reads as zero and is there when it is touched.
    pub(super) fn private(length: u64) -> Result<Memory> {
        let base = map(None, length)?;
        Ok(Memory { base, length })
    }

    fn map_length(file: impl AsFd, length: u64) -> Result<Memory> {
        let base = map_file(file, length)?;
        Ok(Memory { base, length })
    }

    /// What is at an offset; nothing if it would not lie in the file, or not be aligned.
    #[inline]
    pub(crate) fn at<T: Shared>(&self, offset: u64) -> Option<&T> {
        self.slice::<T>(offset, 1)?.first()
    }

    /// `count` values from an offset on, as [`at`](Self::at).
    #[inline]
    pub(crate) fn slice<T: Shared>(&self, offset: u64, count: usize) -> Option<&[T]> {
        let bytes = size_of::<T>().checked_mul(count)? as u64;
        let end = offset.checked_add(bytes)?;
        if end > self.length || !offset.is_multiple_of(align_of::<T>() as u64) {
            return None;
        }
        // SAFETY: inside the mapping, which lives as long as `self` and begins at a page, so the
        // alignment holds; `Shared` types are atomics, for which any bits are a value and changes by
        // others are no race.
        Some(unsafe {
            core::slice::from_raw_parts(self.base.as_ptr().add(offset as usize).cast(), count)
        })
    }

    /// The address of `length` bytes at an offset, for copying; nothing if they are not all inside.
    pub(super) fn bytes(&self, offset: u64, length: u64) -> Option<*mut u8> {
        let end = offset.checked_add(length)?;
        // SAFETY: inside the mapping, or just behind it.
        (end <= self.length).then(|| unsafe { self.base.as_ptr().add(offset as usize) })
    }

    /// Sets bytes to zero that nobody else looks at; nothing happens for those outside.
    pub(super) fn clear(&self, offset: u64, length: u64) {
        if offset.checked_add(length).is_some_and(|end| end <= self.length) {
            // SAFETY: inside the mapping.
            unsafe { self.base.as_ptr().add(offset as usize).write_bytes(0, length as usize) };
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing borrowed from it is left.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.length as usize) };
    }
}

/// Maps a whole file of `length` bytes, to read and write together with others. Not in core dumps.
pub(super) fn map_file(file: impl AsFd, length: u64) -> Result<NonNull<u8>> {
    map(Some(file.as_fd().as_raw_fd()), length)
}

/// Maps a file, or memory without one.
fn map(file: Option<i32>, length: u64) -> Result<NonNull<u8>> {
    let kind =
        if file.is_some() { libc::MAP_SHARED } else { libc::MAP_PRIVATE | libc::MAP_ANONYMOUS };
    let length = usize::try_from(length).map_err(|_| Errno::ENOMEM)?;
    // SAFETY: a new mapping, at a place that the kernel chooses.
    let address = unsafe {
        libc::mmap(
            core::ptr::null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            kind | libc::MAP_NORESERVE,
            file.unwrap_or(-1),
            0,
        )
    };
    if address == libc::MAP_FAILED {
        return Err(Errno::last());
    }
    // SAFETY: the mapping is ours. That it fails does no harm.
    unsafe { libc::madvise(address, length, libc::MADV_DONTDUMP) };
    NonNull::new(address.cast::<u8>()).ok_or(Errno::ENOMEM)
}

/// A shared file of a process ([`shared_file`](super::shared_file)), mapped by it or by a peer.
pub(crate) struct MappedFile {
    address: NonNull<u8>,
    length: u64,
}

// SAFETY: an address and a length; the bytes are the application's, which orders its access itself.
unsafe impl Send for MappedFile {}
// SAFETY: as above.
unsafe impl Sync for MappedFile {}

impl MappedFile {
    pub(super) fn map(file: impl AsFd, length: u64) -> Result<MappedFile> {
        Ok(MappedFile { address: map_file(file, length)?, length })
    }

    /// First address.
    pub(crate) fn address(&self) -> *mut c_void {
        self.address.as_ptr().cast()
    }

    /// Length in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The address of `length` bytes at `offset`; nothing if they are not all in the file.
    pub(crate) fn range(&self, offset: u64, length: u64) -> Option<*mut c_void> {
        let end = offset.checked_add(length)?;
        // SAFETY: inside the mapping, or just behind it.
        (end <= self.length).then(|| unsafe { self.address.as_ptr().add(offset as usize).cast() })
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours.
        unsafe { libc::munmap(self.address.as_ptr().cast(), self.length as usize) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};
    use crate::urxe::shared::QpShared;

    fn memory(length: u64) -> Memory {
        // SAFETY: a name and flags.
        let fd = unsafe { libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC) };
        // SAFETY: the descriptor is new.
        let file = unsafe { <std::fs::File as std::os::fd::FromRawFd>::from_raw_fd(fd) };
        file.set_len(length).unwrap();
        Memory::map_length(&file, length).unwrap()
    }

    #[test]
    fn only_what_is_inside_and_aligned() {
        let memory = memory(8192);
        memory.at::<AtomicU64>(8184).unwrap().store(7, Ordering::Relaxed);
        assert_eq!(memory.at::<AtomicU32>(8184).unwrap().load(Ordering::Relaxed), 7);
        for offset in [8188, 8192, 4, u64::MAX, u64::MAX - 7, 1 << 40] {
            assert!(memory.at::<AtomicU64>(offset).is_none(), "{offset}");
        }
        assert!(memory.at::<QpShared>(8192 - size_of::<QpShared>() as u64).is_some());
        assert!(memory.at::<QpShared>(8192 - 64).is_none());
        assert!(memory.at::<QpShared>(32).is_none());
        assert_eq!(memory.slice::<AtomicU64>(0, 1024).unwrap().len(), 1024);
        assert!(memory.slice::<AtomicU64>(8, 1024).is_none());
        assert!(memory.slice::<AtomicU64>(0, usize::MAX).is_none());
        assert!(memory.slice::<AtomicU64>(8192, 0).is_some_and(<[_]>::is_empty));
    }

    #[test]
    fn clearing_keeps_inside() {
        let memory = memory(4096);
        for value in memory.slice::<AtomicU64>(0, 512).unwrap() {
            value.store(u64::MAX, Ordering::Relaxed);
        }
        memory.clear(8, 8);
        memory.clear(4088, 16);
        memory.clear(u64::MAX, 2);
        let get = |offset| memory.at::<AtomicU64>(offset).unwrap().load(Ordering::Relaxed);
        assert_eq!((get(0), get(8), get(16), get(4088)), (u64::MAX, 0, u64::MAX, u64::MAX));
    }
}
