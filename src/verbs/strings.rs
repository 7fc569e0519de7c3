//! Texts for the values of some enums (`ibv_event_type_str(3)`). Programs print and compare them,
//! so each is exactly what rdma-core's library says.

use core::ffi::{CStr, c_char};
use core::ptr;

use crate::abi::export::{export, export_private};
use crate::abi::*;

/// Texts by value; `None` is a value inside the range that has no text, for which programs get
/// NULL.
type Texts = [Option<&'static CStr>];

/// The text of `value`, "unknown" for a value outside the table.
fn text(texts: &Texts, value: impl TryInto<usize>) -> *const c_char {
    let entry = value.try_into().ok().and_then(|place: usize| texts.get(place));
    entry.copied().unwrap_or(Some(c"unknown")).map_or(ptr::null(), CStr::as_ptr)
}

static NODE_TYPES: [Option<&CStr>; 8] = [
    Some(c"unknown"),
    Some(c"InfiniBand channel adapter"),
    Some(c"InfiniBand switch"),
    Some(c"InfiniBand router"),
    Some(c"iWARP NIC"),
    Some(c"usNIC"),
    Some(c"usNIC UDP"),
    Some(c"unspecified"),
];

static PORT_STATES: [Option<&CStr>; 6] = [
    Some(c"no state change (NOP)"),
    Some(c"down"),
    Some(c"init"),
    Some(c"armed"),
    Some(c"active"),
    Some(c"active defer"),
];

static EVENT_TYPES: [Option<&CStr>; 21] = [
    Some(c"CQ error"),
    Some(c"local work queue catastrophic error"),
    Some(c"invalid request local work queue error"),
    Some(c"local access violation work queue error"),
    Some(c"communication established"),
    Some(c"send queue drained"),
    Some(c"path migrated"),
    Some(c"path migration request error"),
    Some(c"local catastrophic error"),
    Some(c"port active"),
    Some(c"port error"),
    Some(c"LID change"),
    Some(c"P_Key change"),
    Some(c"SM change"),
    Some(c"SRQ catastrophic error"),
    Some(c"SRQ limit reached"),
    Some(c"last WQE reached"),
    Some(c"client reregistration"),
    Some(c"GID table change"),
    Some(c"WQ fatal"),
    Some(c"Device link speed change"),
];

static WC_STATUSES: [Option<&CStr>; 24] = [
    Some(c"success"),
    Some(c"local length error"),
    Some(c"local QP operation error"),
    Some(c"local EE context operation error"),
    Some(c"local protection error"),
    Some(c"Work Request Flushed Error"),
    Some(c"memory management operation error"),
    Some(c"bad response error"),
    Some(c"local access error"),
    Some(c"remote invalid request error"),
    Some(c"remote access error"),
    Some(c"remote operation error"),
    Some(c"transport retry counter exceeded"),
    Some(c"RNR retry counter exceeded"),
    Some(c"local RDD violation error"),
    Some(c"remote invalid RD request"),
    Some(c"aborted error"),
    Some(c"invalid EE context number"),
    Some(c"invalid EE context state"),
    Some(c"fatal error"),
    Some(c"response timeout error"),
    Some(c"general error"),
    Some(c"TM error"),
    Some(c"TM software rendezvous"),
];

static WR_OPCODES: [Option<&CStr>; 16] = [
    Some(c"rdma-write"),
    Some(c"rdma-write-with-imm"),
    Some(c"send"),
    Some(c"send-with-imm"),
    Some(c"rdma-read"),
    Some(c"atomic-cmp-and-swp"),
    Some(c"atomic-fetch-and-add"),
    Some(c"local-inv"),
    Some(c"bind-mw"),
    Some(c"send-with-inv"),
    Some(c"tso"),
    Some(c"driver1"),
    None,
    None,
    Some(c"flush"),
    Some(c"atomic-write"),
];

/// The kind of a device as text; static, never to be freed. `ibv_event_type_str(3)`
extern "C" fn ibv_node_type_str(node_type: ibv_node_type) -> *const c_char {
    text(&NODE_TYPES, node_type)
}
export!(ibv_node_type_str @@ "IBVERBS_1.1");

/// The logical state of a port as text; static, never to be freed. `ibv_event_type_str(3)`
extern "C" fn ibv_port_state_str(state: ibv_port_state) -> *const c_char {
    text(&PORT_STATES, state)
}
export!(ibv_port_state_str @@ "IBVERBS_1.1");

/// An asynchronous event as text; static, never to be freed. `ibv_event_type_str(3)`
extern "C" fn ibv_event_type_str(event: ibv_event_type) -> *const c_char {
    text(&EVENT_TYPES, event)
}
export!(ibv_event_type_str @@ "IBVERBS_1.1");

/// The status of a work completion as text; static, never to be freed. `ibv_event_type_str(3)`
extern "C" fn ibv_wc_status_str(status: ibv_wc_status) -> *const c_char {
    text(&WC_STATUSES, status)
}
export!(ibv_wc_status_str @@ "IBVERBS_1.1");

/// The opcode of a send work request as text; static, never to be freed. `verbs.h: ibv_wr_opcode_str`; NULL for
/// the two reserved opcodes 12 and 13.
extern "C" fn ibv_wr_opcode_str(opcode: ibv_wr_opcode) -> *const c_char {
    text(&WR_OPCODES, opcode)
}
export_private!(ibv_wr_opcode_str);

#[cfg(test)]
mod tests {
    use super::*;

    /// What a function returned, as Rust text.
    fn read(text: *const c_char) -> Option<&'static str> {
        // SAFETY: the functions return NULL or a static C string.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str().unwrap())
    }

    /// Compares the values -2 to 64 and the ends of the type with `expected`, one text a line from
    /// value 0 on ("NULL" for none), "unknown" elsewhere.
    fn check(function: impl Fn(i32) -> *const c_char, expected: &str) {
        let expected: Vec<&str> = expected.trim().lines().map(str::trim).collect();
        for value in (-2..=64).chain([i32::MIN, i32::MAX]) {
            let place = usize::try_from(value).unwrap_or(usize::MAX);
            let text = expected.get(place).copied().unwrap_or("unknown");
            assert_eq!(read(function(value)).unwrap_or("NULL"), text, "value {value}");
        }
    }

    #[test]
    fn node_types() {
        check(
            |value| ibv_node_type_str(value),
            "
             unknown
             InfiniBand channel adapter
             InfiniBand switch
             InfiniBand router
             iWARP NIC
             usNIC
             usNIC UDP
             unspecified",
        );
    }

    #[test]
    fn port_states() {
        check(
            |value| ibv_port_state_str(value as u32),
            "
             no state change (NOP)
             down
             init
             armed
             active
             active defer",
        );
    }

    #[test]
    fn event_types() {
        check(
            |value| ibv_event_type_str(value as u32),
            "
             CQ error
             local work queue catastrophic error
             invalid request local work queue error
             local access violation work queue error
             communication established
             send queue drained
             path migrated
             path migration request error
             local catastrophic error
             port active
             port error
             LID change
             P_Key change
             SM change
             SRQ catastrophic error
             SRQ limit reached
             last WQE reached
             client reregistration
             GID table change
             WQ fatal
             Device link speed change",
        );
    }

    #[test]
    fn wc_statuses() {
        check(
            |value| ibv_wc_status_str(value as u32),
            "
             success
             local length error
             local QP operation error
             local EE context operation error
             local protection error
             Work Request Flushed Error
             memory management operation error
             bad response error
             local access error
             remote invalid request error
             remote access error
             remote operation error
             transport retry counter exceeded
             RNR retry counter exceeded
             local RDD violation error
             remote invalid RD request
             aborted error
             invalid EE context number
             invalid EE context state
             fatal error
             response timeout error
             general error
             TM error
             TM software rendezvous",
        );
    }

    #[test]
    fn wr_opcodes() {
        check(
            |value| ibv_wr_opcode_str(value as u32),
            "
             rdma-write
             rdma-write-with-imm
             send
             send-with-imm
             rdma-read
             atomic-cmp-and-swp
             atomic-fetch-and-add
             local-inv
             bind-mw
             send-with-inv
             tso
             driver1
             NULL
             NULL
             flush
             atomic-write",
        );
    }
}
