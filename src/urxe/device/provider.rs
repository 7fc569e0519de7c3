//! The provider: what a plugin would register, and the devices that it finds.

use core::ffi::c_int;
use core::ptr;
use std::ffi::c_void;

use crate::abi::*;
use crate::discovery::{self, Record};
use crate::log::log;
use crate::plugin::BuiltIn;
use crate::sys::errno::{Errno, Result, ReturnPointer};
use crate::urxe::device::context::{self, Context};
use crate::urxe::device::interface::{self, Interface};
use crate::urxe::device::settings;
use crate::urxe::limits;

/// What asks for the device in `IBV_DRIVERS`, and the first part of the names of devices.
const NAME: &str = "urxe";

/// The provider for the list of those inside the library.
pub(crate) const BUILT_IN: BuiltIn = BuiltIn { name: NAME, ops: || &raw const OPS.0, find };

struct Ops(verbs_device_ops);

// SAFETY: constant data.
unsafe impl Sync for Ops {}

static OPS: Ops = Ops(verbs_device_ops {
    name: c"urxe".as_ptr(),
    match_device: Some(match_device),
    alloc_context: Some(alloc_context),
    alloc_device: Some(alloc_device),
    uninit_device: Some(uninit_device),
    match_min_abi_version: 0,
    match_max_abi_version: 0,
    match_table: ptr::null(),
    static_providers: ptr::null_mut(),
    import_context: Some(import_context),
});

/// A device.
#[repr(C)]
pub(super) struct Device {
    device: verbs_device,
    /// Its number in the name.
    number: u32,
    /// Number of the network interface.
    interface: u32,
    /// GUID in host byte order.
    guid: u64,
}

