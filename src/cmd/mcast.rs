//! Multicast groups of a QP. `ibv_attach_mcast(3)`

use core::ffi::c_int;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{Buffers, Kernel, unless_gone};
use crate::sys::errno::ReturnNumber;
use crate::uapi::*;

/// Attaches a QP to a group. Returns 0 or the error number. `driver.h: ibv_cmd_attach_mcast`
pub(super) unsafe extern "C" fn ibv_cmd_attach_mcast(
    qp: *mut ibv_qp,
    gid: *const ibv_gid,
    lid: u16,
) -> c_int {
    // SAFETY: the provider passes a QP and a GID.
    unsafe {
        let request = ib_uverbs_attach_mcast {
            gid: (*gid).raw,
            qp_handle: (*qp).handle,
            mlid: lid,
            reserved: 0,
            driver_data: [],
        };
        Kernel::of((*qp).context).write(request, Buffers::NONE).map(drop)
    }
    .or_number()
}
export_private!(ibv_cmd_attach_mcast);

/// Detaches a QP from a group. Returns 0 or the error number. `driver.h: ibv_cmd_detach_mcast`
pub(super) unsafe extern "C" fn ibv_cmd_detach_mcast(
    qp: *mut ibv_qp,
    gid: *const ibv_gid,
    lid: u16,
) -> c_int {
    // SAFETY: the provider passes a QP and a GID.
    unsafe {
        let request = ib_uverbs_detach_mcast {
            gid: (*gid).raw,
            qp_handle: (*qp).handle,
            mlid: lid,
            reserved: 0,
            driver_data: [],
        };
        unless_gone(Kernel::of((*qp).context).write(request, Buffers::NONE)).map(drop)
    }
    .or_number()
}
export_private!(ibv_cmd_detach_mcast);

#[cfg(test)]
mod tests;
