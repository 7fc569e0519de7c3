//! Queue pairs.

use core::ffi::c_int;
use core::ptr;

use crate::abi::export::export;
use crate::abi::*;
use crate::compat::{Wrapper, free_if_done};
use crate::sys::errno::{Result, ReturnPointer, from_null};
use crate::verbs;

/// Creates a QP and stores its real capabilities in `init_attr`; NULL with `errno` on failure.
/// `ibv_create_qp(3)`
unsafe extern "C" fn create_qp(
    pd: *mut ibv_pd_1_0,
    init_attr: *mut ibv_qp_init_attr_1_0,
) -> *mut ibv_qp_1_0 {
    // SAFETY: the caller passes a PD and the attributes of the new QP.
    unsafe { new_qp(pd, init_attr) }.or_null()
}
export!(ibv_create_qp @ "IBVERBS_1.0" as create_qp);

unsafe fn new_qp(
    pd: *mut ibv_pd_1_0,
    init_attr: *mut ibv_qp_init_attr_1_0,
) -> Result<*mut ibv_qp_1_0> {
    let mut qp = Wrapper::<ibv_qp_1_0>::new()?;
    // SAFETY: the caller passes a PD and the attributes of the new QP, which is live then.
    unsafe {
        let given = *init_attr;
        // Before an event can name the QP.
        qp.context = (*pd).context;
        qp.qp_context = given.qp_context;
        qp.pd = pd;
        qp.send_cq = given.send_cq;
        qp.recv_cq = given.recv_cq;
        qp.srq = given.srq;
        qp.qp_type = given.qp_type;
        let mut real_attr = ibv_qp_init_attr {
            qp_context: qp.as_ptr().cast(),
            send_cq: real_cq(given.send_cq),
            recv_cq: real_cq(given.recv_cq),
            srq: if given.srq.is_null() { ptr::null_mut() } else { (*given.srq).real_srq },
            cap: given.cap,
            qp_type: given.qp_type,
            sq_sig_all: given.sq_sig_all,
        };
        let real = from_null(verbs::qp::ibv_create_qp((*pd).real_pd, &raw mut real_attr))?;
        (*init_attr).cap = real_attr.cap;
        qp.handle = (*real).handle;
        qp.qp_num = (*real).qp_num;
        qp.state = (*real).state;
        qp.real_qp = real;
    }
    Ok(qp.hand_out())
}

/// # Safety
///
/// `cq` must be NULL or a CQ.
unsafe fn real_cq(cq: *mut ibv_cq_1_0) -> *mut ibv_cq {
    // SAFETY: the caller's promise.
    if cq.is_null() { ptr::null_mut() } else { unsafe { (*cq).real_cq } }
}

/// Changes a QP. Returns 0 or an error number. `ibv_modify_qp(3)`
unsafe extern "C" fn modify_qp(qp: *mut ibv_qp_1_0, attr: *mut ibv_qp_attr, mask: c_int) -> c_int {
    // SAFETY: the caller passes a QP and what to change.
    unsafe {
        let real = (*qp).real_qp;
        let status = verbs::qp::ibv_modify_qp(real, attr, mask);
        (*qp).state = (*real).state;
        status
    }
}
export!(ibv_modify_qp @ "IBVERBS_1.0" as modify_qp);

/// Stores the attributes of a QP in `attr` and those that it was created with in `init_attr`.
/// Returns 0 or an error number. `ibv_query_qp(3)`
unsafe extern "C" fn query_qp(
    qp: *mut ibv_qp_1_0,
    attr: *mut ibv_qp_attr,
    mask: c_int,
    init_attr: *mut ibv_qp_init_attr_1_0,
) -> c_int {
    let mut real_attr = ibv_qp_init_attr::zeroed();
    // SAFETY: the caller passes a QP and room for the attributes.
    unsafe {
        let real = (*qp).real_qp;
        let status = verbs::qp::ibv_query_qp(real, attr, mask, &raw mut real_attr);
        if status == 0 {
            (*qp).state = (*real).state;
            *init_attr = ibv_qp_init_attr_1_0 {
                qp_context: (*qp).qp_context,
                send_cq: (*qp).send_cq,
                recv_cq: (*qp).recv_cq,
                srq: (*qp).srq,
                cap: real_attr.cap,
                qp_type: (*qp).qp_type,
                sq_sig_all: real_attr.sq_sig_all,
            };
        }
        status
    }
}
export!(ibv_query_qp @ "IBVERBS_1.0" as query_qp);

