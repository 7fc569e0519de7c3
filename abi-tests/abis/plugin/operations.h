/*
 * The operations of a provider in the order of its table, which is alphabetical in every release:
 * OPERATION(what it returns, its name, its parameters). To be included with the macro defined.
 */
OPERATION(int, advise_mr,
	  (struct ibv_pd *, enum ibv_advise_mr_advice, uint32_t, struct ibv_sge *, uint32_t))
#if RELEASE >= 64
OPERATION(void *, alloc_buf, (struct ibv_pd *, size_t, struct ibv_buf **))
#endif
OPERATION(struct ibv_dm *, alloc_dm, (struct ibv_context *, struct ibv_alloc_dm_attr *))
#if RELEASE >= 59
OPERATION(struct ibv_dmah *, alloc_dmah, (struct ibv_context *, struct ibv_dmah_init_attr *))
#endif
OPERATION(struct ibv_mw *, alloc_mw, (struct ibv_pd *, enum ibv_mw_type))
OPERATION(struct ibv_mr *, alloc_null_mr, (struct ibv_pd *))
OPERATION(struct ibv_pd *, alloc_parent_domain,
	  (struct ibv_context *, struct ibv_parent_domain_init_attr *))
OPERATION(struct ibv_pd *, alloc_pd, (struct ibv_context *))
OPERATION(struct ibv_td *, alloc_td, (struct ibv_context *, struct ibv_td_init_attr *))
OPERATION(void, async_event, (struct ibv_context *, struct ibv_async_event *))
OPERATION(int, attach_counters_point_flow,
	  (struct ibv_counters *, struct ibv_counter_attach_attr *, struct ibv_flow *))
OPERATION(int, attach_mcast, (struct ibv_qp *, const union ibv_gid *, uint16_t))
OPERATION(int, bind_mw, (struct ibv_qp *, struct ibv_mw *, struct ibv_mw_bind *))
OPERATION(int, close_xrcd, (struct ibv_xrcd *))
OPERATION(void, cq_event, (struct ibv_cq *))
OPERATION(struct ibv_ah *, create_ah, (struct ibv_pd *, struct ibv_ah_attr *))
#if RELEASE >= 65
OPERATION(struct ibv_comp_cntr *, create_comp_cntr,
	  (struct ibv_context *, struct ibv_comp_cntr_init_attr *))
#endif
OPERATION(struct ibv_counters *, create_counters,
	  (struct ibv_context *, struct ibv_counters_init_attr *))
OPERATION(struct ibv_cq *, create_cq, (struct ibv_context *, int, struct ibv_comp_channel *, int))
OPERATION(struct ibv_cq_ex *, create_cq_ex, (struct ibv_context *, struct ibv_cq_init_attr_ex *))
OPERATION(struct ibv_flow *, create_flow, (struct ibv_qp *, struct ibv_flow_attr *))
OPERATION(struct ibv_flow_action *, create_flow_action_esp,
	  (struct ibv_context *, struct ibv_flow_action_esp_attr *))
OPERATION(struct ibv_qp *, create_qp, (struct ibv_pd *, struct ibv_qp_init_attr *))
OPERATION(struct ibv_qp *, create_qp_ex, (struct ibv_context *, struct ibv_qp_init_attr_ex *))
OPERATION(struct ibv_rwq_ind_table *, create_rwq_ind_table,
	  (struct ibv_context *, struct ibv_rwq_ind_table_init_attr *))
OPERATION(struct ibv_srq *, create_srq, (struct ibv_pd *, struct ibv_srq_init_attr *))
OPERATION(struct ibv_srq *, create_srq_ex, (struct ibv_context *, struct ibv_srq_init_attr_ex *))
OPERATION(struct ibv_wq *, create_wq, (struct ibv_context *, struct ibv_wq_init_attr *))
#if RELEASE >= 59
OPERATION(int, dealloc_dmah, (struct ibv_dmah *))
#endif
OPERATION(int, dealloc_mw, (struct ibv_mw *))
OPERATION(int, dealloc_pd, (struct ibv_pd *))
OPERATION(int, dealloc_td, (struct ibv_td *))
OPERATION(int, dereg_mr, (struct verbs_mr *))
OPERATION(int, destroy_ah, (struct ibv_ah *))
#if RELEASE >= 65
OPERATION(int, destroy_comp_cntr, (struct ibv_comp_cntr *))
#endif
OPERATION(int, destroy_counters, (struct ibv_counters *))
OPERATION(int, destroy_cq, (struct ibv_cq *))
OPERATION(int, destroy_flow, (struct ibv_flow *))
OPERATION(int, destroy_flow_action, (struct ibv_flow_action *))
OPERATION(int, destroy_qp, (struct ibv_qp *))
OPERATION(int, destroy_rwq_ind_table, (struct ibv_rwq_ind_table *))
OPERATION(int, destroy_srq, (struct ibv_srq *))
OPERATION(int, destroy_wq, (struct ibv_wq *))
OPERATION(int, detach_mcast, (struct ibv_qp *, const union ibv_gid *, uint16_t))
#if RELEASE >= 62
OPERATION(int, dm_export_dmabuf_fd, (struct ibv_dm *))
#endif
#if RELEASE >= 64
OPERATION(void, free_buf, (struct ibv_buf *))
#endif
OPERATION(void, free_context, (struct ibv_context *))
OPERATION(int, free_dm, (struct ibv_dm *))
OPERATION(int, get_srq_num, (struct ibv_srq *, uint32_t *))
OPERATION(struct ibv_dm *, import_dm, (struct ibv_context *, uint32_t))
OPERATION(struct ibv_mr *, import_mr, (struct ibv_pd *, uint32_t))
OPERATION(struct ibv_pd *, import_pd, (struct ibv_context *, uint32_t))
#if RELEASE >= 65
OPERATION(int, inc_comp_cntr, (struct ibv_comp_cntr *, uint64_t))
OPERATION(int, inc_err_comp_cntr, (struct ibv_comp_cntr *, uint64_t))
#endif
OPERATION(int, modify_cq, (struct ibv_cq *, struct ibv_modify_cq_attr *))
OPERATION(int, modify_flow_action_esp,
	  (struct ibv_flow_action *, struct ibv_flow_action_esp_attr *))
