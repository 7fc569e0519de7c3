//! State and attributes of queue pairs. `ibv_modify_qp(3)`, `ibv_query_qp(3)`,
//! `ibv_modify_qp_rate_limit(3)`

use core::ffi::c_int;
use core::mem::offset_of;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::qp_attr::{modify_request, store_attr, store_init_attr};
use crate::cmd::{Buffers, Kernel};
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::uapi::*;

/// Changes the attributes of a QP that `attr_mask` names. Returns 0 or the error number:
/// EOPNOTSUPP for bits that this form of the command does not have.
/// `driver.h: ibv_cmd_modify_qp`
pub(super) unsafe extern "C" fn ibv_cmd_modify_qp(
    qp: *mut ibv_qp,
    attr: *mut ibv_qp_attr,
    attr_mask: c_int,
    cmd: *mut ibv_modify_qp,
    cmd_size: usize,
) -> c_int {
    // SAFETY: the provider passes its QP, attributes and a buffer of this size.
    unsafe {
        let buffers = Buffers::request(cmd, cmd_size);
        modify(qp, attr, attr_mask.cast_unsigned(), buffers)
    }
    .or_number()
}
export_private!(ibv_cmd_modify_qp);

/// [`ibv_cmd_modify_qp`] with the rate limit. EINVAL if the provider's buffer has no room for it.
/// `driver.h: ibv_cmd_modify_qp_ex`
pub(super) unsafe extern "C" fn ibv_cmd_modify_qp_ex(
    qp: *mut ibv_qp,
    attr: *mut ibv_qp_attr,
    attr_mask: c_int,
    cmd: *mut ibv_modify_qp_ex,
    cmd_size: usize,
    resp: *mut ib_uverbs_ex_modify_qp_resp,
    resp_size: usize,
) -> c_int {
    // SAFETY: the provider passes its QP, attributes and buffers of these sizes.
    unsafe {
        let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
        modify_ex(qp, attr, attr_mask.cast_unsigned(), cmd_size, buffers)
    }
    .or_number()
}
export_private!(ibv_cmd_modify_qp_ex);

/// Asks for the attributes of a QP. `attr` gets all that the kernel says, whatever `attr_mask`
/// names, `init_attr` what the QP was created with. Returns 0 or the error number: EOPNOTSUPP for
/// bits that the command does not have. `driver.h: ibv_cmd_query_qp`
pub(super) unsafe extern "C" fn ibv_cmd_query_qp(
    qp: *mut ibv_qp,
    attr: *mut ibv_qp_attr,
    attr_mask: c_int,
    init_attr: *mut ibv_qp_init_attr,
    cmd: *mut ibv_query_qp,
    cmd_size: usize,
) -> c_int {
    // SAFETY: the provider passes its QP, attributes to be filled in and a buffer of this size.
    unsafe {
        let buffers = Buffers::request(cmd, cmd_size);
        query(qp, attr, attr_mask.cast_unsigned(), init_attr, buffers)
    }
    .or_number()
}
export_private!(ibv_cmd_query_qp);

/// # Safety
///
/// `qp` must be a QP, `attr` attributes of which at least those are set that the mask names.
unsafe fn modify(
    qp: *const ibv_qp,
    attr: *const ibv_qp_attr,
    mask: u32,
    buffers: Buffers<'_>,
) -> Result<()> {
    if mask >= IBV_QP_RATE_LIMIT {
        return Err(Errno::EOPNOTSUPP);
    }
    // SAFETY: the caller's promise.
    unsafe {
        let request = modify_request((*qp).handle, attr, mask);
        Kernel::of((*qp).context).write(request, buffers).map(drop)
    }
}

/// # Safety
///
/// As for [`modify`].
unsafe fn modify_ex(
    qp: *const ibv_qp,
    attr: *const ibv_qp_attr,
    mask: u32,
    cmd_size: usize,
    buffers: Buffers<'_>,
) -> Result<()> {
    const RATE_LIMIT_END: usize = offset_of!(ibv_modify_qp_ex, core_payload)
        + offset_of!(ib_uverbs_ex_modify_qp, rate_limit)
        + size_of::<u32>();
    let mut request = ib_uverbs_ex_modify_qp::zeroed();
    // SAFETY: the caller's promise.
    unsafe {
        request.base = modify_request((*qp).handle, attr, mask);
        if mask & IBV_QP_RATE_LIMIT != 0 {
            if cmd_size < RATE_LIMIT_END {
                return Err(Errno::EINVAL);
            }
            request.rate_limit = (*attr).rate_limit;
        }
        Kernel::of((*qp).context).write(request, buffers).map(drop)
    }
}

/// # Safety
///
/// `qp` must be a QP, `attr` and `init` must be writable.
unsafe fn query(
    qp: *const ibv_qp,
    attr: *mut ibv_qp_attr,
    mask: u32,
    init: *mut ibv_qp_init_attr,
    buffers: Buffers<'_>,
) -> Result<()> {
    if mask >= IBV_QP_RATE_LIMIT {
        return Err(Errno::EOPNOTSUPP);
    }
    // SAFETY: the caller's promise.
    unsafe {
        let request = ib_uverbs_query_qp {
            response: 0,
            qp_handle: (*qp).handle,
            attr_mask: mask,
            driver_data: [],
        };
        let response = Kernel::of((*qp).context).write(request, buffers)?;
        store_attr(attr, &response);
        store_init_attr(init, qp, &response);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
