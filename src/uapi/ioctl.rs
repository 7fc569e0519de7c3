//! The ioctl itself: header and attribute (`rdma/rdma_user_ioctl_cmds.h`).

use core::ffi::{c_uint};

use crate::abi::*;

// rdma_user_ioctl_cmds.h: (anonymous) UVERBS_ATTR_F_MANDATORY
pub const UVERBS_ATTR_F_MANDATORY: u16 = 1;
pub const UVERBS_ATTR_F_VALID_OUTPUT: u16 = 2;

/// `HFI1_IOCTL_ACK_EVENT` (`rdma_user_ioctl.h`).
pub const HFI1_IOCTL_ACK_EVENT: c_uint = 0x40081bea;

/// `HFI1_IOCTL_ASSIGN_CTXT` (`rdma_user_ioctl.h`).
pub const HFI1_IOCTL_ASSIGN_CTXT: c_uint = 0xc01c1be1;

/// `HFI1_IOCTL_CREDIT_UPD` (`rdma_user_ioctl.h`).
pub const HFI1_IOCTL_CREDIT_UPD: c_uint = 7142;

/// `HFI1_IOCTL_CTXT_INFO` (`rdma_user_ioctl.h`).
pub const HFI1_IOCTL_CTXT_INFO: c_uint = 0x40281be2;

/// `HFI1_IOCTL_CTXT_RESET` (`rdma_user_ioctl.h`).
pub const HFI1_IOCTL_CTXT_RESET: c_uint = 7148;

/// `HFI1_IOCTL_GET_VERS` (`rdma_user_ioctl.h`).
pub const HFI1_IOCTL_GET_VERS: c_uint = 0x80041bee;

/// `HFI1_IOCTL_POLL_TYPE` (`rdma_user_ioctl.h`).
pub const HFI1_IOCTL_POLL_TYPE: c_uint = 0x40041be9;

/// `HFI1_IOCTL_RECV_CTRL` (`rdma_user_ioctl.h`).
pub const HFI1_IOCTL_RECV_CTRL: c_uint = 0x40041be8;

/// `HFI1_IOCTL_SET_PKEY` (`rdma_user_ioctl.h`).
pub const HFI1_IOCTL_SET_PKEY: c_uint = 0x40021beb;

/// `HFI1_IOCTL_TID_FREE` (`rdma_user_ioctl.h`).
pub const HFI1_IOCTL_TID_FREE: c_uint = 0xc0181be5;

/// `HFI1_IOCTL_TID_INVAL_READ` (`rdma_user_ioctl.h`).
pub const HFI1_IOCTL_TID_INVAL_READ: c_uint = 0xc0181bed;

/// `HFI1_IOCTL_TID_UPDATE` (`rdma_user_ioctl.h`).
pub const HFI1_IOCTL_TID_UPDATE: c_uint = 0xc0181be4;

/// `HFI1_IOCTL_USER_INFO` (`rdma_user_ioctl.h`).
pub const HFI1_IOCTL_USER_INFO: c_uint = 0x40781be3;

/// `IB_IOCTL_MAGIC` (`rdma_user_ioctl.h`).
pub const IB_IOCTL_MAGIC: c_uint = 27;

/// `IB_USER_MAD_ENABLE_PKEY` (`rdma_user_ioctl.h`).
pub const IB_USER_MAD_ENABLE_PKEY: c_uint = 6915;

/// `IB_USER_MAD_REGISTER_AGENT` (`rdma_user_ioctl.h`).
pub const IB_USER_MAD_REGISTER_AGENT: c_uint = 0xc01c1b01;

/// `IB_USER_MAD_REGISTER_AGENT2` (`rdma_user_ioctl.h`).
pub const IB_USER_MAD_REGISTER_AGENT2: c_uint = 0xc0281b04;

/// `IB_USER_MAD_UNREGISTER_AGENT` (`rdma_user_ioctl.h`).
pub const IB_USER_MAD_UNREGISTER_AGENT: c_uint = 0x40041b02;

/// `RDMA_IOCTL_MAGIC` (`rdma_user_ioctl_cmds.h`).
pub const RDMA_IOCTL_MAGIC: c_uint = 27;

/// `RDMA_VERBS_IOCTL` (`rdma_user_ioctl_cmds.h`).
pub const RDMA_VERBS_IOCTL: c_uint = 0xc0181b01;

/// Part of `struct ib_uverbs_attr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_attr_attr_data_enum_data {
    pub elem_id: u8,
    pub reserved: u8,
}

/// Part of `struct ib_uverbs_attr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ib_uverbs_attr_attr_data {
    pub enum_data: ib_uverbs_attr_attr_data_enum_data,
    pub reserved: u16,
}

/// `struct ib_uverbs_attr` (`rdma_user_ioctl_cmds.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_attr {
    pub attr_id: u16,
    pub len: u16,
    pub flags: u16,
    pub attr_data: ib_uverbs_attr_attr_data,
    pub data: u64,
}

/// `struct ib_uverbs_ioctl_hdr` (`rdma_user_ioctl_cmds.h`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ioctl_hdr {
    pub length: u16,
    pub object_id: u16,
    pub method_id: u16,
    pub num_attrs: u16,
    pub reserved1: u64,
    pub driver_id: u32,
    pub reserved2: u32,
    pub attrs: [ib_uverbs_attr; 0],
}

plain!(ib_uverbs_attr_attr_data_enum_data, ib_uverbs_attr_attr_data, ib_uverbs_attr, ib_uverbs_ioctl_hdr);
