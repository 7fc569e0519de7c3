//! Ioctl commands as providers extend them (`infiniband/cmd_ioctl.h`, `infiniband/cmd_write.h`).

use core::ffi::c_uint;

use crate::abi::*;
use crate::uapi::*;

/// `ibv_command_buffer::uhw_in_idx` and `uhw_out_idx`: there is no such attribute.
pub const _UHW_NO_INDEX: c_uint = 255;

/// A block of ioctl attributes. A provider fills one and links it to that of an `ibv_cmd_`
/// function, which sends them all in one command. The attributes follow the struct in memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_command_buffer {
    /// Next block of the same command, or NULL.
    pub next: *mut ibv_command_buffer,
    /// First free attribute.
    pub next_attr: *mut ib_uverbs_attr,
    /// End of the attributes.
    pub last_attr: *mut ib_uverbs_attr,
    /// Index of the attribute with the provider's request bytes, or `_UHW_NO_INDEX`.
    pub uhw_in_idx: u8,
    /// Index of the attribute with the provider's response bytes, or `_UHW_NO_INDEX`.
    pub uhw_out_idx: u8,
    /// Words of 4 bytes free in front of the provider's request bytes: room for the headers of a
    /// write command.
    pub uhw_in_headroom_dwords: u8,
    /// Words of 4 bytes free in front of the provider's response bytes.
    pub uhw_out_headroom_dwords: u8,
    /// Bit 0: an attribute did not fit; 1: fall back to extended write commands only; 2: never fall
    /// back. Bit fields `buffer_error`, `fallback_require_ex`, `fallback_ioctl_only` in C.
    pub flags: u8,
    /// Header of the ioctl; the attributes follow.
    pub hdr: ib_uverbs_ioctl_hdr,
}

/// What to do after an ioctl has been tried.
pub type write_fallback = c_uint;
/// Send the write command.
pub const TRY_WRITE: write_fallback = 0;
/// Send the extended write command.
pub const TRY_WRITE_EX: write_fallback = 1;
/// Return the error.
pub const ERROR: write_fallback = 2;
/// Done.
pub const SUCCESS: write_fallback = 3;

plain! {
    ibv_command_buffer
}
