//! What the kernel sees: the structs and numbers of its RDMA headers (`rdma/*.h`).
//!
//! Data only, checked at compile time like [`crate::abi`].
#![warn(missing_docs)]
#![allow(non_camel_case_types)]

/// Flow rules.
mod flow;
/// The ioctl and its attributes.
mod ioctl;
/// Numbers of objects, methods and attributes.
mod ioctl_ids;
/// Payloads of attributes.
mod ioctl_verbs;
/// RDMA netlink.
mod netlink;
/// Subnet administration records.
mod sa;
/// The write interface.
mod write;

pub use flow::*;
pub use ioctl::*;
pub use ioctl_ids::*;
pub use ioctl_verbs::*;
pub use netlink::*;
pub use sa::*;
pub use write::*;
