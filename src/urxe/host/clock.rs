//! The clock of all waiting.

/// CLOCK_MONOTONIC in nanoseconds.
#[inline]
pub(crate) fn now() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// The same as of the last tick of the kernel, up to 10 ms ago: no more than a look at memory.
#[inline]
pub(super) fn coarse() -> u64 {
    read(libc::CLOCK_MONOTONIC_COARSE)
}

/// A clock that takes next to no time to look at, of no certain speed: some 10^9 ticks a second.
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this kind has it.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    coarse()
}

#[inline]
fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: room for the time; these clocks always exist.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec
        .cast_unsigned()
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time.tv_nsec.cast_unsigned())
}
