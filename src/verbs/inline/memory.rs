//! Memory regions and windows, device memory, domains.

use core::ffi::{c_int, c_uint, c_void};

use crate::abi::export::export;
use crate::abi::*;
use crate::uapi::*;
use crate::verbs::inline::{through_public_slot, through_slot, unsupported};
use crate::verbs::mr::{ibv_reg_mr, ibv_reg_mr_iova, ibv_reg_mr_iova2};

through_slot! {
    /// Gives advice about ranges of regions in a PD. Returns 0 or an error number.
    /// `ibv_advise_mr(3)`
    fn ibv_advise_mr(
        pd: *mut ibv_pd,
        advice: ib_uverbs_advise_mr_advice,
        flags: u32,
        sg_list: *mut ibv_sge,
        num_sge: u32
    ) -> c_int: (*pd).context => advise_mr;

    /// Creates a region that discards what is written to it; NULL with `errno` on failure.
    /// `ibv_alloc_null_mr(3)`
    fn ibv_alloc_null_mr(pd: *mut ibv_pd) -> *mut ibv_mr: (*pd).context => alloc_null_mr;

    /// Registers a part of device memory; NULL with `errno` on failure. `ibv_reg_dm_mr(3)`
    fn ibv_reg_dm_mr(
        pd: *mut ibv_pd,
        dm: *mut ibv_dm,
        dm_offset: u64,
        length: usize,
        access: c_uint
    ) -> *mut ibv_mr: (*pd).context => reg_dm_mr;

    /// Allocates device memory; NULL with `errno` on failure. `ibv_alloc_dm(3)`
    fn ibv_alloc_dm(context: *mut ibv_context, attr: *mut ibv_alloc_dm_attr) -> *mut ibv_dm:
        context => alloc_dm;

    /// Frees device memory. Returns 0 or an error number. `ibv_free_dm(3)`
    fn ibv_free_dm(dm: *mut ibv_dm) -> c_int: (*dm).context => free_dm;

    /// Creates a PD with a thread domain, allocators or other options on top of a PD; NULL with
    /// `errno` on failure. `ibv_alloc_parent_domain(3)`
    fn ibv_alloc_parent_domain(
        context: *mut ibv_context,
        attr: *mut ibv_parent_domain_init_attr
    ) -> *mut ibv_pd: context => alloc_parent_domain;

    /// Creates a thread domain; NULL with `errno` on failure. `ibv_alloc_td(3)`
    fn ibv_alloc_td(context: *mut ibv_context, attr: *mut ibv_td_init_attr) -> *mut ibv_td:
        context => alloc_td;

    /// Frees a thread domain. Returns 0 or an error number. `ibv_dealloc_td(3)`
    fn ibv_dealloc_td(td: *mut ibv_td) -> c_int: (*td).context => dealloc_td;
}

through_public_slot! {
    /// Allocates a memory window; NULL with `errno` on failure. `ibv_alloc_mw(3)`
    fn ibv_alloc_mw(pd: *mut ibv_pd, mw_type: ibv_mw_type) -> *mut ibv_mw:
        (*pd).context => alloc_mw;

    /// Frees a memory window. Returns 0 or an error number. `ibv_dealloc_mw(3)`
    fn ibv_dealloc_mw(mw: *mut ibv_mw) -> c_int: (*mw).context => dealloc_mw;
}

/// Copies to device memory. Returns 0 or an error number. `ibv_memcpy_to_dm(3)`
pub(super) unsafe extern "C" fn ibv_memcpy_to_dm(
    dm: *mut ibv_dm,
    dm_offset: u64,
    host_addr: *const c_void,
    length: usize,
) -> c_int {
    // SAFETY: the caller passes device memory and readable memory of this length.
    unsafe {
        match (*dm).memcpy_to_dm {
            Some(copy) => copy(dm, dm_offset, host_addr, length),
            None => unsupported(),
        }
    }
}
export!(ibv_memcpy_to_dm @@ "IBVERBS_RS_1.0");

/// Copies from device memory. Returns 0 or an error number. `ibv_memcpy_from_dm(3)`
pub(super) unsafe extern "C" fn ibv_memcpy_from_dm(
    host_addr: *mut c_void,
    dm: *mut ibv_dm,
    dm_offset: u64,
    length: usize,
) -> c_int {
    // SAFETY: the caller passes device memory and writable memory of this length.
    unsafe {
        match (*dm).memcpy_from_dm {
            Some(copy) => copy(host_addr, dm, dm_offset, length),
            None => unsupported(),
        }
    }
}
export!(ibv_memcpy_from_dm @@ "IBVERBS_RS_1.0");

/// Whether the compiler saw that access contains no optional right, so that a library without
/// `ibv_reg_mr_iova2` would do.
fn without_options(access: c_uint, is_access_const: c_int) -> bool {
    is_access_const != 0 && access & IBV_ACCESS_OPTIONAL_RANGE == 0
}

/// Registers memory; NULL with `errno` on failure. This is what `ibv_reg_mr` means in C.
/// `ibv_reg_mr(3)`
pub(super) unsafe extern "C" fn __ibv_reg_mr(
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    access: c_uint,
    is_access_const: c_int,
) -> *mut ibv_mr {
    // SAFETY: the caller passes a PD.
    unsafe {
        if without_options(access, is_access_const) {
            ibv_reg_mr(pd, addr, length, access.cast_signed())
        } else {
            ibv_reg_mr_iova2(pd, addr, length, addr.expose_provenance() as u64, access)
        }
    }
}
export!(__ibv_reg_mr @@ "IBVERBS_RS_1.0");

/// Registers memory that the device knows by another address; NULL with `errno` on failure. This is
/// what `ibv_reg_mr_iova` means in C. `ibv_reg_mr(3)`
pub(super) unsafe extern "C" fn __ibv_reg_mr_iova(
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    iova: u64,
    access: c_uint,
    is_access_const: c_int,
) -> *mut ibv_mr {
    // SAFETY: the caller passes a PD.
    unsafe {
        if without_options(access, is_access_const) {
            ibv_reg_mr_iova(pd, addr, length, iova, access.cast_signed())
        } else {
            ibv_reg_mr_iova2(pd, addr, length, iova, access)
        }
    }
}
export!(__ibv_reg_mr_iova @@ "IBVERBS_RS_1.0");
