use core::ffi::c_void;

use super::context::*;
use super::cq::*;
use super::flow::*;
use super::memory::*;
use super::qp::*;
use super::srq::*;
use super::wq::*;
use super::*;
use crate::verbs::testing::{Call, Fake, new_cq, new_qp, new_srq, new_wq, note, record, words};

/// An object of a context.
macro_rules! of {
    ($fake:expr, $object:ident) => {
        $object { context: $fake.context(), ..$object::zeroed() }
    };
}

fn at<T>(address: usize) -> *mut T {
    ptr::without_provenance_mut(address)
}

/// Calls functions that go to a slot and checks that the arguments arrive there and the result
/// comes back, then that a context without the slot is told apart: `function(arguments) => slot`,
/// with a list of how the context loses the slot.
macro_rules! go_through {
    ($fake:expr, $($function:ident($($argument:expr),*) => $op:literal;)*) => {
        $({
            let mut arguments = Vec::new();
            $fake.answer(33);
            // SAFETY: live objects, or addresses that the test's provider does not touch.
            let result = unsafe { $function($(note(&mut arguments, $argument)),*) };
            assert!(result.answers(), stringify!($function));
            assert_eq!($fake.calls(), [Call($op, arguments)]);
            for cut in [without_slots, with_small_size, of_an_old_library] {
                let uncut = cut(&$fake);
                Errno(0).store();
                // SAFETY: as above.
                let result = unsafe { $function($($argument),*) };
                uncut.restore(&$fake);
                assert!(result.unsupported(), stringify!($function));
                assert_eq!(Errno::last(), Errno::EOPNOTSUPP, stringify!($function));
                assert_eq!($fake.calls(), [], stringify!($function));
            }
        })*
    };
}

/// What [`Fake::answer`] 33 and a missing function look like in a return value.
trait Returned {
    fn answers(self) -> bool;
    fn unsupported(self) -> bool;
}

impl Returned for c_int {
    fn answers(self) -> bool {
        self == 33
    }

    fn unsupported(self) -> bool {
        self == libc::EOPNOTSUPP
    }
}

impl<T> Returned for *mut T {
    fn answers(self) -> bool {
        self.is_null() && Errno::last() == Errno(33)
    }

    fn unsupported(self) -> bool {
        self.is_null()
    }
}

/// A context as it was.
struct Uncut(Box<verbs_context>);

impl Uncut {
    fn of(fake: &Fake) -> Uncut {
        // SAFETY: a live context.
        Uncut(Box::new(unsafe { fake.extended().read() }))
    }

    fn restore(self, fake: &Fake) {
        // SAFETY: a live context.
        unsafe { fake.extended().write(*self.0) };
    }
}

/// A provider that has set nothing.
fn without_slots(fake: &Fake) -> Uncut {
    let uncut = Uncut::of(fake);
    let before = &uncut.0;
    let mut empty = verbs_context { sz: before.sz, priv_: before.priv_, ..verbs_context::zeroed() };
    empty.context = ibv_context { ops: ibv_context_ops::zeroed(), ..before.context };
    // SAFETY: a live context.
    unsafe { fake.extended().write(empty) };
    uncut
}

/// A context that does not reach as far as any slot. Slots of the public part are always there.
fn with_small_size(fake: &Fake) -> Uncut {
    let uncut = without_slots(fake);
    // SAFETY: a live context.
    unsafe {
        let public = (*fake.extended()).context.ops;
        *fake.extended() = *uncut.0;
        (*fake.extended()).context.ops = public;
        (*fake.extended()).sz = size_of::<ibv_context>() + 16;
    }
    uncut
}

/// A context of a library that had no extended ones.
fn of_an_old_library(fake: &Fake) -> Uncut {
    let uncut = with_small_size(fake);
    // SAFETY: a live context.
    unsafe {
        (*fake.extended()).sz = size_of::<verbs_context>();
        (*fake.context()).abi_compat = ptr::null_mut();
    }
    uncut
}

#[test]
fn the_extended_context_lies_in_front() {
    let fake = Fake::new();
    // SAFETY: a live context.
    unsafe {
        assert_eq!(verbs_get_ctx(fake.context()), fake.extended());
        for other in [0, 1, usize::MAX - 1] {
            (*fake.context()).abi_compat = at(other);
            assert!(verbs_get_ctx(fake.context()).is_null());
        }
    }
}

#[test]
fn a_slot_is_there_if_the_context_reaches_it() {
    let fake = Fake::new();
    // Offset 56 of 696 bytes.
    for (size, there) in [(696, true), (640, true), (639, false), (0, false), (usize::MAX, true)] {
        // SAFETY: a live context.
        unsafe {
            (*fake.extended()).sz = size;
            assert_eq!(slot!(fake.context(), advise_mr).is_some(), there, "{size}");
        }
    }
}

