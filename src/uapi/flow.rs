//! Flow rules in kernel form (`rdma/ib_user_verbs.h`). Fields to match are in network byte order;
//! `abi::flow` explains them.

use crate::abi::*;

// ---- Rules.

/// The kernel's `ibv_flow_attr`; the specifications follow.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_attr {
    /// One of `ibv_flow_attr_type`; `type` in C.
    pub type_: u32,
    /// Bytes of the specifications.
    pub size: u16,
    /// 0 is the highest.
    pub priority: u16,
    /// Specifications that follow.
    pub num_of_specs: u8,
    /// 0.
    pub reserved: [u8; 2],
    /// Port, from 1.
    pub port: u8,
    /// See `ibv_flow_flags`.
    pub flags: u32,
    /// The specifications.
    pub flow_specs: [ib_uverbs_flow_spec_hdr; 0],
}

/// CREATE_FLOW, extended; the specifications follow.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_flow {
    /// No bits are defined; 0.
    pub comp_mask: u32,
    /// QP.
    pub qp_handle: u32,
    /// The rule.
    pub flow_attr: ib_uverbs_flow_attr,
}

/// Answer to CREATE_FLOW.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_flow_resp {
    /// 0.
    pub comp_mask: u32,
    /// Flow rule.
    pub flow_handle: u32,
}

/// DESTROY_FLOW, extended.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_destroy_flow {
    /// No bits are defined; 0.
    pub comp_mask: u32,
    /// Flow rule.
    pub flow_handle: u32,
}

// ---- Specifications: what to match.

/// What every specification begins with.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_hdr {
    /// One of `ibv_flow_spec_type`; `type` in C.
    pub type_: u32,
    /// Bytes of the specification.
    pub size: u16,
    /// 0.
    pub reserved: u16,
    /// The rest of it.
    pub flow_spec_data: [u64; 0],
}

/// Ethernet fields.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_eth_filter {
    /// Destination.
    pub dst_mac: [u8; 6],
    /// Source.
    pub src_mac: [u8; 6],
    /// Type.
    pub ether_type: u16,
    /// VLAN tag.
    pub vlan_tag: u16,
}

/// Matches an Ethernet header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_eth {
    /// Kind and size.
    pub hdr: ib_uverbs_flow_spec_hdr,
    /// Values.
    pub val: ib_uverbs_flow_eth_filter,
    /// Bits that count.
    pub mask: ib_uverbs_flow_eth_filter,
}

/// IPv4 fields.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_ipv4_filter {
    /// Source.
    pub src_ip: u32,
    /// Destination.
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
pub struct ib_uverbs_flow_spec_ipv4 {
    /// Kind and size.
    pub hdr: ib_uverbs_flow_spec_hdr,
    /// Values.
    pub val: ib_uverbs_flow_ipv4_filter,
    /// Bits that count.
    pub mask: ib_uverbs_flow_ipv4_filter,
}

/// IPv6 fields.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_ipv6_filter {
    /// Source.
    pub src_ip: [u8; 16],
    /// Destination.
    pub dst_ip: [u8; 16],
    /// Flow label.
    pub flow_label: u32,
    /// Protocol above.
    pub next_hdr: u8,
    /// Traffic class.
    pub traffic_class: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// 0.
    pub reserved: u8,
}

/// Matches an IPv6 header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_ipv6 {
    /// Kind and size.
    pub hdr: ib_uverbs_flow_spec_hdr,
    /// Values.
    pub val: ib_uverbs_flow_ipv6_filter,
    /// Bits that count.
    pub mask: ib_uverbs_flow_ipv6_filter,
}

/// IPsec ESP fields.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_esp_filter {
    /// Security parameters index.
    pub spi: u32,
    /// Sequence number.
    pub seq: u32,
}

/// Matches an IPsec ESP header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_esp {
    /// Kind and size.
    pub hdr: ib_uverbs_flow_spec_hdr,
    /// Values.
    pub val: ib_uverbs_flow_spec_esp_filter,
    /// Bits that count.
    pub mask: ib_uverbs_flow_spec_esp_filter,
}

