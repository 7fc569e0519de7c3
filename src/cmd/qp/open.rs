//! Opening an XRC receive QP that another process created.

use core::ptr;

use super::init_events;
use super::tail::Tail;
use crate::abi::*;
use crate::cmd::{Buffers, Kernel};
use crate::sys::errno::{Errno, Result};
use crate::uapi::*;

/// # Safety
///
/// `qp` must be a new QP of `size` bytes that nobody else uses; of the attributes at least those
/// must be set that the mask names, and the domain must live.
pub(super) unsafe fn open(
    kernel: Kernel<'_>,
    qp: *mut verbs_qp,
    size: usize,
    attr: *const ibv_qp_open_attr,
    buffers: Buffers<'_>,
) -> Result<()> {
    const NEEDED: u32 = IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_TYPE;
    // SAFETY: the caller's promise.
    unsafe {
        let mask = (*attr).comp_mask;
        if mask >= IBV_QP_OPEN_ATTR_RESERVED {
            return Err(Errno::EOPNOTSUPP);
        }
        if mask & NEEDED != NEEDED || (*attr).xrcd.is_null() {
            return Err(Errno::EINVAL);
        }
        // The public XRC domain begins the provider API's.
        let xrcd = (*attr).xrcd.cast::<verbs_xrcd>();
        let mut request = ib_uverbs_open_qp::zeroed();
        request.user_handle = qp.expose_provenance() as u64;
        request.pd_handle = (*xrcd).handle;
        request.qpn = (*attr).qp_num;
        request.qp_type = u8::try_from((*attr).qp_type).map_err(|_| Errno::EINVAL)?;
        let response = kernel.write(request, buffers)?;

        let public = qp.cast::<ibv_qp>();
        (*public).context = kernel.context();
        (*public).qp_context =
            if mask & IBV_QP_OPEN_ATTR_CONTEXT != 0 { (*attr).qp_context } else { ptr::null_mut() };
        (*public).pd = ptr::null_mut();
        (*public).send_cq = ptr::null_mut();
        (*public).recv_cq = ptr::null_mut();
        (*public).srq = ptr::null_mut();
        (*public).handle = response.qp_handle;
        (*public).qp_num = (*attr).qp_num;
        (*public).qp_type = (*attr).qp_type;
        (*public).state = IBV_QPS_UNKNOWN;
        init_events(public);
        // A provider of old may have no room for the tail, or for the mask alone.
        let layout = kernel.private().layout;
        if size > layout.qp_tail {
            Tail::of(qp, layout).store((size > layout.qp_tail + Tail::XRCD).then_some(xrcd));
        }
    }
    Ok(())
}
