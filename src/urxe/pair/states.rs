//! The states of a queue pair: which moves there are, and what attributes each needs and allows.
//!
//! IBTA volume 1, section 10.3.1 and table "Modify Queue Pair Modifiers"; the same that the kernel
//! checks for its drivers (`ib_modify_qp_is_ok`).

use crate::abi::*;
use crate::sys::errno::Errno;

/// Types to which a line of the table applies.
type Types = u8;
const RC: Types = 1;
const UC: Types = 2;
const UD: Types = 4;
const XS: Types = 8;
const XR: Types = 16;
const CONNECTED: Types = RC | UC | XS | XR;
const ALL: Types = CONNECTED | UD;

/// A move, and what it needs and allows for some types. A move of a type has at most one line.
struct Move {
    from: ibv_qp_state,
    to: ibv_qp_state,
    types: Types,
    needed: u32,
    allowed: u32,
}

const fn line(
    from: ibv_qp_state,
    to: ibv_qp_state,
    types: Types,
    needed: u32,
    allowed: u32,
) -> Move {
    Move { from, to, types, needed, allowed }
}

const PATH: u32 = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
const RESPONDER: u32 = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
const REQUESTER: u32 =
    IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
const PLACE: u32 = IBV_QP_PKEY_INDEX | IBV_QP_PORT;
const ALTERNATIVE: u32 = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS;
const RUNNING: u32 = IBV_QP_CUR_STATE | ALTERNATIVE | IBV_QP_PATH_MIG_STATE;
const RUNNING_UD: u32 = IBV_QP_CUR_STATE | IBV_QP_QKEY;
const DRAINED: u32 = IBV_QP_AV | ALTERNATIVE | IBV_QP_PKEY_INDEX | IBV_QP_PATH_MIG_STATE;
const DRAINED_REQUESTER: u32 =
    IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC | DRAINED_RELIABLE;
const DRAINED_RELIABLE: u32 = DRAINED | IBV_QP_PORT | IBV_QP_TIMEOUT;

/// All moves but those to RESET and ERR, which need and allow nothing.
#[rustfmt::skip]
const MOVES: &[Move] = &[
    line(IBV_QPS_RESET, IBV_QPS_INIT, CONNECTED, PLACE | IBV_QP_ACCESS_FLAGS, 0),
    line(IBV_QPS_RESET, IBV_QPS_INIT, UD, PLACE | IBV_QP_QKEY, 0),

    line(IBV_QPS_INIT, IBV_QPS_INIT, CONNECTED, 0, PLACE | IBV_QP_ACCESS_FLAGS),
    line(IBV_QPS_INIT, IBV_QPS_INIT, UD, 0, PLACE | IBV_QP_QKEY),

    line(IBV_QPS_INIT, IBV_QPS_RTR, RC | XR, PATH | RESPONDER, ALTERNATIVE | IBV_QP_PKEY_INDEX),
    line(IBV_QPS_INIT, IBV_QPS_RTR, UC | XS, PATH, ALTERNATIVE | IBV_QP_PKEY_INDEX),
    line(IBV_QPS_INIT, IBV_QPS_RTR, UD, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY),

    line(IBV_QPS_RTR, IBV_QPS_RTS, RC, REQUESTER, RUNNING | IBV_QP_MIN_RNR_TIMER),
    line(IBV_QPS_RTR, IBV_QPS_RTS, XS, REQUESTER, RUNNING),
    line(IBV_QPS_RTR, IBV_QPS_RTS, XR, IBV_QP_TIMEOUT | IBV_QP_SQ_PSN, RUNNING | IBV_QP_MIN_RNR_TIMER),
    line(IBV_QPS_RTR, IBV_QPS_RTS, UC, IBV_QP_SQ_PSN, RUNNING),
    line(IBV_QPS_RTR, IBV_QPS_RTS, UD, IBV_QP_SQ_PSN, RUNNING_UD),

    line(IBV_QPS_RTS, IBV_QPS_RTS, RC | XR, 0, RUNNING | IBV_QP_MIN_RNR_TIMER),
    line(IBV_QPS_RTS, IBV_QPS_RTS, UC | XS, 0, RUNNING),
    line(IBV_QPS_RTS, IBV_QPS_RTS, UD, 0, RUNNING_UD),

    line(IBV_QPS_RTS, IBV_QPS_SQD, ALL, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY),

    line(IBV_QPS_SQD, IBV_QPS_RTS, RC | XR, 0, RUNNING | IBV_QP_MIN_RNR_TIMER),
    line(IBV_QPS_SQD, IBV_QPS_RTS, UC | XS, 0, RUNNING),
    line(IBV_QPS_SQD, IBV_QPS_RTS, UD, 0, RUNNING_UD),

    line(IBV_QPS_SQD, IBV_QPS_SQD, RC, 0, DRAINED_REQUESTER | RESPONDER),
    line(IBV_QPS_SQD, IBV_QPS_SQD, XS, 0, DRAINED_REQUESTER),
    line(IBV_QPS_SQD, IBV_QPS_SQD, XR, 0, DRAINED_RELIABLE | RESPONDER),
    line(IBV_QPS_SQD, IBV_QPS_SQD, UC, 0, DRAINED),
    line(IBV_QPS_SQD, IBV_QPS_SQD, UD, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY),

    line(IBV_QPS_SQE, IBV_QPS_RTS, UC, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS),
    line(IBV_QPS_SQE, IBV_QPS_RTS, UD, 0, RUNNING_UD),
    line(IBV_QPS_SQE, IBV_QPS_RTS, RC | XS | XR, 0, 0),
];

