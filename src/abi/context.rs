//! Device contexts: the public one and the extended one in front of it (`infiniband/verbs.h`).

use core::ffi::{c_int, c_uint, c_void};

use libc::{pthread_mutex_t, timespec};

use crate::abi::*;
use crate::uapi::*;

/// Size of a name in `ibv_device`, in bytes.
pub const IBV_SYSFS_NAME_MAX: c_uint = 64;
/// Size of a path in `ibv_device`, in bytes.
pub const IBV_SYSFS_PATH_MAX: c_uint = 256;

/// Whether a process may fork while memory is registered, `ibv_is_fork_initialized(3)`.
pub type ibv_fork_status = c_uint;
/// `ibv_fork_init(3)` has not been called: the child must not touch registered pages.
pub const IBV_FORK_DISABLED: ibv_fork_status = 0;
/// Registered ranges are kept out of the child.
pub const IBV_FORK_ENABLED: ibv_fork_status = 1;
/// The kernel copies registered pages when forking: nothing needs doing.
pub const IBV_FORK_UNNEEDED: ibv_fork_status = 2;

/// An open device, `ibv_open_device(3)`. It is the end of a `verbs_context` when `abi_compat` is
/// all ones.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_context {
    /// The device; stays valid as long as the context is open.
    pub device: *mut ibv_device,
    /// Data path functions, called by the inline verbs.
    pub ops: ibv_context_ops,
    /// Descriptor of the device file for commands.
    pub cmd_fd: c_int,
    /// Descriptor of asynchronous events, readable when one waits.
    pub async_fd: c_int,
    /// Interrupt vectors that CQs can choose from.
    pub num_comp_vectors: c_int,
    /// Guards the reference counts of completion channels.
    pub mutex: pthread_mutex_t,
    /// All ones: there is a `verbs_context` around it.
    pub abi_compat: *mut c_void,
}

