//! The write interface (`rdma/ib_user_verbs.h`): headers here, numbers and payloads in the files
//! below.
//!
//! A command is one `write(2)` to the device file: header, core request, provider's request. The
//! kernel writes the core answer and the provider's answer to the address in the request. Handles
//! are numbers of the kernel, valid on one descriptor of the device file. Numbers are in host byte
//! order unless said otherwise.

use crate::abi::*;

mod addresses;
mod context;
mod cq;
mod device;
mod enums;
mod events;
mod memory;
mod numbers;
mod post;
mod qp;
mod qp_attr;
mod srq;
mod wq;

pub use addresses::*;
pub use context::*;
pub use cq::*;
pub use device::*;
pub use enums::*;
pub use events::*;
pub use memory::*;
pub use numbers::*;
pub use post::*;
pub use qp::*;
pub use qp_attr::*;
pub use srq::*;
pub use wq::*;

/// Header of every command.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_cmd_hdr {
    /// Number of the command, `IB_USER_VERBS_CMD_*`, with flags above bit 23.
    pub command: u32,
    /// Size of the request. Plain commands: everything, headers included, in units of 4 bytes;
    /// extended ones: the core request without headers, in units of 8 bytes.
    pub in_words: u16,
    /// Size of the room for the answer, in the same units; extended commands: the core answer.
    pub out_words: u16,
}

/// Second header of an extended command.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_cmd_hdr {
    /// Address of the answer.
    pub response: u64,
    /// Size of the provider's request in units of 8 bytes.
    pub provider_in_words: u16,
    /// Size of the room for the provider's answer in units of 8 bytes.
    pub provider_out_words: u16,
    /// 0.
    pub cmd_hdr_reserved: u32,
}

plain! {
    ib_uverbs_cmd_hdr, ib_uverbs_ex_cmd_hdr
}
