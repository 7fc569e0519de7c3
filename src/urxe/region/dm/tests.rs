use core::ptr;

use super::*;
use crate::urxe::region::testing::{free_pd, look, pd};
use crate::urxe::region::{Wanted, dereg_mr, import_dm, rereg_mr, unimport_dm};

const CONTEXT: usize = 0x1000;
const ZERO_BASED: u32 = IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE;

fn alloc(length: usize) -> Result<*mut ibv_dm> {
    alloc_with(&ibv_alloc_dm_attr { length, ..ibv_alloc_dm_attr::zeroed() })
}

fn alloc_with(attr: &ibv_alloc_dm_attr) -> Result<*mut ibv_dm> {
    let mut attr = *attr;
    // SAFETY: nobody looks at the context.
    let dm = unsafe { alloc_dm(ptr::without_provenance_mut(CONTEXT), &mut attr) };
    if dm.is_null() { Err(Errno::last()) } else { Ok(dm) }
}

fn free(dm: *mut ibv_dm) {
    // SAFETY: live memory, for the last time.
    assert_eq!(unsafe { free_dm(dm) }, 0);
}

#[test]
fn sizes_and_alignment_are_checked() {
    for (length, log_align_req, comp_mask, errno) in [
        (0, 0, 0, Errno::EINVAL),
        (64, 0, 1, Errno::EINVAL),
        (64, 13, 0, Errno::EINVAL),
        (64, u32::MAX, 0, Errno::EINVAL),
        (MAX_DM_SIZE as usize + 1, 0, 0, Errno::ENOMEM),
        (usize::MAX, 0, 0, Errno::ENOMEM),
    ] {
        let attr = ibv_alloc_dm_attr { length, log_align_req, comp_mask };
        assert_eq!(alloc_with(&attr), Err(errno), "{length} {log_align_req}");
    }
    let attr = ibv_alloc_dm_attr { length: 100, log_align_req: 12, comp_mask: 0 };
    let dm = alloc_with(&attr).unwrap();
    // SAFETY: live memory.
    unsafe {
        assert_eq!((*dm).context.addr(), CONTEXT);
        assert_eq!((*dm).comp_mask, IBV_DM_MASK_HANDLE);
        assert!(Dm::of(dm).file.address().addr().is_multiple_of(4096));
    }
    free(dm);
}

#[test]
fn there_is_so_much_and_no_more() {
    let mut count = (7, 0);
    let mut take = |length| {
        let left = MAX_DM_SIZE - count.1;
        let fits = length <= left;
        if fits {
            count.1 += length;
        }
        fits
    };
    assert!(take(MAX_DM_SIZE / 2) && take(MAX_DM_SIZE / 2) && !take(1));
    // The real count, of a slot that nobody has.
    assert_eq!(super::take(u64::MAX, MAX_DM_SIZE), Ok(()));
    assert_eq!(super::take(u64::MAX, 1), Err(Errno::ENOMEM));
    give_back(u64::MAX, 4);
    assert_eq!(super::take(u64::MAX, 4), Ok(()));
    give_back(5, 100);
    assert_eq!(super::take(u64::MAX, 1), Err(Errno::ENOMEM));
    give_back(u64::MAX, MAX_DM_SIZE);
}

#[test]
fn copies_are_inside_and_in_whole_units() {
    let dm = alloc(100).unwrap();
    let data: Vec<u8> = (0..100).collect();
    let mut back = [0xff_u8; 100];
    // SAFETY: live memory, and buffers of 100 bytes.
    unsafe {
        let (to, from) = ((*dm).memcpy_to_dm.unwrap(), (*dm).memcpy_from_dm.unwrap());
        assert_eq!(from(back.as_mut_ptr().cast(), dm, 0, 100), 0);
        assert_eq!(back, [0; 100], "it is cleared first");
        assert_eq!(to(dm, 4, data.as_ptr().cast(), 96), 0);
        assert_eq!(from(back.as_mut_ptr().cast(), dm, 0, 100), 0);
        assert_eq!((&back[..4], &back[4..]), (&[0; 4][..], &data[..96]));
        assert_eq!(to(dm, 100, data.as_ptr().cast(), 0), 0);
        for (offset, length) in
            [(3, 4), (4, 3), (104, 4), (0, 104), (100, 4), (u64::MAX - 3, 8), (4, usize::MAX - 3)]
        {
            assert_eq!(to(dm, offset, data.as_ptr().cast(), length), libc::EINVAL, "{offset}");
            let status = from(back.as_mut_ptr().cast(), dm, offset, length);
            assert_eq!(status, libc::EINVAL, "{offset}");
        }
    }
    free(dm);
}

