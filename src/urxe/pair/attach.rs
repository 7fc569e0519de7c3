//! Attaching completion counters to QPs: `ibv_qp_attach_comp_cntr(3)`.

use crate::sync::atomic::Ordering::{Relaxed, Release};
use core::ffi::c_int;

use super::qp::Qp;
use super::states::state_name;
use crate::abi::*;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::urxe::completion::counter::{Counter, OPERATIONS};
use crate::urxe::explain;

/// `ibv_qp_attach_comp_cntr(3)`
///
/// # Errors
///
/// EINVAL in another state than RESET and INIT, for no operation, or a counter of another context;
/// EOPNOTSUPP for operations that QPs of the type do not do, and for a QP of another process; EBUSY
/// if one of them is counted already.
pub(crate) unsafe extern "C" fn qp_attach_comp_cntr(
    qp: *mut ibv_qp,
    counter: *mut ibv_comp_cntr,
    attr: *mut ibv_qp_attach_comp_cntr_attr,
) -> c_int {
    // SAFETY: the caller passes a QP, a counter and attributes, all live.
    unsafe {
        let result = if (*qp).context == (*counter).context {
            attach(Qp::of(qp), Counter::of(counter), &*attr)
        } else {
            explain!("ibv_qp_attach_comp_cntr: the counter is of another context than the QP");
            Err(Errno::EINVAL)
        };
        result.or_number()
    }
}

/// What QPs of a type can have counted.
fn operations_of(kind: ibv_qp_type) -> u32 {
    let (send, receive) = (IBV_QP_ATTACH_COMP_CNTR_OP_SEND, IBV_QP_ATTACH_COMP_CNTR_OP_RECV);
    let writes = IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE;
    let written = IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE;
    match kind {
        IBV_QPT_UD => send | receive,
        IBV_QPT_UC => send | receive | writes | written,
        IBV_QPT_XRC_SEND => send | writes | IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ,
        IBV_QPT_XRC_RECV => receive | written | IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ,
        _ => OPERATIONS,
    }
}

fn attach(
    handle: &Qp,
    counter: &'static Counter,
    attr: &ibv_qp_attach_comp_cntr_attr,
) -> Result<()> {
    handle.check_process()?;
    let (qp, wanted) = (handle.real(), attr.op_mask);
    if attr.comp_mask != 0 || wanted == 0 {
        explain!("ibv_qp_attach_comp_cntr: comp_mask {:#x}, op_mask {wanted:#x}", attr.comp_mask);
        return Err(Errno::EINVAL);
    }
    let possible = operations_of(qp.kind);
    if wanted & !possible != 0 || qp.peer.is_some() {
        explain!(
            "ibv_qp_attach_comp_cntr: op_mask {wanted:#x}, of which {possible:#x} can be counted \
             at QP {:#x} of type {}{}",
            qp.number,
            qp.kind,
            if qp.peer.is_some() { ", which is of another process" } else { "" },
        );
        return Err(Errno::EOPNOTSUPP);
    }
    let mut attached = qp.counters.lock();
    let (_guard, _) = qp.lock_record()?;
    let (shared, state) = (qp.shared, qp.state());
    if !matches!(state, IBV_QPS_RESET | IBV_QPS_INIT) {
        explain!("ibv_qp_attach_comp_cntr: QP {:#x} is in state {}", qp.number, state_name(state));
        return Err(Errno::EINVAL);
    }
    let before = shared.counted.load(Relaxed);
    if before & wanted != 0 {
        explain!(
            "ibv_qp_attach_comp_cntr: QP {:#x} has counters for {:#x} already",
            qp.number,
            before & wanted,
        );
        return Err(Errno::EBUSY);
    }
    for (bit, place) in shared.counters.iter().enumerate() {
        if wanted >> bit & 1 != 0 {
            place.store(counter.record(), Relaxed);
        }
    }
    counter.hold();
    attached.push(counter);
    shared.counted.store(before | wanted, Release);
    shared.change();
    Ok(())
}
