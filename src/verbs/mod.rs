//! The exported verbs, a file per object: check, convert, call, map the error.

use core::ffi::c_int;

use crate::sys::errno::Errno;

pub(crate) mod ah;
mod buf;
pub(crate) mod comp_channel;
pub(crate) mod comp_cntr;
pub(crate) mod context;
pub(crate) mod context_slots;
pub(crate) mod cq;
pub(crate) mod device;
mod dm;
pub(crate) mod dmah;
pub(crate) mod event;
pub(crate) mod gid;
mod inline;
pub(crate) mod mcast;
pub(crate) mod mr;
mod mw;
pub(crate) mod pd;
pub(crate) mod pkey;
pub(crate) mod qp;
mod rate;
pub(crate) mod srq;
mod strings;
mod sysfs;

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

/// `refuse!(EINVAL, "format", ...)`: the error for a call that breaks its contract, with the reason
/// in the log.
macro_rules! refuse {
    ($errno:ident, $($reason:tt)+) => {{
        $crate::log::log!($crate::abi::VERBS_LOG_ERR, $($reason)+);
        Err($crate::sys::errno::Errno::$errno)
    }};
}
use refuse;
