//! Requests and responses of the write interface (`rdma/ib_user_verbs.h`).

use core::ffi::{c_uint};

use crate::abi::*;

// ib_user_verbs.h: (anonymous) IB_USER_VERBS_EX_CMD_QUERY_DEVICE
pub const IB_USER_VERBS_EX_CMD_QUERY_DEVICE: c_uint = 1;
pub const IB_USER_VERBS_EX_CMD_CREATE_CQ: c_uint = 18;
pub const IB_USER_VERBS_EX_CMD_CREATE_QP: c_uint = 24;
pub const IB_USER_VERBS_EX_CMD_MODIFY_QP: c_uint = 26;
pub const IB_USER_VERBS_EX_CMD_CREATE_FLOW: c_uint = 50;
pub const IB_USER_VERBS_EX_CMD_DESTROY_FLOW: c_uint = 51;
pub const IB_USER_VERBS_EX_CMD_CREATE_WQ: c_uint = 52;
pub const IB_USER_VERBS_EX_CMD_MODIFY_WQ: c_uint = 53;
pub const IB_USER_VERBS_EX_CMD_DESTROY_WQ: c_uint = 54;
pub const IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL: c_uint = 55;
pub const IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL: c_uint = 56;
pub const IB_USER_VERBS_EX_CMD_MODIFY_CQ: c_uint = 57;

// ib_user_verbs.h: (anonymous) IB_UVERBS_CREATE_QP_SUP_COMP_MASK
pub const IB_UVERBS_CREATE_QP_SUP_COMP_MASK: c_uint = 1;

/// `enum ib_placement_type` (`ib_user_verbs.h`).
pub type ib_placement_type = c_uint;
pub const IB_FLUSH_GLOBAL: ib_placement_type = 1;
pub const IB_FLUSH_PERSISTENT: ib_placement_type = 2;

/// `enum ib_selectivity_level` (`ib_user_verbs.h`).
pub type ib_selectivity_level = c_uint;
pub const IB_FLUSH_RANGE: ib_selectivity_level = 0;
pub const IB_FLUSH_MR: ib_selectivity_level = 1;

/// `enum ib_uverbs_create_qp_mask` (`ib_user_verbs.h`).
pub type ib_uverbs_create_qp_mask = c_uint;
pub const IB_UVERBS_CREATE_QP_MASK_IND_TABLE: ib_uverbs_create_qp_mask = 1;

/// `enum ib_uverbs_device_cap_flags` (`ib_user_verbs.h`).
pub type ib_uverbs_device_cap_flags = u64;
pub const IB_UVERBS_DEVICE_RESIZE_MAX_WR: ib_uverbs_device_cap_flags = 1;
pub const IB_UVERBS_DEVICE_BAD_PKEY_CNTR: ib_uverbs_device_cap_flags = 2;
pub const IB_UVERBS_DEVICE_BAD_QKEY_CNTR: ib_uverbs_device_cap_flags = 4;
pub const IB_UVERBS_DEVICE_RAW_MULTI: ib_uverbs_device_cap_flags = 8;
pub const IB_UVERBS_DEVICE_AUTO_PATH_MIG: ib_uverbs_device_cap_flags = 16;
pub const IB_UVERBS_DEVICE_CHANGE_PHY_PORT: ib_uverbs_device_cap_flags = 32;
pub const IB_UVERBS_DEVICE_UD_AV_PORT_ENFORCE: ib_uverbs_device_cap_flags = 64;
pub const IB_UVERBS_DEVICE_CURR_QP_STATE_MOD: ib_uverbs_device_cap_flags = 128;
pub const IB_UVERBS_DEVICE_SHUTDOWN_PORT: ib_uverbs_device_cap_flags = 1 << 8;
pub const IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT: ib_uverbs_device_cap_flags = 1 << 10;
pub const IB_UVERBS_DEVICE_SYS_IMAGE_GUID: ib_uverbs_device_cap_flags = 1 << 11;
pub const IB_UVERBS_DEVICE_RC_RNR_NAK_GEN: ib_uverbs_device_cap_flags = 1 << 12;
pub const IB_UVERBS_DEVICE_SRQ_RESIZE: ib_uverbs_device_cap_flags = 1 << 13;
pub const IB_UVERBS_DEVICE_N_NOTIFY_CQ: ib_uverbs_device_cap_flags = 1 << 14;
pub const IB_UVERBS_DEVICE_MEM_WINDOW: ib_uverbs_device_cap_flags = 1 << 17;
pub const IB_UVERBS_DEVICE_UD_IP_CSUM: ib_uverbs_device_cap_flags = 1 << 18;
pub const IB_UVERBS_DEVICE_XRC: ib_uverbs_device_cap_flags = 1 << 20;
pub const IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS: ib_uverbs_device_cap_flags = 1 << 21;
pub const IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2A: ib_uverbs_device_cap_flags = 1 << 23;
pub const IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2B: ib_uverbs_device_cap_flags = 1 << 24;
pub const IB_UVERBS_DEVICE_RC_IP_CSUM: ib_uverbs_device_cap_flags = 1 << 25;
pub const IB_UVERBS_DEVICE_RAW_IP_CSUM: ib_uverbs_device_cap_flags = 1 << 26;
pub const IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING: ib_uverbs_device_cap_flags = 1 << 29;
pub const IB_UVERBS_DEVICE_RAW_SCATTER_FCS: ib_uverbs_device_cap_flags = 1 << 34;
pub const IB_UVERBS_DEVICE_PCI_WRITE_END_PADDING: ib_uverbs_device_cap_flags = 1 << 36;
pub const IB_UVERBS_DEVICE_FLUSH_GLOBAL: ib_uverbs_device_cap_flags = 1 << 38;
pub const IB_UVERBS_DEVICE_FLUSH_PERSISTENT: ib_uverbs_device_cap_flags = 1 << 39;
pub const IB_UVERBS_DEVICE_ATOMIC_WRITE: ib_uverbs_device_cap_flags = 1 << 40;
pub const IB_UVERBS_DEVICE_CC_DMA_BOUNCE: ib_uverbs_device_cap_flags = 1 << 41;

