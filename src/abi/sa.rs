//! Subnet administration records (`infiniband/sa.h`; IBTA volume 1, section 15.2.5).
//!
//! `ibv_path_record` is the record as on the wire. The `ibv_sa_` structs hold one field per member;
//! those named `_selector` say how to compare: 0 greater than, 1 less than, 2 exactly, 3 the best
//! available.

use core::ffi::{c_int, c_uint};

use crate::abi::*;

/// A path between two ports.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_sa_path_rec {
    /// Destination GID.
    pub dgid: ibv_gid,
    /// Source GID.
    pub sgid: ibv_gid,
    /// Destination LID, network byte order.
    pub dlid: __be16,
    /// Source LID, network byte order.
    pub slid: __be16,
    /// Non-zero: for raw packets.
    pub raw_traffic: c_int,
    /// Flow label, network byte order.
    pub flow_label: __be32,
    /// Hop limit.
    pub hop_limit: u8,
    /// Traffic class.
    pub traffic_class: u8,
    /// Non-zero: usable in both directions.
    pub reversible: c_int,
    /// Most paths to return.
    pub numb_path: u8,
    /// P_Key, network byte order.
    pub pkey: __be16,
    /// Service level.
    pub sl: u8,
    /// How `mtu` is meant.
    pub mtu_selector: u8,
    /// MTU, `ibv_mtu`.
    pub mtu: u8,
    /// How `rate` is meant.
    pub rate_selector: u8,
    /// Rate, `ibv_rate`.
    pub rate: u8,
    /// How `packet_life_time` is meant.
    pub packet_life_time_selector: u8,
    /// Longest time on the way: 4.096 us * 2^n.
    pub packet_life_time: u8,
    /// 0 is the best.
    pub preference: u8,
}

/// Membership in a multicast group.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_sa_mcmember_rec {
    /// Multicast GID.
    pub mgid: ibv_gid,
    /// GID of the member.
    pub port_gid: ibv_gid,
    /// Q_Key of the group.
    pub qkey: u32,
    /// Multicast LID.
    pub mlid: u16,
    /// How `mtu` is meant.
    pub mtu_selector: u8,
    /// MTU, `ibv_mtu`.
    pub mtu: u8,
    /// Traffic class.
    pub traffic_class: u8,
    /// P_Key.
    pub pkey: u16,
    /// How `rate` is meant.
    pub rate_selector: u8,
    /// Rate, `ibv_rate`.
    pub rate: u8,
    /// How `packet_life_time` is meant.
    pub packet_life_time_selector: u8,
    /// Longest time on the way: 4.096 us * 2^n.
    pub packet_life_time: u8,
    /// Service level.
    pub sl: u8,
    /// Flow label.
    pub flow_label: u32,
    /// Hop limit.
    pub hop_limit: u8,
    /// Scope of the multicast address.
    pub scope: u8,
    /// Bits: 0 full member, 1 non-member, 2 send-only non-member.
    pub join_state: u8,
    /// Non-zero: joined on behalf of another port.
    pub proxy_join: c_int,
}

/// A registered service.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_sa_service_rec {
    /// Service id.
    pub id: u64,
    /// GID of the port that offers it.
    pub gid: ibv_gid,
    /// P_Key.
    pub pkey: u16,
    /// Lease in seconds; all ones is for ever.
    pub lease: u32,
    /// Key that protects the record.
    pub key: [u8; 16],
    /// Name.
    pub name: [u8; 64],
    /// Data of the service.
    pub data8: [u8; 16],
    /// Data of the service.
    pub data16: [u16; 8],
    /// Data of the service.
    pub data32: [u32; 4],
    /// Data of the service.
    pub data64: [u64; 2],
}

/// `ibv_path_record::reversible_numpath`: usable in both directions.
pub const IBV_PATH_RECORD_REVERSIBLE: c_uint = 0x80;

/// A path record as on the wire; numbers are in network byte order.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_path_record {
    /// Service id.
    pub service_id: __be64,
    /// Destination GID.
    pub dgid: ibv_gid,
    /// Source GID.
    pub sgid: ibv_gid,
    /// Destination LID.
    pub dlid: __be16,
    /// Source LID.
    pub slid: __be16,
    /// Raw traffic (1 bit), reserved (3), flow label (20), hop limit (8).
    pub flowlabel_hoplimit: __be32,
    /// Traffic class.
    pub tclass: u8,
    /// Reversible (1 bit), number of paths (7).
    pub reversible_numpath: u8,
    /// P_Key.
    pub pkey: __be16,
    /// QoS class (12 bits), service level (4).
    pub qosclass_sl: __be16,
    /// Selector (2 bits), MTU (6).
    pub mtu: u8,
    /// Selector (2 bits), rate (6).
    pub rate: u8,
    /// Selector (2 bits), packet life time (6).
    pub packetlifetime: u8,
    /// 0 is the best.
    pub preference: u8,
    /// 0.
    pub reserved: [u8; 6],
}

/// `ibv_path_data::flags`: for management datagrams.
pub const IBV_PATH_FLAG_GMP: c_uint = 1 << 0;
/// `ibv_path_data::flags`: primary path.
pub const IBV_PATH_FLAG_PRIMARY: c_uint = 1 << 1;
/// `ibv_path_data::flags`: alternate path.
pub const IBV_PATH_FLAG_ALTERNATE: c_uint = 1 << 2;
/// `ibv_path_data::flags`: from here to the peer.
pub const IBV_PATH_FLAG_OUTBOUND: c_uint = 1 << 3;
/// `ibv_path_data::flags`: from the peer to here.
pub const IBV_PATH_FLAG_INBOUND: c_uint = 1 << 4;
/// `ibv_path_data::flags`: from the peer to here, given as its reverse.
pub const IBV_PATH_FLAG_INBOUND_REVERSE: c_uint = 1 << 5;
/// `ibv_path_data::flags`: both ways.
pub const IBV_PATH_FLAG_BIDIRECTIONAL: c_uint =
    IBV_PATH_FLAG_OUTBOUND | IBV_PATH_FLAG_INBOUND_REVERSE;

/// A path record and what it is for, as exchanged with connection managers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_path_data {
    /// See `IBV_PATH_FLAG_*`.
    pub flags: u32,
    /// 0.
    pub reserved: u32,
    /// The record.
    pub path: ibv_path_record,
}

plain! {
    ibv_sa_path_rec, ibv_sa_mcmember_rec, ibv_sa_service_rec, ibv_path_record, ibv_path_data
}
