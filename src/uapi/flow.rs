//! Flow rules in kernel form (`rdma/ib_user_verbs.h`).


use crate::abi::*;

/// `struct ib_uverbs_create_flow` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_flow {
    pub comp_mask: u32,
    pub qp_handle: u32,
    pub flow_attr: ib_uverbs_flow_attr,
}

/// `struct ib_uverbs_create_flow_resp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_flow_resp {
    pub comp_mask: u32,
    pub flow_handle: u32,
}

/// `struct ib_uverbs_destroy_flow` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_destroy_flow {
    pub comp_mask: u32,
    pub flow_handle: u32,
}

/// `struct ib_uverbs_flow_attr` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_attr {
    pub type_: u32,
    pub size: u16,
    pub priority: u16,
    pub num_of_specs: u8,
    pub reserved: [u8; 2],
    pub port: u8,
    pub flags: u32,
    pub flow_specs: [ib_uverbs_flow_spec_hdr; 0],
}

/// `struct ib_uverbs_flow_eth_filter` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_eth_filter {
    pub dst_mac: [u8; 6],
    pub src_mac: [u8; 6],
    pub ether_type: u16,
    pub vlan_tag: u16,
}

/// `struct ib_uverbs_flow_gre_filter` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_gre_filter {
    pub c_ks_res0_ver: u16,
    pub protocol: u16,
    pub key: u32,
}

/// `struct ib_uverbs_flow_ipv4_filter` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_ipv4_filter {
    pub src_ip: u32,
    pub dst_ip: u32,
    pub proto: u8,
    pub tos: u8,
    pub ttl: u8,
    pub flags: u8,
}

/// `struct ib_uverbs_flow_ipv6_filter` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_ipv6_filter {
    pub src_ip: [u8; 16],
    pub dst_ip: [u8; 16],
    pub flow_label: u32,
    pub next_hdr: u8,
    pub traffic_class: u8,
    pub hop_limit: u8,
    pub reserved: u8,
}

/// `struct ib_uverbs_flow_mpls_filter` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_mpls_filter {
    pub label: u32,
}

/// `struct ib_uverbs_flow_spec_action_count` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_action_count {
    pub hdr: ib_uverbs_flow_spec_hdr,
    pub handle: u32,
    pub reserved1: u32,
}

/// `struct ib_uverbs_flow_spec_action_drop` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_action_drop {
    pub hdr: ib_uverbs_flow_spec_hdr,
}

/// `struct ib_uverbs_flow_spec_action_handle` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_action_handle {
    pub hdr: ib_uverbs_flow_spec_hdr,
    pub handle: u32,
    pub reserved1: u32,
}

/// `struct ib_uverbs_flow_spec_action_tag` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_action_tag {
    pub hdr: ib_uverbs_flow_spec_hdr,
    pub tag_id: u32,
    pub reserved1: u32,
}

/// `struct ib_uverbs_flow_spec_esp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_esp {
    pub hdr: ib_uverbs_flow_spec_hdr,
    pub val: ib_uverbs_flow_spec_esp_filter,
    pub mask: ib_uverbs_flow_spec_esp_filter,
}

/// `struct ib_uverbs_flow_spec_esp_filter` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_esp_filter {
    pub spi: u32,
    pub seq: u32,
}

/// `struct ib_uverbs_flow_spec_eth` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_eth {
    pub hdr: ib_uverbs_flow_spec_hdr,
    pub val: ib_uverbs_flow_eth_filter,
    pub mask: ib_uverbs_flow_eth_filter,
}

/// `struct ib_uverbs_flow_spec_gre` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_gre {
    pub hdr: ib_uverbs_flow_spec_hdr,
    pub val: ib_uverbs_flow_gre_filter,
    pub mask: ib_uverbs_flow_gre_filter,
}

/// `struct ib_uverbs_flow_spec_hdr` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_hdr {
    pub type_: u32,
    pub size: u16,
    pub reserved: u16,
    pub flow_spec_data: [u64; 0],
}

/// `struct ib_uverbs_flow_spec_ipv4` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_ipv4 {
    pub hdr: ib_uverbs_flow_spec_hdr,
    pub val: ib_uverbs_flow_ipv4_filter,
    pub mask: ib_uverbs_flow_ipv4_filter,
}

/// `struct ib_uverbs_flow_spec_ipv6` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_ipv6 {
    pub hdr: ib_uverbs_flow_spec_hdr,
    pub val: ib_uverbs_flow_ipv6_filter,
    pub mask: ib_uverbs_flow_ipv6_filter,
}

/// `struct ib_uverbs_flow_spec_mpls` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_mpls {
    pub hdr: ib_uverbs_flow_spec_hdr,
    pub val: ib_uverbs_flow_mpls_filter,
    pub mask: ib_uverbs_flow_mpls_filter,
}

/// `struct ib_uverbs_flow_spec_tcp_udp` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_tcp_udp {
    pub hdr: ib_uverbs_flow_spec_hdr,
    pub val: ib_uverbs_flow_tcp_udp_filter,
    pub mask: ib_uverbs_flow_tcp_udp_filter,
}

/// `struct ib_uverbs_flow_spec_tunnel` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_spec_tunnel {
    pub hdr: ib_uverbs_flow_spec_hdr,
    pub val: ib_uverbs_flow_tunnel_filter,
    pub mask: ib_uverbs_flow_tunnel_filter,
}

/// `struct ib_uverbs_flow_tcp_udp_filter` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_tcp_udp_filter {
    pub dst_port: u16,
    pub src_port: u16,
}

/// `struct ib_uverbs_flow_tunnel_filter` (`ib_user_verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_flow_tunnel_filter {
    pub tunnel_id: u32,
}

plain!(ib_uverbs_create_flow, ib_uverbs_create_flow_resp, ib_uverbs_destroy_flow, ib_uverbs_flow_attr, ib_uverbs_flow_eth_filter, ib_uverbs_flow_gre_filter, ib_uverbs_flow_ipv4_filter, ib_uverbs_flow_ipv6_filter, ib_uverbs_flow_mpls_filter, ib_uverbs_flow_spec_action_count, ib_uverbs_flow_spec_action_drop, ib_uverbs_flow_spec_action_handle, ib_uverbs_flow_spec_action_tag, ib_uverbs_flow_spec_esp, ib_uverbs_flow_spec_esp_filter, ib_uverbs_flow_spec_eth, ib_uverbs_flow_spec_gre, ib_uverbs_flow_spec_hdr, ib_uverbs_flow_spec_ipv4, ib_uverbs_flow_spec_ipv6, ib_uverbs_flow_spec_mpls, ib_uverbs_flow_spec_tcp_udp, ib_uverbs_flow_spec_tunnel, ib_uverbs_flow_tcp_udp_filter, ib_uverbs_flow_tunnel_filter);
