//! Whether a provider is for a device, and taking it.

use crate::sync::atomic::AtomicI32;
use core::ffi::{CStr, c_uint};
use core::ops::RangeInclusive;
use core::ptr;

use crate::abi::*;
use crate::discovery::{Record, device_text, store_text, text, transport_type};
use crate::log::{self, log};
use crate::sys::errno::Result;
use crate::uapi::RDMA_DRIVER_UNKNOWN;

/// The entries of a provider's table.
///
/// # Safety
///
/// `ops` must be a registered provider's record, whose table ends with an entry of kind 0.
unsafe fn table<'a>(ops: *const verbs_device_ops) -> impl Iterator<Item = &'a verbs_match_ent> {
    // SAFETY: the caller's promise.
    let mut next = unsafe { (*ops).match_table };
    core::iter::from_fn(move || {
        // SAFETY: the caller's promise; the end was not passed.
        let entry = unsafe { next.as_ref() }?;
        if c_uint::from(entry.kind) == VERBS_MATCH_SENTINEL {
            return None;
        }
        next = next.wrapping_add(1);
        Some(entry)
    })
}

/// Vendor and device in the modalias of a PCI device, `pci:v000015B3d00001017sv...`; both have 32
/// bits there and 16 in tables.
fn pci_ids(modalias: &[u8]) -> Option<(u16, u16)> {
    let number = |digits: &[u8]| {
        let upper_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'A'..=b'F');
        let digits = digits.iter().all(upper_hex).then(|| core::str::from_utf8(digits))?.ok()?;
        u16::try_from(u32::from_str_radix(digits, 16).ok()?).ok()
    };
    let (vendor, rest) = modalias.strip_prefix(b"pci:v")?.split_first_chunk::<8>()?;
    let (device, rest) = rest.strip_prefix(b"d")?.split_first_chunk::<8>()?;
    rest.starts_with(b"sv").then_some((number(vendor)?, number(device)?))
}

/// Whether an entry is for a device with this modalias.
///
/// # Safety
///
/// The entry must be one of [`table`].
unsafe fn entry_matches(entry: &verbs_match_ent, modalias: &CStr) -> bool {
    match c_uint::from(entry.kind) {
        VERBS_MATCH_PCI => pci_ids(modalias.to_bytes()) == Some((entry.vendor, entry.device)),
        VERBS_MATCH_MODALIAS => {
            // SAFETY: an entry of this kind has a pattern.
            let pattern = unsafe { entry.u.modalias };
            // SAFETY: two C strings.
            !pattern.is_null() && unsafe { libc::fnmatch(pattern, modalias.as_ptr(), 0) == 0 }
        }
        _ => false,
    }
}

/// The modalias of a device, which is read once; a device without one has an empty one.
fn modalias(record: &mut Record) -> &CStr {
    if record.get().flags & VSYSFS_READ_MODALIAS == 0 {
        let mut buf = [0; 512];
        // SAFETY: a live record.
        let modalias = unsafe { device_text(record.as_ptr(), c"device/modalias", &mut buf) };
        let fields = record.get_mut();
        fields.flags |= VSYSFS_READ_MODALIAS;
        // A text that was read into a buffer of that size fits.
        let _ = store_text(&mut fields.modalias, &[modalias.unwrap_or_default()]);
    }
    text(&record.get().modalias)
}

/// The PCI vendor of a device; nothing for other devices.
pub(crate) fn pci_vendor(record: &mut Record) -> Option<u16> {
    pci_ids(modalias(record).to_bytes()).map(|(vendor, _)| vendor)
}

/// The entry of a table for the kernel driver of a device, if that is known.
///
/// # Safety
///
/// As for [`table`].
unsafe fn driver_entry(
    ops: *const verbs_device_ops,
    driver_id: u32,
) -> Option<*const verbs_match_ent> {
    if driver_id == RDMA_DRIVER_UNKNOWN {
        return None;
    }
    let is_it = |entry: &&verbs_match_ent| {
        // SAFETY: an entry of this kind has a number.
        let number = |entry: &verbs_match_ent| unsafe { entry.u.driver_id };
        c_uint::from(entry.kind) == VERBS_MATCH_DRIVER_ID && number(entry) == u64::from(driver_id)
    };
    // SAFETY: the caller's promise.
    unsafe { table(ops) }.find(is_it).map(ptr::from_ref)
}

/// Whether a provider names the kernel driver of a device in its table.
///
/// # Safety
///
/// `ops` must be a registered provider's record.
pub(crate) unsafe fn names_driver(ops: *const verbs_device_ops, record: &Record) -> bool {
    // SAFETY: the caller's promise.
    unsafe { driver_entry(ops, record.get().driver_id) }.is_some()
}

/// The entry of a provider's table for a device: by kernel driver, then by the name of the device,
/// then by its modalias.
///
/// # Safety
///
/// `ops` must be a registered provider's record.
unsafe fn table_entry(ops: *const verbs_device_ops, record: &mut Record) -> *const verbs_match_ent {
    // SAFETY: the caller's promise.
    unsafe {
        if (*ops).match_table.is_null() {
            return ptr::null();
        }
        if let Some(entry) = driver_entry(ops, record.get().driver_id) {
            return entry;
        }
        let mut name = [0; 128];
        // It has room for any name of a device.
        let _ = store_text(&mut name, &[b"rdma_device:N", record.name().to_bytes()]);
        if let Some(entry) = table(ops).find(|entry| entry_matches(entry, text(&name))) {
            return entry;
        }
        let modalias = modalias(record);
        table(ops).find(|entry| entry_matches(entry, modalias)).map_or(ptr::null(), ptr::from_ref)
    }
}

