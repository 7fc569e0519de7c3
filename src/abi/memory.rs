//! Protection domains, memory regions, windows, buffers and DMA handles (`infiniband/verbs.h`).

use core::ffi::{c_int, c_uint, c_void};

use crate::abi::*;

// ---- Protection, thread and XRC domains.

/// A protection domain, `ibv_alloc_pd(3)`: objects work together only within one.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_pd {
    /// Device context.
    pub context: *mut ibv_context,
    /// Kernel handle, `ibv_import_pd(3)`.
    pub handle: u32,
}

/// Argument of `ibv_alloc_td(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_td_init_attr {
    /// No bits are defined; 0.
    pub comp_mask: u32,
}

/// A thread domain: the caller promises that one thread at a time uses its objects, so that they
/// need no locks. It takes effect through a parent domain.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_td {
    /// Device context.
    pub context: *mut ibv_context,
}

/// Bits of `ibv_parent_domain_init_attr::comp_mask`.
pub type ibv_parent_domain_init_attr_mask = c_uint;
/// `alloc` and `free`.
pub const IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS: ibv_parent_domain_init_attr_mask = 1 << 0;
/// `pd_context`.
pub const IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT: ibv_parent_domain_init_attr_mask = 1 << 1;
/// In a confidential guest, allow buffers in memory that is shared with the host; see
/// `IBV_DEVICE_CC_DMA_BOUNCE`.
pub const IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC: ibv_parent_domain_init_attr_mask =
    1 << 2;

/// Argument of `ibv_alloc_parent_domain(3)`: a protection domain with extras, usable wherever an
/// `ibv_pd` is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_parent_domain_init_attr {
    /// Protection domain it is based on; not NULL.
    pub pd: *mut ibv_pd,
    /// Thread domain, or NULL.
    pub td: *mut ibv_td,
    /// Which members below are set, see `ibv_parent_domain_init_attr_mask`.
    pub comp_mask: u32,
    /// Allocates the provider's buffers: zeroed, and safe from copy-on-write by a fork. Sizes in
    /// bytes; `resource_type` has the driver id in its upper 32 bits and the provider's code below.
    /// Returns NULL for failure, `IBV_ALLOCATOR_USE_DEFAULT` (all ones) to leave it to the
    /// provider.
    pub alloc: Option<
        unsafe extern "C" fn(
            pd: *mut ibv_pd,
            pd_context: *mut c_void,
            size: usize,
            alignment: usize,
            resource_type: u64,
        ) -> *mut c_void,
    >,
    /// Frees what `alloc` returned.
    pub free: Option<
        unsafe extern "C" fn(
            pd: *mut ibv_pd,
            pd_context: *mut c_void,
            ptr: *mut c_void,
            resource_type: u64,
        ),
    >,
    /// The caller's pointer, passed to both functions.
    pub pd_context: *mut c_void,
}

/// Bits of `ibv_xrcd_init_attr::comp_mask`; the first two are needed.
pub type ibv_xrcd_init_attr_mask = c_uint;
/// `fd`.
pub const IBV_XRCD_INIT_ATTR_FD: ibv_xrcd_init_attr_mask = 1 << 0;
/// `oflags`.
pub const IBV_XRCD_INIT_ATTR_OFLAGS: ibv_xrcd_init_attr_mask = 1 << 1;
/// First undefined bit.
pub const IBV_XRCD_INIT_ATTR_RESERVED: ibv_xrcd_init_attr_mask = 1 << 2;

/// Argument of `ibv_open_xrcd(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_xrcd_init_attr {
    /// Which members are set, see `ibv_xrcd_init_attr_mask`.
    pub comp_mask: u32,
    /// Open file whose inode names the domain for all processes that open it, or -1 for a private
    /// one.
    pub fd: c_int,
    /// `O_CREAT` and `O_EXCL` as for `open(2)`.
    pub oflags: c_int,
}

/// An XRC domain: the XRC SRQs that a target QP can reach.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_xrcd {
    /// Device context.
    pub context: *mut ibv_context,
}

// ---- Memory regions.