/// `enum ib_uverbs_ex_create_cq_flags` (`ib_user_verbs.h`).
pub type ib_uverbs_ex_create_cq_flags = c_uint;
pub const IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION: ib_uverbs_ex_create_cq_flags = 1;
pub const IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN: ib_uverbs_ex_create_cq_flags = 2;

/// `enum ib_uverbs_odp_general_cap_bits` (`ib_user_verbs.h`).
pub type ib_uverbs_odp_general_cap_bits = c_uint;
pub const IB_UVERBS_ODP_SUPPORT: ib_uverbs_odp_general_cap_bits = 1;
pub const IB_UVERBS_ODP_SUPPORT_IMPLICIT: ib_uverbs_odp_general_cap_bits = 2;

/// `enum ib_uverbs_odp_transport_cap_bits` (`ib_user_verbs.h`).
pub type ib_uverbs_odp_transport_cap_bits = c_uint;
pub const IB_UVERBS_ODP_SUPPORT_SEND: ib_uverbs_odp_transport_cap_bits = 1;
pub const IB_UVERBS_ODP_SUPPORT_RECV: ib_uverbs_odp_transport_cap_bits = 2;
pub const IB_UVERBS_ODP_SUPPORT_WRITE: ib_uverbs_odp_transport_cap_bits = 4;
pub const IB_UVERBS_ODP_SUPPORT_READ: ib_uverbs_odp_transport_cap_bits = 8;
pub const IB_UVERBS_ODP_SUPPORT_ATOMIC: ib_uverbs_odp_transport_cap_bits = 16;
pub const IB_UVERBS_ODP_SUPPORT_SRQ_RECV: ib_uverbs_odp_transport_cap_bits = 32;
pub const IB_UVERBS_ODP_SUPPORT_FLUSH: ib_uverbs_odp_transport_cap_bits = 64;
pub const IB_UVERBS_ODP_SUPPORT_ATOMIC_WRITE: ib_uverbs_odp_transport_cap_bits = 128;

/// `enum ib_uverbs_raw_packet_caps` (`ib_user_verbs.h`).
pub type ib_uverbs_raw_packet_caps = c_uint;
pub const IB_UVERBS_RAW_PACKET_CAP_CVLAN_STRIPPING: ib_uverbs_raw_packet_caps = 1;
pub const IB_UVERBS_RAW_PACKET_CAP_SCATTER_FCS: ib_uverbs_raw_packet_caps = 2;
pub const IB_UVERBS_RAW_PACKET_CAP_IP_CSUM: ib_uverbs_raw_packet_caps = 4;
pub const IB_UVERBS_RAW_PACKET_CAP_DELAY_DROP: ib_uverbs_raw_packet_caps = 8;

/// `enum ib_uverbs_wc_opcode` (`ib_user_verbs.h`).
pub type ib_uverbs_wc_opcode = c_uint;
pub const IB_UVERBS_WC_SEND: ib_uverbs_wc_opcode = 0;
pub const IB_UVERBS_WC_RDMA_WRITE: ib_uverbs_wc_opcode = 1;
pub const IB_UVERBS_WC_RDMA_READ: ib_uverbs_wc_opcode = 2;
pub const IB_UVERBS_WC_COMP_SWAP: ib_uverbs_wc_opcode = 3;
pub const IB_UVERBS_WC_FETCH_ADD: ib_uverbs_wc_opcode = 4;
pub const IB_UVERBS_WC_BIND_MW: ib_uverbs_wc_opcode = 5;
pub const IB_UVERBS_WC_LOCAL_INV: ib_uverbs_wc_opcode = 6;
pub const IB_UVERBS_WC_TSO: ib_uverbs_wc_opcode = 7;
pub const IB_UVERBS_WC_FLUSH: ib_uverbs_wc_opcode = 8;
pub const IB_UVERBS_WC_ATOMIC_WRITE: ib_uverbs_wc_opcode = 9;

/// `enum ib_uverbs_wr_opcode` (`ib_user_verbs.h`).
pub type ib_uverbs_wr_opcode = c_uint;
pub const IB_UVERBS_WR_RDMA_WRITE: ib_uverbs_wr_opcode = 0;
pub const IB_UVERBS_WR_RDMA_WRITE_WITH_IMM: ib_uverbs_wr_opcode = 1;
pub const IB_UVERBS_WR_SEND: ib_uverbs_wr_opcode = 2;
pub const IB_UVERBS_WR_SEND_WITH_IMM: ib_uverbs_wr_opcode = 3;
pub const IB_UVERBS_WR_RDMA_READ: ib_uverbs_wr_opcode = 4;
pub const IB_UVERBS_WR_ATOMIC_CMP_AND_SWP: ib_uverbs_wr_opcode = 5;
pub const IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD: ib_uverbs_wr_opcode = 6;
pub const IB_UVERBS_WR_LOCAL_INV: ib_uverbs_wr_opcode = 7;
pub const IB_UVERBS_WR_BIND_MW: ib_uverbs_wr_opcode = 8;
pub const IB_UVERBS_WR_SEND_WITH_INV: ib_uverbs_wr_opcode = 9;
pub const IB_UVERBS_WR_TSO: ib_uverbs_wr_opcode = 10;
pub const IB_UVERBS_WR_RDMA_READ_WITH_INV: ib_uverbs_wr_opcode = 11;
pub const IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP: ib_uverbs_wr_opcode = 12;
pub const IB_UVERBS_WR_MASKED_ATOMIC_FETCH_AND_ADD: ib_uverbs_wr_opcode = 13;
pub const IB_UVERBS_WR_FLUSH: ib_uverbs_wr_opcode = 14;
pub const IB_UVERBS_WR_ATOMIC_WRITE: ib_uverbs_wr_opcode = 15;

