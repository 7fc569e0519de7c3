//! What a requester does.

use super::host::{Host, Peer};
use super::pair::Qp;
use crate::abi::ibv_qp_attr;

pub(crate) mod fast;
pub(crate) mod model;
#[path = "../../../../src/urxe/transfer/multicast.rs"]
mod multicast;
#[path = "../../../../src/urxe/transfer/responder.rs"]
mod responder;
pub(crate) mod responder_model;

/// What a model needs of an operation.
pub(crate) struct Operation<'a> {
    host: &'a Host,
    qp: &'a Qp,
    attr: &'a ibv_qp_attr,
    wqe: Wqe,
    peer: Option<&'a Peer>,
    patience: u64,
}

/// What a model needs of a request.
struct Wqe {
    wr_id: u64,
    remote_srqn: u32,
}

mod stop {
    use crate::abi::ibv_wc_status;

    /// As the library's, as far as models get.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(crate) enum Reason {
        Srq,
    }

    /// As the library's, as far as models get.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(crate) enum Stop {
        Remote(ibv_wc_status, Reason),
        Silence,
        Busy,
    }

    impl Stop {
        pub(super) fn remote(status: ibv_wc_status, reason: Reason) -> Stop {
            Stop::Remote(status, reason)
        }
    }
}
