//! Protection domains and keys for tests.

use core::ffi::c_int;
use core::ptr;

use super::check::Content;
use super::{Denied, Place, Wanted, check, keys};
use crate::abi::*;
use crate::urxe::device::OPS;
use crate::urxe::host;

/// A PD. Nobody looks at its context.
pub(crate) fn pd() -> *mut ibv_pd {
    // SAFETY: any context will do.
    unsafe { OPS.alloc_pd.unwrap()(ptr::without_provenance_mut(0x1000)) }
}

/// # Safety
///
/// `attr` must name a live PD.
pub(crate) unsafe fn parent_domain(attr: &mut ibv_parent_domain_init_attr) -> *mut ibv_pd {
    // SAFETY: the caller's promise; any context will do.
    let domain =
        unsafe { OPS.alloc_parent_domain.unwrap()(ptr::without_provenance_mut(0x1000), attr) };
    assert!(!domain.is_null());
    domain
}

/// # Safety
///
/// `pd` must be a live PD, and is used no more if the answer is 0.
pub(crate) unsafe fn dealloc_pd(pd: *mut ibv_pd) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { OPS.dealloc_pd.unwrap()(pd) }
}

/// Frees a PD in which nothing is left.
///
/// # Safety
///
/// `pd` must be a live PD, for the last time.
pub(crate) unsafe fn free_pd(pd: *mut ibv_pd) {
    // SAFETY: the caller's promise.
    assert_eq!(unsafe { dealloc_pd(pd) }, 0);
}

/// What a key of this process allows to a peer of the QP with this number, or to itself (0).
pub(crate) fn look(key: u32, wanted: &Wanted) -> Result<Place, Denied> {
    check(host::host().unwrap().memory(), key, wanted)
}

/// A key of ordinary memory that its owner may write.
pub(crate) fn key(host: &host::Host, pd: u32, address: u64, length: u64) -> u32 {
    let key = keys::reserve(host).unwrap();
    let content = Content {
        key,
        pd,
        access: IBV_ACCESS_LOCAL_WRITE,
        iova: address,
        address,
        length,
        ..Content::default()
    };
    keys::store(host, &content).unwrap();
    key
}
