//! Address handles, global routes and static rates (`infiniband/verbs.h`).

use core::ffi::c_uint;

use crate::abi::*;

/// Static rate of a path: a code, `ibv_rate_to_mbps(3)` gives Mbit/s. The names are the rates in
/// Gbit/s.
pub type ibv_rate = c_uint;
/// As fast as the port.
pub const IBV_RATE_MAX: ibv_rate = 0;
/// 1x SDR.
pub const IBV_RATE_2_5_GBPS: ibv_rate = 2;
/// 1x DDR.
pub const IBV_RATE_5_GBPS: ibv_rate = 5;
/// 4x SDR, 1x QDR.
pub const IBV_RATE_10_GBPS: ibv_rate = 3;
/// 4x DDR.
pub const IBV_RATE_20_GBPS: ibv_rate = 6;
/// 12x SDR.
pub const IBV_RATE_30_GBPS: ibv_rate = 4;
/// 4x QDR.
pub const IBV_RATE_40_GBPS: ibv_rate = 7;
/// 12x DDR.
pub const IBV_RATE_60_GBPS: ibv_rate = 8;
/// 8x QDR.
pub const IBV_RATE_80_GBPS: ibv_rate = 9;
/// 12x QDR.
pub const IBV_RATE_120_GBPS: ibv_rate = 10;
/// 1x FDR.
pub const IBV_RATE_14_GBPS: ibv_rate = 11;
/// 4x FDR.
pub const IBV_RATE_56_GBPS: ibv_rate = 12;
/// 8x FDR.
pub const IBV_RATE_112_GBPS: ibv_rate = 13;
/// 12x FDR.
pub const IBV_RATE_168_GBPS: ibv_rate = 14;
/// 1x EDR.
pub const IBV_RATE_25_GBPS: ibv_rate = 15;
/// 4x EDR.
pub const IBV_RATE_100_GBPS: ibv_rate = 16;
/// 8x EDR, 4x HDR.
pub const IBV_RATE_200_GBPS: ibv_rate = 17;
/// 12x EDR.
pub const IBV_RATE_300_GBPS: ibv_rate = 18;
/// 2x FDR.
pub const IBV_RATE_28_GBPS: ibv_rate = 19;
/// 2x EDR, 1x HDR.
pub const IBV_RATE_50_GBPS: ibv_rate = 20;
/// 8x HDR, 4x NDR.
pub const IBV_RATE_400_GBPS: ibv_rate = 21;
/// 12x HDR.
pub const IBV_RATE_600_GBPS: ibv_rate = 22;
/// 8x NDR, 4x XDR.
pub const IBV_RATE_800_GBPS: ibv_rate = 23;
/// 12x NDR.
pub const IBV_RATE_1200_GBPS: ibv_rate = 24;

/// The 20 bits of a flow label, in `ibv_global_route::flow_label` and
/// `ibv_flow_label_to_udp_sport`.
pub const IB_GRH_FLOWLABEL_MASK: c_uint = 0x000f_ffff;

/// The global part of a path: what goes into the GRH, or the IP header of RoCE v2.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_global_route {
    /// GID of the destination.
    pub dgid: ibv_gid,
    /// Flow label, 20 bits, host byte order.
    pub flow_label: u32,
    /// Index of the own GID in the port's table.
    pub sgid_index: u8,
    /// Routers the packet may pass; the IP TTL of RoCE v2.
    pub hop_limit: u8,
    /// Traffic class; the IP TOS byte of RoCE v2.
    pub traffic_class: u8,
}

/// A path: argument of `ibv_create_ah(3)` and part of `ibv_qp_attr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_ah_attr {
    /// Global part, with `is_global`.
    pub grh: ibv_global_route,
    /// LID of the destination, host byte order; not used on Ethernet.
    pub dlid: u16,
    /// Service level, 0 to 15; the VLAN priority is derived from it on Ethernet.
    pub sl: u8,
    /// Low bits of the own LID to send from, within the port's LMC.
    pub src_path_bits: u8,
    /// Rate limit for the path, one of `ibv_rate`.
    pub static_rate: u8,
    /// Non-zero: `grh` is used; needed on Ethernet and with `IBV_QPF_GRH_REQUIRED`.
    pub is_global: u8,
    /// Own port, from 1.
    pub port_num: u8,
}

/// An address handle: a path, ready for use in sends of UD QPs; `ibv_create_ah(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_ah {
    /// Device context.
    pub context: *mut ibv_context,
    /// Protection domain; must be that of the QP.
    pub pd: *mut ibv_pd,
    /// Kernel handle.
    pub handle: u32,
}

/// Global route header as received: the first 40 bytes of a UD receive with `IBV_WC_GRH` (IBTA
/// volume 1, section 8.3). On RoCE v2 over IPv4 the last 20 of them hold the IPv4 header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_grh {
    /// Version 6 (4 bits), traffic class (8), flow label (20); network byte order.
    pub version_tclass_flow: __be32,
    /// Bytes that follow the header, network byte order.
    pub paylen: __be16,
    /// What follows: 0x1b for the InfiniBand transport.
    pub next_hdr: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// GID of the sender.
    pub sgid: ibv_gid,
    /// GID it was sent to; the multicast GID for multicast.
    pub dgid: ibv_gid,
}

plain! {
    ibv_global_route, ibv_ah_attr, ibv_ah, ibv_grh
}
