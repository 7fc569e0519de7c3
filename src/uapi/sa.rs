//! Subnet administration records of the kernel (`rdma/ib_user_sa.h`) and of `sa.h`.

use core::ffi::{c_uint};

use crate::abi::*;

// ib_user_sa.h: (anonymous) IB_PATH_GMP
pub const IB_PATH_GMP: c_uint = 1;
pub const IB_PATH_PRIMARY: c_uint = 2;
pub const IB_PATH_ALTERNATE: c_uint = 4;
pub const IB_PATH_OUTBOUND: c_uint = 8;
pub const IB_PATH_INBOUND: c_uint = 16;
pub const IB_PATH_INBOUND_REVERSE: c_uint = 32;
pub const IB_PATH_BIDIRECTIONAL: c_uint = 40;

/// `struct ib_path_rec_data` (`ib_user_sa.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_path_rec_data {
    pub flags: u32,
    pub reserved: u32,
    pub path_rec: [u32; 16],
}

/// `struct ib_user_path_rec` (`ib_user_sa.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_user_path_rec {
    pub dgid: [u8; 16],
    pub sgid: [u8; 16],
    pub dlid: u16,
    pub slid: u16,
    pub raw_traffic: u32,
    pub flow_label: u32,
    pub reversible: u32,
    pub mtu: u32,
    pub pkey: u16,
    pub hop_limit: u8,
    pub traffic_class: u8,
    pub numb_path: u8,
    pub sl: u8,
    pub mtu_selector: u8,
    pub rate_selector: u8,
    pub rate: u8,
    pub packet_life_time_selector: u8,
    pub packet_life_time: u8,
    pub preference: u8,
}

/// `struct ib_user_service_rec` (`ib_user_sa.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_user_service_rec {
    pub id: u64,
    pub gid: [u8; 16],
    pub pkey: u16,
    pub reserved: [u8; 2],
    pub lease: u32,
    pub key: [u8; 16],
    pub name: [u8; 64],
    pub data_8: [u8; 16],
    pub data_16: [u16; 8],
    pub data_32: [u32; 4],
    pub data_64: [u64; 2],
}

plain!(ib_path_rec_data, ib_user_path_rec, ib_user_service_rec);
