//! Work queues of receive side scaling. `ibv_create_wq(3)`, `ibv_modify_wq(3)`

use core::ffi::c_int;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{Buffers, Command, Kernel, method, unless_gone, wait_for_events};
use crate::provider_api::op_index;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::uapi::*;

/// Creates a WQ. Returns 0 or the error number: EINVAL for attributes that are not known,
/// EOPNOTSUPP for flags that are not. `driver.h: ibv_cmd_create_wq`
pub(super) unsafe extern "C" fn ibv_cmd_create_wq(
    context: *mut ibv_context,
    wq_init_attr: *mut ibv_wq_init_attr,
    wq: *mut ibv_wq,
    cmd: *mut ibv_create_wq,
    cmd_size: usize,
    resp: *mut ib_uverbs_ex_create_wq_resp,
    resp_size: usize,
) -> c_int {
    // SAFETY: the provider passes its context, attributes, its new WQ and buffers of these sizes.
    unsafe {
        let buffers = Buffers::new(cmd, cmd_size, resp, resp_size);
        create(Kernel::of(context), wq, wq_init_attr, buffers)
    }
    .or_number()
}
export_private!(ibv_cmd_create_wq);

/// Destroys a WQ and waits until the program has acknowledged all events about it that it has
/// read. Returns 0 or the error number. `driver.h: ibv_cmd_destroy_wq`
pub(super) unsafe extern "C" fn ibv_cmd_destroy_wq(wq: *mut ibv_wq) -> c_int {
    // SAFETY: the provider passes its WQ, for the last time.
    unsafe { destroy(Kernel::of((*wq).context), wq) }.or_number()
}
export_private!(ibv_cmd_destroy_wq);

/// Changes the state or the flags of a WQ. Returns 0 or the error number: EINVAL for attributes
/// that are not known, EOPNOTSUPP for flags that are not. `driver.h: ibv_cmd_modify_wq`
pub(super) unsafe extern "C" fn ibv_cmd_modify_wq(
    wq: *mut ibv_wq,
    attr: *mut ibv_wq_attr,
    cmd: *mut ibv_modify_wq,
    cmd_size: usize,
) -> c_int {
    // SAFETY: the provider passes its WQ, attributes and a buffer of this size.
    unsafe { modify(wq, attr, Buffers::request(cmd, cmd_size)) }.or_number()
}
export_private!(ibv_cmd_modify_wq);

/// # Safety
///
/// `wq` must be a new WQ that nobody else uses, `attr` attributes of which at least those are set
/// that its mask names, with a PD and a CQ.
unsafe fn create(
    kernel: Kernel<'_>,
    wq: *mut ibv_wq,
    attr: *mut ibv_wq_init_attr,
    buffers: Buffers<'_>,
) -> Result<()> {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        let mask = (*attr).comp_mask;
        if mask >= IBV_WQ_INIT_ATTR_RESERVED || (*attr).pd.is_null() || (*attr).cq.is_null() {
            return Err(Errno::EINVAL);
        }
        (*wq).context = kernel.context();
        (*wq).pd = (*attr).pd;
        (*wq).cq = (*attr).cq;
        (*wq).wq_type = (*attr).wq_type;
        let create_flags =
            if mask & IBV_WQ_INIT_ATTR_FLAGS != 0 { (*attr).create_flags } else { 0 };
        if create_flags >= IBV_WQ_FLAGS_RESERVED {
            return Err(Errno::EOPNOTSUPP);
        }
        let request = ib_uverbs_ex_create_wq {
            comp_mask: 0,
            wq_type: (*attr).wq_type,
            user_handle: wq.expose_provenance() as u64,
            pd_handle: (*(*attr).pd).handle,
            cq_handle: (*(*attr).cq).handle,
            max_wr: (*attr).max_wr,
            max_sge: (*attr).max_sge,
            create_flags,
            reserved: 0,
        };
        let mut created = ib_uverbs_ex_create_wq_resp::zeroed();
        let mut cmd = Command::new(method!(UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE));
        cmd.new_object(UVERBS_ATTR_CREATE_WQ_HANDLE, &mut created.wq_handle)
            .u64(UVERBS_ATTR_CREATE_WQ_USER_HANDLE, request.user_handle)
            .object(UVERBS_ATTR_CREATE_WQ_PD_HANDLE, request.pd_handle)
            .object(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, request.cq_handle)
            .u64(UVERBS_ATTR_CREATE_WQ_TYPE, u64::from(request.wq_type))
            .u32(UVERBS_ATTR_CREATE_WQ_MAX_WR, request.max_wr)
            .u32(UVERBS_ATTR_CREATE_WQ_MAX_SGE, request.max_sge)
            .fd(UVERBS_ATTR_CREATE_WQ_EVENT_FD, (*kernel.context()).async_fd)
            .u32(UVERBS_ATTR_CREATE_WQ_FLAGS, create_flags)
            .output(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, &mut created.max_wr)
            .output(UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, &mut created.max_sge)
            .output(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, &mut created.wqn)
            .provider_bytes(&buffers);
        if kernel.private().is_imported() {
            cmd.ioctl_only();
        }
        if let Some(written) = cmd.execute_or_write(kernel, op_index!(create_wq), request)? {
            created = written;
        }
        (*wq).handle = created.wq_handle;
        (*wq).wq_num = created.wqn;
        (*attr).max_wr = created.max_wr;
        (*attr).max_sge = created.max_sge;
    }
    Ok(())
}

