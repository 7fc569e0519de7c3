mod existing;

use core::ptr;

use super::*;
use crate::cmd::fake::{self, Call, Form, Reply, TestContext};
use crate::cmd::testing::*;

const NO_FLAGS: u32 = 0;
const IOCTL_EX: &str =
    "ioctl 3.0: 0(len0) 6(len4) 1(len4) 2(len8) 4(len4) 7(len0,opt) 5(len4) 4096(len8) 4097(len8)";

/// A CQ of which nothing is set up.
fn new_cq() -> verbs_cq {
    verbs_cq::zeroed()
}

fn public(cq: &mut verbs_cq) -> *mut ibv_cq {
    (&raw mut *cq).cast()
}

fn channel() -> ibv_comp_channel {
    ibv_comp_channel { context: ptr::null_mut(), fd: 33, refcnt: 0 }
}

fn create_plain(context: &TestContext, cq: *mut ibv_cq, channel: *mut ibv_comp_channel) -> c_int {
    let mut cmd = WithBytes::<ibv_create_cq, 2>::new([1, 2]);
    let mut resp = WithBytes::<ib_uverbs_create_cq_resp, 1>::new([0]);
    let (cmd_size, resp_size) = (cmd.size(), resp.size());
    // SAFETY: all is as a provider passes it.
    unsafe {
        ibv_cmd_create_cq(
            context.get(),
            100,
            channel,
            3,
            cq,
            cmd.core(),
            cmd_size,
            resp.core(),
            resp_size,
        )
    }
}

fn attr_ex() -> ibv_cq_init_attr_ex {
    let mut attr = ibv_cq_init_attr_ex::zeroed();
    attr.cqe = 200;
    attr.comp_vector = 4;
    attr
}

fn create_extended(
    context: &TestContext,
    cq: &mut verbs_cq,
    attr: &ibv_cq_init_attr_ex,
    prov_attr: *mut verbs_create_cq_prov_attr,
    cmd_flags: u32,
) -> c_int {
    let mut cmd = WithBytes::<ibv_create_cq_ex, 1>::new([0x1122]);
    let mut resp = WithBytes::<ib_uverbs_ex_create_cq_resp, 1>::new([0]);
    let (cmd_size, resp_size) = (cmd.size(), resp.size());
    // SAFETY: all is as a provider passes it.
    unsafe {
        ibv_cmd_create_cq_ex(
            context.get(),
            attr,
            prov_attr,
            cq,
            cmd.core(),
            cmd_size,
            resp.core(),
            resp_size,
            cmd_flags,
        )
    }
}

/// A kernel with the ioctl, which makes CQ 7 with 255 entries.
fn new_kernel() {
    fake::answer(|call| {
        if let Call::Ioctl(ioctl) = call {
            ioctl.set_data(UVERBS_ATTR_CREATE_CQ_HANDLE, 7);
            ioctl.output(UVERBS_ATTR_CREATE_CQ_RESP_CQE, &255_u32);
        }
        Reply::Done
    });
}

fn created() -> ib_uverbs_create_cq_resp {
    ib_uverbs_create_cq_resp { cq_handle: 8, cqe: 127, driver_data: [] }
}

fn created_ex() -> ib_uverbs_ex_create_cq_resp {
    ib_uverbs_ex_create_cq_resp { base: created(), comp_mask: 0, response_length: 16 }
}

