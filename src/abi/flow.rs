//! Flow steering rules and flow actions.

use core::ffi::{c_uint, c_void};

use crate::abi::*;
use crate::uapi::*;

/// `enum ibv_flow_action_esp_mask` (`verbs.h`).
pub type ibv_flow_action_esp_mask = c_uint;
pub const IBV_FLOW_ACTION_ESP_MASK_ESN: ibv_flow_action_esp_mask = 1;

/// `enum ibv_flow_attr_type` (`verbs.h`).
pub type ibv_flow_attr_type = c_uint;
pub const IBV_FLOW_ATTR_NORMAL: ibv_flow_attr_type = 0;
pub const IBV_FLOW_ATTR_ALL_DEFAULT: ibv_flow_attr_type = 1;
pub const IBV_FLOW_ATTR_MC_DEFAULT: ibv_flow_attr_type = 2;
pub const IBV_FLOW_ATTR_SNIFFER: ibv_flow_attr_type = 3;

/// `enum ibv_flow_flags` (`verbs.h`).
pub type ibv_flow_flags = c_uint;
pub const IBV_FLOW_ATTR_FLAGS_DONT_TRAP: ibv_flow_flags = 2;
pub const IBV_FLOW_ATTR_FLAGS_EGRESS: ibv_flow_flags = 4;

/// `enum ibv_flow_spec_type` (`verbs.h`).
pub type ibv_flow_spec_type = c_uint;
pub const IBV_FLOW_SPEC_ETH: ibv_flow_spec_type = 32;
pub const IBV_FLOW_SPEC_IPV4: ibv_flow_spec_type = 48;
pub const IBV_FLOW_SPEC_IPV6: ibv_flow_spec_type = 49;
pub const IBV_FLOW_SPEC_IPV4_EXT: ibv_flow_spec_type = 50;
pub const IBV_FLOW_SPEC_ESP: ibv_flow_spec_type = 52;
pub const IBV_FLOW_SPEC_TCP: ibv_flow_spec_type = 64;
pub const IBV_FLOW_SPEC_UDP: ibv_flow_spec_type = 65;
pub const IBV_FLOW_SPEC_VXLAN_TUNNEL: ibv_flow_spec_type = 80;
pub const IBV_FLOW_SPEC_GRE: ibv_flow_spec_type = 81;
pub const IBV_FLOW_SPEC_MPLS: ibv_flow_spec_type = 96;
pub const IBV_FLOW_SPEC_INNER: ibv_flow_spec_type = 1 << 8;
pub const IBV_FLOW_SPEC_ACTION_TAG: ibv_flow_spec_type = 1 << 12;
pub const IBV_FLOW_SPEC_ACTION_DROP: ibv_flow_spec_type = 4097;
pub const IBV_FLOW_SPEC_ACTION_HANDLE: ibv_flow_spec_type = 4098;
pub const IBV_FLOW_SPEC_ACTION_COUNT: ibv_flow_spec_type = 4099;

/// `IBV_FLOW_ACTION_ESP_FLAGS_DECRYPT` (`verbs_api.h`).
pub const IBV_FLOW_ACTION_ESP_FLAGS_DECRYPT: c_uint = 0;

/// `IBV_FLOW_ACTION_ESP_FLAGS_ENCRYPT` (`verbs_api.h`).
pub const IBV_FLOW_ACTION_ESP_FLAGS_ENCRYPT: c_uint = 4;

/// `IBV_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW` (`verbs_api.h`).
pub const IBV_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW: c_uint = 8;

/// `IBV_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD` (`verbs_api.h`).
pub const IBV_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD: c_uint = 1;

/// `IBV_FLOW_ACTION_ESP_FLAGS_INLINE_CRYPTO` (`verbs_api.h`).
pub const IBV_FLOW_ACTION_ESP_FLAGS_INLINE_CRYPTO: c_uint = 0;

/// `IBV_FLOW_ACTION_ESP_FLAGS_TRANSPORT` (`verbs_api.h`).
pub const IBV_FLOW_ACTION_ESP_FLAGS_TRANSPORT: c_uint = 2;

/// `IBV_FLOW_ACTION_ESP_FLAGS_TUNNEL` (`verbs_api.h`).
pub const IBV_FLOW_ACTION_ESP_FLAGS_TUNNEL: c_uint = 0;

