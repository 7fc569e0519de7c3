//! Flow steering rules and flow actions (`infiniband/verbs.h`, `ibv_create_flow(3)`).
//!
//! A rule is an `ibv_flow_attr` with its specifications directly behind it in memory. A
//! specification matches a packet where the bits of `mask` are those of `val`; both are in network
//! byte order.

use core::ffi::{c_uint, c_void};

use crate::abi::*;
use crate::uapi::*;

// ---- Rules.

/// Kind of a rule.
pub type ibv_flow_attr_type = c_uint;
/// What the specifications match.
pub const IBV_FLOW_ATTR_NORMAL: ibv_flow_attr_type = 0;
/// All Ethernet traffic that no other rule takes.
pub const IBV_FLOW_ATTR_ALL_DEFAULT: ibv_flow_attr_type = 1;
/// All Ethernet multicast that no other rule takes.
pub const IBV_FLOW_ATTR_MC_DEFAULT: ibv_flow_attr_type = 2;
/// A copy of all traffic of the port; no specifications.
pub const IBV_FLOW_ATTR_SNIFFER: ibv_flow_attr_type = 3;

/// Bits of `ibv_flow_attr::flags`.
pub type ibv_flow_flags = c_uint;
/// The packet goes on to rules of lower priority; normal rules only.
pub const IBV_FLOW_ATTR_FLAGS_DONT_TRAP: ibv_flow_flags = 1 << 1;
/// Match sent packets; the QP only names the device.
pub const IBV_FLOW_ATTR_FLAGS_EGRESS: ibv_flow_flags = 1 << 2;

/// A flow rule for `ibv_create_flow(3)`; the specifications follow it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_attr {
    /// No bits are defined; 0.
    pub comp_mask: u32,
    /// Kind; `type` in C.
    pub type_: ibv_flow_attr_type,
    /// Bytes of this struct and its specifications.
    pub size: u16,
    /// 0 is the highest.
    pub priority: u16,
    /// Specifications that follow.
    pub num_of_specs: u8,
    /// Port, from 1.
    pub port: u8,
    /// See `ibv_flow_flags`.
    pub flags: u32,
}

/// A flow rule in force.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow {
    /// No bits are defined.
    pub comp_mask: u32,
    /// Device context.
    pub context: *mut ibv_context,
    /// Kernel handle.
    pub handle: u32,
}

// ---- Specifications: what to match.

/// Kind of a specification: a header to match or an action to take.
pub type ibv_flow_spec_type = c_uint;
/// Ethernet, `ibv_flow_spec_eth`.
pub const IBV_FLOW_SPEC_ETH: ibv_flow_spec_type = 0x20;
/// IPv4 addresses, `ibv_flow_spec_ipv4`.
pub const IBV_FLOW_SPEC_IPV4: ibv_flow_spec_type = 0x30;
/// IPv6, `ibv_flow_spec_ipv6`.
pub const IBV_FLOW_SPEC_IPV6: ibv_flow_spec_type = 0x31;
/// IPv4 with more fields, `ibv_flow_spec_ipv4_ext`.
pub const IBV_FLOW_SPEC_IPV4_EXT: ibv_flow_spec_type = 0x32;
/// IPsec ESP, `ibv_flow_spec_esp`.
pub const IBV_FLOW_SPEC_ESP: ibv_flow_spec_type = 0x34;
/// TCP, `ibv_flow_spec_tcp_udp`.
pub const IBV_FLOW_SPEC_TCP: ibv_flow_spec_type = 0x40;
/// UDP, `ibv_flow_spec_tcp_udp`.
pub const IBV_FLOW_SPEC_UDP: ibv_flow_spec_type = 0x41;
/// VXLAN, `ibv_flow_spec_tunnel`.
pub const IBV_FLOW_SPEC_VXLAN_TUNNEL: ibv_flow_spec_type = 0x50;
/// GRE, `ibv_flow_spec_gre`.
pub const IBV_FLOW_SPEC_GRE: ibv_flow_spec_type = 0x51;
/// MPLS, `ibv_flow_spec_mpls`; its place in the list is its place in the packet.
pub const IBV_FLOW_SPEC_MPLS: ibv_flow_spec_type = 0x60;
/// Flag: the header inside a tunnel.
pub const IBV_FLOW_SPEC_INNER: ibv_flow_spec_type = 1 << 8;
/// Tag the completion, `ibv_flow_spec_action_tag`.
pub const IBV_FLOW_SPEC_ACTION_TAG: ibv_flow_spec_type = 0x1000;
/// Drop the packet, `ibv_flow_spec_action_drop`.
pub const IBV_FLOW_SPEC_ACTION_DROP: ibv_flow_spec_type = 0x1001;
/// Carry out a flow action, `ibv_flow_spec_action_handle`.
pub const IBV_FLOW_SPEC_ACTION_HANDLE: ibv_flow_spec_type = 0x1002;
/// Count the packet, `ibv_flow_spec_counter_action`.
pub const IBV_FLOW_SPEC_ACTION_COUNT: ibv_flow_spec_type = 0x1003;

