//! Values and payloads of ioctl attributes (`rdma/ib_user_ioctl_verbs.h`).
#![allow(missing_docs, reason = "each constant is explained at its IBV_ twin or by its group")]

use core::ffi::{c_uint, c_void};

use crate::abi::*;
use crate::uapi::*;

// ---- Context and device.

/// Kernel drivers, as named in ioctl headers and by RDMA netlink.
pub type rdma_driver_id = c_uint;
pub const RDMA_DRIVER_UNKNOWN: rdma_driver_id = 0;
pub const RDMA_DRIVER_MLX5: rdma_driver_id = 1;
pub const RDMA_DRIVER_MLX4: rdma_driver_id = 2;
pub const RDMA_DRIVER_CXGB3: rdma_driver_id = 3;
pub const RDMA_DRIVER_CXGB4: rdma_driver_id = 4;
pub const RDMA_DRIVER_MTHCA: rdma_driver_id = 5;
pub const RDMA_DRIVER_BNXT_RE: rdma_driver_id = 6;
pub const RDMA_DRIVER_OCRDMA: rdma_driver_id = 7;
pub const RDMA_DRIVER_NES: rdma_driver_id = 8;
pub const RDMA_DRIVER_I40IW: rdma_driver_id = 9;
pub const RDMA_DRIVER_IRDMA: rdma_driver_id = 9;
pub const RDMA_DRIVER_VMW_PVRDMA: rdma_driver_id = 10;
pub const RDMA_DRIVER_QEDR: rdma_driver_id = 11;
pub const RDMA_DRIVER_HNS: rdma_driver_id = 12;
pub const RDMA_DRIVER_USNIC: rdma_driver_id = 13;
pub const RDMA_DRIVER_RXE: rdma_driver_id = 14;
pub const RDMA_DRIVER_HFI1: rdma_driver_id = 15;
pub const RDMA_DRIVER_QIB: rdma_driver_id = 16;
pub const RDMA_DRIVER_EFA: rdma_driver_id = 17;
pub const RDMA_DRIVER_SIW: rdma_driver_id = 18;
pub const RDMA_DRIVER_ERDMA: rdma_driver_id = 19;
pub const RDMA_DRIVER_MANA: rdma_driver_id = 20;
pub const RDMA_DRIVER_IONIC: rdma_driver_id = 21;

/// Features of the kernel, answer of `UVERBS_METHOD_GET_CONTEXT`.
pub type ib_uverbs_core_support = c_uint;
/// Access bits of `IB_UVERBS_ACCESS_OPTIONAL_RANGE` are ignored if not known.
pub const IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS: ib_uverbs_core_support = 1 << 0;
/// The driver checks what providers send and refuses bits it does not know.
pub const IB_UVERBS_CORE_SUPPORT_ROBUST_UDATA: ib_uverbs_core_support = 1 << 1;

