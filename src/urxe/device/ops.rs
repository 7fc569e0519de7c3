//! The operations of a context: which function does what.

use crate::abi::*;
use crate::provider_api::DEFAULT_OPS;
use crate::urxe::completion::counter;
use crate::urxe::device::{ah, attributes, context, pd, port};
use crate::urxe::{completion, pair, queue, region, transfer};

/// The table that a plugin would pass to `verbs_set_ops`. What is missing is not supported.
pub(crate) const OPS: verbs_context_ops = verbs_context_ops {
    advise_mr: Some(region::advise_mr),
    alloc_buf: Some(region::alloc_buf),
    alloc_dm: Some(region::alloc_dm),
    alloc_dmah: Some(region::alloc_dmah),
    alloc_mw: Some(region::alloc_mw),
    alloc_null_mr: Some(region::alloc_null_mr),
    alloc_parent_domain: Some(pd::alloc_parent_domain),
    alloc_pd: Some(pd::alloc_pd),
    alloc_td: Some(pd::alloc_td),
    bind_mw: Some(pair::bind_mw),
    close_xrcd: Some(pair::close_xrcd),
    attach_mcast: Some(transfer::attach_mcast),
    create_ah: Some(ah::create_ah),
    create_comp_cntr: Some(counter::create_comp_cntr),
    create_cq: Some(completion::create_cq),
    create_cq_ex: Some(completion::create_cq_ex),
    create_qp: Some(pair::create_qp),
    create_qp_ex: Some(pair::create_qp_ex),
    create_srq: Some(queue::create_srq),
    create_srq_ex: Some(queue::create_srq_ex),
    dealloc_dmah: Some(region::dealloc_dmah),
    dealloc_mw: Some(region::dealloc_mw),
    dealloc_pd: Some(pd::dealloc_pd),
    dealloc_td: Some(pd::dealloc_td),
    dereg_mr: Some(region::dereg_mr),
    destroy_ah: Some(ah::destroy_ah),
    destroy_comp_cntr: Some(counter::destroy_comp_cntr),
    destroy_cq: Some(completion::destroy_cq),
    destroy_qp: Some(pair::destroy_qp),
    destroy_srq: Some(queue::destroy_srq),
    detach_mcast: Some(transfer::detach_mcast),
    dm_export_dmabuf_fd: Some(region::dm_export_dmabuf_fd),
    free_buf: Some(region::free_buf),
    free_context: Some(context::free_context),
    free_dm: Some(region::free_dm),
    get_srq_num: Some(queue::get_srq_num),
    import_dm: Some(region::import_dm),
    import_mr: Some(region::import_mr),
    import_pd: Some(pd::import_pd),
    inc_comp_cntr: Some(counter::inc_comp_cntr),
    inc_err_comp_cntr: Some(counter::inc_err_comp_cntr),
    modify_cq: Some(completion::modify_cq),
    modify_qp: Some(pair::modify_qp),
    modify_srq: Some(queue::modify_srq),
    open_qp: Some(pair::open_qp),
    open_xrcd: Some(pair::open_xrcd),
    poll_cq: Some(completion::poll_cq),
    post_recv: Some(pair::post_recv),
    post_send: Some(pair::post_send),
    post_srq_recv: Some(queue::post_srq_recv),
    qp_attach_comp_cntr: Some(pair::qp_attach_comp_cntr),
    query_comp_cntr_caps: Some(counter::query_comp_cntr_caps),
    query_device_ex: Some(attributes::query_device_ex),
    query_port: Some(port::query_port),
    query_port_speed: Some(port::query_port_speed),
    query_qp: Some(pair::query_qp),
    query_qp_data_in_order: Some(pair::query_qp_data_in_order),
    query_rt_values: Some(attributes::query_rt_values),
    query_srq: Some(queue::query_srq),
    read_comp_cntr: Some(counter::read_comp_cntr),
    read_err_comp_cntr: Some(counter::read_err_comp_cntr),
    reg_dm_mr: Some(region::reg_dm_mr),
    reg_dmabuf_mr: Some(region::reg_dmabuf_mr),
    reg_mr: Some(region::reg_mr),
    reg_mr_ex: Some(region::reg_mr_ex),
    req_notify_cq: Some(completion::req_notify_cq),
    rereg_mr: Some(region::rereg_mr),
    resize_cq: Some(completion::resize_cq),
    set_comp_cntr: Some(counter::set_comp_cntr),
    set_err_comp_cntr: Some(counter::set_err_comp_cntr),
    unimport_dm: Some(region::unimport_dm),
    unimport_mr: Some(region::unimport_mr),
    unimport_pd: Some(pd::unimport_pd),
    ..DEFAULT_OPS
};

