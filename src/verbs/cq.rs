//! Completion queues.

use core::ffi::{c_int, c_void};

use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::{call_op, end_op, init_cq};
use crate::sys::errno::{Result, ReturnPointer, from_null};
use crate::verbs::comp_channel::count_cqs;
use crate::verbs::{refuse, report};

/// Creates a CQ for at least `cqe` completions, whose events go to `channel` (may be NULL); NULL
/// with `errno` on failure. `ibv_create_cq(3)`
pub(crate) unsafe extern "C" fn ibv_create_cq(
    context: *mut ibv_context,
    cqe: c_int,
    cq_context: *mut c_void,
    channel: *mut ibv_comp_channel,
    comp_vector: c_int,
) -> *mut ibv_cq {
    // SAFETY: the caller passes a context and NULL or a channel of it.
    unsafe { create(context, cqe, cq_context, channel, comp_vector) }.or_null()
}
export!(ibv_create_cq @@ "IBVERBS_1.1");

unsafe fn create(
    context: *mut ibv_context,
    cqe: c_int,
    cq_context: *mut c_void,
    channel: *mut ibv_comp_channel,
    comp_vector: c_int,
) -> Result<*mut ibv_cq> {
    // SAFETY: the caller's promise; the new CQ is known to nobody else.
    unsafe {
        let cq = from_null(call_op!(context, create_cq(context, cqe, channel, comp_vector)))?;
        init_cq(cq, context, channel, cq_context);
        Ok(cq)
    }
}

/// Creates an extended CQ: the slot `create_cq_ex` of the extended context. NULL with `errno`
/// EOPNOTSUPP for unknown `wc_flags`, or as the provider says. `ibv_create_cq_ex(3)`
pub(crate) unsafe extern "C" fn create_cq_ex(
    context: *mut ibv_context,
    attr: *mut ibv_cq_init_attr_ex,
) -> *mut ibv_cq_ex {
    // SAFETY: the caller passes a context and the attributes of the new CQ.
    unsafe { create_extended(context, attr) }.or_null()
}

unsafe fn create_extended(
    context: *mut ibv_context,
    attr: *mut ibv_cq_init_attr_ex,
) -> Result<*mut ibv_cq_ex> {
    // SAFETY: the caller's promise; the new CQ is known to nobody else.
    unsafe {
        let unknown = (*attr).wc_flags & !u64::from(IBV_CREATE_CQ_SUP_WC_FLAGS);
        if unknown != 0 {
            return refuse!(EOPNOTSUPP, "ibv_create_cq_ex: unknown wc_flags {unknown:#x}");
        }
        let cq = from_null(call_op!(context, create_cq_ex(context, attr)))?;
        init_cq(cq.cast(), context, (*attr).channel, (*attr).cq_context);
        Ok(cq)
    }
}

/// Changes the capacity of a CQ to at least `cqe` completions. Returns 0 or an error number.
/// `ibv_resize_cq(3)`
pub(crate) unsafe extern "C" fn ibv_resize_cq(cq: *mut ibv_cq, cqe: c_int) -> c_int {
    // SAFETY: the caller passes a CQ.
    report(unsafe { call_op!((*cq).context, resize_cq(cq, cqe)) })
}
export!(ibv_resize_cq @@ "IBVERBS_1.1");

/// Destroys a CQ when all its events are acknowledged. Returns 0 or an error number, EBUSY while a
/// QP uses it. `ibv_destroy_cq(3)`
pub(crate) unsafe extern "C" fn ibv_destroy_cq(cq: *mut ibv_cq) -> c_int {
    // SAFETY: the caller passes a CQ and uses it no more; the channel outlives it, as it counts it.
    unsafe {
        let channel = (*cq).channel;
        let status = end_op!((*cq).context, destroy_cq(cq));
        if status == 0 && !channel.is_null() {
            count_cqs(channel, |count| count.wrapping_sub(1));
        }
        report(status)
    }
}
export!(ibv_destroy_cq @@ "IBVERBS_1.1");

#[cfg(test)]
mod tests {
    use core::ptr;

    use super::*;
    use crate::sys::errno::Errno;
    use crate::verbs::testing::{Call, Fake, words};

    fn channel(fake: &Fake) -> ibv_comp_channel {
        ibv_comp_channel { context: fake.context(), fd: -1, refcnt: 0 }
    }

    /// A CQ full of garbage, as from malloc.
    fn garbage<T: Plain>() -> T {
        let mut value = T::zeroed();
        // SAFETY: the tested functions overwrite what they read.
        unsafe { (&raw mut value).cast::<u8>().write_bytes(0xa5, size_of::<T>()) };
        value
    }

