//! Destroying, resizing, notification, moderation.

use crate::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::*;

/// A CQ that can be destroyed.
fn set_up(context: &TestContext, handle: u32) -> Box<ibv_cq> {
    let mut cq = Box::new(ibv_cq::zeroed());
    cq.context = context.get();
    cq.handle = handle;
    // SAFETY: the CQ is ours alone.
    unsafe {
        libc::pthread_mutex_init(&mut cq.mutex, ptr::null());
        libc::pthread_cond_init(&mut cq.cond, ptr::null());
    }
    cq
}

fn destroy(cq: &mut ibv_cq) -> c_int {
    // SAFETY: the CQ is set up.
    unsafe { ibv_cmd_destroy_cq(cq) }
}

#[test]
fn destroyed_in_each_form() {
    let context = TestContext::new(Form::Write);
    let mut cq = set_up(&context, 7);
    (cq.comp_events_completed, cq.async_events_completed) = (2, 1);
    let reported = ib_uverbs_destroy_cq_resp { comp_events_reported: 2, async_events_reported: 1 };
    fake::answer(move |call| {
        let Call::Ioctl(ioctl) = call else { panic!("no write command") };
        assert_eq!(ioctl.data(UVERBS_ATTR_DESTROY_CQ_HANDLE), Some(7));
        ioctl.output(UVERBS_ATTR_DESTROY_CQ_RESP, &reported);
        Reply::Done
    });
    assert_eq!(destroy(&mut cq), 0);
    assert_eq!(fake::calls(), ["ioctl 3.1: 1(len8) 0(len0)"]);

    for (form, line) in [
        (Form::Write, "write n=24 cmd=14 in=6 out=2"),
        (Form::InvokeWrite, "ioctl 0.0: 2(len8)=cmd 14 0(len16) 1(len8)"),
    ] {
        let context = TestContext::new(form);
        let mut cq = set_up(&context, 9);
        (cq.comp_events_completed, cq.async_events_completed) = (2, 1);
        old_kernel(libc::EPROTONOSUPPORT, reported);
        assert_eq!(destroy(&mut cq), 0);
        assert_eq!(fake::calls(), ["ioctl 3.1: 1(len8) 0(len0)", line]);
        assert_eq!(request::<ib_uverbs_destroy_cq>().0.cq_handle, 9);
    }
}

#[test]
fn destroying_waits_for_both_kinds_of_events() {
    let context = TestContext::new(Form::Write);
    let mut cq = set_up(&context, 7);
    cq.comp_events_completed = u32::MAX;
    // The counter of the kernel has wrapped: three completion events are still missing.
    fake::answer(|call| {
        if let Call::Ioctl(ioctl) = call {
            let reported =
                ib_uverbs_destroy_cq_resp { comp_events_reported: 2, async_events_reported: 1 };
            ioctl.output(UVERBS_ATTR_DESTROY_CQ_RESP, &reported);
        }
        Reply::Done
    });
    let complete = Arc::new(AtomicBool::new(false));
    let address = (&raw mut *cq).expose_provenance();
    let acknowledge = {
        let complete = complete.clone();
        move || {
            let cq = ptr::with_exposed_provenance_mut::<ibv_cq>(address);
            for round in 0..4 {
                thread::sleep(Duration::from_millis(10));
                // SAFETY: the CQ outlives the thread; the counters change with the mutex held.
                unsafe {
                    libc::pthread_mutex_lock(&raw mut (*cq).mutex);
                    if round == 1 {
                        (*cq).async_events_completed += 1;
                    } else {
                        (*cq).comp_events_completed = (*cq).comp_events_completed.wrapping_add(1);
                    }
                    complete.store(round == 3, Ordering::SeqCst);
                    libc::pthread_cond_signal(&raw mut (*cq).cond);
                    libc::pthread_mutex_unlock(&raw mut (*cq).mutex);
                }
            }
        }
    };
    let program = thread::spawn(acknowledge);
    // SAFETY: the CQ is set up.
    let status = unsafe { ibv_cmd_destroy_cq(ptr::with_exposed_provenance_mut(address)) };
    assert_eq!(status, 0);
    assert!(complete.load(Ordering::SeqCst), "destroyed before all events were acknowledged");
    program.join().unwrap();
}