/// What every specification begins with.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_hdr {
    /// Kind; `type` in C.
    pub type_: ibv_flow_spec_type,
    /// Bytes of the specification.
    pub size: u16,
}

/// Ethernet fields.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_eth_filter {
    /// Destination.
    pub dst_mac: [u8; 6],
    /// Source.
    pub src_mac: [u8; 6],
    /// Type after the last VLAN tag, network byte order.
    pub ether_type: u16,
    /// VLAN tag: priority and id, network byte order.
    pub vlan_tag: u16,
}

/// Matches an Ethernet header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_eth {
    /// `IBV_FLOW_SPEC_ETH`.
    pub type_: ibv_flow_spec_type,
    /// Bytes of this struct.
    pub size: u16,
    /// Values.
    pub val: ibv_flow_eth_filter,
    /// Bits that count.
    pub mask: ibv_flow_eth_filter,
}

/// IPv4 addresses, network byte order.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_ipv4_filter {
    /// Source.
    pub src_ip: u32,
    /// Destination.
    pub dst_ip: u32,
}

/// Matches IPv4 addresses.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_ipv4 {
    /// `IBV_FLOW_SPEC_IPV4`.
    pub type_: ibv_flow_spec_type,
    /// Bytes of this struct.
    pub size: u16,
    /// Values.
    pub val: ibv_flow_ipv4_filter,
    /// Bits that count.
    pub mask: ibv_flow_ipv4_filter,
}

/// IPv4 fields.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_ipv4_ext_filter {
    /// Source, network byte order.
    pub src_ip: u32,
    /// Destination, network byte order.
    pub dst_ip: u32,
    /// Protocol above.
    pub proto: u8,
    /// Type of service.
    pub tos: u8,
    /// Time to live.
    pub ttl: u8,
    /// Fragmentation flags.
    pub flags: u8,
}

/// Matches an IPv4 header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_ipv4_ext {
    /// `IBV_FLOW_SPEC_IPV4_EXT`.
    pub type_: ibv_flow_spec_type,
    /// Bytes of this struct.
    pub size: u16,
    /// Values.
    pub val: ibv_flow_ipv4_ext_filter,
    /// Bits that count.
    pub mask: ibv_flow_ipv4_ext_filter,
}

/// IPv6 fields.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_ipv6_filter {
    /// Source.
    pub src_ip: [u8; 16],
    /// Destination.
    pub dst_ip: [u8; 16],
    /// Flow label, network byte order.
    pub flow_label: u32,
    /// Protocol above.
    pub next_hdr: u8,
    /// Traffic class.
    pub traffic_class: u8,
    /// Hop limit.
    pub hop_limit: u8,
}

/// Matches an IPv6 header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_ipv6 {
    /// `IBV_FLOW_SPEC_IPV6`.
    pub type_: ibv_flow_spec_type,
    /// Bytes of this struct.
    pub size: u16,
    /// Values.
    pub val: ibv_flow_ipv6_filter,
    /// Bits that count.
    pub mask: ibv_flow_ipv6_filter,
}

/// IPsec ESP fields, network byte order.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_esp_filter {
    /// Security parameters index.
    pub spi: u32,
    /// Sequence number.
    pub seq: u32,
}

/// Matches an IPsec ESP header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_esp {
    /// `IBV_FLOW_SPEC_ESP`.
    pub type_: ibv_flow_spec_type,
    /// Bytes of this struct.
    pub size: u16,
    /// Values.
    pub val: ibv_flow_esp_filter,
    /// Bits that count.
    pub mask: ibv_flow_esp_filter,
}

/// Ports, network byte order.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_tcp_udp_filter {
    /// Destination.
    pub dst_port: u16,
    /// Source.
    pub src_port: u16,
}

