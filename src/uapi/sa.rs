//! Subnet administration records as the kernel hands them over (`rdma/ib_user_sa.h`); `abi::sa`
//! explains the fields.

use core::ffi::c_uint;

use crate::abi::*;

/// `ib_path_rec_data::flags`: for management datagrams.
pub const IB_PATH_GMP: c_uint = 1 << 0;
/// `ib_path_rec_data::flags`: primary path.
pub const IB_PATH_PRIMARY: c_uint = 1 << 1;
/// `ib_path_rec_data::flags`: alternate path.
pub const IB_PATH_ALTERNATE: c_uint = 1 << 2;
/// `ib_path_rec_data::flags`: from here to the peer.
pub const IB_PATH_OUTBOUND: c_uint = 1 << 3;
/// `ib_path_rec_data::flags`: from the peer to here.
pub const IB_PATH_INBOUND: c_uint = 1 << 4;
/// `ib_path_rec_data::flags`: from the peer to here, given as its reverse.
pub const IB_PATH_INBOUND_REVERSE: c_uint = 1 << 5;
/// `ib_path_rec_data::flags`: both ways.
pub const IB_PATH_BIDIRECTIONAL: c_uint = IB_PATH_OUTBOUND | IB_PATH_INBOUND_REVERSE;

/// A path record and what it is for.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_path_rec_data {
    /// See `IB_PATH_*`.
    pub flags: u32,
    /// 0.
    pub reserved: u32,
    /// The record as on the wire, `ibv_path_record`.
    pub path_rec: [u32; 16],
}

/// The kernel's `ibv_sa_path_rec`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_user_path_rec {
    /// Destination GID, network byte order.
    pub dgid: [u8; 16],
    /// Source GID, network byte order.
    pub sgid: [u8; 16],
    /// Destination LID, network byte order.
    pub dlid: u16,
    /// Source LID, network byte order.
    pub slid: u16,
    /// 1: for raw packets.
    pub raw_traffic: u32,
    /// Flow label, network byte order.
    pub flow_label: u32,
    /// 1: usable in both directions.
    pub reversible: u32,
    /// One of `ibv_mtu`.
    pub mtu: u32,
    /// P_Key, network byte order.
    pub pkey: u16,
    /// Hop limit.
    pub hop_limit: u8,
    /// Traffic class.
    pub traffic_class: u8,
    /// Most paths to return.
    pub numb_path: u8,
    /// Service level.
    pub sl: u8,
    /// How `mtu` is meant.
    pub mtu_selector: u8,
    /// How `rate` is meant.
    pub rate_selector: u8,
    /// One of `ibv_rate`.
    pub rate: u8,
    /// How `packet_life_time` is meant.
    pub packet_life_time_selector: u8,
    /// 4.096 us * 2^n.
    pub packet_life_time: u8,
    /// 0 is the best.
    pub preference: u8,
}

/// The kernel's `ibv_sa_service_rec`; numbers are in network byte order.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_user_service_rec {
    /// Service id.
    pub id: u64,
    /// GID of the port that offers it.
    pub gid: [u8; 16],
    /// P_Key.
    pub pkey: u16,
    /// 0.
    pub reserved: [u8; 2],
    /// Lease in seconds; all ones is for ever.
    pub lease: u32,
    /// Key that protects the record.
    pub key: [u8; 16],
    /// Name.
    pub name: [u8; 64],
    /// Data of the service.
    pub data_8: [u8; 16],
    /// Data of the service.
    pub data_16: [u16; 8],
    /// Data of the service.
    pub data_32: [u32; 4],
    /// Data of the service.
    pub data_64: [u64; 2],
}

plain! {
    ib_path_rec_data, ib_user_path_rec, ib_user_service_rec
}
