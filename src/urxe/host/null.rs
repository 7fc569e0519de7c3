//! Memory behind `ibv_alloc_null_mr(3)`: it reads as zero, and what is written to it is lost.
//!
//! As much of it as a message can have, with little behind it.

use crate::sync::atomic::{AtomicPtr, Ordering};
use core::ptr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::sys::errno::{Errno, Result, from_minus_one};
use crate::urxe::limits::MAX_MESSAGE;

const LENGTH: usize = MAX_MESSAGE as usize;
/// Memory that is behind all of what is written to.
const BEHIND: usize = 2 << 20;

/// `MAX_MESSAGE` bytes that read as zero; not to be written. ENOMEM.
pub(crate) fn zeros() -> Result<*mut u8> {
    static ZEROS: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
    once(&ZEROS, || reserve(libc::PROT_READ))
}

/// `MAX_MESSAGE` bytes to write to. ENOMEM.
pub(crate) fn sink() -> Result<*mut u8> {
    static SINK: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
    once(&SINK, || {
        // SAFETY: a name and flags.
        let fd = unsafe { libc::memfd_create(c"urxe-null".as_ptr(), libc::MFD_CLOEXEC) };
        let fd = from_minus_one(fd)?;
        // SAFETY: the descriptor is new.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: changes the length of a file.
        from_minus_one(unsafe { libc::ftruncate(file.as_raw_fd(), BEHIND as i64) })?;
        let base = reserve(libc::PROT_NONE)?;
        for offset in (0..LENGTH).step_by(BEHIND) {
            // SAFETY: over the range just reserved.
            let mapped = unsafe {
                libc::mmap(
                    base.add(offset).cast(),
                    BEHIND,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_SHARED | libc::MAP_FIXED,
                    file.as_raw_fd(),
                    0,
                )
            };
            if mapped == libc::MAP_FAILED {
                let errno = Errno::last();
                release(base);
                return Err(errno);
            }
        }
        Ok(base)
    })
}

/// The memory in `place`, made if there is none yet. It stays as long as the process.
fn once(place: &AtomicPtr<u8>, make: impl FnOnce() -> Result<*mut u8>) -> Result<*mut u8> {
    let present = place.load(Ordering::Acquire);
    if !present.is_null() {
        return Ok(present);
    }
    let new = make()?;
    match place.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Ok(new),
        Err(first) => {
            release(new);
            Ok(first)
        }
    }
}

fn reserve(protection: i32) -> Result<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping, at a place that the kernel chooses.
    let address = unsafe { libc::mmap(ptr::null_mut(), LENGTH, protection, flags, -1, 0) };
    if address == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(address.cast()) }
}

fn release(address: *mut u8) {
    // SAFETY: reserved here, and seen by nobody.
    unsafe { libc::munmap(address.cast(), LENGTH) };
}
