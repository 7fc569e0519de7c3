//! Which devices there are now: from netlink, or from sysfs where netlink does not answer.

use crate::sync::atomic::Ordering;
use core::ffi::CStr;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::abi::*;
use crate::discovery::nldev::{Device, DeviceFile, Nldev};
use crate::discovery::record::{Record, path, stat};
use crate::discovery::{UVERBS_ABI, sysfs_path, uverbs_abi, values};
use crate::log::{self, log};
use crate::sys::errno::{Errno, Result};
use crate::sys::file::read_text;

/// The versions of the kernel's verbs interface that this library speaks
/// (`IB_USER_VERBS_MIN_ABI_VERSION`, `IB_USER_VERBS_MAX_ABI_VERSION`).
const ABI_VERSIONS: core::ops::RangeInclusive<u32> = 3..=6;

/// Where the kernel shows devices.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    /// The directory on which sysfs is mounted.
    pub(crate) sysfs: &'a CStr,
    /// The directory of the device files.
    pub(crate) files: &'a CStr,
    /// Whether netlink is asked.
    pub(crate) netlink: bool,
}

impl Places<'static> {
    /// Those of this machine.
    pub(crate) fn system() -> Places<'static> {
        Places { sysfs: sysfs_path(), files: c"/dev/infiniband", netlink: true }
    }
}

/// A record for each device that has a device file, in the order in which the kernel tells of them.
///
/// # Errors
///
/// ENOSYS when the kernel has no RDMA, or speaks a version of the verbs interface that this library
/// does not.
pub(crate) fn find(places: Places<'_>) -> Result<Vec<Record>> {
    let from_netlink = if places.netlink { netlink(places) } else { Err(Errno::ENOSYS) };
    let mut records = match from_netlink {
        Ok(records) => records,
        Err(errno) => {
            log!(VERBS_LOG_DEBUG, "netlink does not tell of devices: error {}", errno.0);
            class(places)?
        }
    };
    records.retain(|record| has_file(places, record));
    if !records.is_empty() && uverbs_abi() == 0 {
        read_abi(places)?;
    }
    Ok(records)
}

/// The devices of this network namespace, from RDMA netlink.
fn netlink(places: Places<'_>) -> Result<Vec<Record>> {
    let mut nldev = Nldev::open()?;
    let mut records = Vec::new();
    nldev.devices(|device: Device<'_>| match Record::from_netlink(places.sysfs, &device) {
        Ok(record) => records.push(record),
        Err(errno) => skip("device", device.name, errno),
    })?;
    records.retain_mut(|record| {
        let index = record.get().ibdev_idx as u32;
        let asked =
            nldev.device_file(index, c"uverbs", |file: DeviceFile<'_>| record.set_file(&file));
        match asked.and_then(|stored| stored) {
            Ok(()) => {
                // Kernels that tell of device files speak the last version.
                UVERBS_ABI.store(*ABI_VERSIONS.end(), Ordering::Relaxed);
                true
            }
            Err(_) => match file_from_sysfs(record) {
                Ok(()) => true,
                Err(errno) => {
                    skip("device", record.name().to_bytes(), errno);
                    false
                }
            },
        }
    });
    Ok(records)
}

/// Finds the device file of one device in sysfs.
pub(super) fn file_from_sysfs(record: &mut Record) -> Result<()> {
    let directory = [record.path().to_bytes(), b"/device/infiniband_verbs"].concat();
    let file = entries(&directory)?.next().ok_or(Errno::ENOENT)?;
    record.set_file_from_sysfs(&[&directory, &b"/"[..], &file].concat(), &file)
}

/// The devices in the class `infiniband_verbs` of sysfs.
fn class(places: Places<'_>) -> Result<Vec<Record>> {
    let directory = [places.sysfs.to_bytes(), b"/class/infiniband_verbs"].concat();
    let entries = entries(&directory).map_err(|errno| {
        log!(
            VERBS_LOG_INFO,
            "no RDMA in this kernel: {}: {}",
            directory.escape_ascii(),
            std::io::Error::from_raw_os_error(errno.0),
        );
        Errno::ENOSYS
    })?;
    let mut records = Vec::new();
    for file in entries {
        match Record::from_class(places.sysfs, &file) {
            Ok(record) => records.push(record),
            // The class has a file of its own beside the directories.
            Err(Errno(libc::ENOTDIR)) => {}
            Err(errno) => skip("device file", &file, errno),
        }
    }
    Ok(records)
}

/// The names in a directory, but for those that start with a dot, in its own order.
fn entries(directory: &[u8]) -> Result<impl Iterator<Item = Vec<u8>>> {
    let entries = std::fs::read_dir(OsStr::from_bytes(directory))
        .map_err(|error| Errno(error.raw_os_error().unwrap_or(libc::EINVAL)))?;
    // An error ends the reading.
    Ok(entries
        .map_while(|entry| entry.ok())
        .map(|entry| entry.file_name().as_bytes().to_vec())
        .filter(|name| !name.starts_with(b".")))
}

/// Whether the device file is there. Without one the device cannot be used: the kernel module
/// `ib_uverbs` is missing, or the container has no access to it.
fn has_file(places: Places<'_>, record: &Record) -> bool {
    let file = [places.files.to_bytes(), b"/", record.file().to_bytes()];
    let found = path(&file).and_then(|path| stat(&path));
    if let Err(errno) = found {
        log!(
            VERBS_LOG_WARN,
            "device {} is left out: {}: {}",
            record.name().to_bytes().escape_ascii(),
            file.concat().escape_ascii(),
            std::io::Error::from_raw_os_error(errno.0),
        );
    }
    found.is_ok()
}

/// Reads the version of the verbs interface from sysfs.
fn read_abi(places: Places<'_>) -> Result<()> {
    let mut buf = [0; 16];
    let file = path(&[places.sysfs.to_bytes(), b"/class/infiniband_verbs/abi_version"])?;
    let length = read_text(&file, &mut buf).map_err(|_| Errno::ENOSYS)?;
    let version = values::decimal(buf.get(..length).unwrap_or_default()).unwrap_or(0);
    if !ABI_VERSIONS.contains(&version) {
        let older = if version > *ABI_VERSIONS.end() { "this library" } else { "the kernel" };
        log::fatal(format_args!(
            "the kernel's verbs interface has version {version}, this library speaks {} to {}: \
             {older} is too old",
            ABI_VERSIONS.start(),
            ABI_VERSIONS.end(),
        ));
        return Err(Errno::ENOSYS);
    }
    UVERBS_ABI.store(version, Ordering::Relaxed);
    Ok(())
}

/// Says that something is left out because what the kernel told of it is incomplete.
fn skip(what: &str, name: &[u8], errno: Errno) {
    log!(
        VERBS_LOG_WARN,
        "{what} {} is left out: {}",
        name.escape_ascii(),
        std::io::Error::from_raw_os_error(errno.0),
    );
}