/// `enum ib_uverbs_write_cmds` (`ib_user_verbs.h`).
pub type ib_uverbs_write_cmds = c_uint;
pub const IB_USER_VERBS_CMD_GET_CONTEXT: ib_uverbs_write_cmds = 0;
pub const IB_USER_VERBS_CMD_QUERY_DEVICE: ib_uverbs_write_cmds = 1;
pub const IB_USER_VERBS_CMD_QUERY_PORT: ib_uverbs_write_cmds = 2;
pub const IB_USER_VERBS_CMD_ALLOC_PD: ib_uverbs_write_cmds = 3;
pub const IB_USER_VERBS_CMD_DEALLOC_PD: ib_uverbs_write_cmds = 4;
pub const IB_USER_VERBS_CMD_CREATE_AH: ib_uverbs_write_cmds = 5;
pub const IB_USER_VERBS_CMD_MODIFY_AH: ib_uverbs_write_cmds = 6;
pub const IB_USER_VERBS_CMD_QUERY_AH: ib_uverbs_write_cmds = 7;
pub const IB_USER_VERBS_CMD_DESTROY_AH: ib_uverbs_write_cmds = 8;
pub const IB_USER_VERBS_CMD_REG_MR: ib_uverbs_write_cmds = 9;
pub const IB_USER_VERBS_CMD_REG_SMR: ib_uverbs_write_cmds = 10;
pub const IB_USER_VERBS_CMD_REREG_MR: ib_uverbs_write_cmds = 11;
pub const IB_USER_VERBS_CMD_QUERY_MR: ib_uverbs_write_cmds = 12;
pub const IB_USER_VERBS_CMD_DEREG_MR: ib_uverbs_write_cmds = 13;
pub const IB_USER_VERBS_CMD_ALLOC_MW: ib_uverbs_write_cmds = 14;
pub const IB_USER_VERBS_CMD_BIND_MW: ib_uverbs_write_cmds = 15;
pub const IB_USER_VERBS_CMD_DEALLOC_MW: ib_uverbs_write_cmds = 16;
pub const IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL: ib_uverbs_write_cmds = 17;
pub const IB_USER_VERBS_CMD_CREATE_CQ: ib_uverbs_write_cmds = 18;
pub const IB_USER_VERBS_CMD_RESIZE_CQ: ib_uverbs_write_cmds = 19;
pub const IB_USER_VERBS_CMD_DESTROY_CQ: ib_uverbs_write_cmds = 20;
pub const IB_USER_VERBS_CMD_POLL_CQ: ib_uverbs_write_cmds = 21;
pub const IB_USER_VERBS_CMD_PEEK_CQ: ib_uverbs_write_cmds = 22;
pub const IB_USER_VERBS_CMD_REQ_NOTIFY_CQ: ib_uverbs_write_cmds = 23;
pub const IB_USER_VERBS_CMD_CREATE_QP: ib_uverbs_write_cmds = 24;
pub const IB_USER_VERBS_CMD_QUERY_QP: ib_uverbs_write_cmds = 25;
pub const IB_USER_VERBS_CMD_MODIFY_QP: ib_uverbs_write_cmds = 26;
pub const IB_USER_VERBS_CMD_DESTROY_QP: ib_uverbs_write_cmds = 27;
pub const IB_USER_VERBS_CMD_POST_SEND: ib_uverbs_write_cmds = 28;
pub const IB_USER_VERBS_CMD_POST_RECV: ib_uverbs_write_cmds = 29;
pub const IB_USER_VERBS_CMD_ATTACH_MCAST: ib_uverbs_write_cmds = 30;
pub const IB_USER_VERBS_CMD_DETACH_MCAST: ib_uverbs_write_cmds = 31;
pub const IB_USER_VERBS_CMD_CREATE_SRQ: ib_uverbs_write_cmds = 32;
pub const IB_USER_VERBS_CMD_MODIFY_SRQ: ib_uverbs_write_cmds = 33;
pub const IB_USER_VERBS_CMD_QUERY_SRQ: ib_uverbs_write_cmds = 34;
pub const IB_USER_VERBS_CMD_DESTROY_SRQ: ib_uverbs_write_cmds = 35;
pub const IB_USER_VERBS_CMD_POST_SRQ_RECV: ib_uverbs_write_cmds = 36;
pub const IB_USER_VERBS_CMD_OPEN_XRCD: ib_uverbs_write_cmds = 37;
pub const IB_USER_VERBS_CMD_CLOSE_XRCD: ib_uverbs_write_cmds = 38;
pub const IB_USER_VERBS_CMD_CREATE_XSRQ: ib_uverbs_write_cmds = 39;
pub const IB_USER_VERBS_CMD_OPEN_QP: ib_uverbs_write_cmds = 40;

/// `IB_DEVICE_NAME_MAX` (`ib_user_verbs.h`).
pub const IB_DEVICE_NAME_MAX: c_uint = 64;

/// `IB_USER_VERBS_ABI_VERSION` (`ib_user_verbs.h`).
pub const IB_USER_VERBS_ABI_VERSION: c_uint = 6;

/// `IB_USER_VERBS_CMD_COMMAND_MASK` (`ib_user_verbs.h`).
pub const IB_USER_VERBS_CMD_COMMAND_MASK: c_uint = 255;

/// `IB_USER_VERBS_CMD_FLAG_EXTENDED` (`ib_user_verbs.h`).
pub const IB_USER_VERBS_CMD_FLAG_EXTENDED: c_uint = 1 << 31;

/// `IB_USER_VERBS_CMD_THRESHOLD` (`ib_user_verbs.h`).
pub const IB_USER_VERBS_CMD_THRESHOLD: c_uint = 50;

/// `IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE` (`ib_user_verbs.h`).
pub const IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE: c_uint = 13;