/// Ports.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_tcp_udp_filter {
    /// Destination.
    pub dst_port: u16,
    /// Source.
    pub src_port: u16,
}

/// Matches TCP or UDP ports.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_tcp_udp {
    /// Kind and size.
    pub hdr: ib_uverbs_flow_spec_hdr,
    /// Values.
    pub val: ib_uverbs_flow_tcp_udp_filter,
    /// Bits that count.
    pub mask: ib_uverbs_flow_tcp_udp_filter,
}

/// GRE fields.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_gre_filter {
    /// Flags and version.
    pub c_ks_res0_ver: u16,
    /// Ether type of the payload.
    pub protocol: u16,
    /// Key.
    pub key: u32,
}

/// Matches a GRE header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_gre {
    /// Kind and size.
    pub hdr: ib_uverbs_flow_spec_hdr,
    /// Values.
    pub val: ib_uverbs_flow_gre_filter,
    /// Bits that count.
    pub mask: ib_uverbs_flow_gre_filter,
}

/// MPLS label stack entry.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_mpls_filter {
    /// The entry.
    pub label: u32,
}

/// Matches an MPLS label stack entry.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_mpls {
    /// Kind and size.
    pub hdr: ib_uverbs_flow_spec_hdr,
    /// Values.
    pub val: ib_uverbs_flow_mpls_filter,
    /// Bits that count.
    pub mask: ib_uverbs_flow_mpls_filter,
}

/// VXLAN fields.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_tunnel_filter {
    /// Network identifier.
    pub tunnel_id: u32,
}

/// Matches a VXLAN header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_tunnel {
    /// Kind and size.
    pub hdr: ib_uverbs_flow_spec_hdr,
    /// Values.
    pub val: ib_uverbs_flow_tunnel_filter,
    /// Bits that count.
    pub mask: ib_uverbs_flow_tunnel_filter,
}

// ---- Specifications: what to do.

/// Marks completions.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_action_tag {
    /// Kind and size.
    pub hdr: ib_uverbs_flow_spec_hdr,
    /// Value, host byte order.
    pub tag_id: u32,
    /// 0.
    pub reserved1: u32,
}

/// Drops packets.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_action_drop {
    /// Kind and size.
    pub hdr: ib_uverbs_flow_spec_hdr,
}

/// Applies a flow action.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_action_handle {
    /// Kind and size.
    pub hdr: ib_uverbs_flow_spec_hdr,
    /// Flow action.
    pub handle: u32,
    /// 0.
    pub reserved1: u32,
}

/// Counts packets.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_action_count {
    /// Kind and size.
    pub hdr: ib_uverbs_flow_spec_hdr,
    /// Set of counters.
    pub handle: u32,
    /// 0.
    pub reserved1: u32,
}

plain! {
    ib_uverbs_flow_attr, ib_uverbs_create_flow, ib_uverbs_create_flow_resp,
    ib_uverbs_destroy_flow, ib_uverbs_flow_spec_hdr, ib_uverbs_flow_eth_filter,
    ib_uverbs_flow_spec_eth, ib_uverbs_flow_ipv4_filter, ib_uverbs_flow_spec_ipv4,
    ib_uverbs_flow_ipv6_filter, ib_uverbs_flow_spec_ipv6, ib_uverbs_flow_spec_esp_filter,
    ib_uverbs_flow_spec_esp, ib_uverbs_flow_tcp_udp_filter, ib_uverbs_flow_spec_tcp_udp,
    ib_uverbs_flow_gre_filter, ib_uverbs_flow_spec_gre, ib_uverbs_flow_mpls_filter,
    ib_uverbs_flow_spec_mpls, ib_uverbs_flow_tunnel_filter, ib_uverbs_flow_spec_tunnel,
    ib_uverbs_flow_spec_action_tag, ib_uverbs_flow_spec_action_drop,
    ib_uverbs_flow_spec_action_handle, ib_uverbs_flow_spec_action_count
}