#[test]
fn a_region_is_a_part_counted_from_zero() {
    let (pd, dm) = (pd(), alloc(256).unwrap());
    let reg = |offset, length, access| {
        // SAFETY: live objects.
        let mr = unsafe { reg_dm_mr(pd, dm, offset, length, access) };
        if mr.is_null() { Err(Errno::last()) } else { Ok(mr) }
    };
    for (offset, length, access) in [
        (0, 256, IBV_ACCESS_LOCAL_WRITE),
        (0, 256, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_WRITE),
        (0, 256, ZERO_BASED | IBV_ACCESS_ON_DEMAND),
        (0, 256, ZERO_BASED | 1 << 13),
        (0, 257, ZERO_BASED),
        (200, 57, ZERO_BASED),
        (257, 0, ZERO_BASED),
        (u64::MAX, 2, ZERO_BASED),
    ] {
        assert_eq!(reg(offset, length, access), Err(Errno::EINVAL), "{offset} {length}");
    }
    let mr = reg(64, 128, ZERO_BASED | IBV_ACCESS_REMOTE_READ).unwrap();
    // SAFETY: live objects.
    unsafe {
        assert!((*mr).addr.is_null());
        assert_eq!(((*mr).length, (*mr).pd), (128, pd));
        let pd_number = crate::urxe::device::Pd::of(pd).number();
        let access = IBV_ACCESS_REMOTE_READ;
        let at = |address, length| {
            look((*mr).rkey, &Wanted { pd: pd_number, access, address, length, qp_num: 1 })
        };
        let place = at(8, 120).unwrap();
        assert_eq!((place.memory, place.file_offset), (KeyMemory::FILE, 72));
        assert_eq!(place.file, Dm::of(dm).file.number());
        assert_eq!(place.address, Dm::of(dm).file.address().addr() as u64 + 72);
        assert!(at(8, 121).is_err());
        assert_eq!(free_dm(dm), libc::EBUSY);
        let flags = IBV_REREG_MR_CHANGE_ACCESS as c_int;
        let null = ptr::null_mut();
        assert_eq!(rereg_mr(mr.cast(), flags, ptr::null_mut(), null, 0, 1), libc::EINVAL);
        assert_eq!(dereg_mr(mr.cast()), 0);
        free_pd(pd);
    }
    free(dm);
}

#[test]
fn the_exported_file_is_the_same_memory() {
    let dm = alloc(64).unwrap();
    // SAFETY: live memory; the descriptor is new, and closed.
    unsafe {
        let fd = dm_export_dmabuf_fd(dm);
        assert!(fd > 0);
        let word = 0x1122_3344_u32;
        let to = (*dm).memcpy_to_dm.unwrap();
        assert_eq!(to(dm, 8, (&raw const word).cast(), 4), 0);
        let mut read = 0_u32;
        assert_eq!(libc::pread(fd, (&raw mut read).cast(), 4, 8), 4);
        assert_eq!(read, word);
        libc::close(fd);
    }
    free(dm);
}

#[test]
fn memory_is_imported_by_its_handle() {
    let dm = alloc(64).unwrap();
    // SAFETY: live memory.
    unsafe {
        let handle = (*dm).handle;
        assert!(import_dm(ptr::null_mut(), handle + 100_000).is_null());
        assert_eq!(Errno::last(), Errno::EINVAL);
        let imported = import_dm(ptr::null_mut(), handle);
        assert_eq!((*imported).handle, handle);
        let (word, mut back) = (0x5566_7788_u32, 0_u32);
        assert_eq!((*dm).memcpy_to_dm.unwrap()(dm, 60, (&raw const word).cast(), 4), 0);
        let from = (*imported).memcpy_from_dm.unwrap();
        assert_eq!(from((&raw mut back).cast(), imported, 60, 4), 0);
        assert_eq!(back, word);
        assert_eq!(from((&raw mut back).cast(), imported, 64, 4), libc::EINVAL);
        assert_eq!(free_dm(imported), libc::EINVAL);
        // What was imported keeps the memory.
        free(dm);
        assert_eq!(from((&raw mut back).cast(), imported, 60, 4), 0);
        unimport_dm(imported);
        // A buffer is none.
        let host = host::host().unwrap();
        let buffer = DeviceFile::new(host, 64, Purpose::Buffer).unwrap();
        assert!(import_dm(ptr::null_mut(), buffer.number()).is_null());
        assert!(import_dm(ptr::null_mut(), handle).is_null());
    }
}
