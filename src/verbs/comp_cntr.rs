//! Completion counters.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::provider_api::{call_op, end_op};
use crate::sys::errno::{ReturnPointer, from_null};
use crate::verbs::report;

/// Creates a completion counter; NULL with `errno` on failure. `ibv_create_comp_cntr(3)`
pub(crate) unsafe extern "C" fn ibv_create_comp_cntr(
    context: *mut ibv_context,
    attr: *mut ibv_comp_cntr_init_attr,
) -> *mut ibv_comp_cntr {
    // SAFETY: the caller passes a context and the attributes of the counter.
    from_null(unsafe { call_op!(context, create_comp_cntr(context, attr)) }).or_null()
}
export!(ibv_create_comp_cntr @@ "IBVERBS_1.18");

/// Destroys a completion counter. Returns 0 or an error number, EBUSY while a QP counts in it.
/// `ibv_destroy_comp_cntr(3)`
pub(crate) unsafe extern "C" fn ibv_destroy_comp_cntr(counter: *mut ibv_comp_cntr) -> c_int {
    // SAFETY: the caller passes a counter and uses it no more.
    report(unsafe { end_op!((*counter).context, destroy_comp_cntr(counter)) })
}
export!(ibv_destroy_comp_cntr @@ "IBVERBS_1.18");

/// Sets the number of completions. Returns 0 or an error number. `ibv_set_comp_cntr(3)`
pub(crate) unsafe extern "C" fn ibv_set_comp_cntr(
    counter: *mut ibv_comp_cntr,
    value: u64,
) -> c_int {
    // SAFETY: the caller passes a counter.
    report(unsafe { call_op!((*counter).context, set_comp_cntr(counter, value)) })
}
export!(ibv_set_comp_cntr @@ "IBVERBS_1.18");

/// Sets the number of completions in error. Returns 0 or an error number.
/// `ibv_set_err_comp_cntr(3)`
pub(crate) unsafe extern "C" fn ibv_set_err_comp_cntr(
    counter: *mut ibv_comp_cntr,
    value: u64,
) -> c_int {
    // SAFETY: the caller passes a counter.
    report(unsafe { call_op!((*counter).context, set_err_comp_cntr(counter, value)) })
}
export!(ibv_set_err_comp_cntr @@ "IBVERBS_1.18");

/// Adds to the number of completions. Returns 0 or an error number. `ibv_inc_comp_cntr(3)`
pub(crate) unsafe extern "C" fn ibv_inc_comp_cntr(
    counter: *mut ibv_comp_cntr,
    amount: u64,
) -> c_int {
    // SAFETY: the caller passes a counter.
    report(unsafe { call_op!((*counter).context, inc_comp_cntr(counter, amount)) })
}
export!(ibv_inc_comp_cntr @@ "IBVERBS_1.18");

/// Adds to the number of completions in error. Returns 0 or an error number.
/// `ibv_inc_err_comp_cntr(3)`
pub(crate) unsafe extern "C" fn ibv_inc_err_comp_cntr(
    counter: *mut ibv_comp_cntr,
    amount: u64,
) -> c_int {
    // SAFETY: the caller passes a counter.
    report(unsafe { call_op!((*counter).context, inc_err_comp_cntr(counter, amount)) })
}
export!(ibv_inc_err_comp_cntr @@ "IBVERBS_1.18");

/// Stores the number of completions in `value`. Returns 0 or an error number.
/// `ibv_read_comp_cntr(3)`
pub(crate) unsafe extern "C" fn ibv_read_comp_cntr(
    counter: *mut ibv_comp_cntr,
    value: *mut u64,
) -> c_int {
    // SAFETY: the caller passes a counter and room for the value.
    report(unsafe { call_op!((*counter).context, read_comp_cntr(counter, value)) })
}
export!(ibv_read_comp_cntr @@ "IBVERBS_1.18");

/// Stores the number of completions in error in `value`. Returns 0 or an error number.
/// `ibv_read_err_comp_cntr(3)`
pub(crate) unsafe extern "C" fn ibv_read_err_comp_cntr(
    counter: *mut ibv_comp_cntr,
    value: *mut u64,
) -> c_int {
    // SAFETY: the caller passes a counter and room for the value.
    report(unsafe { call_op!((*counter).context, read_err_comp_cntr(counter, value)) })
}
export!(ibv_read_err_comp_cntr @@ "IBVERBS_1.18");

