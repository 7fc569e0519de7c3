//! Protection and XRC domains, regions and windows.

use crate::abi::*;

/// ALLOC_PD.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_alloc_pd {
    /// Address of the answer.
    pub response: u64,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// Answer to ALLOC_PD.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_alloc_pd_resp {
    /// Protection domain.
    pub pd_handle: u32,
    /// The provider's bytes follow.
    pub driver_data: [u32; 0],
}

/// DEALLOC_PD.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_dealloc_pd {
    /// Protection domain.
    pub pd_handle: u32,
}

/// OPEN_XRCD.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_open_xrcd {
    /// Address of the answer.
    pub response: u64,
    /// Open file that names the domain; -1: a private one.
    pub fd: u32,
    /// `O_CREAT`, `O_EXCL`.
    pub oflags: u32,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// Answer to OPEN_XRCD.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_open_xrcd_resp {
    /// XRC domain.
    pub xrcd_handle: u32,
    /// The provider's bytes follow.
    pub driver_data: [u32; 0],
}

/// CLOSE_XRCD.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_close_xrcd {
    /// XRC domain.
    pub xrcd_handle: u32,
}

/// REG_MR.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_reg_mr {
    /// Address of the answer.
    pub response: u64,
    /// First byte in the process.
    pub start: u64,
    /// Length in bytes.
    pub length: u64,
    /// Address that the keys are based on; the same offset in its page as `start`.
    pub hca_va: u64,
    /// Protection domain.
    pub pd_handle: u32,
    /// See `ib_uverbs_access_flags`.
    pub access_flags: u32,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// Answer to REG_MR.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_reg_mr_resp {
    /// Region.
    pub mr_handle: u32,
    /// Local key.
    pub lkey: u32,
    /// Remote key.
    pub rkey: u32,
    /// The provider's bytes follow.
    pub driver_data: [u32; 0],
}

/// REREG_MR.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_rereg_mr {
    /// Address of the answer.
    pub response: u64,
    /// Region.
    pub mr_handle: u32,
    /// What to change, see `ibv_rereg_mr_flags`.
    pub flags: u32,
    /// First byte in the process.
    pub start: u64,
    /// Length in bytes.
    pub length: u64,
    /// Address that the keys are based on.
    pub hca_va: u64,
    /// New protection domain, or 0.
    pub pd_handle: u32,
    /// See `ib_uverbs_access_flags`.
    pub access_flags: u32,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// Answer to REREG_MR.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_rereg_mr_resp {
    /// Local key.
    pub lkey: u32,
    /// Remote key.
    pub rkey: u32,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// DEREG_MR.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_dereg_mr {
    /// Region.
    pub mr_handle: u32,
}

/// ALLOC_MW.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_alloc_mw {
    /// Address of the answer.
    pub response: u64,
    /// Protection domain.
    pub pd_handle: u32,
    /// One of `ibv_mw_type`.
    pub mw_type: u8,
    /// 0.
    pub reserved: [u8; 3],
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// Answer to ALLOC_MW.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_alloc_mw_resp {
    /// Memory window.
    pub mw_handle: u32,
    /// Remote key.
    pub rkey: u32,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// DEALLOC_MW.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_dealloc_mw {
    /// Memory window.
    pub mw_handle: u32,
}

plain! {
    ib_uverbs_alloc_pd, ib_uverbs_alloc_pd_resp, ib_uverbs_dealloc_pd, ib_uverbs_open_xrcd,
    ib_uverbs_open_xrcd_resp, ib_uverbs_close_xrcd, ib_uverbs_reg_mr, ib_uverbs_reg_mr_resp,
    ib_uverbs_rereg_mr, ib_uverbs_rereg_mr_resp, ib_uverbs_dereg_mr, ib_uverbs_alloc_mw,
    ib_uverbs_alloc_mw_resp, ib_uverbs_dealloc_mw
}
