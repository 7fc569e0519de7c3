//! Opening: GET_CONTEXT; and what a driver may map: the clock.

use crate::abi::*;

/// GET_CONTEXT: first command on a descriptor.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_get_context {
    /// Address of the answer.
    pub response: u64,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// Answer to GET_CONTEXT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_get_context_resp {
    /// Descriptor of asynchronous events.
    pub async_fd: u32,
    /// Interrupt vectors for CQs.
    pub num_comp_vectors: u32,
    /// The provider's bytes follow.
    pub driver_data: [u64; 0],
}

/// Relation of the device clock to system time: a page that some drivers let user space map.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ib_uverbs_clock_info {
    /// Changes with every update, and has a driver specific bit set meanwhile.
    pub sign: u32,
    /// 0.
    pub resv: u32,
    /// System time in nanoseconds at the last update.
    pub nsec: u64,
    /// Device clock at the last update.
    pub cycles: u64,
    /// Fraction of a nanosecond, to be added before the shift.
    pub frac: u64,
    /// Nanoseconds are ticks * `mult` >> `shift`.
    pub mult: u32,
    /// See `mult`.
    pub shift: u32,
    /// Valid bits of the device clock.
    pub mask: u64,
    /// Longest time between two updates.
    pub overflow_period: u64,
}

plain! {
    ib_uverbs_get_context, ib_uverbs_get_context_resp, ib_uverbs_clock_info
}