/// `struct ib_uverbs_ah_attr` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ah_attr {
    pub grh: ib_uverbs_global_route,
    pub dlid: u16,
    pub sl: u8,
    pub src_path_bits: u8,
    pub static_rate: u8,
    pub is_global: u8,
    pub port_num: u8,
    pub reserved: u8,
}

/// `struct ib_uverbs_alloc_mw` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_alloc_mw {
    pub response: u64,
    pub pd_handle: u32,
    pub mw_type: u8,
    pub reserved: [u8; 3],
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_alloc_mw_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_alloc_mw_resp {
    pub mw_handle: u32,
    pub rkey: u32,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_alloc_pd` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_alloc_pd {
    pub response: u64,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_alloc_pd_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_alloc_pd_resp {
    pub pd_handle: u32,
    pub driver_data: [u32; 0],
}

/// `struct ib_uverbs_async_event_desc` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_async_event_desc {
    pub element: u64,
    pub event_type: u32,
    pub reserved: u32,
}

/// `struct ib_uverbs_attach_mcast` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_attach_mcast {
    pub gid: [u8; 16],
    pub qp_handle: u32,
    pub mlid: u16,
    pub reserved: u16,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_clock_info` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_clock_info {
    pub sign: u32,
    pub resv: u32,
    pub nsec: u64,
    pub cycles: u64,
    pub frac: u64,
    pub mult: u32,
    pub shift: u32,
    pub mask: u64,
    pub overflow_period: u64,
}

/// `struct ib_uverbs_close_xrcd` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_close_xrcd {
    pub xrcd_handle: u32,
}

/// `struct ib_uverbs_cmd_hdr` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_cmd_hdr {
    pub command: u32,
    pub in_words: u16,
    pub out_words: u16,
}

/// `struct ib_uverbs_comp_event_desc` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_comp_event_desc {
    pub cq_handle: u64,
}

/// `struct ib_uverbs_cq_moderation` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_cq_moderation {
    pub cq_count: u16,
    pub cq_period: u16,
}

/// `struct ib_uverbs_cq_moderation_caps` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_cq_moderation_caps {
    pub max_cq_moderation_count: u16,
    pub max_cq_moderation_period: u16,
    pub reserved: u32,
}

/// `struct ib_uverbs_create_ah` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_ah {
    pub response: u64,
    pub user_handle: u64,
    pub pd_handle: u32,
    pub reserved: u32,
    pub attr: ib_uverbs_ah_attr,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_create_ah_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_ah_resp {
    pub ah_handle: u32,
    pub driver_data: [u32; 0],
}

/// `struct ib_uverbs_create_comp_channel` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_comp_channel {
    pub response: u64,
}

/// `struct ib_uverbs_create_comp_channel_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_comp_channel_resp {
    pub fd: u32,
}

/// `struct ib_uverbs_create_cq` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_cq {
    pub response: u64,
    pub user_handle: u64,
    pub cqe: u32,
    pub comp_vector: u32,
    pub comp_channel: i32,
    pub reserved: u32,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_create_cq_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_cq_resp {
    pub cq_handle: u32,
    pub cqe: u32,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_create_qp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_qp {
    pub response: u64,
    pub user_handle: u64,
    pub pd_handle: u32,
    pub send_cq_handle: u32,
    pub recv_cq_handle: u32,
    pub srq_handle: u32,
    pub max_send_wr: u32,
    pub max_recv_wr: u32,
    pub max_send_sge: u32,
    pub max_recv_sge: u32,
    pub max_inline_data: u32,
    pub sq_sig_all: u8,
    pub qp_type: u8,
    pub is_srq: u8,
    pub reserved: u8,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_create_qp_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_qp_resp {
    pub qp_handle: u32,
    pub qpn: u32,
    pub max_send_wr: u32,
    pub max_recv_wr: u32,
    pub max_send_sge: u32,
    pub max_recv_sge: u32,
    pub max_inline_data: u32,
    pub reserved: u32,
    pub driver_data: [u32; 0],
}

/// `struct ib_uverbs_create_srq` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_srq {
    pub response: u64,
    pub user_handle: u64,
    pub pd_handle: u32,
    pub max_wr: u32,
    pub max_sge: u32,
    pub srq_limit: u32,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_create_srq_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_srq_resp {
    pub srq_handle: u32,
    pub max_wr: u32,
    pub max_sge: u32,
    pub srqn: u32,
    pub driver_data: [u32; 0],
}

/// `struct ib_uverbs_create_xsrq` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_xsrq {
    pub response: u64,
    pub user_handle: u64,
    pub srq_type: u32,
    pub pd_handle: u32,
    pub max_wr: u32,
    pub max_sge: u32,
    pub srq_limit: u32,
    pub max_num_tags: u32,
    pub xrcd_handle: u32,
    pub cq_handle: u32,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_dealloc_mw` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_dealloc_mw {
    pub mw_handle: u32,
}

/// `struct ib_uverbs_dealloc_pd` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_dealloc_pd {
    pub pd_handle: u32,
}

/// `struct ib_uverbs_dereg_mr` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_dereg_mr {
    pub mr_handle: u32,
}

/// `struct ib_uverbs_destroy_ah` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_destroy_ah {
    pub ah_handle: u32,
}

/// `struct ib_uverbs_destroy_cq` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_destroy_cq {
    pub response: u64,
    pub cq_handle: u32,
    pub reserved: u32,
}

/// `struct ib_uverbs_destroy_cq_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_destroy_cq_resp {
    pub comp_events_reported: u32,
    pub async_events_reported: u32,
}

/// `struct ib_uverbs_destroy_qp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_destroy_qp {
    pub response: u64,
    pub qp_handle: u32,
    pub reserved: u32,
}

/// `struct ib_uverbs_destroy_qp_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_destroy_qp_resp {
    pub events_reported: u32,
}

