//! An open device, for tests and the fuzzer.

use super::Context;
use super::context::{free_context, into_raw};
use super::provider::{Device, alloc_device, find};
use crate::abi::*;
use crate::discovery::device_put;
use crate::verbs::event::{ibv_ack_async_event, ibv_get_async_event};

/// The first device of this machine, with a reference for the caller.
pub(super) fn first_device() -> *mut ibv_device {
    let record = find().swap_remove(0);
    // SAFETY: a live record, which the device owns from now on.
    unsafe {
        let device = alloc_device(record.as_ptr());
        (*device).sysfs = record.into_raw();
        device.cast()
    }
}

/// A context of the first device of this machine, for tests.
pub(crate) struct Opened {
    device: *mut ibv_device,
    context: *mut ibv_context,
}

impl Opened {
    pub(crate) fn new() -> Opened {
        let device = first_device();
        // SAFETY: a live device.
        let context = unsafe { Context::open(device, &*device.cast::<Device>()).unwrap() };
        let public = context.public();
        into_raw(context);
        Opened { device, context: public }
    }

    pub(crate) fn get(&self) -> *mut ibv_context {
        self.context
    }

    /// Another context of the device, which is never closed: for a child of the process, as it
    /// takes no lock that another thread of its parent may have had.
    pub(crate) fn anew(&self) -> *mut ibv_context {
        // SAFETY: a live device.
        let context = unsafe { Context::open(self.device, &*self.device.cast::<Device>()) };
        let context = context.unwrap();
        let public = context.public();
        into_raw(context);
        public
    }

    /// The asynchronous events that have come, all acknowledged.
    pub(crate) fn events(&self) -> Vec<ibv_event_type> {
        // SAFETY: a live context and its descriptor.
        unsafe {
            let fd = (*self.context).async_fd;
            let flags = libc::fcntl(fd, libc::F_GETFL);
            libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK);
            let next = || {
                let mut event = ibv_async_event::zeroed();
                let status = ibv_get_async_event(self.context, &mut event);
                (status == 0).then(|| ibv_ack_async_event(&mut event)).map(|()| event.event_type)
            };
            let all = core::iter::from_fn(next).collect();
            libc::fcntl(fd, libc::F_SETFL, flags);
            all
        }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: the context and the reference to the device are ours.
        unsafe {
            free_context(self.context);
            device_put(self.device.cast());
        }
    }
}
