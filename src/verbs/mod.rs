//! The exported verbs, a file per object: check, convert, call, map the error.

use core::ffi::c_int;

use crate::sys::errno::Errno;

mod context;
pub(crate) mod context_slots;
mod cq;
mod rate;
mod strings;

#[cfg(test)]
pub(crate) mod testing;

/// Passes on what an operation returned: 0, or a positive error number, which is stored in `errno`
/// too. A negative status comes from a provider that set `errno` itself.
fn report(status: c_int) -> c_int {
    if status > 0 {
        Errno(status).store();
    }
    status
}
