//! The table of operations that a provider fills (`infiniband/driver.h`).

use core::ffi::{c_int, c_uint, c_void};

use crate::abi::*;
use crate::uapi::*;

/// The operations of a provider, given to `verbs_set_ops`: one per verb, by the verb's name without
/// `ibv_`.
///
/// NULL leaves what was set before. At first every operation is one of the library, and most of
/// those answer `EOPNOTSUPP`. Operations return what their verb returns.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_context_ops {
    /// `ibv_advise_mr(3)`.
    pub advise_mr: Option<
        unsafe extern "C" fn(
            pd: *mut ibv_pd,
            advice: ib_uverbs_advise_mr_advice,
            flags: u32,
            sg_list: *mut ibv_sge,
            num_sges: u32,
        ) -> c_int,
    >,
    /// `ibv_alloc_buf(3)`; size in bytes. Without it ordinary memory is used.
    pub alloc_buf: Option<
        unsafe extern "C" fn(pd: *mut ibv_pd, size: usize, buf: *mut *mut ibv_buf) -> *mut c_void,
    >,
    /// `ibv_alloc_dm(3)`.
    pub alloc_dm: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            attr: *mut ibv_alloc_dm_attr,
        ) -> *mut ibv_dm,
    >,
    /// `ibv_alloc_dmah(3)`.
    pub alloc_dmah: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            attr: *mut ibv_dmah_init_attr,
        ) -> *mut ibv_dmah,
    >,
    /// `ibv_alloc_mw(3)`.
    pub alloc_mw: Option<unsafe extern "C" fn(pd: *mut ibv_pd, type_: ibv_mw_type) -> *mut ibv_mw>,
    /// `ibv_alloc_null_mr(3)`.
    pub alloc_null_mr: Option<unsafe extern "C" fn(pd: *mut ibv_pd) -> *mut ibv_mr>,
    /// `ibv_alloc_parent_domain(3)`.
    pub alloc_parent_domain: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            attr: *mut ibv_parent_domain_init_attr,
        ) -> *mut ibv_pd,
    >,
    /// `ibv_alloc_pd(3)`.
    pub alloc_pd: Option<unsafe extern "C" fn(context: *mut ibv_context) -> *mut ibv_pd>,
    /// `ibv_alloc_td(3)`.
    pub alloc_td: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            init_attr: *mut ibv_td_init_attr,
        ) -> *mut ibv_td,
    >,
    /// Told of each asynchronous event, after it has been read and before the caller gets it.
    pub async_event:
        Option<unsafe extern "C" fn(context: *mut ibv_context, event: *mut ibv_async_event)>,
    /// `ibv_attach_counters_point_flow(3)`.
    pub attach_counters_point_flow: Option<
        unsafe extern "C" fn(
            counters: *mut ibv_counters,
            attr: *mut ibv_counter_attach_attr,
            flow: *mut ibv_flow,
        ) -> c_int,
    >,
    /// `ibv_attach_mcast(3)`.
    pub attach_mcast:
        Option<unsafe extern "C" fn(qp: *mut ibv_qp, gid: *const ibv_gid, lid: u16) -> c_int>,
    /// `ibv_bind_mw(3)`.
    pub bind_mw: Option<
        unsafe extern "C" fn(qp: *mut ibv_qp, mw: *mut ibv_mw, mw_bind: *mut ibv_mw_bind) -> c_int,
    >,
    /// `ibv_close_xrcd(3)`.
    pub close_xrcd: Option<unsafe extern "C" fn(xrcd: *mut ibv_xrcd) -> c_int>,
    /// Told of each completion event, before the caller gets it.
    pub cq_event: Option<unsafe extern "C" fn(cq: *mut ibv_cq)>,
    /// `ibv_create_ah(3)`.
    pub create_ah:
        Option<unsafe extern "C" fn(pd: *mut ibv_pd, attr: *mut ibv_ah_attr) -> *mut ibv_ah>,
    /// `ibv_create_comp_cntr(3)`.
    pub create_comp_cntr: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            attr: *mut ibv_comp_cntr_init_attr,
        ) -> *mut ibv_comp_cntr,
    >,
    /// `ibv_create_counters(3)`.
    pub create_counters: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            init_attr: *mut ibv_counters_init_attr,
        ) -> *mut ibv_counters,
    >,
    /// `ibv_create_cq(3)`.
    pub create_cq: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            cqe: c_int,
            channel: *mut ibv_comp_channel,
            comp_vector: c_int,
        ) -> *mut ibv_cq,
    >,
    /// `ibv_create_cq_ex(3)`; the library sets the public members afterwards.
    pub create_cq_ex: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            init_attr: *mut ibv_cq_init_attr_ex,
        ) -> *mut ibv_cq_ex,
    >,
    /// `ibv_create_flow(3)`.
    pub create_flow: Option<
        unsafe extern "C" fn(qp: *mut ibv_qp, flow_attr: *mut ibv_flow_attr) -> *mut ibv_flow,
    >,
    /// `ibv_create_flow_action_esp(3)`.
    pub create_flow_action_esp: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            attr: *mut ibv_flow_action_esp_attr,
        ) -> *mut ibv_flow_action,
    >,
    /// `ibv_create_qp(3)`.
    pub create_qp:
        Option<unsafe extern "C" fn(pd: *mut ibv_pd, attr: *mut ibv_qp_init_attr) -> *mut ibv_qp>,
    /// `ibv_create_qp_ex(3)`.
    pub create_qp_ex: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            qp_init_attr_ex: *mut ibv_qp_init_attr_ex,
        ) -> *mut ibv_qp,
    >,
    /// `ibv_create_rwq_ind_table(3)`.
    pub create_rwq_ind_table: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            init_attr: *mut ibv_rwq_ind_table_init_attr,
        ) -> *mut ibv_rwq_ind_table,
    >,
    /// `ibv_create_srq(3)`.
    pub create_srq: Option<
        unsafe extern "C" fn(
            pd: *mut ibv_pd,
            srq_init_attr: *mut ibv_srq_init_attr,
        ) -> *mut ibv_srq,
    >,
    /// `ibv_create_srq_ex(3)`.
    pub create_srq_ex: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            srq_init_attr_ex: *mut ibv_srq_init_attr_ex,
        ) -> *mut ibv_srq,
    >,
    /// `ibv_create_wq(3)`.
    pub create_wq: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            wq_init_attr: *mut ibv_wq_init_attr,
        ) -> *mut ibv_wq,
    >,
    /// `ibv_dealloc_dmah(3)`.
    pub dealloc_dmah: Option<unsafe extern "C" fn(dmah: *mut ibv_dmah) -> c_int>,
    /// `ibv_dealloc_mw(3)`.
    pub dealloc_mw: Option<unsafe extern "C" fn(mw: *mut ibv_mw) -> c_int>,
    /// `ibv_dealloc_pd(3)`.
    pub dealloc_pd: Option<unsafe extern "C" fn(pd: *mut ibv_pd) -> c_int>,
    /// `ibv_dealloc_td(3)`.
    pub dealloc_td: Option<unsafe extern "C" fn(td: *mut ibv_td) -> c_int>,
    /// `ibv_dereg_mr(3)`.
    pub dereg_mr: Option<unsafe extern "C" fn(vmr: *mut verbs_mr) -> c_int>,
    /// `ibv_destroy_ah(3)`.
    pub destroy_ah: Option<unsafe extern "C" fn(ah: *mut ibv_ah) -> c_int>,
    /// `ibv_destroy_comp_cntr(3)`.
    pub destroy_comp_cntr: Option<unsafe extern "C" fn(comp_cntr: *mut ibv_comp_cntr) -> c_int>,
    /// `ibv_destroy_counters(3)`.
    pub destroy_counters: Option<unsafe extern "C" fn(counters: *mut ibv_counters) -> c_int>,
    /// `ibv_destroy_cq(3)`.
    pub destroy_cq: Option<unsafe extern "C" fn(cq: *mut ibv_cq) -> c_int>,
    /// `ibv_destroy_flow(3)`.
    pub destroy_flow: Option<unsafe extern "C" fn(flow: *mut ibv_flow) -> c_int>,
    /// `ibv_destroy_flow_action(3)`.
    pub destroy_flow_action: Option<unsafe extern "C" fn(action: *mut ibv_flow_action) -> c_int>,
    /// `ibv_destroy_qp(3)`.
    pub destroy_qp: Option<unsafe extern "C" fn(qp: *mut ibv_qp) -> c_int>,
    /// `ibv_destroy_rwq_ind_table(3)`.
    pub destroy_rwq_ind_table:
        Option<unsafe extern "C" fn(rwq_ind_table: *mut ibv_rwq_ind_table) -> c_int>,
    /// `ibv_destroy_srq(3)`.
    pub destroy_srq: Option<unsafe extern "C" fn(srq: *mut ibv_srq) -> c_int>,
    /// `ibv_destroy_wq(3)`.
    pub destroy_wq: Option<unsafe extern "C" fn(wq: *mut ibv_wq) -> c_int>,
    /// `ibv_detach_mcast(3)`.
    pub detach_mcast:
        Option<unsafe extern "C" fn(qp: *mut ibv_qp, gid: *const ibv_gid, lid: u16) -> c_int>,
    /// `ibv_dm_export_dmabuf_fd(3)`.
    pub dm_export_dmabuf_fd: Option<unsafe extern "C" fn(dm: *mut ibv_dm) -> c_int>,
    /// `ibv_free_buf(3)`.
    pub free_buf: Option<unsafe extern "C" fn(buf: *mut ibv_buf)>,
    /// Closes the device: `verbs_uninit_context`, then frees the memory; `ibv_close_device(3)`.
    pub free_context: Option<unsafe extern "C" fn(context: *mut ibv_context)>,
    /// `ibv_free_dm(3)`.
    pub free_dm: Option<unsafe extern "C" fn(dm: *mut ibv_dm) -> c_int>,
    /// `ibv_get_srq_num(3)`.
    pub get_srq_num: Option<unsafe extern "C" fn(srq: *mut ibv_srq, srq_num: *mut u32) -> c_int>,
    /// `ibv_import_dm(3)`.
    pub import_dm:
        Option<unsafe extern "C" fn(context: *mut ibv_context, dm_handle: u32) -> *mut ibv_dm>,
    /// `ibv_import_mr(3)`.
    pub import_mr: Option<unsafe extern "C" fn(pd: *mut ibv_pd, mr_handle: u32) -> *mut ibv_mr>,
    /// `ibv_import_pd(3)`.
    pub import_pd:
        Option<unsafe extern "C" fn(context: *mut ibv_context, pd_handle: u32) -> *mut ibv_pd>,
    /// `ibv_inc_comp_cntr(3)`.
    pub inc_comp_cntr:
        Option<unsafe extern "C" fn(comp_cntr: *mut ibv_comp_cntr, amount: u64) -> c_int>,
    /// `ibv_inc_err_comp_cntr(3)`.
    pub inc_err_comp_cntr:
        Option<unsafe extern "C" fn(comp_cntr: *mut ibv_comp_cntr, amount: u64) -> c_int>,
    /// `ibv_modify_cq(3)`.
    pub modify_cq:
        Option<unsafe extern "C" fn(cq: *mut ibv_cq, attr: *mut ibv_modify_cq_attr) -> c_int>,
    /// `ibv_modify_flow_action_esp(3)`.
    pub modify_flow_action_esp: Option<
        unsafe extern "C" fn(
            action: *mut ibv_flow_action,
            attr: *mut ibv_flow_action_esp_attr,
        ) -> c_int,
    >,
    /// `ibv_modify_qp(3)`.
    pub modify_qp: Option<
        unsafe extern "C" fn(qp: *mut ibv_qp, attr: *mut ibv_qp_attr, attr_mask: c_int) -> c_int,
    >,
    /// `ibv_modify_qp_rate_limit(3)`.
    pub modify_qp_rate_limit:
        Option<unsafe extern "C" fn(qp: *mut ibv_qp, attr: *mut ibv_qp_rate_limit_attr) -> c_int>,
    /// `ibv_modify_srq(3)`.
    pub modify_srq: Option<
        unsafe extern "C" fn(
            srq: *mut ibv_srq,
            srq_attr: *mut ibv_srq_attr,
            srq_attr_mask: c_int,
        ) -> c_int,
    >,
    /// `ibv_modify_wq(3)`.
    pub modify_wq:
        Option<unsafe extern "C" fn(wq: *mut ibv_wq, wq_attr: *mut ibv_wq_attr) -> c_int>,
    /// `ibv_open_qp(3)`.
    pub open_qp: Option<
        unsafe extern "C" fn(context: *mut ibv_context, attr: *mut ibv_qp_open_attr) -> *mut ibv_qp,
    >,
    /// `ibv_open_xrcd(3)`.
    pub open_xrcd: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            xrcd_init_attr: *mut ibv_xrcd_init_attr,
        ) -> *mut ibv_xrcd,
    >,
    /// `ibv_poll_cq(3)`.
    pub poll_cq:
        Option<unsafe extern "C" fn(cq: *mut ibv_cq, num_entries: c_int, wc: *mut ibv_wc) -> c_int>,
    /// `ibv_post_recv(3)`.
    pub post_recv: Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp,
            wr: *mut ibv_recv_wr,
            bad_wr: *mut *mut ibv_recv_wr,
        ) -> c_int,
    >,
    /// `ibv_post_send(3)`.
    pub post_send: Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp,
            wr: *mut ibv_send_wr,
            bad_wr: *mut *mut ibv_send_wr,
        ) -> c_int,
    >,
    /// `ibv_post_srq_ops(3)`.
    pub post_srq_ops: Option<
        unsafe extern "C" fn(
            srq: *mut ibv_srq,
            op: *mut ibv_ops_wr,
            bad_op: *mut *mut ibv_ops_wr,
        ) -> c_int,
    >,
    /// `ibv_post_srq_recv(3)`.
    pub post_srq_recv: Option<
        unsafe extern "C" fn(
            srq: *mut ibv_srq,
            recv_wr: *mut ibv_recv_wr,
            bad_recv_wr: *mut *mut ibv_recv_wr,
        ) -> c_int,
    >,
    /// `ibv_qp_attach_comp_cntr(3)`.
    pub qp_attach_comp_cntr: Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp,
            comp_cntr: *mut ibv_comp_cntr,
            attr: *mut ibv_qp_attach_comp_cntr_attr,
        ) -> c_int,
    >,
    /// `ibv_query_comp_cntr_caps(3)`; `caps_size` is the size of the caller's struct.
    pub query_comp_cntr_caps: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            caps: *mut ibv_comp_cntr_caps,
            caps_size: usize,
        ) -> c_int,
    >,
    /// `ibv_query_device_ex(3)` and `ibv_query_device(3)`; `attr_size` is the size of the caller's
    /// struct and may be that of `ibv_device_attr`.
    pub query_device_ex: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            input: *const ibv_query_device_ex_input,
            attr: *mut ibv_device_attr_ex,
            attr_size: usize,
        ) -> c_int,
    >,
    /// `ibv_query_ece(3)`.
    pub query_ece: Option<unsafe extern "C" fn(qp: *mut ibv_qp, ece: *mut ibv_ece) -> c_int>,
    /// `ibv_query_port(3)`; the library narrows the answer for old programs.
    pub query_port: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            port_num: u8,
            port_attr: *mut ibv_port_attr,
        ) -> c_int,
    >,
    /// `ibv_query_port_speed(3)`: speed in units of 100 Mbit/s.
    pub query_port_speed: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            port_num: u32,
            port_speed: *mut u64,
        ) -> c_int,
    >,
    /// `ibv_query_qp(3)`.
    pub query_qp: Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp,
            attr: *mut ibv_qp_attr,
            attr_mask: c_int,
            init_attr: *mut ibv_qp_init_attr,
        ) -> c_int,
    >,
    /// `ibv_query_qp_data_in_order(3)`; always answers with a mask of
    /// `ibv_query_qp_data_in_order_caps`.
    pub query_qp_data_in_order:
        Option<unsafe extern "C" fn(qp: *mut ibv_qp, op: ibv_wr_opcode, flags: u32) -> c_int>,
    /// `ibv_query_rt_values_ex(3)`.
    pub query_rt_values: Option<
        unsafe extern "C" fn(context: *mut ibv_context, values: *mut ibv_values_ex) -> c_int,
    >,
    /// `ibv_query_srq(3)`.
    pub query_srq:
        Option<unsafe extern "C" fn(srq: *mut ibv_srq, srq_attr: *mut ibv_srq_attr) -> c_int>,
    /// `ibv_read_comp_cntr(3)`.
    pub read_comp_cntr:
        Option<unsafe extern "C" fn(comp_cntr: *mut ibv_comp_cntr, value: *mut u64) -> c_int>,
    /// `ibv_read_counters(3)`.
    pub read_counters: Option<
        unsafe extern "C" fn(
            counters: *mut ibv_counters,
            counters_value: *mut u64,
            ncounters: u32,
            flags: u32,
        ) -> c_int,
    >,
    /// `ibv_read_err_comp_cntr(3)`.
    pub read_err_comp_cntr:
        Option<unsafe extern "C" fn(comp_cntr: *mut ibv_comp_cntr, value: *mut u64) -> c_int>,
    /// `ibv_reg_dm_mr(3)`; offset and length in bytes.
    pub reg_dm_mr: Option<
        unsafe extern "C" fn(
            pd: *mut ibv_pd,
            dm: *mut ibv_dm,
            dm_offset: u64,
            length: usize,
            access: c_uint,
        ) -> *mut ibv_mr,
    >,
    /// `ibv_reg_dmabuf_mr(3)`; offset and length in bytes.
    pub reg_dmabuf_mr: Option<
        unsafe extern "C" fn(
            pd: *mut ibv_pd,
            offset: u64,
            length: usize,
            iova: u64,
            fd: c_int,
            access: c_int,
        ) -> *mut ibv_mr,
    >,
    /// `ibv_reg_mr(3)`, `ibv_reg_mr_iova(3)`; `hca_va` is the address that the keys are based on.
    pub reg_mr: Option<
        unsafe extern "C" fn(
            pd: *mut ibv_pd,
            addr: *mut c_void,
            length: usize,
            hca_va: u64,
            access: c_int,
        ) -> *mut ibv_mr,
    >,
    /// `ibv_reg_mr_ex(3)`. Without it `reg_mr` or `reg_dmabuf_mr` is used.
    pub reg_mr_ex: Option<
        unsafe extern "C" fn(pd: *mut ibv_pd, mr_init_attr: *mut ibv_mr_init_attr) -> *mut ibv_mr,
    >,
    /// `ibv_req_notify_cq(3)`.
    pub req_notify_cq:
        Option<unsafe extern "C" fn(cq: *mut ibv_cq, solicited_only: c_int) -> c_int>,
    /// `ibv_rereg_mr(3)`.
    pub rereg_mr: Option<
        unsafe extern "C" fn(
            vmr: *mut verbs_mr,
            flags: c_int,
            pd: *mut ibv_pd,
            addr: *mut c_void,
            length: usize,
            access: c_int,
        ) -> c_int,
    >,
    /// `ibv_resize_cq(3)`.
    pub resize_cq: Option<unsafe extern "C" fn(cq: *mut ibv_cq, cqe: c_int) -> c_int>,
    /// `ibv_set_comp_cntr(3)`.
    pub set_comp_cntr:
        Option<unsafe extern "C" fn(comp_cntr: *mut ibv_comp_cntr, value: u64) -> c_int>,
    /// `ibv_set_ece(3)`.
    pub set_ece: Option<unsafe extern "C" fn(qp: *mut ibv_qp, ece: *mut ibv_ece) -> c_int>,
    /// `ibv_set_err_comp_cntr(3)`.
    pub set_err_comp_cntr:
        Option<unsafe extern "C" fn(comp_cntr: *mut ibv_comp_cntr, value: u64) -> c_int>,
    /// `ibv_unimport_dm(3)`.
    pub unimport_dm: Option<unsafe extern "C" fn(dm: *mut ibv_dm)>,
    /// `ibv_unimport_mr(3)`.
    pub unimport_mr: Option<unsafe extern "C" fn(mr: *mut ibv_mr)>,
    /// `ibv_unimport_pd(3)`.
    pub unimport_pd: Option<unsafe extern "C" fn(pd: *mut ibv_pd)>,
}

plain! {
    verbs_context_ops
}
