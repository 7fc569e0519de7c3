//! Completion channels: descriptors on which completion events of CQs arrive.

use core::ffi::{c_int, c_void};

use crate::abi::export::export;
use crate::abi::*;
use crate::cmd::{Buffers, Kernel};
use crate::compat::real_context;
use crate::provider_api::call_op;
use crate::sys::errno::{
    Result, ReturnMinusOne, ReturnNumber, ReturnPointer, from_null, keep_errno,
};
use crate::uapi::*;
use crate::urxe::device::events::{close_channel, create_channel, next_completion};
use crate::verbs::event::{acknowledge, read_event};
use crate::verbs::refuse;

/// Creates a completion channel; NULL with `errno` on failure. `ibv_create_comp_channel(3)`
pub(crate) unsafe extern "C" fn ibv_create_comp_channel(
    context: *mut ibv_context,
) -> *mut ibv_comp_channel {
    // Programs of both interfaces call this, each with its own context.
    // SAFETY: the caller passes a context.
    unsafe { create(real_context(context)) }.or_null()
}
export!(ibv_create_comp_channel @@ "IBVERBS_1.0");

unsafe fn create(context: *mut ibv_context) -> Result<*mut ibv_comp_channel> {
    // SAFETY: the caller's promise.
    if let Some(channel) = unsafe { create_channel(context) } {
        return channel;
    }
    // SAFETY: malloc has no preconditions.
    let channel = from_null(unsafe { libc::malloc(size_of::<ibv_comp_channel>()) })?
        .cast::<ibv_comp_channel>();
    // SAFETY: the caller's promise.
    let kernel = unsafe { Kernel::of(context) };
    match kernel.write(ib_uverbs_create_comp_channel::zeroed(), Buffers::NONE) {
        Ok(response) => {
            let new = ibv_comp_channel { context, fd: response.fd.cast_signed(), refcnt: 0 };
            // SAFETY: the memory is ours and large enough.
            unsafe { channel.write(new) };
            Ok(channel)
        }
        Err(errno) => {
            // SAFETY: the memory is ours.
            unsafe { libc::free(channel.cast()) };
            Err(errno)
        }
    }
}

/// Destroys a completion channel. Returns 0, or EBUSY while a CQ sends its events there.
/// `ibv_destroy_comp_channel(3)`
pub(crate) unsafe extern "C" fn ibv_destroy_comp_channel(channel: *mut ibv_comp_channel) -> c_int {
    // SAFETY: the caller passes a channel and uses it no more.
    unsafe { destroy(channel) }.or_number()
}
export!(ibv_destroy_comp_channel @@ "IBVERBS_1.0");

unsafe fn destroy(channel: *mut ibv_comp_channel) -> Result<()> {
    // SAFETY: the caller's promise. The descriptor and the memory are the library's.
    unsafe {
        let cqs = count_cqs(channel, |count| count);
        if cqs != 0 {
            return refuse!(EBUSY, "ibv_destroy_comp_channel: {cqs} CQs still use the channel");
        }
        close_channel(channel);
        keep_errno(|| libc::close((*channel).fd));
        libc::free(channel.cast());
    }
    Ok(())
}

/// Changes the number of CQs on a channel and returns the new one.
///
/// # Safety
///
/// `channel` must be a channel.
pub(super) unsafe fn count_cqs(
    channel: *mut ibv_comp_channel,
    change: impl FnOnce(c_int) -> c_int,
) -> c_int {
    // SAFETY: the caller's promise; the context outlives the channel.
    unsafe {
        let mutex = &raw mut (*(*channel).context).mutex;
        libc::pthread_mutex_lock(mutex);
        (*channel).refcnt = change((*channel).refcnt);
        let count = (*channel).refcnt;
        libc::pthread_mutex_unlock(mutex);
        count
    }
}