#[cfg(test)]
mod tests {
    use core::ptr::{null, null_mut};

    use super::*;
    use crate::provider_api::call_op;
    use crate::sys::errno::Errno;
    use crate::urxe::device::Opened;

    /// What a device without a feature answers, and does not claim to have.
    #[test]
    fn what_is_not_there_is_not_supported_and_not_claimed() {
        let opened = Opened::new();
        let context = opened.get();
        let none = |object: bool| assert!(object && Errno::last() == Errno::EOPNOTSUPP);
        // SAFETY: a live context; what is not supported looks at nothing else.
        unsafe {
            let (mut flow, mut counters) =
                (ibv_flow_attr::zeroed(), ibv_counters_init_attr::zeroed());
            let mut qp = ibv_qp { context, ..ibv_qp::zeroed() };
            none(call_op!(context, create_flow(&mut qp, &mut flow)).is_null());
            none(call_op!(context, create_counters(context, &mut counters)).is_null());
            none(call_op!(context, create_wq(context, null_mut())).is_null());
            none(call_op!(context, create_rwq_ind_table(context, null_mut())).is_null());
            none(call_op!(context, create_flow_action_esp(context, null_mut())).is_null());
            let mut srq = ibv_srq { context, ..ibv_srq::zeroed() };
            let status = call_op!(context, post_srq_ops(&mut srq, null_mut(), null_mut()));
            assert_eq!(status, libc::EOPNOTSUPP);
            assert_eq!(call_op!(context, set_ece(&mut qp, null_mut())), libc::EOPNOTSUPP);
            assert_eq!(call_op!(context, query_ece(&mut qp, null_mut())), libc::EOPNOTSUPP);
            let mut attr = ibv_qp_init_attr_ex { qp_type: IBV_QPT_RAW_PACKET, ..Plain::zeroed() };
            none(call_op!(context, create_qp_ex(context, &mut attr)).is_null());
            attr.qp_type = IBV_QPT_UD;
            for member in [
                IBV_QP_INIT_ATTR_MAX_TSO_HEADER,
                IBV_QP_INIT_ATTR_IND_TABLE,
                IBV_QP_INIT_ATTR_RX_HASH,
            ] {
                attr.comp_mask = member;
                none(call_op!(context, create_qp_ex(context, &mut attr)).is_null());
            }
            let mut attr = ibv_srq_init_attr_ex {
                comp_mask: IBV_SRQ_INIT_ATTR_TYPE,
                srq_type: IBV_SRQT_TM,
                ..Plain::zeroed()
            };
            none(call_op!(context, create_srq_ex(context, &mut attr)).is_null());
            let mut attr = ibv_device_attr_ex::zeroed();
            let size = size_of_val(&attr);
            assert_eq!(call_op!(context, query_device_ex(context, null(), &mut attr, size)), 0);
            assert_eq!((attr.tso_caps.max_tso, attr.tso_caps.supported_qpts), (0, 0));
            assert_eq!((attr.rss_caps.supported_qpts, attr.max_wq_type_rq), (0, 0));
            assert_eq!((attr.tm_caps.max_num_tags, attr.raw_packet_caps), (0, 0));
            assert_eq!(attr.orig_attr.max_raw_ethy_qp, 0);
            let flow_steering = u64::from(IBV_DEVICE_MANAGED_FLOW_STEERING);
            assert_eq!(attr.device_cap_flags_ex & flow_steering, 0);
        }
    }
}
