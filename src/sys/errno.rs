//! Error numbers, and the ways in which C functions return them.

use core::ffi::c_int;

/// A positive error number of `<errno.h>`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Errno(pub(crate) c_int);

/// The result of everything inside the library; only the C edge turns it into a return value.
pub(crate) type Result<T> = core::result::Result<T, Errno>;

impl Errno {
    pub(crate) const EBUSY: Errno = Errno(libc::EBUSY);
    pub(crate) const EFAULT: Errno = Errno(libc::EFAULT);
    pub(crate) const EHOSTUNREACH: Errno = Errno(libc::EHOSTUNREACH);
    pub(crate) const EINVAL: Errno = Errno(libc::EINVAL);
    pub(crate) const EIO: Errno = Errno(libc::EIO);
    pub(crate) const ENODATA: Errno = Errno(libc::ENODATA);
    pub(crate) const ENODEV: Errno = Errno(libc::ENODEV);
    pub(crate) const ENOENT: Errno = Errno(libc::ENOENT);
    pub(crate) const ENOMEM: Errno = Errno(libc::ENOMEM);
    pub(crate) const ENOSYS: Errno = Errno(libc::ENOSYS);
    pub(crate) const ENOTTY: Errno = Errno(libc::ENOTTY);
    pub(crate) const EOPNOTSUPP: Errno = Errno(libc::EOPNOTSUPP);
    pub(crate) const EPERM: Errno = Errno(libc::EPERM);
    pub(crate) const EPROTONOSUPPORT: Errno = Errno(libc::EPROTONOSUPPORT);
    pub(crate) const ETIMEDOUT: Errno = Errno(libc::ETIMEDOUT);

    /// The calling thread's `errno`.
    pub(crate) fn last() -> Errno {
        // SAFETY: the location is valid for the calling thread.
        Errno(unsafe { *libc::__errno_location() })
    }

    /// Stores this number in the calling thread's `errno`.
    pub(crate) fn store(self) {
        // SAFETY: the location is valid for the calling thread.
        unsafe { *libc::__errno_location() = self.0 }
    }
}

/// Runs `f` and gives the thread the `errno` back that it had before: for clean-up on the way out
/// of a failure, whose first error the caller must see.
pub(crate) fn keep_errno<T>(f: impl FnOnce() -> T) -> T {
    let before = Errno::last();
    let value = f();
    before.store();
    value
}

/// 0, or the positive error number: most calls that change an object. `errno` is set as well.
pub(crate) trait ReturnNumber {
    fn or_number(self) -> c_int;
}

impl ReturnNumber for Result<()> {
    fn or_number(self) -> c_int {
        match self {
            Ok(()) => 0,
            Err(errno) => {
                errno.store();
                errno.0
            }
        }
    }
}

/// The value, or -1 with `errno` set.
pub(crate) trait ReturnMinusOne {
    fn or_minus_one(self) -> c_int;
}

impl ReturnMinusOne for Result<c_int> {
    fn or_minus_one(self) -> c_int {
        self.unwrap_or_else(|errno| {
            errno.store();
            -1
        })
    }
}

impl ReturnMinusOne for Result<()> {
    fn or_minus_one(self) -> c_int {
        self.map(|()| 0).or_minus_one()
    }
}

/// The pointer, or NULL with `errno` set: calls that create an object.
pub(crate) trait ReturnPointer<T> {
    fn or_null(self) -> *mut T;
}

impl<T> ReturnPointer<T> for Result<*mut T> {
    fn or_null(self) -> *mut T {
        self.unwrap_or_else(|errno| {
            errno.store();
            core::ptr::null_mut()
        })
    }
}

/// Turns a C status of 0 or a positive error number into a result.
pub(crate) fn from_number(status: c_int) -> Result<()> {
    if status == 0 { Ok(()) } else { Err(Errno(status)) }
}

/// Turns a C status that is negative on failure, with `errno` set, into a result.
pub(crate) fn from_minus_one(status: c_int) -> Result<c_int> {
    if status < 0 { Err(Errno::last()) } else { Ok(status) }
}

/// Turns a pointer that is NULL on failure, with `errno` set, into a result.
pub(crate) fn from_null<T>(pointer: *mut T) -> Result<*mut T> {
    if pointer.is_null() { Err(Errno::last()) } else { Ok(pointer) }
}
