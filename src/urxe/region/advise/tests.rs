use core::ptr;

use super::*;
use crate::urxe::region::testing::{free_pd, pd};
use crate::urxe::region::{alloc_null_mr, dereg_mr, reg_mr};

const ON_DEMAND: u32 = IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE;
const READ: u32 = IBV_ADVISE_MR_ADVICE_PREFETCH;
const WRITE: u32 = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
const NO_FAULT: u32 = IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;

/// Pages that are not there yet, registered on demand.
struct Setting {
    pd: *mut ibv_pd,
    memory: *mut core::ffi::c_void,
    mr: *mut ibv_mr,
}

const LENGTH: usize = 4 * 4096;

impl Setting {
    fn new(access: u32, protection: c_int) -> Setting {
        let (pd, flags) = (pd(), libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, and a live PD.
        unsafe {
            let memory = libc::mmap(ptr::null_mut(), LENGTH, protection, flags, -1, 0);
            let start = memory.expose_provenance() as u64;
            let mr = reg_mr(pd, memory, LENGTH, start, access.cast_signed());
            assert!(!mr.is_null());
            Setting { pd, memory, mr }
        }
    }

    fn sge(&self, offset: u64, length: u32) -> ibv_sge {
        // SAFETY: a live region.
        let lkey = unsafe { (*self.mr).lkey };
        ibv_sge { addr: self.memory.addr() as u64 + offset, length, lkey }
    }

    fn advise(&self, advice: u32, flags: u32, list: &mut [ibv_sge]) -> c_int {
        // SAFETY: a live PD and a list.
        unsafe { advise_mr(self.pd, advice, flags, list.as_mut_ptr(), list.len() as u32) }
    }

    fn resident(&self) -> [bool; 4] {
        let mut pages = [0_u8; 4];
        // SAFETY: a byte for each page.
        unsafe { libc::mincore(self.memory, LENGTH, pages.as_mut_ptr()) };
        pages.map(|page| page & 1 != 0)
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        // SAFETY: live objects, for the last time.
        unsafe {
            assert_eq!(dereg_mr(self.mr.cast()), 0);
            free_pd(self.pd);
            libc::munmap(self.memory, LENGTH);
        }
    }
}

const READ_WRITE: c_int = libc::PROT_READ | libc::PROT_WRITE;

#[test]
fn prefetched_pages_are_there() {
    let setting = Setting::new(ON_DEMAND, READ_WRITE);
    assert_eq!(setting.resident(), [false; 4]);
    let mut list = [setting.sge(100, 10), setting.sge(3 * 4096, 4096)];
    assert_eq!(setting.advise(NO_FAULT, 0, &mut list), 0);
    assert_eq!(setting.resident(), [false; 4]);
    assert_eq!(setting.advise(WRITE, IBV_ADVISE_MR_FLAG_FLUSH, &mut list), 0);
    assert_eq!(setting.resident(), [true, false, false, true]);
    assert_eq!(setting.advise(READ, 0, &mut [setting.sge(4096, 0)]), 0);
    assert_eq!(setting.advise(READ, 0, &mut []), 0);
}

#[test]
fn pages_of_a_region_that_is_not_on_demand_are_prefetched_too() {
    let setting = Setting::new(IBV_ACCESS_LOCAL_WRITE, READ_WRITE);
    assert_eq!(setting.resident(), [true; 4]);
    // Given back since; the region is as it was.
    // SAFETY: the mapping is of this test, and holds nothing.
    assert_eq!(unsafe { libc::madvise(setting.memory, LENGTH, libc::MADV_DONTNEED) }, 0);
    assert_eq!(setting.resident(), [false; 4]);
    assert_eq!(setting.advise(READ, 0, &mut [setting.sge(4096, 1)]), 0);
    assert_eq!(setting.resident(), [false, true, false, false]);
}

#[test]
fn refusals_have_their_numbers() {
    let setting = Setting::new(ON_DEMAND, READ_WRITE);
    let other = Setting::new(ON_DEMAND, READ_WRITE);
    let read_only = Setting::new(IBV_ACCESS_ON_DEMAND, READ_WRITE);
    let good = setting.sge(0, 8);
    assert_eq!(setting.advise(3, 0, &mut [good]), libc::EOPNOTSUPP);
    assert_eq!(setting.advise(READ, 2, &mut [good]), libc::EINVAL);
    for (sge, errno) in [
        (ibv_sge { lkey: good.lkey ^ 1, ..good }, libc::ENOENT),
        (ibv_sge { lkey: 0, ..good }, libc::ENOENT),
        (ibv_sge { lkey: u32::MAX, ..good }, libc::ENOENT),
        (other.sge(0, 8), libc::EPERM),
        (setting.sge(LENGTH as u64 - 4, 8), libc::EFAULT),
        (ibv_sge { addr: u64::MAX, ..good }, libc::EFAULT),
    ] {
        assert_eq!(setting.advise(READ, 0, &mut [good, sge]), errno, "{:#x}", sge.lkey);
    }
    // SAFETY: a live PD, and a region that lives as long as it is used.
    unsafe {
        let null = alloc_null_mr(setting.pd);
        let sge = ibv_sge { addr: 0, length: 8, lkey: (*null).lkey };
        assert_eq!(setting.advise(READ, 0, &mut [sge]), libc::EINVAL);
        assert_eq!(dereg_mr(null.cast()), 0);
    }
    assert_eq!(read_only.advise(WRITE, 0, &mut [read_only.sge(0, 8)]), libc::EPERM);
    assert_eq!(read_only.advise(READ, 0, &mut [read_only.sge(0, 8)]), 0);
    let hole = Setting::new(ON_DEMAND, libc::PROT_NONE);
    assert_eq!(hole.advise(READ, 0, &mut [hole.sge(0, 8)]), libc::EFAULT);
    assert_eq!(hole.advise(NO_FAULT, 0, &mut [hole.sge(0, 8)]), 0);
}