/// `struct ib_uverbs_destroy_srq` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_destroy_srq {
    pub response: u64,
    pub srq_handle: u32,
    pub reserved: u32,
}

/// `struct ib_uverbs_destroy_srq_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_destroy_srq_resp {
    pub events_reported: u32,
}

/// `struct ib_uverbs_detach_mcast` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_detach_mcast {
    pub gid: [u8; 16],
    pub qp_handle: u32,
    pub mlid: u16,
    pub reserved: u16,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_ex_cmd_hdr` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_cmd_hdr {
    pub response: u64,
    pub provider_in_words: u16,
    pub provider_out_words: u16,
    pub cmd_hdr_reserved: u32,
}

/// `struct ib_uverbs_ex_create_cq` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_create_cq {
    pub user_handle: u64,
    pub cqe: u32,
    pub comp_vector: u32,
    pub comp_channel: i32,
    pub comp_mask: u32,
    pub flags: u32,
    pub reserved: u32,
}

/// `struct ib_uverbs_ex_create_cq_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_create_cq_resp {
    pub base: ib_uverbs_create_cq_resp,
    pub comp_mask: u32,
    pub response_length: u32,
}

/// `struct ib_uverbs_ex_create_qp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_create_qp {
    pub user_handle: u64,
    pub pd_handle: u32,
    pub send_cq_handle: u32,
    pub recv_cq_handle: u32,
    pub srq_handle: u32,
    pub max_send_wr: u32,
    pub max_recv_wr: u32,
    pub max_send_sge: u32,
    pub max_recv_sge: u32,
    pub max_inline_data: u32,
    pub sq_sig_all: u8,
    pub qp_type: u8,
    pub is_srq: u8,
    pub reserved: u8,
    pub comp_mask: u32,
    pub create_flags: u32,
    pub rwq_ind_tbl_handle: u32,
    pub source_qpn: u32,
}

/// `struct ib_uverbs_ex_create_qp_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_create_qp_resp {
    pub base: ib_uverbs_create_qp_resp,
    pub comp_mask: u32,
    pub response_length: u32,
}

/// `struct ib_uverbs_ex_create_rwq_ind_table` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_create_rwq_ind_table {
    pub comp_mask: u32,
    pub log_ind_tbl_size: u32,
    pub wq_handles: [u32; 0],
}

/// `struct ib_uverbs_ex_create_rwq_ind_table_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_create_rwq_ind_table_resp {
    pub comp_mask: u32,
    pub response_length: u32,
    pub ind_tbl_handle: u32,
    pub ind_tbl_num: u32,
}

/// `struct ib_uverbs_ex_create_wq` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_create_wq {
    pub comp_mask: u32,
    pub wq_type: u32,
    pub user_handle: u64,
    pub pd_handle: u32,
    pub cq_handle: u32,
    pub max_wr: u32,
    pub max_sge: u32,
    pub create_flags: u32,
    pub reserved: u32,
}

/// `struct ib_uverbs_ex_create_wq_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_create_wq_resp {
    pub comp_mask: u32,
    pub response_length: u32,
    pub wq_handle: u32,
    pub max_wr: u32,
    pub max_sge: u32,
    pub wqn: u32,
}

/// `struct ib_uverbs_ex_destroy_rwq_ind_table` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_destroy_rwq_ind_table {
    pub comp_mask: u32,
    pub ind_tbl_handle: u32,
}

/// `struct ib_uverbs_ex_destroy_wq` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_destroy_wq {
    pub comp_mask: u32,
    pub wq_handle: u32,
}

/// `struct ib_uverbs_ex_destroy_wq_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_destroy_wq_resp {
    pub comp_mask: u32,
    pub response_length: u32,
    pub events_reported: u32,
    pub reserved: u32,
}

/// `struct ib_uverbs_ex_modify_cq` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_modify_cq {
    pub cq_handle: u32,
    pub attr_mask: u32,
    pub attr: ib_uverbs_cq_moderation,
    pub reserved: u32,
}

/// `struct ib_uverbs_ex_modify_qp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_modify_qp {
    pub base: ib_uverbs_modify_qp,
    pub rate_limit: u32,
    pub reserved: u32,
}

/// `struct ib_uverbs_ex_modify_qp_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_modify_qp_resp {
    pub comp_mask: u32,
    pub response_length: u32,
}

/// `struct ib_uverbs_ex_modify_wq` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_modify_wq {
    pub attr_mask: u32,
    pub wq_handle: u32,
    pub wq_state: u32,
    pub curr_wq_state: u32,
    pub flags: u32,
    pub flags_mask: u32,
}

/// `struct ib_uverbs_ex_query_device` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_query_device {
    pub comp_mask: u32,
    pub reserved: u32,
}

/// `struct ib_uverbs_ex_query_device_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ex_query_device_resp {
    pub base: ib_uverbs_query_device_resp,
    pub comp_mask: u32,
    pub response_length: u32,
    pub odp_caps: ib_uverbs_odp_caps,
    pub timestamp_mask: u64,
    pub hca_core_clock: u64,
    pub device_cap_flags_ex: u64,
    pub rss_caps: ib_uverbs_rss_caps,
    pub max_wq_type_rq: u32,
    pub raw_packet_caps: u32,
    pub tm_caps: ib_uverbs_tm_caps,
    pub cq_moderation_caps: ib_uverbs_cq_moderation_caps,
    pub max_dm_size: u64,
    pub xrc_odp_caps: u32,
    pub reserved: u32,
}

