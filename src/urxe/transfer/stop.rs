//! Why an operation did not succeed, and what the requester makes of it: an error completion, a
//! later try, or nothing at all, as the service of the QP is.

use super::Operation;
use crate::abi::*;
use crate::sys::errno::Errno;
use crate::urxe::explain;
#[cfg(doc)]
use crate::urxe::host::agent;
use crate::urxe::host::{self, Peer};
use crate::urxe::pair::{Attempt, Done, Outcome};
use crate::urxe::shared::{PATIENCE, Patience};

/// `ibv_wc::vendor_err` of the completions of this device: which check failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum Reason {
    /// A forked child without a slot.
    NoHost = 1,
    /// The QP does not do that.
    Opcode = 2,
    /// The message is longer than any may be.
    MessageLength = 3,
    /// A local key, its rights or its range.
    LocalKey = 4,
    /// Registered memory that is not there any more, of the requester.
    LocalFault = 5,
    /// The list of an atomic is not 8 bytes long.
    WordLength = 6,
    /// Binding a window.
    Bind = 7,
    /// Invalidating a window.
    Invalidate = 8,
    /// No receive is posted, and the tries are used up.
    NoReceive = 16,
    /// The peer does not answer, and the tries are used up.
    NoAnswer = 17,
    /// The peer has not allowed its QP to be used so.
    QpAccess = 18,
    /// A remote key, its rights or its range.
    RemoteKey = 19,
    /// The word of an atomic is not aligned.
    Alignment = 20,
    /// The receive is too short.
    ReceiveLength = 21,
    /// A key in the list of the receive, its rights or its range.
    ReceiveKey = 22,
    /// Registered memory that is not there any more, of the responder.
    RemoteFault = 23,
    /// The SRQ is not there, or not of the XRC domain.
    Srq = 24,
    /// Shared memory that is not as it can be.
    Damaged = 25,
    /// A read or an atomic, for which the QP of the responder has no resources.
    Reads = 26,
}

/// What stopped an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// An error on this side: a completion, whatever the service.
    Local(ibv_wc_status, Reason),
    /// The responder refuses: a completion of reliable services, nothing of others.
    Remote(ibv_wc_status, Reason),
    /// The responder has no receive; its RNR NAK timer.
    NoReceive { timer: u32 },
    /// The responder does not answer: it is not there, not connected, in another state.
    Silence,
    /// The process of the responder lives, and its QP is in order as far as can be seen, but it, or
    /// another peer of it, is not done with something: nothing has happened so far.
    Busy,
    /// The process of the responder lives, has begun with the request and does not get done with it:
    /// it cannot be tried again.
    Lost,
}

impl Stop {
    pub(super) fn local(status: ibv_wc_status, reason: Reason) -> Stop {
        Stop::Local(status, reason)
    }

    /// What the server of the responder has not done; see [`agent::on_word`].
    pub(super) fn of_server(errno: Errno) -> Stop {
        match errno {
            Errno::ETIMEDOUT => Stop::Busy,
            Errno::EIO => Stop::Lost,
            // Gone, or out of reach.
            _ => Stop::Silence,
        }
    }

    pub(super) fn remote(status: ibv_wc_status, reason: Reason) -> Stop {
        Stop::Remote(status, reason)
    }
}

/// Value of `rnr_retry` for trying for ever.
const RNR_FOREVER: u8 = 7;
/// How often a silent peer is looked for at most, in nanoseconds.
const LOOK_AGAIN: u64 = 1_000_000;

/// What becomes of the request.
pub(super) fn outcome(operation: &Operation<'_>, stop: Stop, attempt: &mut Attempt) -> Outcome {
    let reliable = matches!(operation.qp.kind, IBV_QPT_RC | IBV_QPT_XRC_SEND);
    match stop {
        Stop::Local(status, reason) => {
            if reason == Reason::LocalFault {
                operation.explain(format_args!("memory of the request is not mapped"));
            }
            failure(status, reason)
        }
        Stop::Busy if operation.peer.is_none_or(Peer::is_alive_now) => {
            busy(operation, reliable, attempt, host::now())
        }
        Stop::Lost => {
            operation.explain(format_args!("the peer has begun and does not get done: lost"));
            given_up(operation, reliable)
        }
        _ if !reliable => Outcome::Done(Done::success(operation.byte_len())),
        Stop::Remote(status, reason) => failure(status, reason),
        Stop::NoReceive { timer } => no_receive(operation, timer, attempt, host::now()),
        Stop::Silence | Stop::Busy => silence(operation, attempt, host::now()),
    }
}

fn failure(status: ibv_wc_status, reason: Reason) -> Outcome {
    Outcome::Done(Done::failure(status, reason as u32))
}

