//! What a forked child must not take for its own.
//!
//! The pointer to the [`Host`] of a process lies in a page that the kernel wipes when
//! the process forks (MADV_WIPEONFORK), so a child finds none, whichever way it was made.

use crate::sync::atomic::{AtomicPtr, Ordering};
use core::ptr::{self, NonNull};

use super::Host;
use crate::sys::errno::{Errno, Result, from_minus_one};
use crate::sys::mutex::Mutex;

/// The page. All zero, as after a fork, is its initial state.
#[repr(C)]
struct Page {
    host: AtomicPtr<Host>,
    /// Held while the slot is taken. A mutex that nobody holds is all zero.
    taking: Mutex<()>,
}

static PAGE: AtomicPtr<Page> = AtomicPtr::new(ptr::null_mut());

/// The host of this process, made by `take` if there is none yet.
pub(super) fn current(take: impl FnOnce() -> Result<Host>) -> Result<&'static Host> {
    match existing() {
        Some(host) => Ok(host),
        None => make(take),
    }
}

/// The host of this process, if it has one.
#[inline]
pub(super) fn existing() -> Option<&'static Host> {
    let page = NonNull::new(PAGE.load(Ordering::Acquire))?;
    // SAFETY: a page is never unmapped; the host in it is never freed.
    unsafe { page.as_ref().host.load(Ordering::Acquire).as_ref() }
}

#[cold]
fn make(take: impl FnOnce() -> Result<Host>) -> Result<&'static Host> {
    let page = page()?;
    let _taking = page.taking.lock();
    // SAFETY: the host in the page is never freed.
    if let Some(host) = unsafe { page.host.load(Ordering::Acquire).as_ref() } {
        return Ok(host);
    }
    let host = take()?;
    #[cfg(not(test))]
    let host: &'static Host = Box::leak(Box::new(host));
    // Leak checkers do not look into the page.
    #[cfg(test)]
    let host: &'static Host = crate::sys::tests::keep(host);
    page.host.store(ptr::from_ref(host).cast_mut(), Ordering::Release);
    Ok(host)
}

fn page() -> Result<&'static Page> {
    // SAFETY: a page is never unmapped.
    if let Some(page) = unsafe { PAGE.load(Ordering::Acquire).as_ref() } {
        return Ok(page);
    }
    let new = new_page()?;
    let swap =
        PAGE.compare_exchange(ptr::null_mut(), new.as_ptr(), Ordering::AcqRel, Ordering::Acquire);
    let page = match swap {
        Ok(_) => new.as_ptr(),
        Err(first) => {
            // SAFETY: another thread was first, and nobody has seen this one.
            unsafe { libc::munmap(new.as_ptr().cast(), size_of::<Page>()) };
            first
        }
    };
    // SAFETY: a page is never unmapped.
    Ok(unsafe { &*page })
}

fn new_page() -> Result<NonNull<Page>> {
    let length = size_of::<Page>();
    // SAFETY: a new mapping, at a place that the kernel chooses; zero is the initial state.
    unsafe {
        let address = libc::mmap(
            ptr::null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if address == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        if from_minus_one(libc::madvise(address, length, libc::MADV_WIPEONFORK)).is_err() {
            // A kernel before 4.14: as far as the C library knows about forks.
            libc::pthread_atfork(None, None, Some(forget));
        }
        NonNull::new(address.cast::<Page>()).ok_or(Errno::ENOMEM)
    }
}

/// In a child: there is no host.
unsafe extern "C" fn forget() {
    PAGE.store(ptr::null_mut(), Ordering::Relaxed);
}
