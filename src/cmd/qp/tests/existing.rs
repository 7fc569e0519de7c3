//! Opening and destroying.

use super::*;

fn open(
    context: &TestContext,
    qp: &mut verbs_qp,
    size: c_int,
    attr: &mut ibv_qp_open_attr,
) -> c_int {
    let mut cmd = WithBytes::<ibv_open_qp, 1>::new([0x77]);
    let mut resp = WithBytes::<ib_uverbs_create_qp_resp, 1>::new([0]);
    // SAFETY: all is as a provider passes it.
    unsafe {
        ibv_cmd_open_qp(
            context.get(),
            qp,
            size,
            attr,
            cmd.core(),
            cmd.size(),
            resp.core(),
            resp.size(),
        )
    }
}

fn open_attr(parents: &mut Parents, comp_mask: u32) -> ibv_qp_open_attr {
    ibv_qp_open_attr {
        comp_mask,
        qp_num: 0x321,
        xrcd: &mut parents.xrcd.xrcd,
        qp_context: ptr::without_provenance_mut(0x99),
        qp_type: IBV_QPT_XRC_RECV,
    }
}

const OPEN: u32 = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;

#[test]
fn opened() {
    for (form, line) in [
        (Form::Write, "write n=48 cmd=28 in=12 out=10".to_owned()),
        (Form::InvokeWrite, format!("ioctl 0.0: 2(len8)=cmd 28 0(len32) 1(len32) {TAIL}")),
    ] {
        let context = TestContext::new(form);
        let mut parents = Parents::new(&context);
        for (mask, qp_context) in [(OPEN, 0), (OPEN | IBV_QP_OPEN_ATTR_CONTEXT, 0x99)] {
            old_kernel(libc::ENOTTY, created());
            let mut qp = new_qp();
            let size = size_of::<verbs_qp>() as c_int;
            let mut attr = open_attr(&mut parents, mask);
            assert_eq!(open(&context, &mut qp, size, &mut attr), 0);
            assert_eq!(fake::calls(), [line.as_str()]);
            let (core, provider) = request::<ib_uverbs_open_qp>();
            assert_eq!(core.user_handle, (&raw const *qp).addr() as u64);
            assert_eq!((core.pd_handle, core.qpn, core.qp_type), (12, 0x321, 10));
            assert_eq!(provider, bytes_of_words(&[0x77]));
            assert_eq!((qp.comp_mask, qp.xrcd), (VERBS_QP_XRCD, &raw mut parents.xrcd));
            let qp = public(&qp);
            assert_eq!((qp.handle, qp.qp_num, qp.qp_type), (8, 0x321, IBV_QPT_XRC_RECV));
            assert_eq!((qp.context, qp.qp_context.addr()), (context.get(), qp_context));
            assert!(qp.pd.is_null() && qp.srq.is_null());
            assert!(qp.send_cq.is_null() && qp.recv_cq.is_null());
            assert_eq!((qp.state, qp.events_completed), (IBV_QPS_UNKNOWN, 0));
        }
    }
}

#[test]
fn opened_into_a_struct_without_tail() {
    let context = TestContext::new(Form::Write);
    let mut parents = Parents::new(&context);
    old_kernel(libc::ENOTTY, created());
    let mut attr = open_attr(&mut parents, OPEN);
    for size in [-1, 0, 160, 360] {
        let mut qp = new_qp();
        assert_eq!(open(&context, &mut qp, size, &mut attr), 0);
        assert_eq!((qp.comp_mask, qp.xrcd.addr() as u32), (GARBAGE, GARBAGE), "size {size}");
    }
    // The mask alone.
    let mut qp = new_qp();
    assert_eq!(open(&context, &mut qp, 368, &mut attr), 0);
    assert_eq!((qp.comp_mask, qp.xrcd.addr() as u32), (0, GARBAGE));
}

