//! The ioctl interface: header and attribute (`rdma/rdma_user_ioctl_cmds.h`), and the numbers of
//! RDMA ioctls (`rdma/rdma_user_ioctl.h`).

use core::ffi::c_uint;

use crate::abi::*;

/// Type of all RDMA ioctls.
pub const RDMA_IOCTL_MAGIC: c_uint = 0x1b;
/// The ioctl that carries every command to a verbs device file.
pub const RDMA_VERBS_IOCTL: c_uint = 0xc0181b01;

/// Argument of `RDMA_VERBS_IOCTL`; the attributes follow.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_ioctl_hdr {
    /// Bytes of header and attributes.
    pub length: u16,
    /// One of `UVERBS_OBJECT_*`.
    pub object_id: u16,
    /// One of `UVERBS_METHOD_*` of the object.
    pub method_id: u16,
    /// Attributes that follow.
    pub num_attrs: u16,
    /// 0.
    pub reserved1: u64,
    /// Driver of the device, one of `rdma_driver_id`.
    pub driver_id: u32,
    /// 0.
    pub reserved2: u32,
    /// The attributes.
    pub attrs: [ib_uverbs_attr; 0],
}

/// `ib_uverbs_attr::flags`: fail with `EPROTONOSUPPORT` if the kernel does not know the attribute.
pub const UVERBS_ATTR_F_MANDATORY: u16 = 1 << 0;
/// `ib_uverbs_attr::flags`: set by the kernel: it has written to the attribute.
pub const UVERBS_ATTR_F_VALID_OUTPUT: u16 = 1 << 1;

/// Choice of an enumeration attribute.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_attr_attr_data_enum_data {
    /// Number of the choice.
    pub elem_id: u8,
    /// 0.
    pub reserved: u8,
}

/// What else an attribute says, by its kind.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ib_uverbs_attr_attr_data {
    /// Enumeration attributes.
    pub enum_data: ib_uverbs_attr_attr_data_enum_data,
    /// 0 for all others.
    pub reserved: u16,
}

/// An argument of a command.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_attr {
    /// One of `UVERBS_ATTR_*` of the method.
    pub attr_id: u16,
    /// Bytes of the data, or of the room for it; 0 for objects and descriptors.
    pub len: u16,
    /// See `UVERBS_ATTR_F_*`.
    pub flags: u16,
    /// Choice of an enumeration.
    pub attr_data: ib_uverbs_attr_attr_data,
    /// The data itself if it has at most 8 bytes and is input, a handle or a descriptor; else its
    /// address.
    pub data: u64,
}

// Ioctls of the MAD device files, `/dev/infiniband/umadN`.
/// Older name of `RDMA_IOCTL_MAGIC`.
pub const IB_IOCTL_MAGIC: c_uint = RDMA_IOCTL_MAGIC;
/// Register an agent for a class of MADs.
pub const IB_USER_MAD_REGISTER_AGENT: c_uint = 0xc01c1b01;
/// Remove an agent.
pub const IB_USER_MAD_UNREGISTER_AGENT: c_uint = 0x40041b02;
/// Have the P_Key index in the header of MADs.
pub const IB_USER_MAD_ENABLE_PKEY: c_uint = 0x1b03;
/// Register an agent, with flags.
pub const IB_USER_MAD_REGISTER_AGENT2: c_uint = 0xc0281b04;

// Ioctls of the device files of hfi1, for PSM.
/// Take a context.
pub const HFI1_IOCTL_ASSIGN_CTXT: c_uint = 0xc01c1be1;
/// Query the context.
pub const HFI1_IOCTL_CTXT_INFO: c_uint = 0x40281be2;
/// Query what user space needs.
pub const HFI1_IOCTL_USER_INFO: c_uint = 0x40781be3;
/// Map receive buffers.
pub const HFI1_IOCTL_TID_UPDATE: c_uint = 0xc0181be4;
/// Unmap receive buffers.
pub const HFI1_IOCTL_TID_FREE: c_uint = 0xc0181be5;
/// Force an update of the send credits.
pub const HFI1_IOCTL_CREDIT_UPD: c_uint = 0x1be6;
/// Start or stop receiving.
pub const HFI1_IOCTL_RECV_CTRL: c_uint = 0x40041be8;
/// Choose what wakes a poll.
pub const HFI1_IOCTL_POLL_TYPE: c_uint = 0x40041be9;
/// Acknowledge events.
pub const HFI1_IOCTL_ACK_EVENT: c_uint = 0x40081bea;
/// Set the P_Key of the context.
pub const HFI1_IOCTL_SET_PKEY: c_uint = 0x40021beb;
/// Reset the context.
pub const HFI1_IOCTL_CTXT_RESET: c_uint = 0x1bec;
/// Read the list of invalidated receive buffers.
pub const HFI1_IOCTL_TID_INVAL_READ: c_uint = 0xc0181bed;
/// Query the version of the interface.
pub const HFI1_IOCTL_GET_VERS: c_uint = 0x80041bee;

plain! {
    ib_uverbs_ioctl_hdr, ib_uverbs_attr_attr_data_enum_data, ib_uverbs_attr_attr_data,
    ib_uverbs_attr
}
