use core::ptr;

use super::*;
use crate::cmd::fake::{self, Call, Form, Reply, TestContext};
use crate::cmd::testing::*;

const IOCTL: &str = "ioctl 12.0: 0(len0) 3(len8) 1(len0) 2(len0) 4(len8) 6(len4) 7(len4) 5(len0) \
                     8(len4) 9(len4) 10(len4) 11(len4) 4096(len8) 4097(len8)";

struct Parents {
    pd: ibv_pd,
    cq: ibv_cq,
}

impl Parents {
    fn new(context: &TestContext) -> Box<Parents> {
        let pd = ibv_pd { context: context.get(), handle: 11 };
        let mut parents = Box::new(Parents { pd, cq: ibv_cq::zeroed() });
        parents.cq.handle = 13;
        parents
    }

    fn attr(&mut self, comp_mask: u32, create_flags: u32) -> ibv_wq_init_attr {
        ibv_wq_init_attr {
            wq_context: ptr::null_mut(),
            wq_type: IBV_WQT_RQ,
            max_wr: 100,
            max_sge: 3,
            pd: &mut self.pd,
            cq: &mut self.cq,
            comp_mask,
            create_flags,
        }
    }
}

fn create(context: &TestContext, wq: &mut ibv_wq, attr: &mut ibv_wq_init_attr) -> c_int {
    let mut cmd = WithBytes::<ibv_create_wq, 1>::new([0x77]);
    let mut resp = WithBytes::<ib_uverbs_ex_create_wq_resp, 1>::new([0]);
    let (cmd_size, resp_size) = (cmd.size(), resp.size());
    // SAFETY: all is as a provider passes it.
    unsafe {
        ibv_cmd_create_wq(context.get(), attr, wq, cmd.core(), cmd_size, resp.core(), resp_size)
    }
}

fn created() -> ib_uverbs_ex_create_wq_resp {
    ib_uverbs_ex_create_wq_resp {
        comp_mask: 0,
        response_length: 24,
        wq_handle: 8,
        max_wr: 256,
        max_sge: 6,
        wqn: 0x789,
    }
}

fn check_wq(wq: &ibv_wq, context: &TestContext, parents: &mut Parents, wanted: (u32, u32)) {
    assert_eq!((wq.handle, wq.wq_num), wanted);
    assert_eq!((wq.context, wq.wq_type), (context.get(), IBV_WQT_RQ));
    assert_eq!((wq.pd, wq.cq), (&raw mut parents.pd, &raw mut parents.cq));
}

#[test]
fn created_in_each_form() {
    let known = IBV_WQ_FLAGS_RESERVED - 1;
    for (mask, flags, sent) in [(0, u32::MAX, 0), (IBV_WQ_INIT_ATTR_FLAGS, known, known)] {
        for (form, line) in [
            (Form::Write, "write n=72 cmd=80000034 in=5 out=3 pin=1 pout=1"),
            (
                Form::InvokeWrite,
                "ioctl 0.0: 2(len8)=cmd 80000034 0(len40) 1(len24) 4096(len8) 4097(len8)",
            ),
        ] {
            let context = TestContext::new(form);
            let mut parents = Parents::new(&context);
            let mut wq = ibv_wq::zeroed();
            let mut attr = parents.attr(mask, flags);
            let address = (&raw const wq).addr() as u64;
            fake::answer(move |call| {
                let Call::Ioctl(ioctl) = call else { panic!("no write command") };
                for (id, value) in [
                    (UVERBS_ATTR_CREATE_WQ_USER_HANDLE, address),
                    (UVERBS_ATTR_CREATE_WQ_PD_HANDLE, 11),
                    (UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, 13),
                    (UVERBS_ATTR_CREATE_WQ_TYPE, 0),
                    (UVERBS_ATTR_CREATE_WQ_MAX_WR, 100),
                    (UVERBS_ATTR_CREATE_WQ_MAX_SGE, 3),
                    (UVERBS_ATTR_CREATE_WQ_EVENT_FD, fake::ASYNC_FD as u64),
                    (UVERBS_ATTR_CREATE_WQ_FLAGS, u64::from(sent)),
                ] {
                    assert_eq!(ioctl.data(id), Some(value), "attribute {id}");
                }
                ioctl.set_data(UVERBS_ATTR_CREATE_WQ_HANDLE, 7);
                ioctl.output(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, &128_u32);
                ioctl.output(UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, &4_u32);
                ioctl.output(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, &0x456_u32);
                Reply::Done
            });
            assert_eq!(create(&context, &mut wq, &mut attr), 0);
            assert_eq!(fake::calls(), [IOCTL]);
            check_wq(&wq, &context, &mut parents, (7, 0x456));
            assert_eq!((attr.max_wr, attr.max_sge), (128, 4));

            let mut attr = parents.attr(mask, flags);
            old_kernel(libc::EPROTONOSUPPORT, created());
            assert_eq!(create(&context, &mut wq, &mut attr), 0);
            assert_eq!(fake::calls(), [IOCTL, line]);
            let (core, provider) = request::<ib_uverbs_ex_create_wq>();
            assert_eq!((core.comp_mask, core.wq_type, core.user_handle), (0, 0, address));
            assert_eq!((core.pd_handle, core.cq_handle), (11, 13));
            assert_eq!((core.max_wr, core.max_sge, core.create_flags), (100, 3, sent));
            assert_eq!(provider, bytes_of_words(&[0x77]));
            check_wq(&wq, &context, &mut parents, (8, 0x789));
            assert_eq!((attr.max_wr, attr.max_sge), (256, 6));
        }
    }
}

