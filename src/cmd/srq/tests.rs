use core::ptr;

use super::*;
use crate::cmd::fake::{self, Call, Form, Reply, TestContext};
use crate::cmd::testing::*;

const BASIC: &str = "ioctl 5.0: 0(len0) 9(len8) 4(len8) 1(len0) 5(len4) 6(len4) 7(len4) 10(len0) \
                     11(len4) 12(len4) 4096(len8) 4097(len8)";

/// The objects that an SRQ needs.
struct Parents {
    pd: ibv_pd,
    xrcd: verbs_xrcd,
    cq: ibv_cq,
}

impl Parents {
    fn new(context: &TestContext) -> Box<Parents> {
        let mut parents = Box::new(Parents {
            pd: ibv_pd { context: context.get(), handle: 11 },
            xrcd: verbs_xrcd::zeroed(),
            cq: ibv_cq::zeroed(),
        });
        parents.xrcd.handle = 12;
        parents.cq.handle = 13;
        parents
    }

    /// Attributes with all members set, of which the mask names these.
    fn attr(&mut self, comp_mask: u32, srq_type: ibv_srq_type) -> ibv_srq_init_attr_ex {
        let mut attr = ibv_srq_init_attr_ex::zeroed();
        attr.srq_context = ptr::without_provenance_mut(0x99);
        attr.attr = sizes();
        attr.comp_mask = comp_mask;
        attr.srq_type = srq_type;
        attr.pd = &mut self.pd;
        attr.xrcd = &mut self.xrcd.xrcd;
        attr.cq = &mut self.cq;
        attr.tm_cap = ibv_tm_cap { max_num_tags: 64, max_ops: 65 };
        attr
    }
}

const XRC: u32 =
    IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
const TM: u32 =
    IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;

fn sizes() -> ibv_srq_attr {
    ibv_srq_attr { max_wr: 100, max_sge: 3, srq_limit: 5 }
}

fn sizes_of(attr: &ibv_srq_attr) -> (u32, u32, u32) {
    (attr.max_wr, attr.max_sge, attr.srq_limit)
}

/// An SRQ of which nothing is set up.
fn new_srq() -> Box<verbs_srq> {
    let mut srq = Box::new(verbs_srq::zeroed());
    // Left over from another use of the memory.
    srq.srq.events_completed = 17;
    srq.srq_type = 0xaa;
    srq.srq_num = 0xbb;
    srq
}

fn create_basic(parents: &mut Parents, srq: *mut ibv_srq, attr: &mut ibv_srq_init_attr) -> c_int {
    let mut cmd = WithBytes::<ibv_create_srq, 1>::new([0x77]);
    let mut resp = WithBytes::<ib_uverbs_create_srq_resp, 1>::new([0]);
    let (cmd_size, resp_size) = (cmd.size(), resp.size());
    // SAFETY: all is as a provider passes it.
    unsafe {
        ibv_cmd_create_srq(&mut parents.pd, srq, attr, cmd.core(), cmd_size, resp.core(), resp_size)
    }
}

fn create_extended(
    context: &TestContext,
    srq: &mut verbs_srq,
    attr: &mut ibv_srq_init_attr_ex,
) -> c_int {
    let mut cmd = WithBytes::<ibv_create_xsrq, 1>::new([0x77]);
    let mut resp = WithBytes::<ib_uverbs_create_srq_resp, 1>::new([0]);
    let (cmd_size, resp_size) = (cmd.size(), resp.size());
    // SAFETY: all is as a provider passes it.
    unsafe {
        ibv_cmd_create_srq_ex(
            context.get(),
            srq,
            attr,
            cmd.core(),
            cmd_size,
            resp.core(),
            resp_size,
        )
    }
}

