//! Which contexts there are, to tell an object that outlived its own.
//!
//! An object points to its context, whose memory its provider frees with the device's closing. A
//! program that destroys the object only then (Python's garbage collection at exit does, with
//! pyverbs) would make the library call through freed memory. Here the object's context is
//! recognized as gone, unless another one has its address by then.

use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::entries;
use core::ffi::c_int;

use crate::abi::*;
use crate::log::log;

/// Addresses of contexts. There is no lock: a child process of a program with threads destroys what
/// it has inherited, and nobody would give back a lock that was held when it was made.
struct Contexts<const N: usize> {
    /// 0 where there is none.
    addresses: [AtomicUsize; N],
    /// How many there are that found no room.
    others: AtomicUsize,
}

impl<const N: usize> Contexts<N> {
    const fn new() -> Contexts<N> {
        Contexts { addresses: [const { AtomicUsize::new(0) }; N], others: AtomicUsize::new(0) }
    }

    /// Puts `new` in the place of the first `old`, if there is one.
    fn replace(&self, old: usize, new: usize) -> bool {
        let replaced = |place: &AtomicUsize| {
            place.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        self.addresses.iter().any(replaced)
    }

    fn add(&self, address: usize) {
        if !self.replace(0, address) {
            self.others.fetch_add(1, Ordering::AcqRel);
        }
    }

    fn remove(&self, address: usize) {
        if !self.replace(address, 0) {
            let less = |others: usize| others.checked_sub(1);
            let _ = self.others.fetch_update(Ordering::AcqRel, Ordering::Relaxed, less);
        }
    }

    /// Whether this may be one of them: it is, or not all are known.
    fn may_have(&self, address: usize) -> bool {
        let is_it = |place: &AtomicUsize| place.load(Ordering::Acquire) == address;
        address != 0
            && (self.addresses.iter().any(is_it) || self.others.load(Ordering::Acquire) > 0)
    }
}

/// All contexts from set-up to tear-down. Programs have a few.
static CONTEXTS: Contexts<{ entries(256) }> = Contexts::new();

/// Notes a context that is set up.
pub(super) fn add(context: *const ibv_context) {
    CONTEXTS.add(context.addr());
}

/// Forgets a context that is torn down.
pub(super) fn remove(context: *const ibv_context) {
    CONTEXTS.remove(context.addr());
}

/// Whether this is a context that is not torn down, as far as that is known.
pub(crate) fn is_live(context: *const ibv_context) -> bool {
    CONTEXTS.may_have(context.addr())
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
    use crate::sys::tests::keep;
    use crate::verbs::testing::Fake;
    use crate::verbs::{ah, comp_cntr, cq, device, dmah, mr, pd, qp, srq};

    /// Tears a context down, but keeps its memory, which could be that of another test's otherwise.
    fn close(fake: Fake) {
        // SAFETY: a live context, for the last time.
        unsafe { uninit(fake.context()) };
        keep(fake);
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
    fn contexts_beyond_the_room_count_as_live() {
        let contexts = Contexts::<2>::new();
        (8..=32).step_by(8).for_each(|address| contexts.add(address));
        assert!(contexts.may_have(8) && contexts.may_have(32) && contexts.may_have(40));
        contexts.remove(24);
        assert!(contexts.may_have(40), "one is still unknown");
        contexts.remove(32);
        assert!(!contexts.may_have(40) && contexts.may_have(16));
        contexts.remove(8);
        assert!(!contexts.may_have(8) && !contexts.may_have(0));
        contexts.add(40);
        assert!(contexts.may_have(40) && contexts.may_have(16));
        contexts.remove(48);
        assert!(!contexts.may_have(48));
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
        let mut dmah = ibv_dmah { context };
        let mut counter = ibv_comp_cntr { context, ..ibv_comp_cntr::zeroed() };
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
                    dmah::ibv_dealloc_dmah(&raw mut dmah),
                    comp_cntr::ibv_destroy_comp_cntr(&raw mut counter),
                ]
            }
        };
        fake.answer(libc::EBUSY);
        assert_eq!(destroy_all(), [libc::EBUSY; 8]);
        close(fake);
        assert_eq!(destroy_all(), [libc::EBADF; 8]);
        assert_eq!(Errno::last(), Errno(libc::EBADF));
        // SAFETY: a closed context, which is told by its address.
        assert_eq!(unsafe { device::ibv_close_device(context) }, libc::EBADF);
    }
}