impl Device {
    /// Whether a device is one of this provider.
    ///
    /// # Safety
    ///
    /// `device` must be NULL or a live device.
    pub(super) unsafe fn is_ours(device: *const ibv_device) -> bool {
        // SAFETY: the caller's promise.
        let device = unsafe { device.cast::<verbs_device>().as_ref() };
        device.is_some_and(|device| ptr::eq(device.ops, &raw const OPS.0))
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    pub(super) fn guid(&self) -> u64 {
        self.guid
    }

    /// The network interface as it is now.
    ///
    /// # Errors
    ///
    /// ENODEV if it is gone.
    pub(super) fn interface(&self) -> Result<Interface> {
        let all = interface::all()?;
        all.into_iter().find(|it| it.index == self.interface).ok_or(Errno::ENODEV)
    }
}

/// Records of the devices that there are now.
pub(super) fn find() -> Vec<Record> {
    let all = match interface::all() {
        Ok(all) => all,
        Err(errno) => {
            let error = std::io::Error::from_raw_os_error(errno.0);
            log!(VERBS_LOG_ERR, "urxe: cannot list the network interfaces: {error}");
            return Vec::new();
        }
    };
    let named = settings::netdev();
    for name in named.iter().flatten() {
        if !all.iter().any(|interface| interface.name == *name) {
            log!(VERBS_LOG_ERR, "urxe: URXE_NETDEV names {name}, and there is no such interface");
        }
    }
    let chosen = interface::choose(all, named.as_deref());
    let numbered = (0..).zip(chosen.iter()).take(limits::DEVICES);
    numbered.filter_map(|(number, interface)| record(number, interface).ok()).collect()
}

/// The record of a device. The number of the interface tells devices of one name apart.
fn record(number: u32, interface: &Interface) -> Result<Record> {
    let name = format!("{NAME}{number}");
    let mut record = Record::new(discovery::sysfs_path(), name.as_bytes())?;
    let fields = record.get_mut();
    fields.node_type = IBV_NODE_CA;
    fields.node_guid = interface.eui64();
    fields.flags |= VSYSFS_READ_NODE_GUID;
    fields.num_ports = u32::from(limits::PORTS);
    fields.time_created.tv_sec = interface.index.into();
    Ok(record)
}

/// The number in the name of a record of ours.
fn number_of(record: &verbs_sysfs_dev) -> Option<u32> {
    if !discovery::text(&record.sysfs_name).is_empty() {
        return None;
    }
    discovery::text(&record.ibdev_name).to_str().ok()?.strip_prefix(NAME)?.parse().ok()
}

unsafe extern "C" fn match_device(record: *mut verbs_sysfs_dev) -> bool {
    // SAFETY: the library passes a record.
    number_of(unsafe { &*record }).is_some()
}

pub(super) unsafe extern "C" fn alloc_device(record: *mut verbs_sysfs_dev) -> *mut verbs_device {
    // SAFETY: the library passes a record.
    let record = unsafe { &*record };
    let device = number_of(record).map(|number| Device {
        device: verbs_device {
            device: ibv_device::zeroed(),
            ops: &raw const OPS.0,
            refcount: 1.into(),
            entry: list_node::zeroed(),
            sysfs: ptr::null_mut(),
            core_support: 0,
        },
        number,
        interface: u32::try_from(record.time_created.tv_sec).unwrap_or(0),
        guid: record.node_guid,
    });
    device.map(|device| Box::into_raw(Box::new(device)).cast()).ok_or(Errno::ENODEV).or_null()
}

unsafe extern "C" fn uninit_device(device: *mut verbs_device) {
    // SAFETY: made as a box by `alloc_device`; the library uses it no more.
    drop(unsafe { Box::from_raw(device.cast::<Device>()) });
}

/// Whether a device is that of this provider with a number.
///
/// # Safety
///
/// `device` must be a live device.
pub(crate) unsafe fn is_device(device: *const ibv_device, number: u32) -> bool {
    // SAFETY: the caller's promise.
    unsafe { Device::is_ours(device) && (*device.cast::<Device>()).number == number }
}

unsafe extern "C" fn import_context(device: *mut ibv_device, cmd_fd: c_int) -> *mut verbs_context {
    // SAFETY: the library passes a device of ours. The descriptor is the context's from now on, in
    // the place of the one that it has made.
    unsafe {
        let context = alloc_context(device, -1, ptr::null_mut());
        if !context.is_null() {
            let public = &raw mut (*context).context;
            libc::close((*public).cmd_fd);
            (*public).cmd_fd = cmd_fd;
        }
        context
    }
}

unsafe extern "C" fn alloc_context(
    device: *mut ibv_device,
    _cmd_fd: c_int,
    _private_data: *mut c_void,
) -> *mut verbs_context {
    // SAFETY: the library passes a device of ours.
    let context = unsafe { Context::open(device, &*device.cast::<Device>()) };
    context.map(context::into_raw).or_null()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface() -> Interface {
        Interface {
            name: "eth0".to_owned(),
            index: 7,
            flags: 0,
            mac: [2, 0, 0, 0, 0, 9],
            ipv4: None,
        }
    }

    #[test]
    fn a_record_becomes_a_device() {
        let record = record(3, &interface()).unwrap();
        assert_eq!(record.name(), c"urxe3");
        // SAFETY: a live record; the device is freed once.
        unsafe {
            assert!(match_device(record.as_ptr()));
            let device = alloc_device(record.as_ptr());
            let ours = &*device.cast::<Device>();
            assert_eq!((ours.number(), ours.interface), (3, 7));
            assert_eq!(ours.guid(), 0x0000_00ff_fe00_0009);
            assert!(Device::is_ours(device.cast()));
            assert_eq!(ours.interface(), Err(Errno::ENODEV));
            uninit_device(device);
            assert!(!Device::is_ours(ptr::null()));
        }
    }

    #[test]
    fn devices_of_the_kernel_are_left_alone() {
        let mut record = record(0, &interface()).unwrap();
        discovery::store_text(&mut record.get_mut().sysfs_name, &[b"uverbs0"]).unwrap();
        // SAFETY: a live record.
        assert!(!unsafe { match_device(record.as_ptr()) });
        for name in [&b"rxe0"[..], b"urxe", b"urxe-1", b"urxe0x"] {
            let record = Record::new(c"/sys", name).unwrap();
            // SAFETY: a live record.
            assert!(!unsafe { match_device(record.as_ptr()) }, "{name:?}");
        }
    }

    #[test]
    fn every_machine_has_a_device() {
        let records = find();
        assert!(!records.is_empty());
        assert_eq!(records[0].name(), c"urxe0");
    }
}
