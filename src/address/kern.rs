//! Address attributes, QP attributes and path records between their kernel and their public form:
//! for librdmacm, which gets them from the connection manager's device file (`marshall.h`).

use crate::abi::export::export;
use crate::abi::*;
use crate::uapi::*;

/// Stores the public form of the kernel's address attributes; padding stays as it is.
///
/// # Safety
///
/// `dst` must point to writable attributes, which need not be initialized.
unsafe fn ah_attr_from_kernel(dst: *mut ibv_ah_attr, src: &ib_uverbs_ah_attr) {
    // SAFETY: the caller's promise, for all members.
    unsafe {
        (*dst).grh.dgid.raw = src.grh.dgid;
        (*dst).grh.flow_label = src.grh.flow_label;
        (*dst).grh.sgid_index = src.grh.sgid_index;
        (*dst).grh.hop_limit = src.grh.hop_limit;
        (*dst).grh.traffic_class = src.grh.traffic_class;
        (*dst).dlid = src.dlid;
        (*dst).sl = src.sl;
        (*dst).src_path_bits = src.src_path_bits;
        (*dst).static_rate = src.static_rate;
        (*dst).is_global = src.is_global;
        (*dst).port_num = src.port_num;
    }
}

/// Takes over what the kernel's attributes say. `qp_state` stays, for the caller asked for a
/// transition to a state that it knows; so does `rate_limit`, which the kernel's struct lacks and
/// a program built with old headers does not have either.
///
/// # Safety
///
/// `dst` must point to writable attributes, which need not be initialized.
unsafe fn qp_attr_from_kernel(dst: *mut ibv_qp_attr, src: &ib_uverbs_qp_attr) {
    // SAFETY: the caller's promise, for all members.
    unsafe {
        (*dst).cur_qp_state = src.cur_qp_state;
        (*dst).path_mtu = src.path_mtu;
        (*dst).path_mig_state = src.path_mig_state;
        (*dst).qkey = src.qkey;
        (*dst).rq_psn = src.rq_psn;
        (*dst).sq_psn = src.sq_psn;
        (*dst).dest_qp_num = src.dest_qp_num;
        (*dst).qp_access_flags = src.qp_access_flags;
        (*dst).cap = ibv_qp_cap {
            max_send_wr: src.max_send_wr,
            max_recv_wr: src.max_recv_wr,
            max_send_sge: src.max_send_sge,
            max_recv_sge: src.max_recv_sge,
            max_inline_data: src.max_inline_data,
        };
        ah_attr_from_kernel(&raw mut (*dst).ah_attr, &src.ah_attr);
        ah_attr_from_kernel(&raw mut (*dst).alt_ah_attr, &src.alt_ah_attr);
        (*dst).pkey_index = src.pkey_index;
        (*dst).alt_pkey_index = src.alt_pkey_index;
        (*dst).en_sqd_async_notify = src.en_sqd_async_notify;
        (*dst).sq_draining = src.sq_draining;
        (*dst).max_rd_atomic = src.max_rd_atomic;
        (*dst).max_dest_rd_atomic = src.max_dest_rd_atomic;
        (*dst).min_rnr_timer = src.min_rnr_timer;
        (*dst).port_num = src.port_num;
        (*dst).timeout = src.timeout;
        (*dst).retry_cnt = src.retry_cnt;
        (*dst).rnr_retry = src.rnr_retry;
        (*dst).alt_port_num = src.alt_port_num;
        (*dst).alt_timeout = src.alt_timeout;
    }
}

/// The public form of the kernel's path record. The MTU is a code of a few bits in either form.
fn path_rec_from_kernel(src: &ib_user_path_rec) -> ibv_sa_path_rec {
    ibv_sa_path_rec {
        dgid: ibv_gid { raw: src.dgid },
        sgid: ibv_gid { raw: src.sgid },
        dlid: src.dlid,
        slid: src.slid,
        raw_traffic: src.raw_traffic.cast_signed(),
        flow_label: src.flow_label,
        hop_limit: src.hop_limit,
        traffic_class: src.traffic_class,
        reversible: src.reversible.cast_signed(),
        numb_path: src.numb_path,
        pkey: src.pkey,
        sl: src.sl,
        mtu_selector: src.mtu_selector,
        mtu: src.mtu as u8,
        rate_selector: src.rate_selector,
        rate: src.rate,
        packet_life_time_selector: src.packet_life_time_selector,
        packet_life_time: src.packet_life_time,
        preference: src.preference,
    }
}

/// The kernel's form of the public path record.
fn path_rec_to_kernel(src: &ibv_sa_path_rec) -> ib_user_path_rec {
    // SAFETY: a GID is 16 bytes in each of its forms.
    let (dgid, sgid) = unsafe { (src.dgid.raw, src.sgid.raw) };
    ib_user_path_rec {
        dgid,
        sgid,
        dlid: src.dlid,
        slid: src.slid,
        raw_traffic: src.raw_traffic.cast_unsigned(),
        flow_label: src.flow_label,
        reversible: src.reversible.cast_unsigned(),
        mtu: src.mtu.into(),
        pkey: src.pkey,
        hop_limit: src.hop_limit,
        traffic_class: src.traffic_class,
        numb_path: src.numb_path,
        sl: src.sl,
        mtu_selector: src.mtu_selector,
        rate_selector: src.rate_selector,
        rate: src.rate,
        packet_life_time_selector: src.packet_life_time_selector,
        packet_life_time: src.packet_life_time,
        preference: src.preference,
    }
}

/// Copies address attributes that the kernel gave. `marshall.h: ibv_copy_ah_attr_from_kern`
unsafe extern "C" fn ibv_copy_ah_attr_from_kern(
    dst: *mut ibv_ah_attr,
    src: *const ib_uverbs_ah_attr,
) {
    // SAFETY: the caller passes two whole structs.
    unsafe { ah_attr_from_kernel(dst, &*src) }
}
export!(ibv_copy_ah_attr_from_kern @@ "IBVERBS_1.1");

/// Copies QP attributes that the kernel gave, all but `qp_state`.
/// `marshall.h: ibv_copy_qp_attr_from_kern`
unsafe extern "C" fn ibv_copy_qp_attr_from_kern(
    dst: *mut ibv_qp_attr,
    src: *const ib_uverbs_qp_attr,
) {
    // SAFETY: the caller passes two whole structs.
    unsafe { qp_attr_from_kernel(dst, &*src) }
}
export!(ibv_copy_qp_attr_from_kern @@ "IBVERBS_1.0");

/// Copies a path record that the kernel gave. `marshall.h: ibv_copy_path_rec_from_kern`
unsafe extern "C" fn ibv_copy_path_rec_from_kern(
    dst: *mut ibv_sa_path_rec,
    src: *const ib_user_path_rec,
) {
    // SAFETY: the caller passes two whole structs.
    unsafe { *dst = path_rec_from_kernel(&*src) }
}
export!(ibv_copy_path_rec_from_kern @@ "IBVERBS_1.0");

/// Copies a path record for the kernel. `marshall.h: ibv_copy_path_rec_to_kern`
unsafe extern "C" fn ibv_copy_path_rec_to_kern(
    dst: *mut ib_user_path_rec,
    src: *const ibv_sa_path_rec,
) {
    // SAFETY: the caller passes two whole structs.
    unsafe { *dst = path_rec_to_kernel(&*src) }
}
export!(ibv_copy_path_rec_to_kern @@ "IBVERBS_1.0");

#[cfg(test)]
mod tests;
