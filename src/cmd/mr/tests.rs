use core::ptr;

use super::*;
use crate::cmd::fake::{self, Call, Form, Reply, TestContext};

const RESPONSE: ib_uverbs_reg_mr_resp =
    ib_uverbs_reg_mr_resp { mr_handle: 12, lkey: 13, rkey: 14, driver_data: [] };

fn register(context: &TestContext, memory: Memory) -> (c_int, verbs_mr) {
    let mut pd = ibv_pd { context: context.get(), handle: 5 };
    let mut mr = verbs_mr { mr_type: 99, ..Plain::zeroed() };
    let mut cmd = ibv_reg_mr::zeroed();
    let mut resp = ib_uverbs_reg_mr_resp::zeroed();
    let (cmd_size, resp_size) = (size_of_val(&cmd), size_of_val(&resp));
    let Memory { address, length, iova, access } = memory;
    // SAFETY: all objects and buffers are valid.
    let result = unsafe {
        ibv_cmd_reg_mr(
            &mut pd, address, length, iova, access, &mut mr, &mut cmd, cmd_size, &mut resp,
            resp_size,
        )
    };
    (result, mr)
}

fn memory(address: usize, length: usize, access: u32) -> Memory {
    let address = ptr::without_provenance_mut(address);
    Memory { address, length, iova: 0x9000, access: access as c_int }
}

#[test]
fn a_region_gets_handle_keys_type_and_access() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        let request: ib_uverbs_reg_mr = call.request();
        assert_eq!((request.start, request.length, request.hca_va), (0x1000, 64, 0x9000));
        assert_eq!((request.pd_handle, request.access_flags), (5, 7));
        call.respond(&RESPONSE);
        Reply::Done
    });
    let (result, mr) = register(&context, memory(0x1000, 64, 7));
    assert_eq!(result, 0);
    assert_eq!((mr.ibv_mr.handle, mr.ibv_mr.lkey, mr.ibv_mr.rkey), (12, 13, 14));
    assert_eq!(mr.ibv_mr.context, context.get());
    assert_eq!((mr.mr_type, mr.access), (IBV_MR_TYPE_MR, 7));
}

#[test]
fn implicit_on_demand_regions_start_at_zero() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        assert_eq!(call.request::<ib_uverbs_reg_mr>().length, u64::MAX);
        Reply::Done
    });
    assert_eq!(register(&context, memory(0, usize::MAX, IBV_ACCESS_ON_DEMAND)).0, 0);
    assert_eq!(fake::calls().len(), 1);
    let (result, mr) = register(&context, memory(0x1000, usize::MAX, IBV_ACCESS_ON_DEMAND));
    assert_eq!((result, mr.mr_type), (libc::EINVAL, 99));
    assert_eq!(Errno::last(), Errno::EINVAL);
    assert!(fake::calls().is_empty());
}

#[test]
fn a_failed_registration_leaves_the_region() {
    let context = TestContext::new(Form::Write);
    fake::answer(|_| Reply::Fail(libc::ENOMEM));
    let (result, mr) = register(&context, memory(0x1000, 1 << 40, 1));
    assert_eq!((result, mr.mr_type, mr.ibv_mr.lkey), (libc::ENOMEM, 99, 0));
    assert_eq!(Errno::last(), Errno::ENOMEM);
}

#[test]
fn a_new_pd_is_named_only_when_it_changes() {
    let context = TestContext::new(Form::Write);
    let other = TestContext::new(Form::Write);
    let mut pd = ibv_pd { context: other.get(), handle: 5 };
    let rereg = |flags: u32, pd: *mut ibv_pd| {
        fake::answer(move |call| {
            let request: ib_uverbs_rereg_mr = call.request();
            assert_eq!((request.mr_handle, request.flags), (12, flags));
            assert_eq!((request.start, request.length, request.hca_va), (0x1000, 64, 0x9000));
            let pd_handle = if flags & IBV_REREG_MR_CHANGE_PD != 0 { 5 } else { 0 };
            assert_eq!((request.pd_handle, request.access_flags), (pd_handle, 7));
            call.respond(&ib_uverbs_rereg_mr_resp { lkey: 23, rkey: 24, driver_data: [] });
            Reply::Done
        });
        let mut mr = verbs_mr::zeroed();
        mr.ibv_mr = ibv_mr { context: context.get(), handle: 12, ..Plain::zeroed() };
        let mut cmd = ibv_rereg_mr::zeroed();
        let mut resp = ib_uverbs_rereg_mr_resp::zeroed();
        let (cmd_size, resp_size) = (size_of_val(&cmd), size_of_val(&resp));
        let address = ptr::without_provenance_mut(0x1000);
        // SAFETY: all objects and buffers are valid.
        let result = unsafe {
            ibv_cmd_rereg_mr(
                &mut mr, flags, address, 64, 0x9000, 7, pd, &mut cmd, cmd_size, &mut resp,
                resp_size,
            )
        };
        assert_eq!((result, mr.ibv_mr.lkey, mr.ibv_mr.rkey), (0, 23, 24));
        mr.ibv_mr.context
    };
    assert_eq!(rereg(IBV_REREG_MR_CHANGE_ACCESS, &mut pd), context.get());
    assert_eq!(rereg(IBV_REREG_MR_CHANGE_ACCESS, ptr::null_mut()), context.get());
    assert_eq!(rereg(IBV_REREG_MR_CHANGE_PD, &mut pd), other.get());
}

