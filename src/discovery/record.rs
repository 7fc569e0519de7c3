//! `struct verbs_sysfs_dev`: what is known of a device before a provider takes it.

use core::ffi::{CStr, c_char};
use core::ptr::NonNull;
use std::ffi::CString;

use crate::abi::*;
use crate::discovery::sysfs::device_text;
use crate::discovery::{nldev, values};
use crate::sys::errno::{Errno, Result};
use crate::sys::file::read_text;
use crate::uapi::RDMA_DRIVER_UNKNOWN;

/// A record that nobody else owns. It stays where it is in memory, because providers may keep
/// pointers to it.
pub(crate) struct Record(NonNull<verbs_sysfs_dev>);

impl Record {
    /// A record with a name, a path below sysfs and nothing else.
    ///
    /// ENAMETOOLONG when one of them does not fit; EINVAL when the name cannot be one.
    pub(crate) fn new(sysfs: &CStr, name: &[u8]) -> Result<Record> {
        let record = Box::new(verbs_sysfs_dev {
            driver_id: RDMA_DRIVER_UNKNOWN,
            node_type: IBV_NODE_UNKNOWN,
            ibdev_idx: -1,
            ..verbs_sysfs_dev::zeroed()
        });
        let mut record = Record(NonNull::from(Box::leak(record)));
        let name = values::name(name).ok_or(Errno::EINVAL)?;
        let fields = record.get_mut();
        store_text(&mut fields.ibdev_name, &[name])?;
        store_text(&mut fields.ibdev_path, &[sysfs.to_bytes(), b"/class/infiniband/", name])?;
        Ok(record)
    }

    /// The record of a device that netlink told of.
    pub(crate) fn from_netlink(sysfs: &CStr, device: &nldev::Device<'_>) -> Result<Record> {
        let mut record = Record::new(sysfs, device.name)?;
        let fields = record.get_mut();
        fields.ibdev_idx = device.index as i32;
        fields.num_ports = device.ports;
        fields.node_guid = device.node_guid;
        fields.flags |= VSYSFS_READ_NODE_GUID;
        fields.node_type = node_type(u32::from(device.node_type));
        Ok(record)
    }

    /// The record of a device file in the class `infiniband_verbs` of sysfs.
    pub(crate) fn from_class(sysfs: &CStr, file: &[u8]) -> Result<Record> {
        let mut buf = [0; 64];
        let directory = [sysfs.to_bytes(), b"/class/infiniband_verbs/", file].concat();
        let length = read_text(&path(&[&directory, b"/ibdev"])?, &mut buf)?;
        let mut record = Record::new(sysfs, buf.get(..length).unwrap_or_default())?;
        record.set_file_from_sysfs(&directory, file)?;
        // SAFETY: a live record.
        let text = unsafe { device_text(record.as_ptr(), c"node_type", &mut buf) };
        record.get_mut().node_type =
            text.ok().and_then(values::decimal).map_or(IBV_NODE_UNKNOWN, node_type);
        Ok(record)
    }

    /// Stores what netlink told of the device file.
    pub(crate) fn set_file(&mut self, file: &nldev::DeviceFile<'_>) -> Result<()> {
        let fields = self.get_mut();
        store_text(&mut fields.sysfs_name, &[values::name(file.name).ok_or(Errno::EINVAL)?])?;
        fields.sysfs_cdev = file.number;
        fields.abi_ver = file.abi_version;
        fields.driver_id = file.driver_id.unwrap_or(RDMA_DRIVER_UNKNOWN);
        Ok(())
    }

    /// Stores what sysfs tells of the device file `file`, whose directory is `directory`.
    pub(crate) fn set_file_from_sysfs(&mut self, directory: &[u8], file: &[u8]) -> Result<()> {
        let mut buf = [0; 64];
        let created = stat(self.path())?;
        let length = read_text(&path(&[directory, b"/dev"])?, &mut buf)?;
        let (major, minor) =
            values::device_number(buf.get(..length).unwrap_or_default()).ok_or(Errno::EINVAL)?;
        let abi_version = read_text(&path(&[directory, b"/abi_version"])?, &mut buf)
            .ok()
            .and_then(|length| values::decimal(buf.get(..length)?));
        let fields = self.get_mut();
        store_text(&mut fields.sysfs_name, &[values::name(file).ok_or(Errno::EINVAL)?])?;
        fields.time_created.tv_sec = created.st_mtime;
        fields.time_created.tv_nsec = created.st_mtime_nsec;
        fields.sysfs_cdev = libc::makedev(major, minor);
        fields.abi_ver = abi_version.unwrap_or(0);
        Ok(())
    }

