//! Completion queues.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::verbs::inline::{through_public_slot, through_slot};

through_public_slot! {
    /// Takes up to `num_entries` completions off a CQ. Returns their number, or a negative one on
    /// failure. `ibv_poll_cq(3)`
    fn ibv_poll_cq(cq: *mut ibv_cq, num_entries: c_int, wc: *mut ibv_wc) -> c_int:
        (*cq).context => poll_cq;

    /// Asks for an event at the next completion, or the next solicited one. Returns 0 or an error
    /// number. `ibv_req_notify_cq(3)`
    fn ibv_req_notify_cq(cq: *mut ibv_cq, solicited_only: c_int) -> c_int:
        (*cq).context => req_notify_cq;
}

through_slot! {
    /// Creates an extended CQ; NULL with `errno` on failure. `ibv_create_cq_ex(3)`
    fn ibv_create_cq_ex(
        context: *mut ibv_context,
        attr: *mut ibv_cq_init_attr_ex
    ) -> *mut ibv_cq_ex: context => create_cq_ex;

    /// Changes the moderation of a CQ's events. Returns 0 or an error number. `ibv_modify_cq(3)`
    fn ibv_modify_cq(cq: *mut ibv_cq, attr: *mut ibv_modify_cq_attr) -> c_int:
        (*cq).context => modify_cq;
}