/// Destroys a QP. Returns 0 or an error number. `ibv_destroy_qp(3)`
unsafe extern "C" fn destroy_qp(qp: *mut ibv_qp_1_0) -> c_int {
    // SAFETY: the caller passes a QP and uses it no more.
    unsafe { free_if_done(qp, verbs::qp::ibv_destroy_qp((*qp).real_qp)) }
}
export!(ibv_destroy_qp @ "IBVERBS_1.0" as destroy_qp);

#[cfg(test)]
mod tests {
    use core::ffi::c_void;

    use super::*;
    use crate::compat::testing::Old;
    use crate::sys::errno::Errno;
    use crate::verbs::testing::{Fake, new_cq, new_qp, new_srq};

    const CONTEXT: *mut c_void = ptr::without_provenance_mut(0x1234);

    thread_local! {
        /// What a creation asked for.
        static ASKED: core::cell::Cell<Option<ibv_qp_init_attr>> =
            const { core::cell::Cell::new(None) };
        /// What a creation gives.
        static GIVEN: core::cell::Cell<*mut ibv_qp> =
            const { core::cell::Cell::new(ptr::null_mut()) };
    }

    unsafe extern "C" fn create(_: *mut ibv_pd, attr: *mut ibv_qp_init_attr) -> *mut ibv_qp {
        // SAFETY: the layer passes attributes.
        unsafe {
            ASKED.set(Some(*attr));
            (*attr).cap.max_send_wr += 1;
        }
        if GIVEN.get().is_null() {
            Errno::EINVAL.store();
        }
        GIVEN.get()
    }

    unsafe extern "C" fn query(
        _: *mut ibv_qp,
        attr: *mut ibv_qp_attr,
        _: c_int,
        init: *mut ibv_qp_init_attr,
    ) -> c_int {
        // SAFETY: the layer passes room for both.
        unsafe {
            (*attr).qp_state = IBV_QPS_RTS;
            (*init).cap.max_inline_data = 64;
            (*init).sq_sig_all = 1;
            (*init).qp_context = ptr::null_mut();
        }
        0
    }

    fn cap(max_send_wr: u32) -> ibv_qp_cap {
        ibv_qp_cap { max_send_wr, ..ibv_qp_cap::zeroed() }
    }

