//! Ports and GIDs (`infiniband/verbs.h`).

use core::ffi::{c_int, c_uint};

use crate::abi::*;

// ---- Ports.

/// Logical state of a port (IBTA volume 1, PortInfo).
pub type ibv_port_state = c_uint;
/// No state.
pub const IBV_PORT_NOP: ibv_port_state = 0;
/// Link down.
pub const IBV_PORT_DOWN: ibv_port_state = 1;
/// Physical link up, waits for the subnet manager.
pub const IBV_PORT_INIT: ibv_port_state = 2;
/// Configured, waits for activation.
pub const IBV_PORT_ARMED: ibv_port_state = 3;
/// Carries traffic.
pub const IBV_PORT_ACTIVE: ibv_port_state = 4;
/// Active, but the physical link has just failed and may recover.
pub const IBV_PORT_ACTIVE_DEFER: ibv_port_state = 5;

/// Payload size of a packet, as a code.
pub type ibv_mtu = c_uint;
/// 256 bytes.
pub const IBV_MTU_256: ibv_mtu = 1;
/// 512 bytes.
pub const IBV_MTU_512: ibv_mtu = 2;
/// 1024 bytes.
pub const IBV_MTU_1024: ibv_mtu = 3;
/// 2048 bytes.
pub const IBV_MTU_2048: ibv_mtu = 4;
/// 4096 bytes.
pub const IBV_MTU_4096: ibv_mtu = 5;

/// `link_layer` of old kernels, to be read as InfiniBand for `IBV_TRANSPORT_IB`.
pub const IBV_LINK_LAYER_UNSPECIFIED: c_uint = 0;
/// `link_layer`: InfiniBand.
pub const IBV_LINK_LAYER_INFINIBAND: c_uint = 1;
/// `link_layer`: Ethernet: RoCE and iWARP.
pub const IBV_LINK_LAYER_ETHERNET: c_uint = 2;

/// Bits of `ibv_port_attr::port_cap_flags` (IBTA volume 1, PortInfo CapabilityMask).
pub type ibv_port_cap_flags = c_uint;
/// A subnet manager runs here.
pub const IBV_PORT_SM: ibv_port_cap_flags = 1 << 1;
/// Notices.
pub const IBV_PORT_NOTICE_SUP: ibv_port_cap_flags = 1 << 2;
/// Traps.
pub const IBV_PORT_TRAP_SUP: ibv_port_cap_flags = 1 << 3;
/// Optional inter packet delays.
pub const IBV_PORT_OPT_IPD_SUP: ibv_port_cap_flags = 1 << 4;
/// Automatic path migration.
pub const IBV_PORT_AUTO_MIGR_SUP: ibv_port_cap_flags = 1 << 5;
/// Service level to virtual lane mapping.
pub const IBV_PORT_SL_MAP_SUP: ibv_port_cap_flags = 1 << 6;
/// M_Key kept in non-volatile memory.
pub const IBV_PORT_MKEY_NVRAM: ibv_port_cap_flags = 1 << 7;
/// P_Keys kept in non-volatile memory.
pub const IBV_PORT_PKEY_NVRAM: ibv_port_cap_flags = 1 << 8;
/// LED control.
pub const IBV_PORT_LED_INFO_SUP: ibv_port_cap_flags = 1 << 9;
/// System image GUID.
pub const IBV_PORT_SYS_IMAGE_GUID_SUP: ibv_port_cap_flags = 1 << 11;
/// P_Key violation traps of switch external ports.
pub const IBV_PORT_PKEY_SW_EXT_PORT_TRAP_SUP: ibv_port_cap_flags = 1 << 12;
/// Speeds above QDR.
pub const IBV_PORT_EXTENDED_SPEEDS_SUP: ibv_port_cap_flags = 1 << 14;
/// `port_cap_flags2` exists.
pub const IBV_PORT_CAP_MASK2_SUP: ibv_port_cap_flags = 1 << 15;
/// Connection management.
pub const IBV_PORT_CM_SUP: ibv_port_cap_flags = 1 << 16;
/// SNMP tunnelling.
pub const IBV_PORT_SNMP_TUNNEL_SUP: ibv_port_cap_flags = 1 << 17;
/// Reinitialisation.
pub const IBV_PORT_REINIT_SUP: ibv_port_cap_flags = 1 << 18;
/// Device management.
pub const IBV_PORT_DEVICE_MGMT_SUP: ibv_port_cap_flags = 1 << 19;
/// Vendor classes.
pub const IBV_PORT_VENDOR_CLASS_SUP: ibv_port_cap_flags = 1 << 20;
/// Directed route notices.
pub const IBV_PORT_DR_NOTICE_SUP: ibv_port_cap_flags = 1 << 21;
/// Notice when this mask changes.
pub const IBV_PORT_CAP_MASK_NOTICE_SUP: ibv_port_cap_flags = 1 << 22;
/// Boot management.
pub const IBV_PORT_BOOT_MGMT_SUP: ibv_port_cap_flags = 1 << 23;
/// Link round trip latency measurement.
pub const IBV_PORT_LINK_LATENCY_SUP: ibv_port_cap_flags = 1 << 24;
/// Client reregistration.
pub const IBV_PORT_CLIENT_REG_SUP: ibv_port_cap_flags = 1 << 25;
/// RoCE GIDs are made from IP addresses.
pub const IBV_PORT_IP_BASED_GIDS: ibv_port_cap_flags = 1 << 26;

