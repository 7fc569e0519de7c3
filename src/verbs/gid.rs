//! GID tables of ports: from the kernel's ioctl, or from sysfs where the kernel is older than that.
//! The device inside the library answers in place of sysfs.

use core::ffi::{CStr, c_int};

use crate::abi::export::{export, export_private};
use crate::abi::*;
use crate::cmd::{self, Kernel};
use crate::sys::errno::{Errno, Result, ReturnMinusOne, ReturnNumber, from_number};
use crate::urxe;
use crate::verbs::context;
use crate::verbs::sysfs::{self, parse_hexadecimal};

/// Stores the GID at `index` of a port's table, which is zero for an empty entry. Returns 0, or -1
/// with `errno`. `ibv_query_gid(3)`
pub(crate) unsafe extern "C" fn ibv_query_gid(
    context: *mut ibv_context,
    port_num: u8,
    index: c_int,
    gid: *mut ibv_gid,
) -> c_int {
    let place = Place { port: u32::from(port_num), index: index.cast_unsigned() };
    // SAFETY: the caller passes a context and room for the GID.
    unsafe { query(context, place, VERBS_QUERY_GID_ATTR_GID).map(|entry| *gid = entry.gid) }
        .or_minus_one()
}
export!(ibv_query_gid @@ "IBVERBS_1.1");

/// Stores the entry at `gid_index` of a port's table in the caller's struct of `entry_size` bytes.
/// Returns 0 or an error number, ENODATA for an empty entry. `ibv_query_gid_ex(3)`
pub(crate) unsafe extern "C" fn _ibv_query_gid_ex(
    context: *mut ibv_context,
    port_num: u32,
    gid_index: u32,
    entry: *mut ibv_gid_entry,
    flags: u32,
    entry_size: usize,
) -> c_int {
    let place = Place { port: port_num, index: gid_index };
    let room = Room { entry, size: entry_size };
    // SAFETY: the caller passes a context and room for the entry.
    unsafe { query_into(context, place, flags, room, EVERYTHING) }.or_number()
}
export!(_ibv_query_gid_ex @@ "IBVERBS_1.11");

/// Stores all entries that are not empty, of all ports, in the caller's array of structs of
/// `entry_size` bytes. Returns their number, or a negative error number, EINVAL when there are more
/// than `max_entries`. `ibv_query_gid_table(3)`
pub(crate) unsafe extern "C" fn _ibv_query_gid_table(
    context: *mut ibv_context,
    entries: *mut ibv_gid_entry,
    max_entries: usize,
    flags: u32,
    entry_size: usize,
) -> isize {
    // SAFETY: the caller passes a context and room for the entries.
    match unsafe { query_table(context, entries, max_entries, flags, entry_size) } {
        Ok(count) => count.cast_signed(),
        Err(errno) => {
            errno.store();
            -(errno.0 as isize)
        }
    }
}
export!(_ibv_query_gid_table @@ "IBVERBS_1.11");

/// Stores the type of the GID at `index` of a port's table, in the coarse form that providers know;
/// an empty entry counts as RoCE v1. Returns 0, or -1 with `errno`. `driver.h`
unsafe extern "C" fn ibv_query_gid_type(
    context: *mut ibv_context,
    port_num: u8,
    index: u32,
    gid_type: *mut ibv_gid_type_sysfs,
) -> c_int {
    let place = Place { port: u32::from(port_num), index };
    // SAFETY: the caller passes a context and room for the type.
    unsafe {
        query(context, place, VERBS_QUERY_GID_ATTR_TYPE).map(|entry| {
            *gid_type = match entry.gid_type {
                IBV_GID_TYPE_IB | IBV_GID_TYPE_ROCE_V1 => IBV_GID_TYPE_SYSFS_IB_ROCE_V1,
                _ => IBV_GID_TYPE_SYSFS_ROCE_V2,
            };
        })
    }
    .or_minus_one()
}
export_private!(ibv_query_gid_type);

/// Every member of an entry.
const EVERYTHING: verbs_query_gid_attr_mask =
    VERBS_QUERY_GID_ATTR_GID | VERBS_QUERY_GID_ATTR_TYPE | VERBS_QUERY_GID_ATTR_NDEV_IFINDEX;

/// Where an entry is.
#[derive(Clone, Copy)]
struct Place {
    port: u32,
    index: u32,
}

/// The caller's struct for an entry, in the length that the caller knows.
#[derive(Clone, Copy)]
struct Room {
    entry: *mut ibv_gid_entry,
    size: usize,
}

