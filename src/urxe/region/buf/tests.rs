use core::ptr;

use super::*;
use crate::urxe::region::testing::{free_pd, look, parent_domain, pd};
use crate::urxe::region::{Wanted, dereg_mr, reg_dmabuf_mr, reg_mr};
use crate::urxe::shared::KeyMemory;

fn alloc(pd: *mut ibv_pd, size: usize) -> Result<(*mut c_void, *mut ibv_buf)> {
    let mut buf = ptr::null_mut();
    // SAFETY: a live PD.
    let address = unsafe { alloc_buf(pd, size, &mut buf) };
    if address.is_null() { Err(Errno::last()) } else { Ok((address, buf)) }
}

fn place(pd: *mut ibv_pd, mr: *mut ibv_mr, address: u64) -> super::super::Place {
    // SAFETY: live objects.
    let (pd, key) = unsafe { (Pd::of(pd).number(), (*mr).lkey) };
    look(key, &Wanted { pd, access: 0, address, length: 8, qp_num: 0 }).unwrap()
}

#[test]
fn buffers_are_pages_that_peers_can_map() {
    let pd = pd();
    // SAFETY: live objects.
    unsafe {
        let (address, buf) = alloc(pd, 5000).unwrap();
        assert!(address.addr().is_multiple_of(4096));
        assert_eq!(((*buf).addr, (*buf).size, (*buf).pd), (address, 5000, pd));
        assert_eq!((*buf).dmabuf_fd, -1);
        address.cast::<u8>().write_bytes(7, 5000);
        let part = address.wrapping_byte_add(16);
        let start = part.addr() as u64;
        let mr = reg_mr(pd, part, 100, start, IBV_ACCESS_LOCAL_WRITE as c_int);
        let there = place(pd, mr, start);
        assert_eq!((there.memory, there.file_offset), (KeyMemory::FILE, 16));
        let peer = host::host().unwrap().own();
        let mapped = peer.file(there.file).unwrap();
        let other = mapped.range(there.file_offset, 8).unwrap().cast::<u8>();
        assert_ne!(other.addr(), part.addr());
        part.cast::<u8>().write(99);
        assert_eq!(other.read(), 99);
        // The region keeps the memory, whatever the program does.
        free_buf(buf);
        assert_eq!(part.cast::<u8>().read(), 99);
        assert_eq!(dereg_mr(mr.cast()), 0);
        free_pd(pd);
    }
}

#[test]
fn no_bytes_and_too_many_are_refused() {
    let pd = pd();
    assert_eq!(alloc(pd, 0).err(), Some(Errno::EINVAL));
    assert_eq!(alloc(pd, usize::MAX / 2).err(), Some(Errno::ENOMEM));
    assert_eq!(alloc(pd, usize::MAX).err(), Some(Errno::ENOMEM));
    // SAFETY: nothing is left in it.
    unsafe { free_pd(pd) };
}

#[test]
fn memory_that_may_be_shared_with_the_host_is_a_dmabuf() {
    let pd = pd();
    // SAFETY: live objects.
    unsafe {
        let comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC;
        let mut attr =
            ibv_parent_domain_init_attr { pd, comp_mask, ..ibv_parent_domain_init_attr::zeroed() };
        let parent = parent_domain(&mut attr);
        let (address, buf) = alloc(parent, 8192).unwrap();
        let (fd, iova) = ((*buf).dmabuf_fd, address.addr() as u64 + 4096);
        assert!(fd >= 0);
        let mr = reg_dmabuf_mr(parent, 4096, 4096, iova, fd, IBV_ACCESS_LOCAL_WRITE as c_int);
        assert!(!mr.is_null());
        let there = place(parent, mr, iova + 8);
        // The memory itself, not another mapping of it.
        assert_eq!((there.address, there.memory), (iova + 8, KeyMemory::FILE));
        assert_eq!(there.file_offset, 4096 + 8);
        assert_eq!(dereg_mr(mr.cast()), 0);
        free_buf(buf);
        free_pd(parent);
        free_pd(pd);
    }
}

#[test]
fn ordinary_memory_serves_as_well() {
    let Memory::Ordinary(address, layout) = &ordinary(5000).unwrap() else { panic!() };
    assert!(address.as_ptr().addr().is_multiple_of(4096) && layout.size() == 5000);
    assert_eq!(ordinary(usize::MAX).err(), Some(Errno::ENOMEM));
}
