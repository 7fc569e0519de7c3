//! An open device, for tests and the fuzzer.

use super::context::{free_context, into_raw};
use super::provider::{Device, alloc_device, find};
use super::{Context, events};
use crate::abi::*;
use crate::discovery::device_put;

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

    /// The asynchronous events that have come, none of which is to be acknowledged.
    pub(crate) fn events(&self) -> Vec<ibv_event_type> {
        // SAFETY: a live context and its descriptor.
        unsafe {
            let fd = (*self.context).async_fd;
            let flags = libc::fcntl(fd, libc::F_GETFL);
            libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK);
            let next = || events::next(self.context).unwrap();
            let all = core::iter::from_fn(|| next().ok()).map(|event| event.event_type);
            let all = all.collect();
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