    #[test]
    fn a_qp_wraps_the_real_one_and_names_wrappers() {
        let fake = Fake::new();
        fake.set_ops(|ops| {
            ops.create_qp = Some(create);
            ops.query_qp = Some(query);
        });
        let old = Old::new(&fake);
        let mut real_pd = fake.pd();
        let mut pd = old.pd(&mut real_pd);
        let (mut real_send, mut real_recv) = (new_cq(&fake), new_cq(&fake));
        let (mut send, mut recv) = (old.cq(&mut real_send), old.cq(&mut real_recv));
        let mut real_srq = new_srq(&fake);
        let mut srq = old.srq(&mut real_srq);
        let mut real = new_qp(&fake);
        (real.handle, real.qp_num) = (4, 0xabc);
        GIVEN.set(&mut *real);
        let mut init = ibv_qp_init_attr_1_0 {
            qp_context: CONTEXT,
            send_cq: &mut send,
            recv_cq: &mut recv,
            srq: &mut srq,
            cap: cap(10),
            qp_type: IBV_QPT_RC,
            sq_sig_all: 0,
        };
        // SAFETY: live objects; the QP is used until it is destroyed.
        unsafe {
            let qp = create_qp(&mut pd, &mut init);
            let asked = ASKED.take().unwrap();
            assert_eq!(asked.qp_context, qp.cast());
            assert_eq!((asked.send_cq, asked.recv_cq), (send.real_cq, recv.real_cq));
            assert_eq!((asked.srq, asked.qp_type), (srq.real_srq, IBV_QPT_RC));
            assert_eq!((asked.cap.max_send_wr, init.cap.max_send_wr), (10, 11));
            assert_eq!(((*qp).context, (*qp).pd), (old.context(), &raw mut pd));
            assert_eq!(((*qp).qp_context, (*qp).srq), (CONTEXT, &raw mut srq));
            assert_eq!(((*qp).send_cq, (*qp).recv_cq), (&raw mut send, &raw mut recv));
            assert_eq!(((*qp).handle, (*qp).qp_num), (4, 0xabc));
            assert_eq!(((*qp).qp_type, (*qp).real_qp), (IBV_QPT_RC, &raw mut *real));

            let mut attr = ibv_qp_attr::zeroed();
            attr.qp_state = IBV_QPS_INIT;
            assert_eq!(modify_qp(qp, &mut attr, IBV_QP_STATE as c_int), 0);
            assert_eq!((*qp).state, IBV_QPS_INIT);

            let mut found = ibv_qp_init_attr_1_0::zeroed();
            assert_eq!(query_qp(qp, &mut attr, IBV_QP_STATE as c_int, &mut found), 0);
            assert_eq!((attr.qp_state, (*qp).state), (IBV_QPS_RTS, IBV_QPS_RTS));
            assert_eq!((found.qp_context, found.srq), (CONTEXT, &raw mut srq));
            assert_eq!((found.send_cq, found.recv_cq), (&raw mut send, &raw mut recv));
            assert_eq!((found.qp_type, found.sq_sig_all), (IBV_QPT_RC, 1));
            assert_eq!(found.cap.max_inline_data, 64);

            fake.answer(libc::EBUSY);
            assert_eq!(destroy_qp(qp), libc::EBUSY);
            assert_eq!((*qp).real_qp, &raw mut *real);
            fake.answer(0);
            assert_eq!(destroy_qp(qp), 0);
        }
    }

    #[test]
    fn failures_leave_the_program_s_structs_alone() {
        let fake = Fake::new();
        fake.set_ops(|ops| ops.create_qp = Some(create));
        let old = Old::new(&fake);
        let mut real_pd = fake.pd();
        let mut pd = old.pd(&mut real_pd);
        GIVEN.set(ptr::null_mut());
        let mut init = ibv_qp_init_attr_1_0::zeroed();
        // SAFETY: a live PD, and attributes of a QP without CQs.
        assert!(unsafe { create_qp(&mut pd, &mut init) }.is_null());
        assert_eq!((Errno::last(), init.cap.max_send_wr), (Errno::EINVAL, 0));
        let asked = ASKED.take().unwrap();
        assert!(asked.send_cq.is_null() && asked.recv_cq.is_null() && asked.srq.is_null());

        let mut real = new_qp(&fake);
        let mut qp = old.qp(&mut real);
        let mut attr = ibv_qp_attr::zeroed();
        attr.qp_state = IBV_QPS_ERR;
        init.sq_sig_all = 7;
        fake.answer(libc::EINVAL);
        // SAFETY: a live QP and room for the results.
        unsafe {
            assert_eq!(modify_qp(&mut qp, &mut attr, IBV_QP_STATE as c_int), libc::EINVAL);
            assert_eq!(query_qp(&mut qp, &mut attr, 1, &mut init), libc::EINVAL);
        }
        assert_eq!((qp.state, init.sq_sig_all), (IBV_QPS_RESET, 7));
    }
}