/// `IBV_FLOW_ACTION_ESP_KEYMAT_AES_GCM` (`verbs_api.h`).
pub const IBV_FLOW_ACTION_ESP_KEYMAT_AES_GCM: c_uint = 0;

/// `IBV_FLOW_ACTION_ESP_REPLAY_BMP` (`verbs_api.h`).
pub const IBV_FLOW_ACTION_ESP_REPLAY_BMP: c_uint = 1;

/// `IBV_FLOW_ACTION_ESP_REPLAY_NONE` (`verbs_api.h`).
pub const IBV_FLOW_ACTION_ESP_REPLAY_NONE: c_uint = 0;

/// `IBV_FLOW_ACTION_IV_ALGO_SEQ` (`verbs_api.h`).
pub const IBV_FLOW_ACTION_IV_ALGO_SEQ: c_uint = 0;

/// `IB_GRH_FLOWLABEL_MASK` (`verbs.h`).
pub const IB_GRH_FLOWLABEL_MASK: c_uint = 0xfffff;

/// `struct ibv_flow` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow {
    pub comp_mask: u32,
    pub context: *mut ibv_context,
    pub handle: u32,
}

/// `struct ibv_flow_action` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_action {
    pub context: *mut ibv_context,
}

/// `struct ibv_flow_action_esp_attr` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_action_esp_attr {
    pub esp_attr: *mut ib_uverbs_flow_action_esp,
    pub keymat_proto: ib_uverbs_flow_action_esp_keymat,
    pub keymat_len: u16,
    pub keymat_ptr: *mut c_void,
    pub replay_proto: ib_uverbs_flow_action_esp_replay,
    pub replay_len: u16,
    pub replay_ptr: *mut c_void,
    pub esp_encap: *mut ib_uverbs_flow_action_esp_encap,
    pub comp_mask: u32,
    pub esn: u32,
}

/// `struct ibv_flow_attr` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_attr {
    pub comp_mask: u32,
    pub type_: ibv_flow_attr_type,
    pub size: u16,
    pub priority: u16,
    pub num_of_specs: u8,
    pub port: u8,
    pub flags: u32,
}

/// `struct ibv_flow_esp_filter` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_esp_filter {
    pub spi: u32,
    pub seq: u32,
}

/// `struct ibv_flow_eth_filter` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_eth_filter {
    pub dst_mac: [u8; 6],
    pub src_mac: [u8; 6],
    pub ether_type: u16,
    pub vlan_tag: u16,
}

/// `struct ibv_flow_gre_filter` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_gre_filter {
    pub c_ks_res0_ver: u16,
    pub protocol: u16,
    pub key: u32,
}

/// `struct ibv_flow_ipv4_ext_filter` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_ipv4_ext_filter {
    pub src_ip: u32,
    pub dst_ip: u32,
    pub proto: u8,
    pub tos: u8,
    pub ttl: u8,
    pub flags: u8,
}

/// `struct ibv_flow_ipv4_filter` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_ipv4_filter {
    pub src_ip: u32,
    pub dst_ip: u32,
}

/// `struct ibv_flow_ipv6_filter` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_ipv6_filter {
    pub src_ip: [u8; 16],
    pub dst_ip: [u8; 16],
    pub flow_label: u32,
    pub next_hdr: u8,
    pub traffic_class: u8,
    pub hop_limit: u8,
}

/// `struct ibv_flow_mpls_filter` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_mpls_filter {
    pub label: u32,
}

/// Part of `struct ibv_flow_spec`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_hdr {
    pub type_: ibv_flow_spec_type,
    pub size: u16,
}

/// `struct ibv_flow_spec` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub union ibv_flow_spec {
    pub hdr: ibv_flow_spec_hdr,
    pub eth: ibv_flow_spec_eth,
    pub ipv4: ibv_flow_spec_ipv4,
    pub tcp_udp: ibv_flow_spec_tcp_udp,
    pub ipv4_ext: ibv_flow_spec_ipv4_ext,
    pub ipv6: ibv_flow_spec_ipv6,
    pub esp: ibv_flow_spec_esp,
    pub tunnel: ibv_flow_spec_tunnel,
    pub gre: ibv_flow_spec_gre,
    pub mpls: ibv_flow_spec_mpls,
    pub flow_tag: ibv_flow_spec_action_tag,
    pub drop: ibv_flow_spec_action_drop,
    pub handle: ibv_flow_spec_action_handle,
    pub flow_count: ibv_flow_spec_counter_action,
}