/// The provider's functions behind the inline verbs. The slots named `_compat_` are called only by
/// programs built against very old headers; the library keeps the matching operation there where
/// one fits.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_context_ops {
    /// `ibv_query_device(3)`.
    pub _compat_query_device: Option<
        unsafe extern "C" fn(context: *mut ibv_context, device_attr: *mut ibv_device_attr) -> c_int,
    >,
    /// `ibv_query_port(3)` with the narrow struct.
    pub _compat_query_port: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            port_num: u8,
            port_attr: *mut _compat_ibv_port_attr,
        ) -> c_int,
    >,
    /// `ibv_alloc_pd(3)`.
    pub _compat_alloc_pd: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_dealloc_pd(3)`.
    pub _compat_dealloc_pd: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_reg_mr(3)`.
    pub _compat_reg_mr: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_rereg_mr(3)`.
    pub _compat_rereg_mr: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_dereg_mr(3)`.
    pub _compat_dereg_mr: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_alloc_mw(3)`; NULL and errno on failure.
    pub alloc_mw: Option<unsafe extern "C" fn(pd: *mut ibv_pd, type_: ibv_mw_type) -> *mut ibv_mw>,
    /// `ibv_bind_mw(3)`; 0 or an errno value.
    pub bind_mw: Option<
        unsafe extern "C" fn(qp: *mut ibv_qp, mw: *mut ibv_mw, mw_bind: *mut ibv_mw_bind) -> c_int,
    >,
    /// `ibv_dealloc_mw(3)`; 0 or an errno value.
    pub dealloc_mw: Option<unsafe extern "C" fn(mw: *mut ibv_mw) -> c_int>,
    /// `ibv_create_cq(3)`.
    pub _compat_create_cq: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_poll_cq(3)`: number of completions written to `wc`, or negative on failure.
    pub poll_cq:
        Option<unsafe extern "C" fn(cq: *mut ibv_cq, num_entries: c_int, wc: *mut ibv_wc) -> c_int>,
    /// `ibv_req_notify_cq(3)`; 0 or an errno value.
    pub req_notify_cq:
        Option<unsafe extern "C" fn(cq: *mut ibv_cq, solicited_only: c_int) -> c_int>,
    /// Told of each completion event.
    pub _compat_cq_event: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_resize_cq(3)`.
    pub _compat_resize_cq: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_destroy_cq(3)`.
    pub _compat_destroy_cq: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_create_srq(3)`.
    pub _compat_create_srq: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_modify_srq(3)`.
    pub _compat_modify_srq: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_query_srq(3)`.
    pub _compat_query_srq: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_destroy_srq(3)`.
    pub _compat_destroy_srq: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_post_srq_recv(3)`; 0, or an errno value and the first request not posted.
    pub post_srq_recv: Option<
        unsafe extern "C" fn(
            srq: *mut ibv_srq,
            recv_wr: *mut ibv_recv_wr,
            bad_recv_wr: *mut *mut ibv_recv_wr,
        ) -> c_int,
    >,
    /// `ibv_create_qp(3)`.
    pub _compat_create_qp: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_query_qp(3)`.
    pub _compat_query_qp: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_modify_qp(3)`.
    pub _compat_modify_qp: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_destroy_qp(3)`.
    pub _compat_destroy_qp: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_post_send(3)`; 0, or an errno value and the first request not posted.
    pub post_send: Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp,
            wr: *mut ibv_send_wr,
            bad_wr: *mut *mut ibv_send_wr,
        ) -> c_int,
    >,
    /// `ibv_post_recv(3)`; 0, or an errno value and the first request not posted.
    pub post_recv: Option<
        unsafe extern "C" fn(
            qp: *mut ibv_qp,
            wr: *mut ibv_recv_wr,
            bad_wr: *mut *mut ibv_recv_wr,
        ) -> c_int,
    >,
    /// `ibv_create_ah(3)`.
    pub _compat_create_ah: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_destroy_ah(3)`.
    pub _compat_destroy_ah: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_attach_mcast(3)`.
    pub _compat_attach_mcast: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// `ibv_detach_mcast(3)`.
    pub _compat_detach_mcast: Option<unsafe extern "C" fn() -> *mut c_void>,
    /// Told of each asynchronous event.
    pub _compat_async_event: Option<unsafe extern "C" fn() -> *mut c_void>,
}

/// Bits of `ibv_values_ex::comp_mask`.
pub type ibv_values_mask = c_uint;
/// `raw_clock`.
pub const IBV_VALUES_MASK_RAW_CLOCK: ibv_values_mask = 1 << 0;
/// First undefined bit.
pub const IBV_VALUES_MASK_RESERVED: ibv_values_mask = 1 << 1;

/// Values of the moment, `ibv_query_rt_values_ex(3)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ibv_values_ex {
    /// In: what is asked for; out: what is set. See `ibv_values_mask`.
    pub comp_mask: u32,
    /// Device clock in ticks, in `tv_nsec`; same clock as completion timestamps.
    pub raw_clock: timespec,
}

