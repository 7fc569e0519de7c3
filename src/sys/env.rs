//! The environment, ignored in programs that run with other rights than their user's.

use core::ffi::CStr;
use std::ffi::CString;

unsafe extern "C" {
    fn secure_getenv(name: *const core::ffi::c_char) -> *mut core::ffi::c_char;
}

/// The value of a variable, or nothing when it is unset or the program is setuid, setgid or has
/// file capabilities.
pub(crate) fn get(name: &CStr) -> Option<CString> {
    // SAFETY: the name is a C string; the value is copied before anything can change it.
    unsafe {
        let value = secure_getenv(name.as_ptr());
        if value.is_null() { None } else { Some(CStr::from_ptr(value).to_owned()) }
    }
}

/// A switch: set, and not to "0".
pub(crate) fn switch(name: &CStr) -> bool {
    get(name).is_some_and(|value| is_on(value.to_bytes()))
}

/// Whether the value of a switch means on: also the empty one, as `export RDMAV_FORK_SAFE=` leaves
/// it.
fn is_on(value: &[u8]) -> bool {
    value != b"0"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_zero_is_off() {
        assert!(is_on(b"1") && is_on(b"") && is_on(b"no") && is_on(b"00"));
        assert!(!is_on(b"0"));
    }
}
