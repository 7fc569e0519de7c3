//! Contexts: open devices.

use crate::sync::atomic::Ordering;
use core::cell::UnsafeCell;
use core::mem::offset_of;
use std::os::fd::IntoRawFd;

use crate::abi::*;
use crate::provider_api::context::{init, uninit};
use crate::provider_api::private_abi::NEWEST;
use crate::provider_api::{extended, set_ops};
use crate::sys::errno::Result;
use crate::sys::heap;
use crate::uapi::RDMA_DRIVER_UNKNOWN;
use crate::urxe::device::events::{self, Events};
use crate::urxe::device::interface;
use crate::urxe::device::ops;
use crate::urxe::device::port::{PORT, Port};
use crate::urxe::device::provider::Device;
use crate::urxe::device::{import, settings, watch};
use crate::urxe::explain;
use crate::urxe::host::{self, Host};
use crate::urxe::limits;

/// An open device.
#[repr(C)]
pub(crate) struct Context {
    verbs: UnsafeCell<verbs_context>,
    host: &'static Host,
    device: u32,
    guid: u64,
    /// Number of the network interface.
    interface: u32,
    port: Port,
    events: Events,
}

// SAFETY: the public part belongs to the library, which has a mutex for it; the rest is safe to
// share.
unsafe impl Sync for Context {}

impl Context {
    /// The context behind a C pointer.
    ///
    /// # Safety
    ///
    /// `context` must be an open context of this device.
    pub(crate) unsafe fn of<'a>(context: *mut ibv_context) -> &'a Context {
        // SAFETY: the caller's promise; the extended context comes first.
        unsafe { &*extended(context).cast::<Context>() }
    }

    /// The context behind a C pointer, if it is one of this device.
    ///
    /// # Safety
    ///
    /// `context` must be an open context.
    pub(crate) unsafe fn find<'a>(context: *mut ibv_context) -> Option<&'a Context> {
        // SAFETY: the caller's promise; the provider of its device says what it is.
        unsafe { Device::is_ours((*context).device).then(|| Self::of(context)) }
    }

    /// Opens a device.
    ///
    /// # Errors
    ///
    /// Those of [`host::host`], ENODEV if the network interface is gone, what pipes fail with.
    ///
    /// # Safety
    ///
    /// `public` must be the live `device`.
    pub(super) unsafe fn open(public: *mut ibv_device, device: &Device) -> Result<Box<Context>> {
        heap::enough()?;
        // First, so that no change is missed.
        let changes = watch::changes();
        let interface = device.interface()?;
        let index = interface.index;
        let changes = changes
            .inspect(|socket| watch::only(socket, index))
            .inspect_err(|errno| {
                let error = std::io::Error::from_raw_os_error(errno.0);
                explain!("urxe: no events of ports and GIDs: {error}");
            })
            .ok();
        let host = host::host()?;
        let description = import::descriptor(host, device.number())?;
        let (events, async_fd) = Events::new(host, changes)?;
        let context = Box::new(Context {
            verbs: UnsafeCell::new(verbs_context::zeroed()),
            host,
            device: device.number(),
            guid: device.guid(),
            interface: index,
            port: Port::new(interface, settings::link_layer(), device.number()),
            events,
        });
        // SAFETY: a zeroed context that nobody else has.
        unsafe {
            let new = context.public();
            init(new, NEWEST, public, -1, RDMA_DRIVER_UNKNOWN);
            set_ops(new, &ops::OPS);
            (*new).cmd_fd = description.into_raw_fd();
            (*new).async_fd = async_fd.into_raw_fd();
            (*new).num_comp_vectors = limits::COMP_VECTORS.cast_signed();
        }
        context.publish_addresses();
        Ok(context)
    }