/// `struct ibv_flow_spec_action_drop` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_action_drop {
    pub type_: ibv_flow_spec_type,
    pub size: u16,
}

/// `struct ibv_flow_spec_action_handle` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_action_handle {
    pub type_: ibv_flow_spec_type,
    pub size: u16,
    pub action: *const ibv_flow_action,
}

/// `struct ibv_flow_spec_action_tag` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_action_tag {
    pub type_: ibv_flow_spec_type,
    pub size: u16,
    pub tag_id: u32,
}

/// `struct ibv_flow_spec_counter_action` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_counter_action {
    pub type_: ibv_flow_spec_type,
    pub size: u16,
    pub counters: *mut ibv_counters,
}

/// `struct ibv_flow_spec_esp` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_esp {
    pub type_: ibv_flow_spec_type,
    pub size: u16,
    pub val: ibv_flow_esp_filter,
    pub mask: ibv_flow_esp_filter,
}

/// `struct ibv_flow_spec_eth` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_eth {
    pub type_: ibv_flow_spec_type,
    pub size: u16,
    pub val: ibv_flow_eth_filter,
    pub mask: ibv_flow_eth_filter,
}

/// `struct ibv_flow_spec_gre` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_gre {
    pub type_: ibv_flow_spec_type,
    pub size: u16,
    pub val: ibv_flow_gre_filter,
    pub mask: ibv_flow_gre_filter,
}

/// `struct ibv_flow_spec_ipv4` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_ipv4 {
    pub type_: ibv_flow_spec_type,
    pub size: u16,
    pub val: ibv_flow_ipv4_filter,
    pub mask: ibv_flow_ipv4_filter,
}

/// `struct ibv_flow_spec_ipv4_ext` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_ipv4_ext {
    pub type_: ibv_flow_spec_type,
    pub size: u16,
    pub val: ibv_flow_ipv4_ext_filter,
    pub mask: ibv_flow_ipv4_ext_filter,
}

/// `struct ibv_flow_spec_ipv6` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_ipv6 {
    pub type_: ibv_flow_spec_type,
    pub size: u16,
    pub val: ibv_flow_ipv6_filter,
    pub mask: ibv_flow_ipv6_filter,
}

/// `struct ibv_flow_spec_mpls` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_mpls {
    pub type_: ibv_flow_spec_type,
    pub size: u16,
    pub val: ibv_flow_mpls_filter,
    pub mask: ibv_flow_mpls_filter,
}

/// `struct ibv_flow_spec_tcp_udp` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_tcp_udp {
    pub type_: ibv_flow_spec_type,
    pub size: u16,
    pub val: ibv_flow_tcp_udp_filter,
    pub mask: ibv_flow_tcp_udp_filter,
}

/// `struct ibv_flow_spec_tunnel` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_spec_tunnel {
    pub type_: ibv_flow_spec_type,
    pub size: u16,
    pub val: ibv_flow_tunnel_filter,
    pub mask: ibv_flow_tunnel_filter,
}

/// `struct ibv_flow_tcp_udp_filter` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_tcp_udp_filter {
    pub dst_port: u16,
    pub src_port: u16,
}

/// `struct ibv_flow_tunnel_filter` (`verbs.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_flow_tunnel_filter {
    pub tunnel_id: u32,
}

plain!(ibv_flow, ibv_flow_action, ibv_flow_action_esp_attr, ibv_flow_attr, ibv_flow_esp_filter, ibv_flow_eth_filter, ibv_flow_gre_filter, ibv_flow_ipv4_ext_filter, ibv_flow_ipv4_filter, ibv_flow_ipv6_filter, ibv_flow_mpls_filter, ibv_flow_spec_hdr, ibv_flow_spec, ibv_flow_spec_action_drop, ibv_flow_spec_action_handle, ibv_flow_spec_action_tag, ibv_flow_spec_counter_action, ibv_flow_spec_esp, ibv_flow_spec_eth, ibv_flow_spec_gre, ibv_flow_spec_ipv4, ibv_flow_spec_ipv4_ext, ibv_flow_spec_ipv6, ibv_flow_spec_mpls, ibv_flow_spec_tcp_udp, ibv_flow_spec_tunnel, ibv_flow_tcp_udp_filter, ibv_flow_tunnel_filter);
