use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::*;
use crate::urxe::device::Pd;
use crate::urxe::region::testing::{free_pd, look, pd};
use crate::urxe::region::{Wanted, alloc_dmah, dealloc_dmah, dereg_mr};

const LOCAL: u32 = IBV_ACCESS_LOCAL_WRITE;

/// A memory file of so many bytes.
fn memory_file(length: i64) -> OwnedFd {
    // SAFETY: a new file.
    unsafe {
        let fd = OwnedFd::from_raw_fd(libc::memfd_create(c"dma-buf".as_ptr(), libc::MFD_CLOEXEC));
        assert_eq!(libc::ftruncate(fd.as_raw_fd(), length), 0);
        fd
    }
}

fn reg(
    pd: *mut ibv_pd,
    fd: c_int,
    offset: u64,
    length: usize,
    iova: u64,
    access: u32,
) -> Result<*mut ibv_mr> {
    // SAFETY: a live PD.
    let mr = unsafe { reg_dmabuf_mr(pd, offset, length, iova, fd, access.cast_signed()) };
    if mr.is_null() { Err(Errno::last()) } else { Ok(mr) }
}

fn dereg(mr: *mut ibv_mr) {
    // SAFETY: a live region, for the last time.
    assert_eq!(unsafe { dereg_mr(mr.cast()) }, 0);
}

fn place(
    pd: *mut ibv_pd,
    mr: *mut ibv_mr,
    address: u64,
    length: u64,
) -> Option<super::super::Place> {
    // SAFETY: live objects.
    let (pd, key) = unsafe { (Pd::of(pd).number(), (*mr).lkey) };
    look(key, &Wanted { pd, access: LOCAL, address, length, qp_num: 0 }).ok()
}

#[test]
fn a_file_is_mapped_as_long_as_the_region_lives() {
    let (pd, file) = (pd(), memory_file(3 * 4096));
    let mr = reg(pd, file.as_raw_fd(), 4096 + 8, 4096, 0x10_0008, LOCAL).unwrap();
    // SAFETY: a live region.
    unsafe {
        let vmr = mr.cast::<verbs_mr>();
        assert_eq!((*vmr).mr_type, IBV_MR_TYPE_DMABUF_MR);
        assert_eq!(((*mr).addr.addr(), (*mr).length), (4096 + 8, 4096));
    }
    let there = place(pd, mr, 0x10_0010, 4088).unwrap();
    assert!(place(pd, mr, 0x10_0010, 4089).is_none());
    let address: *mut u8 = ptr::with_exposed_provenance_mut(there.address as usize);
    let mut byte = 0_u8;
    // SAFETY: inside the mapping.
    unsafe {
        address.write(42);
        libc::pread(file.as_raw_fd(), (&raw mut byte).cast(), 1, 4096 + 16);
    }
    assert_eq!((byte, there.memory), (42, KeyMemory::ORDINARY));
    dereg(mr);
    let page = ptr::without_provenance_mut(there.address as usize & !4095);
    // SAFETY: asks only.
    assert_eq!(unsafe { libc::mincore(page, 1, &mut 0) }, -1, "it is not mapped any more");
    // SAFETY: nothing is left in it.
    unsafe { free_pd(pd) };
}

#[test]
fn bad_parts_and_rights_are_refused() {
    let (pd, file) = (pd(), memory_file(8192));
    let fd = file.as_raw_fd();
    let (reader, _writer) = std::io::pipe().unwrap();
    // SAFETY: a new descriptor, for reading alone.
    let read_only = unsafe {
        let path = format!("/proc/self/fd/{fd}\0");
        OwnedFd::from_raw_fd(libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC))
    };
    for (fd, offset, length, iova, access, errno) in [
        (fd, 0, 0, 0, LOCAL, libc::EINVAL),
        (fd, 0, 8193, 0, LOCAL, libc::EINVAL),
        (fd, 8192, 1, 0, LOCAL, libc::EINVAL),
        (fd, u64::MAX - 4095, 4097, 0, LOCAL, libc::EINVAL),
        (fd, 0, 4096, 8, LOCAL, libc::EINVAL),
        (fd, 0, 4096, u64::MAX - 8191, LOCAL, 0),
        (fd, 0, 8192, u64::MAX - 4095, LOCAL, libc::EINVAL),
        (fd, 0, 4096, 0, IBV_ACCESS_REMOTE_WRITE, libc::EINVAL),
        (fd, 0, 4096, 0, LOCAL | IBV_ACCESS_ON_DEMAND, libc::EINVAL),
        (fd, 0, 4096, 0, LOCAL | IBV_ACCESS_MW_BIND, libc::EINVAL),
        (fd, 0, 4096, 0, LOCAL | IBV_ACCESS_RELAXED_ORDERING, 0),
        (-1, 0, 4096, 0, LOCAL, libc::EBADF),
        (reader.as_raw_fd(), 0, 4096, 0, LOCAL, libc::EINVAL),
        (read_only.as_raw_fd(), 0, 4096, 0, LOCAL, libc::EACCES),
        (read_only.as_raw_fd(), 0, 4096, 0, IBV_ACCESS_REMOTE_READ, 0),
    ] {
        match reg(pd, fd, offset, length, iova, access) {
            Ok(mr) => {
                assert_eq!(errno, 0, "{offset} {length} {access:#x}");
                dereg(mr);
            }
            Err(Errno(found)) => assert_eq!(found, errno, "{offset} {length} {access:#x}"),
        }
    }
    // SAFETY: nothing is left in it.
    unsafe { free_pd(pd) };
}