/// Rights of regions, windows and QPs, and ways to register. Local read is always allowed.
pub type ibv_access_flags = c_uint;
/// Local write; needed for receives and together with remote write or atomic.
pub const IBV_ACCESS_LOCAL_WRITE: ibv_access_flags = 1 << 0;
/// RDMA write by the peer.
pub const IBV_ACCESS_REMOTE_WRITE: ibv_access_flags = 1 << 1;
/// RDMA read by the peer.
pub const IBV_ACCESS_REMOTE_READ: ibv_access_flags = 1 << 2;
/// Atomics by the peer.
pub const IBV_ACCESS_REMOTE_ATOMIC: ibv_access_flags = 1 << 3;
/// Memory windows may be bound to the region.
pub const IBV_ACCESS_MW_BIND: ibv_access_flags = 1 << 4;
/// Keys address the memory by offset from 0.
pub const IBV_ACCESS_ZERO_BASED: ibv_access_flags = 1 << 5;
/// Pages are faulted in when the device needs them instead of being pinned.
pub const IBV_ACCESS_ON_DEMAND: ibv_access_flags = 1 << 6;
/// All pages are huge and stay so; with `IBV_ACCESS_ON_DEMAND`.
pub const IBV_ACCESS_HUGETLB: ibv_access_flags = 1 << 7;
/// Flush to global visibility by the peer.
pub const IBV_ACCESS_FLUSH_GLOBAL: ibv_access_flags = 1 << 8;
/// Flush to persistence by the peer.
pub const IBV_ACCESS_FLUSH_PERSISTENT: ibv_access_flags = 1 << 9;
/// Writes of the device may arrive in any order; only a completion says that data is there.
pub const IBV_ACCESS_RELAXED_ORDERING: ibv_access_flags = 1 << 20;

/// First of the access bits that a device or kernel may ignore.
pub const IBV_ACCESS_OPTIONAL_FIRST: c_uint = 1 << 20;
/// All access bits that may be ignored: 20 to 29. They are removed for kernels that do not know
/// them.
pub const IBV_ACCESS_OPTIONAL_RANGE: c_uint = 0x3ff << 20;

/// A memory region, `ibv_reg_mr(3)`. The provider allocates it inside its own larger struct.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_mr {
    /// Device context.
    pub context: *mut ibv_context,
    /// Protection domain.
    pub pd: *mut ibv_pd,
    /// First byte in the process; for a dma-buf the offset in it, for device memory NULL.
    pub addr: *mut c_void,
    /// Length in bytes.
    pub length: usize,
    /// Kernel handle, `ibv_import_mr(3)`.
    pub handle: u32,
    /// Local key, for `ibv_sge::lkey`.
    pub lkey: u32,
    /// Remote key, to give to peers.
    pub rkey: u32,
}

/// Bits of `ibv_mr_init_attr::comp_mask`.
pub type ibv_mr_init_attr_mask = c_uint;
/// `iova`.
pub const IBV_REG_MR_MASK_IOVA: ibv_mr_init_attr_mask = 1 << 0;
/// `addr`.
pub const IBV_REG_MR_MASK_ADDR: ibv_mr_init_attr_mask = 1 << 1;
/// `fd`: a dma-buf; needs `iova` and `fd_offset`, excludes `addr`.
pub const IBV_REG_MR_MASK_FD: ibv_mr_init_attr_mask = 1 << 2;
/// `fd_offset`.
pub const IBV_REG_MR_MASK_FD_OFFSET: ibv_mr_init_attr_mask = 1 << 3;
/// `dmah`.
pub const IBV_REG_MR_MASK_DMAH: ibv_mr_init_attr_mask = 1 << 4;
/// `buf`; needs `addr`, excludes `fd` and `fd_offset`.
pub const IBV_REG_MR_MASK_BUF: ibv_mr_init_attr_mask = 1 << 5;

/// What `ibv_reg_mr_ex(3)` registers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_mr_init_attr {
    /// Length in bytes.
    pub length: usize,
    /// Rights, see `ibv_access_flags`.
    pub access: c_int,
    /// Which members below are set, see `ibv_mr_init_attr_mask`.
    pub comp_mask: u64,
    /// Address that the keys are based on; `addr` if not set.
    pub iova: u64,
    /// First byte in the process.
    pub addr: *mut c_void,
    /// File descriptor of a dma-buf.
    pub fd: c_int,
    /// First byte in the dma-buf.
    pub fd_offset: u64,
    /// DMA handle with hints for the device's accesses.
    pub dmah: *mut ibv_dmah,
    /// Buffer from `ibv_alloc_buf(3)` that `addr` lies in.
    pub buf: *mut ibv_buf,
}

