//! Completion queues.

use crate::abi::*;
use crate::provider_api::{call_op, init_cq};
use crate::sys::errno::{Errno, Result, ReturnPointer, from_null};

/// Creates an extended CQ: the slot `create_cq_ex` of the extended context. Returns NULL with
/// `errno` EOPNOTSUPP for unknown `wc_flags`, or what the provider says. `ibv_create_cq_ex(3)`
pub(crate) unsafe extern "C" fn create_cq_ex(
    context: *mut ibv_context,
    attr: *mut ibv_cq_init_attr_ex,
) -> *mut ibv_cq_ex {
    // SAFETY: the caller passes a context and the attributes of the new CQ.
    unsafe { create_extended(context, attr) }.or_null()
}

unsafe fn create_extended(
    context: *mut ibv_context,
    attr: *mut ibv_cq_init_attr_ex,
) -> Result<*mut ibv_cq_ex> {
    // SAFETY: the caller's promise; the new CQ is known to nobody else.
    unsafe {
        if (*attr).wc_flags & !u64::from(IBV_CREATE_CQ_SUP_WC_FLAGS) != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        let cq = from_null(call_op!(context, create_cq_ex(context, attr)))?;
        init_cq(cq.cast(), context, (*attr).channel, (*attr).cq_context);
        Ok(cq)
    }
}
