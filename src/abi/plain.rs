//! Zeroed values of C structs.

use core::mem::MaybeUninit;

/// A C type for which all-zero bytes are a valid value: integers, raw pointers, optional function
/// pointers, and structs, unions and arrays of those.
///
/// # Safety
///
/// The implementor promises just that. The `plain!` list at the end of each ABI module is the one
/// place where it is promised.
pub unsafe trait Plain: Copy {
    /// The value that `calloc` or `memset(0)` would give.
    fn zeroed() -> Self {
        // SAFETY: the implementor of the trait promises that zero bytes are a valid value.
        unsafe { MaybeUninit::zeroed().assume_init() }
    }
}

/// Promises [`Plain`] for a list of types.
macro_rules! plain {
    ($($name:ident),* $(,)?) => {
        $(
            // SAFETY: the type is made of integers, raw pointers and optional function pointers.
            unsafe impl $crate::abi::Plain for $name {}
        )*
    };
}
pub(crate) use plain;

plain!(u8, u16, u32, u64, usize, i32);

// SAFETY: an array of such values is one.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}
