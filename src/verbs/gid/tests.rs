use super::*;
use crate::cmd::fake::{self, Call, Form, Reply, TestContext};
use crate::provider_api::set_ops;
use crate::uapi::*;
use crate::verbs::sysfs::testing::DeviceFiles;

const GID: &str = "fe80:0000:0000:0000:5054:00ff:fe12:3456\n";
const RAW: [u8; 16] = [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x50, 0x54, 0, 0xff, 0xfe, 0x12, 0x34, 0x56];
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

/// Port 1 is of Ethernet, port 2 of InfiniBand, port 3 does not say.
unsafe extern "C" fn port(_: *mut ibv_context, port: u8, attr: *mut ibv_port_attr) -> c_int {
    let layers = [IBV_LINK_LAYER_ETHERNET, IBV_LINK_LAYER_INFINIBAND, 0];
    // SAFETY: the caller has room for the attributes.
    unsafe {
        (*attr).gid_tbl_len = 3;
        (*attr).link_layer = layers[usize::from(port) - 1] as u8;
    }
    0
}

/// A context on a kernel without the ioctls, with these files, which go before it.
fn with_sysfs(files: &[(&str, &str)]) -> (TestContext, DeviceFiles) {
    let context = TestContext::new(Form::Write);
    fake::answer(|_| Reply::Fail(libc::EPROTONOSUPPORT));
    let ops = verbs_context_ops {
        query_device_ex: Some(two_ports),
        query_port: Some(port),
        ..verbs_context_ops::zeroed()
    };
    // SAFETY: the context is used by this test alone.
    unsafe { set_ops(context.get(), &ops) };
    let files = DeviceFiles::new(context.device(), files);
    (context, files)
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
    for errno in [libc::EINVAL, libc::EIO] {
        fake::answer(move |_| Reply::Fail(errno));
        assert_eq!(query_ex(&context, 1, 300).0, errno);
        let mut entry = ibv_gid_entry::zeroed();
        let size = size_of_val(&entry);
        // SAFETY: a live context and room for the results.
        let count = unsafe { _ibv_query_gid_table(context.get(), &mut entry, 1, 0, size) };
        assert_eq!(count, -(errno as isize));
    }
}

#[test]
fn sysfs_gives_the_entry_where_the_ioctl_is_missing() {
    let (context, _files) = with_sysfs(&[
        ("ports/1/gids/0", GID),
        ("ports/1/gid_attrs/types/0", "IB/RoCE v1\n"),
        ("ports/1/gid_attrs/ndevs/0", "lo\n"),
        ("ports/1/gids/1", GID),
        ("ports/1/gid_attrs/types/1", "RoCE v2\n"),
        ("ports/2/gids/0", GID),
        ("ports/3/gids/0", GID),
        ("ports/1/gids/4", GID),
        ("ports/1/gid_attrs/types/4", "RoCE v2\n"),
        ("ports/1/gid_attrs/ndevs/4", "no-such-dev\n"),
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
    let (status, entry) = query_ex(&context, 3, 0);
    assert_eq!((status, entry.gid_type), (0, IBV_GID_TYPE_IB));
    assert_eq!(query_ex(&context, 1, 2).0, libc::ENODATA);
    assert_eq!(query_ex(&context, 1, 4).0, libc::ENODEV);
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
    let (context, _files) = with_sysfs(&[
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
    let (context, _files) = with_sysfs(&[("ports/1/gids/0", GID)]);
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
    let (context, _files) =
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
    let count = unsafe { _ibv_query_gid_table(context.get(), entries.as_mut_ptr(), 4, 0, size) };
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
    let (context, _files) = with_sysfs(&files);
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
    let (context, _files) = with_sysfs(&[("ports/1/gids/0", GID)]);
    let mut entries = [ibv_gid_entry::zeroed(); 4];
    let size = size_of::<ibv_gid_entry>();
    // SAFETY: a live context and room for the entries.
    let count = unsafe { _ibv_query_gid_table(context.get(), entries.as_mut_ptr(), 4, 0, size) };
    assert_eq!(count, -(libc::EINVAL as isize));
}

#[test]
fn gids_are_eight_groups() {
    let parse = |text: &str| parse_gid(text.as_bytes()).map(|gid| raw(&gid));
    assert_eq!(parse(GID), Some(RAW));
    let seven = "fe80:0000:0000:0000:5054:00ff:fe12";
    for bad in ["", ":", "1:2:3:4:5:6:7:8", seven, "::::::::"] {
        assert_eq!(parse(bad), None, "{bad:?}");
    }
    for bad in [":", ":345", ":34567", ":3456:", ":345g", ":+345", ":3456:0000"] {
        assert_eq!(parse(&format!("{seven}{bad}")), None, "{bad:?}");
    }
}
