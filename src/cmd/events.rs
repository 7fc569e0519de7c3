//! Waiting for events that the program has read but not acknowledged yet.
//!
//! A destroyed object's memory may be freed only when no event in the hands of the program points
//! to it any more. `ibv_get_async_event(3)`, `ibv_ack_cq_events(3)`

use core::fmt;
use core::mem::MaybeUninit;

use libc::{pthread_cond_t, pthread_mutex_t, timespec};

use crate::abi::VERBS_LOG_WARN;
use crate::log::{self, log};

/// Seconds until a wait is mentioned in the log, and between mentions after that.
const FIRST_MENTION: libc::time_t = 5;
const NEXT_MENTION: libc::time_t = 60;

/// Waits until `missing`, called with the mutex held, is 0: the number of events of the object
/// that the kernel reported and the program has not acknowledged. Whoever acknowledges changes the
/// counter with the mutex held and signals the condition variable.
///
/// After some seconds the log says at level `VERBS_LOG_WARN` which object waits for how many.
///
/// ```ignore
/// // SAFETY: the QP is valid until we return; its counter changes with its mutex held.
/// unsafe {
///     wait_for_events(
///         &raw mut (*qp).mutex,
///         &raw mut (*qp).cond,
///         format_args!("QP {}", (*qp).qp_num),
///         || reported.wrapping_sub((*qp).events_completed),
///     );
/// }
/// ```
///
/// # Safety
///
/// Mutex and condition variable must be initialized and stay valid.
pub(crate) unsafe fn wait_for_events(
    mutex: *mut pthread_mutex_t,
    cond: *mut pthread_cond_t,
    object: fmt::Arguments<'_>,
    missing: impl Fn() -> u32,
) {
    // SAFETY: the caller's promise, here and below.
    unsafe { libc::pthread_mutex_lock(mutex) };
    let mut patience = FIRST_MENTION;
    let mut deadline = None;
    while missing() != 0 {
        // Without a log there is nobody to tell.
        if !log::enabled(VERBS_LOG_WARN) {
            // SAFETY: see above; the mutex is held.
            unsafe { libc::pthread_cond_wait(cond, mutex) };
            continue;
        }
        let until = *deadline.get_or_insert_with(|| in_seconds(patience));
        // SAFETY: see above; the mutex is held.
        if unsafe { libc::pthread_cond_timedwait(cond, mutex, &until) } == libc::ETIMEDOUT {
            log!(
                VERBS_LOG_WARN,
                "destroying {object}: waiting for {} events that were read to be acknowledged \
                 (ibv_ack_cq_events or ibv_ack_async_event)",
                missing()
            );
            patience = NEXT_MENTION;
            deadline = None;
        }
    }
    // SAFETY: see above; the mutex is held.
    unsafe { libc::pthread_mutex_unlock(mutex) };
}

/// The time in so many seconds, on the clock of condition variables.
fn in_seconds(seconds: libc::time_t) -> timespec {
    let mut now = MaybeUninit::<timespec>::zeroed();
    // SAFETY: the place is writable; zeroed is a valid time should the call fail.
    let mut now = unsafe {
        libc::clock_gettime(libc::CLOCK_REALTIME, now.as_mut_ptr());
        now.assume_init()
    };
    now.tv_sec = now.tv_sec.saturating_add(seconds);
    now
}