/// The kernel's `ibv_port_cap_flags`, and bits that the verbs do not have.
pub type ib_uverbs_query_port_cap_flags = c_uint;
pub const IB_UVERBS_PCF_SM: ib_uverbs_query_port_cap_flags = 1 << 1;
pub const IB_UVERBS_PCF_NOTICE_SUP: ib_uverbs_query_port_cap_flags = 1 << 2;
pub const IB_UVERBS_PCF_TRAP_SUP: ib_uverbs_query_port_cap_flags = 1 << 3;
pub const IB_UVERBS_PCF_OPT_IPD_SUP: ib_uverbs_query_port_cap_flags = 1 << 4;
pub const IB_UVERBS_PCF_AUTO_MIGR_SUP: ib_uverbs_query_port_cap_flags = 1 << 5;
pub const IB_UVERBS_PCF_SL_MAP_SUP: ib_uverbs_query_port_cap_flags = 1 << 6;
pub const IB_UVERBS_PCF_MKEY_NVRAM: ib_uverbs_query_port_cap_flags = 1 << 7;
pub const IB_UVERBS_PCF_PKEY_NVRAM: ib_uverbs_query_port_cap_flags = 1 << 8;
pub const IB_UVERBS_PCF_LED_INFO_SUP: ib_uverbs_query_port_cap_flags = 1 << 9;
pub const IB_UVERBS_PCF_SM_DISABLED: ib_uverbs_query_port_cap_flags = 1 << 10;
pub const IB_UVERBS_PCF_SYS_IMAGE_GUID_SUP: ib_uverbs_query_port_cap_flags = 1 << 11;
pub const IB_UVERBS_PCF_PKEY_SW_EXT_PORT_TRAP_SUP: ib_uverbs_query_port_cap_flags = 1 << 12;
pub const IB_UVERBS_PCF_EXTENDED_SPEEDS_SUP: ib_uverbs_query_port_cap_flags = 1 << 14;
pub const IB_UVERBS_PCF_CM_SUP: ib_uverbs_query_port_cap_flags = 1 << 16;
pub const IB_UVERBS_PCF_SNMP_TUNNEL_SUP: ib_uverbs_query_port_cap_flags = 1 << 17;
pub const IB_UVERBS_PCF_REINIT_SUP: ib_uverbs_query_port_cap_flags = 1 << 18;
pub const IB_UVERBS_PCF_DEVICE_MGMT_SUP: ib_uverbs_query_port_cap_flags = 1 << 19;
pub const IB_UVERBS_PCF_VENDOR_CLASS_SUP: ib_uverbs_query_port_cap_flags = 1 << 20;
pub const IB_UVERBS_PCF_DR_NOTICE_SUP: ib_uverbs_query_port_cap_flags = 1 << 21;
pub const IB_UVERBS_PCF_CAP_MASK_NOTICE_SUP: ib_uverbs_query_port_cap_flags = 1 << 22;
pub const IB_UVERBS_PCF_BOOT_MGMT_SUP: ib_uverbs_query_port_cap_flags = 1 << 23;
pub const IB_UVERBS_PCF_LINK_LATENCY_SUP: ib_uverbs_query_port_cap_flags = 1 << 24;
pub const IB_UVERBS_PCF_CLIENT_REG_SUP: ib_uverbs_query_port_cap_flags = 1 << 25;
pub const IB_UVERBS_PCF_LINK_SPEED_WIDTH_TABLE_SUP: ib_uverbs_query_port_cap_flags = 1 << 27;
pub const IB_UVERBS_PCF_VENDOR_SPECIFIC_MADS_TABLE_SUP: ib_uverbs_query_port_cap_flags = 1 << 28;
pub const IB_UVERBS_PCF_MCAST_PKEY_TRAP_SUPPRESSION_SUP: ib_uverbs_query_port_cap_flags = 1 << 29;
pub const IB_UVERBS_PCF_MCAST_FDB_TOP_SUP: ib_uverbs_query_port_cap_flags = 1 << 30;
pub const IB_UVERBS_PCF_HIERARCHY_INFO_SUP: ib_uverbs_query_port_cap_flags = 1 << 31;
pub const IB_UVERBS_PCF_IP_BASED_GIDS: ib_uverbs_query_port_cap_flags = 1 << 26;

/// The kernel's `ibv_port_attr::flags`.
pub type ib_uverbs_query_port_flags = c_uint;
pub const IB_UVERBS_QPF_GRH_REQUIRED: ib_uverbs_query_port_flags = 1 << 0;

/// Answer of `UVERBS_METHOD_QUERY_PORT`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_query_port_resp_ex {
    /// What the write command answers.
    pub legacy_resp: ib_uverbs_query_port_resp,
    /// See `ibv_port_cap_flags2`.
    pub port_cap_flags2: u16,
    /// 0.
    pub reserved: [u8; 2],
    /// Lane speed, coded; see `ibv_port_attr::active_speed_ex`.
    pub active_speed_ex: u32,
}

/// The kernel's `ibv_gid_type`.
pub type ib_uverbs_gid_type = c_uint;
pub const IB_UVERBS_GID_TYPE_IB: ib_uverbs_gid_type = 0;
pub const IB_UVERBS_GID_TYPE_ROCE_V1: ib_uverbs_gid_type = 1;
pub const IB_UVERBS_GID_TYPE_ROCE_V2: ib_uverbs_gid_type = 2;