/// Matches TCP or UDP ports.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_tcp_udp {
    /// `IBV_FLOW_SPEC_TCP` or `IBV_FLOW_SPEC_UDP`.
    pub type_: ibv_flow_spec_type,
    /// Bytes of this struct.
    pub size: u16,
    /// Values.
    pub val: ibv_flow_tcp_udp_filter,
    /// Bits that count.
    pub mask: ibv_flow_tcp_udp_filter,
}

/// GRE fields, network byte order.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_gre_filter {
    /// First 16 bits of the header: flags and version.
    pub c_ks_res0_ver: u16,
    /// Ether type of the payload.
    pub protocol: u16,
    /// Key.
    pub key: u32,
}

/// Matches a GRE header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_gre {
    /// `IBV_FLOW_SPEC_GRE`.
    pub type_: ibv_flow_spec_type,
    /// Bytes of this struct.
    pub size: u16,
    /// Values.
    pub val: ibv_flow_gre_filter,
    /// Bits that count.
    pub mask: ibv_flow_gre_filter,
}

/// MPLS label stack entry.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_mpls_filter {
    /// Label (20 bits), traffic class (3), bottom of stack (1), time to live (8); network byte
    /// order.
    pub label: u32,
}

/// Matches an MPLS label stack entry.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_mpls {
    /// `IBV_FLOW_SPEC_MPLS`.
    pub type_: ibv_flow_spec_type,
    /// Bytes of this struct.
    pub size: u16,
    /// Values.
    pub val: ibv_flow_mpls_filter,
    /// Bits that count.
    pub mask: ibv_flow_mpls_filter,
}

/// VXLAN fields.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_tunnel_filter {
    /// Network identifier, network byte order.
    pub tunnel_id: u32,
}

/// Matches a VXLAN header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_tunnel {
    /// `IBV_FLOW_SPEC_VXLAN_TUNNEL`.
    pub type_: ibv_flow_spec_type,
    /// Bytes of this struct.
    pub size: u16,
    /// Values.
    pub val: ibv_flow_tunnel_filter,
    /// Bits that count.
    pub mask: ibv_flow_tunnel_filter,
}

// ---- Specifications: what to do.

/// Marks the completions of packets that match.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_action_tag {
    /// `IBV_FLOW_SPEC_ACTION_TAG`.
    pub type_: ibv_flow_spec_type,
    /// Bytes of this struct.
    pub size: u16,
    /// Value for `ibv_wc_read_flow_tag`, host byte order.
    pub tag_id: u32,
}

/// Drops packets that match.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_action_drop {
    /// `IBV_FLOW_SPEC_ACTION_DROP`.
    pub type_: ibv_flow_spec_type,
    /// Bytes of this struct.
    pub size: u16,
}

/// Applies a flow action to packets that match.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_action_handle {
    /// `IBV_FLOW_SPEC_ACTION_HANDLE`.
    pub type_: ibv_flow_spec_type,
    /// Bytes of this struct.
    pub size: u16,
    /// From `ibv_create_flow_action_esp(3)`.
    pub action: *const ibv_flow_action,
}

/// Counts packets that match.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_counter_action {
    /// `IBV_FLOW_SPEC_ACTION_COUNT`.
    pub type_: ibv_flow_spec_type,
    /// Bytes of this struct.
    pub size: u16,
    /// From `ibv_create_counters(3)`.
    pub counters: *mut ibv_counters,
}

/// Any specification.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ibv_flow_spec {
    /// Kind and size.
    pub hdr: ibv_flow_spec_hdr,
    /// Ethernet.
    pub eth: ibv_flow_spec_eth,
    /// IPv4 addresses.
    pub ipv4: ibv_flow_spec_ipv4,
    /// TCP or UDP.
    pub tcp_udp: ibv_flow_spec_tcp_udp,
    /// IPv4.
    pub ipv4_ext: ibv_flow_spec_ipv4_ext,
    /// IPv6.
    pub ipv6: ibv_flow_spec_ipv6,
    /// IPsec ESP.
    pub esp: ibv_flow_spec_esp,
    /// VXLAN.
    pub tunnel: ibv_flow_spec_tunnel,
    /// GRE.
    pub gre: ibv_flow_spec_gre,
    /// MPLS.
    pub mpls: ibv_flow_spec_mpls,
    /// Tag.
    pub flow_tag: ibv_flow_spec_action_tag,
    /// Drop.
    pub drop: ibv_flow_spec_action_drop,
    /// Flow action.
    pub handle: ibv_flow_spec_action_handle,
    /// Count.
    pub flow_count: ibv_flow_spec_counter_action,
}

