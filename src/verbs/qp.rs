//! Queue pairs.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::cmd;
use crate::provider_api::{call_op, end_op};
use crate::sys::errno::{Errno, ReturnPointer, from_null};
use crate::verbs::report;

/// Creates a QP and stores its real size in `attr`; NULL with `errno` on failure.
/// `ibv_create_qp(3)`
pub(crate) unsafe extern "C" fn ibv_create_qp(
    pd: *mut ibv_pd,
    attr: *mut ibv_qp_init_attr,
) -> *mut ibv_qp {
    // SAFETY: the caller passes a PD and the attributes of the new QP.
    from_null(unsafe { call_op!((*pd).context, create_qp(pd, attr)) }).or_null()
}
export!(ibv_create_qp @@ "IBVERBS_1.1");

/// Changes what `mask` names of a QP. Returns 0 or an error number. `ibv_modify_qp(3)`
pub(crate) unsafe extern "C" fn ibv_modify_qp(
    qp: *mut ibv_qp,
    attr: *mut ibv_qp_attr,
    mask: c_int,
) -> c_int {
    // SAFETY: the caller passes a QP and what to change.
    unsafe {
        let status = call_op!((*qp).context, modify_qp(qp, attr, mask));
        if status == 0 {
            note_state(qp, attr, mask);
        }
        report(status)
    }
}
export!(ibv_modify_qp @@ "IBVERBS_1.1");

/// Stores the attributes of a QP, at least those that `mask` names, and those of its creation.
/// Returns 0 or an error number. `ibv_query_qp(3)`
pub(crate) unsafe extern "C" fn ibv_query_qp(
    qp: *mut ibv_qp,
    attr: *mut ibv_qp_attr,
    mask: c_int,
    init_attr: *mut ibv_qp_init_attr,
) -> c_int {
    // SAFETY: the caller passes a QP and room for the attributes.
    unsafe {
        let status = call_op!((*qp).context, query_qp(qp, attr, mask, init_attr));
        if status == 0 {
            note_state(qp, attr, mask);
        }
        report(status)
    }
}
export!(ibv_query_qp @@ "IBVERBS_1.1");

/// Keeps the state of a QP that the attributes are known to have.
unsafe fn note_state(qp: *mut ibv_qp, attr: *const ibv_qp_attr, mask: c_int) {
    if mask.cast_unsigned() & IBV_QP_STATE != 0 {
        // SAFETY: the caller passes a QP and its attributes.
        unsafe { (*qp).state = (*attr).qp_state };
    }
}

/// Destroys a QP when all its events are acknowledged. Returns 0 or an error number.
/// `ibv_destroy_qp(3)`
pub(crate) unsafe extern "C" fn ibv_destroy_qp(qp: *mut ibv_qp) -> c_int {
    // SAFETY: the caller passes a QP and uses it no more.
    report(unsafe { end_op!((*qp).context, destroy_qp(qp)) })
}
export!(ibv_destroy_qp @@ "IBVERBS_1.1");

/// Whether data of an opcode arrives in order: 1 if all of a message does, else 0; with
/// `IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS` the bits of `enum ibv_query_qp_data_in_order_caps`. 0
/// for flags of the future. `ibv_query_qp_data_in_order(3)`
pub(super) unsafe extern "C" fn ibv_query_qp_data_in_order(
    qp: *mut ibv_qp,
    opcode: ibv_wr_opcode,
    flags: u32,
) -> c_int {
    // SAFETY: the caller passes a QP.
    data_in_order(flags, || unsafe {
        call_op!((*qp).context, query_qp_data_in_order(qp, opcode, flags))
    })
}
export!(ibv_query_qp_data_in_order @@ "IBVERBS_1.14");

/// The answer to the flags, given what the device does.
fn data_in_order(flags: u32, of_device: impl FnOnce() -> c_int) -> c_int {
    const KNOWN: u32 =
        IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS | IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY;
    // Other processors may see data in another order than the device wrote it.
    let processor_keeps_order = cfg!(any(target_arch = "x86_64", target_arch = "x86"));
    let device_only = flags & IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY != 0;
    if flags & !KNOWN != 0 || !(processor_keeps_order || device_only) {
        return 0;
    }
    let mut caps = of_device().cast_unsigned();
    let whole = caps & IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG != 0;
    if whole {
        caps |= IBV_QUERY_QP_DATA_IN_ORDER_ALIGNED_128_BYTES;
    }
    if flags & IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS != 0 {
        caps.cast_signed()
    } else {
        c_int::from(whole)
    }
}