OPERATION(int, modify_qp, (struct ibv_qp *, struct ibv_qp_attr *, int))
OPERATION(int, modify_qp_rate_limit, (struct ibv_qp *, struct ibv_qp_rate_limit_attr *))
OPERATION(int, modify_srq, (struct ibv_srq *, struct ibv_srq_attr *, int))
OPERATION(int, modify_wq, (struct ibv_wq *, struct ibv_wq_attr *))
OPERATION(struct ibv_qp *, open_qp, (struct ibv_context *, struct ibv_qp_open_attr *))
OPERATION(struct ibv_xrcd *, open_xrcd, (struct ibv_context *, struct ibv_xrcd_init_attr *))
OPERATION(int, poll_cq, (struct ibv_cq *, int, struct ibv_wc *))
OPERATION(int, post_recv, (struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **))
OPERATION(int, post_send, (struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **))
OPERATION(int, post_srq_ops, (struct ibv_srq *, struct ibv_ops_wr *, struct ibv_ops_wr **))
OPERATION(int, post_srq_recv, (struct ibv_srq *, struct ibv_recv_wr *, struct ibv_recv_wr **))
#if RELEASE >= 65
OPERATION(int, qp_attach_comp_cntr,
	  (struct ibv_qp *, struct ibv_comp_cntr *, struct ibv_qp_attach_comp_cntr_attr *))
OPERATION(int, query_comp_cntr_caps, (struct ibv_context *, struct ibv_comp_cntr_caps *, size_t))
#endif
OPERATION(int, query_device_ex,
	  (struct ibv_context *, const struct ibv_query_device_ex_input *,
	   struct ibv_device_attr_ex *, size_t))
OPERATION(int, query_ece, (struct ibv_qp *, struct ibv_ece *))
OPERATION(int, query_port, (struct ibv_context *, uint8_t, struct ibv_port_attr *))
#if RELEASE >= 62
OPERATION(int, query_port_speed, (struct ibv_context *, uint32_t, uint64_t *))
#endif
OPERATION(int, query_qp, (struct ibv_qp *, struct ibv_qp_attr *, int, struct ibv_qp_init_attr *))
OPERATION(int, query_qp_data_in_order, (struct ibv_qp *, enum ibv_wr_opcode, uint32_t))
OPERATION(int, query_rt_values, (struct ibv_context *, struct ibv_values_ex *))
OPERATION(int, query_srq, (struct ibv_srq *, struct ibv_srq_attr *))
#if RELEASE >= 65
OPERATION(int, read_comp_cntr, (struct ibv_comp_cntr *, uint64_t *))
#endif
OPERATION(int, read_counters, (struct ibv_counters *, uint64_t *, uint32_t, uint32_t))
#if RELEASE >= 65
OPERATION(int, read_err_comp_cntr, (struct ibv_comp_cntr *, uint64_t *))
#endif
OPERATION(struct ibv_mr *, reg_dm_mr,
	  (struct ibv_pd *, struct ibv_dm *, uint64_t, size_t, unsigned int))
OPERATION(struct ibv_mr *, reg_dmabuf_mr, (struct ibv_pd *, uint64_t, size_t, uint64_t, int, int))
OPERATION(struct ibv_mr *, reg_mr, (struct ibv_pd *, void *, size_t, uint64_t, int))
#if RELEASE >= 59
OPERATION(struct ibv_mr *, reg_mr_ex, (struct ibv_pd *, struct ibv_mr_init_attr *))
#endif
OPERATION(int, req_notify_cq, (struct ibv_cq *, int))
OPERATION(int, rereg_mr, (struct verbs_mr *, int, struct ibv_pd *, void *, size_t, int))
OPERATION(int, resize_cq, (struct ibv_cq *, int))
#if RELEASE >= 65
OPERATION(int, set_comp_cntr, (struct ibv_comp_cntr *, uint64_t))
#endif
OPERATION(int, set_ece, (struct ibv_qp *, struct ibv_ece *))
#if RELEASE >= 65
OPERATION(int, set_err_comp_cntr, (struct ibv_comp_cntr *, uint64_t))
#endif
OPERATION(void, unimport_dm, (struct ibv_dm *))
OPERATION(void, unimport_mr, (struct ibv_mr *))
OPERATION(void, unimport_pd, (struct ibv_pd *))
