//! What a context does before its provider says better: EOPNOTSUPP in the form that each operation
//! returns errors in, and the few operations that have a working default.

use core::ffi::{c_int, c_void};

use crate::abi::*;
use crate::provider_api::buffer::{alloc_buf, free_buf};
use crate::provider_api::memory::reg_mr_ex;
use crate::sys::errno::Errno;

/// The function of a given type that reports "not supported": the error number for functions that
/// return an int, NULL with `errno` for those that return a pointer, nothing for the rest.
trait Unsupported {
    const UNSUPPORTED: Self;
}

macro_rules! unsupported {
    ($($arg:ident)*) => {
        impl<$($arg),*> Unsupported for unsafe extern "C" fn($($arg),*) -> c_int {
            const UNSUPPORTED: Self = {
                unsafe extern "C" fn unsupported<$($arg),*>($(_: $arg),*) -> c_int {
                    Errno::EOPNOTSUPP.0
                }
                unsupported::<$($arg),*>
            };
        }
        impl<$($arg,)* Object> Unsupported for unsafe extern "C" fn($($arg),*) -> *mut Object {
            const UNSUPPORTED: Self = {
                unsafe extern "C" fn unsupported<$($arg,)* Object>($(_: $arg),*) -> *mut Object {
                    Errno::EOPNOTSUPP.store();
                    core::ptr::null_mut()
                }
                unsupported::<$($arg,)* Object>
            };
        }
        impl<$($arg),*> Unsupported for unsafe extern "C" fn($($arg),*) {
            const UNSUPPORTED: Self = {
                unsafe extern "C" fn unsupported<$($arg),*>($(_: $arg),*) {}
                unsupported::<$($arg),*>
            };
        }
    };
}
unsupported!(A);
unsupported!(A B);
unsupported!(A B C);
unsupported!(A B C D);
unsupported!(A B C D E);
unsupported!(A B C D E F);

/// No opcode of such a device writes data in order. `ibv_query_qp_data_in_order(3)`
unsafe extern "C" fn never_in_order(_: *mut ibv_qp, _: ibv_wr_opcode, _: u32) -> c_int {
    0
}

/// -1 with `errno`. `ibv_dm_export_dmabuf_fd(3)`
unsafe extern "C" fn no_dmabuf_of_dm(_: *mut ibv_dm) -> c_int {
    Errno::EOPNOTSUPP.store();
    -1
}

/// The negative code for "nothing was changed", with `errno`. `ibv_rereg_mr(3)`
unsafe extern "C" fn no_rereg_mr(
    _: *mut verbs_mr,
    _: c_int,
    _: *mut ibv_pd,
    _: *mut c_void,
    _: usize,
    _: c_int,
) -> c_int {
    Errno::EOPNOTSUPP.store();
    IBV_REREG_MR_ERR_INPUT
}