/// What `ibv_rereg_mr(3)` changes.
pub type ibv_rereg_mr_flags = c_uint;
/// Address and length.
pub const IBV_REREG_MR_CHANGE_TRANSLATION: ibv_rereg_mr_flags = 1 << 0;
/// Protection domain.
pub const IBV_REREG_MR_CHANGE_PD: ibv_rereg_mr_flags = 1 << 1;
/// Rights.
pub const IBV_REREG_MR_CHANGE_ACCESS: ibv_rereg_mr_flags = 1 << 2;
/// All defined flags.
pub const IBV_REREG_MR_FLAGS_SUPPORTED: ibv_rereg_mr_flags =
    IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS;

/// Failures of `ibv_rereg_mr(3)` and what they leave behind.
pub type ibv_rereg_mr_err_code = c_int;
/// Bad arguments; the region is as before.
pub const IBV_REREG_MR_ERR_INPUT: ibv_rereg_mr_err_code = -1;
/// The new range could not be protected from fork; the region is as before.
pub const IBV_REREG_MR_ERR_DONT_FORK_NEW: ibv_rereg_mr_err_code = -2;
/// Changed, but the old range is still excluded from fork.
pub const IBV_REREG_MR_ERR_DO_FORK_OLD: ibv_rereg_mr_err_code = -3;
/// The command failed; the region may only be deregistered.
pub const IBV_REREG_MR_ERR_CMD: ibv_rereg_mr_err_code = -4;
/// The command failed, the region may only be deregistered, and the new range is still excluded
/// from fork.
pub const IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW: ibv_rereg_mr_err_code = -5;

/// `ibv_advise_mr(3)`: fault pages in for reading.
pub const IBV_ADVISE_MR_ADVICE_PREFETCH: c_uint = 0;
/// `ibv_advise_mr(3)`: fault pages in for writing.
pub const IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE: c_uint = 1;
/// `ibv_advise_mr(3)`: map pages that are present, fault in nothing.
pub const IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT: c_uint = 2;
/// `ibv_advise_mr(3)`: return when it is done, not when it is queued.
pub const IBV_ADVISE_MR_FLAG_FLUSH: c_uint = 1 << 0;

// ---- Memory windows.

/// Kind of a memory window.
pub type ibv_mw_type = c_uint;
/// Bound by `ibv_bind_mw(3)`; works with every QP of the protection domain.
pub const IBV_MW_TYPE_1: ibv_mw_type = 1;
/// Bound by a posted `IBV_WR_BIND_MW`; can be invalidated by either side.
pub const IBV_MW_TYPE_2: ibv_mw_type = 2;

/// A memory window, `ibv_alloc_mw(3)`: a range of a region with rights and a remote key of its own.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_mw {
    /// Device context.
    pub context: *mut ibv_context,
    /// Protection domain.
    pub pd: *mut ibv_pd,
    /// Remote key; a type 1 bind changes it.
    pub rkey: u32,
    /// Kernel handle.
    pub handle: u32,
    /// Type; `type` in C.
    pub type_: ibv_mw_type,
}

/// Range and rights of a bind.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_mw_bind_info {
    /// Region, registered with `IBV_ACCESS_MW_BIND`.
    pub mr: *mut ibv_mr,
    /// First byte: address or offset that the region's keys are based on.
    pub addr: u64,
    /// Length in bytes; 0 unbinds a type 1 window.
    pub length: u64,
    /// Remote rights, of `ibv_access_flags`, and `IBV_ACCESS_ZERO_BASED`.
    pub mw_access_flags: c_uint,
}

/// Argument of `ibv_bind_mw(3)`, type 1 windows.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_mw_bind {
    /// The caller's value, returned in the completion.
    pub wr_id: u64,
    /// Of `ibv_send_flags`.
    pub send_flags: c_uint,
    /// Range and rights.
    pub bind_info: ibv_mw_bind_info,
}