/// Sets the options for enhanced connection establishment, and stores those accepted. Returns 0 or
/// an error number, EOPNOTSUPP for options of no vendor. `ibv_set_ece(3)`
pub(super) unsafe extern "C" fn ibv_set_ece(qp: *mut ibv_qp, ece: *mut ibv_ece) -> c_int {
    // SAFETY: the caller passes a QP and options.
    unsafe {
        if (*ece).vendor_id == 0 {
            return report(libc::EOPNOTSUPP);
        }
        report(call_op!((*qp).context, set_ece(qp, ece)))
    }
}
export!(ibv_set_ece @@ "IBVERBS_1.10");

/// Stores the options for enhanced connection establishment. Returns 0 or an error number.
/// `ibv_query_ece(3)`
pub(super) unsafe extern "C" fn ibv_query_ece(qp: *mut ibv_qp, ece: *mut ibv_ece) -> c_int {
    // SAFETY: the caller passes a QP and room for the options.
    report(unsafe { call_op!((*qp).context, query_ece(qp, ece)) })
}
export!(ibv_query_ece @@ "IBVERBS_1.10");

/// The extended part of a QP that was created for the extended posting interface; NULL with `errno`
/// EINVAL for others. `ibv_qp_to_qp_ex(3)`
pub(super) unsafe extern "C" fn ibv_qp_to_qp_ex(qp: *mut ibv_qp) -> *mut ibv_qp_ex {
    // SAFETY: the caller passes a QP.
    let comp_mask = unsafe { cmd::comp_mask(qp) };
    if comp_mask & VERBS_QP_EX != 0 { Ok(qp.cast()) } else { Err(Errno::EINVAL) }.or_null()
}
export!(ibv_qp_to_qp_ex @@ "IBVERBS_1.6");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider_api::private_abi::testing::Guarded;
    use crate::provider_api::private_abi::{PRIVATE_ABIS, layouts_of};
    use crate::verbs::testing::{Call, Fake, new_qp, words};

    #[test]
    fn qps_come_from_the_provider() {
        let fake = Fake::new();
        let mut pd = fake.pd();
        let mut attr = ibv_qp_init_attr::zeroed();
        let mut qp = new_qp(&fake);
        fake.answer_object(&raw mut *qp);
        // SAFETY: live objects.
        unsafe {
            assert_eq!(ibv_create_qp(&mut pd, &mut attr), &raw mut *qp);
            fake.answer(libc::EINVAL);
            assert!(ibv_create_qp(&mut pd, &mut attr).is_null());
            assert_eq!(Errno::last(), Errno::EINVAL);
            fake.answer(libc::EBUSY);
            assert_eq!(ibv_destroy_qp(&mut *qp), libc::EBUSY);
            assert_eq!(Errno::last(), Errno::EBUSY);
        }
        let create = Call("create_qp", words![&raw const pd, &raw const attr]);
        assert_eq!(
            fake.calls(),
            [create.clone(), create, Call("destroy_qp", words![&raw const *qp])]
        );
    }

    #[test]
    fn the_state_is_kept_after_success_if_it_was_named() {
        let fake = Fake::new();
        let mut qp = new_qp(&fake);
        let mut attr = ibv_qp_attr { qp_state: IBV_QPS_RTS, ..ibv_qp_attr::zeroed() };
        let mut init = ibv_qp_init_attr::zeroed();
        let state = IBV_QP_STATE.cast_signed();
        let other = IBV_QP_PORT.cast_signed();
        // SAFETY: live objects.
        unsafe {
            fake.answer(libc::EINVAL);
            assert_eq!(ibv_modify_qp(&mut *qp, &mut attr, state), libc::EINVAL);
            assert_eq!(ibv_query_qp(&mut *qp, &mut attr, state, &mut init), libc::EINVAL);
            assert_eq!((qp.state, Errno::last()), (IBV_QPS_RESET, Errno::EINVAL));
            fake.answer(0);
            assert_eq!(ibv_modify_qp(&mut *qp, &mut attr, other), 0);
            assert_eq!(ibv_query_qp(&mut *qp, &mut attr, other, &mut init), 0);
            assert_eq!(qp.state, IBV_QPS_RESET);
            assert_eq!(ibv_modify_qp(&mut *qp, &mut attr, state | other), 0);
            assert_eq!(qp.state, IBV_QPS_RTS);
            attr.qp_state = IBV_QPS_ERR;
            assert_eq!(ibv_query_qp(&mut *qp, &mut attr, -1, &mut init), 0);
            assert_eq!(qp.state, IBV_QPS_ERR);
        }
        let calls = fake.calls();
        assert_eq!(calls[0], Call("modify_qp", words![&raw const *qp, &raw const attr, state]));
        let arguments = words![&raw const *qp, &raw const attr, state, &raw const init];
        assert_eq!(calls[1], Call("query_qp", arguments));
    }

    #[test]
    fn data_order_is_told_as_asked_for() {
        let (caps, device) =
            (IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS, IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY);
        let fake = Fake::new();
        let mut qp = new_qp(&fake);
        for (flags, of_device, answer) in [
            (device, 0, 0),
            (device, 1, 1),
            (device, 2, 0),
            (device, 3, 1),
            (device, 4, 0),
            (device, -1, 1),
            (device | caps, 0, 0),
            (device | caps, 1, 3),
            (device | caps, 2, 2),
            (device | caps, 3, 3),
            (device | caps, 4, 4),
            (device | caps, -1, -1),
        ] {
            fake.answer(of_device);
            // SAFETY: a live QP.
            let result = unsafe { ibv_query_qp_data_in_order(&mut *qp, 3, flags) };
            assert_eq!(result, answer, "{flags} {of_device}");
            assert_eq!(
                fake.calls(),
                [Call("query_qp_data_in_order", words![&raw const *qp, 3, flags])]
            );
            if cfg!(target_arch = "x86_64") {
                // SAFETY: a live QP.
                let result = unsafe { ibv_query_qp_data_in_order(&mut *qp, 3, flags & !device) };
                assert_eq!(result, answer, "{flags} {of_device}");
                fake.calls();
            }
        }
        fake.answer(3);
        for flags in [4, 8, 4 | device | caps, 1 << 31] {
            // SAFETY: a live QP.
            assert_eq!(unsafe { ibv_query_qp_data_in_order(&mut *qp, 3, flags) }, 0);
        }
        assert!(fake.calls().is_empty());
    }

    #[test]
    fn connection_options_need_a_vendor() {
        let fake = Fake::new();
        let mut qp = new_qp(&fake);
        let mut ece = ibv_ece { vendor_id: 0, options: 1, comp_mask: 2 };
        // SAFETY: live objects.
        unsafe {
            assert_eq!(ibv_set_ece(&mut *qp, &mut ece), libc::EOPNOTSUPP);
            assert_eq!((Errno::last(), fake.calls()), (Errno::EOPNOTSUPP, vec![]));
            ece.vendor_id = 5;
            assert_eq!(ibv_set_ece(&mut *qp, &mut ece), 0);
            fake.answer(libc::EINVAL);
            assert_eq!(ibv_set_ece(&mut *qp, &mut ece), libc::EINVAL);
            assert_eq!(ibv_query_ece(&mut *qp, &mut ece), libc::EINVAL);
        }
        assert_eq!(Errno::last(), Errno::EINVAL);
        let set = Call("set_ece", words![&raw const *qp, &raw const ece]);
        let query = Call("query_ece", words![&raw const *qp, &raw const ece]);
        assert_eq!(fake.calls(), [set.clone(), set, query]);
    }

    #[test]
    fn only_a_qp_for_the_extended_interface_has_one() {
        for layout in PRIVATE_ABIS.into_iter().flat_map(layouts_of) {
            let fake = Fake::of_layout(layout, &verbs_context_ops::zeroed());
            let qp = Guarded::new(layout.qp_tail + 16);
            for (comp_mask, extended) in [(0_u32, false), (1, false), (2, true), (3, true)] {
                // SAFETY: a live QP of a provider of this layout.
                let result = unsafe {
                    (*qp.get::<ibv_qp>()).context = fake.context();
                    qp.get::<u8>().add(layout.qp_tail).cast::<u32>().write(comp_mask);
                    ibv_qp_to_qp_ex(qp.get())
                };
                assert_eq!(!result.is_null(), extended, "{layout:?}");
                if extended {
                    assert_eq!(result, qp.get());
                } else {
                    assert_eq!(Errno::last(), Errno::EINVAL);
                }
            }
        }
    }
}
