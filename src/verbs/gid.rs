//! GID tables of ports: from the kernel's ioctl, or from sysfs where the kernel is older than that.

use core::ffi::{CStr, c_int};

use crate::abi::export::export;
use crate::abi::*;
use crate::cmd::{self, Kernel};
use crate::sys::errno::{Errno, Result, ReturnMinusOne, ReturnNumber, from_number};
use crate::verbs::{context, sysfs};

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
export!(ibv_query_gid_type @@ "IBVERBS_PRIVATE_65");

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
        if cmd::query_gid_entry(kernel, port, index, flags, entry, size)?.is_some() {
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
        match cmd::query_gid_table(kernel, entries, max_entries, flags, entry_size)? {
            Some(count) => return Ok(count),
            None if flags != 0 => return Err(Errno::EOPNOTSUPP),
            None => {}
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

/// What sysfs knows about an entry. EINVAL if something wanted cannot be read.
unsafe fn from_sysfs(
    context: *mut ibv_context,
    place: Place,
    wanted: verbs_query_gid_attr_mask,
) -> Result<ibv_gid_entry> {
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
                    IBV_LINK_LAYER_INFINIBAND => IBV_GID_TYPE_IB,
                    IBV_LINK_LAYER_ETHERNET => IBV_GID_TYPE_ROCE_V1,
                    _ => return Err(Errno::EINVAL),
                },
            };
        }
        if wanted & VERBS_QUERY_GID_ATTR_NDEV_IFINDEX != 0 {
            entry.ndev_ifindex = read_interface(context, place).map_err(|_| Errno::EINVAL)?;
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

/// Eight groups of up to four hexadecimal digits.
fn parse_gid(text: &[u8]) -> Option<ibv_gid> {
    let mut raw = [0; 16];
    let mut groups = core::str::from_utf8(text).ok()?.trim().split(':');
    for pair in raw.chunks_exact_mut(2) {
        let group = groups.next().filter(|group| group.len() <= 4)?;
        pair.copy_from_slice(&u16::from_str_radix(group, 16).ok()?.to_be_bytes());
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
mod tests {
    use super::*;
    use crate::cmd::fake::{self, Call, Form, Reply, TestContext};
    use crate::provider_api::set_ops;
    use crate::uapi::*;
    use crate::verbs::sysfs::testing::DeviceFiles;

    const GID: &str = "fe80:0000:0000:0000:5054:00ff:fe12:3456\n";
    const RAW: [u8; 16] =
        [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x50, 0x54, 0, 0xff, 0xfe, 0x12, 0x34, 0x56];
    const ZERO: &str = "0000:0000:0000:0000:0000:0000:0000:0000\n";

    fn raw(gid: &ibv_gid) -> [u8; 16] {
        // SAFETY: every byte of the union is initialized.
        unsafe { gid.raw }
    }

    /// A context on a kernel that answers the ioctl for an entry with this one.
    fn with_ioctl(entry: ib_uverbs_gid_entry) -> TestContext {
        let context = TestContext::new(Form::Write);
        fake::answer(move |call| {
            if let Call::Ioctl(ioctl) = call {
                ioctl.output(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &entry);
            }
            Reply::Done
        });
        context
    }

    fn kernel_entry(gid: [u8; 16], gid_type: u32) -> ib_uverbs_gid_entry {
        ib_uverbs_gid_entry {
            // SAFETY: both are sixteen bytes without padding.
            gid: unsafe { core::mem::transmute::<[u8; 16], [u64; 2]>(gid) },
            gid_index: 3,
            port_num: 1,
            gid_type,
            netdev_ifindex: 7,
        }
    }

    unsafe extern "C" fn two_ports(
        _: *mut ibv_context,
        _: *const ibv_query_device_ex_input,
        attr: *mut ibv_device_attr_ex,
        _: usize,
    ) -> c_int {
        // SAFETY: the caller has room for the plain attributes.
        unsafe { (*attr).orig_attr.phys_port_cnt = 2 };
        0
    }

    /// Port 1 is of Ethernet, port 2 of InfiniBand, port 3 of neither.
    unsafe extern "C" fn port(_: *mut ibv_context, port: u8, attr: *mut ibv_port_attr) -> c_int {
        let layers = [IBV_LINK_LAYER_ETHERNET, IBV_LINK_LAYER_INFINIBAND, 0];
        // SAFETY: the caller has room for the attributes.
        unsafe {
            (*attr).gid_tbl_len = 3;
            (*attr).link_layer = layers[usize::from(port) - 1] as u8;
        }
        0
    }

    /// A context on a kernel without the ioctls, with these files.
    fn with_sysfs(files: &[(&str, &str)]) -> (DeviceFiles, TestContext) {
        let context = TestContext::new(Form::Write);
        fake::answer(|_| Reply::Fail(libc::EPROTONOSUPPORT));
        let ops = verbs_context_ops {
            query_device_ex: Some(two_ports),
            query_port: Some(port),
            ..verbs_context_ops::zeroed()
        };
        // SAFETY: the context is used by this test alone.
        unsafe { set_ops(context.extended(), &ops) };
        (DeviceFiles::new(context.device(), files), context)
    }

    fn query_ex(context: &TestContext, port: u32, index: u32) -> (c_int, ibv_gid_entry) {
        let mut entry = ibv_gid_entry::zeroed();
        // SAFETY: a live context and room for the entry.
        let status = unsafe {
            _ibv_query_gid_ex(context.get(), port, index, &mut entry, 0, size_of_val(&entry))
        };
        (status, entry)
    }

    #[test]
    fn the_ioctl_gives_the_entry() {
        let context = with_ioctl(kernel_entry(RAW, IBV_GID_TYPE_ROCE_V2));
        let (status, entry) = query_ex(&context, 1, 3);
        assert_eq!((status, raw(&entry.gid)), (0, RAW));
        assert_eq!((entry.gid_index, entry.port_num), (3, 1));
        assert_eq!((entry.gid_type, entry.ndev_ifindex), (IBV_GID_TYPE_ROCE_V2, 7));
        let mut gid = ibv_gid { raw: [0xee; 16] };
        let mut gid_type = 9;
        // SAFETY: a live context and room for the results.
        unsafe {
            assert_eq!(ibv_query_gid(context.get(), 1, 3, &mut gid), 0);
            assert_eq!(ibv_query_gid_type(context.get(), 1, 3, &mut gid_type), 0);
        }
        assert_eq!((raw(&gid), gid_type), (RAW, IBV_GID_TYPE_SYSFS_ROCE_V2));
        assert_eq!(fake::calls().len(), 3, "one system call each");
    }

    #[test]
    fn types_of_the_kernel_in_coarse_form() {
        for (kernel, coarse) in [
            (IBV_GID_TYPE_IB, IBV_GID_TYPE_SYSFS_IB_ROCE_V1),
            (IBV_GID_TYPE_ROCE_V1, IBV_GID_TYPE_SYSFS_IB_ROCE_V1),
            (IBV_GID_TYPE_ROCE_V2, IBV_GID_TYPE_SYSFS_ROCE_V2),
        ] {
            let context = with_ioctl(kernel_entry(RAW, kernel));
            let mut gid_type = 9;
            // SAFETY: a live context and room for the result.
            let status = unsafe { ibv_query_gid_type(context.get(), 1, 0, &mut gid_type) };
            assert_eq!((status, gid_type), (0, coarse));
        }
    }

    #[test]
    fn an_empty_entry_is_no_data_or_zero() {
        let context = TestContext::new(Form::Write);
        fake::answer(|_| Reply::Fail(libc::ENODATA));
        assert_eq!(query_ex(&context, 1, 3).0, libc::ENODATA);
        assert_eq!(Errno::last(), Errno::ENODATA);
        let mut gid = ibv_gid { raw: [0xee; 16] };
        let mut gid_type = 9;
        // SAFETY: a live context and room for the results.
        unsafe {
            assert_eq!(ibv_query_gid(context.get(), 1, 3, &mut gid), 0);
            assert_eq!(ibv_query_gid_type(context.get(), 1, 3, &mut gid_type), 0);
        }
        assert_eq!((raw(&gid), gid_type), ([0; 16], IBV_GID_TYPE_SYSFS_IB_ROCE_V1));
    }

    #[test]
    fn other_errors_leave_the_results_alone() {
        let context = TestContext::new(Form::Write);
        fake::answer(|_| Reply::Fail(libc::EINVAL));
        let mut gid = ibv_gid { raw: [0xee; 16] };
        let mut gid_type = 9;
        // SAFETY: a live context and room for the results.
        unsafe {
            assert_eq!(ibv_query_gid(context.get(), 1, -1, &mut gid), -1);
            assert_eq!(Errno::last(), Errno::EINVAL);
            assert_eq!(ibv_query_gid_type(context.get(), 1, 3, &mut gid_type), -1);
        }
        assert_eq!((raw(&gid), gid_type), ([0xee; 16], 9));
        assert_eq!(query_ex(&context, 1, 300).0, libc::EINVAL);
    }

    #[test]
    fn sysfs_gives_the_entry_where_the_ioctl_is_missing() {
        let (_files, context) = with_sysfs(&[
            ("ports/1/gids/0", GID),
            ("ports/1/gid_attrs/types/0", "IB/RoCE v1\n"),
            ("ports/1/gid_attrs/ndevs/0", "lo\n"),
            ("ports/1/gids/1", GID),
            ("ports/1/gid_attrs/types/1", "RoCE v2\n"),
            ("ports/2/gids/0", GID),
            ("ports/3/gids/0", GID),
            ("ports/1/gids/2", ZERO),
            ("ports/1/gid_attrs/types/2", "RoCE v2\n"),
        ]);
        let (status, entry) = query_ex(&context, 1, 0);
        assert_eq!((status, raw(&entry.gid)), (0, RAW));
        assert_eq!((entry.gid_index, entry.port_num), (0, 1));
        assert_eq!(entry.gid_type, IBV_GID_TYPE_ROCE_V1);
        // SAFETY: the name is a C string.
        assert_eq!(entry.ndev_ifindex, unsafe { libc::if_nametoindex(c"lo".as_ptr()) });
        let (status, entry) = query_ex(&context, 1, 1);
        assert_eq!((status, entry.gid_type), (0, IBV_GID_TYPE_ROCE_V2));
        assert_eq!(entry.ndev_ifindex, 0);
        // Without the attributes' directory the type follows from the link layer.
        let (status, entry) = query_ex(&context, 2, 0);
        assert_eq!((status, entry.gid_type), (0, IBV_GID_TYPE_IB));
        assert_eq!(query_ex(&context, 3, 0).0, libc::EINVAL);
        assert_eq!(query_ex(&context, 1, 2).0, libc::ENODATA);
        for (port, index) in [(1, 3), (4, 0), (0, 0), (300, 0), (1, u32::MAX)] {
            assert_eq!(query_ex(&context, port, index).0, libc::EINVAL, "{port} {index}");
        }
        let mut gid = ibv_gid { raw: [0xee; 16] };
        // SAFETY: a live context and room for the result.
        unsafe {
            assert_eq!(ibv_query_gid(context.get(), 1, 2, &mut gid), 0);
            assert_eq!(raw(&gid), [0; 16]);
            assert_eq!(ibv_query_gid(context.get(), 1, 1, &mut gid), 0);
            assert_eq!(raw(&gid), RAW);
            assert_eq!(ibv_query_gid(context.get(), 1, 3, &mut gid), -1);
            assert_eq!(Errno::last(), Errno::EINVAL);
        }
        assert_eq!(fake::calls().len(), 1, "the ioctl is tried once");
    }

    #[test]
    fn types_in_sysfs_are_known_or_an_error() {
        let (_files, context) = with_sysfs(&[
            ("ports/1/gid_attrs/types/0", "IB/RoCE v1\n"),
            ("ports/1/gid_attrs/types/1", "RoCE v2"),
            ("ports/1/gid_attrs/types/2", "RoCE v3\n"),
            ("ports/1/gid_attrs/types/3", ""),
            ("ports/1/gid_attrs/types/4", "much too long for a type\n"),
        ]);
        let gid_type = |port, index| {
            let mut gid_type = 9;
            // SAFETY: a live context and room for the result.
            let status = unsafe { ibv_query_gid_type(context.get(), port, index, &mut gid_type) };
            (status, gid_type)
        };
        assert_eq!(gid_type(1, 0), (0, IBV_GID_TYPE_SYSFS_IB_ROCE_V1));
        assert_eq!(gid_type(1, 1), (0, IBV_GID_TYPE_SYSFS_ROCE_V2));
        for index in 2..6 {
            assert_eq!(gid_type(1, index), (-1, 9), "{index}");
        }
        assert_eq!(gid_type(2, 0), (0, IBV_GID_TYPE_SYSFS_IB_ROCE_V1), "no directory");
    }

    #[test]
    fn flags_of_the_future_need_the_ioctl() {
        let (_files, context) = with_sysfs(&[("ports/1/gids/0", GID)]);
        let mut entry = ibv_gid_entry::zeroed();
        let size = size_of_val(&entry);
        // SAFETY: a live context and room for the results.
        unsafe {
            let status = _ibv_query_gid_ex(context.get(), 1, 0, &mut entry, 1, size);
            assert_eq!(status, libc::EOPNOTSUPP);
            let count = _ibv_query_gid_table(context.get(), &mut entry, 1, 1, size);
            assert_eq!(count, -(libc::EOPNOTSUPP as isize));
        }
    }

    #[test]
    fn entries_have_the_length_that_the_caller_knows() {
        let (_files, context) =
            with_sysfs(&[("ports/1/gids/0", GID), ("ports/1/gid_attrs/types/0", "RoCE v2\n")]);
        let mut room = [0xee_u8; 64];
        // SAFETY: a live context and room for the results.
        unsafe {
            let entry = room.as_mut_ptr().cast();
            assert_eq!(_ibv_query_gid_ex(context.get(), 1, 0, entry, 0, 31), libc::EINVAL);
            assert_eq!(room, [0xee; 64]);
            let entry = room.as_mut_ptr().cast();
            assert_eq!(_ibv_query_gid_ex(context.get(), 1, 0, entry, 0, 40), 0);
        }
        assert_eq!((&room[..16], &room[32..40], room[40]), (&RAW[..], &[0; 8][..], 0xee));
    }

    #[test]
    fn the_table_comes_from_the_ioctl() {
        let context = TestContext::new(Form::Write);
        fake::answer(|call| {
            if let Call::Ioctl(ioctl) = call {
                ioctl.output(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, &2_u64);
            }
            Reply::Done
        });
        let mut entries = [ibv_gid_entry::zeroed(); 4];
        let size = size_of::<ibv_gid_entry>();
        // SAFETY: a live context and room for the entries.
        let count =
            unsafe { _ibv_query_gid_table(context.get(), entries.as_mut_ptr(), 4, 0, size) };
        assert_eq!((count, fake::calls().len()), (2, 1));
    }

    #[test]
    fn the_table_from_sysfs_has_no_empty_entries() {
        let files = [
            ("ports/1/gids/0", ZERO),
            ("ports/1/gids/1", GID),
            ("ports/1/gids/2", ZERO),
            ("ports/1/gid_attrs/types/1", "RoCE v2\n"),
            ("ports/2/gids/0", GID),
            ("ports/2/gids/1", ZERO),
            ("ports/2/gids/2", ZERO),
        ];
        let (_files, context) = with_sysfs(&files);
        let mut room = [0xee_u8; 40 * 3];
        let entries = room.as_mut_ptr().cast();
        // SAFETY: a live context and room for the entries.
        let count = unsafe { _ibv_query_gid_table(context.get(), entries, 2, 0, 40) };
        assert_eq!(count, 2);
        let numbers = |entry: usize| {
            let at = |i| u32::from_ne_bytes(room[entry * 40 + i..][..4].try_into().unwrap());
            (at(16), at(20), at(24))
        };
        assert_eq!((&room[..16], &room[40..56]), (&RAW[..], &RAW[..]));
        assert_eq!(numbers(0), (1, 1, IBV_GID_TYPE_ROCE_V2));
        assert_eq!(numbers(1), (0, 2, IBV_GID_TYPE_IB));
        assert_eq!(room[80..], [0xee; 40]);
        for max in [0, 1] {
            // SAFETY: a live context and room for the entries.
            let count = unsafe { _ibv_query_gid_table(context.get(), entries, max, 0, 40) };
            assert_eq!((count, Errno::last()), (-(libc::EINVAL as isize), Errno::EINVAL));
        }
    }

    #[test]
    fn an_unreadable_table_is_an_error() {
        let (_files, context) = with_sysfs(&[("ports/1/gids/0", GID)]);
        let mut entries = [ibv_gid_entry::zeroed(); 4];
        let size = size_of::<ibv_gid_entry>();
        // SAFETY: a live context and room for the entries.
        let count =
            unsafe { _ibv_query_gid_table(context.get(), entries.as_mut_ptr(), 4, 0, size) };
        assert_eq!(count, -(libc::EINVAL as isize));
    }

    #[test]
    fn gids_are_eight_groups() {
        let parse = |text: &str| parse_gid(text.as_bytes()).map(|gid| raw(&gid));
        assert_eq!(parse(GID), Some(RAW));
        assert_eq!(parse("1:2:3:4:5:6:7:ffff").map(|raw| raw[14..].to_vec()), Some(vec![255; 2]));
        for bad in ["", "1:2", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:", "g:2:3:4:5:6:7:8"] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
        assert_eq!(parse("00001:2:3:4:5:6:7:8"), None);
    }
}