// ---- Device memory.

/// Argument of `ibv_alloc_dm(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_alloc_dm_attr {
    /// Length in bytes, at most `ibv_device_attr_ex::max_dm_size` in all.
    pub length: usize,
    /// Alignment, as power of two of bytes.
    pub log_align_req: u32,
    /// No bits are defined; 0.
    pub comp_mask: u32,
}

/// Bits of `ibv_dm::comp_mask`.
pub type ibv_dm_mask = c_uint;
/// `handle` is set.
pub const IBV_DM_MASK_HANDLE: ibv_dm_mask = 1 << 0;

/// Memory on the device, `ibv_alloc_dm(3)`; registered with `ibv_reg_dm_mr(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_dm {
    /// Device context.
    pub context: *mut ibv_context,
    /// Copy from host memory; 0 or an errno value. Lengths and offsets in bytes, some devices want
    /// multiples of 4.
    pub memcpy_to_dm: Option<
        unsafe extern "C" fn(
            dm: *mut ibv_dm,
            dm_offset: u64,
            host_addr: *const c_void,
            length: usize,
        ) -> c_int,
    >,
    /// Copy to host memory; 0 or an errno value.
    pub memcpy_from_dm: Option<
        unsafe extern "C" fn(
            host_addr: *mut c_void,
            dm: *mut ibv_dm,
            dm_offset: u64,
            length: usize,
        ) -> c_int,
    >,
    /// Which members below are set, see `ibv_dm_mask`.
    pub comp_mask: u32,
    /// Kernel handle, `ibv_import_dm(3)`.
    pub handle: u32,
}

// ---- Buffers and DMA handles.

/// A buffer from `ibv_alloc_buf(3)`; opaque to applications (`infiniband/driver.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_buf {
    /// First byte in the process.
    pub addr: *mut c_void,
    /// Length in bytes.
    pub size: usize,
    /// Protection domain it was allocated for; the only one it can be registered with.
    pub pd: *mut ibv_pd,
    /// The dma-buf behind it, or -1.
    pub dmabuf_fd: c_int,
}

/// Kind of memory that a DMA handle is for (PCIe TLP processing hints).
pub type ibv_tph_mem_type = c_uint;
/// Volatile.
pub const IBV_TPH_MEM_TYPE_VM: ibv_tph_mem_type = 0;
/// Persistent.
pub const IBV_TPH_MEM_TYPE_PM: ibv_tph_mem_type = 1;

/// Bits of `ibv_dmah_init_attr::comp_mask`.
pub type ibv_dmah_init_attr_mask = c_uint;
/// `cpu_id`.
pub const IBV_DMAH_INIT_ATTR_MASK_CPU_ID: ibv_dmah_init_attr_mask = 1 << 0;
/// `ph`.
pub const IBV_DMAH_INIT_ATTR_MASK_PH: ibv_dmah_init_attr_mask = 1 << 1;
/// `tph_mem_type`.
pub const IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE: ibv_dmah_init_attr_mask = 1 << 2;

/// Argument of `ibv_alloc_dmah(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_dmah_init_attr {
    /// Which members are set, see `ibv_dmah_init_attr_mask`.
    pub comp_mask: u32,
    /// CPU that will read the data the device writes.
    pub cpu_id: u32,
    /// Processing hint of PCIe, 2 bits.
    pub ph: u8,
    /// See `ibv_tph_mem_type`.
    pub tph_mem_type: u8,
}

/// A DMA handle: hints for the device's accesses to a region; `ibv_mr_init_attr::dmah`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_dmah {
    /// Device context.
    pub context: *mut ibv_context,
}

plain! {
    ibv_pd, ibv_td_init_attr, ibv_td, ibv_parent_domain_init_attr, ibv_xrcd_init_attr, ibv_xrcd,
    ibv_mr, ibv_mr_init_attr, ibv_mw, ibv_mw_bind_info, ibv_mw_bind, ibv_alloc_dm_attr, ibv_dm,
    ibv_buf, ibv_dmah_init_attr, ibv_dmah
}
