//! libibverbs.so.1: the RDMA verbs library. A map of the modules, in reading order.

// What C sees: types, constants, the export macro.
pub mod abi;
// What the kernel sees: its structs and numbers.
pub mod uapi;

// The log and the warnings.
mod log;
// Atomics, and waiting in loops.
mod sync;
// How many use an object.
mod in_use;
// Raw libc behind small functions, errors, the environment.
mod sys;

// Address handles from completions, Ethernet address resolution.
mod address;
// The `IBVERBS_1.0` interface.
mod compat;
// Fork support.
mod fork;
// The exported verbs, a file per object.
mod verbs;

// Kernel commands, `ibv_cmd_*`.
mod cmd;
// Devices: netlink, sysfs, device files, the list.
mod discovery;
// Set-up before the first list of devices.
mod init;
// Plugins: configuration, loading, matching.
mod plugin;
// What plugins call, but for commands.
mod provider_api;
// The software device.
mod urxe;

/// Gives bytes to one of the device's fuzz targets, see `urxe::fuzz`.
#[cfg(fuzzing)]
pub fn fuzz(target: &str, bytes: &[u8]) {
    urxe::fuzz::run(target, bytes);
}
