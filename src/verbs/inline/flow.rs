//! Flow steering and its counters.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::verbs::inline::through_slot;

through_slot! {
    /// Steers packets to a QP; NULL with `errno` on failure. `ibv_create_flow(3)`
    fn ibv_create_flow(qp: *mut ibv_qp, flow: *mut ibv_flow_attr) -> *mut ibv_flow:
        (*qp).context => ibv_create_flow;

    /// Ends the steering. Returns 0 or an error number. `ibv_destroy_flow(3)`
    fn ibv_destroy_flow(flow: *mut ibv_flow) -> c_int: (*flow).context => ibv_destroy_flow;

    /// Creates an IPsec action; NULL with `errno` on failure. `ibv_create_flow_action_esp(3)`
    fn ibv_create_flow_action_esp(
        context: *mut ibv_context,
        esp: *mut ibv_flow_action_esp_attr
    ) -> *mut ibv_flow_action: context => create_flow_action_esp;

    /// Changes an IPsec action. Returns 0 or an error number. `ibv_modify_flow_action_esp(3)`
    fn ibv_modify_flow_action_esp(
        action: *mut ibv_flow_action,
        esp: *mut ibv_flow_action_esp_attr
    ) -> c_int: (*action).context => modify_flow_action_esp;

    /// Destroys an action. Returns 0 or an error number. `ibv_destroy_flow_action(3)`
    fn ibv_destroy_flow_action(action: *mut ibv_flow_action) -> c_int:
        (*action).context => destroy_flow_action;

    /// Creates counters; NULL with `errno` on failure. `ibv_create_counters(3)`
    fn ibv_create_counters(
        context: *mut ibv_context,
        attr: *mut ibv_counters_init_attr
    ) -> *mut ibv_counters: context => create_counters;

    /// Destroys counters. Returns 0 or an error number. `ibv_destroy_counters(3)`
    fn ibv_destroy_counters(counters: *mut ibv_counters) -> c_int:
        (*counters).context => destroy_counters;

    /// Lets counters count what a flow steers. Returns 0 or an error number.
    /// `ibv_attach_counters_point_flow(3)`
    fn ibv_attach_counters_point_flow(
        counters: *mut ibv_counters,
        attr: *mut ibv_counter_attach_attr,
        flow: *mut ibv_flow
    ) -> c_int: (*counters).context => attach_counters_point_flow;

    /// Stores the values of `ncounters` counters. Returns 0 or an error number.
    /// `ibv_read_counters(3)`
    fn ibv_read_counters(
        counters: *mut ibv_counters,
        counters_value: *mut u64,
        ncounters: u32,
        flags: u32
    ) -> c_int: (*counters).context => read_counters;
}
