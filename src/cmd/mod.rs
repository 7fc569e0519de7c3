//! The kernel command layer that plugins call: `ibv_cmd_*`.

mod flow_spec;
mod qp_attr;

use core::ffi::c_int;

/// Whether write commands of this device file can go through the ioctl.
pub(crate) fn probe_write_by_ioctl(_cmd_fd: c_int, _driver_id: u32) -> bool {
    false
}