    pub(crate) fn get(&self) -> &verbs_sysfs_dev {
        // SAFETY: the record is alive and ours.
        unsafe { self.0.as_ref() }
    }

    pub(crate) fn get_mut(&mut self) -> &mut verbs_sysfs_dev {
        // SAFETY: the record is alive and ours.
        unsafe { self.0.as_mut() }
    }

    /// The pointer that providers get.
    pub(crate) fn as_ptr(&self) -> *mut verbs_sysfs_dev {
        self.0.as_ptr()
    }

    /// Gives up ownership; [`free`] ends the record.
    pub(crate) fn into_raw(self) -> *mut verbs_sysfs_dev {
        core::mem::ManuallyDrop::new(self).0.as_ptr()
    }

    /// Name of the device: `rxe0`.
    pub(crate) fn name(&self) -> &CStr {
        text(&self.get().ibdev_name)
    }

    /// Directory of the device: `/sys/class/infiniband/rxe0`.
    pub(crate) fn path(&self) -> &CStr {
        text(&self.get().ibdev_path)
    }

    /// Name of the device file: `uverbs0`; empty for a device without the kernel.
    pub(crate) fn file(&self) -> &CStr {
        text(&self.get().sysfs_name)
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        // SAFETY: the record is ours and nobody uses it any more.
        unsafe { free(self.as_ptr()) }
    }
}

/// Frees a record.
///
/// # Safety
///
/// `record` must come from [`Record::into_raw`], and nobody may use it any more.
pub(crate) unsafe fn free(record: *mut verbs_sysfs_dev) {
    // SAFETY: the caller's promise; records are made as boxes.
    drop(unsafe { Box::from_raw(record) });
}

/// Whether two records are about the same device: the same device file of the same device, by the
/// kernel's number for it, or by the time at which it appeared when that is all we have.
pub(crate) fn same_device(one: &verbs_sysfs_dev, other: &verbs_sysfs_dev) -> bool {
    let time = |record: &verbs_sysfs_dev| {
        let time = record.time_created;
        (time.tv_sec, time.tv_nsec)
    };
    let file = text(&one.sysfs_name);
    file == text(&other.sysfs_name)
        && one.ibdev_idx == other.ibdev_idx
        && (one.ibdev_idx != -1 || time(one) == time(other))
        && (!file.is_empty() || text(&one.ibdev_name) == text(&other.ibdev_name))
}

/// The text in a C array; empty if it has no end.
pub(crate) fn text(array: &[c_char]) -> &CStr {
    // SAFETY: char and u8 have the same size and no invalid values.
    let bytes = unsafe { core::slice::from_raw_parts(array.as_ptr().cast::<u8>(), array.len()) };
    CStr::from_bytes_until_nul(bytes).unwrap_or_default()
}

/// Stores a text in a C array. ENAMETOOLONG if it does not fit, which leaves the array as it was.
pub(crate) fn store_text(array: &mut [c_char], parts: &[&[u8]]) -> Result<()> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    if length >= array.len() {
        return Err(Errno(libc::ENAMETOOLONG));
    }
    array.fill(0);
    for (to, from) in array.iter_mut().zip(parts.iter().copied().flatten()) {
        *to = *from as c_char;
    }
    Ok(())
}

/// The path that parts make up. EINVAL for one with a NUL inside.
pub(crate) fn path(parts: &[&[u8]]) -> Result<CString> {
    CString::new(parts.concat()).map_err(|_| Errno::EINVAL)
}

/// stat(2).
pub(crate) fn stat(path: &CStr) -> Result<libc::stat> {
    // SAFETY: zero bytes are a valid value; the path is a C string.
    unsafe {
        let mut stat: libc::stat = core::mem::zeroed();
        if libc::stat(path.as_ptr(), &raw mut stat) < 0 { Err(Errno::last()) } else { Ok(stat) }
    }
}

