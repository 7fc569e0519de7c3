use crate::sync::atomic::{AtomicBool, Ordering};
use core::ptr;

use super::*;
use crate::sync::rounds;
use crate::sys::page;
use crate::urxe::host::testing::Child;
use crate::urxe::host::{Kind, Table};
use crate::urxe::region::testing::{dealloc_pd, free_pd, look, pd};
use crate::urxe::region::{Denied, Wanted, import_mr, unimport_mr};
use crate::urxe::shared::QpShared;

const LOCAL: u32 = IBV_ACCESS_LOCAL_WRITE;
const REMOTE: u32 = LOCAL | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

/// Pages of memory that is read and written.
struct Pages(*mut c_void, usize);

impl Pages {
    fn new(pages: usize, protection: c_int) -> Pages {
        let length = pages * page::size();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, at a place that the kernel chooses.
        let address = unsafe { libc::mmap(ptr::null_mut(), length, protection, flags, -1, 0) };
        assert_ne!(address, libc::MAP_FAILED);
        Pages(address, length)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is the test's own.
        unsafe { libc::munmap(self.0, self.1) };
    }
}

fn writable() -> Pages {
    Pages::new(4, libc::PROT_READ | libc::PROT_WRITE)
}

fn reg(pd: *mut ibv_pd, addr: *mut c_void, length: usize, access: u32) -> Result<*mut ibv_mr> {
    reg_iova(pd, addr, length, addr.expose_provenance() as u64, access)
}

fn reg_iova(
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    iova: u64,
    access: u32,
) -> Result<*mut ibv_mr> {
    // SAFETY: a live PD.
    let mr = unsafe { reg_mr(pd, addr, length, iova, access.cast_signed()) };
    if mr.is_null() { Err(Errno::last()) } else { Ok(mr) }
}

/// Deregisters, which must not fail.
fn dereg(mr: *mut ibv_mr) {
    // SAFETY: a live region, for the last time.
    assert_eq!(unsafe { dereg_mr(mr.cast()) }, 0);
}

fn wanted(pd: *mut ibv_pd, access: u32, address: u64, length: u64) -> Wanted {
    // SAFETY: a live PD.
    Wanted { pd: unsafe { Pd::of(pd) }.number(), access, address, length, qp_num: 5 }
}

fn key(mr: *mut ibv_mr) -> u32 {
    // SAFETY: a live region.
    unsafe { (*mr).rkey }
}

/// The record of a QP, entered where those are looked for that may have a request under way.
struct Entered {
    record: u64,
    index: u32,
    shared: &'static QpShared,
}

impl Entered {
    fn new() -> Entered {
        let host = host::host().unwrap();
        let record = host.new_record::<QpShared>(Kind::Qp).unwrap();
        let index = host.table_insert(Table::Qp, record).unwrap();
        Entered { record, index, shared: host.memory().at(record).unwrap() }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let host = host::host().unwrap();
        host.table_remove(Table::Qp, self.index);
        host.free_record(Kind::Qp, self.record);
    }
}

#[test]
fn a_region_is_what_was_asked_for() {
    let (pd, pages) = (pd(), writable());
    let mr = reg(pd, pages.0, 5000, REMOTE).unwrap();
    let start = pages.0.addr() as u64;
    // SAFETY: live objects.
    unsafe {
        assert_eq!(((*mr).addr, (*mr).length, (*mr).pd), (pages.0, 5000, pd));
        assert_eq!((*mr).context, (*pd).context);
        assert_eq!(((*mr).lkey, (*mr).rkey), (Mr::of(mr).key(), Mr::of(mr).key()));
        let vmr = mr.cast::<verbs_mr>();
        assert_eq!(((*vmr).mr_type, (*vmr).access), (IBV_MR_TYPE_MR, REMOTE as c_int));
        assert_eq!(dealloc_pd(pd), libc::EBUSY);
    }
    let rkey = key(mr);
    let place = look(rkey, &wanted(pd, IBV_ACCESS_REMOTE_WRITE, start + 8, 4992)).unwrap();
    assert_eq!((place.address, place.memory), (start + 8, KeyMemory::ORDINARY));
    let denied = look(rkey, &wanted(pd, IBV_ACCESS_REMOTE_ATOMIC, start, 8));
    assert!(matches!(denied, Err(Denied::Access { .. })));
    let denied = look(rkey, &wanted(pd, 0, start + 8, 4993));
    assert!(matches!(denied, Err(Denied::Range { .. })));
    dereg(mr);
    assert_eq!(look(rkey, &wanted(pd, 0, start, 8)), Err(Denied::Unknown { key: rkey }));
    // SAFETY: nothing is left in it.
    unsafe { free_pd(pd) };
}