/// Waits for the next event and stores whose it is: the CQ and its `cq_context`. Each event must be
/// acknowledged. Returns 0, or -1 with `errno`: EAGAIN without an event on a descriptor that does
/// not block, EINTR after a signal. `ibv_get_cq_event(3)`
pub(crate) unsafe extern "C" fn ibv_get_cq_event(
    channel: *mut ibv_comp_channel,
    cq: *mut *mut ibv_cq,
    cq_context: *mut *mut c_void,
) -> c_int {
    // SAFETY: the caller passes a channel and room for the results.
    unsafe { get_event(channel, cq, cq_context) }.or_minus_one()
}
export!(ibv_get_cq_event @@ "IBVERBS_1.1");

unsafe fn get_event(
    channel: *mut ibv_comp_channel,
    cq: *mut *mut ibv_cq,
    cq_context: *mut *mut c_void,
) -> Result<()> {
    // SAFETY: the caller's promise. The kernel hands back the address of the CQ that it was given
    // when the CQ was created, and the CQ is not freed before its events are acknowledged.
    unsafe {
        let address: *mut ibv_cq = match next_completion(channel) {
            Some(cq) => cq?,
            None => {
                let event: ib_uverbs_comp_event_desc = read_event((*channel).fd)?;
                core::ptr::with_exposed_provenance_mut(event.cq_handle as usize)
            }
        };
        *cq = address;
        *cq_context = (*address).cq_context;
        call_op!((*address).context, cq_event(address));
    }
    Ok(())
}

