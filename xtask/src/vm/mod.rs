//! Real Debian kernels with RDMA devices, in a virtual machine without any hardware help.

pub(crate) mod boot;
pub(crate) mod chroot;
pub(crate) mod cli;
mod initrd;
pub(crate) mod library;
mod normal;
pub(crate) mod outcomes;
mod plugins;
pub(crate) mod programs;
pub(crate) mod rootfs;
pub(crate) mod suite;
mod suites;

pub(crate) use boot::Vm;
pub(crate) use suites::Suite;
