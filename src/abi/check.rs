//! Compile-time comparison of our types with the measured ABI.
//!
//! The files below hold numbers, our types hold meaning; a difference does not compile. A member
//! that a type lacks is named by its table and does not compile; a member that a table lacks would
//! leave a gap at its end, which is checked too.

mod compat;
mod private;
mod public;
mod uapi;
mod values_abi;
mod values_uapi;

/// `layout!(type, size, align, { member @ offset + size, ... })`: fails to compile unless the type
/// has exactly this layout. Nested members are written as paths.
macro_rules! layout {
    ($ty:ident, $size:expr, $align:expr, {$($($field:ident).+ @ $off:literal + $len:literal),* $(,)?}) => {
        const _: () = {
            use core::mem::{align_of, size_of};
            assert!(size_of::<$ty>() == $size);
            assert!(align_of::<$ty>() == $align);
            #[allow(dead_code)] // A struct without members needs none.
            const fn size_of_pointee<T>(_: *const T) -> usize {
                size_of::<T>()
            }
            $(
                assert!(core::mem::offset_of!($ty, $($field).+) == $off);
                let value = core::mem::MaybeUninit::<$ty>::zeroed();
                // SAFETY: only the address of the member is formed, inside `value`.
                let member = unsafe { &raw const (*value.as_ptr()).$($field).+ };
                assert!(size_of_pointee(member) == $len);
            )*
            let ends: &[usize] = &[0 $(, $off + $len)*];
            let mut end = 0;
            let mut i = 0;
            while i < ends.len() {
                if ends[i] > end {
                    end = ends[i];
                }
                i += 1;
            }
            assert!(end <= $size && $size - end < if $align > 1 { $align } else { 1 });
        };
    };
}
use layout;

/// `values! { NAME = number, ... }`: fails to compile unless each constant has this value.
macro_rules! values {
    ($($name:ident = $value:literal),* $(,)?) => {
        $(const _: () = assert!($name as i128 == $value as i128);)*
        /// Number of constants checked here.
        #[cfg(test)]
        pub(super) const COUNT: usize = [$($value as i128),*].len();
    };
}
use values;

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of structs and unions in the measured ABI of 65.0.
    const STRUCTS: usize = 338;

    #[test]
    fn every_measured_struct_has_a_check() {
        let checked = public::COUNT + private::COUNT + uapi::COUNT + compat::COUNT;
        assert_eq!(checked, STRUCTS);
    }

    /// Constants are listed per header; a few stand in two enumerations.
    #[test]
    fn every_measured_constant_has_a_check() {
        assert_eq!(values_abi::COUNT + values_uapi::COUNT, 1416);
    }
}
