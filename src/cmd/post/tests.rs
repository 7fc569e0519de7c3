use core::ptr;

use super::*;
use crate::cmd::fake::{self, Form, TestContext};
use crate::cmd::testing::*;

/// A list of three requests.
fn sends() -> Box<[ibv_send_wr; 3]> {
    let mut wrs = Box::new([ibv_send_wr::zeroed(); 3]);
    for wr in wrs.iter_mut() {
        wr.opcode = IBV_WR_SEND;
    }
    let start = wrs.as_mut_ptr();
    for index in 0..2 {
        wrs[index].next = start.wrapping_add(index + 1);
    }
    wrs
}

fn qp(context: &TestContext) -> ibv_qp {
    let mut qp = ibv_qp::zeroed();
    (qp.context, qp.handle, qp.qp_type) = (context.get(), 7, IBV_QPT_RC);
    qp
}

/// The status, and the position in the list of what `bad_wr` got.
fn post_three(context: &TestContext) -> (c_int, Option<usize>) {
    let mut wrs = sends();
    let mut bad = ptr::null_mut();
    let start = wrs.as_mut_ptr();
    // SAFETY: all is as a provider passes it.
    let status = unsafe { ibv_cmd_post_send(&mut qp(context), start, &mut bad) };
    (status, (0..3).find(|index| start.wrapping_add(*index) == bad))
}

#[test]
fn sends_in_each_form() {
    for (form, line) in [
        (Form::Write, "write n=200 cmd=1c in=50 out=1"),
        (Form::InvokeWrite, "ioctl 0.0: 2(len8)=cmd 1c 0(len192) 1(len4)"),
    ] {
        let context = TestContext::new(form);
        old_kernel(libc::ENOTTY, ib_uverbs_post_send_resp { bad_wr: 0 });
        assert_eq!(post_three(&context), (0, None));
        assert_eq!(fake::calls(), [line]);
        let (core, _) = request::<ib_uverbs_post_send>();
        assert_eq!((core.qp_handle, core.wr_count), (7, 3));
        assert_eq!((core.sge_count, core.wqe_size), (0, 56));
    }
}

#[test]
fn the_first_request_that_was_not_posted_is_named() {
    let context = TestContext::new(Form::Write);
    for (number, wanted) in
        [(0, Some(0)), (1, Some(0)), (2, Some(1)), (3, Some(2)), (4, Some(0)), (u32::MAX, Some(0))]
    {
        let response = ib_uverbs_post_send_resp { bad_wr: number };
        failing_kernel(libc::ENOTTY, response, Some(libc::ENOMEM));
        let (status, bad) = post_three(&context);
        assert_eq!((failure(status), bad), (libc::ENOMEM, wanted), "request {number}");
    }
    // The kernel's word counts even without a failure.
    old_kernel(libc::ENOTTY, ib_uverbs_post_send_resp { bad_wr: 2 });
    assert_eq!(post_three(&context), (0, Some(1)));
}

#[test]
fn requests_that_cannot_be_post_nothing() {
    let context = TestContext::new(Form::Write);
    fake::answer(|_| panic!("the kernel must not be asked"));
    let mut wrs = sends();
    wrs[1].num_sge = -1;
    let (mut bad, start) = (ptr::null_mut(), wrs.as_mut_ptr());
    // SAFETY: all is as a provider passes it.
    unsafe {
        assert_eq!(failure(ibv_cmd_post_send(&mut qp(&context), start, &mut bad)), libc::EINVAL);
        // Nothing was posted, not even what comes before the bad one.
        assert_eq!(bad, start);
        // A program that does not want to know.
        let status = ibv_cmd_post_send(&mut qp(&context), start, ptr::null_mut());
        assert_eq!(failure(status), libc::EINVAL);
    }
    // Datagrams without an address.
    let mut wrs = sends();
    let (mut bad, start) = (ptr::null_mut(), wrs.as_mut_ptr());
    let mut qp = qp(&context);
    qp.qp_type = IBV_QPT_UD;
    // SAFETY: as above.
    unsafe {
        assert_eq!(failure(ibv_cmd_post_send(&mut qp, start, &mut bad)), libc::EINVAL);
    }
    assert_eq!(bad, start);
}

#[test]
fn an_attribute_cannot_hold_what_a_write_can() {
    // 70000 bytes.
    let mut wrs = vec![ibv_send_wr::zeroed(); 1250];
    let start = wrs.as_mut_ptr();
    for (index, wr) in wrs.iter_mut().enumerate().take(1249) {
        wr.next = start.wrapping_add(index + 1);
    }
    for (form, wanted) in [(Form::Write, 0), (Form::InvokeWrite, libc::EINVAL)] {
        let context = TestContext::new(form);
        old_kernel(libc::ENOTTY, ib_uverbs_post_send_resp { bad_wr: 0 });
        let mut bad = ptr::null_mut();
        // SAFETY: all is as a provider passes it.
        let status = unsafe { ibv_cmd_post_send(&mut qp(&context), start, &mut bad) };
        assert_eq!(status, wanted);
        assert_eq!(bad, if wanted == 0 { ptr::null_mut() } else { start });
    }
}

#[test]
fn receives() {
    let context = TestContext::new(Form::Write);
    let mut sges = [ibv_sge::zeroed(); 2];
    let mut wr =
        ibv_recv_wr { wr_id: 5, next: ptr::null_mut(), sg_list: sges.as_mut_ptr(), num_sge: 2 };
    let mut bad = ptr::null_mut();
    old_kernel(libc::ENOTTY, ib_uverbs_post_recv_resp { bad_wr: 0 });
    // SAFETY: all is as a provider passes it.
    assert_eq!(unsafe { ibv_cmd_post_recv(&mut qp(&context), &mut wr, &mut bad) }, 0);
    assert_eq!(fake::calls(), ["write n=80 cmd=1d in=20 out=1"]);
    let (core, _) = request::<ib_uverbs_post_recv>();
    assert_eq!((core.qp_handle, core.wr_count), (7, 1));
    assert_eq!((core.sge_count, core.wqe_size), (2, 16));
    assert!(bad.is_null());

    let mut srq = ibv_srq::zeroed();
    (srq.context, srq.handle) = (context.get(), 9);
    let response = ib_uverbs_post_srq_recv_resp { bad_wr: 1 };
    failing_kernel(libc::ENOTTY, response, Some(libc::ENOMEM));
    // SAFETY: as above.
    let status = unsafe { ibv_cmd_post_srq_recv(&mut srq, &mut wr, &mut bad) };
    assert_eq!(failure(status), libc::ENOMEM);
    assert_eq!(fake::calls(), ["write n=80 cmd=24 in=20 out=1"]);
    assert_eq!(request::<ib_uverbs_post_srq_recv>().0.srq_handle, 9);
    assert_eq!(bad, &raw mut wr);
}
