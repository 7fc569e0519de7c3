//! Write commands as providers pass them (`infiniband/kern-abi.h`).
//!
//! Each command is a struct of `hdr`, the header, and `core_payload`, what the kernel's core reads.
//! The provider's own bytes follow directly behind it in memory: providers declare a struct with
//! the command first and their request after it, and pass its size. Answers are laid out alike: the
//! core's answer, then the provider's.

use core::ffi::c_uint;

use crate::abi::*;
use crate::uapi::*;

mod control;
mod queues;
mod versions;

pub use control::*;
pub use queues::*;
pub use versions::*;

/// Oldest version of the interface (`abi_version` of the class) that the library speaks.
pub const IB_USER_VERBS_MIN_ABI_VERSION: c_uint = 3;
/// Newest version of the interface that the library speaks.
pub const IB_USER_VERBS_MAX_ABI_VERSION: c_uint = 6;

/// Header of an extended command.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ex_hdr {
    /// Command and sizes of the core parts.
    pub hdr: ib_uverbs_cmd_hdr,
    /// Address of the answer and sizes of the provider's parts.
    pub ex_hdr: ib_uverbs_ex_cmd_hdr,
}

/// Stands for a request or answer without members.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct empty {}

/// IPv4 addresses of a flow specification, network byte order.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_kern_ipv4_filter {
    /// Source.
    pub src_ip: u32,
    /// Destination.
    pub dst_ip: u32,
}

/// Flow specification of IPv4 addresses alone, the form of `ibv_flow_spec_ipv4`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_kern_spec_ipv4 {
    /// `IBV_FLOW_SPEC_IPV4`; `type` in C.
    pub type_: u32,
    /// Bytes of this struct.
    pub size: u16,
    /// 0.
    pub reserved: u16,
    /// Values.
    pub val: ibv_kern_ipv4_filter,
    /// Bits that count.
    pub mask: ibv_kern_ipv4_filter,
}

/// Any flow specification in the kernel's form.
#[repr(C)]
#[derive(Clone, Copy)]
pub union ibv_kern_spec {
    /// Kind and size.
    pub hdr: ib_uverbs_flow_spec_hdr,
    /// Ethernet.
    pub eth: ib_uverbs_flow_spec_eth,
    /// IPv4 addresses.
    pub ipv4: ibv_kern_spec_ipv4,
    /// IPv4.
    pub ipv4_ext: ib_uverbs_flow_spec_ipv4,
    /// IPsec ESP.
    pub esp: ib_uverbs_flow_spec_esp,
    /// TCP or UDP.
    pub tcp_udp: ib_uverbs_flow_spec_tcp_udp,
    /// IPv6.
    pub ipv6: ib_uverbs_flow_spec_ipv6,
    /// GRE.
    pub gre: ib_uverbs_flow_spec_gre,
    /// VXLAN.
    pub tunnel: ib_uverbs_flow_spec_tunnel,
    /// MPLS.
    pub mpls: ib_uverbs_flow_spec_mpls,
    /// Tag.
    pub flow_tag: ib_uverbs_flow_spec_action_tag,
    /// Drop.
    pub drop: ib_uverbs_flow_spec_action_drop,
    /// Flow action.
    pub handle: ib_uverbs_flow_spec_action_handle,
    /// Count.
    pub flow_count: ib_uverbs_flow_spec_action_count,
}

plain! {
    ex_hdr, empty, ibv_kern_ipv4_filter, ibv_kern_spec_ipv4, ibv_kern_spec
}
