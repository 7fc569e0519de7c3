//! Memory windows: binding those of type 1.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::sys::errno::{Errno, Result, ReturnNumber, from_number};
use crate::verbs::{mr, refuse};

/// Posts a request to bind a type 1 window to a part of a region, or to none: without a region, or
/// for no bytes. After success `mw->rkey` is the new key, which is good for what was sent before
/// only once the request has completed; after failure it is the old one. Returns 0 or an error
/// number. `ibv_bind_mw(3)`
///
/// What can be told without the device is checked here, so that a bad request is an error of this
/// call and not of its completion:
///
/// * EINVAL: not a window of type 1; no region but an address or a length; a QP of another context
///   or of another type than RC, UC and XRC_SEND; flags beyond `IBV_SEND_FENCE` and
///   `IBV_SEND_SIGNALED`; access that a window cannot give; a region without
///   `IBV_ACCESS_MW_BIND`, or without local write access when remote writes or atomic operations
///   are wanted; a part that is not inside of the region. IBTA: "Bind Memory Window"
/// * EPERM: a region of another PD than the window's;
/// * EOPNOTSUPP: the device has no windows;
/// * what the provider says, such as ENOMEM for a full send queue.
pub(super) unsafe extern "C" fn ibv_bind_mw(
    qp: *mut ibv_qp,
    mw: *mut ibv_mw,
    mw_bind: *mut ibv_mw_bind,
) -> c_int {
    // SAFETY: the caller passes NULL or live objects.
    unsafe { bind(qp, mw, mw_bind) }.or_number()
}
export!(ibv_bind_mw @@ "IBVERBS_RS_1.0");

unsafe fn bind(qp: *mut ibv_qp, mw: *mut ibv_mw, mw_bind: *mut ibv_mw_bind) -> Result<()> {
    if qp.is_null() || mw.is_null() || mw_bind.is_null() {
        return refuse!(EINVAL, "ibv_bind_mw: no QP, no window or no request");
    }
    // SAFETY: the caller's promise, for all places below.
    unsafe {
        check_window(&*mw, &(*mw_bind).bind_info)?;
        check_request(&*qp, &*mw, &*mw_bind)?;
        check_region(&(*mw_bind).bind_info)?;
        let context = (*mw).context;
        let bind_mw = (*context).ops.bind_mw.ok_or(Errno::EOPNOTSUPP)?;
        let old_rkey = (*mw).rkey;
        let status = bind_mw(qp, mw, mw_bind);
        if status == 0 {
            return Ok(());
        }
        (*mw).rkey = old_rkey;
        // The verb returns the number itself; a provider may have put it in `errno` alone.
        from_number(if status > 0 { status } else { Errno::last().0.max(1) })
    }
}

/// Checks of window and region, in the order in which programs know them.
unsafe fn check_window(mw: &ibv_mw, info: &ibv_mw_bind_info) -> Result<()> {
    if mw.type_ != IBV_MW_TYPE_1 {
        return refuse!(EINVAL, "ibv_bind_mw: the window is not of type 1");
    }
    if info.mr.is_null() {
        if info.addr != 0 || info.length != 0 {
            return refuse!(EINVAL, "ibv_bind_mw: an address or a length but no region");
        }
        return Ok(());
    }
    // SAFETY: the caller passes a region or NULL.
    if unsafe { (*info.mr).pd } != mw.pd {
        return refuse!(EPERM, "ibv_bind_mw: region and window are of different PDs");
    }
    Ok(())
}

/// Checks of QP and flags.
fn check_request(qp: &ibv_qp, mw: &ibv_mw, request: &ibv_mw_bind) -> Result<()> {
    /// What says nothing about remote access. Bits that this library does not know are the
    /// provider's to judge, and optional ones may always be ignored.
    const NOT_FOR_WINDOWS: u32 =
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB;
    if qp.context != mw.context {
        return refuse!(EINVAL, "ibv_bind_mw: QP and window are of different contexts");
    }
    if !matches!(qp.qp_type, IBV_QPT_RC | IBV_QPT_UC | IBV_QPT_XRC_SEND) {
        return refuse!(EINVAL, "ibv_bind_mw: QP type {} cannot bind windows", qp.qp_type);
    }
    let flags = request.send_flags & !(IBV_SEND_FENCE | IBV_SEND_SIGNALED);
    if flags != 0 {
        return refuse!(EINVAL, "ibv_bind_mw: send_flags {flags:#x} are not for binding");
    }
    let access = request.bind_info.mw_access_flags & NOT_FOR_WINDOWS;
    if access != 0 {
        return refuse!(EINVAL, "ibv_bind_mw: mw_access_flags {access:#x} are not for windows");
    }
    Ok(())
}

/// Checks what the part of the region demands of it. Nothing is demanded for no bytes, which unbind
/// the window.
unsafe fn check_region(info: &ibv_mw_bind_info) -> Result<()> {
    if info.mr.is_null() || info.length == 0 {
        return Ok(());
    }
    // SAFETY: the caller passes a region, which is the begin of the provider's.
    let (region, mr_type, access) = unsafe {
        let vmr = info.mr.cast::<verbs_mr>().read();
        (vmr.ibv_mr, vmr.mr_type, vmr.access.cast_unsigned())
    };
    // Regions of device memory have no address, and their access is not kept.
    let access_is_known = mr_type == IBV_MR_TYPE_MR && (access != 0 || !region.addr.is_null());
    if access_is_known {
        if access & IBV_ACCESS_MW_BIND == 0 {
            return refuse!(EINVAL, "ibv_bind_mw: the region lacks IBV_ACCESS_MW_BIND");
        }
        let writes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
        if info.mw_access_flags & writes != 0 && access & IBV_ACCESS_LOCAL_WRITE == 0 {
            return refuse!(EINVAL, "ibv_bind_mw: the region lacks IBV_ACCESS_LOCAL_WRITE");
        }
    }
    // A region that covers all memory is no longer than the address space.
    if mr_type == IBV_MR_TYPE_NULL_MR {
        return Ok(());
    }
    // SAFETY: as above.
    let start = unsafe { mr::device_start(info.mr) };
    // Without a known start only the length can be wrong.
    let offset = match start {
        Some(start) => info.addr.checked_sub(start),
        None => Some(0),
    };
    let inside = offset
        .and_then(|offset| (region.length as u64).checked_sub(offset))
        .is_some_and(|room| info.length <= room);
    if !inside {
        return refuse!(
            EINVAL,
            "ibv_bind_mw: {} bytes at {:#x} are not within the region's {} bytes at {:#x}",
            info.length,
            info.addr,
            region.length,
            start.unwrap_or(0),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