#[test]
fn destroying_on_a_device_that_is_gone() {
    let context = TestContext::new(Form::Write);
    let mut cq = set_up(&context, 7);
    // Events that nobody will acknowledge: a wait would not end.
    cq.comp_events_completed = 5;
    fake::answer(|_| Reply::Fail(libc::EIO));
    fake::set_allow_disassociate_destroy(false);
    assert_eq!(failure(destroy(&mut cq)), libc::EIO);
    fake::set_allow_disassociate_destroy(true);
    assert_eq!(destroy(&mut cq), 0);
    fake::answer(|_| Reply::Fail(libc::EBUSY));
    assert_eq!(failure(destroy(&mut cq)), libc::EBUSY);
    failing_kernel(libc::ENOTTY, ib_uverbs_destroy_cq_resp::zeroed(), Some(libc::EIO));
    assert_eq!(destroy(&mut cq), 0);
}

#[test]
fn resized() {
    for (form, line) in [
        (Form::Write, "write n=32 cmd=13 in=8 out=4"),
        (Form::InvokeWrite, "ioctl 0.0: 2(len8)=cmd 13 0(len16) 1(len8) 4096(len8) 4097(len8)"),
    ] {
        let context = TestContext::new(form);
        let mut cq = set_up(&context, 7);
        cq.cqe = 1;
        let resize = |cq: &mut ibv_cq| {
            let mut cmd = WithBytes::<ibv_resize_cq, 1>::new([0xfeed]);
            let mut resp = WithBytes::<ib_uverbs_resize_cq_resp, 1>::new([0]);
            let (cmd_size, resp_size) = (cmd.size(), resp.size());
            // SAFETY: all is as a provider passes it.
            let status =
                unsafe { ibv_cmd_resize_cq(cq, 500, cmd.core(), cmd_size, resp.core(), resp_size) };
            (status, resp.core.cqe)
        };
        let resized = ib_uverbs_resize_cq_resp { cqe: 511, reserved: 0, driver_data: [] };
        old_kernel(libc::ENOTTY, resized);
        assert_eq!(resize(&mut cq), (0, 511));
        assert_eq!(fake::calls(), [line]);
        let (core, provider) = request::<ib_uverbs_resize_cq>();
        assert_eq!((core.cq_handle, core.cqe), (7, 500));
        assert_eq!(provider, bytes_of_words(&[0xfeed]));
        assert_eq!(cq.cqe, 511);

        failing_kernel(libc::ENOTTY, resized, Some(libc::EINVAL));
        cq.cqe = 1;
        assert_eq!(failure(resize(&mut cq).0), libc::EINVAL);
        assert_eq!(cq.cqe, 1);
    }
}

#[test]
fn notification_is_asked_for() {
    let context = TestContext::new(Form::Write);
    let mut cq = set_up(&context, 7);
    for (solicited_only, wanted) in [(0, 0), (1, 1), (-5, 1)] {
        old_kernel(libc::ENOTTY, empty {});
        // SAFETY: the CQ is set up.
        assert_eq!(unsafe { ibv_cmd_req_notify_cq(&mut *cq, solicited_only) }, 0);
        assert_eq!(fake::calls(), ["write n=16 cmd=17 in=4 out=0"]);
        let (core, _) = request::<ib_uverbs_req_notify_cq>();
        assert_eq!((core.cq_handle, core.solicited_only), (7, wanted));
    }
}

#[test]
fn moderation() {
    let context = TestContext::new(Form::Write);
    let mut cq = set_up(&context, 7);
    let mut modify = |mask| {
        let mut attr = ibv_modify_cq_attr {
            attr_mask: mask,
            moderate: ibv_moderate_cq { cq_count: 11, cq_period: 12 },
        };
        let mut cmd = WithBytes::<ibv_modify_cq, 0>::new([]);
        let cmd_size = cmd.size();
        // SAFETY: all is as a provider passes it.
        unsafe { ibv_cmd_modify_cq(&mut *cq, &mut attr, cmd.core(), cmd_size) }
    };
    for (mask, count, period) in [(IBV_CQ_ATTR_MODERATE, 11, 12), (0, 0, 0)] {
        old_kernel(libc::ENOTTY, empty {});
        assert_eq!(modify(mask), 0);
        assert_eq!(fake::calls(), ["write n=40 cmd=80000039 in=2 out=0 pin=0 pout=0"]);
        let (core, _) = request::<ib_uverbs_ex_modify_cq>();
        assert_eq!((core.cq_handle, core.attr_mask, core.reserved), (7, mask, 0));
        assert_eq!((core.attr.cq_count, core.attr.cq_period), (count, period));
    }
    for mask in [2, 3, u32::MAX] {
        assert_eq!(failure(modify(mask)), libc::EINVAL);
    }
    assert_eq!(fake::calls().len(), 0);
}