/// Lets a QP count completions of the named operations in a counter. Returns 0 or an error number.
/// `ibv_qp_attach_comp_cntr(3)`
pub(crate) unsafe extern "C" fn ibv_qp_attach_comp_cntr(
    qp: *mut ibv_qp,
    counter: *mut ibv_comp_cntr,
    attr: *mut ibv_qp_attach_comp_cntr_attr,
) -> c_int {
    // SAFETY: the caller passes a QP, a counter and what to count.
    report(unsafe { call_op!((*qp).context, qp_attach_comp_cntr(qp, counter, attr)) })
}
export!(ibv_qp_attach_comp_cntr @@ "IBVERBS_1.18");

/// Stores what the device can count in `caps`, of which the caller has `size` bytes. Returns 0 or
/// an error number. `ibv_query_comp_cntr_caps(3)`
pub(crate) unsafe extern "C" fn _ibv_query_comp_cntr_caps(
    context: *mut ibv_context,
    caps: *mut ibv_comp_cntr_caps,
    size: usize,
) -> c_int {
    // SAFETY: the caller passes a context and room for `size` bytes.
    report(unsafe {
        caps.cast::<u8>().write_bytes(0, size);
        call_op!(context, query_comp_cntr_caps(context, caps, size))
    })
}
export!(_ibv_query_comp_cntr_caps @@ "IBVERBS_1.18");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::errno::Errno;
    use crate::verbs::testing::{Call, Fake, words};

    #[test]
    fn counters_reach_the_provider() {
        let fake = Fake::new();
        let mut attr = ibv_comp_cntr_init_attr::zeroed();
        let mut counter = ibv_comp_cntr { context: fake.context(), handle: 1 };
        let mut qp = ibv_qp { context: fake.context(), ..ibv_qp::zeroed() };
        let mut attach = ibv_qp_attach_comp_cntr_attr { comp_mask: 0, op_mask: 1 };
        let mut value = 0;
        let counter = &raw mut counter;
        fake.answer_object(counter);
        // SAFETY: live objects.
        unsafe {
            assert_eq!(ibv_create_comp_cntr(fake.context(), &mut attr), counter);
            assert_eq!(ibv_set_comp_cntr(counter, 1), 0);
            assert_eq!(ibv_set_err_comp_cntr(counter, u64::MAX), 0);
            assert_eq!(ibv_inc_comp_cntr(counter, 3), 0);
            assert_eq!(ibv_inc_err_comp_cntr(counter, 4), 0);
            assert_eq!(ibv_read_comp_cntr(counter, &mut value), 0);
            assert_eq!(ibv_read_err_comp_cntr(counter, &mut value), 0);
            assert_eq!(ibv_qp_attach_comp_cntr(&mut qp, counter, &mut attach), 0);
            fake.answer(libc::EBUSY);
            assert_eq!(ibv_destroy_comp_cntr(counter), libc::EBUSY);
            assert_eq!(Errno::last(), Errno::EBUSY);
        }
        assert_eq!(
            fake.calls(),
            [
                Call("create_comp_cntr", words![fake.context(), &raw const attr]),
                Call("set_comp_cntr", words![counter, 1]),
                Call("set_err_comp_cntr", words![counter, u64::MAX]),
                Call("inc_comp_cntr", words![counter, 3]),
                Call("inc_err_comp_cntr", words![counter, 4]),
                Call("read_comp_cntr", words![counter, &raw const value]),
                Call("read_err_comp_cntr", words![counter, &raw const value]),
                Call("qp_attach_comp_cntr", words![&raw const qp, counter, &raw const attach]),
                Call("destroy_comp_cntr", words![counter]),
            ]
        );
    }

    #[test]
    fn capabilities_are_zero_before_the_provider_sees_them() {
        let fake = Fake::with_ops(&verbs_context_ops::zeroed());
        let mut room = [0xee_u8; 32];
        // SAFETY: a live context and 24 bytes of room.
        let status =
            unsafe { _ibv_query_comp_cntr_caps(fake.context(), room.as_mut_ptr().cast(), 24) };
        assert_eq!((status, Errno::last()), (libc::EOPNOTSUPP, Errno::EOPNOTSUPP));
        assert_eq!(room[..24], [0; 24]);
        assert_eq!(room[24..], [0xee; 8]);
    }
}
