//! `__verbs_log`: the provider's way into the library's log.

use core::ffi::{CStr, c_char};

use crate::abi::export::export_private;
use crate::abi::*;
use crate::log;
use crate::sys::errno::keep_errno;
use crate::sys::variadic::{self, VaList, variadic};

variadic! {
    /// Writes a formatted message to the log if its level is at most `VERBS_LOG_LEVEL`; keeps
    /// `errno`. `driver.h: __verbs_log`
    fn __verbs_log(3) => verbs_log
}
export_private!(__verbs_log);

/// The longest message of a provider, in bytes; the rest is cut off.
const LONGEST: usize = 1024;

unsafe extern "C" fn verbs_log(
    _context: *mut verbs_context,
    level: u32,
    format: *const c_char,
    args: VaList,
) {
    if format.is_null() || !log::enabled(level) {
        return;
    }
    keep_errno(|| {
        let mut text = [0; LONGEST];
        // SAFETY: the provider passes a format and the arguments it wants.
        let length = unsafe { variadic::format(&mut text, CStr::from_ptr(format), args) };
        if let Some(length) = length {
            log::write_bytes(&text[..length.min(LONGEST - 1)]);
        }
    });
}