/// A kernel with the ioctl, which makes SRQ 7 with room for 128 requests of 4 elements.
fn new_kernel() {
    fake::answer(|call| {
        let Call::Ioctl(ioctl) = call else { panic!("no write command") };
        let data = |ioctl: &mut fake::Ioctl<'_>, id| ioctl.data(id).unwrap() as u32;
        assert_eq!(ioctl.data(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE), Some(11));
        assert_eq!(data(ioctl, UVERBS_ATTR_CREATE_SRQ_MAX_WR), 100);
        assert_eq!(data(ioctl, UVERBS_ATTR_CREATE_SRQ_MAX_SGE), 3);
        assert_eq!(data(ioctl, UVERBS_ATTR_CREATE_SRQ_LIMIT), 5);
        assert_eq!(ioctl.data(UVERBS_ATTR_CREATE_SRQ_EVENT_FD), Some(fake::ASYNC_FD as u64));
        ioctl.set_data(UVERBS_ATTR_CREATE_SRQ_HANDLE, 7);
        ioctl.output(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &128_u32);
        ioctl.output(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, &4_u32);
        let srq_type = ioctl.data(UVERBS_ATTR_CREATE_SRQ_TYPE).unwrap() as u32;
        let handle = ioctl.data(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE);
        assert_eq!(handle, (srq_type != IBV_SRQT_BASIC).then_some(13));
        let xrcd = ioctl.data(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE);
        assert_eq!(xrcd, (srq_type == IBV_SRQT_XRC).then_some(12));
        let tags = ioctl.data(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS);
        assert_eq!(tags, (srq_type == IBV_SRQT_TM).then_some(64));
        if srq_type == IBV_SRQT_XRC {
            ioctl.output(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, &0x456_u32);
        }
        Reply::Done
    });
}

fn created() -> ib_uverbs_create_srq_resp {
    ib_uverbs_create_srq_resp {
        srq_handle: 8,
        max_wr: 256,
        max_sge: 6,
        srqn: 0x789,
        driver_data: [],
    }
}

#[test]
fn a_basic_one_by_ioctl() {
    let context = TestContext::new(Form::Write);
    let mut parents = Parents::new(&context);
    let mut attr = ibv_srq_init_attr { srq_context: ptr::null_mut(), attr: sizes() };
    let mut srq = new_srq();
    new_kernel();
    assert_eq!(create_basic(&mut parents, &mut srq.srq, &mut attr), 0);
    assert_eq!(fake::calls(), [BASIC]);
    assert_eq!((srq.srq.handle, srq.srq.context), (7, context.get()));
    assert_eq!(srq.srq.pd, &raw mut parents.pd);
    assert_eq!(srq.srq.events_completed, 0);
    assert_eq!(sizes_of(&attr.attr), (128, 4, 5));
    // It may be a plain SRQ, with nothing behind it.
    assert_eq!((srq.srq_type, srq.srq_num), (0xaa, 0xbb));
}

#[test]
fn a_basic_one_by_write_for_each_version() {
    for (version, form, line, wanted) in [
        (3, Form::Write, "write n=48 cmd=20 in=12 out=3", (100, 3, 5)),
        (5, Form::Write, "write n=48 cmd=20 in=12 out=3", (100, 3, 5)),
        (6, Form::Write, "write n=48 cmd=20 in=12 out=6", (256, 6, 5)),
        (
            5,
            Form::InvokeWrite,
            "ioctl 0.0: 2(len8)=cmd 20 0(len32) 1(len4) 4096(len8) 4097(len8)",
            (100, 3, 5),
        ),
        (
            6,
            Form::InvokeWrite,
            "ioctl 0.0: 2(len8)=cmd 20 0(len32) 1(len16) 4096(len8) 4097(len8)",
            (256, 6, 5),
        ),
    ] {
        let context = TestContext::new(form);
        let mut parents = Parents::new(&context);
        fake::set_uverbs_abi(version);
        if version > 5 {
            old_kernel(libc::EPROTONOSUPPORT, created());
        } else {
            old_kernel(libc::EPROTONOSUPPORT, ibv_create_srq_resp_v5 { srq_handle: 8 });
        }
        let mut attr = ibv_srq_init_attr { srq_context: ptr::null_mut(), attr: sizes() };
        let mut srq = new_srq();
        assert_eq!(create_basic(&mut parents, &mut srq.srq, &mut attr), 0);
        assert_eq!(fake::calls(), [BASIC, line]);
        let (core, provider) = request::<ib_uverbs_create_srq>();
        assert_eq!((core.pd_handle, core.user_handle), (11, (&raw const *srq).addr() as u64));
        assert_eq!((core.max_wr, core.max_sge, core.srq_limit), (100, 3, 5));
        assert_eq!(provider, bytes_of_words(&[0x77]));
        assert_eq!(srq.srq.handle, 8);
        assert_eq!(sizes_of(&attr.attr), wanted, "version {version}");
    }
}

