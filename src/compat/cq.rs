//! Completion queues and their events.

use core::ffi::{c_int, c_void};
use core::ptr;

use crate::abi::export::export;
use crate::abi::*;
use crate::compat::{Wrapper, free_if_done};
use crate::sys::errno::{Result, ReturnPointer, from_null};
use crate::verbs;

/// Creates a CQ; NULL with `errno` on failure. `ibv_create_cq(3)`
unsafe extern "C" fn create_cq(
    context: *mut ibv_context_1_0,
    cqe: c_int,
    cq_context: *mut c_void,
    channel: *mut ibv_comp_channel,
    comp_vector: c_int,
) -> *mut ibv_cq_1_0 {
    // SAFETY: the caller passes a context, and NULL or a channel of it.
    unsafe { new_cq(context, cqe, cq_context, channel, comp_vector) }.or_null()
}
export!(ibv_create_cq @ "IBVERBS_1.0" as create_cq);

unsafe fn new_cq(
    context: *mut ibv_context_1_0,
    cqe: c_int,
    cq_context: *mut c_void,
    channel: *mut ibv_comp_channel,
    comp_vector: c_int,
) -> Result<*mut ibv_cq_1_0> {
    let mut cq = Wrapper::<ibv_cq_1_0>::new()?;
    // Before an event can name the CQ.
    cq.context = context;
    cq.cq_context = cq_context;
    let wrapper = cq.as_ptr();
    // SAFETY: the caller passes a context, and NULL or a channel of it; the new CQ is live.
    unsafe {
        let real = from_null(verbs::cq::ibv_create_cq(
            (*context).real_context,
            cqe,
            wrapper.cast(),
            channel,
            comp_vector,
        ))?;
        cq.handle = (*real).handle;
        cq.cqe = (*real).cqe;
        cq.real_cq = real;
    }
    Ok(cq.hand_out())
}

/// Changes the capacity of a CQ. Returns 0 or an error number. `ibv_resize_cq(3)`
unsafe extern "C" fn resize_cq(cq: *mut ibv_cq_1_0, cqe: c_int) -> c_int {
    // SAFETY: the caller passes a CQ.
    unsafe {
        let real = (*cq).real_cq;
        let status = verbs::cq::ibv_resize_cq(real, cqe);
        (*cq).cqe = (*real).cqe;
        status
    }
}
export!(ibv_resize_cq @ "IBVERBS_1.0" as resize_cq);

/// Destroys a CQ. Returns 0 or an error number. `ibv_destroy_cq(3)`
unsafe extern "C" fn destroy_cq(cq: *mut ibv_cq_1_0) -> c_int {
    // SAFETY: the caller passes a CQ and uses it no more.
    unsafe { free_if_done(cq, verbs::cq::ibv_destroy_cq((*cq).real_cq)) }
}
export!(ibv_destroy_cq @ "IBVERBS_1.0" as destroy_cq);

/// Waits for the next completion event and stores its CQ and that CQ's `cq_context`. Returns 0, or
/// -1 with `errno`. `ibv_get_cq_event(3)`
unsafe extern "C" fn get_cq_event(
    channel: *mut ibv_comp_channel,
    cq: *mut *mut ibv_cq_1_0,
    cq_context: *mut *mut c_void,
) -> c_int {
    let mut real = ptr::null_mut();
    let mut wrapper = ptr::null_mut();
    // SAFETY: the caller passes a channel and room for the results. The user context of a real CQ
    // is its wrapper.
    unsafe {
        let status =
            verbs::comp_channel::ibv_get_cq_event(channel, &raw mut real, &raw mut wrapper);
        if status == 0 {
            let wrapper = wrapper.cast::<ibv_cq_1_0>();
            *cq = wrapper;
            *cq_context = (*wrapper).cq_context;
        }
        status
    }
}
export!(ibv_get_cq_event @ "IBVERBS_1.0" as get_cq_event);

