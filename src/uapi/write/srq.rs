//! Shared receive queues.

use crate::abi::*;

/// CREATE_SRQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_srq {
    /// Address of the answer.
    pub response: u64,
    /// Returned in events of the object: the address of the library's object.
    pub user_handle: u64,
    /// Protection domain.
    pub pd_handle: u32,
    /// Outstanding work requests.
    pub max_wr: u32,
    /// Scatter/gather entries per request.
    pub max_sge: u32,
    /// Limit of the event; 0: none.
    pub srq_limit: u32,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// CREATE_XSRQ: an SRQ of any kind.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_xsrq {
    /// Address of the answer.
    pub response: u64,
    /// Returned in events of the object: the address of the library's object.
    pub user_handle: u64,
    /// One of `ibv_srq_type`.
    pub srq_type: u32,
    /// Protection domain.
    pub pd_handle: u32,
    /// Outstanding work requests.
    pub max_wr: u32,
    /// Scatter/gather entries per request.
    pub max_sge: u32,
    /// Limit of the event; 0: none.
    pub srq_limit: u32,
    /// Entries of the tag list; tag matching.
    pub max_num_tags: u32,
    /// XRC domain; XRC.
    pub xrcd_handle: u32,
    /// CQ; XRC and tag matching.
    pub cq_handle: u32,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// Answer to CREATE_SRQ and CREATE_XSRQ, with the actual sizes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_create_srq_resp {
    /// SRQ.
    pub srq_handle: u32,
    /// Outstanding work requests.
    pub max_wr: u32,
    /// Scatter/gather entries per request.
    pub max_sge: u32,
    /// SRQ number for peers; XRC.
    pub srqn: u32,
    /// The provider's bytes follow.
    pub driver_data: [u32; 0],
}

/// MODIFY_SRQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_modify_srq {
    /// SRQ.
    pub srq_handle: u32,
    /// See `ibv_srq_attr_mask`.
    pub attr_mask: u32,
    /// Outstanding work requests.
    pub max_wr: u32,
    /// Limit of the event; 0: none.
    pub srq_limit: u32,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// QUERY_SRQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_query_srq {
    /// Address of the answer.
    pub response: u64,
    /// SRQ.
    pub srq_handle: u32,
    /// 0.
    pub reserved: u32,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// Answer to QUERY_SRQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_query_srq_resp {
    /// Outstanding work requests.
    pub max_wr: u32,
    /// Scatter/gather entries per request.
    pub max_sge: u32,
    /// Limit of the event; 0: none.
    pub srq_limit: u32,
    /// 0.
    pub reserved: u32,
}

/// DESTROY_SRQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_destroy_srq {
    /// Address of the answer.
    pub response: u64,
    /// SRQ.
    pub srq_handle: u32,
    /// 0.
    pub reserved: u32,
}

/// Answer to DESTROY_SRQ.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_destroy_srq_resp {
    /// Asynchronous events that the kernel has reported, to be acknowledged before the SRQ's memory
    /// is freed.
    pub events_reported: u32,
}

plain! {
    ib_uverbs_create_srq, ib_uverbs_create_xsrq, ib_uverbs_create_srq_resp,
    ib_uverbs_modify_srq, ib_uverbs_query_srq, ib_uverbs_query_srq_resp, ib_uverbs_destroy_srq,
    ib_uverbs_destroy_srq_resp
}