/// The library's node type for the kernel's number (`enum rdma_node_type`).
fn node_type(kernel: u32) -> ibv_node_type {
    match kernel {
        1 => IBV_NODE_CA,
        2 => IBV_NODE_SWITCH,
        3 => IBV_NODE_ROUTER,
        4 => IBV_NODE_RNIC,
        5 => IBV_NODE_USNIC,
        6 => IBV_NODE_USNIC_UDP,
        7 => IBV_NODE_UNSPECIFIED,
        _ => IBV_NODE_UNKNOWN,
    }
}

/// The transport of a node type.
pub(crate) fn transport_type(node_type: ibv_node_type) -> ibv_transport_type {
    match node_type {
        IBV_NODE_CA | IBV_NODE_SWITCH | IBV_NODE_ROUTER => IBV_TRANSPORT_IB,
        IBV_NODE_RNIC => IBV_TRANSPORT_IWARP,
        IBV_NODE_USNIC => IBV_TRANSPORT_USNIC,
        IBV_NODE_USNIC_UDP => IBV_TRANSPORT_USNIC_UDP,
        IBV_NODE_UNSPECIFIED => IBV_TRANSPORT_UNSPECIFIED,
        _ => IBV_TRANSPORT_UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_must_fit() {
        let record = Record::new(c"/sys", b"mlx5_0").unwrap();
        assert_eq!(record.name(), c"mlx5_0");
        assert_eq!(record.path(), c"/sys/class/infiniband/mlx5_0");
        assert_eq!((record.file(), record.get().ibdev_idx), (c"", -1));
        let long = Errno(libc::ENAMETOOLONG);
        assert_eq!(Record::new(c"/sys", &[b'x'; 63]).err(), None);
        assert_eq!(Record::new(c"/sys", &[b'x'; 64]).err(), Some(long));
        let deep = CString::new([b'x'; 236]).unwrap();
        assert_eq!(Record::new(&deep, b"a").err(), None);
        assert_eq!(Record::new(&deep, b"ab").err(), Some(long));
        assert_eq!(Record::new(c"/sys", b"../a").err(), Some(Errno::EINVAL));
    }

    #[test]
    fn node_types_have_transports() {
        let transports: Vec<_> =
            (0..9).map(|kernel| transport_type(node_type(kernel)) as i32).collect();
        assert_eq!(transports, [-1, 0, 0, 0, 1, 2, 3, 4, -1]);
        assert_eq!(node_type(7), IBV_NODE_UNSPECIFIED);
    }

    #[test]
    fn records_are_compared_by_what_does_not_change() {
        let record = |file: &[u8], index, seconds| {
            let mut record = Record::new(c"/sys", b"rxe0").unwrap();
            store_text(&mut record.get_mut().sysfs_name, &[file]).unwrap();
            record.get_mut().ibdev_idx = index;
            record.get_mut().time_created.tv_sec = seconds;
            record
        };
        let same = |one: &Record, other: &Record| same_device(one.get(), other.get());
        let device = record(b"uverbs0", 3, 10);
        assert!(same(&device, &record(b"uverbs0", 3, 11)));
        assert!(!same(&device, &record(b"uverbs1", 3, 10)));
        assert!(!same(&device, &record(b"uverbs0", 4, 10)));
        let by_time = record(b"uverbs0", -1, 10);
        assert!(same(&by_time, &record(b"uverbs0", -1, 10)));
        assert!(!same(&by_time, &record(b"uverbs0", -1, 11)));
        // Without a device file the name decides.
        let mut renamed = record(b"", -1, 10);
        assert!(same(&renamed, &record(b"", -1, 10)));
        store_text(&mut renamed.get_mut().ibdev_name, &[b"urxe1"]).unwrap();
        assert!(!same(&renamed, &record(b"", -1, 10)));
    }

    #[test]
    fn arrays_without_an_end_are_empty_texts() {
        assert_eq!(text(&[b'a' as c_char; 4]), c"");
        assert_eq!(text(&[]), c"");
    }
}
