use super::*;
use crate::cmd::fake::{self, Form, TestContext};
use crate::cmd::testing::*;

fn qp(context: &TestContext) -> ibv_qp {
    let mut qp = ibv_qp::zeroed();
    qp.context = context.get();
    qp.handle = 7;
    qp.qp_type = IBV_QPT_RC;
    qp
}

fn attr() -> ibv_qp_attr {
    let mut attr = ibv_qp_attr::zeroed();
    attr.qp_state = IBV_QPS_RTS;
    attr.sq_psn = 0x123;
    attr.qkey = 0x456;
    attr.rate_limit = 0x789;
    attr
}

const MASK: u32 = IBV_QP_STATE | IBV_QP_SQ_PSN;

fn modify_with<const WORDS: usize>(
    context: &TestContext,
    mask: u32,
    mut cmd: WithBytes<ibv_modify_qp, WORDS>,
) -> c_int {
    let (mut qp, mut attr, mask) = (qp(context), attr(), mask.cast_signed());
    // SAFETY: all is as a provider passes it.
    unsafe { ibv_cmd_modify_qp(&mut qp, &mut attr, mask, cmd.core(), cmd.size()) }
}

#[test]
fn modified() {
    for (form, line) in [
        (Form::Write, "write n=128 cmd=1a in=32 out=0"),
        (Form::InvokeWrite, "ioctl 0.0: 2(len8)=cmd 1a 0(len112) 4096(len8)"),
    ] {
        let context = TestContext::new(form);
        old_kernel(libc::ENOTTY, empty {});
        assert_eq!(modify_with(&context, MASK, WithBytes::new([0x55])), 0);
        assert_eq!(fake::calls(), [line]);
        let (core, provider) = request::<ib_uverbs_modify_qp>();
        assert_eq!((core.qp_handle, core.attr_mask), (7, MASK));
        assert_eq!((u32::from(core.qp_state), core.sq_psn), (IBV_QPS_RTS, 0x123));
        // Neither what the mask does not name nor what was in the buffer.
        assert_eq!((core.qkey, core.rq_psn, core.reserved), (0, 0, [0; 2]));
        assert_eq!(provider, bytes_of_words(&[0x55]));
    }
}

#[test]
fn bits_from_the_rate_limit_on_need_the_extended_command() {
    let context = TestContext::new(Form::Write);
    fake::answer(|_| panic!("the kernel must not be asked"));
    for mask in [IBV_QP_RATE_LIMIT, MASK | IBV_QP_RATE_LIMIT, 1 << 30, 1 << 31, u32::MAX] {
        let status = modify_with(&context, mask, WithBytes::new([]));
        assert_eq!(failure(status), libc::EOPNOTSUPP, "mask {mask:#x}");
    }
    // Bits that nobody knows go to the kernel.
    let mask = IBV_QP_RATE_LIMIT - 1;
    failing_kernel(libc::ENOTTY, empty {}, Some(libc::EINVAL));
    assert_eq!(failure(modify_with(&context, mask, WithBytes::new([]))), libc::EINVAL);
    assert_eq!(request::<ib_uverbs_modify_qp>().0.attr_mask, mask);
}

#[test]
fn modified_with_a_rate_limit() {
    for (form, line) in [
        (Form::Write, "write n=152 cmd=8000001a in=15 out=1 pin=1 pout=1"),
        (
            Form::InvokeWrite,
            "ioctl 0.0: 2(len8)=cmd 8000001a 0(len120) 1(len8) 4096(len8) 4097(len8)",
        ),
    ] {
        let context = TestContext::new(form);
        for (mask, rate_limit) in [(MASK | IBV_QP_RATE_LIMIT, 0x789), (MASK, 0)] {
            old_kernel(
                libc::ENOTTY,
                ib_uverbs_ex_modify_qp_resp { comp_mask: 1, response_length: 8 },
            );
            let (mut qp, mut attr) = (qp(&context), attr());
            let mut cmd = WithBytes::<ibv_modify_qp_ex, 1>::new([0x55]);
            let mut resp = WithBytes::<ib_uverbs_ex_modify_qp_resp, 1>::new([0]);
            // SAFETY: all is as a provider passes it.
            let status = unsafe {
                ibv_cmd_modify_qp_ex(
                    &mut qp,
                    &mut attr,
                    mask.cast_signed(),
                    cmd.core(),
                    cmd.size(),
                    resp.core(),
                    resp.size(),
                )
            };
            assert_eq!(status, 0);
            assert_eq!(fake::calls(), [line]);
            let (core, provider) = request::<ib_uverbs_ex_modify_qp>();
            assert_eq!((core.base.qp_handle, core.base.attr_mask), (7, mask));
            assert_eq!(u32::from(core.base.qp_state), IBV_QPS_RTS);
            assert_eq!((core.rate_limit, core.reserved), (rate_limit, 0));
            assert_eq!(provider, bytes_of_words(&[0x55]));
            assert_eq!((resp.core.comp_mask, resp.core.response_length), (1, 8));
        }
    }
}