/// `struct ib_uverbs_get_context` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_get_context {
    pub response: u64,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_get_context_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_get_context_resp {
    pub async_fd: u32,
    pub num_comp_vectors: u32,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_global_route` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_global_route {
    pub dgid: [u8; 16],
    pub flow_label: u32,
    pub sgid_index: u8,
    pub hop_limit: u8,
    pub traffic_class: u8,
    pub reserved: u8,
}

/// `struct ib_uverbs_modify_qp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_modify_qp {
    pub dest: ib_uverbs_qp_dest,
    pub alt_dest: ib_uverbs_qp_dest,
    pub qp_handle: u32,
    pub attr_mask: u32,
    pub qkey: u32,
    pub rq_psn: u32,
    pub sq_psn: u32,
    pub dest_qp_num: u32,
    pub qp_access_flags: u32,
    pub pkey_index: u16,
    pub alt_pkey_index: u16,
    pub qp_state: u8,
    pub cur_qp_state: u8,
    pub path_mtu: u8,
    pub path_mig_state: u8,
    pub en_sqd_async_notify: u8,
    pub max_rd_atomic: u8,
    pub max_dest_rd_atomic: u8,
    pub min_rnr_timer: u8,
    pub port_num: u8,
    pub timeout: u8,
    pub retry_cnt: u8,
    pub rnr_retry: u8,
    pub alt_port_num: u8,
    pub alt_timeout: u8,
    pub reserved: [u8; 2],
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_modify_srq` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_modify_srq {
    pub srq_handle: u32,
    pub attr_mask: u32,
    pub max_wr: u32,
    pub srq_limit: u32,
    pub driver_data: [u64; 0],
}

/// Part of `struct ib_uverbs_odp_caps`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_odp_caps_per_transport_caps {
    pub rc_odp_caps: u32,
    pub uc_odp_caps: u32,
    pub ud_odp_caps: u32,
}

/// `struct ib_uverbs_odp_caps` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_odp_caps {
    pub general_caps: u64,
    pub per_transport_caps: ib_uverbs_odp_caps_per_transport_caps,
    pub reserved: u32,
}

/// `struct ib_uverbs_open_qp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_open_qp {
    pub response: u64,
    pub user_handle: u64,
    pub pd_handle: u32,
    pub qpn: u32,
    pub qp_type: u8,
    pub reserved: [u8; 7],
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_open_xrcd` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_open_xrcd {
    pub response: u64,
    pub fd: u32,
    pub oflags: u32,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_open_xrcd_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_open_xrcd_resp {
    pub xrcd_handle: u32,
    pub driver_data: [u32; 0],
}

/// `struct ib_uverbs_poll_cq` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_poll_cq {
    pub response: u64,
    pub cq_handle: u32,
    pub ne: u32,
}

/// `struct ib_uverbs_poll_cq_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_poll_cq_resp {
    pub count: u32,
    pub reserved: u32,
    pub wc: [ib_uverbs_wc; 0],
}

/// `struct ib_uverbs_post_recv` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_post_recv {
    pub response: u64,
    pub qp_handle: u32,
    pub wr_count: u32,
    pub sge_count: u32,
    pub wqe_size: u32,
    pub recv_wr: [ib_uverbs_recv_wr; 0],
}

/// `struct ib_uverbs_post_recv_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_post_recv_resp {
    pub bad_wr: u32,
}

/// `struct ib_uverbs_post_send` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_post_send {
    pub response: u64,
    pub qp_handle: u32,
    pub wr_count: u32,
    pub sge_count: u32,
    pub wqe_size: u32,
    pub send_wr: [ib_uverbs_send_wr; 0],
}

/// `struct ib_uverbs_post_send_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_post_send_resp {
    pub bad_wr: u32,
}

/// `struct ib_uverbs_post_srq_recv` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_post_srq_recv {
    pub response: u64,
    pub srq_handle: u32,
    pub wr_count: u32,
    pub sge_count: u32,
    pub wqe_size: u32,
    pub recv: [ib_uverbs_recv_wr; 0],
}

/// `struct ib_uverbs_post_srq_recv_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_post_srq_recv_resp {
    pub bad_wr: u32,
}

/// `struct ib_uverbs_qp_attr` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_qp_attr {
    pub qp_attr_mask: u32,
    pub qp_state: u32,
    pub cur_qp_state: u32,
    pub path_mtu: u32,
    pub path_mig_state: u32,
    pub qkey: u32,
    pub rq_psn: u32,
    pub sq_psn: u32,
    pub dest_qp_num: u32,
    pub qp_access_flags: u32,
    pub ah_attr: ib_uverbs_ah_attr,
    pub alt_ah_attr: ib_uverbs_ah_attr,
    pub max_send_wr: u32,
    pub max_recv_wr: u32,
    pub max_send_sge: u32,
    pub max_recv_sge: u32,
    pub max_inline_data: u32,
    pub pkey_index: u16,
    pub alt_pkey_index: u16,
    pub en_sqd_async_notify: u8,
    pub sq_draining: u8,
    pub max_rd_atomic: u8,
    pub max_dest_rd_atomic: u8,
    pub min_rnr_timer: u8,
    pub port_num: u8,
    pub timeout: u8,
    pub retry_cnt: u8,
    pub rnr_retry: u8,
    pub alt_port_num: u8,
    pub alt_timeout: u8,
    pub reserved: [u8; 5],
}

/// `struct ib_uverbs_qp_dest` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_qp_dest {
    pub dgid: [u8; 16],
    pub flow_label: u32,
    pub dlid: u16,
    pub reserved: u16,
    pub sgid_index: u8,
    pub hop_limit: u8,
    pub traffic_class: u8,
    pub sl: u8,
    pub src_path_bits: u8,
    pub static_rate: u8,
    pub is_global: u8,
    pub port_num: u8,
}