#[test]
fn bad_arguments_are_refused() {
    let (pd, pages) = (pd(), writable());
    let read_only = Pages::new(1, libc::PROT_READ);
    let hole = Pages::new(1, libc::PROT_NONE);
    let end = ptr::with_exposed_provenance_mut(usize::MAX - 4095);
    for (addr, length, access, errno) in [
        (pages.0, 0, LOCAL, Errno::EINVAL),
        (pages.0, 8, IBV_ACCESS_REMOTE_WRITE, Errno::EINVAL),
        (pages.0, 8, IBV_ACCESS_REMOTE_ATOMIC, Errno::EINVAL),
        (pages.0, 8, 1 << 15, Errno::EINVAL),
        (pages.0, usize::MAX, LOCAL, Errno::EINVAL),
        (end, 4096, LOCAL, Errno::EINVAL),
        (ptr::null_mut(), 8, LOCAL, Errno::EFAULT),
        (ptr::null_mut(), usize::MAX, LOCAL, Errno::EFAULT),
        (hole.0, 8, 0, Errno::EFAULT),
        (read_only.0, 8, LOCAL, Errno::EFAULT),
        (pages.0, 1 << 45, 0, Errno::EFAULT),
    ] {
        assert_eq!(reg(pd, addr, length, access), Err(errno), "{addr:?} {length} {access:#x}");
    }
    dereg(reg(pd, read_only.0, 8, IBV_ACCESS_REMOTE_READ).unwrap());
    dereg(reg(pd, pages.0, 8, LOCAL | IBV_ACCESS_RELAXED_ORDERING).unwrap());
    // SAFETY: nothing is left in it.
    unsafe { free_pd(pd) };
}

#[test]
fn keys_count_from_where_the_program_says() {
    let (pd, pages) = (pd(), writable());
    let start = pages.0.addr() as u64;
    let mr = reg_iova(pd, pages.0, 4096, 0x1_0000_0000, REMOTE).unwrap();
    let place = look(key(mr), &wanted(pd, 0, 0x1_0000_0010, 16)).unwrap();
    assert_eq!(place.address, start + 16);
    assert!(look(key(mr), &wanted(pd, 0, start, 16)).is_err());
    dereg(mr);
    let mr = reg(pd, pages.0, 4096, REMOTE | IBV_ACCESS_ZERO_BASED).unwrap();
    assert_eq!(look(key(mr), &wanted(pd, 0, 4000, 96)).unwrap().address, start + 4000);
    assert!(look(key(mr), &wanted(pd, 0, 4000, 97)).is_err());
    dereg(mr);
    let wraps = reg_iova(pd, pages.0, 4096, u64::MAX - 4094, REMOTE);
    assert_eq!(wraps, Err(Errno::EINVAL));
    let mr = reg_iova(pd, pages.0, 4096, u64::MAX - 4096, REMOTE).unwrap();
    assert!(look(key(mr), &wanted(pd, 0, u64::MAX - 1, 1)).is_ok());
    dereg(mr);
    // SAFETY: nothing is left in it.
    unsafe { free_pd(pd) };
}

#[test]
fn memory_on_demand_need_not_be_there() {
    let (pd, hole) = (pd(), Pages::new(2, libc::PROT_NONE));
    let mr = reg(pd, hole.0, 8192, LOCAL | IBV_ACCESS_ON_DEMAND).unwrap();
    assert!(look(key(mr), &wanted(pd, LOCAL, hole.0.addr() as u64, 8192)).is_ok());
    dereg(mr);
    // All addresses.
    let mr = reg(pd, ptr::null_mut(), usize::MAX, REMOTE | IBV_ACCESS_ON_DEMAND).unwrap();
    let place = look(key(mr), &wanted(pd, IBV_ACCESS_REMOTE_READ, 0x7fff_0000_1234, 99)).unwrap();
    assert_eq!(place.address, 0x7fff_0000_1234);
    assert_eq!(place.access & IBV_ACCESS_ON_DEMAND, IBV_ACCESS_ON_DEMAND);
    dereg(mr);
    // SAFETY: nothing is left in it.
    unsafe { free_pd(pd) };
}

