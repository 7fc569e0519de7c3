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
    let mention = |missing| {
        log!(
            VERBS_LOG_WARN,
            "destroying {object}: waiting for {missing} events that were read to be acknowledged \
             (ibv_ack_cq_events or ibv_ack_async_event)"
        );
    };
    // Without a log there is nobody to tell.
    let patience = log::enabled(VERBS_LOG_WARN).then_some((FIRST_MENTION, NEXT_MENTION));
    // SAFETY: the caller's promise.
    unsafe { wait(mutex, cond, missing, patience, mention) }
}

/// Waits until `missing` is 0, and mentions it when the first time of `patience` in seconds is
/// over, then each time that the second one is.
unsafe fn wait(
    mutex: *mut pthread_mutex_t,
    cond: *mut pthread_cond_t,
    missing: impl Fn() -> u32,
    patience: Option<(libc::time_t, libc::time_t)>,
    mention: impl Fn(u32),
) {
    // SAFETY: the caller's promise, here and below.
    unsafe { libc::pthread_mutex_lock(mutex) };
    let mut deadline = patience.map(|(first, _)| in_seconds(first));
    while missing() != 0 {
        let Some(until) = deadline else {
            // SAFETY: see above; the mutex is held.
            unsafe { libc::pthread_cond_wait(cond, mutex) };
            continue;
        };
        // SAFETY: see above; the mutex is held.
        if unsafe { libc::pthread_cond_timedwait(cond, mutex, &until) } == libc::ETIMEDOUT {
            mention(missing());
            deadline = patience.map(|(_, next)| in_seconds(next));
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

#[cfg(test)]
mod tests {
    use crate::sync::atomic::{AtomicU32, Ordering};
    use core::cell::Cell;

    use super::*;

    /// What an object has for acknowledging events.
    struct Object {
        mutex: *mut pthread_mutex_t,
        cond: *mut pthread_cond_t,
        missing: AtomicU32,
    }

    // SAFETY: mutexes and condition variables are for sharing.
    unsafe impl Sync for Object {}

    impl Object {
        fn new(missing: u32) -> Object {
            Object {
                mutex: Box::into_raw(Box::new(libc::PTHREAD_MUTEX_INITIALIZER)),
                cond: Box::into_raw(Box::new(libc::PTHREAD_COND_INITIALIZER)),
                missing: AtomicU32::new(missing),
            }
        }

        fn missing(&self) -> u32 {
            self.missing.load(Ordering::Relaxed)
        }

        fn acknowledge(&self) {
            // SAFETY: both live as long as `self`.
            unsafe {
                libc::pthread_mutex_lock(self.mutex);
                self.missing.fetch_sub(1, Ordering::Relaxed);
                libc::pthread_cond_signal(self.cond);
                libc::pthread_mutex_unlock(self.mutex);
            }
        }
    }

    impl Drop for Object {
        fn drop(&mut self) {
            // SAFETY: `new` made boxes of them, and nobody waits any more.
            unsafe {
                drop(Box::from_raw(self.mutex));
                drop(Box::from_raw(self.cond));
            }
        }
    }

    #[test]
    fn nothing_missing_nothing_to_wait_for() {
        let object = Object::new(0);
        let (mutex, cond) = (object.mutex, object.cond);
        // SAFETY: both are valid.
        unsafe { wait_for_events(mutex, cond, format_args!("QP 1"), || object.missing()) };
    }

    #[test]
    fn the_last_acknowledgement_ends_the_wait() {
        let object = Object::new(3);
        std::thread::scope(|scope| {
            scope.spawn(|| (0..3).for_each(|_| object.acknowledge()));
            let (mutex, cond) = (object.mutex, object.cond);
            // SAFETY: both are valid.
            unsafe { wait_for_events(mutex, cond, format_args!("QP 1"), || object.missing()) };
        });
        assert_eq!(object.missing(), 0);
    }

    #[test]
    fn a_long_wait_is_mentioned_with_the_number_of_events() {
        let object = Object::new(2);
        let mentions = Cell::new(0);
        let mention = |missing| {
            assert_eq!(missing, 2 - mentions.get());
            mentions.set(mentions.get() + 1);
            // The mutex is held.
            object.missing.fetch_sub(1, Ordering::Relaxed);
        };
        // SAFETY: both are valid.
        unsafe { wait(object.mutex, object.cond, || object.missing(), Some((0, 0)), mention) };
        assert_eq!(mentions.get(), 2);
        // SAFETY: the mutex is valid.
        assert_eq!(unsafe { libc::pthread_mutex_trylock(object.mutex) }, 0, "given back");
    }
}
