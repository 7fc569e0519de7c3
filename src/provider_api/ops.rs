//! The operations of a context: where a provider's functions are stored.

use core::mem::offset_of;

use crate::abi::*;
use crate::provider_api::private::{ContextPrivate, member};

/// Calls `$then! { op => place; ... }` with every operation of the newest private ABI and the place
/// where inlines of the public header (or programs older than the extended context) look for it:
///
/// * `extended slot`: a slot of `struct verbs_context`;
/// * `public slot`: a slot of `ibv_context.ops`;
/// * `legacy slot`: a slot of `ibv_context.ops` that today's headers call `_compat_*` and whose
///   type they hide;
/// * `none`: the library's table alone.
macro_rules! with_ops {
    ($then:ident) => {
        $then! {
            advise_mr => extended advise_mr;
            alloc_buf => extended alloc_buf;
            alloc_dm => extended alloc_dm;
            alloc_dmah => extended alloc_dmah;
            alloc_mw => public alloc_mw;
            alloc_null_mr => extended alloc_null_mr;
            alloc_parent_domain => extended alloc_parent_domain;
            alloc_pd => legacy _compat_alloc_pd;
            alloc_td => extended alloc_td;
            async_event => legacy _compat_async_event;
            attach_counters_point_flow => extended attach_counters_point_flow;
            attach_mcast => legacy _compat_attach_mcast;
            bind_mw => public bind_mw;
            close_xrcd => extended close_xrcd;
            cq_event => legacy _compat_cq_event;
            create_ah => legacy _compat_create_ah;
            create_comp_cntr => none;
            create_counters => extended create_counters;
            create_cq => legacy _compat_create_cq;
            create_cq_ex => none;
            create_flow => extended ibv_create_flow;
            create_flow_action_esp => extended create_flow_action_esp;
            create_qp => legacy _compat_create_qp;
            create_qp_ex => extended create_qp_ex;
            create_rwq_ind_table => extended create_rwq_ind_table;
            create_srq => legacy _compat_create_srq;
            create_srq_ex => extended create_srq_ex;
            create_wq => extended create_wq;
            dealloc_dmah => extended dealloc_dmah;
            dealloc_mw => public dealloc_mw;
            dealloc_pd => legacy _compat_dealloc_pd;
            dealloc_td => extended dealloc_td;
            dereg_mr => legacy _compat_dereg_mr;
            destroy_ah => legacy _compat_destroy_ah;
            destroy_comp_cntr => none;
            destroy_counters => extended destroy_counters;
            destroy_cq => legacy _compat_destroy_cq;
            destroy_flow => extended ibv_destroy_flow;
            destroy_flow_action => extended destroy_flow_action;
            destroy_qp => legacy _compat_destroy_qp;
            destroy_rwq_ind_table => extended destroy_rwq_ind_table;
            destroy_srq => legacy _compat_destroy_srq;
            destroy_wq => extended destroy_wq;
            detach_mcast => legacy _compat_detach_mcast;
            dm_export_dmabuf_fd => extended dm_export_dmabuf_fd;
            free_buf => extended free_buf;
            free_context => none;
            free_dm => extended free_dm;
            get_srq_num => extended get_srq_num;
            import_dm => none;
            import_mr => none;
            import_pd => none;
            inc_comp_cntr => none;
            inc_err_comp_cntr => none;
            modify_cq => extended modify_cq;
            modify_flow_action_esp => extended modify_flow_action_esp;
            modify_qp => legacy _compat_modify_qp;
            modify_qp_rate_limit => extended modify_qp_rate_limit;
            modify_srq => legacy _compat_modify_srq;
            modify_wq => extended modify_wq;
            open_qp => extended open_qp;
            open_xrcd => extended open_xrcd;
            poll_cq => public poll_cq;
            post_recv => public post_recv;
            post_send => public post_send;
            post_srq_ops => extended post_srq_ops;
            post_srq_recv => public post_srq_recv;
            qp_attach_comp_cntr => none;
            query_comp_cntr_caps => none;
            query_device_ex => extended query_device_ex;
            query_ece => none;
            query_port => none;
            query_port_speed => none;
            query_qp => legacy _compat_query_qp;
            query_qp_data_in_order => none;
            query_rt_values => extended query_rt_values;
            query_srq => legacy _compat_query_srq;
            read_comp_cntr => none;
            read_counters => extended read_counters;
            read_err_comp_cntr => none;
            reg_dm_mr => extended reg_dm_mr;
            reg_dmabuf_mr => none;
            reg_mr => legacy _compat_reg_mr;
            reg_mr_ex => extended reg_mr_ex;
            req_notify_cq => public req_notify_cq;
            rereg_mr => legacy _compat_rereg_mr;
            resize_cq => legacy _compat_resize_cq;
            set_comp_cntr => none;
            set_ece => none;
            set_err_comp_cntr => none;
            unimport_dm => none;
            unimport_mr => none;
            unimport_pd => none;
        }
    };
}

#[cfg(test)]
pub(super) use with_ops;

/// Stores every operation that is given (non-NULL) in the library's table and in the place where
/// inline functions look for it, if the context has that place. `driver.h: verbs_set_ops`.
///
/// # Safety
///
/// `context` must be a set-up context that no other thread uses meanwhile.
pub(crate) unsafe fn set_ops(context: *mut ibv_context, given: &verbs_context_ops) {
    // SAFETY: the caller's promise; no reference to the private part is alive.
    let private = unsafe { &mut *member!(context, priv_).read().cast::<ContextPrivate>() };
    let (table, layout) = (&mut private.ops, private.layout);
    macro_rules! store {
        ($($op:ident => $place:ident $($slot:ident)?;)*) => {
            $(if given.$op.is_some() {
                table.$op = given.$op;
                store!(@ $place $($slot)?, $op);
            })*
        };
        (@ extended $slot:ident, $op:ident) => {
            if layout.has_slot(offset_of!(verbs_context, $slot)) {
                // SAFETY: the caller's promise; the context has the slot.
                unsafe { member!(context, $slot).write(given.$op) }
            }
        };
        (@ public $slot:ident, $op:ident) => {
            // SAFETY: the caller's promise.
            unsafe { (*context).ops.$slot = given.$op }
        };
        (@ legacy $slot:ident, $op:ident) => {
            // SAFETY: the caller's promise; only programs that know the real type call the slot.
            unsafe {
                (*context).ops.$slot = core::mem::transmute_copy(&given.$op);
            }
        };
        (@ none, $op:ident) => {};
    }
    with_ops!(store);
}
