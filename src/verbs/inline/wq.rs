//! Work queues and their indirection tables.

use core::ffi::c_int;
use core::ptr;

use crate::abi::export::export;
use crate::abi::*;
use crate::verbs::inline::{slot, through_slot, unsupported};

through_slot! {
    /// Changes a WQ. Returns 0 or an error number. `ibv_modify_wq(3)`
    fn ibv_modify_wq(wq: *mut ibv_wq, attr: *mut ibv_wq_attr) -> c_int:
        (*wq).context => modify_wq;

    /// Destroys a WQ when all its events are acknowledged. Returns 0 or an error number.
    /// `ibv_destroy_wq(3)`
    fn ibv_destroy_wq(wq: *mut ibv_wq) -> c_int: (*wq).context => destroy_wq;

    /// Creates a table of WQs among which packets are spread; NULL with `errno` on failure.
    /// `ibv_create_rwq_ind_table(3)`
    fn ibv_create_rwq_ind_table(
        context: *mut ibv_context,
        attr: *mut ibv_rwq_ind_table_init_attr
    ) -> *mut ibv_rwq_ind_table: context => create_rwq_ind_table;

    /// Destroys an indirection table. Returns 0 or an error number. `ibv_destroy_rwq_ind_table(3)`
    fn ibv_destroy_rwq_ind_table(table: *mut ibv_rwq_ind_table) -> c_int:
        (*table).context => destroy_rwq_ind_table;
}

/// Creates a WQ; NULL with `errno` on failure. `ibv_create_wq(3)`
pub(super) unsafe extern "C" fn ibv_create_wq(
    context: *mut ibv_context,
    attr: *mut ibv_wq_init_attr,
) -> *mut ibv_wq {
    // SAFETY: the caller passes a context and the attributes; the new WQ is known to nobody else.
    unsafe {
        let Some(create_wq) = slot!(context, create_wq) else { return unsupported() };
        let wq = create_wq(context, attr);
        if !wq.is_null() {
            (*wq).wq_context = (*attr).wq_context;
            (*wq).events_completed = 0;
            libc::pthread_mutex_init(&raw mut (*wq).mutex, ptr::null());
            libc::pthread_cond_init(&raw mut (*wq).cond, ptr::null());
        }
        wq
    }
}
export!(ibv_create_wq @@ "IBVERBS_RS_1.0");

/// Posts receive requests to a WQ. Returns 0, or an error number and the first request that was not
/// posted. `ibv_post_wq_recv(3)`
pub(super) unsafe extern "C" fn ibv_post_wq_recv(
    wq: *mut ibv_wq,
    recv_wr: *mut ibv_recv_wr,
    bad_recv_wr: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the caller passes a WQ, requests and room for the bad one.
    unsafe {
        match (*wq).post_recv {
            Some(post_recv) => post_recv(wq, recv_wr, bad_recv_wr),
            None => unsupported(),
        }
    }
}
export!(ibv_post_wq_recv @@ "IBVERBS_RS_1.0");