#[test]
fn verbs_of_contexts_and_memory() {
    let fake = Fake::new();
    let context = fake.context();
    let mut pd = fake.pd();
    let pd = &raw mut pd;
    let mut dm = of!(fake, ibv_dm);
    let dm = &raw mut dm;
    let mut td = ibv_td { context };
    let td = &raw mut td;
    let mut xrcd = ibv_xrcd { context };
    let xrcd = &raw mut xrcd;
    let mut mw = of!(fake, ibv_mw);
    let mw = &raw mut mw;
    go_through! { fake,
        ibv_query_rt_values_ex(context, at(1)) => "query_rt_values";
        ibv_open_xrcd(context, at(1)) => "open_xrcd";
        ibv_close_xrcd(xrcd) => "close_xrcd";
        ibv_advise_mr(pd, 1, 2, at(3), 4) => "advise_mr";
        ibv_alloc_null_mr(pd) => "alloc_null_mr";
        ibv_reg_dm_mr(pd, dm, 2, 3, 4) => "reg_dm_mr";
        ibv_alloc_dm(context, at(1)) => "alloc_dm";
        ibv_free_dm(dm) => "free_dm";
        ibv_alloc_td(context, at(1)) => "alloc_td";
        ibv_dealloc_td(td) => "dealloc_td";
        ibv_alloc_mw(pd, 2) => "alloc_mw";
        ibv_dealloc_mw(mw) => "dealloc_mw";
        ibv_alloc_parent_domain(context, at(1)) => "alloc_parent_domain";
    }
}

#[test]
fn verbs_of_flows_and_counters() {
    let fake = Fake::new();
    let context = fake.context();
    let mut qp = new_qp(&fake);
    let qp = &raw mut *qp;
    let mut flow = of!(fake, ibv_flow);
    let flow = &raw mut flow;
    let mut action = ibv_flow_action { context };
    let action = &raw mut action;
    let mut counters = ibv_counters { context };
    let counters = &raw mut counters;
    go_through! { fake,
        ibv_create_flow(qp, at(1)) => "create_flow";
        ibv_destroy_flow(flow) => "destroy_flow";
        ibv_create_flow_action_esp(context, at(1)) => "create_flow_action_esp";
        ibv_modify_flow_action_esp(action, at(1)) => "modify_flow_action_esp";
        ibv_destroy_flow_action(action) => "destroy_flow_action";
        ibv_create_counters(context, at(1)) => "create_counters";
        ibv_destroy_counters(counters) => "destroy_counters";
        ibv_attach_counters_point_flow(counters, at(1), flow) => "attach_counters_point_flow";
        ibv_read_counters(counters, at(1), 2, 3) => "read_counters";
    }
}

#[test]
fn verbs_of_queues() {
    let fake = Fake::new();
    let context = fake.context();
    let (mut qp, mut cq, mut srq, mut wq) =
        (new_qp(&fake), new_cq(&fake), new_srq(&fake), new_wq(&fake));
    let (qp, cq, srq, wq) = (&raw mut *qp, &raw mut *cq, &raw mut *srq, &raw mut *wq);
    let mut table = of!(fake, ibv_rwq_ind_table);
    let table = &raw mut table;
    go_through! { fake,
        ibv_poll_cq(cq, 2, at(3)) => "poll_cq";
        ibv_req_notify_cq(cq, 1) => "req_notify_cq";
        ibv_modify_cq(cq, at(1)) => "modify_cq";
        ibv_post_send(qp, at(1), at(2)) => "post_send";
        ibv_post_recv(qp, at(1), at(2)) => "post_recv";
        ibv_open_qp(context, at(1)) => "open_qp";
        ibv_modify_qp_rate_limit(qp, at(1)) => "modify_qp_rate_limit";
        ibv_post_srq_recv(srq, at(1), at(2)) => "post_srq_recv";
        ibv_get_srq_num(srq, at(1)) => "get_srq_num";
        ibv_modify_wq(wq, at(1)) => "modify_wq";
        ibv_destroy_wq(wq) => "destroy_wq";
        ibv_create_rwq_ind_table(context, at(1)) => "create_rwq_ind_table";
        ibv_destroy_rwq_ind_table(table) => "destroy_rwq_ind_table";
        ibv_create_wq(context, at(1)) => "create_wq";
    }
}