/// Bits of `ibv_port_attr::port_cap_flags2` (IBTA volume 1, PortInfo CapabilityMask2).
pub type ibv_port_cap_flags2 = c_uint;
/// The node description can be set.
pub const IBV_PORT_SET_NODE_DESC_SUP: ibv_port_cap_flags2 = 1 << 0;
/// PortInfoExtended.
pub const IBV_PORT_INFO_EXT_SUP: ibv_port_cap_flags2 = 1 << 1;
/// Virtualisation.
pub const IBV_PORT_VIRT_SUP: ibv_port_cap_flags2 = 1 << 2;
/// Switch port state table.
pub const IBV_PORT_SWITCH_PORT_STATE_TABLE_SUP: ibv_port_cap_flags2 = 1 << 3;
/// Link width 2x.
pub const IBV_PORT_LINK_WIDTH_2X_SUP: ibv_port_cap_flags2 = 1 << 4;
/// HDR.
pub const IBV_PORT_LINK_SPEED_HDR_SUP: ibv_port_cap_flags2 = 1 << 5;
/// NDR.
pub const IBV_PORT_LINK_SPEED_NDR_SUP: ibv_port_cap_flags2 = 1 << 10;
/// XDR.
pub const IBV_PORT_LINK_SPEED_XDR_SUP: ibv_port_cap_flags2 = 1 << 12;

/// `ibv_port_attr::flags`: every path needs a global route header.
pub const IBV_QPF_GRH_REQUIRED: c_uint = 1 << 0;

/// Attributes of a port, `ibv_query_port(3)`. LIDs are in host byte order, 0 on Ethernet.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_port_attr {
    /// Logical state.
    pub state: ibv_port_state,
    /// Largest MTU the port can do.
    pub max_mtu: ibv_mtu,
    /// MTU in use.
    pub active_mtu: ibv_mtu,
    /// Entries of the GID table.
    pub gid_tbl_len: c_int,
    /// See `ibv_port_cap_flags`.
    pub port_cap_flags: u32,
    /// Longest message in bytes.
    pub max_msg_sz: u32,
    /// Packets dropped for their P_Key.
    pub bad_pkey_cntr: u32,
    /// Packets dropped for their Q_Key.
    pub qkey_viol_cntr: u32,
    /// Entries of the P_Key table.
    pub pkey_tbl_len: u16,
    /// Base LID.
    pub lid: u16,
    /// LID of the subnet manager.
    pub sm_lid: u16,
    /// LID mask control: the port owns 2^lmc LIDs, 0 to 7.
    pub lmc: u8,
    /// Virtual lanes, coded: 1 VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7, 5 VL0-14.
    pub max_vl_num: u8,
    /// Service level to reach the subnet manager.
    pub sm_sl: u8,
    /// Longest delay through the subnet: 4.096 us * 2^n.
    pub subnet_timeout: u8,
    /// Kind of initialisation that the subnet manager has done.
    pub init_type_reply: u8,
    /// Link width, coded: 1 1x, 2 4x, 4 8x, 8 12x, 16 2x.
    pub active_width: u8,
    /// Lane speed, coded: 1 SDR, 2 DDR, 4 QDR, 8 FDR10, 16 FDR, 32 EDR, 64 HDR, 128 NDR. See
    /// `active_speed_ex`.
    pub active_speed: u8,
    /// Physical state: 1 sleep, 2 polling, 3 disabled, 4 training, 5 up, 6 error recovery, 7 test.
    pub phys_state: u8,
    /// One of `IBV_LINK_LAYER_*`.
    pub link_layer: u8,
    /// `IBV_QPF_GRH_REQUIRED` or 0.
    pub flags: u8,
    /// See `ibv_port_cap_flags2`; valid with `IBV_PORT_CAP_MASK2_SUP`.
    pub port_cap_flags2: u16,
    /// Lane speed coded like `active_speed`, with 256 for XDR; 0: use `active_speed`.
    pub active_speed_ex: u32,
}

