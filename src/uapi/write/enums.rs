//! Enumerations of the kernel that repeat those of the verbs.
#![allow(missing_docs, reason = "each constant is explained at its IBV_ twin")]

use core::ffi::c_uint;

/// Capabilities: `ibv_device_cap_flags` and the bits above 31 of
/// `ibv_device_attr_ex::device_cap_flags_ex`.
pub type ib_uverbs_device_cap_flags = u64;
pub const IB_UVERBS_DEVICE_RESIZE_MAX_WR: ib_uverbs_device_cap_flags = 1 << 0;
pub const IB_UVERBS_DEVICE_BAD_PKEY_CNTR: ib_uverbs_device_cap_flags = 1 << 1;
pub const IB_UVERBS_DEVICE_BAD_QKEY_CNTR: ib_uverbs_device_cap_flags = 1 << 2;
pub const IB_UVERBS_DEVICE_RAW_MULTI: ib_uverbs_device_cap_flags = 1 << 3;
pub const IB_UVERBS_DEVICE_AUTO_PATH_MIG: ib_uverbs_device_cap_flags = 1 << 4;
pub const IB_UVERBS_DEVICE_CHANGE_PHY_PORT: ib_uverbs_device_cap_flags = 1 << 5;
pub const IB_UVERBS_DEVICE_UD_AV_PORT_ENFORCE: ib_uverbs_device_cap_flags = 1 << 6;
pub const IB_UVERBS_DEVICE_CURR_QP_STATE_MOD: ib_uverbs_device_cap_flags = 1 << 7;
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

/// The kernel's `ibv_raw_packet_caps`.
pub type ib_uverbs_raw_packet_caps = c_uint;
pub const IB_UVERBS_RAW_PACKET_CAP_CVLAN_STRIPPING: ib_uverbs_raw_packet_caps = 1 << 0;
pub const IB_UVERBS_RAW_PACKET_CAP_SCATTER_FCS: ib_uverbs_raw_packet_caps = 1 << 1;
pub const IB_UVERBS_RAW_PACKET_CAP_IP_CSUM: ib_uverbs_raw_packet_caps = 1 << 2;
pub const IB_UVERBS_RAW_PACKET_CAP_DELAY_DROP: ib_uverbs_raw_packet_caps = 1 << 3;

/// The kernel's `ibv_odp_general_caps`.
pub type ib_uverbs_odp_general_cap_bits = c_uint;
pub const IB_UVERBS_ODP_SUPPORT: ib_uverbs_odp_general_cap_bits = 1 << 0;
pub const IB_UVERBS_ODP_SUPPORT_IMPLICIT: ib_uverbs_odp_general_cap_bits = 1 << 1;

/// The kernel's `ibv_odp_transport_cap_bits`.
pub type ib_uverbs_odp_transport_cap_bits = c_uint;
pub const IB_UVERBS_ODP_SUPPORT_SEND: ib_uverbs_odp_transport_cap_bits = 1 << 0;
pub const IB_UVERBS_ODP_SUPPORT_RECV: ib_uverbs_odp_transport_cap_bits = 1 << 1;
pub const IB_UVERBS_ODP_SUPPORT_WRITE: ib_uverbs_odp_transport_cap_bits = 1 << 2;
pub const IB_UVERBS_ODP_SUPPORT_READ: ib_uverbs_odp_transport_cap_bits = 1 << 3;
pub const IB_UVERBS_ODP_SUPPORT_ATOMIC: ib_uverbs_odp_transport_cap_bits = 1 << 4;
pub const IB_UVERBS_ODP_SUPPORT_SRQ_RECV: ib_uverbs_odp_transport_cap_bits = 1 << 5;
pub const IB_UVERBS_ODP_SUPPORT_FLUSH: ib_uverbs_odp_transport_cap_bits = 1 << 6;
pub const IB_UVERBS_ODP_SUPPORT_ATOMIC_WRITE: ib_uverbs_odp_transport_cap_bits = 1 << 7;

/// The kernel's `ibv_wr_opcode`, with three operations that user space has no name for.
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

/// The kernel's `ibv_wc_opcode`.
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

/// The kernel's `ibv_placement_type`.
pub type ib_placement_type = c_uint;
pub const IB_FLUSH_GLOBAL: ib_placement_type = 1 << 0;
pub const IB_FLUSH_PERSISTENT: ib_placement_type = 1 << 1;

/// The kernel's `ibv_selectivity_level`.
pub type ib_selectivity_level = c_uint;
pub const IB_FLUSH_RANGE: ib_selectivity_level = 0;
pub const IB_FLUSH_MR: ib_selectivity_level = 1;