#[test]
fn a_short_buffer_has_no_rate_limit() {
    let context = TestContext::new(Form::Write);
    let (mut qp, mut attr) = (qp(&context), attr());
    let mut modify = |mask: u32, size: usize| {
        let mut cmd = WithBytes::<ibv_modify_qp_ex, 0>::new([]);
        let mut resp = ib_uverbs_ex_modify_qp_resp::zeroed();
        let resp_size = size_of_val(&resp);
        // SAFETY: all is as a provider passes it.
        unsafe {
            ibv_cmd_modify_qp_ex(
                &mut qp,
                &mut attr,
                mask.cast_signed(),
                cmd.core(),
                size,
                &mut resp,
                resp_size,
            )
        }
    };
    old_kernel(libc::ENOTTY, ib_uverbs_ex_modify_qp_resp::zeroed());
    for size in [0, 24, 136, 139] {
        assert_eq!(failure(modify(IBV_QP_RATE_LIMIT, size)), libc::EINVAL);
    }
    assert_eq!(fake::calls().len(), 0);
    // All but the rate limit fits.
    assert_eq!(modify(MASK, 136), 0);
    assert_eq!(fake::calls(), ["write n=136 cmd=8000001a in=14 out=1 pin=0 pout=0"]);
    assert_eq!(request::<ib_uverbs_modify_qp>().0.sq_psn, 0x123);
}

fn response() -> ib_uverbs_query_qp_resp {
    let mut response = ib_uverbs_query_qp_resp::zeroed();
    response.qp_state = IBV_QPS_SQD as u8;
    response.sq_psn = 0x321;
    response.max_send_wr = 100;
    response.sq_sig_all = 1;
    response
}

fn query(
    context: &TestContext,
    mask: u32,
    attr: &mut ibv_qp_attr,
    init: &mut ibv_qp_init_attr,
) -> c_int {
    let mut qp = qp(context);
    let mut cmd = WithBytes::<ibv_query_qp, 0>::new([]);
    // SAFETY: all is as a provider passes it.
    unsafe { ibv_cmd_query_qp(&mut qp, attr, mask.cast_signed(), init, cmd.core(), cmd.size()) }
}

#[test]
fn queried() {
    for (form, line) in [
        (Form::Write, "write n=24 cmd=19 in=6 out=32"),
        (Form::InvokeWrite, "ioctl 0.0: 2(len8)=cmd 19 0(len16) 1(len128)"),
    ] {
        let context = TestContext::new(form);
        let (mut attr, mut init) = (attr(), ibv_qp_init_attr::zeroed());
        old_kernel(libc::ENOTTY, response());
        assert_eq!(query(&context, IBV_QP_STATE, &mut attr, &mut init), 0);
        assert_eq!(fake::calls(), [line]);
        let (core, _) = request::<ib_uverbs_query_qp>();
        assert_eq!((core.qp_handle, core.attr_mask), (7, IBV_QP_STATE));
        assert_eq!((attr.qp_state, attr.sq_psn), (IBV_QPS_SQD, 0x321));
        assert_eq!((attr.cap.max_send_wr, attr.rate_limit), (100, 0x789));
        assert_eq!((init.cap.max_send_wr, init.sq_sig_all, init.qp_type), (100, 1, IBV_QPT_RC));
    }
}

#[test]
fn failed_queries_change_nothing() {
    let context = TestContext::new(Form::Write);
    let (mut attr, mut init) = (attr(), ibv_qp_init_attr::zeroed());
    failing_kernel(libc::ENOTTY, response(), Some(libc::EINVAL));
    assert_eq!(failure(query(&context, IBV_QP_STATE, &mut attr, &mut init)), libc::EINVAL);
    fake::answer(|_| panic!("the kernel must not be asked"));
    for mask in [IBV_QP_RATE_LIMIT, 1 << 31, u32::MAX] {
        assert_eq!(failure(query(&context, mask, &mut attr, &mut init)), libc::EOPNOTSUPP);
    }
    assert_eq!((attr.qp_state, attr.sq_psn, init.sq_sig_all), (IBV_QPS_RTS, 0x123, 0));
}
