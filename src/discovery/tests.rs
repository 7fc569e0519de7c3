//! Devices in sysfs trees that tests make, from sound ones to garbage.

use core::ffi::CStr;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, MutexGuard};

use super::enumerate::{self, Places};
use super::*;
use crate::abi::*;
use crate::sys::errno::{Errno, Result};
use crate::sys::tests::Folder;

/// A sysfs tree and a directory of device files.
pub(crate) struct Tree {
    folder: Folder,
    sysfs: CString,
    files: CString,
    /// The version of the verbs interface is one per process.
    _alone: MutexGuard<'static, ()>,
}

impl Tree {
    pub(crate) fn new() -> Tree {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        UVERBS_ABI.store(0, Ordering::Relaxed);
        let folder = Folder::new("sysfs");
        let (sysfs, files) = (folder.c_path("sys"), folder.c_path("dev"));
        folder.write("sys/class/infiniband_verbs/abi_version", b"6\n");
        Tree { folder, sysfs, files, _alone: alone }
    }

    pub(crate) fn places(&self) -> Places<'_> {
        Places { sysfs: &self.sysfs, files: &self.files, netlink: false }
    }

    fn write(&self, file: &str, content: &[u8]) {
        self.folder.write(file, content);
    }

    pub(crate) fn rename(&self, from: &str, to: &str) {
        let path = self.folder.path();
        std::fs::rename(path.join(from), path.join(to)).unwrap();
    }

    pub(crate) fn remove(&self, file: &str) {
        let path = self.folder.path().join(file);
        if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
            .unwrap();
    }

    /// A sound device.
    pub(crate) fn add(&self, number: u32, name: &str) {
        let class = format!("sys/class/infiniband_verbs/uverbs{number}");
        self.write(&format!("{class}/ibdev"), format!("{name}\n").as_bytes());
        self.write(&format!("{class}/dev"), format!("231:{}\n", 192 + number).as_bytes());
        self.write(&format!("{class}/abi_version"), b"1\n");
        let device = format!("sys/class/infiniband/{name}");
        self.write(&format!("{device}/node_type"), b"1: CA\n");
        self.write(&format!("{device}/node_guid"), b"5054:00ff:fe12:3456\n");
        self.write(&format!("{device}/device/modalias"), b"pci:v000015B3d00001017sv0\n");
        self.write(&format!("dev/uverbs{number}"), b"");
    }

    pub(crate) fn find(&self) -> Result<Vec<Record>> {
        let mut records = enumerate::find(self.places())?;
        records.sort_by(|one, other| one.file().cmp(other.file()));
        Ok(records)
    }

    /// The names of the devices that are found.
    fn names(&self) -> Vec<String> {
        let records = self.find().unwrap();
        records.iter().map(|record| record.name().to_string_lossy().into_owned()).collect()
    }
}

#[test]
fn devices_are_found_in_sysfs() {
    let tree = Tree::new();
    tree.add(0, "mlx5_0");
    tree.add(1, "rxe0");
    let records = tree.find().unwrap();
    assert_eq!(records.len(), 2);
    let fields = records[1].get();
    assert_eq!((records[1].name(), records[1].file()), (c"rxe0", c"uverbs1"));
    assert_eq!(
        records[1].path().to_bytes(),
        tree.folder.c_path("sys/class/infiniband/rxe0").to_bytes()
    );
    assert_eq!(fields.sysfs_cdev, libc::makedev(231, 193));
    assert_eq!((fields.ibdev_idx, fields.num_ports, fields.driver_id), (-1, 0, 0));
    assert_eq!((fields.abi_ver, fields.node_type, fields.flags), (1, IBV_NODE_CA, 0));
    assert!(fields.time_created.tv_sec > 0);
    assert_eq!(uverbs_abi(), 6);
}

#[test]
fn without_the_class_there_is_no_rdma() {
    let tree = Tree::new();
    tree.remove("sys/class/infiniband_verbs");
    assert_eq!(tree.find().err(), Some(Errno::ENOSYS));
    let nowhere = Places { sysfs: c"", files: c"/dev", netlink: false };
    assert_eq!(enumerate::find(nowhere).err(), Some(Errno::ENOSYS));
}

#[test]
fn the_kernel_must_speak_our_version() {
    let tree = Tree::new();
    // Without a device nobody asks.
    tree.write("sys/class/infiniband_verbs/abi_version", b"99\n");
    assert!(tree.find().unwrap().is_empty());
    tree.add(0, "mlx5_0");
    for version in [&b"99\n"[..], b"2\n", b"", b"x", b"7777777777777777777777777"] {
        tree.write("sys/class/infiniband_verbs/abi_version", version);
        assert_eq!(tree.find().err(), Some(Errno::ENOSYS));
        assert_eq!(uverbs_abi(), 0);
    }
    tree.remove("sys/class/infiniband_verbs/abi_version");
    assert_eq!(tree.find().err(), Some(Errno::ENOSYS));
    tree.write("sys/class/infiniband_verbs/abi_version", b"3");
    assert_eq!(tree.find().unwrap().len(), 1);
    assert_eq!(uverbs_abi(), 3);
}

