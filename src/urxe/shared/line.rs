//! Cache lines.

/// A value on a cache line of its own.
#[repr(C, align(64))]
pub(crate) struct Line<T>(pub(crate) T);

/// Takes no room; what comes behind it begins a cache line.
#[repr(C, align(64))]
pub(crate) struct NewLine([u8; 0]);

/// Fetches the cache line in which a value begins, to be read soon. Changes nothing.
#[inline]
pub(crate) fn will_read<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; the address need not even be valid.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Takes the cache line in which a value begins away from other processors, to be written soon.
/// Changes nothing.
#[inline]
pub(crate) fn will_write<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which processors without it pass over.
    unsafe {
        core::arch::asm!(
            "prefetchw [{}]",
            in(reg) core::ptr::from_ref(value),
            options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
