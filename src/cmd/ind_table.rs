//! Tables that spread received packets over work queues. `ibv_create_rwq_ind_table(3)`

use core::ffi::c_int;
use core::mem::offset_of;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{Buffers, Kernel, RequestBuffer, destroy, method};
use crate::provider_api::op_index;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::uapi::*;

/// Creates a table. Returns 0 or the error number: EINVAL for attributes that are not known, for
/// a table that no kernel takes and for a response without the new table.
/// `driver.h: ibv_cmd_create_rwq_ind_table`
pub(super) unsafe extern "C" fn ibv_cmd_create_rwq_ind_table(
    context: *mut ibv_context,
    init_attr: *mut ibv_rwq_ind_table_init_attr,
    rwq_ind_table: *mut ibv_rwq_ind_table,
    resp: *mut ib_uverbs_ex_create_rwq_ind_table_resp,
    resp_size: usize,
) -> c_int {
    // SAFETY: the provider passes its context, attributes, its new table and a buffer of this
    // size.
    unsafe {
        let buffers = Buffers::response(resp, resp_size);
        create(Kernel::of(context), rwq_ind_table, init_attr, buffers)
    }
    .or_number()
}
export_private!(ibv_cmd_create_rwq_ind_table);

/// Destroys a table. Returns 0 or the error number.
/// `driver.h: ibv_cmd_destroy_rwq_ind_table`
pub(super) unsafe extern "C" fn ibv_cmd_destroy_rwq_ind_table(
    rwq_ind_table: *mut ibv_rwq_ind_table,
) -> c_int {
    // SAFETY: the provider passes its table, for the last time.
    let (kernel, handle) = unsafe {
        let handle = (*rwq_ind_table).ind_tbl_handle.cast_unsigned();
        (Kernel::of((*rwq_ind_table).context), handle)
    };
    destroy(
        kernel,
        method!(UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY),
        UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE,
        handle,
        // Kernels got this method together with that of address handles.
        op_index!(destroy_ah),
        ib_uverbs_ex_destroy_rwq_ind_table { comp_mask: 0, ind_tbl_handle: handle },
    )
    .or_number()
}
export_private!(ibv_cmd_destroy_rwq_ind_table);

/// # Safety
///
/// `attr` must point to attributes with `1 << log_ind_tbl_size` WQs, `table` to a new table.
unsafe fn create(
    kernel: Kernel<'_>,
    table: *mut ibv_rwq_ind_table,
    attr: *const ibv_rwq_ind_table_init_attr,
    buffers: Buffers<'_>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let (mask, log_ind_tbl_size, wqs) =
        unsafe { ((*attr).comp_mask, (*attr).log_ind_tbl_size, (*attr).ind_tbl) };
    if mask >= IBV_CREATE_IND_TABLE_RESERVED
        || log_ind_tbl_size > IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE
        || wqs.is_null()
    {
        return Err(Errno::EINVAL);
    }
    let head = ib_uverbs_ex_create_rwq_ind_table { comp_mask: 0, log_ind_tbl_size, wq_handles: [] };
    let count = 1_usize << log_ind_tbl_size;
    // The request is a whole number of 8-byte words.
    let padded = count.next_multiple_of(2);
    let mut request = RequestBuffer::new(head, padded * size_of::<u32>())?;
    for index in 0..padded {
        let mut handle = 0;
        if index < count {
            // SAFETY: the caller's promise.
            let wq = unsafe { (*wqs.add(index)).as_ref() };
            handle = wq.ok_or(Errno::EINVAL)?.handle;
        }
        request.push_bytes(&u32::to_ne_bytes(handle))?;
    }
    let response = request.send_to(kernel, buffers)?;
    let least = offset_of!(ib_uverbs_ex_create_rwq_ind_table_resp, ind_tbl_num) + size_of::<u32>();
    if (response.response_length as usize) < least {
        return Err(Errno::EINVAL);
    }
    // SAFETY: the caller's promise.
    unsafe {
        (*table).ind_tbl_handle = response.ind_tbl_handle.cast_signed();
        (*table).ind_tbl_num = response.ind_tbl_num.cast_signed();
        (*table).context = kernel.context();
    }
    Ok(())
}

#[cfg(test)]
mod tests;
