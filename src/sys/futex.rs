//! Sleeping on a word of memory, which other processes may have mapped too. futex(2).

use crate::sync::atomic::AtomicU32;
use core::time::Duration;

use crate::sys::errno::Errno;

/// Waits until a word is no longer `value`, or the time is over; false then.
pub(crate) fn sleep(word: &AtomicU32, value: u32, time: Option<Duration>) -> bool {
    let timeout = time.map(|time| libc::timespec {
        tv_sec: time.as_secs().cast_signed(),
        tv_nsec: time.subsec_nanos().into(),
    });
    let timeout = timeout.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: an aligned word, shared between processes, and a time or none.
    let status =
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, timeout) };
    status == 0 || Errno::last() != Errno::ETIMEDOUT
}

/// Wakes all who wait on a word.
pub(crate) fn wake(word: &AtomicU32) {
    // SAFETY: an aligned word.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}