#[test]
fn a_basic_one_with_extended_attributes() {
    let context = TestContext::new(Form::Write);
    let mut parents = Parents::new(&context);
    // The type counts only if the mask names it.
    for (mask, srq_type) in [
        (IBV_SRQ_INIT_ATTR_PD, IBV_SRQT_XRC),
        (IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE, IBV_SRQT_BASIC),
        (IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ, IBV_SRQT_TM),
    ] {
        let mut srq = new_srq();
        new_kernel();
        assert_eq!(create_extended(&context, &mut srq, &mut parents.attr(mask, srq_type)), 0);
        assert_eq!(fake::calls(), [BASIC]);
        assert_eq!((srq.srq.handle, srq.srq_type, srq.srq_num), (7, IBV_SRQT_BASIC, 0xbb));
        assert_eq!(srq.srq.srq_context.addr(), 0x99);
        assert!(srq.xrcd.is_null());
        let cq =
            if mask & IBV_SRQ_INIT_ATTR_CQ != 0 { &raw mut parents.cq } else { ptr::null_mut() };
        assert_eq!(srq.cq, cq);
    }
}

#[test]
fn an_xrc_one() {
    for (form, line) in [
        (Form::Write, "write n=64 cmd=27 in=16 out=6"),
        (Form::InvokeWrite, "ioctl 0.0: 2(len8)=cmd 27 0(len48) 1(len16) 4096(len8) 4097(len8)"),
    ] {
        let context = TestContext::new(form);
        let mut parents = Parents::new(&context);
        let mut attr = parents.attr(XRC, IBV_SRQT_XRC);
        let mut srq = new_srq();
        new_kernel();
        assert_eq!(create_extended(&context, &mut srq, &mut attr), 0);
        let ioctl = BASIC.replace("5.0:", "5.0: 2(len0) 3(len0) 13(len4)");
        assert_eq!(fake::calls(), [ioctl.as_str()]);
        assert_eq!((srq.srq.handle, srq.srq_type, srq.srq_num), (7, IBV_SRQT_XRC, 0x456));
        assert_eq!((srq.xrcd, srq.cq), (&raw mut parents.xrcd, &raw mut parents.cq));
        assert_eq!(sizes_of(&attr.attr), (128, 4, 5));

        // The response of this command has one size, whatever the version.
        fake::set_uverbs_abi(3);
        let mut attr = parents.attr(XRC, IBV_SRQT_XRC);
        let mut srq = new_srq();
        old_kernel(libc::ENOTTY, created());
        assert_eq!(create_extended(&context, &mut srq, &mut attr), 0);
        assert_eq!(fake::calls(), [ioctl.as_str(), line]);
        let (core, provider) = request::<ib_uverbs_create_xsrq>();
        assert_eq!((core.srq_type, core.pd_handle), (IBV_SRQT_XRC, 11));
        assert_eq!((core.xrcd_handle, core.cq_handle, core.max_num_tags), (12, 13, 0));
        assert_eq!((core.max_wr, core.max_sge, core.srq_limit), (100, 3, 5));
        assert_eq!(core.user_handle, (&raw const *srq).addr() as u64);
        assert_eq!(provider, bytes_of_words(&[0x77]));
        assert_eq!((srq.srq.handle, srq.srq_type, srq.srq_num), (8, IBV_SRQT_XRC, 0x789));
        assert_eq!((srq.xrcd, srq.cq), (&raw mut parents.xrcd, &raw mut parents.cq));
        assert_eq!(sizes_of(&attr.attr), (256, 6, 5));
    }
}