/// The extended context: more functions of the provider, called by the inline verbs.
///
/// It grows at its front, so that every slot keeps its distance to `context`. A slot may be called
/// if `sz` covers it and it is not NULL. Functions return what their verb returns.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct verbs_context {
    /// `ibv_free_buf(3)`.
    pub free_buf: Option<unsafe extern "C" fn(buf: *mut ibv_buf)>,
    /// `ibv_alloc_buf(3)`; size in bytes.
    pub alloc_buf: Option<
        unsafe extern "C" fn(pd: *mut ibv_pd, size: usize, buf: *mut *mut ibv_buf) -> *mut c_void,
    >,
    /// `ibv_dm_export_dmabuf_fd(3)`: descriptor, or -1 and errno.
    pub dm_export_dmabuf_fd: Option<unsafe extern "C" fn(dm: *mut ibv_dm) -> c_int>,
    /// `ibv_reg_mr_ex(3)`.
    pub reg_mr_ex: Option<
        unsafe extern "C" fn(pd: *mut ibv_pd, mr_init_attr: *mut ibv_mr_init_attr) -> *mut ibv_mr,
    >,
    /// `ibv_dealloc_dmah(3)`.
    pub dealloc_dmah: Option<unsafe extern "C" fn(dmah: *mut ibv_dmah) -> c_int>,
    /// `ibv_alloc_dmah(3)`.
    pub alloc_dmah: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            attr: *mut ibv_dmah_init_attr,
        ) -> *mut ibv_dmah,
    >,
    /// `ibv_query_port(3)`; `port_attr_len` is the size of the caller's struct.
    pub query_port: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            port_num: u8,
            port_attr: *mut ibv_port_attr,
            port_attr_len: usize,
        ) -> c_int,
    >,
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
    /// `ibv_alloc_null_mr(3)`.
    pub alloc_null_mr: Option<unsafe extern "C" fn(pd: *mut ibv_pd) -> *mut ibv_mr>,
    /// `ibv_read_counters(3)`.
    pub read_counters: Option<
        unsafe extern "C" fn(
            counters: *mut ibv_counters,
            counters_value: *mut u64,
            ncounters: u32,
            flags: u32,
        ) -> c_int,
    >,
    /// `ibv_attach_counters_point_flow(3)`.
    pub attach_counters_point_flow: Option<
        unsafe extern "C" fn(
            counters: *mut ibv_counters,
            attr: *mut ibv_counter_attach_attr,
            flow: *mut ibv_flow,
        ) -> c_int,
    >,
    /// `ibv_create_counters(3)`.
    pub create_counters: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            init_attr: *mut ibv_counters_init_attr,
        ) -> *mut ibv_counters,
    >,
    /// `ibv_destroy_counters(3)`.
    pub destroy_counters: Option<unsafe extern "C" fn(counters: *mut ibv_counters) -> c_int>,
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
    /// `ibv_alloc_dm(3)`.
    pub alloc_dm: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            attr: *mut ibv_alloc_dm_attr,
        ) -> *mut ibv_dm,
    >,
    /// `ibv_free_dm(3)`.
    pub free_dm: Option<unsafe extern "C" fn(dm: *mut ibv_dm) -> c_int>,
    /// `ibv_modify_flow_action_esp(3)`.
    pub modify_flow_action_esp: Option<
        unsafe extern "C" fn(
            action: *mut ibv_flow_action,
            attr: *mut ibv_flow_action_esp_attr,
        ) -> c_int,
    >,
    /// `ibv_destroy_flow_action(3)`.
    pub destroy_flow_action: Option<unsafe extern "C" fn(action: *mut ibv_flow_action) -> c_int>,
    /// `ibv_create_flow_action_esp(3)`.
    pub create_flow_action_esp: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            attr: *mut ibv_flow_action_esp_attr,
        ) -> *mut ibv_flow_action,
    >,
    /// `ibv_modify_qp_rate_limit(3)`.
    pub modify_qp_rate_limit:
        Option<unsafe extern "C" fn(qp: *mut ibv_qp, attr: *mut ibv_qp_rate_limit_attr) -> c_int>,
    /// `ibv_alloc_parent_domain(3)`.
    pub alloc_parent_domain: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            attr: *mut ibv_parent_domain_init_attr,
        ) -> *mut ibv_pd,
    >,
    /// `ibv_dealloc_td(3)`.
    pub dealloc_td: Option<unsafe extern "C" fn(td: *mut ibv_td) -> c_int>,
    /// `ibv_alloc_td(3)`.
    pub alloc_td: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            init_attr: *mut ibv_td_init_attr,
        ) -> *mut ibv_td,
    >,
    /// `ibv_modify_cq(3)`.
    pub modify_cq:
        Option<unsafe extern "C" fn(cq: *mut ibv_cq, attr: *mut ibv_modify_cq_attr) -> c_int>,
    /// `ibv_post_srq_ops(3)`.
    pub post_srq_ops: Option<
        unsafe extern "C" fn(
            srq: *mut ibv_srq,
            op: *mut ibv_ops_wr,
            bad_op: *mut *mut ibv_ops_wr,
        ) -> c_int,
    >,
    /// `ibv_destroy_rwq_ind_table(3)`.
    pub destroy_rwq_ind_table:
        Option<unsafe extern "C" fn(rwq_ind_table: *mut ibv_rwq_ind_table) -> c_int>,
    /// `ibv_create_rwq_ind_table(3)`.
    pub create_rwq_ind_table: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            init_attr: *mut ibv_rwq_ind_table_init_attr,
        ) -> *mut ibv_rwq_ind_table,
    >,
    /// `ibv_destroy_wq(3)`.
    pub destroy_wq: Option<unsafe extern "C" fn(wq: *mut ibv_wq) -> c_int>,
    /// `ibv_modify_wq(3)`.
    pub modify_wq:
        Option<unsafe extern "C" fn(wq: *mut ibv_wq, wq_attr: *mut ibv_wq_attr) -> c_int>,
    /// `ibv_create_wq(3)`.
    pub create_wq: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            wq_init_attr: *mut ibv_wq_init_attr,
        ) -> *mut ibv_wq,
    >,
    /// `ibv_query_rt_values_ex(3)`.
    pub query_rt_values: Option<
        unsafe extern "C" fn(context: *mut ibv_context, values: *mut ibv_values_ex) -> c_int,
    >,
    /// `ibv_create_cq_ex(3)`.
    pub create_cq_ex: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            init_attr: *mut ibv_cq_init_attr_ex,
        ) -> *mut ibv_cq_ex,
    >,
    /// The library's own part; opaque. `priv` in C.
    pub priv_: *mut verbs_ex_private,
    /// `ibv_query_device_ex(3)`; `attr_size` is the size of the caller's struct.
    pub query_device_ex: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            input: *const ibv_query_device_ex_input,
            attr: *mut ibv_device_attr_ex,
            attr_size: usize,
        ) -> c_int,
    >,
    /// `ibv_destroy_flow(3)`.
    pub ibv_destroy_flow: Option<unsafe extern "C" fn(flow: *mut ibv_flow) -> c_int>,
    /// Former place of `ibv_destroy_flow`; filled with the same function.
    pub ABI_placeholder2: Option<unsafe extern "C" fn()>,
    /// `ibv_create_flow(3)`.
    pub ibv_create_flow: Option<
        unsafe extern "C" fn(qp: *mut ibv_qp, flow_attr: *mut ibv_flow_attr) -> *mut ibv_flow,
    >,
    /// Former place of `ibv_create_flow`; filled with the same function.
    pub ABI_placeholder1: Option<unsafe extern "C" fn()>,
    /// `ibv_open_qp(3)`.
    pub open_qp: Option<
        unsafe extern "C" fn(context: *mut ibv_context, attr: *mut ibv_qp_open_attr) -> *mut ibv_qp,
    >,
    /// `ibv_create_qp_ex(3)`.
    pub create_qp_ex: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            qp_init_attr_ex: *mut ibv_qp_init_attr_ex,
        ) -> *mut ibv_qp,
    >,
    /// `ibv_get_srq_num(3)`.
    pub get_srq_num: Option<unsafe extern "C" fn(srq: *mut ibv_srq, srq_num: *mut u32) -> c_int>,
    /// `ibv_create_srq_ex(3)`.
    pub create_srq_ex: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            srq_init_attr_ex: *mut ibv_srq_init_attr_ex,
        ) -> *mut ibv_srq,
    >,
    /// `ibv_open_xrcd(3)`.
    pub open_xrcd: Option<
        unsafe extern "C" fn(
            context: *mut ibv_context,
            xrcd_init_attr: *mut ibv_xrcd_init_attr,
        ) -> *mut ibv_xrcd,
    >,
    /// `ibv_close_xrcd(3)`.
    pub close_xrcd: Option<unsafe extern "C" fn(xrcd: *mut ibv_xrcd) -> c_int>,
    /// Unused.
    pub _ABI_placeholder3: u64,
    /// Size of this struct in bytes as the library knows it.
    pub sz: usize,
    /// The public context.
    pub context: ibv_context,
}

plain! {
    ibv_context, ibv_context_ops, ibv_values_ex, verbs_context
}
