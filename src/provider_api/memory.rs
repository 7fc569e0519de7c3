//! Registration by attributes for providers that only have the older operations.

use crate::abi::*;
use crate::provider_api::call_op;
use crate::sys::errno::{Errno, Result, ReturnPointer, from_null};

/// Default of the operation `reg_mr_ex`: `reg_dmabuf_mr` for a dma-buf, else `reg_mr`.
/// `ibv_reg_mr_ex(3)`
pub(super) unsafe extern "C" fn reg_mr_ex(
    pd: *mut ibv_pd,
    attr: *mut ibv_mr_init_attr,
) -> *mut ibv_mr {
    // SAFETY: the operation's contract: a PD and its attributes.
    unsafe { register(pd, &*attr) }.or_null()
}

unsafe fn register(pd: *mut ibv_pd, attr: &ibv_mr_init_attr) -> Result<*mut ibv_mr> {
    const KNOWN: u64 = (IBV_REG_MR_MASK_IOVA
        | IBV_REG_MR_MASK_ADDR
        | IBV_REG_MR_MASK_FD
        | IBV_REG_MR_MASK_FD_OFFSET) as u64;
    let has = |bit: ibv_mr_init_attr_mask| attr.comp_mask & u64::from(bit) != 0;
    if attr.comp_mask & !KNOWN != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    // SAFETY: the caller's promise.
    let context = unsafe { (*pd).context };
    if has(IBV_REG_MR_MASK_FD) {
        if !has(IBV_REG_MR_MASK_FD_OFFSET)
            || !has(IBV_REG_MR_MASK_IOVA)
            || has(IBV_REG_MR_MASK_ADDR)
        {
            return Err(Errno::EINVAL);
        }
        // SAFETY: the caller's promise.
        return from_null(unsafe {
            call_op!(
                context,
                reg_dmabuf_mr(pd, attr.fd_offset, attr.length, attr.iova, attr.fd, attr.access)
            )
        });
    }
    if !has(IBV_REG_MR_MASK_ADDR) || has(IBV_REG_MR_MASK_FD_OFFSET) {
        return Err(Errno::EINVAL);
    }
    let iova =
        if has(IBV_REG_MR_MASK_IOVA) { attr.iova } else { attr.addr.expose_provenance() as u64 };
    // SAFETY: the caller's promise.
    from_null(unsafe { call_op!(context, reg_mr(pd, attr.addr, attr.length, iova, attr.access)) })
}