/// The name of a provider.
///
/// # Safety
///
/// `ops` must be a registered provider's record.
pub(crate) unsafe fn provider_name(ops: *const verbs_device_ops) -> String {
    // SAFETY: the caller's promise.
    unsafe {
        if (*ops).name.is_null() {
            return "without a name".to_owned();
        }
        CStr::from_ptr((*ops).name).to_string_lossy().into_owned()
    }
}

/// Why a provider does not take a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// It is for others.
    NotFor,
    /// It is for such devices, but not for this version of the kernel's driver, or not for this
    /// library; the text says so.
    Unfit(String),
    /// It failed, which was told.
    Failed,
}

/// Offers a device to a provider. If it takes the device, the result is the device, with one
/// reference, which owns the record.
///
/// `first` says that this pair has not met before: only then is a failure told. `settle` is called
/// before the provider makes anything, and may find that it is not for this library.
///
/// # Safety
///
/// `ops` must be a registered provider's record.
pub(crate) unsafe fn offer(
    ops: *const verbs_device_ops,
    mut record: Record,
    first: bool,
    settle: impl FnOnce() -> core::result::Result<(), String>,
) -> core::result::Result<*mut verbs_device, (Record, Refusal)> {
    // SAFETY: the caller's promise, for all uses of the record of the provider.
    unsafe {
        let entry = table_entry(ops, &mut record);
        record.get_mut().match_ = entry;
        let wanted = match (*ops).match_device {
            Some(match_device) => match_device(record.as_ptr()),
            None => !entry.is_null(),
        };
        if !wanted {
            return Err((record, Refusal::NotFor));
        }
        let versions = (*ops).match_min_abi_version..=(*ops).match_max_abi_version;
        if !versions.contains(&record.get().abi_ver) {
            let text = version_complaint(&provider_name(ops), &versions, &record);
            return Err((record, Refusal::Unfit(text)));
        }
        if let Err(text) = settle() {
            return Err((record, Refusal::Unfit(text)));
        }
        let device = match (*ops).alloc_device {
            Some(alloc_device) => alloc_device(record.as_ptr()),
            None => ptr::null_mut(),
        };
        if device.is_null() {
            if first {
                log::fatal(format_args!(
                    "provider {} cannot allocate a device for {}",
                    provider_name(ops),
                    record.path().to_string_lossy(),
                ));
            }
            return Err((record, Refusal::Failed));
        }
        if fill(device, ops, &record).is_err() {
            if let Some(uninit_device) = (*ops).uninit_device {
                uninit_device(device);
            }
            return Err((record, Refusal::Failed));
        }
        log!(
            VERBS_LOG_INFO,
            "device {}: provider {} takes it",
            record.name().to_string_lossy(),
            provider_name(ops),
        );
        (*device).sysfs = record.into_raw();
        Ok(device)
    }
}

/// What to tell about a provider and a kernel driver of different times: which one is older.
pub(super) fn version_complaint(
    provider: &str,
    versions: &RangeInclusive<u32>,
    record: &Record,
) -> String {
    let version = record.get().abi_ver;
    let advice = if version > *versions.end() {
        "the provider is older than the kernel; update rdma-core"
    } else {
        "the kernel's driver is older than the provider; update the kernel"
    };
    format!(
        "provider {provider} supports versions {} to {} of its kernel driver's interface, {} has \
         {version}: {advice}",
        versions.start(),
        versions.end(),
        record.path().to_string_lossy(),
    )
}

/// Fills in the library's part of a provider's new device, but for the record.
///
/// # Safety
///
/// `device` must be a provider's new device, `ops` its record.
unsafe fn fill(
    device: *mut verbs_device,
    ops: *const verbs_device_ops,
    record: &Record,
) -> Result<()> {
    let node_type = record.get().node_type;
    // SAFETY: the caller's promise, for all places below; nobody else knows the device yet.
    unsafe {
        (&raw mut (*device).ops).write(ops);
        (&raw mut (*device).refcount).write(AtomicI32::new(1));
        let public = &mut (*device).device;
        public._ops = _ibv_device_ops { _dummy1: None, _dummy2: None };
        public.node_type = node_type;
        public.transport_type = transport_type(node_type);
        store_text(&mut public.name, &[record.name().to_bytes()])?;
        store_text(&mut public.ibdev_path, &[record.path().to_bytes()])?;
        if record.file().is_empty() {
            // A device without the kernel; some programs look for a file of its name.
            return store_text(&mut public.dev_name, &[record.name().to_bytes()]);
        }
        store_text(&mut public.dev_name, &[record.file().to_bytes()])?;
        // The path of the device is `SYSFS/class/infiniband/NAME`.
        let path = record.path().to_bytes();
        let class = path.len().saturating_sub(b"infiniband/".len() + record.name().count_bytes());
        let class = path.get(..class).unwrap_or_default();
        store_text(&mut public.dev_path, &[class, b"infiniband_verbs/", record.file().to_bytes()])
    }
}

#[cfg(test)]
mod tests;