/// An entry of a GID table; the form of `ibv_gid_entry`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_gid_entry {
    /// The GID, network byte order.
    pub gid: [u64; 2],
    /// Index in the table of its port.
    pub gid_index: u32,
    /// Port, from 1.
    pub port_num: u32,
    /// One of `ib_uverbs_gid_type`.
    pub gid_type: u32,
    /// Interface index of the network device, 0 if there is none.
    pub netdev_ifindex: u32,
}

// ---- Memory.

/// First optional access bit.
pub const IB_UVERBS_ACCESS_OPTIONAL_FIRST: c_uint = 1 << 20;
/// Last optional access bit.
pub const IB_UVERBS_ACCESS_OPTIONAL_LAST: c_uint = 1 << 29;

/// The kernel's `ibv_access_flags`.
pub type ib_uverbs_access_flags = c_uint;
pub const IB_UVERBS_ACCESS_LOCAL_WRITE: ib_uverbs_access_flags = 1 << 0;
pub const IB_UVERBS_ACCESS_REMOTE_WRITE: ib_uverbs_access_flags = 1 << 1;
pub const IB_UVERBS_ACCESS_REMOTE_READ: ib_uverbs_access_flags = 1 << 2;
pub const IB_UVERBS_ACCESS_REMOTE_ATOMIC: ib_uverbs_access_flags = 1 << 3;
pub const IB_UVERBS_ACCESS_MW_BIND: ib_uverbs_access_flags = 1 << 4;
pub const IB_UVERBS_ACCESS_ZERO_BASED: ib_uverbs_access_flags = 1 << 5;
pub const IB_UVERBS_ACCESS_ON_DEMAND: ib_uverbs_access_flags = 1 << 6;
pub const IB_UVERBS_ACCESS_HUGETLB: ib_uverbs_access_flags = 1 << 7;
pub const IB_UVERBS_ACCESS_FLUSH_GLOBAL: ib_uverbs_access_flags = 1 << 8;
pub const IB_UVERBS_ACCESS_FLUSH_PERSISTENT: ib_uverbs_access_flags = 1 << 9;
pub const IB_UVERBS_ACCESS_RELAXED_ORDERING: ib_uverbs_access_flags =
    IB_UVERBS_ACCESS_OPTIONAL_FIRST;
/// All optional access bits.
pub const IB_UVERBS_ACCESS_OPTIONAL_RANGE: ib_uverbs_access_flags =
    ((IB_UVERBS_ACCESS_OPTIONAL_LAST << 1) - 1) & !(IB_UVERBS_ACCESS_OPTIONAL_FIRST - 1);

/// The kernel's `IBV_ADVISE_MR_ADVICE_*`.
pub type ib_uverbs_advise_mr_advice = c_uint;
pub const IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH: ib_uverbs_advise_mr_advice = 0;
pub const IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE: ib_uverbs_advise_mr_advice = 1;
pub const IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT: ib_uverbs_advise_mr_advice = 2;

/// The kernel's `IBV_ADVISE_MR_FLAG_*`.
pub type ib_uverbs_advise_mr_flag = c_uint;
pub const IB_UVERBS_ADVISE_MR_FLAG_FLUSH: ib_uverbs_advise_mr_flag = 1 << 0;

/// Kind of an `ib_uverbs_buffer_desc`.
pub type ib_uverbs_buffer_type = c_uint;
/// A piece of a dma-buf.
pub const IB_UVERBS_BUFFER_TYPE_DMABUF: ib_uverbs_buffer_type = 0;
/// A piece of the process's memory.
pub const IB_UVERBS_BUFFER_TYPE_VA: ib_uverbs_buffer_type = 1;

/// Memory that user space provides for a queue, the `_BUF_UMEM` attributes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_buffer_desc {
    /// One of `ib_uverbs_buffer_type`; `type` in C.
    pub type_: u32,
    /// Descriptor of the dma-buf.
    pub fd: i32,
    /// The kernel refuses bits it does not know; none are defined.
    pub flags: u32,
    /// The kernel ignores bits it does not know; none are defined.
    pub optional_flags: u32,
    /// Address, or offset in the dma-buf.
    pub addr: u64,
    /// Length in bytes.
    pub length: u64,
}

// ---- Queues.

