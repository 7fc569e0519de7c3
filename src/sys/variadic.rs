//! Variadic functions: a naked entry that builds the argument list and calls a Rust function.
//!
//! Defining a C-variadic function is not possible in stable Rust. The entry does what the ABI's
//! `va_start` does: it saves the argument registers and describes where they and the stacked
//! arguments are.

use core::ffi::{CStr, c_char, c_int};

/// A C `va_list` as functions pass it on: a pointer to the record.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct VaList(*mut core::ffi::c_void);

unsafe extern "C" {
    fn vsnprintf(buf: *mut c_char, size: usize, format: *const c_char, args: VaList) -> c_int;
}

/// Formats into `buf` as printf(3) does, with a final NUL. Returns the length that the whole text
/// needs, as `vsnprintf` does, or nothing for a malformed format.
///
/// # Safety
///
/// `args` must be a list that has not been read, with arguments as `format` wants them.
pub(crate) unsafe fn format(buf: &mut [u8], format: &CStr, args: VaList) -> Option<usize> {
    // SAFETY: the buffer is valid for its length; the rest is the caller's promise.
    let length = unsafe { vsnprintf(buf.as_mut_ptr().cast(), buf.len(), format.as_ptr(), args) };
    usize::try_from(length).ok()
}

/// `variadic!(fn name(named argument types) -> ret => target)`: an entry `name` for a C function
/// with that many named arguments (3 or 4) and `...`; `target` gets the named ones and a
/// [`VaList`].
#[cfg(target_arch = "x86_64")]
macro_rules! variadic {
    ($(#[$doc:meta])* fn $name:ident(3) => $target:path) => {
        $crate::sys::variadic::variadic!(@entry $(#[$doc])* $name, "24", "rcx", $target);
    };
    ($(#[$doc:meta])* fn $name:ident(4) => $target:path) => {
        $crate::sys::variadic::variadic!(@entry $(#[$doc])* $name, "32", "r8", $target);
    };
    (@entry $(#[$doc:meta])* $name:ident, $named_bytes:literal, $list:literal, $target:path) => {
        $(#[$doc])*
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            // The frame: 176 bytes of saved registers, then the 24 bytes of the list.
            core::arch::naked_asm!(
                "push rbp",
                "mov rbp, rsp",
                "sub rsp, 208",
                "mov [rsp], rdi",
                "mov [rsp + 8], rsi",
                "mov [rsp + 16], rdx",
                "mov [rsp + 24], rcx",
                "mov [rsp + 32], r8",
                "mov [rsp + 40], r9",
                "test al, al",
                "je 2f",
                "movaps [rsp + 48], xmm0",
                "movaps [rsp + 64], xmm1",
                "movaps [rsp + 80], xmm2",
                "movaps [rsp + 96], xmm3",
                "movaps [rsp + 112], xmm4",
                "movaps [rsp + 128], xmm5",
                "movaps [rsp + 144], xmm6",
                "movaps [rsp + 160], xmm7",
                "2:",
                concat!("mov dword ptr [rsp + 176], ", $named_bytes),
                "mov dword ptr [rsp + 180], 48",
                "lea rax, [rbp + 16]",
                "mov [rsp + 184], rax",
                "mov [rsp + 192], rsp",
                concat!("lea ", $list, ", [rsp + 176]"),
                "call {target}",
                "leave",
                "ret",
                target = sym $target,
            )
        }
    };
}
pub(crate) use variadic;