fn attr(comp_mask: u32) -> ibv_mr_init_attr {
    ibv_mr_init_attr {
        length: 64,
        access: LOCAL.cast_signed(),
        comp_mask: comp_mask.into(),
        ..ibv_mr_init_attr::zeroed()
    }
}

fn reg_ex(pd: *mut ibv_pd, attr: &ibv_mr_init_attr) -> Result<*mut ibv_mr> {
    let mut attr = *attr;
    // SAFETY: a live PD.
    let mr = unsafe { reg_mr_ex(pd, &mut attr) };
    if mr.is_null() { Err(Errno::last()) } else { Ok(mr) }
}

#[test]
fn attributes_say_what_is_registered() {
    const ADDR: u32 = IBV_REG_MR_MASK_ADDR;
    const IOVA: u32 = IBV_REG_MR_MASK_IOVA;
    const FD: u32 = IBV_REG_MR_MASK_FD;
    const OFFSET: u32 = IBV_REG_MR_MASK_FD_OFFSET;
    let (pd, file) = (pd(), memory_file(4096));
    let mut memory = [0_u64; 16];
    let addr = memory.as_mut_ptr();
    let start = addr.expose_provenance() as u64;
    let with = |comp_mask| ibv_mr_init_attr {
        addr: addr.cast(),
        iova: 0x5000,
        fd: file.as_raw_fd(),
        ..attr(comp_mask)
    };
    for (mask, address) in [(ADDR, start), (ADDR | IOVA, 0x5000), (FD | OFFSET | IOVA, 0x5000)] {
        let mr = reg_ex(pd, &with(mask)).unwrap();
        assert!(place(pd, mr, address, 64).is_some() && place(pd, mr, address, 65).is_none());
        dereg(mr);
    }
    for mask in [0, IOVA, FD, FD | OFFSET, FD | IOVA, ADDR | OFFSET, ADDR | FD | OFFSET | IOVA] {
        assert_eq!(reg_ex(pd, &with(mask)), Err(Errno::EINVAL), "{mask:#x}");
    }
    for mask in [ADDR | IBV_REG_MR_MASK_BUF, ADDR | 1 << 20] {
        assert_eq!(reg_ex(pd, &with(mask)), Err(Errno::EOPNOTSUPP), "{mask:#x}");
    }
    // SAFETY: nothing is left in it.
    unsafe { free_pd(pd) };
}

#[test]
fn a_dma_handle_is_kept_by_its_region() {
    const MASK: u32 = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DMAH;
    let pd = pd();
    let mut bytes = [0_u64; 16];
    let memory = bytes.as_mut_ptr().cast();
    // SAFETY: live objects; nobody looks at the context.
    unsafe {
        let dmah = alloc_dmah(ptr::null_mut(), &mut ibv_dmah_init_attr::zeroed());
        let with = |access: u32, dmah| ibv_mr_init_attr {
            addr: memory,
            dmah,
            access: access.cast_signed(),
            ..attr(MASK)
        };
        assert_eq!(reg_ex(pd, &with(LOCAL, ptr::null_mut())), Err(Errno::EINVAL));
        let on_demand = LOCAL | IBV_ACCESS_ON_DEMAND;
        assert_eq!(reg_ex(pd, &with(on_demand, dmah)), Err(Errno::EINVAL));
        // A failed registration does not keep it.
        let remote = IBV_ACCESS_REMOTE_WRITE;
        assert_eq!(reg_ex(pd, &with(remote, dmah)), Err(Errno::EINVAL));
        let mr = reg_ex(pd, &with(LOCAL, dmah)).unwrap();
        assert_eq!(dealloc_dmah(dmah), libc::EBUSY);
        dereg(mr);
        assert_eq!(dealloc_dmah(dmah), 0);
        free_pd(pd);
    }
}
