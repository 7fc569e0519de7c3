//! Modifying and querying queue pairs.

use crate::abi::*;
use crate::uapi::*;

/// A path of a QP: the members of `ibv_ah_attr` in one struct.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_qp_dest {
    /// GID of the destination, network byte order.
    pub dgid: [u8; 16],
    /// Flow label.
    pub flow_label: u32,
    /// LID of the destination.
    pub dlid: u16,
    /// 0.
    pub reserved: u16,
    /// Index of the own GID.
    pub sgid_index: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// Traffic class.
    pub traffic_class: u8,
    /// Service level.
    pub sl: u8,
    /// Low bits of the own LID.
    pub src_path_bits: u8,
    /// One of `ibv_rate`.
    pub static_rate: u8,
    /// 1: the global members are used.
    pub is_global: u8,
    /// Own port.
    pub port_num: u8,
}

/// MODIFY_QP; see `ibv_qp_attr` for units.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_modify_qp {
    /// Primary path.
    pub dest: ib_uverbs_qp_dest,
    /// Alternate path.
    pub alt_dest: ib_uverbs_qp_dest,
    /// QP.
    pub qp_handle: u32,
    /// See `ibv_qp_attr_mask`.
    pub attr_mask: u32,
    /// Q_Key.
    pub qkey: u32,
    /// First packet sequence number to receive.
    pub rq_psn: u32,
    /// First packet sequence number to send.
    pub sq_psn: u32,
    /// QP number of the peer.
    pub dest_qp_num: u32,
    /// What the peer may do.
    pub qp_access_flags: u32,
    /// P_Key index.
    pub pkey_index: u16,
    /// P_Key index of the alternate path.
    pub alt_pkey_index: u16,
    /// State to move to.
    pub qp_state: u8,
    /// State the caller believes the QP is in.
    pub cur_qp_state: u8,
    /// One of `ibv_mtu`.
    pub path_mtu: u8,
    /// One of `ibv_mig_state`.
    pub path_mig_state: u8,
    /// 1: raise `IBV_EVENT_SQ_DRAINED`.
    pub en_sqd_async_notify: u8,
    /// RDMA reads and atomics as initiator.
    pub max_rd_atomic: u8,
    /// RDMA reads and atomics as responder.
    pub max_dest_rd_atomic: u8,
    /// Receiver-not-ready timer, coded.
    pub min_rnr_timer: u8,
    /// Primary port.
    pub port_num: u8,
    /// Acknowledgement timeout, coded.
    pub timeout: u8,
    /// Resends after a missing acknowledgement.
    pub retry_cnt: u8,
    /// Resends after receiver-not-ready.
    pub rnr_retry: u8,
    /// Alternate port.
    pub alt_port_num: u8,
    /// Acknowledgement timeout of the alternate path, coded.
    pub alt_timeout: u8,
    /// 0.
    pub reserved: [u8; 2],
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// MODIFY_QP, extended.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_modify_qp {
    /// The plain request.
    pub base: ib_uverbs_modify_qp,
    /// Send rate limit in kbit/s.
    pub rate_limit: u32,
    /// 0.
    pub reserved: u32,
}

/// Answer to the extended MODIFY_QP.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_modify_qp_resp {
    /// 0.
    pub comp_mask: u32,
    /// Bytes of the answer that the kernel has filled.
    pub response_length: u32,
}