/// # Safety
///
/// `wq` must be a WQ that is set up, and whose memory lives until this returns.
unsafe fn destroy(kernel: Kernel<'_>, wq: *mut ibv_wq) -> Result<()> {
    // SAFETY: the caller's promise.
    let handle = unsafe { (*wq).handle };
    let mut reported = 0;
    let mut cmd = Command::new(method!(UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY));
    cmd.output(UVERBS_ATTR_DESTROY_WQ_RESP, &mut reported)
        .object(UVERBS_ATTR_DESTROY_WQ_HANDLE, handle);
    let request = ib_uverbs_ex_destroy_wq { comp_mask: 0, wq_handle: handle };
    match unless_gone(cmd.execute_or_write(kernel, op_index!(destroy_wq), request))? {
        None => return Ok(()),
        Some(None) => {}
        Some(Some(response)) => reported = response.events_reported,
    }
    // SAFETY: the caller's promise; the counter changes with the mutex held.
    unsafe {
        wait_for_events(
            &raw mut (*wq).mutex,
            &raw mut (*wq).cond,
            format_args!("WQ {handle}"),
            || reported.wrapping_sub((*wq).events_completed),
        );
    }
    Ok(())
}

/// # Safety
///
/// `wq` must be a WQ, `attr` attributes of which at least those are set that the mask names.
unsafe fn modify(wq: *mut ibv_wq, attr: *const ibv_wq_attr, buffers: Buffers<'_>) -> Result<()> {
    let mut request = ib_uverbs_ex_modify_wq::zeroed();
    // SAFETY: the caller's promise.
    unsafe {
        let mask = (*attr).attr_mask;
        if mask >= IBV_WQ_ATTR_RESERVED {
            return Err(Errno::EINVAL);
        }
        request.attr_mask = mask;
        request.wq_handle = (*wq).handle;
        if mask & IBV_WQ_ATTR_STATE != 0 {
            request.wq_state = (*attr).wq_state;
        }
        if mask & IBV_WQ_ATTR_CURR_STATE != 0 {
            request.curr_wq_state = (*attr).curr_wq_state;
        }
        if mask & IBV_WQ_ATTR_FLAGS != 0 {
            if (*attr).flags_mask >= IBV_WQ_FLAGS_RESERVED {
                return Err(Errno::EOPNOTSUPP);
            }
            request.flags = (*attr).flags;
            request.flags_mask = (*attr).flags_mask;
        }
        Kernel::of((*wq).context).write(request, buffers)?;
        if mask & IBV_WQ_ATTR_STATE != 0 {
            (*wq).state = request.wq_state;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