// ---- Flow actions.

/// An action that flow rules can carry out, `ibv_create_flow_action_esp(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_action {
    /// Device context.
    pub context: *mut ibv_context,
}

/// Bits of `ibv_flow_action_esp_attr::comp_mask`.
pub type ibv_flow_action_esp_mask = c_uint;
/// `esn`.
pub const IBV_FLOW_ACTION_ESP_MASK_ESN: ibv_flow_action_esp_mask = 1 << 0;

/// An IPsec ESP encryption or decryption. When modifying, a NULL pointer leaves that part as it is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_action_esp_attr {
    /// Security association.
    pub esp_attr: *mut ib_uverbs_flow_action_esp,
    /// Kind of key material.
    pub keymat_proto: ib_uverbs_flow_action_esp_keymat,
    /// Bytes at `keymat_ptr`.
    pub keymat_len: u16,
    /// Key material, `ib_uverbs_flow_action_esp_keymat_aes_gcm`.
    pub keymat_ptr: *mut c_void,
    /// Kind of replay protection; full offload only.
    pub replay_proto: ib_uverbs_flow_action_esp_replay,
    /// Bytes at `replay_ptr`.
    pub replay_len: u16,
    /// Replay protection, `ib_uverbs_flow_action_esp_replay_bmp`.
    pub replay_ptr: *mut c_void,
    /// Headers around the ESP packet, for tunnel mode; full offload only.
    pub esp_encap: *mut ib_uverbs_flow_action_esp_encap,
    /// Which members below are set, see `ibv_flow_action_esp_mask`.
    pub comp_mask: u32,
    /// Upper 32 bits of the extended sequence number to start with.
    pub esn: u32,
}

/// ESP flags: software adds and removes the ESP headers; the absence of `FULL_OFFLOAD`.
pub const IBV_FLOW_ACTION_ESP_FLAGS_INLINE_CRYPTO: c_uint = 0;
/// ESP flags: the device adds and removes the ESP headers.
pub const IBV_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD: c_uint = 1 << 0;
/// ESP flags: tunnel mode (RFC 4301); the absence of `TRANSPORT`.
pub const IBV_FLOW_ACTION_ESP_FLAGS_TUNNEL: c_uint = 0;
/// ESP flags: transport mode.
pub const IBV_FLOW_ACTION_ESP_FLAGS_TRANSPORT: c_uint = 1 << 1;
/// ESP flags: decrypt; the absence of `ENCRYPT`.
pub const IBV_FLOW_ACTION_ESP_FLAGS_DECRYPT: c_uint = 0;
/// ESP flags: encrypt.
pub const IBV_FLOW_ACTION_ESP_FLAGS_ENCRYPT: c_uint = 1 << 2;
/// ESP flags: the replay window has its bottom in the upper half of the sequence numbers.
pub const IBV_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW: c_uint = 1 << 3;
/// Key material: AES-GCM (RFC 4106).
pub const IBV_FLOW_ACTION_ESP_KEYMAT_AES_GCM: c_uint = 0;
/// Initialisation vectors count up.
pub const IBV_FLOW_ACTION_IV_ALGO_SEQ: c_uint = 0;
/// Replay protection: none.
pub const IBV_FLOW_ACTION_ESP_REPLAY_NONE: c_uint = 0;
/// Replay protection: a sliding bit map (RFC 6479).
pub const IBV_FLOW_ACTION_ESP_REPLAY_BMP: c_uint = 1;

plain! {
    ibv_flow_attr, ibv_flow, ibv_flow_spec_hdr, ibv_flow_eth_filter, ibv_flow_spec_eth,
    ibv_flow_ipv4_filter, ibv_flow_spec_ipv4, ibv_flow_ipv4_ext_filter, ibv_flow_spec_ipv4_ext,
    ibv_flow_ipv6_filter, ibv_flow_spec_ipv6, ibv_flow_esp_filter, ibv_flow_spec_esp,
    ibv_flow_tcp_udp_filter, ibv_flow_spec_tcp_udp, ibv_flow_gre_filter, ibv_flow_spec_gre,
    ibv_flow_mpls_filter, ibv_flow_spec_mpls, ibv_flow_tunnel_filter, ibv_flow_spec_tunnel,
    ibv_flow_spec_action_tag, ibv_flow_spec_action_drop, ibv_flow_spec_action_handle,
    ibv_flow_spec_counter_action, ibv_flow_spec, ibv_flow_action, ibv_flow_action_esp_attr
}