impl Room {
    /// Stores an entry. EINVAL if the struct is too short for it; members of the future become
    /// zero.
    ///
    /// # Safety
    ///
    /// The room must be writable.
    unsafe fn store(self, entry: &ibv_gid_entry) -> Result<()> {
        let Some(rest) = self.size.checked_sub(size_of::<ibv_gid_entry>()) else {
            return Err(Errno::EINVAL);
        };
        // SAFETY: the caller's promise.
        unsafe {
            self.entry.write_unaligned(*entry);
            self.entry.add(1).cast::<u8>().write_bytes(0, rest);
        }
        Ok(())
    }
}

/// The entry at `index` of a port's table; zero for an empty one. `wanted` is what must be filled
/// in.
///
/// # Safety
///
/// `context` must be a context.
pub(crate) unsafe fn entry(
    context: *mut ibv_context,
    port: u8,
    index: u32,
    wanted: verbs_query_gid_attr_mask,
) -> Result<ibv_gid_entry> {
    // SAFETY: the caller's promise.
    unsafe { query(context, Place { port: u32::from(port), index }, wanted) }
}

unsafe fn query(
    context: *mut ibv_context,
    place: Place,
    wanted: verbs_query_gid_attr_mask,
) -> Result<ibv_gid_entry> {
    let mut entry = ibv_gid_entry::zeroed();
    let room = Room { entry: &raw mut entry, size: size_of::<ibv_gid_entry>() };
    // SAFETY: the caller passes a context.
    match unsafe { query_into(context, place, 0, room, wanted) } {
        Ok(()) => Ok(entry),
        Err(Errno::ENODATA) => Ok(ibv_gid_entry::zeroed()),
        Err(errno) => Err(errno),
    }
}

/// Stores the entry at a place. From sysfs it has only what is wanted.
unsafe fn query_into(
    context: *mut ibv_context,
    place: Place,
    flags: u32,
    room: Room,
    wanted: verbs_query_gid_attr_mask,
) -> Result<()> {
    // SAFETY: the caller passes a context and room for the entry.
    unsafe {
        let kernel = Kernel::of(context);
        let Place { port, index } = place;
        let Room { entry, size } = room;
        if !urxe::device::is_ours(context)
            && cmd::query_gid_entry(kernel, port, index, flags, entry, size)?.is_some()
        {
            return Ok(());
        }
        if flags != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        let entry = from_sysfs(context, place, wanted)?;
        if wanted & VERBS_QUERY_GID_ATTR_GID != 0 && is_zero(&entry.gid) {
            return Err(Errno::ENODATA);
        }
        room.store(&entry)
    }
}