/// `struct ib_uverbs_query_device` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_query_device {
    pub response: u64,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_query_device_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_query_device_resp {
    pub fw_ver: u64,
    pub node_guid: u64,
    pub sys_image_guid: u64,
    pub max_mr_size: u64,
    pub page_size_cap: u64,
    pub vendor_id: u32,
    pub vendor_part_id: u32,
    pub hw_ver: u32,
    pub max_qp: u32,
    pub max_qp_wr: u32,
    pub device_cap_flags: u32,
    pub max_sge: u32,
    pub max_sge_rd: u32,
    pub max_cq: u32,
    pub max_cqe: u32,
    pub max_mr: u32,
    pub max_pd: u32,
    pub max_qp_rd_atom: u32,
    pub max_ee_rd_atom: u32,
    pub max_res_rd_atom: u32,
    pub max_qp_init_rd_atom: u32,
    pub max_ee_init_rd_atom: u32,
    pub atomic_cap: u32,
    pub max_ee: u32,
    pub max_rdd: u32,
    pub max_mw: u32,
    pub max_raw_ipv6_qp: u32,
    pub max_raw_ethy_qp: u32,
    pub max_mcast_grp: u32,
    pub max_mcast_qp_attach: u32,
    pub max_total_mcast_qp_attach: u32,
    pub max_ah: u32,
    pub max_fmr: u32,
    pub max_map_per_fmr: u32,
    pub max_srq: u32,
    pub max_srq_wr: u32,
    pub max_srq_sge: u32,
    pub max_pkeys: u16,
    pub local_ca_ack_delay: u8,
    pub phys_port_cnt: u8,
    pub reserved: [u8; 4],
}

/// `struct ib_uverbs_query_port` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_query_port {
    pub response: u64,
    pub port_num: u8,
    pub reserved: [u8; 7],
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_query_port_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_query_port_resp {
    pub port_cap_flags: u32,
    pub max_msg_sz: u32,
    pub bad_pkey_cntr: u32,
    pub qkey_viol_cntr: u32,
    pub gid_tbl_len: u32,
    pub pkey_tbl_len: u16,
    pub lid: u16,
    pub sm_lid: u16,
    pub state: u8,
    pub max_mtu: u8,
    pub active_mtu: u8,
    pub lmc: u8,
    pub max_vl_num: u8,
    pub sm_sl: u8,
    pub subnet_timeout: u8,
    pub init_type_reply: u8,
    pub active_width: u8,
    pub active_speed: u8,
    pub phys_state: u8,
    pub link_layer: u8,
    pub flags: u8,
    pub reserved: u8,
}

/// `struct ib_uverbs_query_qp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_query_qp {
    pub response: u64,
    pub qp_handle: u32,
    pub attr_mask: u32,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_query_qp_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_query_qp_resp {
    pub dest: ib_uverbs_qp_dest,
    pub alt_dest: ib_uverbs_qp_dest,
    pub max_send_wr: u32,
    pub max_recv_wr: u32,
    pub max_send_sge: u32,
    pub max_recv_sge: u32,
    pub max_inline_data: u32,
    pub qkey: u32,
    pub rq_psn: u32,
    pub sq_psn: u32,
    pub dest_qp_num: u32,
    pub qp_access_flags: u32,
    pub pkey_index: u16,
    pub alt_pkey_index: u16,
    pub qp_state: u8,
    pub cur_qp_state: u8,
    pub path_mtu: u8,
    pub path_mig_state: u8,
    pub sq_draining: u8,
    pub max_rd_atomic: u8,
    pub max_dest_rd_atomic: u8,
    pub min_rnr_timer: u8,
    pub port_num: u8,
    pub timeout: u8,
    pub retry_cnt: u8,
    pub rnr_retry: u8,
    pub alt_port_num: u8,
    pub alt_timeout: u8,
    pub sq_sig_all: u8,
    pub reserved: [u8; 5],
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_query_srq` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_query_srq {
    pub response: u64,
    pub srq_handle: u32,
    pub reserved: u32,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_query_srq_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_query_srq_resp {
    pub max_wr: u32,
    pub max_sge: u32,
    pub srq_limit: u32,
    pub reserved: u32,
}

/// `struct ib_uverbs_recv_wr` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_recv_wr {
    pub wr_id: u64,
    pub num_sge: u32,
    pub reserved: u32,
}

/// `struct ib_uverbs_reg_mr` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_reg_mr {
    pub response: u64,
    pub start: u64,
    pub length: u64,
    pub hca_va: u64,
    pub pd_handle: u32,
    pub access_flags: u32,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_reg_mr_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_reg_mr_resp {
    pub mr_handle: u32,
    pub lkey: u32,
    pub rkey: u32,
    pub driver_data: [u32; 0],
}

/// `struct ib_uverbs_req_notify_cq` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_req_notify_cq {
    pub cq_handle: u32,
    pub solicited_only: u32,
}

/// `struct ib_uverbs_rereg_mr` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_rereg_mr {
    pub response: u64,
    pub mr_handle: u32,
    pub flags: u32,
    pub start: u64,
    pub length: u64,
    pub hca_va: u64,
    pub pd_handle: u32,
    pub access_flags: u32,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_rereg_mr_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_rereg_mr_resp {
    pub lkey: u32,
    pub rkey: u32,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_resize_cq` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_resize_cq {
    pub response: u64,
    pub cq_handle: u32,
    pub cqe: u32,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_resize_cq_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_resize_cq_resp {
    pub cqe: u32,
    pub reserved: u32,
    pub driver_data: [u64; 0],
}

/// `struct ib_uverbs_rss_caps` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_rss_caps {
    pub supported_qpts: u32,
    pub max_rwq_indirection_tables: u32,
    pub max_rwq_indirection_table_size: u32,
    pub reserved: u32,
}

/// Part of `struct ib_uverbs_send_wr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ib_uverbs_send_wr_ex {
    pub imm_data: u32,
    pub invalidate_rkey: u32,
}

/// Part of `struct ib_uverbs_send_wr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_send_wr_wr_rdma {
    pub remote_addr: u64,
    pub rkey: u32,
    pub reserved: u32,
}

/// Part of `struct ib_uverbs_send_wr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_send_wr_wr_atomic {
    pub remote_addr: u64,
    pub compare_add: u64,
    pub swap: u64,
    pub rkey: u32,
    pub reserved: u32,
}