#[test]
fn a_tag_matching_one() {
    let context = TestContext::new(Form::Write);
    let mut parents = Parents::new(&context);
    let mut srq = new_srq();
    new_kernel();
    assert_eq!(create_extended(&context, &mut srq, &mut parents.attr(TM, IBV_SRQT_TM)), 0);
    let ioctl = BASIC.replace("5.0:", "5.0: 3(len0) 8(len4)");
    assert_eq!(fake::calls(), [ioctl.as_str()]);
    assert_eq!((srq.srq.handle, srq.srq_type, srq.srq_num), (7, IBV_SRQT_TM, 0xbb));
    assert_eq!((srq.xrcd, srq.cq), (ptr::null_mut(), &raw mut parents.cq));

    old_kernel(libc::EPROTONOSUPPORT, created());
    let mut srq = new_srq();
    assert_eq!(create_extended(&context, &mut srq, &mut parents.attr(TM, IBV_SRQT_TM)), 0);
    assert_eq!(fake::calls(), [ioctl.as_str(), "write n=64 cmd=27 in=16 out=6"]);
    let (core, _) = request::<ib_uverbs_create_xsrq>();
    assert_eq!((core.srq_type, core.max_num_tags), (IBV_SRQT_TM, 64));
    assert_eq!((core.xrcd_handle, core.cq_handle), (0, 13));
    assert_eq!((srq.srq.handle, srq.srq_type, srq.srq_num), (8, IBV_SRQT_TM, 0xbb));
}

#[test]
fn attributes_that_do_not_suit_are_refused() {
    let context = TestContext::new(Form::Write);
    let mut parents = Parents::new(&context);
    fake::answer(|_| panic!("the kernel must not be asked"));
    for mask in [IBV_SRQ_INIT_ATTR_RESERVED, XRC | 0x8000_0000, u32::MAX] {
        let mut attr = parents.attr(mask, IBV_SRQT_BASIC);
        let status = create_extended(&context, &mut new_srq(), &mut attr);
        assert_eq!(failure(status), libc::EOPNOTSUPP);
    }
    for (mask, srq_type) in [
        (0, IBV_SRQT_BASIC),
        (IBV_SRQ_INIT_ATTR_TYPE, IBV_SRQT_BASIC),
        (XRC & !IBV_SRQ_INIT_ATTR_PD, IBV_SRQT_XRC),
        (XRC & !IBV_SRQ_INIT_ATTR_XRCD, IBV_SRQT_XRC),
        (XRC & !IBV_SRQ_INIT_ATTR_CQ, IBV_SRQT_XRC),
        (TM & !IBV_SRQ_INIT_ATTR_CQ, IBV_SRQT_TM),
        (TM & !IBV_SRQ_INIT_ATTR_TM, IBV_SRQT_TM),
        (XRC | TM, 3),
        (XRC | TM, u32::MAX),
    ] {
        let mut attr = parents.attr(mask, srq_type);
        let status = create_extended(&context, &mut new_srq(), &mut attr);
        assert_eq!(failure(status), libc::EINVAL, "mask {mask:#x}, type {srq_type}");
    }
    type Edit = fn(&mut ibv_srq_init_attr_ex);
    for (mask, srq_type, edit) in [
        (XRC, IBV_SRQT_XRC, (|attr| attr.pd = ptr::null_mut()) as Edit),
        (XRC, IBV_SRQT_XRC, |attr| attr.xrcd = ptr::null_mut()),
        (XRC, IBV_SRQT_XRC, |attr| attr.cq = ptr::null_mut()),
        (TM, IBV_SRQT_TM, |attr| attr.cq = ptr::null_mut()),
        (TM, IBV_SRQT_TM, |attr| attr.tm_cap.max_num_tags = 0),
    ] {
        let mut attr = parents.attr(mask, srq_type);
        edit(&mut attr);
        let status = create_extended(&context, &mut new_srq(), &mut attr);
        assert_eq!(failure(status), libc::EINVAL);
    }
}

