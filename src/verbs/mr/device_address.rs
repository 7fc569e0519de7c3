//! By which address a device knows a region, where that is not its address in the program:
//! registrations with an `iova`, and of dma-bufs. The structs of a region do not say it.

use crate::sync::atomic::{AtomicUsize, Ordering};
use core::hash::{BuildHasherDefault, Hasher};
use std::collections::HashMap;

use crate::abi::*;
use crate::sys::errno::{Errno, Result};
use crate::sys::fork_mutex::{ForkMutex, Rank};
use crate::sys::mutex::MutexGuard;

/// Device addresses by the address of the region's struct.
type Addresses = HashMap<usize, u64, BuildHasherDefault<Mix>>;

static ADDRESSES: ForkMutex<Addresses> =
    ForkMutex::new(Rank::Addresses, HashMap::with_hasher(BuildHasherDefault::new()));

/// How many there are: the usual 0 spares the lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn addresses() -> MutexGuard<'static, Addresses> {
    ADDRESSES.lock()
}

/// Notes the device address of a new region. ENOMEM.
pub(super) fn record(mr: *const ibv_mr, start: u64) -> Result<()> {
    let mut addresses = addresses();
    addresses.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
    addresses.insert(mr.addr(), start);
    COUNT.store(addresses.len(), Ordering::Relaxed);
    Ok(())
}

/// Forgets the device address of a region and returns it.
pub(super) fn forget(mr: *const ibv_mr) -> Option<u64> {
    if COUNT.load(Ordering::Relaxed) == 0 {
        return None;
    }
    let mut addresses = addresses();
    let start = addresses.remove(&mr.addr());
    COUNT.store(addresses.len(), Ordering::Relaxed);
    start
}

/// The address by which the device knows the first byte of a region, if the library can tell.
///
/// # Safety
///
/// `mr` must be a region that is part of a provider's.
pub(in crate::verbs) unsafe fn start(mr: *const ibv_mr) -> Option<u64> {
    // SAFETY: the caller's promise.
    let verbs_mr { ibv_mr: ibv_mr { addr, length, .. }, mr_type, access } =
        unsafe { mr.cast::<verbs_mr>().read() };
    if access.cast_unsigned() & IBV_ACCESS_ZERO_BASED != 0 {
        return None;
    }
    if COUNT.load(Ordering::Relaxed) != 0
        && let Some(&start) = addresses().get(&mr.addr())
    {
        return Some(start);
    }
    // NULL is the address of regions of device memory, and of the one that covers all memory.
    let ordinary = mr_type == IBV_MR_TYPE_MR && (!addr.is_null() || length == usize::MAX);
    ordinary.then(|| addr.addr() as u64)
}

/// Hashes an address: nobody chooses addresses to make them collide.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_usize(&mut self, address: usize) {
        self.write_u64(address as u64);
    }

    fn write_u64(&mut self, word: u64) {
        // The map uses the low bits and the topmost ones; the product is random in the upper half.
        let product = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(mr_type: ibv_mr_type, addr: usize, length: usize, access: u32) -> verbs_mr {
        verbs_mr {
            ibv_mr: ibv_mr {
                addr: core::ptr::without_provenance_mut(addr),
                length,
                ..ibv_mr::zeroed()
            },
            mr_type,
            access: access.cast_signed(),
        }
    }

    fn start_of(mr: &verbs_mr) -> Option<u64> {
        // SAFETY: a live region.
        unsafe { start(&mr.ibv_mr) }
    }

    #[test]
    fn ordinary_regions_are_known_by_their_address() {
        let of = |mr_type, addr, length, access| start_of(&region(mr_type, addr, length, access));
        assert_eq!(of(IBV_MR_TYPE_MR, 0x1000, 10, 1), Some(0x1000));
        assert_eq!(of(IBV_MR_TYPE_MR, 0, usize::MAX, IBV_ACCESS_ON_DEMAND), Some(0));
        assert_eq!(of(IBV_MR_TYPE_MR, 0, 4096, 0), None, "device memory");
        assert_eq!(of(IBV_MR_TYPE_MR, 0x1000, 10, IBV_ACCESS_ZERO_BASED), None);
        for other in [IBV_MR_TYPE_NULL_MR, IBV_MR_TYPE_IMPORTED_MR, IBV_MR_TYPE_DMABUF_MR] {
            assert_eq!(of(other, 0x1000, 10, 1), None);
        }
    }

    #[test]
    fn a_recorded_address_comes_first_until_it_is_forgotten() {
        let mr = region(IBV_MR_TYPE_DMABUF_MR, 0x1000, 10, 1);
        record(&mr.ibv_mr, 0x99).unwrap();
        assert_eq!(start_of(&mr), Some(0x99));
        record(&mr.ibv_mr, 0x98).unwrap();
        assert_eq!(forget(&mr.ibv_mr), Some(0x98));
        assert_eq!(forget(&mr.ibv_mr), None);
        assert_eq!(start_of(&mr), None);
    }

    #[test]
    fn neighbouring_addresses_are_spread() {
        let mut low = std::collections::HashSet::new();
        for i in 0..256_usize {
            let mut mix = Mix::default();
            mix.write_usize(0x7f00_0000_0000 + i * 64);
            low.insert(mix.finish() & 0xfff);
        }
        assert!(low.len() > 200, "{}", low.len());
    }
}