    /// Tells peers the addresses of this device.
    fn publish_addresses(&self) {
        let Ok(header) = self.host.header() else { return };
        let Some(shared) = header.devices.get(self.device as usize) else { return };
        for (index, to) in (0..).zip([&shared.gid0, &shared.gid1]) {
            let gid = self.port.gid(index).map_or([0; 16], |entry| {
                // SAFETY: a GID is 16 bytes in each of its forms.
                unsafe { entry.gid.raw }
            });
            for (word, bytes) in to.iter().zip(gid.as_chunks().0) {
                word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
            }
        }
        shared.lid.store(u32::from(self.port.lid()), Ordering::Relaxed);
        header.device_count.fetch_max(self.device + 1, Ordering::Release);
        self.host.change_qps();
    }

    /// Takes note of what has happened to the network interface, which becomes asynchronous events:
    /// whether anything may have. Nothing in a child of the process that opened the device.
    pub(super) fn refresh(&self) -> bool {
        if !self.host.is_current() || !self.events.may_have_changed() {
            return false;
        }
        let Ok(all) = interface::all() else {
            // Later, then.
            self.events.look_again();
            return false;
        };
        let changes = self.port.update(all.iter().find(|it| it.index == self.interface));
        if changes.contains(&IBV_EVENT_GID_CHANGE) {
            self.publish_addresses();
        }
        for event in changes {
            events::send(self.host.own(), self.events.number(), event, u64::from(PORT));
        }
        true
    }

    /// Number of the network interface.
    #[cfg(test)]
    pub(super) fn interface(&self) -> u32 {
        self.interface
    }

    /// The pointer that programs have.
    pub(crate) fn public(&self) -> *mut ibv_context {
        self.verbs.get().wrapping_byte_add(offset_of!(verbs_context, context)).cast()
    }

    /// The memory of this process.
    pub(crate) fn host(&self) -> &'static Host {
        self.host
    }

    /// Number of the device: its place in the header of a slot.
    pub(crate) fn device(&self) -> u32 {
        self.device
    }

    /// GUID of the device in host byte order.
    pub(crate) fn guid(&self) -> u64 {
        self.guid
    }

    /// The port.
    pub(crate) fn port(&self) -> &Port {
        &self.port
    }

    /// The asynchronous events.
    pub(crate) fn events(&self) -> &Events {
        &self.events
    }
}

/// Whether a context is one of this device.
///
/// # Safety
///
/// `context` must be an open context.
pub(crate) unsafe fn is_ours(context: *mut ibv_context) -> bool {
    // SAFETY: the caller's promise.
    unsafe { Context::find(context) }.is_some()
}

/// The pointer that the library gets.
pub(super) fn into_raw(context: Box<Context>) -> *mut verbs_context {
    Box::into_raw(context).cast()
}

/// `ibv_close_device(3)`
pub(super) unsafe extern "C" fn free_context(context: *mut ibv_context) {
    // SAFETY: the caller passes an open context of this device for the last time.
    unsafe {
        let context = Box::from_raw(extended(context).cast::<Context>());
        events::remove(context.host, context.events.number());
        uninit(context.public());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::urxe::device::Opened;

    #[test]
    fn an_open_device_is_known_as_ours() {
        let opened = Opened::new();
        // SAFETY: a live context.
        unsafe {
            let context = Context::find(opened.get()).unwrap();
            assert_eq!(context.public(), opened.get());
            assert!(is_ours(opened.get()));
            assert_eq!(import::device_of((*opened.get()).cmd_fd), Some(Ok(context.device())));
            assert!((*opened.get()).async_fd >= 0);
            let header = context.host().header().unwrap();
            let shared = &header.devices[context.device() as usize];
            let gid = context.port().gid(0).unwrap().gid.raw;
            let words = shared.gid0.each_ref().map(|word| word.load(Ordering::Relaxed));
            assert_eq!(words.map(u64::to_ne_bytes).concat(), gid);
            assert!(header.device_count.load(Ordering::Relaxed) > context.device());
        }
    }

    #[test]
    fn every_context_has_events_of_its_own() {
        let (one, other) = (Opened::new(), Opened::new());
        // SAFETY: live contexts.
        let numbers = [&one, &other].map(|it| unsafe { Context::of(it.get()) }.events().number());
        assert_ne!(numbers[0], numbers[1]);
    }
}
