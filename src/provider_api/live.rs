//! Which contexts there are, to tell an object that outlived its own.
//!
//! An object points to its context, whose memory its provider frees with the device's closing. A
//! program that destroys the object only then (Python's garbage collection at exit does, with
//! pyverbs) would make the library call through freed memory. Here the object's context is
//! recognized as gone, unless another one has its address by then.

use core::ffi::c_int;

use crate::abi::*;
use crate::log::log;
use crate::sys::mutex::Mutex;

/// The addresses of all contexts from set-up to tear-down, in ascending order.
static CONTEXTS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Notes a context that is set up.
pub(super) fn add(context: *const ibv_context) {
    let mut contexts = CONTEXTS.lock();
    if let Err(place) = contexts.binary_search(&context.addr()) {
        contexts.insert(place, context.addr());
    }
}

/// Forgets a context that is torn down.
pub(super) fn remove(context: *const ibv_context) {
    let mut contexts = CONTEXTS.lock();
    if let Ok(place) = contexts.binary_search(&context.addr()) {
        contexts.remove(place);
    }
}

/// Whether this is a context that is not torn down.
pub(crate) fn is_live(context: *const ibv_context) -> bool {
    CONTEXTS.lock().binary_search(&context.addr()).is_ok()
}

/// The error number for a call that comes after its device was closed, which is also logged.
pub(crate) fn too_late(what: &str) -> c_int {
    log!(VERBS_LOG_ERR, "{what}: the device of this object is closed");
    libc::EBADF
}

/// `end_op!(context, destroy_qp(qp))`: as [`call_op!`](super::call_op) for an operation that ends
/// an object and returns an error number; EBADF if the context is gone already.
macro_rules! end_op {
    ($context:expr, $op:ident($($arg:expr),* $(,)?)) => {{
        let context: *mut $crate::abi::ibv_context = $context;
        if $crate::provider_api::live::is_live(context) {
            $crate::provider_api::call_op!(context, $op($($arg),*))
        } else {
            $crate::provider_api::live::too_late(stringify!($op))
        }
    }};
}
pub(crate) use end_op;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider_api::context::uninit;
    use crate::sys::errno::Errno;
    use crate::verbs::testing::Fake;
    use crate::verbs::{ah, cq, device, mr, pd, qp, srq};

    /// Tears a context down, but keeps its memory, which could be that of another test's otherwise.
    fn close(fake: Fake) {
        // SAFETY: a live context, for the last time.
        unsafe { uninit(fake.context()) };
        core::mem::forget(fake);
    }

    #[test]
    fn contexts_live_from_set_up_to_tear_down() {
        let fake = Fake::new();
        let context = fake.context();
        assert!(is_live(context));
        // The extended context, which begins elsewhere, is none.
        assert!(!is_live(context.wrapping_byte_sub(8)));
        assert!(!is_live(core::ptr::null()));
        close(fake);
        assert!(!is_live(context));
    }

    #[test]
    fn what_outlives_its_context_gets_an_error() {
        let fake = Fake::new();
        let context = fake.context();
        let mut pd = fake.pd();
        let mut cq = ibv_cq { context, ..ibv_cq::zeroed() };
        let mut qp = ibv_qp { context, ..ibv_qp::zeroed() };
        let mut srq = ibv_srq { context, ..ibv_srq::zeroed() };
        let mut ah = ibv_ah { context, ..ibv_ah::zeroed() };
        let mut mr = verbs_mr::zeroed();
        mr.ibv_mr.context = context;
        let mut destroy_all = || {
            // SAFETY: live objects; that of their context is what is tested.
            unsafe {
                [
                    pd::ibv_dealloc_pd(&raw mut pd),
                    cq::ibv_destroy_cq(&raw mut cq),
                    qp::ibv_destroy_qp(&raw mut qp),
                    srq::ibv_destroy_srq(&raw mut srq),
                    ah::ibv_destroy_ah(&raw mut ah),
                    mr::ibv_dereg_mr((&raw mut mr).cast()),
                ]
            }
        };
        fake.answer(libc::EBUSY);
        assert_eq!(destroy_all(), [libc::EBUSY; 6]);
        close(fake);
        assert_eq!(destroy_all(), [libc::EBADF; 6]);
        assert_eq!(Errno::last(), Errno(libc::EBADF));
        // SAFETY: a closed context, which is told by its address.
        assert_eq!(unsafe { device::ibv_close_device(context) }, libc::EBADF);
    }
}