#[test]
fn attributes_that_are_not_known_are_refused() {
    let context = TestContext::new(Form::Write);
    let mut parents = Parents::new(&context);
    let mut wq = ibv_wq::zeroed();
    fake::answer(|_| panic!("the kernel must not be asked"));
    for mask in [IBV_WQ_INIT_ATTR_RESERVED, u32::MAX] {
        let status = create(&context, &mut wq, &mut parents.attr(mask, 0));
        assert_eq!(failure(status), libc::EINVAL);
    }
    for flags in [IBV_WQ_FLAGS_RESERVED, u32::MAX] {
        let mut attr = parents.attr(IBV_WQ_INIT_ATTR_FLAGS, flags);
        assert_eq!(failure(create(&context, &mut wq, &mut attr)), libc::EOPNOTSUPP);
    }
    let mut attr = parents.attr(0, 0);
    attr.pd = ptr::null_mut();
    assert_eq!(failure(create(&context, &mut wq, &mut attr)), libc::EINVAL);
    let mut attr = parents.attr(0, 0);
    attr.cq = ptr::null_mut();
    assert_eq!(failure(create(&context, &mut wq, &mut attr)), libc::EINVAL);
}

#[test]
fn failures_change_no_attributes() {
    let context = TestContext::new(Form::Write);
    let mut parents = Parents::new(&context);
    let (mut wq, mut attr) = (ibv_wq::zeroed(), parents.attr(0, 0));
    fake::answer(|_| Reply::Fail(libc::ENOMEM));
    assert_eq!(failure(create(&context, &mut wq, &mut attr)), libc::ENOMEM);
    failing_kernel(libc::ENOTTY, created(), Some(libc::EINVAL));
    assert_eq!(failure(create(&context, &mut wq, &mut attr)), libc::EINVAL);
    assert_eq!((attr.max_wr, attr.max_sge, wq.handle, wq.wq_num), (100, 3, 0, 0));
    context.kernel().private().set_imported();
    assert_eq!(failure(create(&context, &mut wq, &mut attr)), libc::EOPNOTSUPP);
}

/// A WQ that can be destroyed.
fn set_up(context: &TestContext) -> Box<ibv_wq> {
    let mut wq = Box::new(ibv_wq::zeroed());
    wq.context = context.get();
    wq.handle = 7;
    wq.events_completed = 4;
    // SAFETY: the WQ is ours alone.
    unsafe {
        libc::pthread_mutex_init(&mut wq.mutex, ptr::null());
        libc::pthread_cond_init(&mut wq.cond, ptr::null());
    }
    wq
}

fn destroy(wq: &mut ibv_wq) -> c_int {
    // SAFETY: the WQ is set up; its memory stays.
    unsafe { ibv_cmd_destroy_wq(wq) }
}

