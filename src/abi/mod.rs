//! What C sees: types, constants and the export macro.
//!
//! Every type here has the name and the layout that rdma-core 65.0 gives it in its headers; the
//! sibling [`crate::uapi`] holds what the kernel's headers define. There is no behaviour in either:
//! the modules hold data layouts, and `check` compares each of them at compile time with the
//! measured sizes, offsets and values.
//!
//! Anonymous C unions cannot be written in Rust; they appear as one named member (for example
//! `ibv_send_wr::imm`).
#![warn(missing_docs)]
#![allow(non_camel_case_types, non_snake_case)]

mod check;
pub(crate) mod export;
mod plain;

pub use plain::Plain;
pub(crate) use plain::plain;

// What applications see (`infiniband/verbs.h`).

/// Address handles, global routes, static rates.
mod ah;
/// Device contexts and the functions behind the inline verbs.
mod context;
/// Flow counters and completion counters.
mod counters;
/// Completion queues, work completions, completion channels.
mod cq;
/// Devices and their capabilities.
mod device;
/// Asynchronous events.
mod event;
/// Flow rules and flow actions.
mod flow;
/// Protection domains, memory regions and windows, buffers.
mod memory;
/// Opcodes of packets.
mod opcode;
/// Ports and GIDs.
mod port;
/// Queue pairs.
mod qp;
/// Queue pairs that are posted to by calls.
mod qp_ex;
/// Subnet administration records.
mod sa;
/// Shared receive queues and tag matching.
mod srq;
/// Work requests.
mod work_request;
/// Work queues and receive indirection tables.
mod wq;

// What providers see too (`infiniband/driver.h` and others).

/// Ioctl commands as providers extend them.
mod command_buffer;
/// Objects and registration of providers.
mod driver;
/// Write commands as providers pass them.
mod kern_abi;
/// The operations of a provider.
mod ops;

// What programs of libibverbs 1.0 see.

/// Objects of the `IBVERBS_1.0` interface.
mod v1_0;

pub use ah::*;
pub use command_buffer::*;
pub use context::*;
pub use counters::*;
pub use cq::*;
pub use device::*;
pub use driver::*;
pub use event::*;
pub use flow::*;
pub use kern_abi::*;
pub use memory::*;
pub use opcode::*;
pub use ops::*;
pub use port::*;
pub use qp::*;
pub use qp_ex::*;
pub use sa::*;
pub use srq::*;
pub use v1_0::*;
pub use work_request::*;
pub use wq::*;

/// 16 bits in network byte order, as `linux/types.h` names them.
pub type __be16 = u16;
/// 32 bits in network byte order.
pub type __be32 = u32;
/// 64 bits in network byte order.
pub type __be64 = u64;

/// The context's private part, seen from outside: only `crate::provider_api` knows what is in it.
#[repr(C)]
pub struct verbs_ex_private {
    _opaque: [u8; 0],
}