#[test]
fn entries_that_are_no_devices_are_left_out() {
    let tree = Tree::new();
    tree.add(0, "good");
    let entries: &[(&str, &[u8])] = &[
        ("ibdev", b""),
        ("ibdev", b"\n"),
        ("ibdev", b"../../../../etc\n"),
        ("ibdev", b"none\n"),
        ("ibdev", &[b'x'; 64]),
        ("ibdev", &[0xff; 5000]),
        ("dev", b""),
        ("dev", b"231"),
        ("dev", b"a:b\n"),
        ("dev", b"4294967296:0\n"),
        ("dev", &[b'1'; 5000]),
    ];
    for (file, content) in entries {
        tree.add(1, "bad");
        tree.write(&format!("sys/class/infiniband_verbs/uverbs1/{file}"), content);
        assert_eq!(tree.names(), ["good"], "{file}: {}", content.escape_ascii());
    }
    for file in [
        "sys/class/infiniband_verbs/uverbs1/ibdev",
        "sys/class/infiniband_verbs/uverbs1/dev",
        "sys/class/infiniband/bad",
        "dev/uverbs1",
    ] {
        tree.add(1, "bad");
        assert_eq!(tree.names(), ["good", "bad"]);
        tree.remove(file);
        assert_eq!(tree.names(), ["good"], "{file}");
    }
    // Names that start with a dot, other files, names that are too long.
    tree.write("sys/class/infiniband_verbs/.hidden/ibdev", b"good\n");
    tree.write("sys/class/infiniband_verbs/file", b"good\n");
    let long = "x".repeat(64);
    tree.write(&format!("sys/class/infiniband_verbs/{long}/ibdev"), b"good\n");
    tree.write(&format!("sys/class/infiniband_verbs/{long}/dev"), b"1:3\n");
    tree.write(&format!("dev/{long}"), b"");
    assert_eq!(tree.names(), ["good"]);
}

#[test]
fn what_is_not_known_is_left_open() {
    let tree = Tree::new();
    tree.add(0, "mlx5_0");
    tree.remove("sys/class/infiniband_verbs/uverbs0/abi_version");
    tree.remove("sys/class/infiniband/mlx5_0/node_type");
    let first = tree.find().unwrap();
    assert_eq!((first[0].get().abi_ver, first[0].get().node_type), (0, IBV_NODE_UNKNOWN));
    for (content, node_type) in [
        (&b"4: RNIC\n"[..], IBV_NODE_RNIC),
        (b"99\n", IBV_NODE_UNKNOWN),
        (b"garbage", IBV_NODE_UNKNOWN),
        (&[b'1'; 300], IBV_NODE_UNKNOWN),
    ] {
        tree.write("sys/class/infiniband/mlx5_0/node_type", content);
        tree.write("sys/class/infiniband_verbs/uverbs0/abi_version", content);
        assert_eq!(tree.find().unwrap()[0].get().node_type, node_type);
    }
}

#[test]
fn paths_that_are_too_long_are_left_out() {
    let mut tree = Tree::new();
    tree.add(0, "mlx5_0");
    // The same tree under a long name: "/./././...".
    let root = tree.folder.path().join("sys");
    let mut path = root.as_os_str().as_bytes().to_vec();
    while path.len() < 240 {
        path.extend_from_slice(b"/.");
    }
    tree.sysfs = CString::new(path).unwrap();
    assert!(tree.names().is_empty());
}

#[test]
fn many_devices_are_found() {
    let tree = Tree::new();
    let mut names: Vec<_> = (0..100).map(|number| format!("mlx5_{number}")).collect();
    for (number, name) in names.iter().enumerate() {
        tree.add(number as u32, name);
    }
    let mut found = tree.names();
    found.sort();
    names.sort();
    assert_eq!(found, names);
}

#[test]
fn the_device_file_of_a_device_from_netlink_may_come_from_sysfs() {
    let tree = Tree::new();
    tree.add(3, "mlx5_0");
    let device =
        nldev::Device { index: 9, name: b"mlx5_0", ports: 255, node_guid: 5, node_type: 1 };
    let mut record = Record::from_netlink(&tree.sysfs, &device).unwrap();
    assert_eq!(enumerate::file_from_sysfs(&mut record), Err(Errno::ENOENT));
    let directory = "sys/class/infiniband/mlx5_0/device/infiniband_verbs";
    tree.write(&format!("{directory}/.x"), b"");
    assert_eq!(enumerate::file_from_sysfs(&mut record), Err(Errno::ENOENT));
    tree.write(&format!("{directory}/uverbs3/dev"), b"231:195\n");
    assert_eq!(enumerate::file_from_sysfs(&mut record), Ok(()));
    let fields = record.get();
    assert_eq!((record.file(), fields.sysfs_cdev), (c"uverbs3", libc::makedev(231, 195)));
    assert_eq!((fields.ibdev_idx, fields.num_ports, fields.node_guid), (9, 255, 5));
    assert_eq!(fields.flags, VSYSFS_READ_NODE_GUID);
}

#[test]
fn files_of_a_device_are_read_below_its_directory() {
    let tree = Tree::new();
    tree.add(0, "mlx5_0");
    let records = tree.find().unwrap();
    let mut buf = [0; 64];
    let mut read = |name: &CStr| {
        // SAFETY: a live record.
        let text = unsafe { device_text(records[0].as_ptr(), name, &mut buf) };
        text.map(<[u8]>::to_vec)
    };
    assert_eq!(read(c"node_guid"), Ok(b"5054:00ff:fe12:3456".to_vec()));
    assert_eq!(read(c"device/modalias"), Ok(b"pci:v000015B3d00001017sv0".to_vec()));
    assert_eq!(read(c"ports/1/pkeys/0"), Err(Errno::ENOENT));
    for port in [1, 255] {
        tree.write(&format!("sys/class/infiniband/mlx5_0/ports/{port}/pkeys/0"), b"0xffff\n");
        let name = CString::new(format!("ports/{port}/pkeys/0")).unwrap();
        assert_eq!(read(&name), Ok(b"0xffff".to_vec()));
    }
    // SAFETY: NULL is allowed.
    let null = unsafe { device_text(core::ptr::null(), c"x", &mut buf) };
    assert_eq!(null.err(), Some(Errno::EINVAL));
}
