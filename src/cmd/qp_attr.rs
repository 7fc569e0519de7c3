//! QP attributes between `ibv_qp_attr` and the requests and responses of the kernel.

use crate::abi::*;
use crate::uapi::*;

/// The kernel's form of an address of a QP's path.
fn dest_to_kernel(ah: &ibv_ah_attr) -> ib_uverbs_qp_dest {
    ib_uverbs_qp_dest {
        // SAFETY: a GID is 16 bytes in each of its forms.
        dgid: unsafe { ah.grh.dgid.raw },
        flow_label: ah.grh.flow_label,
        dlid: ah.dlid,
        reserved: 0,
        sgid_index: ah.grh.sgid_index,
        hop_limit: ah.grh.hop_limit,
        traffic_class: ah.grh.traffic_class,
        sl: ah.sl,
        src_path_bits: ah.src_path_bits,
        static_rate: ah.static_rate,
        is_global: ah.is_global,
        port_num: ah.port_num,
    }
}

/// Stores the public form of an address of a QP's path; padding stays as it is.
///
/// # Safety
///
/// `ah` must point to writable attributes, which need not be initialized.
unsafe fn store_dest(ah: *mut ibv_ah_attr, dest: &ib_uverbs_qp_dest) {
    // SAFETY: the caller's promise, for all members.
    unsafe {
        (*ah).grh.dgid.raw = dest.dgid;
        (*ah).grh.flow_label = dest.flow_label;
        (*ah).grh.sgid_index = dest.sgid_index;
        (*ah).grh.hop_limit = dest.hop_limit;
        (*ah).grh.traffic_class = dest.traffic_class;
        (*ah).dlid = dest.dlid;
        (*ah).sl = dest.sl;
        (*ah).src_path_bits = dest.src_path_bits;
        (*ah).static_rate = dest.static_rate;
        (*ah).is_global = dest.is_global;
        (*ah).port_num = dest.port_num;
    }
}

/// The modify request for the members that `mask` (`enum ibv_qp_attr_mask`) names; all others are
/// 0, and the program's members are not even read: they need not be initialized. Unknown bits go
/// to the kernel, which refuses them.
///
/// # Safety
///
/// `attr` must point to attributes of which at least the named members are set.
pub(super) unsafe fn modify_request(
    qp_handle: u32,
    attr: *const ibv_qp_attr,
    mask: u32,
) -> ib_uverbs_modify_qp {
    let mut request = ib_uverbs_modify_qp::zeroed();
    request.qp_handle = qp_handle;
    request.attr_mask = mask;
    macro_rules! take {
        ($($bit:ident: $($member:ident)+;)*) => {
            $(if mask & $bit != 0 {
                // SAFETY: the caller's promise for this member.
                $(request.$member = unsafe { (*attr).$member } as _;)+
            })*
        };
    }
    // The kernel has a byte for each of the small enumerations.
    take! {
        IBV_QP_STATE: qp_state;
        IBV_QP_CUR_STATE: cur_qp_state;
        IBV_QP_EN_SQD_ASYNC_NOTIFY: en_sqd_async_notify;
        IBV_QP_ACCESS_FLAGS: qp_access_flags;
        IBV_QP_PKEY_INDEX: pkey_index;
        IBV_QP_PORT: port_num;
        IBV_QP_QKEY: qkey;
        IBV_QP_PATH_MTU: path_mtu;
        IBV_QP_TIMEOUT: timeout;
        IBV_QP_RETRY_CNT: retry_cnt;
        IBV_QP_RNR_RETRY: rnr_retry;
        IBV_QP_RQ_PSN: rq_psn;
        IBV_QP_MAX_QP_RD_ATOMIC: max_rd_atomic;
        IBV_QP_ALT_PATH: alt_pkey_index alt_port_num alt_timeout;
        IBV_QP_MIN_RNR_TIMER: min_rnr_timer;
        IBV_QP_SQ_PSN: sq_psn;
        IBV_QP_MAX_DEST_RD_ATOMIC: max_dest_rd_atomic;
        IBV_QP_PATH_MIG_STATE: path_mig_state;
        IBV_QP_DEST_QPN: dest_qp_num;
    }
    if mask & IBV_QP_AV != 0 {
        // SAFETY: the caller's promise for this member.
        request.dest = dest_to_kernel(unsafe { &(*attr).ah_attr });
    }
    if mask & IBV_QP_ALT_PATH != 0 {
        // SAFETY: the caller's promise for this member.
        request.alt_dest = dest_to_kernel(unsafe { &(*attr).alt_ah_attr });
    }
    request
}

/// Stores what the kernel says about a QP. `en_sqd_async_notify` and `rate_limit` are not in the
/// response and stay; the latter is missing in programs built with old headers.
///
/// # Safety
///
/// `attr` must point to writable attributes, which need not be initialized.
pub(super) unsafe fn store_attr(attr: *mut ibv_qp_attr, response: &ib_uverbs_query_qp_resp) {
    // SAFETY: the caller's promise, for all members.
    unsafe {
        (*attr).qp_state = response.qp_state.into();
        (*attr).cur_qp_state = response.cur_qp_state.into();
        (*attr).path_mtu = response.path_mtu.into();
        (*attr).path_mig_state = response.path_mig_state.into();
        (*attr).qkey = response.qkey;
        (*attr).rq_psn = response.rq_psn;
        (*attr).sq_psn = response.sq_psn;
        (*attr).dest_qp_num = response.dest_qp_num;
        (*attr).qp_access_flags = response.qp_access_flags;
        (*attr).cap = cap(response);
        store_dest(&raw mut (*attr).ah_attr, &response.dest);
        store_dest(&raw mut (*attr).alt_ah_attr, &response.alt_dest);
        (*attr).pkey_index = response.pkey_index;
        (*attr).alt_pkey_index = response.alt_pkey_index;
        (*attr).sq_draining = response.sq_draining;
        (*attr).max_rd_atomic = response.max_rd_atomic;
        (*attr).max_dest_rd_atomic = response.max_dest_rd_atomic;
        (*attr).min_rnr_timer = response.min_rnr_timer;
        (*attr).port_num = response.port_num;
        (*attr).timeout = response.timeout;
        (*attr).retry_cnt = response.retry_cnt;
        (*attr).rnr_retry = response.rnr_retry;
        (*attr).alt_port_num = response.alt_port_num;
        (*attr).alt_timeout = response.alt_timeout;
    }
}

/// Stores the attributes that `qp` would be created with again.
///
/// # Safety
///
/// `init` must point to writable attributes, which need not be initialized, `qp` to a live QP.
pub(super) unsafe fn store_init_attr(
    init: *mut ibv_qp_init_attr,
    qp: *const ibv_qp,
    response: &ib_uverbs_query_qp_resp,
) {
    // SAFETY: the caller's promise. The members of the QP that are read never change.
    unsafe {
        (*init).qp_context = (*qp).qp_context;
        (*init).send_cq = (*qp).send_cq;
        (*init).recv_cq = (*qp).recv_cq;
        (*init).srq = (*qp).srq;
        (*init).cap = cap(response);
        (*init).qp_type = (*qp).qp_type;
        (*init).sq_sig_all = response.sq_sig_all.into();
    }
}

fn cap(response: &ib_uverbs_query_qp_resp) -> ibv_qp_cap {
    ibv_qp_cap {
        max_send_wr: response.max_send_wr,
        max_recv_wr: response.max_recv_wr,
        max_send_sge: response.max_send_sge,
        max_recv_sge: response.max_recv_sge,
        max_inline_data: response.max_inline_data,
    }
}

#[cfg(test)]
mod tests;