unsafe fn query_table(
    context: *mut ibv_context,
    entries: *mut ibv_gid_entry,
    max_entries: usize,
    flags: u32,
    entry_size: usize,
) -> Result<usize> {
    // SAFETY: the caller passes a context and room for the entries.
    unsafe {
        let kernel = Kernel::of(context);
        if !urxe::device::is_ours(context)
            && let Some(count) =
                cmd::query_gid_table(kernel, entries, max_entries, flags, entry_size)?
        {
            return Ok(count);
        }
        if flags != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        let mut count = 0;
        each_from_sysfs(context, |entry| {
            if count >= max_entries {
                return Err(Errno::EINVAL);
            }
            let offset = count.checked_mul(entry_size).ok_or(Errno::EINVAL)?;
            Room { entry: entries.byte_add(offset), size: entry_size }.store(&entry)?;
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }
}

/// Calls `found` with the entries of all ports that are not empty.
unsafe fn each_from_sysfs(
    context: *mut ibv_context,
    mut found: impl FnMut(ibv_gid_entry) -> Result<()>,
) -> Result<()> {
    let mut device = ibv_device_attr::zeroed();
    // SAFETY: the caller passes a context.
    from_number(unsafe { context::ibv_query_device(context, &raw mut device) })?;
    for port in 1..=device.phys_port_cnt {
        // SAFETY: the caller passes a context.
        let attr = unsafe { port_attr(context, u32::from(port)) }?;
        for index in 0..u32::try_from(attr.gid_tbl_len).unwrap_or(0) {
            let place = Place { port: u32::from(port), index };
            // SAFETY: the caller passes a context. Most entries are empty, so the rest is asked for
            // later.
            unsafe {
                let entry = from_sysfs(context, place, VERBS_QUERY_GID_ATTR_GID)?;
                if !is_zero(&entry.gid) {
                    let gid = entry.gid;
                    let rest = EVERYTHING & !VERBS_QUERY_GID_ATTR_GID;
                    found(ibv_gid_entry { gid, ..from_sysfs(context, place, rest)? })?;
                }
            }
        }
    }
    Ok(())
}

fn is_zero(gid: &ibv_gid) -> bool {
    // SAFETY: every byte of the union is initialized.
    unsafe { gid.raw == [0; 16] }
}

unsafe fn port_attr(context: *mut ibv_context, port: u32) -> Result<ibv_port_attr> {
    let port = u8::try_from(port).map_err(|_| Errno::EINVAL)?;
    let mut attr = ibv_port_attr::zeroed();
    // SAFETY: the caller passes a context.
    from_number(unsafe { context::query_port(context, port, &raw mut attr, size_of_val(&attr)) })?;
    Ok(attr)
}

/// What sysfs knows about an entry. EINVAL if something wanted cannot be read, ENODEV for the name
/// of an interface that there is not.
unsafe fn from_sysfs(
    context: *mut ibv_context,
    place: Place,
    wanted: verbs_query_gid_attr_mask,
) -> Result<ibv_gid_entry> {
    // SAFETY: the caller passes a context.
    if let Some(entry) = unsafe { urxe::device::gid_entry(context, place.port, place.index) } {
        return entry;
    }
    let mut entry =
        ibv_gid_entry { gid_index: place.index, port_num: place.port, ..ibv_gid_entry::zeroed() };
    // SAFETY: the caller passes a context.
    unsafe {
        if wanted & VERBS_QUERY_GID_ATTR_GID != 0 {
            entry.gid = read_gid(context, place).map_err(|_| Errno::EINVAL)?;
        }
        if wanted & VERBS_QUERY_GID_ATTR_TYPE != 0 {
            entry.gid_type = match read_type(context, place).map_err(|_| Errno::EINVAL)? {
                IBV_GID_TYPE_SYSFS_ROCE_V2 => IBV_GID_TYPE_ROCE_V2,
                _ => match u32::from(port_attr(context, place.port)?.link_layer) {
                    IBV_LINK_LAYER_ETHERNET => IBV_GID_TYPE_ROCE_V1,
                    _ => IBV_GID_TYPE_IB,
                },
            };
        }
        if wanted & VERBS_QUERY_GID_ATTR_NDEV_IFINDEX != 0 {
            entry.ndev_ifindex = read_interface(context, place)?;
        }
    }
    Ok(entry)
}

unsafe fn read_gid(context: *mut ibv_context, place: Place) -> Result<ibv_gid> {
    let Place { port, index } = place;
    let mut buf = [0; 41];
    // SAFETY: the caller passes a context.
    let text = unsafe { sysfs::text(context, format_args!("ports/{port}/gids/{index}"), &mut buf) };
    parse_gid(text?).ok_or(Errno::EINVAL)
}

/// Eight groups of four hexadecimal digits.
fn parse_gid(text: &[u8]) -> Option<ibv_gid> {
    let mut raw = [0; 16];
    let mut groups = core::str::from_utf8(text).ok()?.trim().split(':');
    for pair in raw.chunks_exact_mut(2) {
        let group = groups.next().filter(|group| group.len() == 4)?;
        pair.copy_from_slice(&parse_hexadecimal(group)?.to_be_bytes());
    }
    groups.next().is_none().then_some(ibv_gid { raw })
}

unsafe fn read_type(context: *mut ibv_context, place: Place) -> Result<ibv_gid_type_sysfs> {
    let Place { port, index } = place;
    let mut buf = [0; 11];
    // SAFETY: the caller passes a context.
    unsafe {
        let file = format_args!("ports/{port}/gid_attrs/types/{index}");
        match sysfs::text(context, file, &mut buf) {
            Ok(b"IB/RoCE v1") => Ok(IBV_GID_TYPE_SYSFS_IB_ROCE_V1),
            Ok(b"RoCE v2") => Ok(IBV_GID_TYPE_SYSFS_ROCE_V2),
            Ok(text) if !text.is_empty() => Err(Errno::EOPNOTSUPP),
            // So the kernel says that an entry is empty, or that the port is of InfiniBand.
            Err(Errno::EINVAL) => Ok(IBV_GID_TYPE_SYSFS_IB_ROCE_V1),
            // A kernel without the directory knows no other type.
            _ => match sysfs::exists(context, format_args!("ports/{port}/gid_attrs"))? {
                true => Err(Errno::EFAULT),
                false => Ok(IBV_GID_TYPE_SYSFS_IB_ROCE_V1),
            },
        }
    }
}

/// The index of the network interface of an entry, 0 if there is none.
unsafe fn read_interface(context: *mut ibv_context, place: Place) -> Result<u32> {
    let Place { port, index } = place;
    let mut buf = [0; libc::IF_NAMESIZE];
    let file = format_args!("ports/{port}/gid_attrs/ndevs/{index}");
    // SAFETY: the caller passes a context.
    if !unsafe { sysfs::text(context, file, &mut buf) }.is_ok_and(|text| !text.is_empty()) {
        return Ok(0);
    }
    let name = CStr::from_bytes_until_nul(&buf).map_err(|_| Errno::EINVAL)?;
    // SAFETY: the name is a C string.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(Errno::last()),
        index => Ok(index),
    }
}

#[cfg(test)]
mod tests;