/// The kernel's `ibv_qp_type`.
pub type ib_uverbs_qp_type = c_uint;
pub const IB_UVERBS_QPT_RC: ib_uverbs_qp_type = 2;
pub const IB_UVERBS_QPT_UC: ib_uverbs_qp_type = 3;
pub const IB_UVERBS_QPT_UD: ib_uverbs_qp_type = 4;
pub const IB_UVERBS_QPT_RAW_PACKET: ib_uverbs_qp_type = 8;
pub const IB_UVERBS_QPT_XRC_INI: ib_uverbs_qp_type = 9;
pub const IB_UVERBS_QPT_XRC_TGT: ib_uverbs_qp_type = 10;
pub const IB_UVERBS_QPT_DRIVER: ib_uverbs_qp_type = 255;

/// The kernel's `ibv_qp_create_flags`, with a bit for `sq_sig_all`.
pub type ib_uverbs_qp_create_flags = c_uint;
pub const IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK: ib_uverbs_qp_create_flags = 1 << 1;
pub const IB_UVERBS_QP_CREATE_SCATTER_FCS: ib_uverbs_qp_create_flags = 1 << 8;
pub const IB_UVERBS_QP_CREATE_CVLAN_STRIPPING: ib_uverbs_qp_create_flags = 1 << 9;
pub const IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING: ib_uverbs_qp_create_flags = 1 << 11;
pub const IB_UVERBS_QP_CREATE_SQ_SIG_ALL: ib_uverbs_qp_create_flags = 1 << 12;

/// The kernel's `ibv_qp_cap`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_qp_cap {
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
}

/// The kernel's `ibv_srq_type`.
pub type ib_uverbs_srq_type = c_uint;
pub const IB_UVERBS_SRQT_BASIC: ib_uverbs_srq_type = 0;
pub const IB_UVERBS_SRQT_XRC: ib_uverbs_srq_type = 1;
pub const IB_UVERBS_SRQT_TM: ib_uverbs_srq_type = 2;

/// The kernel's `ibv_wq_type`.
pub type ib_uverbs_wq_type = c_uint;
pub const IB_UVERBS_WQT_RQ: ib_uverbs_wq_type = 0;

/// The kernel's `ibv_wq_flags`.
pub type ib_uverbs_wq_flags = c_uint;
pub const IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING: ib_uverbs_wq_flags = 1 << 0;
pub const IB_UVERBS_WQ_FLAGS_SCATTER_FCS: ib_uverbs_wq_flags = 1 << 1;
pub const IB_UVERBS_WQ_FLAGS_DELAY_DROP: ib_uverbs_wq_flags = 1 << 2;
pub const IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING: ib_uverbs_wq_flags = 1 << 3;

// ---- Counters.

/// The kernel's `ibv_read_counters_flags`.
pub type ib_uverbs_read_counters_flags = c_uint;
pub const IB_UVERBS_READ_COUNTERS_PREFER_CACHED: ib_uverbs_read_counters_flags = 1 << 0;

/// Which of the two values of a completion counter.
pub type ib_uverbs_comp_cntr_entry = c_uint;
/// Successful completions.
pub const IB_UVERBS_COMP_CNTR_ENTRY_COMP: ib_uverbs_comp_cntr_entry = 0;
/// Errors.
pub const IB_UVERBS_COMP_CNTR_ENTRY_ERR: ib_uverbs_comp_cntr_entry = 1;

/// How to change a value of a completion counter.
pub type ib_uverbs_comp_cntr_modify_op = c_uint;
/// Set it.
pub const IB_UVERBS_COMP_CNTR_MODIFY_OP_SET: ib_uverbs_comp_cntr_modify_op = 0;
/// Add to it.
pub const IB_UVERBS_COMP_CNTR_MODIFY_OP_INC: ib_uverbs_comp_cntr_modify_op = 1;

/// The kernel's `ibv_qp_attach_comp_cntr_op`.
pub type ib_uverbs_qp_attach_comp_cntr_op = c_uint;
pub const IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_SEND: ib_uverbs_qp_attach_comp_cntr_op = 1 << 0;
pub const IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RECV: ib_uverbs_qp_attach_comp_cntr_op = 1 << 1;
pub const IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RDMA_READ: ib_uverbs_qp_attach_comp_cntr_op = 1 << 2;
pub const IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ: ib_uverbs_qp_attach_comp_cntr_op =
    1 << 3;
