//! Real Debian kernels with RDMA devices, in a virtual machine without any hardware help.

pub(crate) mod boot;
pub(crate) mod chroot;
pub(crate) mod cli;
mod initrd;
mod rootfs;
mod suites;

pub(crate) use boot::Vm;
pub(crate) use suites::Suite;