#[test]
fn slots_of_the_public_part_are_there_in_old_contexts_too() {
    let fake = Fake::new();
    let mut cq = new_cq(&fake);
    // SAFETY: a live context and CQ.
    unsafe {
        (*fake.context()).abi_compat = ptr::null_mut();
        assert_eq!(ibv_poll_cq(&mut *cq, 1, at(2)), 0);
    }
    assert_eq!(fake.called(), ["poll_cq"]);
}

#[test]
fn verbs_whose_attributes_decide() {
    let fake = Fake::new();
    let context = fake.context();
    let mut pd = fake.pd();
    let mut qp_attr = ibv_qp_init_attr_ex { pd: &raw mut pd, ..ibv_qp_init_attr_ex::zeroed() };
    let mut srq_attr = ibv_srq_init_attr_ex { pd: &raw mut pd, ..ibv_srq_init_attr_ex::zeroed() };
    let mut cq_attr = ibv_cq_init_attr_ex::zeroed();
    let mut srq = new_srq(&fake);
    let mut bad_op = ptr::null_mut();
    let srq = &raw mut *srq;
    go_through! { fake,
        ibv_create_qp_ex(context, &raw mut qp_attr) => "create_qp_ex";
        ibv_create_srq_ex(context, &raw mut srq_attr) => "create_srq_ex";
        ibv_create_cq_ex(context, &raw mut cq_attr) => "create_cq_ex";
        ibv_post_srq_ops(srq, at(1), &raw mut bad_op) => "post_srq_ops";
    }
    assert_eq!(bad_op, at(1), "the first one was not posted");
}

#[test]
fn a_plain_qp_needs_no_extended_operation() {
    let fake = Fake::new();
    let mut pd = fake.pd();
    let mut attr = ibv_qp_init_attr_ex { pd: &raw mut pd, ..ibv_qp_init_attr_ex::zeroed() };
    for (mask, op) in [
        (IBV_QP_INIT_ATTR_PD, "create_qp"),
        (0, "create_qp_ex"),
        (IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS, "create_qp_ex"),
        (IBV_QP_INIT_ATTR_XRCD, "create_qp_ex"),
    ] {
        attr.comp_mask = mask;
        // SAFETY: live objects.
        unsafe { ibv_create_qp_ex(fake.context(), &mut attr) };
        let first = if op == "create_qp" { (&raw const pd).addr() } else { fake.context().addr() };
        assert_eq!(fake.calls(), [Call(op, words![first, &raw const attr])], "{mask:#x}");
    }
}

#[test]
fn a_plain_srq_needs_no_extended_operation() {
    let fake = Fake::new();
    let mut pd = fake.pd();
    let mut attr = ibv_srq_init_attr_ex { pd: &raw mut pd, ..ibv_srq_init_attr_ex::zeroed() };
    let (has_pd, has_type) = (IBV_SRQ_INIT_ATTR_PD, IBV_SRQ_INIT_ATTR_TYPE);
    for (mask, srq_type, op) in [
        (has_pd, IBV_SRQT_XRC, "create_srq"),
        (has_pd | has_type, IBV_SRQT_BASIC, "create_srq"),
        (has_pd | has_type, IBV_SRQT_XRC, "create_srq_ex"),
        (has_type, IBV_SRQT_BASIC, "create_srq_ex"),
        (has_pd | has_type | IBV_SRQ_INIT_ATTR_CQ, IBV_SRQT_BASIC, "create_srq_ex"),
        (0, IBV_SRQT_BASIC, "create_srq_ex"),
    ] {
        attr.comp_mask = mask;
        attr.srq_type = srq_type;
        // SAFETY: live objects.
        unsafe { ibv_create_srq_ex(fake.context(), &mut attr) };
        assert_eq!(fake.called(), [op], "{mask:#x}");
    }
}

#[test]
fn a_new_wq_is_filled_in() {
    let fake = Fake::new();
    let mut wq = ibv_wq::zeroed();
    wq.events_completed = 9;
    let mut attr = ibv_wq_init_attr { wq_context: at(0x77), ..ibv_wq_init_attr::zeroed() };
    fake.answer_object(&mut wq);
    // SAFETY: live objects; the mutex was initialized.
    unsafe {
        assert_eq!(ibv_create_wq(fake.context(), &mut attr), &raw mut wq);
        assert_eq!((wq.wq_context, wq.events_completed), (at(0x77), 0));
        assert_eq!(libc::pthread_mutex_trylock(&mut wq.mutex), 0);
        assert_eq!(libc::pthread_mutex_unlock(&mut wq.mutex), 0);
    }
}