#[test]
fn failures_change_no_attributes() {
    let context = TestContext::new(Form::Write);
    let mut parents = Parents::new(&context);
    fake::answer(|_| Reply::Fail(libc::ENOMEM));
    let mut attr = parents.attr(XRC, IBV_SRQT_XRC);
    let mut srq = new_srq();
    assert_eq!(failure(create_extended(&context, &mut srq, &mut attr)), libc::ENOMEM);
    assert_eq!(sizes_of(&attr.attr), (100, 3, 5));
    assert_eq!((srq.srq.handle, srq.srq_type, srq.srq_num), (0, 0xaa, 0xbb));

    context.kernel().private().set_imported();
    old_kernel(libc::EPROTONOSUPPORT, created());
    assert_eq!(failure(create_extended(&context, &mut srq, &mut attr)), libc::EOPNOTSUPP);
    assert_eq!(requests().len(), 0);
}

/// An SRQ that can be destroyed.
fn set_up(context: &TestContext) -> Box<ibv_srq> {
    let mut srq = Box::new(ibv_srq::zeroed());
    srq.context = context.get();
    srq.handle = 7;
    // SAFETY: the SRQ is ours alone.
    unsafe {
        libc::pthread_mutex_init(&mut srq.mutex, ptr::null());
        libc::pthread_cond_init(&mut srq.cond, ptr::null());
    }
    srq
}

#[test]
fn destroyed_in_each_form() {
    for (form, line) in [
        (Form::Write, "write n=24 cmd=23 in=6 out=1"),
        (Form::InvokeWrite, "ioctl 0.0: 2(len8)=cmd 23 0(len16) 1(len4)"),
    ] {
        let context = TestContext::new(form);
        let mut srq = set_up(&context);
        srq.events_completed = 4;
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("no write command") };
            assert_eq!(ioctl.data(UVERBS_ATTR_DESTROY_SRQ_HANDLE), Some(7));
            ioctl.output(UVERBS_ATTR_DESTROY_SRQ_RESP, &4_u32);
            Reply::Done
        });
        // SAFETY: the SRQ is set up; its memory stays.
        assert_eq!(unsafe { ibv_cmd_destroy_srq(&mut *srq) }, 0);
        assert_eq!(fake::calls(), ["ioctl 5.1: 1(len4) 0(len0)"]);

        old_kernel(libc::ENOTTY, ib_uverbs_destroy_srq_resp { events_reported: 4 });
        // SAFETY: as above.
        assert_eq!(unsafe { ibv_cmd_destroy_srq(&mut *srq) }, 0);
        assert_eq!(fake::calls(), ["ioctl 5.1: 1(len4) 0(len0)", line]);
        assert_eq!(request::<ib_uverbs_destroy_srq>().0.srq_handle, 7);
    }
}

#[test]
fn destroying_on_a_device_that_is_gone() {
    let context = TestContext::new(Form::Write);
    let mut srq = set_up(&context);
    // A wait for events would not end.
    srq.events_completed = 5;
    fake::answer(|_| Reply::Fail(libc::EIO));
    fake::set_allow_disassociate_destroy(false);
    // SAFETY: the SRQ is set up; its memory stays.
    unsafe {
        assert_eq!(failure(ibv_cmd_destroy_srq(&mut *srq)), libc::EIO);
        fake::set_allow_disassociate_destroy(true);
        assert_eq!(ibv_cmd_destroy_srq(&mut *srq), 0);
    }
}