/// Acknowledges events of a CQ. `ibv_ack_cq_events(3)`
pub(crate) unsafe extern "C" fn ibv_ack_cq_events(cq: *mut ibv_cq, count: u32) {
    // SAFETY: the caller passes a CQ.
    unsafe {
        acknowledge(
            &raw mut (*cq).mutex,
            &raw mut (*cq).cond,
            &raw mut (*cq).comp_events_completed,
            count,
        );
    }
}
export!(ibv_ack_cq_events @@ "IBVERBS_1.1");

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::{AsRawFd, IntoRawFd};

    use super::*;
    use crate::cmd::fake::{self, Form, Reply, TestContext};
    use crate::sys::errno::Errno;
    use crate::verbs::testing::{Call, Fake, new_cq, words};

    #[test]
    fn the_kernel_opens_the_descriptor() {
        let context = TestContext::new(Form::Write);
        let (reader, _writer) = std::io::pipe().unwrap();
        let fd = reader.into_raw_fd();
        fake::answer(move |call| {
            if let fake::Call::Write(write) = call {
                write.respond(&ib_uverbs_create_comp_channel_resp { fd: fd.cast_unsigned() });
            }
            Reply::Done
        });
        // SAFETY: a live context.
        let channel = unsafe { ibv_create_comp_channel(context.get()) };
        // SAFETY: the channel was created.
        unsafe {
            assert_eq!(((*channel).context, (*channel).fd), (context.get(), fd));
            assert_eq!((*channel).refcnt, 0);
            assert_eq!(ibv_destroy_comp_channel(channel), 0);
        }
        assert_eq!(fake::calls(), ["write n=16 cmd=11 in=4 out=1"]);
        // SAFETY: any number may be asked for.
        assert_eq!(unsafe { libc::fcntl(fd, libc::F_GETFD) }, -1);
    }

    #[test]
    fn a_failed_command_gives_no_channel() {
        let context = TestContext::new(Form::Write);
        fake::answer(|_| Reply::Fail(libc::EMFILE));
        // SAFETY: a live context.
        assert!(unsafe { ibv_create_comp_channel(context.get()) }.is_null());
        assert_eq!(Errno::last(), Errno(libc::EMFILE));
    }

    /// A channel as `ibv_create_comp_channel` makes it, on another descriptor.
    fn channel_on(fake: &Fake, fd: c_int) -> *mut ibv_comp_channel {
        // SAFETY: malloc has no preconditions; the memory is large enough.
        unsafe {
            let channel = libc::malloc(size_of::<ibv_comp_channel>()).cast::<ibv_comp_channel>();
            channel.write(ibv_comp_channel { context: fake.context(), fd, refcnt: 0 });
            channel
        }
    }

    #[test]
    fn a_channel_with_cqs_is_busy() {
        let fake = Fake::new();
        let (reader, writer) = std::io::pipe().unwrap();
        let fd = reader.into_raw_fd();
        let channel = channel_on(&fake, fd);
        // SAFETY: a live channel.
        unsafe {
            assert_eq!(count_cqs(channel, |count| count + 2), 2);
            assert_eq!(ibv_destroy_comp_channel(channel), libc::EBUSY);
            assert_eq!(Errno::last(), Errno::EBUSY);
            assert!(libc::fcntl(fd, libc::F_GETFD) >= 0);
            assert_eq!(count_cqs(channel, |count| count - 2), 0);
            assert_eq!(ibv_destroy_comp_channel(channel), 0);
        }
        // The reader is closed: nobody is left to read from the pipe.
        let error = (&writer).write(b"x").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EPIPE));
    }

    #[test]
    fn an_event_names_its_cq() {
        let fake = Fake::new();
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut channel =
            ibv_comp_channel { context: fake.context(), fd: reader.as_raw_fd(), refcnt: 0 };
        let mut cq = new_cq(&fake);
        cq.cq_context = core::ptr::without_provenance_mut(0x99);
        let address = (&raw mut *cq).expose_provenance() as u64;
        writer.write_all(&address.to_ne_bytes()).unwrap();
        let (mut got, mut got_context) = (core::ptr::null_mut(), core::ptr::null_mut());
        // SAFETY: live objects.
        let status = unsafe { ibv_get_cq_event(&mut channel, &mut got, &mut got_context) };
        assert_eq!(status, 0);
        assert_eq!((got, got_context), (&raw mut *cq, cq.cq_context));
        assert_eq!(cq.comp_events_completed, 0);
        assert_eq!(fake.calls(), [Call("cq_event", words![&raw const *cq])]);
    }

    #[test]
    fn half_an_event_is_an_error() {
        let fake = Fake::new();
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut channel =
            ibv_comp_channel { context: fake.context(), fd: reader.as_raw_fd(), refcnt: 0 };
        let (mut cq, mut cq_context) = (core::ptr::null_mut(), core::ptr::null_mut());
        writer.write_all(&[1, 2, 3]).unwrap();
        drop(writer);
        for _ in 0..2 {
            // SAFETY: live objects.
            let status = unsafe { ibv_get_cq_event(&mut channel, &mut cq, &mut cq_context) };
            assert_eq!((status, Errno::last()), (-1, Errno::EIO));
        }
        channel.fd = -1;
        // SAFETY: live objects.
        let status = unsafe { ibv_get_cq_event(&mut channel, &mut cq, &mut cq_context) };
        assert_eq!((status, Errno::last()), (-1, Errno(libc::EBADF)));
        assert!(cq.is_null() && fake.calls().is_empty());
    }

    #[test]
    fn acknowledged_events_are_counted_and_wrap() {
        let fake = Fake::new();
        let mut cq = new_cq(&fake);
        // SAFETY: a live CQ.
        unsafe {
            ibv_ack_cq_events(&mut *cq, 3);
            ibv_ack_cq_events(&mut *cq, 0);
            assert_eq!(cq.comp_events_completed, 3);
            ibv_ack_cq_events(&mut *cq, u32::MAX);
            assert_eq!(cq.comp_events_completed, 2);
        }
        assert_eq!(cq.async_events_completed, 0);
    }

    #[test]
    fn an_acknowledgement_wakes_who_waits_for_it() {
        let fake = Fake::new();
        let mut cq = new_cq(&fake);
        let address = (&raw mut *cq).expose_provenance();
        let waiter = std::thread::spawn(move || {
            let cq: *mut ibv_cq = core::ptr::with_exposed_provenance_mut(address);
            // SAFETY: the CQ lives until the thread is joined.
            unsafe {
                libc::pthread_mutex_lock(&raw mut (*cq).mutex);
                while (*cq).comp_events_completed != 1 {
                    libc::pthread_cond_wait(&raw mut (*cq).cond, &raw mut (*cq).mutex);
                }
                libc::pthread_mutex_unlock(&raw mut (*cq).mutex);
            }
        });
        // SAFETY: a live CQ.
        unsafe { ibv_ack_cq_events(core::ptr::with_exposed_provenance_mut(address), 1) };
        waiter.join().unwrap();
    }
}