#[test]
fn a_null_region_is_for_local_use_of_all_addresses() {
    let pd = pd();
    // SAFETY: a live PD.
    let mr = unsafe { alloc_null_mr(pd) };
    // SAFETY: a live region.
    let (length, mr_type) = unsafe { ((*mr).length, (*mr.cast::<verbs_mr>()).mr_type) };
    assert_eq!((length, mr_type), (usize::MAX, IBV_MR_TYPE_NULL_MR));
    let place = look(key(mr), &wanted(pd, LOCAL, 12345, 1 << 40)).unwrap();
    assert_eq!(place.memory, KeyMemory::NULL);
    assert!(look(key(mr), &wanted(pd, IBV_ACCESS_REMOTE_READ, 0, 8)).is_err());
    assert!(look(key(mr), &wanted(pd, IBV_ACCESS_REMOTE_WRITE, 0, 8)).is_err());
    let access = IBV_REREG_MR_CHANGE_ACCESS as c_int;
    // SAFETY: a live region.
    let status = unsafe { rereg_mr(mr.cast(), access, ptr::null_mut(), ptr::null_mut(), 0, 1) };
    assert_eq!(status, libc::EINVAL);
    dereg(mr);
    // SAFETY: nothing is left in it.
    unsafe { free_pd(pd) };
}

/// Each combination of what can change, and that nothing else does.
#[test]
fn registering_again_changes_what_the_flags_say() {
    let (pd, other_pd) = (pd(), crate::urxe::region::testing::pd());
    let (pages, other) = (writable(), writable());
    let [start, moved] = [pages.0.addr() as u64, other.0.addr() as u64];
    for flags in 1..8_u32 {
        let mr = reg(pd, pages.0, 4096, LOCAL).unwrap();
        let before = key(mr);
        // SAFETY: live objects.
        let status = unsafe {
            rereg_mr(mr.cast(), flags as c_int, other_pd, other.0, 8192, REMOTE as c_int)
        };
        assert_eq!((status, key(mr)), (0, before), "{flags}");
        let has = |flag| flags & flag != 0;
        let now_pd = if has(IBV_REREG_MR_CHANGE_PD) { other_pd } else { pd };
        let (address, length) =
            if has(IBV_REREG_MR_CHANGE_TRANSLATION) { (moved, 8192) } else { (start, 4096) };
        let (access, more) = if has(IBV_REREG_MR_CHANGE_ACCESS) {
            (REMOTE, IBV_ACCESS_REMOTE_ATOMIC)
        } else {
            (LOCAL, IBV_ACCESS_REMOTE_READ)
        };
        let place = look(before, &wanted(now_pd, access, address, length)).unwrap();
        assert_eq!((place.address, place.access), (address, access));
        assert!(look(before, &wanted(now_pd, access | more, address, 1)).is_err());
        assert!(look(before, &wanted(now_pd, access, address, length + 1)).is_err());
        let wrong_pd = if has(IBV_REREG_MR_CHANGE_PD) { pd } else { other_pd };
        assert!(look(before, &wanted(wrong_pd, access, address, 1)).is_err());
        // SAFETY: a live PD, which has the region or not.
        unsafe { assert_eq!(dealloc_pd(now_pd), libc::EBUSY) };
        dereg(mr);
    }
    // SAFETY: nothing is left in them.
    unsafe {
        free_pd(pd);
        free_pd(other_pd);
    }
}

