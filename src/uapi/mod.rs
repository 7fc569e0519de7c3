//! What the kernel sees: the structs and numbers of its RDMA headers (`rdma/*.h`).
//!
//! Data only, checked at compile time like [`crate::abi`].
#![warn(missing_docs)]
#![allow(non_camel_case_types)]

macro_rules! modules {
    ($($name:ident),* $(,)?) => { $(mod $name; pub use $name::*;)* };
}

modules!(flow, ioctl, ioctl_ids, ioctl_verbs, netlink, sa, write);
