//! What carrying out a request remembers and tells.

use crate::abi::*;
use crate::urxe::shared::Patience;

/// What the requester remembers of the request at the head of a send queue, between the times that
/// it is tried. All zero before the first time.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Attempt {
    /// When it was tried first, CLOCK_MONOTONIC in nanoseconds; 0 if it was not.
    pub(crate) since: u64,
    /// The wait for a peer that lives and is not done with something.
    pub(crate) waiting: Patience,
    /// Times that the peer had no receive: counted against `rnr_retry`.
    pub(crate) rnr_retries: u32,
    /// Not to be tried again before.
    pub(crate) until: u64,
    /// The time of the last [`Outcome::Wait`]; 0 if there was none.
    wake: u64,
}

impl Attempt {
    /// Whether the request has been tried and waits.
    pub(crate) fn has_begun(&self) -> bool {
        self.wake != 0
    }

    /// Notes a try that ended with [`Outcome::Wait`].
    pub(super) fn waits(&mut self, until: u64) {
        self.wake = until.max(1);
    }

    /// When to try again at the latest.
    pub(super) fn wake(&self) -> u64 {
        self.wake
    }
}

/// How a try ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    /// The request is done, well or not.
    Done(Done),
    /// The request stays at the head of the queue and is tried again, at this time at the latest
    /// (CLOCK_MONOTONIC, nanoseconds).
    Wait { until: u64 },
}

/// The completion of a send request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    /// `ibv_wc::status`.
    pub(crate) status: ibv_wc_status,
    /// `ibv_wc::vendor_err`: which check failed.
    pub(crate) vendor_err: u32,
    /// `ibv_wc::byte_len`.
    pub(crate) byte_len: u32,
}

impl Done {
    /// Success, for so many bytes.
    pub(crate) const fn success(byte_len: u32) -> Done {
        Done { status: IBV_WC_SUCCESS, vendor_err: 0, byte_len }
    }

    /// A failure.
    pub(crate) const fn failure(status: ibv_wc_status, vendor_err: u32) -> Done {
        Done { status, vendor_err, byte_len: 0 }
    }
}