#[test]
fn a_failed_registration_leaves_the_region_as_it_was() {
    let (pd, pages) = (pd(), writable());
    let hole = Pages::new(1, libc::PROT_NONE);
    let read_only = Pages::new(1, libc::PROT_READ);
    let start = pages.0.addr() as u64;
    let mr = reg(pd, pages.0, 4096, LOCAL).unwrap();
    let translation = IBV_REREG_MR_CHANGE_TRANSLATION;
    let access = IBV_REREG_MR_CHANGE_ACCESS;
    for (flags, addr, length, new_access, errno) in [
        (0, pages.0, 8, 0, libc::EINVAL),
        (8, pages.0, 8, 0, libc::EINVAL),
        (translation, hole.0, 8, 0, libc::EFAULT),
        (translation, read_only.0, 8, 0, libc::EFAULT),
        (translation, pages.0, 0, 0, libc::EINVAL),
        (translation, pages.0, usize::MAX, 0, libc::EINVAL),
        (access, ptr::null_mut(), 0, IBV_ACCESS_REMOTE_WRITE, libc::EINVAL),
        (access, ptr::null_mut(), 0, 1 << 12, libc::EINVAL),
    ] {
        // SAFETY: a live region.
        let status = unsafe {
            rereg_mr(mr.cast(), flags as c_int, ptr::null_mut(), addr, length, new_access as c_int)
        };
        assert_eq!(status, errno, "{flags} {length}");
        assert_eq!(look(key(mr), &wanted(pd, LOCAL, start, 4096)).unwrap().access, LOCAL);
    }
    dereg(mr);
    // To be written, memory that could only be read until now must be writable.
    let mr = reg(pd, read_only.0, 4096, IBV_ACCESS_REMOTE_READ).unwrap();
    // SAFETY: a live region.
    let status = unsafe {
        let flags = access as c_int;
        rereg_mr(mr.cast(), flags, ptr::null_mut(), ptr::null_mut(), 0, LOCAL as c_int)
    };
    assert_eq!(status, libc::EFAULT);
    dereg(mr);
    // SAFETY: nothing is left in it.
    unsafe { free_pd(pd) };
}

#[test]
fn a_region_may_begin_and_end_to_count_from_zero() {
    let (pd, pages) = (pd(), writable());
    let start = pages.0.addr() as u64;
    let mr = reg(pd, pages.0, 4096, LOCAL).unwrap();
    let change = |access: u32| {
        let flags = IBV_REREG_MR_CHANGE_ACCESS as c_int;
        // SAFETY: a live region.
        unsafe { rereg_mr(mr.cast(), flags, ptr::null_mut(), ptr::null_mut(), 0, access as c_int) }
    };
    assert_eq!(change(LOCAL | IBV_ACCESS_ZERO_BASED), 0);
    assert_eq!(look(key(mr), &wanted(pd, LOCAL, 5, 1)).unwrap().address, start + 5);
    assert_eq!(change(LOCAL), 0);
    assert_eq!(look(key(mr), &wanted(pd, LOCAL, start + 5, 1)).unwrap().address, start + 5);
    dereg(mr);
    // SAFETY: nothing is left in it.
    unsafe { free_pd(pd) };
}

/// A request holds the lock of the QP from before it looks at the key until its bytes are moved.
#[test]
fn deregistration_waits_for_requests_that_are_under_way() {
    let host = host::host().unwrap();
    let (pd, pages) = (pd(), writable());
    let mr = reg(pd, pages.0, 4096, REMOTE).unwrap();
    let (rkey, start) = (key(mr), pages.0.addr() as u64);
    let qp = Entered::new();
    let wanted = wanted(pd, IBV_ACCESS_REMOTE_WRITE, start, 8);
    let moved = AtomicBool::new(false);
    let address = mr.expose_provenance();
    std::thread::scope(|scope| {
        let guard = qp.shared.lock.try_lock(host.holder()).unwrap();
        assert!(look(rkey, &wanted).is_ok());
        let deregistering = scope.spawn(|| {
            dereg(ptr::with_exposed_provenance_mut(address));
            assert!(moved.load(Ordering::SeqCst), "the bytes were still being moved");
        });
        while look(rkey, &wanted).is_ok() {
            std::thread::yield_now();
        }
        std::thread::sleep(core::time::Duration::from_millis(10));
        assert!(!deregistering.is_finished());
        moved.store(true, Ordering::SeqCst);
        drop(guard);
    });
    // SAFETY: nothing is left in it.
    unsafe { free_pd(pd) };
}

