//! What a requester does.

use std::sync::Arc;

use super::host::{Host, Peer};
use super::pair::Qp;
use super::shared::QPS;
use crate::abi::ibv_qp_attr;

/// As the library's.
const PATIENCE: u64 = 100_000_000;

mod bytes;
#[path = "../../../../src/urxe/transfer/fast/mod.rs"]
mod fast;
pub(crate) mod fast_model;
pub(crate) mod model;
#[path = "../../../../src/urxe/transfer/multicast.rs"]
mod multicast;
pub(crate) mod remembered;
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

/// As the library's, to one peer.
#[derive(Default)]
pub(crate) struct Route(Option<Arc<Peer>>);

impl Route {
    fn peer(&mut self, host: &Host, number: u32) -> Option<&Arc<Peer>> {
        self.0 = host.peer(number / QPS).ok();
        self.0.as_ref()
    }
}

mod datagram {
    use super::Qp;
    use crate::abi::{ibv_ah_attr, ibv_qp_attr};
    use crate::urxe::shared::DeviceShared;

    pub(super) const GRH: usize = 40;
    pub(super) const MULTICAST: u32 = 0xff_ffff;

    pub(super) fn largest(_: &Qp) -> u64 {
        unreachable!("no model is about datagrams")
    }

    pub(super) fn qkey_of(qkey: u32, _: &ibv_qp_attr) -> u32 {
        qkey
    }

    pub(super) fn write_grh(_: &DeviceShared, _: &ibv_ah_attr, _: usize, _: &mut [u8; GRH]) {}
}

mod message {
    use super::Qp;
    use super::responder::Responder;

    pub(super) fn no_room(_: &Responder<'_>, _: &Qp, _: u64, _: u64) {}
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