#[test]
fn opening_needs_domain_number_and_type() {
    let context = TestContext::new(Form::Write);
    let mut parents = Parents::new(&context);
    let size = size_of::<verbs_qp>() as c_int;
    fake::answer(|_| panic!("the kernel must not be asked"));
    for mask in 0..IBV_QP_OPEN_ATTR_RESERVED {
        if mask & OPEN != OPEN {
            let mut attr = open_attr(&mut parents, mask);
            assert_eq!(failure(open(&context, &mut new_qp(), size, &mut attr)), libc::EINVAL);
        }
    }
    for mask in [IBV_QP_OPEN_ATTR_RESERVED, OPEN | 1 << 31, u32::MAX] {
        let mut attr = open_attr(&mut parents, mask);
        assert_eq!(failure(open(&context, &mut new_qp(), size, &mut attr)), libc::EOPNOTSUPP);
    }
    let mut attr = open_attr(&mut parents, OPEN);
    attr.xrcd = ptr::null_mut();
    assert_eq!(failure(open(&context, &mut new_qp(), size, &mut attr)), libc::EINVAL);
    let mut attr = open_attr(&mut parents, OPEN);
    attr.qp_type = 0x10a;
    assert_eq!(failure(open(&context, &mut new_qp(), size, &mut attr)), libc::EINVAL);
    failing_kernel(libc::ENOTTY, created(), Some(libc::ENOENT));
    let mut qp = new_qp();
    let status = open(&context, &mut qp, size, &mut open_attr(&mut parents, OPEN));
    assert_eq!(failure(status), libc::ENOENT);
    assert_eq!((public(&qp).handle, qp.comp_mask), (GARBAGE, GARBAGE));
}

/// A QP that can be destroyed.
fn set_up(context: &TestContext) -> Box<ibv_qp> {
    let mut qp = Box::new(ibv_qp::zeroed());
    qp.context = context.get();
    qp.handle = 7;
    // SAFETY: the QP is ours alone.
    unsafe { init_events(&mut *qp) };
    qp.events_completed = 4;
    qp
}

fn destroy(qp: &mut ibv_qp) -> c_int {
    // SAFETY: the QP is set up; its memory stays.
    unsafe { ibv_cmd_destroy_qp(qp) }
}

#[test]
fn destroyed_in_each_form() {
    for (form, line) in [
        (Form::Write, "write n=24 cmd=1b in=6 out=1"),
        (Form::InvokeWrite, "ioctl 0.0: 2(len8)=cmd 1b 0(len16) 1(len4)"),
    ] {
        let context = TestContext::new(form);
        let mut qp = set_up(&context);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("no write command") };
            assert_eq!(ioctl.data(UVERBS_ATTR_DESTROY_QP_HANDLE), Some(7));
            ioctl.output(UVERBS_ATTR_DESTROY_QP_RESP, &4_u32);
            Reply::Done
        });
        assert_eq!(destroy(&mut qp), 0);
        assert_eq!(fake::calls(), ["ioctl 4.1: 1(len4) 0(len0)"]);

        old_kernel(libc::EPROTONOSUPPORT, ib_uverbs_destroy_qp_resp { events_reported: 4 });
        assert_eq!(destroy(&mut qp), 0);
        assert_eq!(fake::calls(), ["ioctl 4.1: 1(len4) 0(len0)", line]);
        assert_eq!(request::<ib_uverbs_destroy_qp>().0.qp_handle, 7);
    }
}

#[test]
fn destroying_on_a_device_that_is_gone() {
    let context = TestContext::new(Form::Write);
    let mut qp = set_up(&context);
    fake::answer(|_| Reply::Fail(libc::EIO));
    fake::set_allow_disassociate_destroy(false);
    assert_eq!(failure(destroy(&mut qp)), libc::EIO);
    // A wait for events would not end.
    fake::set_allow_disassociate_destroy(true);
    assert_eq!(destroy(&mut qp), 0);
}
