//! Subnet administration records of the kernel (`rdma/ib_user_sa.h`) and of `sa.h`.

use core::ffi::{c_int, c_uint};

use crate::abi::*;

/// `IBV_PATH_FLAG_ALTERNATE` (`sa.h`).
pub const IBV_PATH_FLAG_ALTERNATE: c_uint = 4;

/// `IBV_PATH_FLAG_BIDIRECTIONAL` (`sa.h`).
pub const IBV_PATH_FLAG_BIDIRECTIONAL: c_uint = 40;

/// `IBV_PATH_FLAG_GMP` (`sa.h`).
pub const IBV_PATH_FLAG_GMP: c_uint = 1;

/// `IBV_PATH_FLAG_INBOUND` (`sa.h`).
pub const IBV_PATH_FLAG_INBOUND: c_uint = 16;

/// `IBV_PATH_FLAG_INBOUND_REVERSE` (`sa.h`).
pub const IBV_PATH_FLAG_INBOUND_REVERSE: c_uint = 32;

/// `IBV_PATH_FLAG_OUTBOUND` (`sa.h`).
pub const IBV_PATH_FLAG_OUTBOUND: c_uint = 8;

/// `IBV_PATH_FLAG_PRIMARY` (`sa.h`).
pub const IBV_PATH_FLAG_PRIMARY: c_uint = 2;

/// `IBV_PATH_RECORD_REVERSIBLE` (`sa.h`).
pub const IBV_PATH_RECORD_REVERSIBLE: c_uint = 128;

/// `struct ibv_path_data` (`sa.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_path_data {
    pub flags: u32,
    pub reserved: u32,
    pub path: ibv_path_record,
}

/// `struct ibv_path_record` (`sa.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_path_record {
    pub service_id: u64,
    pub dgid: ibv_gid,
    pub sgid: ibv_gid,
    pub dlid: u16,
    pub slid: u16,
    pub flowlabel_hoplimit: u32,
    pub tclass: u8,
    pub reversible_numpath: u8,
    pub pkey: u16,
    pub qosclass_sl: u16,
    pub mtu: u8,
    pub rate: u8,
    pub packetlifetime: u8,
    pub preference: u8,
    pub reserved: [u8; 6],
}

/// `struct ibv_sa_mcmember_rec` (`sa.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_sa_mcmember_rec {
    pub mgid: ibv_gid,
    pub port_gid: ibv_gid,
    pub qkey: u32,
    pub mlid: u16,
    pub mtu_selector: u8,
    pub mtu: u8,
    pub traffic_class: u8,
    pub pkey: u16,
    pub rate_selector: u8,
    pub rate: u8,
    pub packet_life_time_selector: u8,
    pub packet_life_time: u8,
    pub sl: u8,
    pub flow_label: u32,
    pub hop_limit: u8,
    pub scope: u8,
    pub join_state: u8,
    pub proxy_join: c_int,
}

/// `struct ibv_sa_path_rec` (`sa.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_sa_path_rec {
    pub dgid: ibv_gid,
    pub sgid: ibv_gid,
    pub dlid: u16,
    pub slid: u16,
    pub raw_traffic: c_int,
    pub flow_label: u32,
    pub hop_limit: u8,
    pub traffic_class: u8,
    pub reversible: c_int,
    pub numb_path: u8,
    pub pkey: u16,
    pub sl: u8,
    pub mtu_selector: u8,
    pub mtu: u8,
    pub rate_selector: u8,
    pub rate: u8,
    pub packet_life_time_selector: u8,
    pub packet_life_time: u8,
    pub preference: u8,
}

/// `struct ibv_sa_service_rec` (`sa.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_sa_service_rec {
    pub id: u64,
    pub gid: ibv_gid,
    pub pkey: u16,
    pub lease: u32,
    pub key: [u8; 16],
    pub name: [u8; 64],
    pub data8: [u8; 16],
    pub data16: [u16; 8],
    pub data32: [u32; 4],
    pub data64: [u64; 2],
}

plain!(ibv_path_data, ibv_path_record, ibv_sa_mcmember_rec, ibv_sa_path_rec, ibv_sa_service_rec);
