//! The `IBVERBS_1.0` interface: what programs linked before libibverbs 1.1 call.
//!
//! Their structs differ from those of today, so each of their objects is a wrapper that holds a
//! pointer to the real one. A function of this interface unwraps its arguments, calls the function
//! of today, and wraps what that returns. Posting translates work requests, which differ too.
//!
//! Events lead from a real object back to its wrapper: the user context of a real CQ, QP or SRQ is
//! its wrapper, and the wrapper keeps the program's.

mod ah;
mod context;
mod cq;
mod device;
mod event;
mod pd;
mod post;
mod qp;
mod srq;
#[cfg(test)]
mod testing;

pub(crate) use context::real_context;

use core::ffi::c_int;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

use crate::abi::Plain;
use crate::sys::errno::{Result, from_null, keep_errno};

/// A new wrapper, all zero, from the C heap. Freed unless it is handed out, so that a creation that
/// fails on the way leaves nothing behind.
struct Wrapper<T: Plain>(NonNull<T>);

impl<T: Plain> Wrapper<T> {
    /// Allocates one; ENOMEM.
    fn new() -> Result<Wrapper<T>> {
        // SAFETY: calloc has no preconditions.
        let memory = from_null(unsafe { libc::calloc(1, size_of::<T>()) })?;
        // SAFETY: it is not NULL.
        Ok(Wrapper(unsafe { NonNull::new_unchecked(memory.cast()) }))
    }

    /// Where it is and will stay.
    fn as_ptr(&self) -> *mut T {
        self.0.as_ptr()
    }

    /// Gives it to the program, which gives it back to [`free_if_done`].
    fn hand_out(self) -> *mut T {
        let wrapper = self.as_ptr();
        core::mem::forget(self);
        wrapper
    }
}

impl<T: Plain> Deref for Wrapper<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the memory is ours alone and zero bytes are a valid value of the type.
        unsafe { self.0.as_ref() }
    }
}

impl<T: Plain> DerefMut for Wrapper<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the memory is ours alone and zero bytes are a valid value of the type.
        unsafe { self.0.as_mut() }
    }
}

impl<T: Plain> Drop for Wrapper<T> {
    fn drop(&mut self) {
        // SAFETY: the memory is from calloc, and nobody else knows it.
        keep_errno(|| unsafe { libc::free(self.as_ptr().cast()) });
    }
}

/// Passes on how the destruction of a real object ended, and frees the wrapper if the object is
/// gone; after a failure both stay usable.
///
/// # Safety
///
/// `wrapper` must have been handed out, and the caller must use it no more after a success.
unsafe fn free_if_done<T>(wrapper: *mut T, status: c_int) -> c_int {
    if status == 0 {
        // SAFETY: the caller's promise.
        unsafe { libc::free(wrapper.cast()) };
    }
    status
}