/// Why a move is refused; the text is for the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    /// There is no such move.
    Move,
    /// Attributes that it needs are not given.
    Missing(u32),
    /// Attributes are given that it does not allow.
    TooMany(u32),
}

impl From<Refused> for Errno {
    fn from(_: Refused) -> Errno {
        Errno::EINVAL
    }
}

/// The attributes of a mask that count for a type: each half of an XRC connection ignores what is
/// for the other, as the kernel does.
pub(super) fn without_ignored(kind: ibv_qp_type, mask: u32) -> u32 {
    mask & !match kind {
        IBV_QPT_XRC_SEND => RESPONDER,
        IBV_QPT_XRC_RECV => IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY,
        _ => 0,
    }
}

/// Whether a QP of a type may move so with the attributes of `mask`.
pub(crate) fn check(
    kind: ibv_qp_type,
    from: ibv_qp_state,
    to: ibv_qp_state,
    mask: u32,
) -> core::result::Result<(), Refused> {
    let (needed, allowed) = rule(kind, from, to).ok_or(Refused::Move)?;
    let missing = needed & !mask;
    let too_many = mask & !(needed | allowed | IBV_QP_STATE);
    match (missing, too_many) {
        (0, 0) => Ok(()),
        (0, _) => Err(Refused::TooMany(too_many)),
        _ => Err(Refused::Missing(missing)),
    }
}

/// The attributes that a move needs, and those that it allows besides; `None` if there is no such
/// move.
fn rule(kind: ibv_qp_type, from: ibv_qp_state, to: ibv_qp_state) -> Option<(u32, u32)> {
    if from > IBV_QPS_ERR {
        return None;
    }
    match to {
        IBV_QPS_RESET => return Some((0, 0)),
        IBV_QPS_ERR => return (from != IBV_QPS_RESET).then_some((0, 0)),
        _ => {}
    }
    let types = match kind {
        IBV_QPT_RC => RC,
        IBV_QPT_UC => UC,
        IBV_QPT_UD => UD,
        IBV_QPT_XRC_SEND => XS,
        IBV_QPT_XRC_RECV => XR,
        _ => return None,
    };
    MOVES
        .iter()
        .find(|line| line.from == from && line.to == to && line.types & types != 0)
        .map(|line| (line.needed, line.allowed))
}

/// Names of the attributes of a mask, for the log.
pub(crate) fn names(mask: u32) -> String {
    const NAMES: [(u32, &str); 22] = [
        (IBV_QP_STATE, "STATE"),
        (IBV_QP_CUR_STATE, "CUR_STATE"),
        (IBV_QP_EN_SQD_ASYNC_NOTIFY, "EN_SQD_ASYNC_NOTIFY"),
        (IBV_QP_ACCESS_FLAGS, "ACCESS_FLAGS"),
        (IBV_QP_PKEY_INDEX, "PKEY_INDEX"),
        (IBV_QP_PORT, "PORT"),
        (IBV_QP_QKEY, "QKEY"),
        (IBV_QP_AV, "AV"),
        (IBV_QP_PATH_MTU, "PATH_MTU"),
        (IBV_QP_TIMEOUT, "TIMEOUT"),
        (IBV_QP_RETRY_CNT, "RETRY_CNT"),
        (IBV_QP_RNR_RETRY, "RNR_RETRY"),
        (IBV_QP_RQ_PSN, "RQ_PSN"),
        (IBV_QP_MAX_QP_RD_ATOMIC, "MAX_QP_RD_ATOMIC"),
        (IBV_QP_ALT_PATH, "ALT_PATH"),
        (IBV_QP_MIN_RNR_TIMER, "MIN_RNR_TIMER"),
        (IBV_QP_SQ_PSN, "SQ_PSN"),
        (IBV_QP_MAX_DEST_RD_ATOMIC, "MAX_DEST_RD_ATOMIC"),
        (IBV_QP_PATH_MIG_STATE, "PATH_MIG_STATE"),
        (IBV_QP_CAP, "CAP"),
        (IBV_QP_DEST_QPN, "DEST_QPN"),
        (IBV_QP_RATE_LIMIT, "RATE_LIMIT"),
    ];
    let mut names: Vec<String> = NAMES
        .iter()
        .filter(|(bit, _)| mask & bit != 0)
        .map(|(_, name)| (*name).to_owned())
        .collect();
    let unknown = mask & !NAMES.iter().fold(0, |all, (bit, _)| all | bit);
    if unknown != 0 {
        names.push(format!("{unknown:#x}"));
    }
    names.join("|")
}

/// Name of a state, for the log.
pub(crate) fn state_name(state: ibv_qp_state) -> &'static str {
    ["RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"].get(state as usize).unwrap_or(&"unknown")
}

#[cfg(test)]
#[path = "states_tests.rs"]
mod tests;
