//! Shared receive queues.

use core::ffi::c_int;
use core::ptr;

use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::{call_op, end_op};
use crate::sys::errno::{Result, ReturnPointer, from_null};
use crate::verbs::report;

/// Creates an SRQ and stores its real size in `attr`; NULL with `errno` on failure.
/// `ibv_create_srq(3)`
pub(crate) unsafe extern "C" fn ibv_create_srq(
    pd: *mut ibv_pd,
    attr: *mut ibv_srq_init_attr,
) -> *mut ibv_srq {
    // SAFETY: the caller passes a PD and the attributes of the new SRQ.
    unsafe { create(pd, attr) }.or_null()
}
export!(ibv_create_srq @@ "IBVERBS_1.1");

unsafe fn create(pd: *mut ibv_pd, attr: *mut ibv_srq_init_attr) -> Result<*mut ibv_srq> {
    // SAFETY: the caller's promise; the new SRQ is known to nobody else.
    unsafe {
        let srq = from_null(call_op!((*pd).context, create_srq(pd, attr)))?;
        (*srq).context = (*pd).context;
        (*srq).srq_context = (*attr).srq_context;
        (*srq).pd = pd;
        (*srq).events_completed = 0;
        libc::pthread_mutex_init(&raw mut (*srq).mutex, ptr::null());
        libc::pthread_cond_init(&raw mut (*srq).cond, ptr::null());
        Ok(srq)
    }
}

/// Changes the size or the limit of an SRQ. Returns 0 or an error number. `ibv_modify_srq(3)`
pub(crate) unsafe extern "C" fn ibv_modify_srq(
    srq: *mut ibv_srq,
    attr: *mut ibv_srq_attr,
    mask: c_int,
) -> c_int {
    // SAFETY: the caller passes an SRQ and what to change.
    report(unsafe { call_op!((*srq).context, modify_srq(srq, attr, mask)) })
}
export!(ibv_modify_srq @@ "IBVERBS_1.1");

/// Stores size and limit of an SRQ in `attr`. Returns 0 or an error number. `ibv_query_srq(3)`
pub(crate) unsafe extern "C" fn ibv_query_srq(srq: *mut ibv_srq, attr: *mut ibv_srq_attr) -> c_int {
    // SAFETY: the caller passes an SRQ and room for its attributes.
    report(unsafe { call_op!((*srq).context, query_srq(srq, attr)) })
}
export!(ibv_query_srq @@ "IBVERBS_1.1");

/// Destroys an SRQ when all its events are acknowledged. Returns 0 or an error number, EBUSY while
/// a QP uses it. `ibv_destroy_srq(3)`
pub(crate) unsafe extern "C" fn ibv_destroy_srq(srq: *mut ibv_srq) -> c_int {
    // SAFETY: the caller passes an SRQ and uses it no more.
    report(unsafe { end_op!((*srq).context, destroy_srq(srq)) })
}
export!(ibv_destroy_srq @@ "IBVERBS_1.1");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::errno::Errno;
    use crate::verbs::testing::{Call, Fake, words};

    #[test]
    fn a_new_srq_is_filled_in() {
        let fake = Fake::new();
        let mut pd = fake.pd();
        let mut attr = ibv_srq_init_attr {
            srq_context: ptr::without_provenance_mut(0x55),
            ..ibv_srq_init_attr::zeroed()
        };
        let mut srq = ibv_srq::zeroed();
        srq.events_completed = 9;
        fake.answer_object(&mut srq);
        // SAFETY: live objects.
        unsafe {
            assert_eq!(ibv_create_srq(&mut pd, &mut attr), &raw mut srq);
            assert_eq!((srq.context, srq.pd), (fake.context(), &raw mut pd));
            assert_eq!((srq.srq_context, srq.events_completed), (attr.srq_context, 0));
            assert_eq!(libc::pthread_mutex_trylock(&mut srq.mutex), 0);
            assert_eq!(libc::pthread_mutex_unlock(&mut srq.mutex), 0);
            fake.answer(libc::EINVAL);
            assert!(ibv_create_srq(&mut pd, &mut attr).is_null());
            assert_eq!(Errno::last(), Errno::EINVAL);
        }
    }

    #[test]
    fn the_rest_reaches_the_provider() {
        let fake = Fake::new();
        let mut srq = ibv_srq { context: fake.context(), ..ibv_srq::zeroed() };
        let mut attr = ibv_srq_attr::zeroed();
        fake.answer(libc::EBUSY);
        // SAFETY: live objects.
        unsafe {
            assert_eq!(ibv_modify_srq(&mut srq, &mut attr, 3), libc::EBUSY);
            assert_eq!(ibv_query_srq(&mut srq, &mut attr), libc::EBUSY);
            assert_eq!(ibv_destroy_srq(&mut srq), libc::EBUSY);
        }
        assert_eq!(Errno::last(), Errno::EBUSY);
        assert_eq!(
            fake.calls(),
            [
                Call("modify_srq", words![&raw const srq, &raw const attr, 3]),
                Call("query_srq", words![&raw const srq, &raw const attr]),
                Call("destroy_srq", words![&raw const srq]),
            ]
        );
    }
}
