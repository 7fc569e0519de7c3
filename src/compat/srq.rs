//! Shared receive queues.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::compat::{Wrapper, free_if_done};
use crate::sys::errno::{Result, ReturnPointer, from_null};
use crate::verbs;

/// Creates an SRQ and stores its real size in `init_attr`; NULL with `errno` on failure.
/// `ibv_create_srq(3)`
unsafe extern "C" fn create_srq(
    pd: *mut ibv_pd_1_0,
    init_attr: *mut ibv_srq_init_attr,
) -> *mut ibv_srq_1_0 {
    // SAFETY: the caller passes a PD and the attributes of the new SRQ.
    unsafe { new_srq(pd, init_attr) }.or_null()
}
export!(ibv_create_srq @ "IBVERBS_1.0" as create_srq);

unsafe fn new_srq(
    pd: *mut ibv_pd_1_0,
    init_attr: *mut ibv_srq_init_attr,
) -> Result<*mut ibv_srq_1_0> {
    let mut srq = Wrapper::<ibv_srq_1_0>::new()?;
    // SAFETY: the caller passes a PD and the attributes of the new SRQ, which is live then.
    unsafe {
        // Before an event can name the SRQ.
        srq.context = (*pd).context;
        srq.srq_context = (*init_attr).srq_context;
        srq.pd = pd;
        let mut real_attr =
            ibv_srq_init_attr { srq_context: srq.as_ptr().cast(), attr: (*init_attr).attr };
        let real = from_null(verbs::srq::ibv_create_srq((*pd).real_pd, &raw mut real_attr))?;
        (*init_attr).attr = real_attr.attr;
        srq.handle = (*real).handle;
        srq.real_srq = real;
    }
    Ok(srq.hand_out())
}

/// Changes the size or the limit of an SRQ. Returns 0 or an error number. `ibv_modify_srq(3)`
unsafe extern "C" fn modify_srq(
    srq: *mut ibv_srq_1_0,
    attr: *mut ibv_srq_attr,
    mask: c_int,
) -> c_int {
    // SAFETY: the caller passes an SRQ and what to change.
    unsafe { verbs::srq::ibv_modify_srq((*srq).real_srq, attr, mask) }
}
export!(ibv_modify_srq @ "IBVERBS_1.0" as modify_srq);

/// Stores size and limit of an SRQ in `attr`. Returns 0 or an error number. `ibv_query_srq(3)`
unsafe extern "C" fn query_srq(srq: *mut ibv_srq_1_0, attr: *mut ibv_srq_attr) -> c_int {
    // SAFETY: the caller passes an SRQ and room for its attributes.
    unsafe { verbs::srq::ibv_query_srq((*srq).real_srq, attr) }
}
export!(ibv_query_srq @ "IBVERBS_1.0" as query_srq);

/// Destroys an SRQ. Returns 0 or an error number. `ibv_destroy_srq(3)`
unsafe extern "C" fn destroy_srq(srq: *mut ibv_srq_1_0) -> c_int {
    // SAFETY: the caller passes an SRQ and uses it no more.
    unsafe { free_if_done(srq, verbs::srq::ibv_destroy_srq((*srq).real_srq)) }
}
export!(ibv_destroy_srq @ "IBVERBS_1.0" as destroy_srq);

#[cfg(test)]
mod tests {
    use core::ffi::c_void;
    use core::ptr;

    use super::*;
    use crate::compat::testing::Old;
    use crate::sys::errno::Errno;
    use crate::verbs::testing::{Call, Fake, new_srq, words};

    const CONTEXT: *mut c_void = ptr::without_provenance_mut(0x1234);

    #[test]
    fn an_srq_wraps_the_real_one_whose_context_it_is() {
        let fake = Fake::new();
        let old = Old::new(&fake);
        let mut real_pd = fake.pd();
        let mut pd = old.pd(&mut real_pd);
        let mut real = new_srq(&fake);
        real.handle = 3;
        fake.answer_object(&mut *real);
        let size = ibv_srq_attr { max_wr: 10, max_sge: 2, srq_limit: 0 };
        let mut attr = ibv_srq_init_attr { srq_context: CONTEXT, attr: size };
        // SAFETY: a live PD; the SRQ is used until it is destroyed.
        unsafe {
            let srq = create_srq(&mut pd, &mut attr);
            assert_eq!(((*srq).context, (*srq).pd), (old.context(), &raw mut pd));
            assert_eq!(((*srq).srq_context, (*srq).handle), (CONTEXT, 3));
            assert_eq!(((*srq).real_srq, real.srq_context), (&raw mut *real, srq.cast()));
            assert_eq!(attr.srq_context, CONTEXT);
            assert_eq!(fake.called(), ["create_srq"]);

            fake.answer(libc::EBUSY);
            assert_eq!(destroy_srq(srq), libc::EBUSY);
            assert_eq!((*srq).real_srq, &raw mut *real);
            fake.answer(0);
            assert_eq!(modify_srq(srq, &mut attr.attr, 2), 0);
            assert_eq!(query_srq(srq, &mut attr.attr), 0);
            assert_eq!(destroy_srq(srq), 0);
            let (real, size) = (&raw const *real, &raw const attr.attr);
            let destroy = Call("destroy_srq", words![real]);
            let modify = Call("modify_srq", words![real, size, 2]);
            let query = Call("query_srq", words![real, size]);
            assert_eq!(fake.calls(), [destroy.clone(), modify, query, destroy]);
        }
    }

    unsafe extern "C" fn create_larger(
        pd: *mut ibv_pd,
        attr: *mut ibv_srq_init_attr,
    ) -> *mut ibv_srq {
        // SAFETY: the layer passes a PD and attributes.
        unsafe {
            (*attr).attr.max_wr = 16;
            if (*pd).handle == 0 {
                Errno::ENOMEM.store();
                return ptr::null_mut();
            }
        }
        Box::into_raw(Box::new(ibv_srq::zeroed()))
    }

    #[test]
    fn the_real_size_is_told_if_there_is_an_srq() {
        let fake = Fake::new();
        fake.set_ops(|ops| ops.create_srq = Some(create_larger));
        let old = Old::new(&fake);
        let mut real_pd = fake.pd();
        let mut pd = old.pd(&mut real_pd);
        let size = ibv_srq_attr { max_wr: 10, max_sge: 2, srq_limit: 0 };
        let mut attr = ibv_srq_init_attr { srq_context: CONTEXT, attr: size };
        // SAFETY: a live PD; the provider's SRQ is a box.
        unsafe {
            let srq = create_srq(&mut pd, &mut attr);
            assert_eq!((attr.attr.max_wr, attr.attr.max_sge), (16, 2));
            drop(Box::from_raw((*srq).real_srq));
            free_if_done(srq, 0);
            attr.attr = size;
            (*pd.real_pd).handle = 0;
            assert!(create_srq(&mut pd, &mut attr).is_null());
        }
        assert_eq!((Errno::last(), attr.attr.max_wr), (Errno::ENOMEM, 10));
    }
}
