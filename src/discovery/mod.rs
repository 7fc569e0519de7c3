//! Discovery: which RDMA devices the kernel has, and the list of them that programs see.

mod reference;

pub(crate) use reference::{device_get, device_put};