/// Acknowledges events of a CQ. `ibv_ack_cq_events(3)`
unsafe extern "C" fn ack_cq_events(cq: *mut ibv_cq_1_0, count: u32) {
    // SAFETY: the caller passes a CQ.
    unsafe { verbs::comp_channel::ibv_ack_cq_events((*cq).real_cq, count) }
}
export!(ibv_ack_cq_events @ "IBVERBS_1.0" as ack_cq_events);

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsRawFd;

    use super::*;
    use crate::cmd::fake::{self as kernel, Form, TestContext};
    use crate::compat::testing::Old;
    use crate::compat::{context, device};
    use crate::sys::errno::Errno;
    use crate::uapi::*;
    use crate::verbs::testing::{Call, Fake, new_cq, words};

    /// The context that a program gives its CQ.
    const CONTEXT: *mut c_void = ptr::without_provenance_mut(0x1234);

    #[test]
    fn a_cq_wraps_the_real_one_whose_context_it_is() {
        let fake = Fake::new();
        let old = Old::new(&fake);
        let mut real = new_cq(&fake);
        (real.handle, real.cqe) = (3, 127);
        fake.answer_object(&mut *real);
        // SAFETY: an open context; the CQ is used until it is destroyed.
        unsafe {
            let cq = create_cq(old.context(), 100, CONTEXT, ptr::null_mut(), 2);
            assert_eq!(((*cq).context, (*cq).cq_context), (old.context(), CONTEXT));
            assert_eq!(((*cq).handle, (*cq).cqe, (*cq).real_cq), (3, 127, &raw mut *real));
            assert_eq!(real.cq_context, cq.cast());
            let create = Call("create_cq", words![fake.context(), 100, 0, 2]);
            assert_eq!(fake.calls(), [create]);

            fake.answer(libc::EBUSY);
            assert_eq!(destroy_cq(cq), libc::EBUSY);
            assert_eq!((*cq).real_cq, &raw mut *real);
            fake.answer(0);
            real.cqe = 255;
            assert_eq!((resize_cq(cq, 200), (*cq).cqe), (0, 255));
            assert_eq!(destroy_cq(cq), 0);
            assert_eq!(fake.called(), ["destroy_cq", "resize_cq", "destroy_cq"]);

            fake.answer(libc::ENOMEM);
            assert!(create_cq(old.context(), 1, CONTEXT, ptr::null_mut(), 0).is_null());
        }
        assert_eq!(Errno::last(), Errno::ENOMEM);
    }

    #[test]
    fn completion_events_name_the_wrapper() {
        let fake = Fake::new();
        let old = Old::new(&fake);
        let mut real = new_cq(&fake);
        fake.answer_object(&mut *real);
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut channel =
            ibv_comp_channel { context: fake.context(), fd: reader.as_raw_fd(), refcnt: 0 };
        // SAFETY: an open context and its channel; the CQ is used until it is destroyed.
        unsafe {
            let cq = create_cq(old.context(), 1, CONTEXT, &mut channel, 0);
            assert_eq!((channel.refcnt, real.channel), (1, &raw mut channel));
            let address = (&raw mut *real).expose_provenance() as u64;
            writer.write_all(&address.to_ne_bytes()).unwrap();
            let (mut event_cq, mut event_context) = (ptr::null_mut(), ptr::null_mut());
            assert_eq!(get_cq_event(&mut channel, &mut event_cq, &mut event_context), 0);
            assert_eq!((event_cq, event_context), (cq, CONTEXT));
            ack_cq_events(cq, 3);
            assert_eq!((real.comp_events_completed, real.async_events_completed), (3, 0));
            fake.answer(0);
            assert_eq!(destroy_cq(cq), 0);
        }
        assert_eq!(channel.refcnt, 0);
    }

    #[test]
    fn a_channel_can_be_created_through_the_old_context() {
        let real = TestContext::new(Form::Write);
        let mut device = ibv_device::zeroed();
        let device = device::new_device(&mut device).unwrap();
        kernel::answer(|call| {
            if let kernel::Call::Write(write) = call {
                write.respond(&ib_uverbs_create_comp_channel_resp { fd: u32::MAX });
            }
            kernel::Reply::Done
        });
        // SAFETY: a live device and a live real context, which is not closed with the old one.
        unsafe {
            let old = context::open(device, |_| real.get()).unwrap();
            let channel = verbs::comp_channel::ibv_create_comp_channel(old.cast());
            assert_eq!(((*channel).context, (*channel).fd), (real.get(), -1));
            libc::free(channel.cast());
            assert_eq!(context::close(old, |_| 0), 0);
            device::put(device);
        }
        assert_eq!(kernel::calls(), ["write n=16 cmd=11 in=4 out=1"]);
    }

    #[test]
    fn a_channel_without_event_leaves_the_results_alone() {
        let fake = Fake::new();
        let mut channel = ibv_comp_channel { context: fake.context(), fd: -1, refcnt: 0 };
        let (mut cq, mut context) = (ptr::dangling_mut(), CONTEXT);
        // SAFETY: a channel and room for the results.
        let status = unsafe { get_cq_event(&mut channel, &mut cq, &mut context) };
        assert_eq!((status, Errno::last()), (-1, Errno(libc::EBADF)));
        assert_eq!((cq, context), (ptr::dangling_mut(), CONTEXT));
    }
}