#[test]
fn regions_of_many_threads_do_not_disturb_each_other() {
    let pages = writable();
    let start = pages.0.expose_provenance();
    // What is found out once, is found out by this thread: drd does not know how `OnceLock` orders.
    let first = pd();
    dereg(reg(first, pages.0, 100, LOCAL).unwrap());
    // SAFETY: nothing is left in it.
    unsafe { free_pd(first) };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(move || {
                let pd = pd();
                for round in 0..rounds(300) as usize {
                    let addr = ptr::with_exposed_provenance_mut(start + round);
                    let mr = reg(pd, addr, 100, LOCAL).unwrap();
                    let place = look(key(mr), &wanted(pd, LOCAL, addr.addr() as u64, 100));
                    assert_eq!(place.unwrap().address, addr.addr() as u64);
                    let old = key(mr);
                    dereg(mr);
                    assert!(look(old, &wanted(pd, LOCAL, addr.addr() as u64, 1)).is_err());
                }
                // SAFETY: nothing is left in it.
                unsafe { free_pd(pd) };
            });
        }
    });
}

#[test]
fn another_process_sees_the_keys_and_a_child_does_not_touch_them() {
    let (pd, pages) = (pd(), writable());
    let mr = reg(pd, pages.0, 4096, REMOTE).unwrap();
    let (rkey, slot) = (key(mr), host::host().unwrap().slot());
    let wanted = wanted(pd, IBV_ACCESS_REMOTE_WRITE, pages.0.addr() as u64, 8);
    let mut child = Child::start(|| {
        let peer = host::host().unwrap().peer(slot).unwrap();
        assert!(crate::urxe::region::check(peer.memory(), rkey, &wanted).is_ok());
        assert!(look(rkey, &wanted).is_err(), "it is not one of the child");
        // SAFETY: the memory of the region was inherited.
        unsafe {
            let flags = IBV_REREG_MR_CHANGE_ACCESS as c_int;
            let status =
                rereg_mr(mr.cast(), flags, ptr::null_mut(), ptr::null_mut(), 0, LOCAL as c_int);
            assert_eq!(status, libc::ENODEV);
            assert_eq!(dereg_mr(mr.cast()), 0);
        }
        assert!(crate::urxe::region::check(peer.memory(), rkey, &wanted).is_ok());
    });
    child.join();
    assert!(look(rkey, &wanted).is_ok());
    dereg(mr);
    // SAFETY: nothing is left in it.
    unsafe { free_pd(pd) };
}

#[test]
fn a_region_is_imported_by_its_handle_and_pd() {
    let (pd, other, pages) = (pd(), crate::urxe::region::testing::pd(), writable());
    let mr = reg(pd, pages.0, 4096, REMOTE).unwrap();
    // SAFETY: live objects.
    unsafe {
        let handle = (*mr).handle;
        for (pd, handle) in [(other, handle), (pd, handle + 1), (pd, 0), (pd, u32::MAX)] {
            assert!(import_mr(pd, handle).is_null());
            assert_eq!(Errno::last(), Errno::EINVAL);
        }
        let imported = import_mr(pd, handle);
        assert!((*imported).addr.is_null());
        assert_eq!(((*imported).length, (*imported).lkey), (4096, (*mr).lkey));
        assert_eq!((*imported.cast::<verbs_mr>()).mr_type, IBV_MR_TYPE_IMPORTED_MR);
        assert_eq!(dereg_mr(imported.cast()), libc::EINVAL);
        unimport_mr(imported);
        assert!(look(key(mr), &wanted(pd, 0, pages.0.addr() as u64, 8)).is_ok());
        dereg(mr);
        free_pd(pd);
        free_pd(other);
    }
}

#[test]
fn a_request_that_does_not_end_keeps_a_region_from_being_freed() {
    use crate::urxe::shared::IN_A_HURRY;
    let host = host::host().unwrap();
    let (pd, pages) = (pd(), writable());
    let mr = reg(pd, pages.0, 4096, REMOTE).unwrap();
    let (rkey, start) = (key(mr), pages.0.addr() as u64);
    let qp = Entered::new();
    let guard = qp.shared.lock.try_lock(host.holder()).unwrap();
    IN_A_HURRY.set(true);
    // SAFETY: a live region.
    assert_eq!(unsafe { dereg_mr(mr.cast()) }, libc::EIO);
    IN_A_HURRY.set(false);
    // No new request finds it.
    assert!(look(rkey, &wanted(pd, IBV_ACCESS_REMOTE_WRITE, start, 8)).is_err());
    drop(guard);
    dereg(mr);
    // SAFETY: nothing is left in it.
    unsafe { free_pd(pd) };
}