#[test]
fn destroyed_in_each_form() {
    for (form, line) in [
        (Form::Write, "write n=32 cmd=80000036 in=1 out=2 pin=0 pout=0"),
        (Form::InvokeWrite, "ioctl 0.0: 2(len8)=cmd 80000036 0(len8) 1(len16)"),
    ] {
        let context = TestContext::new(form);
        let mut wq = set_up(&context);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("no write command") };
            assert_eq!(ioctl.data(UVERBS_ATTR_DESTROY_WQ_HANDLE), Some(7));
            ioctl.output(UVERBS_ATTR_DESTROY_WQ_RESP, &4_u32);
            Reply::Done
        });
        assert_eq!(destroy(&mut wq), 0);
        assert_eq!(fake::calls(), ["ioctl 12.1: 1(len4) 0(len0)"]);

        let mut reported = ib_uverbs_ex_destroy_wq_resp::zeroed();
        reported.events_reported = 4;
        old_kernel(libc::EPROTONOSUPPORT, reported);
        assert_eq!(destroy(&mut wq), 0);
        assert_eq!(fake::calls(), ["ioctl 12.1: 1(len4) 0(len0)", line]);
        let (core, _) = request::<ib_uverbs_ex_destroy_wq>();
        assert_eq!((core.wq_handle, core.comp_mask), (7, 0));
    }
}

#[test]
fn destroying_on_a_device_that_is_gone() {
    let context = TestContext::new(Form::Write);
    let mut wq = set_up(&context);
    fake::answer(|_| Reply::Fail(libc::EIO));
    fake::set_allow_disassociate_destroy(false);
    assert_eq!(failure(destroy(&mut wq)), libc::EIO);
    // A wait for events would not end.
    fake::set_allow_disassociate_destroy(true);
    assert_eq!(destroy(&mut wq), 0);
}

fn modify(wq: &mut ibv_wq, attr_mask: u32, flags_mask: u32) -> c_int {
    let mut attr = ibv_wq_attr {
        attr_mask,
        wq_state: IBV_WQS_RDY,
        curr_wq_state: IBV_WQS_ERR,
        flags: IBV_WQ_FLAGS_SCATTER_FCS,
        flags_mask,
    };
    let mut cmd = WithBytes::<ibv_modify_wq, 1>::new([0x55]);
    let cmd_size = cmd.size();
    // SAFETY: all is as a provider passes it.
    unsafe { ibv_cmd_modify_wq(wq, &mut attr, cmd.core(), cmd_size) }
}

#[test]
fn modified() {
    let context = TestContext::new(Form::Write);
    let mut wq = set_up(&context);
    let flags_mask = IBV_WQ_FLAGS_SCATTER_FCS | IBV_WQ_FLAGS_PCI_WRITE_END_PADDING;
    let (state, curr_state, flags) = (IBV_WQ_ATTR_STATE, IBV_WQ_ATTR_CURR_STATE, IBV_WQ_ATTR_FLAGS);
    for mask in 0..IBV_WQ_ATTR_RESERVED {
        wq.state = IBV_WQS_RESET;
        old_kernel(libc::ENOTTY, empty {});
        assert_eq!(modify(&mut wq, mask, flags_mask), 0);
        assert_eq!(fake::calls(), ["write n=56 cmd=80000035 in=3 out=0 pin=1 pout=0"]);
        let (core, provider) = request::<ib_uverbs_ex_modify_wq>();
        let given = |bit: u32, value: u32| if mask & bit != 0 { value } else { 0 };
        assert_eq!((core.attr_mask, core.wq_handle), (mask, 7));
        assert_eq!(core.wq_state, given(state, IBV_WQS_RDY));
        assert_eq!(core.curr_wq_state, given(curr_state, IBV_WQS_ERR));
        assert_eq!(core.flags, given(flags, IBV_WQ_FLAGS_SCATTER_FCS));
        assert_eq!(core.flags_mask, given(flags, flags_mask));
        assert_eq!(provider, bytes_of_words(&[0x55]));
        assert_eq!(wq.state, given(state, IBV_WQS_RDY));
    }
    wq.state = IBV_WQS_RESET;
    failing_kernel(libc::ENOTTY, empty {}, Some(libc::EINVAL));
    assert_eq!(failure(modify(&mut wq, state, 0)), libc::EINVAL);
    assert_eq!(wq.state, IBV_WQS_RESET);

    fake::answer(|_| panic!("the kernel must not be asked"));
    for mask in [IBV_WQ_ATTR_RESERVED, u32::MAX] {
        assert_eq!(failure(modify(&mut wq, mask, 0)), libc::EINVAL);
    }
    for flags_mask in [IBV_WQ_FLAGS_RESERVED, u32::MAX] {
        assert_eq!(failure(modify(&mut wq, flags, flags_mask)), libc::EOPNOTSUPP);
    }
}
