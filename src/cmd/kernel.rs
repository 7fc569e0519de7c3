//! The kernel's side of a context: where commands go.

use core::ffi::{CStr, c_int};
use core::fmt;

use crate::abi::*;
use crate::cmd::message::Message;
use crate::cmd::syscall;
use crate::provider_api::{ContextPrivate, private};
use crate::sys::errno::{Errno, Result};

/// The device file of a context and what the library knows about the kernel behind it. Everything
/// that sends a command takes one.
#[derive(Clone, Copy)]
pub(crate) struct Kernel<'a> {
    context: *mut ibv_context,
    fd: c_int,
    private: &'a ContextPrivate,
}

impl<'a> Kernel<'a> {
    /// The kernel behind a context.
    ///
    /// # Safety
    ///
    /// `context` must be a context that is set up and stays open for `'a`.
    pub(crate) unsafe fn of(context: *mut ibv_context) -> Kernel<'a> {
        // SAFETY: the caller's promise.
        unsafe { Kernel { context, fd: (*context).cmd_fd, private: private(context) } }
    }

    /// The context, to be stored in objects.
    pub(crate) fn context(&self) -> *mut ibv_context {
        self.context
    }

    /// What the library keeps for this context.
    pub(crate) fn private(&self) -> &'a ContextPrivate {
        self.private
    }

    /// Sends an ioctl message.
    ///
    /// # Safety
    ///
    /// Each attribute must be valid for what the method does with it.
    pub(super) unsafe fn ioctl<const N: usize>(&self, message: &mut Message<N>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { message.send(self.fd, self.private.driver_id) }
    }

    /// Sends a write message, all of it or none.
    ///
    /// # Safety
    ///
    /// As for [`syscall::write`].
    pub(super) unsafe fn write_message(&self, message: *const u8, length: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        match unsafe { syscall::write(self.fd, message, length) } {
            n if n < 0 => Err(Errno::last()),
            n if n.unsigned_abs() == length => Ok(()),
            // The kernel takes a command as a whole; something between us and it does not.
            _ => Err(Errno::EIO),
        }
    }
}

/// The device's name, for messages.
impl fmt::Display for Kernel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: a context holds a reference to its device; its name ends in a NUL, as
        // discovery wrote it.
        let name = unsafe {
            match (*self.context).device {
                device if device.is_null() => c"(no device)",
                device => CStr::from_ptr((&raw const (*device).name).cast()),
            }
        };
        f.write_str(&name.to_string_lossy())
    }
}