#[test]
fn created_by_ioctl() {
    let context = TestContext::new(Form::Write);
    let mut cq = new_cq();
    let cq = public(&mut cq);
    let mut channel = channel();
    let address = cq.addr() as u64;
    fake::answer(move |call| {
        let Call::Ioctl(ioctl) = call else { panic!("no write command") };
        assert_eq!(ioctl.input(UVERBS_ATTR_CREATE_CQ_CQE), Some(100_u32.to_ne_bytes().to_vec()));
        assert_eq!(ioctl.data(UVERBS_ATTR_CREATE_CQ_USER_HANDLE), Some(address));
        assert_eq!(ioctl.data(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL), Some(33));
        assert_eq!(
            ioctl.input(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR),
            Some(3_u32.to_ne_bytes().to_vec())
        );
        assert_eq!(ioctl.data(UVERBS_ATTR_CREATE_CQ_EVENT_FD), Some(fake::ASYNC_FD as u64));
        assert_eq!(ioctl.input(UVERBS_ATTR_UHW_IN), Some(bytes_of_words(&[1, 2])));
        ioctl.set_data(UVERBS_ATTR_CREATE_CQ_HANDLE, 7);
        ioctl.output(UVERBS_ATTR_CREATE_CQ_RESP_CQE, &255_u32);
        Reply::Done
    });
    assert_eq!(create_plain(&context, cq, &mut channel), 0);
    assert_eq!(
        fake::calls(),
        [
            "ioctl 3.0: 0(len0) 6(len4) 1(len4) 2(len8) 3(len0) 4(len4) 7(len0,opt) 4096(len16) 4097(len8)"
        ]
    );
    // SAFETY: the CQ is alive.
    let cq = unsafe { &*cq };
    assert_eq!((cq.handle, cq.cqe, cq.context), (7, 255, context.get()));
}

#[test]
fn the_channel_is_optional() {
    let context = TestContext::new(Form::Write);
    new_kernel();
    assert_eq!(create_plain(&context, public(&mut new_cq()), ptr::null_mut()), 0);
    assert_eq!(
        fake::calls(),
        ["ioctl 3.0: 0(len0) 6(len4) 1(len4) 2(len8) 4(len4) 7(len0,opt) 4096(len16) 4097(len8)"]
    );
}

#[test]
fn created_by_write() {
    for (form, line) in [
        (Form::Write, "write n=56 cmd=12 in=14 out=4"),
        (Form::InvokeWrite, "ioctl 0.0: 2(len8)=cmd 12 0(len32) 1(len8) 4096(len16) 4097(len8)"),
    ] {
        let context = TestContext::new(form);
        let mut cq = new_cq();
        let cq = public(&mut cq);
        let mut channel = channel();
        old_kernel(libc::EPROTONOSUPPORT, created());
        assert_eq!(create_plain(&context, cq, &mut channel), 0);
        let calls = fake::calls();
        assert!(calls[0].starts_with("ioctl 3.0:"), "{calls:?}");
        assert_eq!(calls[1..], [line]);
        let (core, provider) = request::<ib_uverbs_create_cq>();
        assert_eq!((core.cqe, core.comp_vector, core.comp_channel), (100, 3, 33));
        assert_eq!((core.user_handle, core.reserved), (cq.addr() as u64, 0));
        assert_eq!(provider, bytes_of_words(&[1, 2]));
        // SAFETY: the CQ is alive.
        let cq = unsafe { &*cq };
        assert_eq!((cq.handle, cq.cqe, cq.context), (8, 127, context.get()));

        // Next time the ioctl is not tried, and without a channel the kernel gets -1.
        assert_eq!(create_plain(&context, public(&mut new_cq()), ptr::null_mut()), 0);
        assert_eq!(fake::calls(), [line]);
        assert_eq!(request::<ib_uverbs_create_cq>().0.comp_channel, -1);
    }
}

#[test]
fn flags_go_by_ioctl() {
    for (wc_flags, comp_mask, attr_flags, wanted) in [
        (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, 0, 0, 1),
        (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK, 0, 0, 1),
        (0, IBV_CQ_INIT_ATTR_MASK_FLAGS, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN, 2),
        (
            IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
            IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD,
            IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN | IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
            3,
        ),
    ] {
        let context = TestContext::new(Form::Write);
        let mut attr = attr_ex();
        attr.wc_flags = u64::from(wc_flags);
        (attr.comp_mask, attr.flags) = (comp_mask, attr_flags);
        fake::answer(move |call| {
            let Call::Ioctl(ioctl) = call else { panic!("no write command") };
            assert_eq!(ioctl.data(UVERBS_ATTR_CREATE_CQ_FLAGS), Some(wanted));
            Reply::Done
        });
        assert_eq!(create_extended(&context, &mut new_cq(), &attr, ptr::null_mut(), NO_FLAGS), 0);
        assert_eq!(fake::calls(), [IOCTL_EX]);
    }
    // Flags that the mask does not name, and those that the kernel does not know.
    let context = TestContext::new(Form::Write);
    let mut attr = attr_ex();
    attr.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
    attr.wc_flags = u64::from(IBV_WC_EX_WITH_BYTE_LEN);
    new_kernel();
    assert_eq!(create_extended(&context, &mut new_cq(), &attr, ptr::null_mut(), NO_FLAGS), 0);
    assert_eq!(fake::calls(), [IOCTL_EX.replace(" 5(len4)", "")]);
}

