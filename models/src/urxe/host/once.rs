//! The host of a process, which is made once: what it is does not matter.

#[path = "../../../../src/urxe/host/fork.rs"]
mod fork;
pub(crate) mod model;

/// What stands for a host.
struct Host(u32);