pub const IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE: ib_uverbs_qp_attach_comp_cntr_op = 1 << 4;
pub const IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE: ib_uverbs_qp_attach_comp_cntr_op =
    1 << 5;

// ---- Flow actions.

/// Bits of `ib_uverbs_flow_action_esp::flags`. The names with value 0 say what the absence of their
/// counterpart means.
pub type ib_uverbs_flow_action_esp_flags = c_uint;
pub const IB_UVERBS_FLOW_ACTION_ESP_FLAGS_INLINE_CRYPTO: ib_uverbs_flow_action_esp_flags = 0;
pub const IB_UVERBS_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD: ib_uverbs_flow_action_esp_flags = 1 << 0;
pub const IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TUNNEL: ib_uverbs_flow_action_esp_flags = 0;
pub const IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TRANSPORT: ib_uverbs_flow_action_esp_flags = 1 << 1;
pub const IB_UVERBS_FLOW_ACTION_ESP_FLAGS_DECRYPT: ib_uverbs_flow_action_esp_flags = 0;
pub const IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ENCRYPT: ib_uverbs_flow_action_esp_flags = 1 << 2;
pub const IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW: ib_uverbs_flow_action_esp_flags = 1 << 3;

/// An IPsec security association.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_action_esp {
    /// Security parameters index; full offload.
    pub spi: u32,
    /// Lower half of the first sequence number; full offload.
    pub seq: u32,
    /// Bytes of traffic flow confidentiality padding (RFC 4303); full offload.
    pub tfc_pad: u32,
    /// See `ib_uverbs_flow_action_esp_flags`.
    pub flags: u32,
    /// Packets after which all further ones are dropped; full offload.
    pub hard_limit_pkts: u64,
}

/// Kind of key material.
pub type ib_uverbs_flow_action_esp_keymat = c_uint;
pub const IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM: ib_uverbs_flow_action_esp_keymat = 0;

/// How initialisation vectors are made.
pub type ib_uverbs_flow_action_esp_keymat_aes_gcm_iv_algo = c_uint;
pub const IB_UVERBS_FLOW_ACTION_IV_ALGO_SEQ: ib_uverbs_flow_action_esp_keymat_aes_gcm_iv_algo = 0;

/// Key material of AES-GCM (RFC 4106).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_action_esp_keymat_aes_gcm {
    /// First initialisation vector; full offload.
    pub iv: u64,
    /// One of `ib_uverbs_flow_action_esp_keymat_aes_gcm_iv_algo`.
    pub iv_algo: u32,
    /// Salt.
    pub salt: u32,
    /// Bytes of the integrity check value.
    pub icv_len: u32,
    /// Bytes of the key: 16, 24 or 32.
    pub key_len: u32,
    /// Key.
    pub aes_key: [u32; 8],
}

/// Kind of replay protection.
pub type ib_uverbs_flow_action_esp_replay = c_uint;
pub const IB_UVERBS_FLOW_ACTION_ESP_REPLAY_NONE: ib_uverbs_flow_action_esp_replay = 0;
pub const IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP: ib_uverbs_flow_action_esp_replay = 1;

/// Replay protection by a sliding bit map.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_action_esp_replay_bmp {
    /// Sequence numbers in the window.
    pub size: u32,
}

/// A header around the ESP packet, element of a list from the outside in.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_action_esp_encap {
    /// Header, in the form of a flow filter.
    pub val_ptr: *mut c_void,
    /// Next header, or NULL.
    pub next_ptr: *mut ib_uverbs_flow_action_esp_encap,
    /// Bytes at `val_ptr`.
    pub len: u16,
    /// One of `ibv_flow_spec_type`; `type` in C.
    pub type_: u16,
}

plain! {
    ib_uverbs_query_port_resp_ex, ib_uverbs_gid_entry, ib_uverbs_buffer_desc, ib_uverbs_qp_cap,
    ib_uverbs_flow_action_esp, ib_uverbs_flow_action_esp_keymat_aes_gcm,
    ib_uverbs_flow_action_esp_replay_bmp, ib_uverbs_flow_action_esp_encap
}