#[test]
fn a_region_of_another_process_is_queried() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
        assert_eq!(ioctl.data(UVERBS_ATTR_QUERY_MR_HANDLE), Some(12));
        ioctl.output(UVERBS_ATTR_QUERY_MR_RESP_LKEY, &13_u32);
        ioctl.output(UVERBS_ATTR_QUERY_MR_RESP_RKEY, &14_u32);
        ioctl.output(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &4096_u64);
        Reply::Done
    });
    let mut pd = ibv_pd { context: context.get(), handle: 5 };
    let mut mr = verbs_mr::zeroed();
    mr.ibv_mr.addr = ptr::without_provenance_mut(0xbad);
    // SAFETY: all objects are valid.
    assert_eq!(unsafe { ibv_cmd_query_mr(&mut pd, &mut mr, 12) }, 0);
    let new = mr.ibv_mr;
    assert_eq!((new.handle, new.lkey, new.rkey, new.length), (12, 13, 14, 4096));
    assert!(new.addr.is_null());
    assert_eq!((new.context, new.pd), (context.get(), &raw mut pd));
    assert_eq!(mr.mr_type, IBV_MR_TYPE_IMPORTED_MR);
}

#[test]
fn advice_is_about_ranges() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
        assert_eq!(ioctl.data(UVERBS_ATTR_ADVISE_MR_PD_HANDLE), Some(5));
        assert_eq!(ioctl.data(UVERBS_ATTR_ADVISE_MR_ADVICE), Some(1));
        assert_eq!(ioctl.input(UVERBS_ATTR_ADVISE_MR_FLAGS), Some(vec![1, 0, 0, 0]));
        let ranges = ioctl.input(UVERBS_ATTR_ADVISE_MR_SGE_LIST).unwrap();
        assert!(ranges.is_empty() || ranges[..8] == 0x1000_u64.to_ne_bytes());
        Reply::Done
    });
    let mut pd = ibv_pd { context: context.get(), handle: 5 };
    let mut ranges = [ibv_sge { addr: 0x1000, length: 64, lkey: 1 }; 3];
    // SAFETY: all objects are valid.
    unsafe {
        assert_eq!(ibv_cmd_advise_mr(&mut pd, 1, 1, ranges.as_mut_ptr(), 3), 0);
        assert_eq!(ibv_cmd_advise_mr(&mut pd, 1, 1, ptr::null_mut(), 0), 0);
    }
    let (three, none) = (
        "ioctl 7.2: 0(len0) 1(len8) 2(len4) 3(len48)",
        "ioctl 7.2: 0(len0) 1(len8) 2(len4) 3(len0)",
    );
    assert_eq!(fake::calls(), [three, none]);
}

#[test]
fn deregistering_names_the_handle_in_both_forms() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        if let Call::Ioctl(ioctl) = call {
            assert_eq!(ioctl.data(UVERBS_ATTR_DESTROY_MR_HANDLE), Some(12));
            return Reply::Fail(libc::EPROTONOSUPPORT);
        }
        assert_eq!(call.request::<ib_uverbs_dereg_mr>().mr_handle, 12);
        Reply::Done
    });
    let mut mr = verbs_mr::zeroed();
    mr.ibv_mr = ibv_mr { context: context.get(), handle: 12, ..Plain::zeroed() };
    // SAFETY: the region is valid.
    assert_eq!(unsafe { ibv_cmd_dereg_mr(&mut mr) }, 0);
    assert_eq!(fake::calls().len(), 2);
}