fn modify(srq: &mut ibv_srq, mask: u32) -> c_int {
    let mut attr = sizes();
    let mut cmd = WithBytes::<ibv_modify_srq, 2>::new([0x33, 0x44]);
    let cmd_size = cmd.size();
    // SAFETY: all is as a provider passes it.
    unsafe { ibv_cmd_modify_srq(srq, &mut attr, mask.cast_signed(), cmd.core(), cmd_size) }
}

#[test]
fn modified_for_each_version() {
    let context = TestContext::new(Form::Write);
    let mut srq = set_up(&context);
    for (mask, max_wr, srq_limit) in [
        (IBV_SRQ_MAX_WR, 100, 0),
        (IBV_SRQ_LIMIT, 0, 5),
        (IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT, 100, 5),
        (0x8000_0000, 0, 0),
    ] {
        for version in [4, 5, 6] {
            fake::set_uverbs_abi(version);
            old_kernel(libc::ENOTTY, empty {});
            assert_eq!(modify(&mut srq, mask), 0);
            assert_eq!(fake::calls(), ["write n=40 cmd=21 in=10 out=0"]);
            let (core, provider) = request::<ib_uverbs_modify_srq>();
            assert_eq!((core.srq_handle, core.attr_mask), (7, mask));
            assert_eq!((core.max_wr, core.srq_limit), (max_wr, srq_limit));
            assert_eq!(provider, bytes_of_words(&[0x33, 0x44]));
        }
        fake::set_uverbs_abi(3);
        old_kernel(libc::ENOTTY, empty {});
        assert_eq!(modify(&mut srq, mask), 0);
        assert_eq!(fake::calls(), ["write n=48 cmd=21 in=12 out=0"]);
        let (core, provider) = request::<ib_uverbs_modify_srq_v3>();
        assert_eq!((core.srq_handle, core.attr_mask), (7, mask));
        assert_eq!((core.max_wr, core.srq_limit), (max_wr, srq_limit));
        assert_eq!((core.max_sge, core.reserved), (0, 0));
        assert_eq!(provider, bytes_of_words(&[0x33, 0x44]));
    }
    for version in [3, 6] {
        fake::set_uverbs_abi(version);
        failing_kernel(libc::ENOTTY, empty {}, Some(libc::EINVAL));
        assert_eq!(failure(modify(&mut srq, IBV_SRQ_LIMIT)), libc::EINVAL);
    }
}

#[test]
fn queried() {
    let context = TestContext::new(Form::Write);
    let mut srq = set_up(&context);
    let mut query = |attr: &mut ibv_srq_attr| {
        let mut cmd = WithBytes::<ibv_query_srq, 0>::new([]);
        let cmd_size = cmd.size();
        // SAFETY: all is as a provider passes it.
        unsafe { ibv_cmd_query_srq(&mut *srq, attr, cmd.core(), cmd_size) }
    };
    let mut attr = sizes();
    let response = ib_uverbs_query_srq_resp { max_wr: 1, max_sge: 2, srq_limit: 3, reserved: 0xff };
    failing_kernel(libc::ENOTTY, response, Some(libc::EINVAL));
    assert_eq!(failure(query(&mut attr)), libc::EINVAL);
    assert_eq!(sizes_of(&attr), (100, 3, 5));
    old_kernel(libc::ENOTTY, response);
    assert_eq!(query(&mut attr), 0);
    assert_eq!(fake::calls(), ["write n=24 cmd=22 in=6 out=4"]);
    assert_eq!(request::<ib_uverbs_query_srq>().0.srq_handle, 7);
    assert_eq!(sizes_of(&attr), (1, 2, 3));
}