#[test]
fn flags_need_the_extended_write_command() {
    for (form, line) in [
        (Form::Write, "write n=64 cmd=80000012 in=4 out=2 pin=1 pout=1"),
        (
            Form::InvokeWrite,
            "ioctl 0.0: 2(len8)=cmd 80000012 0(len32) 1(len16) 4096(len8) 4097(len8)",
        ),
    ] {
        let context = TestContext::new(form);
        let mut cq = new_cq();
        let mut attr = attr_ex();
        attr.wc_flags = u64::from(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
        attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
        attr.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
        old_kernel(libc::ENOTTY, created_ex());
        // An overrun must not be lost, whatever the provider says about timestamps.
        let cmd_flags = CREATE_CQ_CMD_FLAGS_TS_IGNORED_EX;
        assert_eq!(create_extended(&context, &mut cq, &attr, ptr::null_mut(), cmd_flags), 0);
        assert_eq!(fake::calls(), [IOCTL_EX, line]);
        let (core, provider) = request::<ib_uverbs_ex_create_cq>();
        assert_eq!((core.cqe, core.comp_vector, core.comp_channel), (200, 4, -1));
        assert_eq!((core.flags, core.comp_mask, core.reserved), (3, 0, 0));
        assert_eq!(core.user_handle, public(&mut cq).addr() as u64);
        assert_eq!(provider, bytes_of_words(&[0x1122]));
        // SAFETY: the CQ is alive.
        unsafe { assert_eq!((cq.cq.handle, cq.cq.cqe), (8, 127)) };

        attr.comp_mask = 0;
        assert_eq!(create_extended(&context, &mut cq, &attr, ptr::null_mut(), NO_FLAGS), 0);
        assert_eq!(request::<ib_uverbs_ex_create_cq>().0.flags, 1);
    }
}

#[test]
fn an_optional_timestamp_may_be_lost() {
    let context = TestContext::new(Form::Write);
    let mut attr = attr_ex();
    attr.wc_flags = u64::from(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
    old_kernel(libc::EPROTONOSUPPORT, created());
    let cmd_flags = CREATE_CQ_CMD_FLAGS_TS_IGNORED_EX;
    assert_eq!(create_extended(&context, &mut new_cq(), &attr, ptr::null_mut(), cmd_flags), 0);
    assert_eq!(fake::calls(), [IOCTL_EX, "write n=48 cmd=12 in=12 out=4"]);
}

fn buffer(source: verbs_create_cq_prov_attr_buffer_source) -> verbs_create_cq_prov_attr {
    verbs_create_cq_prov_attr {
        buffer: verbs_create_cq_prov_attr_buffer { length: 0x4000, source },
    }
}

#[test]
fn buffers_of_the_provider_go_by_ioctl_only() {
    let context = TestContext::new(Form::Write);
    let ptr = ptr::without_provenance_mut(0x7000);
    let mut memory = buffer(verbs_create_cq_prov_attr_buffer_source { ptr });
    let dmabuf = verbs_create_cq_prov_attr_buffer_dmabuf { offset: 0x80, fd: 44 };
    let mut dmabuf = buffer(verbs_create_cq_prov_attr_buffer_source { dmabuf });
    for (prov_attr, cmd_flags, attrs, wanted) in [
        (
            &mut memory,
            CREATE_CQ_CMD_FLAGS_WITH_MEM_VA,
            "8(len8) 9(len8)",
            &[
                (UVERBS_ATTR_CREATE_CQ_BUFFER_VA, 0x7000),
                (UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH, 0x4000),
            ][..],
        ),
        (
            &mut dmabuf,
            CREATE_CQ_CMD_FLAGS_WITH_MEM_DMABUF,
            "10(len0) 11(len8) 9(len8)",
            &[
                (UVERBS_ATTR_CREATE_CQ_BUFFER_FD, 44),
                (UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET, 0x80),
                (UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH, 0x4000),
            ][..],
        ),
    ] {
        fake::answer(move |call| {
            let Call::Ioctl(ioctl) = call else { panic!("no write command") };
            for (id, value) in wanted {
                assert_eq!(ioctl.data(*id), Some(*value));
            }
            Reply::Done
        });
        let mut attr = attr_ex();
        attr.wc_flags = u64::from(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
        assert_eq!(create_extended(&context, &mut new_cq(), &attr, prov_attr, cmd_flags), 0);
        assert_eq!(fake::calls(), [IOCTL_EX.replace("5(len4)", &format!("{attrs} 5(len4)"))]);

        // There is no write form of it.
        let context = TestContext::new(Form::Write);
        old_kernel(libc::EPROTONOSUPPORT, created_ex());
        for tried in [1, 0] {
            let status = create_extended(&context, &mut new_cq(), &attr, prov_attr, cmd_flags);
            assert_eq!(failure(status), libc::EOPNOTSUPP);
            assert_eq!(fake::calls().len(), tried);
        }

        // Announced, but not described.
        let status = create_extended(&context, &mut new_cq(), &attr, ptr::null_mut(), cmd_flags);
        assert_eq!(failure(status), libc::EINVAL);
        assert_eq!(fake::calls().len(), 0);
    }
    let both = CREATE_CQ_CMD_FLAGS_WITH_MEM_VA | CREATE_CQ_CMD_FLAGS_WITH_MEM_DMABUF;
    let status = create_extended(&context, &mut new_cq(), &attr_ex(), &mut memory, both);
    assert_eq!(failure(status), libc::EINVAL);
}

#[test]
fn unknown_attributes_are_refused() {
    let context = TestContext::new(Form::Write);
    new_kernel();
    for comp_mask in [4, 0x8000_0000, u32::MAX] {
        let mut attr = attr_ex();
        attr.comp_mask = comp_mask;
        let status = create_extended(&context, &mut new_cq(), &attr, ptr::null_mut(), NO_FLAGS);
        assert_eq!(failure(status), libc::EOPNOTSUPP);
    }
    assert_eq!(fake::calls().len(), 0);
}

#[test]
fn imported_contexts_need_the_ioctl() {
    let context = TestContext::new(Form::Write);
    context.kernel().private().set_imported();
    new_kernel();
    assert_eq!(create_plain(&context, public(&mut new_cq()), ptr::null_mut()), 0);
    // The event file must not be ignored.
    assert_eq!(
        fake::calls(),
        ["ioctl 3.0: 0(len0) 6(len4) 1(len4) 2(len8) 4(len4) 7(len0) 4096(len16) 4097(len8)"]
    );
    old_kernel(libc::ENOTTY, created());
    let status = create_plain(&context, public(&mut new_cq()), ptr::null_mut());
    assert_eq!(failure(status), libc::EOPNOTSUPP);
}

#[test]
fn errors_of_the_kernel_are_returned() {
    let context = TestContext::new(Form::Write);
    for errno in [libc::EINVAL, libc::ENOMEM, libc::EIO, libc::ENODEV] {
        fake::answer(move |_| Reply::Fail(errno));
        let mut cq = new_cq();
        assert_eq!(failure(create_plain(&context, public(&mut cq), ptr::null_mut())), errno);
        assert_eq!(fake::calls().len(), 1, "no fall-back");
        // SAFETY: the CQ is alive.
        unsafe { assert_eq!((cq.cq.handle, cq.cq.cqe), (0, 0)) };
    }
    failing_kernel(libc::EPROTONOSUPPORT, created(), Some(libc::EMFILE));
    let status = create_plain(&context, public(&mut new_cq()), ptr::null_mut());
    assert_eq!(failure(status), libc::EMFILE);
}