/// Part of `struct ib_uverbs_send_wr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_send_wr_wr_ud {
    pub ah: u32,
    pub remote_qpn: u32,
    pub remote_qkey: u32,
    pub reserved: u32,
}

/// Part of `struct ib_uverbs_send_wr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ib_uverbs_send_wr_wr {
    pub rdma: ib_uverbs_send_wr_wr_rdma,
    pub atomic: ib_uverbs_send_wr_wr_atomic,
    pub ud: ib_uverbs_send_wr_wr_ud,
}

/// `struct ib_uverbs_send_wr` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_send_wr {
    pub wr_id: u64,
    pub num_sge: u32,
    pub opcode: u32,
    pub send_flags: u32,
    pub ex: ib_uverbs_send_wr_ex,
    pub wr: ib_uverbs_send_wr_wr,
}

/// `struct ib_uverbs_sge` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_sge {
    pub addr: u64,
    pub length: u32,
    pub lkey: u32,
}

/// `struct ib_uverbs_tm_caps` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_tm_caps {
    pub max_rndv_hdr_size: u32,
    pub max_num_tags: u32,
    pub flags: u32,
    pub max_ops: u32,
    pub max_sge: u32,
    pub reserved: u32,
}

/// Part of `struct ib_uverbs_wc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ib_uverbs_wc_ex {
    pub imm_data: u32,
    pub invalidate_rkey: u32,
}

/// `struct ib_uverbs_wc` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_wc {
    pub wr_id: u64,
    pub status: u32,
    pub opcode: u32,
    pub vendor_err: u32,
    pub byte_len: u32,
    pub ex: ib_uverbs_wc_ex,
    pub qp_num: u32,
    pub src_qp: u32,
    pub wc_flags: u32,
    pub pkey_index: u16,
    pub slid: u16,
    pub sl: u8,
    pub dlid_path_bits: u8,
    pub port_num: u8,
    pub reserved: u8,
}

plain!(ib_uverbs_ah_attr, ib_uverbs_alloc_mw, ib_uverbs_alloc_mw_resp, ib_uverbs_alloc_pd, ib_uverbs_alloc_pd_resp, ib_uverbs_async_event_desc, ib_uverbs_attach_mcast, ib_uverbs_clock_info, ib_uverbs_close_xrcd, ib_uverbs_cmd_hdr, ib_uverbs_comp_event_desc, ib_uverbs_cq_moderation, ib_uverbs_cq_moderation_caps, ib_uverbs_create_ah, ib_uverbs_create_ah_resp, ib_uverbs_create_comp_channel, ib_uverbs_create_comp_channel_resp, ib_uverbs_create_cq, ib_uverbs_create_cq_resp, ib_uverbs_create_qp, ib_uverbs_create_qp_resp, ib_uverbs_create_srq, ib_uverbs_create_srq_resp, ib_uverbs_create_xsrq, ib_uverbs_dealloc_mw, ib_uverbs_dealloc_pd, ib_uverbs_dereg_mr, ib_uverbs_destroy_ah, ib_uverbs_destroy_cq, ib_uverbs_destroy_cq_resp, ib_uverbs_destroy_qp, ib_uverbs_destroy_qp_resp, ib_uverbs_destroy_srq, ib_uverbs_destroy_srq_resp, ib_uverbs_detach_mcast, ib_uverbs_ex_cmd_hdr, ib_uverbs_ex_create_cq, ib_uverbs_ex_create_cq_resp, ib_uverbs_ex_create_qp, ib_uverbs_ex_create_qp_resp, ib_uverbs_ex_create_rwq_ind_table, ib_uverbs_ex_create_rwq_ind_table_resp, ib_uverbs_ex_create_wq, ib_uverbs_ex_create_wq_resp, ib_uverbs_ex_destroy_rwq_ind_table, ib_uverbs_ex_destroy_wq, ib_uverbs_ex_destroy_wq_resp, ib_uverbs_ex_modify_cq, ib_uverbs_ex_modify_qp, ib_uverbs_ex_modify_qp_resp, ib_uverbs_ex_modify_wq, ib_uverbs_ex_query_device, ib_uverbs_ex_query_device_resp, ib_uverbs_get_context, ib_uverbs_get_context_resp, ib_uverbs_global_route, ib_uverbs_modify_qp, ib_uverbs_modify_srq, ib_uverbs_odp_caps_per_transport_caps, ib_uverbs_odp_caps, ib_uverbs_open_qp, ib_uverbs_open_xrcd, ib_uverbs_open_xrcd_resp, ib_uverbs_poll_cq, ib_uverbs_poll_cq_resp, ib_uverbs_post_recv, ib_uverbs_post_recv_resp, ib_uverbs_post_send, ib_uverbs_post_send_resp, ib_uverbs_post_srq_recv, ib_uverbs_post_srq_recv_resp, ib_uverbs_qp_attr, ib_uverbs_qp_dest, ib_uverbs_query_device, ib_uverbs_query_device_resp, ib_uverbs_query_port, ib_uverbs_query_port_resp, ib_uverbs_query_qp, ib_uverbs_query_qp_resp, ib_uverbs_query_srq, ib_uverbs_query_srq_resp, ib_uverbs_recv_wr, ib_uverbs_reg_mr, ib_uverbs_reg_mr_resp, ib_uverbs_req_notify_cq, ib_uverbs_rereg_mr, ib_uverbs_rereg_mr_resp, ib_uverbs_resize_cq, ib_uverbs_resize_cq_resp, ib_uverbs_rss_caps, ib_uverbs_send_wr_ex, ib_uverbs_send_wr_wr_rdma, ib_uverbs_send_wr_wr_atomic, ib_uverbs_send_wr_wr_ud, ib_uverbs_send_wr_wr, ib_uverbs_send_wr, ib_uverbs_sge, ib_uverbs_tm_caps, ib_uverbs_wc_ex, ib_uverbs_wc);