/// The operations of a context whose provider has set none.
pub(crate) const DEFAULT_OPS: verbs_context_ops = verbs_context_ops {
    advise_mr: Some(Unsupported::UNSUPPORTED),
    alloc_buf: Some(alloc_buf),
    alloc_dm: Some(Unsupported::UNSUPPORTED),
    alloc_dmah: Some(Unsupported::UNSUPPORTED),
    alloc_mw: Some(Unsupported::UNSUPPORTED),
    alloc_null_mr: Some(Unsupported::UNSUPPORTED),
    alloc_parent_domain: Some(Unsupported::UNSUPPORTED),
    alloc_pd: Some(Unsupported::UNSUPPORTED),
    alloc_td: Some(Unsupported::UNSUPPORTED),
    async_event: Some(Unsupported::UNSUPPORTED),
    attach_counters_point_flow: Some(Unsupported::UNSUPPORTED),
    attach_mcast: Some(Unsupported::UNSUPPORTED),
    bind_mw: Some(Unsupported::UNSUPPORTED),
    close_xrcd: Some(Unsupported::UNSUPPORTED),
    cq_event: Some(Unsupported::UNSUPPORTED),
    create_ah: Some(Unsupported::UNSUPPORTED),
    create_comp_cntr: Some(Unsupported::UNSUPPORTED),
    create_counters: Some(Unsupported::UNSUPPORTED),
    create_cq: Some(Unsupported::UNSUPPORTED),
    create_cq_ex: Some(Unsupported::UNSUPPORTED),
    create_flow: Some(Unsupported::UNSUPPORTED),
    create_flow_action_esp: Some(Unsupported::UNSUPPORTED),
    create_qp: Some(Unsupported::UNSUPPORTED),
    create_qp_ex: Some(Unsupported::UNSUPPORTED),
    create_rwq_ind_table: Some(Unsupported::UNSUPPORTED),
    create_srq: Some(Unsupported::UNSUPPORTED),
    create_srq_ex: Some(Unsupported::UNSUPPORTED),
    create_wq: Some(Unsupported::UNSUPPORTED),
    dealloc_dmah: Some(Unsupported::UNSUPPORTED),
    dealloc_mw: Some(Unsupported::UNSUPPORTED),
    dealloc_pd: Some(Unsupported::UNSUPPORTED),
    dealloc_td: Some(Unsupported::UNSUPPORTED),
    dereg_mr: Some(Unsupported::UNSUPPORTED),
    destroy_ah: Some(Unsupported::UNSUPPORTED),
    destroy_comp_cntr: Some(Unsupported::UNSUPPORTED),
    destroy_counters: Some(Unsupported::UNSUPPORTED),
    destroy_cq: Some(Unsupported::UNSUPPORTED),
    destroy_flow: Some(Unsupported::UNSUPPORTED),
    destroy_flow_action: Some(Unsupported::UNSUPPORTED),
    destroy_qp: Some(Unsupported::UNSUPPORTED),
    destroy_rwq_ind_table: Some(Unsupported::UNSUPPORTED),
    destroy_srq: Some(Unsupported::UNSUPPORTED),
    destroy_wq: Some(Unsupported::UNSUPPORTED),
    detach_mcast: Some(Unsupported::UNSUPPORTED),
    dm_export_dmabuf_fd: Some(no_dmabuf_of_dm),
    free_buf: Some(free_buf),
    free_context: Some(Unsupported::UNSUPPORTED),
    free_dm: Some(Unsupported::UNSUPPORTED),
    get_srq_num: Some(Unsupported::UNSUPPORTED),
    import_dm: Some(Unsupported::UNSUPPORTED),
    import_mr: Some(Unsupported::UNSUPPORTED),
    import_pd: Some(Unsupported::UNSUPPORTED),
    inc_comp_cntr: Some(Unsupported::UNSUPPORTED),
    inc_err_comp_cntr: Some(Unsupported::UNSUPPORTED),
    modify_cq: Some(Unsupported::UNSUPPORTED),
    modify_flow_action_esp: Some(Unsupported::UNSUPPORTED),
    modify_qp: Some(Unsupported::UNSUPPORTED),
    modify_qp_rate_limit: Some(Unsupported::UNSUPPORTED),
    modify_srq: Some(Unsupported::UNSUPPORTED),
    modify_wq: Some(Unsupported::UNSUPPORTED),
    open_qp: Some(Unsupported::UNSUPPORTED),
    open_xrcd: Some(Unsupported::UNSUPPORTED),
    poll_cq: Some(Unsupported::UNSUPPORTED),
    post_recv: Some(Unsupported::UNSUPPORTED),
    post_send: Some(Unsupported::UNSUPPORTED),
    post_srq_ops: Some(Unsupported::UNSUPPORTED),
    post_srq_recv: Some(Unsupported::UNSUPPORTED),
    qp_attach_comp_cntr: Some(Unsupported::UNSUPPORTED),
    query_comp_cntr_caps: Some(Unsupported::UNSUPPORTED),
    query_device_ex: Some(Unsupported::UNSUPPORTED),
    query_ece: Some(Unsupported::UNSUPPORTED),
    query_port: Some(Unsupported::UNSUPPORTED),
    query_port_speed: Some(Unsupported::UNSUPPORTED),
    query_qp: Some(Unsupported::UNSUPPORTED),
    query_qp_data_in_order: Some(never_in_order),
    query_rt_values: Some(Unsupported::UNSUPPORTED),
    query_srq: Some(Unsupported::UNSUPPORTED),
    read_comp_cntr: Some(Unsupported::UNSUPPORTED),
    read_counters: Some(Unsupported::UNSUPPORTED),
    read_err_comp_cntr: Some(Unsupported::UNSUPPORTED),
    reg_dm_mr: Some(Unsupported::UNSUPPORTED),
    reg_dmabuf_mr: Some(Unsupported::UNSUPPORTED),
    reg_mr: Some(Unsupported::UNSUPPORTED),
    reg_mr_ex: Some(reg_mr_ex),
    req_notify_cq: Some(Unsupported::UNSUPPORTED),
    rereg_mr: Some(no_rereg_mr),
    resize_cq: Some(Unsupported::UNSUPPORTED),
    set_comp_cntr: Some(Unsupported::UNSUPPORTED),
    set_ece: Some(Unsupported::UNSUPPORTED),
    set_err_comp_cntr: Some(Unsupported::UNSUPPORTED),
    unimport_dm: Some(Unsupported::UNSUPPORTED),
    unimport_mr: Some(Unsupported::UNSUPPORTED),
    unimport_pd: Some(Unsupported::UNSUPPORTED),
};