#[test]
fn parent_domain_attributes_are_passed_on_untouched() {
    unsafe extern "C" fn look(
        _: *mut ibv_context,
        attr: *mut ibv_parent_domain_init_attr,
    ) -> *mut ibv_pd {
        // SAFETY: the test passes attributes.
        let a = unsafe { *attr };
        record("look", words![a.pd, a.td, a.comp_mask, a.pd_context]);
        ptr::null_mut()
    }
    let fake = Fake::new();
    fake.set_ops(|ops| ops.alloc_parent_domain = Some(look));
    let mut attr = ibv_parent_domain_init_attr {
        pd: at(1),
        td: at(2),
        comp_mask: IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC
            | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT
            | 1 << 31,
        pd_context: at(3),
        ..ibv_parent_domain_init_attr::zeroed()
    };
    // SAFETY: the test's provider touches nothing but the attributes.
    unsafe { ibv_alloc_parent_domain(fake.context(), &mut attr) };
    assert_eq!(fake.calls(), [Call("look", words![1, 2, 6_u32 | 1 << 31, 3])]);
}

#[test]
fn ports_are_queried_through_the_slot_or_the_old_way() {
    unsafe extern "C" fn port(_: *mut ibv_context, _: u8, attr: *mut ibv_port_attr) -> c_int {
        // SAFETY: the library passes a whole struct.
        unsafe { attr.write_bytes(7, 1) };
        0
    }
    let fake = Fake::new();
    fake.set_ops(|ops| ops.query_port = Some(port));
    let query = || {
        let mut room = [0xee_u8; 64];
        // SAFETY: there is room for the attributes.
        assert_eq!(unsafe { ___ibv_query_port(fake.context(), 1, room.as_mut_ptr().cast()) }, 0);
        room
    };
    let room = query();
    assert_eq!((&room[..56], &room[56..]), (&[7; 56][..], &[0xee; 8][..]));
    for cut in [without_slots, with_small_size, of_an_old_library] {
        let uncut = cut(&fake);
        let room = query();
        assert_eq!((&room[..48], &room[48..56]), (&[7; 48][..], &[0; 8][..]));
        assert_eq!(room[56..], [0xee; 8]);
        uncut.restore(&fake);
    }
    fake.set_ops(|ops| ops.query_port = crate::verbs::testing::RECORDING_OPS.query_port);
    fake.answer(libc::EINVAL);
    let mut attr = ibv_port_attr::zeroed();
    // SAFETY: there is room for the attributes.
    assert_eq!(unsafe { ___ibv_query_port(fake.context(), 9, &mut attr) }, libc::EINVAL);
}

#[test]
fn devices_are_queried_in_full_or_the_old_way() {
    let fake = Fake::new();
    let mut attr = ibv_device_attr_ex::zeroed();
    let attr_address = &raw mut attr;
    let mut input = ibv_query_device_ex_input { comp_mask: 0 };
    // SAFETY: a live context, room for the attributes.
    let query = |input: *const ibv_query_device_ex_input| unsafe {
        ibv_query_device_ex(fake.context(), input, attr_address)
    };
    let in_full = |input: *const ibv_query_device_ex_input| {
        Call("query_device_ex", words![fake.context(), input, attr_address, 400])
    };
    let old_way = Call("query_device_ex", words![fake.context(), 0, attr_address, 232]);
    assert_eq!(query(ptr::null()), 0);
    assert_eq!(fake.calls(), [in_full(ptr::null())]);
    assert_eq!(query(&input), 0);
    assert_eq!(fake.calls(), [in_full(&input)]);
    fake.answer(libc::EIO);
    assert_eq!(query(&input), libc::EIO);
    assert_eq!(fake.calls(), [in_full(&input)]);
    for status in [libc::EOPNOTSUPP, libc::ENOSYS] {
        fake.answer(status);
        // SAFETY: the attributes are not borrowed.
        unsafe { attr_address.cast::<u8>().write_bytes(0xee, 400) };
        assert_eq!(query(&input), status);
        assert_eq!(fake.calls(), [in_full(&input), old_way.clone()]);
        // SAFETY: the attributes are initialized.
        assert_eq!(unsafe { (*attr_address).phys_port_cnt_ex }, 0);
    }
    fake.answer(0);
    for cut in [with_small_size, of_an_old_library] {
        let uncut = cut(&fake);
        assert_eq!(query(&input), 0);
        uncut.restore(&fake);
        assert_eq!(fake.calls(), core::slice::from_ref(&old_way));
    }
    input.comp_mask = 1;
    assert_eq!(query(&input), libc::EINVAL);
    assert!(fake.calls().is_empty());
}