/// No receive: again after the time that the responder wants, `rnr_retry` times.
fn no_receive(operation: &Operation<'_>, timer: u32, attempt: &mut Attempt, now: u64) -> Outcome {
    // The peer was there, so its silence before does not count.
    (attempt.since, attempt.waiting) = (0, Patience::default());
    if now < attempt.until {
        // Tried before the time was over, as a receive may have been posted; that is free.
        return Outcome::Wait { until: attempt.until };
    }
    let most = operation.attr.rnr_retry;
    if most < RNR_FOREVER && attempt.rnr_retries >= u32::from(most) {
        // The queue of a process that is no more says nothing.
        if !operation.peer.is_some_and(Peer::is_alive_now) {
            return silence(operation, attempt, now);
        }
        explain!(
            "urxe: QP {:#x}, wr_id {:#x}: QP {:#x} has no receive, after {} tries {} ns apart",
            operation.qp.number,
            operation.wqe.wr_id,
            operation.attr.dest_qp_num,
            attempt.rnr_retries + 1,
            rnr_nanoseconds(timer),
        );
        return failure(IBV_WC_RNR_RETRY_EXC_ERR, Reason::NoReceive);
    }
    attempt.rnr_retries = attempt.rnr_retries.saturating_add(1);
    attempt.until = now.saturating_add(rnr_nanoseconds(timer));
    Outcome::Wait { until: attempt.until }
}

/// How often a request is tried, and how long that takes in all; for ever without a time-out.
fn time_outs(attr: &ibv_qp_attr) -> (u64, u64) {
    let tries = u64::from(attr.retry_cnt).saturating_add(1);
    match attr.timeout & 0x1f {
        0 => (tries, u64::MAX),
        // 4.096 microseconds times a power of two.
        timeout => (tries, (4096_u64 << timeout).saturating_mul(tries)),
    }
}

/// The peer is there: an adapter would answer, however little time its process gets. So the request
/// waits longer than the time-outs, but not for ever, as the process may have been stopped.
fn busy(operation: &Operation<'_>, reliable: bool, attempt: &mut Attempt, now: u64) -> Outcome {
    attempt.since = 0;
    let most = if reliable { time_outs(operation.attr).1.max(PATIENCE) } else { PATIENCE };
    if !attempt.waiting.is_over(most) {
        attempt.until = now.saturating_add(LOOK_AGAIN);
        return Outcome::Wait { until: attempt.until };
    }
    explain!(
        "urxe: QP {:#x}, wr_id {:#x}: the process in slot {} lives, but has not got done with \
         something for {} s: it may be stopped",
        operation.qp.number,
        operation.wqe.wr_id,
        operation.peer.map_or(0, Peer::slot),
        most / 1_000_000_000,
    );
    given_up(operation, reliable)
}

/// The peer is there and does not get done: that is as if it did not answer. Whether a message of an
/// unreliable service arrives nobody is told.
fn given_up(operation: &Operation<'_>, reliable: bool) -> Outcome {
    if reliable {
        failure(IBV_WC_RETRY_EXC_ERR, Reason::NoAnswer)
    } else {
        Outcome::Done(Done::success(operation.byte_len()))
    }
}

/// No answer: until the time of `retry_cnt` and one tries is over.
fn silence(operation: &Operation<'_>, attempt: &mut Attempt, now: u64) -> Outcome {
    if attempt.since == 0 {
        attempt.since = now.max(1);
    }
    let (tries, patience) = time_outs(operation.attr);
    let end = attempt.since.saturating_add(patience);
    if now >= end {
        explain!(
            "urxe: QP {:#x}, wr_id {:#x}: no answer of QP {:#x} in {tries} times {} ns",
            operation.qp.number,
            operation.wqe.wr_id,
            operation.attr.dest_qp_num,
            patience / tries,
        );
        return failure(IBV_WC_RETRY_EXC_ERR, Reason::NoAnswer);
    }
    attempt.until = end.min(now.saturating_add(LOOK_AGAIN));
    Outcome::Wait { until: attempt.until }
}

/// The RNR NAK timer of a code, in nanoseconds. IBTA table 45.
fn rnr_nanoseconds(code: u32) -> u64 {
    /// In units of 10 microseconds.
    const TIMES: [u32; 32] = [
        65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
        1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
    ];
    u64::from(TIMES[(code & 31) as usize]) * 10_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_of_the_standard() {
        for (code, microseconds) in
            [(0, 655_360), (1, 10), (5, 60), (12, 640), (14, 1280), (20, 10_240), (31, 491_520)]
        {
            assert_eq!(rnr_nanoseconds(code), microseconds * 1000, "{code}");
        }
        assert_eq!(rnr_nanoseconds(32), rnr_nanoseconds(0));
    }
}
