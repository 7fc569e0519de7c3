//! The verbs that C programs compile in from the header, as symbols, for languages that cannot.
//!
//! Each does what the inline function of its name does: it goes to the provider's function in a
//! slot of the context or in a member of the object. The symbols carry the version
//! `IBVERBS_RS_1.0`, which the original library does not have.
//!
//! Where the inline function would call a NULL pointer, these say EOPNOTSUPP as far as they can.

mod context;
mod cq;
#[cfg(test)]
mod errnos;
mod flow;
mod memory;
mod poll;
mod post;
mod pure;
mod qp;
mod srq;
mod wq;

use core::ffi::c_int;
use core::ptr;

use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::{extended, member, member_at};
use crate::sys::errno::Errno;

/// The extended context, or NULL for a context of a library that had none. `verbs.h`
unsafe extern "C" fn verbs_get_ctx(context: *mut ibv_context) -> *mut verbs_context {
    // SAFETY: the caller passes a context.
    if unsafe { (*context).abi_compat }.addr() == usize::MAX {
        extended(context)
    } else {
        ptr::null_mut()
    }
}
export!(verbs_get_ctx @@ "IBVERBS_RS_1.0");

/// The function in the slot at `slot_offset` of the extended context, if the context reaches as far
/// as that; contexts grow at the front, and a provider allocates the slots that it knows.
///
/// # Safety
///
/// `context` must be a context.
unsafe fn function_in<T: Copy>(
    context: *mut ibv_context,
    slot_offset: usize,
    slot: fn(&verbs_context) -> &Option<T>,
) -> Option<T> {
    // SAFETY: the caller's promise; `sz` lies next to the public part in every version.
    unsafe {
        let wanted = size_of::<verbs_context>() - slot_offset;
        if verbs_get_ctx(context).is_null() || member!(context, sz).read() < wanted {
            return None;
        }
        member_at(context, slot_offset, slot).read()
    }
}

/// `slot!(context, query_rt_values)`: the function in a slot of the extended context, if there is
/// one. Unsafe: the context must be one.
macro_rules! slot {
    ($context:expr, $slot:ident) => {
        $crate::verbs::inline::function_in(
            $context,
            core::mem::offset_of!($crate::abi::verbs_context, $slot),
            |extended| &extended.$slot,
        )
    };
}
use slot;

/// What a function returns when the provider has none: the error number, NULL, or nothing, with
/// `errno` EOPNOTSUPP.
trait Unsupported {
    const VALUE: Self;
}

impl Unsupported for c_int {
    const VALUE: c_int = libc::EOPNOTSUPP;
}

impl<T> Unsupported for *mut T {
    const VALUE: *mut T = ptr::null_mut();
}

#[cold]
fn unsupported<T: Unsupported>() -> T {
    Errno::EOPNOTSUPP.store();
    T::VALUE
}

/// Defines functions that go to the function in a slot of the extended context:
/// `fn name(arguments) -> type: context => slot;`.
macro_rules! through_slot {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($arg:ident: $type:ty),*) -> $ret:ty: $context:expr => $slot:ident;
    )*) => {
        $(
            $(#[$doc])*
            pub(super) unsafe extern "C" fn $name($($arg: $type),*) -> $ret {
                // SAFETY: the caller passes live objects, as the verb demands.
                unsafe {
                    match $crate::verbs::inline::slot!($context, $slot) {
                        Some(function) => function($($arg),*),
                        None => $crate::verbs::inline::unsupported(),
                    }
                }
            }
            export!($name @@ "IBVERBS_RS_1.0");
        )*
    };
}
use through_slot;

/// As [`through_slot`], for slots of the public context.
macro_rules! through_public_slot {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($arg:ident: $type:ty),*) -> $ret:ty: $context:expr => $slot:ident;
    )*) => {
        $(
            $(#[$doc])*
            pub(super) unsafe extern "C" fn $name($($arg: $type),*) -> $ret {
                // SAFETY: the caller passes live objects, as the verb demands.
                unsafe {
                    match (*$context).ops.$slot {
                        Some(function) => function($($arg),*),
                        None => $crate::verbs::inline::unsupported(),
                    }
                }
            }
            export!($name @@ "IBVERBS_RS_1.0");
        )*
    };
}
use through_public_slot;

#[cfg(test)]
mod tests;