/// QUERY_QP.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_query_qp {
    /// Address of the answer.
    pub response: u64,
    /// QP.
    pub qp_handle: u32,
    /// See `ibv_qp_attr_mask`.
    pub attr_mask: u32,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// Answer to QUERY_QP; see `ibv_qp_attr` for units.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_query_qp_resp {
    /// Primary path.
    pub dest: ib_uverbs_qp_dest,
    /// Alternate path.
    pub alt_dest: ib_uverbs_qp_dest,
    /// Outstanding send requests.
    pub max_send_wr: u32,
    /// Outstanding receive requests.
    pub max_recv_wr: u32,
    /// Scatter/gather entries per send request.
    pub max_send_sge: u32,
    /// Scatter/gather entries per receive request.
    pub max_recv_sge: u32,
    /// Bytes of inline data.
    pub max_inline_data: u32,
    /// Q_Key.
    pub qkey: u32,
    /// First packet sequence number to receive.
    pub rq_psn: u32,
    /// First packet sequence number to send.
    pub sq_psn: u32,
    /// QP number of the peer.
    pub dest_qp_num: u32,
    /// What the peer may do.
    pub qp_access_flags: u32,
    /// P_Key index.
    pub pkey_index: u16,
    /// P_Key index of the alternate path.
    pub alt_pkey_index: u16,
    /// Current state.
    pub qp_state: u8,
    /// Current state.
    pub cur_qp_state: u8,
    /// One of `ibv_mtu`.
    pub path_mtu: u8,
    /// One of `ibv_mig_state`.
    pub path_mig_state: u8,
    /// 1: the send queue is draining.
    pub sq_draining: u8,
    /// RDMA reads and atomics as initiator.
    pub max_rd_atomic: u8,
    /// RDMA reads and atomics as responder.
    pub max_dest_rd_atomic: u8,
    /// Receiver-not-ready timer, coded.
    pub min_rnr_timer: u8,
    /// Primary port.
    pub port_num: u8,
    /// Acknowledgement timeout, coded.
    pub timeout: u8,
    /// Resends after a missing acknowledgement.
    pub retry_cnt: u8,
    /// Resends after receiver-not-ready.
    pub rnr_retry: u8,
    /// Alternate port.
    pub alt_port_num: u8,
    /// Acknowledgement timeout of the alternate path, coded.
    pub alt_timeout: u8,
    /// 1: every send request completes with an entry in the CQ.
    pub sq_sig_all: u8,
    /// 0.
    pub reserved: [u8; 5],
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// The kernel's `ibv_qp_attr`, as connection managers get it (`rdma/rdma_user_cm.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_qp_attr {
    /// Which members are set, see `ibv_qp_attr_mask`.
    pub qp_attr_mask: u32,
    /// State to move to.
    pub qp_state: u32,
    /// State the QP is believed to be in.
    pub cur_qp_state: u32,
    /// One of `ibv_mtu`.
    pub path_mtu: u32,
    /// One of `ibv_mig_state`.
    pub path_mig_state: u32,
    /// Q_Key.
    pub qkey: u32,
    /// First packet sequence number to receive.
    pub rq_psn: u32,
    /// First packet sequence number to send.
    pub sq_psn: u32,
    /// QP number of the peer.
    pub dest_qp_num: u32,
    /// What the peer may do.
    pub qp_access_flags: u32,
    /// Primary path.
    pub ah_attr: ib_uverbs_ah_attr,
    /// Alternate path.
    pub alt_ah_attr: ib_uverbs_ah_attr,
    /// Outstanding send requests.
    pub max_send_wr: u32,
    /// Outstanding receive requests.
    pub max_recv_wr: u32,
    /// Scatter/gather entries per send request.
    pub max_send_sge: u32,
    /// Scatter/gather entries per receive request.
    pub max_recv_sge: u32,
    /// Bytes of inline data.
    pub max_inline_data: u32,
    /// P_Key index.
    pub pkey_index: u16,
    /// P_Key index of the alternate path.
    pub alt_pkey_index: u16,
    /// 1: raise `IBV_EVENT_SQ_DRAINED`.
    pub en_sqd_async_notify: u8,
    /// 1: the send queue is draining.
    pub sq_draining: u8,
    /// RDMA reads and atomics as initiator.
    pub max_rd_atomic: u8,
    /// RDMA reads and atomics as responder.
    pub max_dest_rd_atomic: u8,
    /// Receiver-not-ready timer, coded.
    pub min_rnr_timer: u8,
    /// Primary port.
    pub port_num: u8,
    /// Acknowledgement timeout, coded.
    pub timeout: u8,
    /// Resends after a missing acknowledgement.
    pub retry_cnt: u8,
    /// Resends after receiver-not-ready.
    pub rnr_retry: u8,
    /// Alternate port.
    pub alt_port_num: u8,
    /// Acknowledgement timeout of the alternate path, coded.
    pub alt_timeout: u8,
    /// 0.
    pub reserved: [u8; 5],
}

plain! {
    ib_uverbs_qp_dest, ib_uverbs_modify_qp, ib_uverbs_ex_modify_qp, ib_uverbs_ex_modify_qp_resp,
    ib_uverbs_query_qp, ib_uverbs_query_qp_resp, ib_uverbs_qp_attr
}