    #[test]
    fn a_new_cq_is_filled_in_and_counted() {
        let fake = Fake::new();
        let mut channel = channel(&fake);
        let mut cq: ibv_cq = garbage();
        let mark = ptr::without_provenance_mut(0x1234);
        fake.answer_object(&mut cq);
        // SAFETY: live objects.
        let created = unsafe { ibv_create_cq(fake.context(), 16, mark, &mut channel, 2) };
        assert_eq!(created, &raw mut cq);
        assert_eq!((cq.context, cq.cq_context), (fake.context(), mark));
        assert_eq!((cq.channel, channel.refcnt), (&raw mut channel, 1));
        assert_eq!((cq.comp_events_completed, cq.async_events_completed), (0, 0));
        // SAFETY: the mutex was initialized.
        unsafe {
            assert_eq!(libc::pthread_mutex_trylock(&mut cq.mutex), 0);
            assert_eq!(libc::pthread_mutex_unlock(&mut cq.mutex), 0);
            assert_eq!(libc::pthread_cond_signal(&mut cq.cond), 0);
        }
        assert_eq!(
            fake.calls(),
            [Call("create_cq", words![fake.context(), 16, &raw const channel, 2])]
        );
        fake.answer(libc::EBUSY);
        // SAFETY: the CQ is destroyed twice, as the first attempt fails.
        unsafe {
            assert_eq!(ibv_destroy_cq(&mut cq), libc::EBUSY);
            assert_eq!((channel.refcnt, Errno::last()), (1, Errno::EBUSY));
            fake.answer(0);
            assert_eq!(ibv_destroy_cq(&mut cq), 0);
            assert_eq!(channel.refcnt, 0);
        }
    }

    #[test]
    fn a_cq_needs_no_channel() {
        let fake = Fake::new();
        let mut cq: ibv_cq = garbage();
        fake.answer_object(&mut cq);
        // SAFETY: live objects.
        unsafe {
            ibv_create_cq(fake.context(), 1, ptr::null_mut(), ptr::null_mut(), 0);
            assert!(cq.channel.is_null());
            fake.answer(0);
            assert_eq!(ibv_destroy_cq(&mut cq), 0);
        }
    }

    #[test]
    fn a_failed_creation_counts_nothing() {
        let fake = Fake::new();
        let mut channel = channel(&fake);
        fake.answer(libc::ENOMEM);
        // SAFETY: live objects.
        let cq = unsafe { ibv_create_cq(fake.context(), 1, ptr::null_mut(), &mut channel, 0) };
        assert!(cq.is_null());
        assert_eq!((channel.refcnt, Errno::last()), (0, Errno::ENOMEM));
    }

    #[test]
    fn extended_cqs_are_created_through_the_slot() {
        let fake = Fake::new();
        let mut channel = channel(&fake);
        let mut cq: ibv_cq_ex = garbage();
        let mut attr = ibv_cq_init_attr_ex {
            cq_context: ptr::without_provenance_mut(0x77),
            channel: &raw mut channel,
            wc_flags: u64::from(IBV_CREATE_CQ_SUP_WC_FLAGS),
            ..ibv_cq_init_attr_ex::zeroed()
        };
        fake.answer_object(&mut cq);
        // SAFETY: live objects; the slot is set.
        unsafe {
            let create = (*fake.extended()).create_cq_ex.expect("the library fills the slot");
            assert_eq!(create(fake.context(), &mut attr), &raw mut cq);
            assert_eq!((cq.context, cq.cq_context), (fake.context(), attr.cq_context));
            assert_eq!((cq.channel, channel.refcnt), (&raw mut channel, 1));
            assert_eq!((cq.comp_events_completed, cq.async_events_completed), (0, 0));
            assert_eq!(fake.called(), ["create_cq_ex"]);

            attr.wc_flags |= 1 << 12;
            assert!(create(fake.context(), &mut attr).is_null());
            assert_eq!(Errno::last(), Errno::EOPNOTSUPP);
            assert!(fake.calls().is_empty());

            attr.wc_flags = 0;
            fake.answer(libc::EINVAL);
            assert!(create(fake.context(), &mut attr).is_null());
            assert_eq!((channel.refcnt, Errno::last()), (1, Errno::EINVAL));
        }
    }

    #[test]
    fn resizing_reaches_the_provider() {
        let fake = Fake::new();
        let mut cq = ibv_cq { context: fake.context(), ..ibv_cq::zeroed() };
        // SAFETY: a live CQ.
        assert_eq!(unsafe { ibv_resize_cq(&mut cq, 64) }, 0);
        assert_eq!(fake.calls(), [Call("resize_cq", words![&raw const cq, 64])]);
    }
}