/// The port attributes as they were before `port_cap_flags2`: what the exported `ibv_query_port`
/// fills. Programs built today use the wider `ibv_port_attr`, which explains the members.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct _compat_ibv_port_attr {
    /// Logical state.
    pub state: ibv_port_state,
    /// Largest MTU.
    pub max_mtu: ibv_mtu,
    /// MTU in use.
    pub active_mtu: ibv_mtu,
    /// Entries of the GID table.
    pub gid_tbl_len: c_int,
    /// See `ibv_port_cap_flags`.
    pub port_cap_flags: u32,
    /// Longest message in bytes.
    pub max_msg_sz: u32,
    /// P_Key violations.
    pub bad_pkey_cntr: u32,
    /// Q_Key violations.
    pub qkey_viol_cntr: u32,
    /// Entries of the P_Key table.
    pub pkey_tbl_len: u16,
    /// Base LID.
    pub lid: u16,
    /// LID of the subnet manager.
    pub sm_lid: u16,
    /// LID mask control.
    pub lmc: u8,
    /// Virtual lanes, coded.
    pub max_vl_num: u8,
    /// Service level to the subnet manager.
    pub sm_sl: u8,
    /// Subnet delay, coded.
    pub subnet_timeout: u8,
    /// Initialisation done.
    pub init_type_reply: u8,
    /// Link width, coded.
    pub active_width: u8,
    /// Lane speed, coded.
    pub active_speed: u8,
    /// Physical state.
    pub phys_state: u8,
    /// One of `IBV_LINK_LAYER_*`.
    pub link_layer: u8,
    /// `IBV_QPF_GRH_REQUIRED` or 0.
    pub flags: u8,
}

// ---- GIDs.

/// The two halves of a GID.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_gid_global {
    /// Upper half, network byte order.
    pub subnet_prefix: __be64,
    /// Lower half, network byte order; the port GUID on InfiniBand.
    pub interface_id: __be64,
}

/// A global identifier: 16 bytes in network byte order, formed like an IPv6 address.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ibv_gid {
    /// The bytes.
    pub raw: [u8; 16],
    /// The halves.
    pub global: ibv_gid_global,
}

/// Kind of a GID table entry.
pub type ibv_gid_type = c_uint;
/// InfiniBand.
pub const IBV_GID_TYPE_IB: ibv_gid_type = 0;
/// RoCE v1: the GRH directly on Ethernet.
pub const IBV_GID_TYPE_ROCE_V1: ibv_gid_type = 1;
/// RoCE v2: over UDP and IP.
pub const IBV_GID_TYPE_ROCE_V2: ibv_gid_type = 2;

/// An entry of a GID table, `ibv_query_gid_ex(3)`, `ibv_query_gid_table(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_gid_entry {
    /// The GID.
    pub gid: ibv_gid,
    /// Index in the table of its port.
    pub gid_index: u32,
    /// Port, from 1.
    pub port_num: u32,
    /// One of `ibv_gid_type`.
    pub gid_type: u32,
    /// Interface index of the network device, 0 if there is none.
    pub ndev_ifindex: u32,
}

/// Lowest UDP source port of RoCE v2, `ibv_flow_label_to_udp_sport`.
pub const IB_ROCE_UDP_ENCAP_VALID_PORT_MIN: c_uint = 0xc000;
/// Highest UDP source port of RoCE v2.
pub const IB_ROCE_UDP_ENCAP_VALID_PORT_MAX: c_uint = 0xffff;

plain! {
    ibv_port_attr, _compat_ibv_port_attr, ibv_gid_global, ibv_gid, ibv_gid_entry
}
