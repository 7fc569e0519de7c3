//! Address handles and multicast.

use crate::abi::*;

/// The kernel's `ibv_global_route`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_global_route {
    /// GID of the destination, network byte order.
    pub dgid: [u8; 16],
    /// Flow label.
    pub flow_label: u32,
    /// Index of the own GID.
    pub sgid_index: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// Traffic class.
    pub traffic_class: u8,
    /// 0.
    pub reserved: u8,
}

/// The kernel's `ibv_ah_attr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ah_attr {
    /// Global part.
    pub grh: ib_uverbs_global_route,
    /// LID of the destination.
    pub dlid: u16,
    /// Service level.
    pub sl: u8,
    /// Low bits of the own LID.
    pub src_path_bits: u8,
    /// One of `ibv_rate`.
    pub static_rate: u8,
    /// 1: `grh` is used.
    pub is_global: u8,
    /// Own port.
    pub port_num: u8,
    /// 0.
    pub reserved: u8,
}

/// CREATE_AH.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_ah {
    /// Address of the answer.
    pub response: u64,
    /// Returned in events of the object: the address of the library's object.
    pub user_handle: u64,
    /// Protection domain.
    pub pd_handle: u32,
    /// 0.
    pub reserved: u32,
    /// Path.
    pub attr: ib_uverbs_ah_attr,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// Answer to CREATE_AH.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_ah_resp {
    /// Address handle.
    pub ah_handle: u32,
    /// The provider's bytes follow.
    pub driver_data: [u32; 0],
}

/// DESTROY_AH.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_destroy_ah {
    /// Address handle.
    pub ah_handle: u32,
}

/// ATTACH_MCAST.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_attach_mcast {
    /// Multicast GID.
    pub gid: [u8; 16],
    /// QP.
    pub qp_handle: u32,
    /// Multicast LID.
    pub mlid: u16,
    /// 0.
    pub reserved: u16,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// DETACH_MCAST.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_detach_mcast {
    /// Multicast GID.
    pub gid: [u8; 16],
    /// QP.
    pub qp_handle: u32,
    /// Multicast LID.
    pub mlid: u16,
    /// 0.
    pub reserved: u16,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

plain! {
    ib_uverbs_global_route, ib_uverbs_ah_attr, ib_uverbs_create_ah, ib_uverbs_create_ah_resp,
    ib_uverbs_destroy_ah, ib_uverbs_attach_mcast, ib_uverbs_detach_mcast
}