#[test]
fn counter_capabilities_have_today_s_size() {
    let fake = Fake::new();
    let mut caps = ibv_comp_cntr_caps { max_value: 1, max_counters: 2, supported_qp_attach_ops: 3 };
    // SAFETY: a live context, room for the capabilities.
    assert_eq!(unsafe { ibv_query_comp_cntr_caps(fake.context(), &mut caps) }, 0);
    assert_eq!((caps.max_value, caps.max_counters, caps.supported_qp_attach_ops), (0, 0, 0));
    assert_eq!(
        fake.calls(),
        [Call("query_comp_cntr_caps", words![fake.context(), &raw const caps, 16])]
    );
}

#[test]
fn gids_have_today_s_size() {
    use crate::cmd::fake::{self, Form, Reply, TestContext};
    let context = TestContext::new(Form::Write);
    fake::answer(|_| Reply::Done);
    let mut entries = [ibv_gid_entry::zeroed(); 3];
    // SAFETY: a live context, room for the entries.
    unsafe {
        assert_eq!(ibv_query_gid_ex(context.get(), 1, 2, &mut entries[0], 0), 0);
        assert_eq!(ibv_query_gid_table(context.get(), entries.as_mut_ptr(), 3, 0), 0);
    }
    let calls = fake::calls();
    assert!(calls[0].contains("3(len32)"), "{calls:?}");
    assert!(calls[1].contains("2(len96)"), "{calls:?}");
}

#[test]
fn registrations_go_by_what_the_compiler_saw() {
    let fake = Fake::new();
    let mut pd = fake.pd();
    // SAFETY: a live device.
    unsafe { (*fake.device()).core_support = 1 };
    let optional = IBV_ACCESS_RELAXED_ORDERING;
    for (access, is_const) in [(1, 1), (1, 0), (1 | optional, 1), (1 | optional, 0)] {
        // SAFETY: a live PD; memory is not touched.
        unsafe {
            __ibv_reg_mr(&mut pd, at(0x1000), 8, access, is_const);
            __ibv_reg_mr_iova(&mut pd, at(0x1000), 8, 0x55, access, is_const);
        }
        assert_eq!(
            fake.calls(),
            [
                Call("reg_mr", words![&raw const pd, 0x1000, 8, 0x1000, access]),
                Call("reg_mr", words![&raw const pd, 0x1000, 8, 0x55, access]),
            ]
        );
    }
}

#[test]
fn device_memory_is_copied_by_its_own_functions() {
    unsafe extern "C" fn to(dm: *mut ibv_dm, offset: u64, host: *const c_void, n: usize) -> c_int {
        record("to", words![dm, offset, host, n]);
        1
    }
    unsafe extern "C" fn from(host: *mut c_void, dm: *mut ibv_dm, offset: u64, n: usize) -> c_int {
        record("from", words![host, dm, offset, n]);
        2
    }
    let fake = Fake::new();
    let mut dm = of!(fake, ibv_dm);
    // SAFETY: the test's functions touch nothing.
    unsafe {
        assert_eq!(ibv_memcpy_to_dm(&mut dm, 1, at(2), 3), libc::EOPNOTSUPP);
        assert_eq!(ibv_memcpy_from_dm(at(1), &mut dm, 2, 3), libc::EOPNOTSUPP);
        dm.memcpy_to_dm = Some(to);
        dm.memcpy_from_dm = Some(from);
        assert_eq!(ibv_memcpy_to_dm(&mut dm, 1, at(2), 3), 1);
        assert_eq!(ibv_memcpy_from_dm(at(1), &mut dm, 2, 3), 2);
    }
    assert_eq!(
        fake.calls(),
        [Call("to", words![&raw const dm, 1, 2, 3]), Call("from", words![1, &raw const dm, 2, 3])]
    );
}

#[test]
fn receives_of_a_wq_go_to_its_own_function() {
    unsafe extern "C" fn post(
        wq: *mut ibv_wq,
        wr: *mut ibv_recv_wr,
        bad: *mut *mut ibv_recv_wr,
    ) -> c_int {
        record("post", words![wq, wr, bad]);
        5
    }
    let fake = Fake::new();
    let mut wq = new_wq(&fake);
    // SAFETY: the test's function touches nothing.
    unsafe {
        assert_eq!(ibv_post_wq_recv(&mut *wq, at(1), at(2)), libc::EOPNOTSUPP);
        wq.post_recv = Some(post);
        assert_eq!(ibv_post_wq_recv(&mut *wq, at(1), at(2)), 5);
    }
    assert_eq!(fake.calls(), [Call("post", words![&raw const *wq, 1, 2])]);
}
