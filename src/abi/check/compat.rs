//! Sizes, alignments and member offsets of the `IBVERBS_1.0` structs, as measured from rdma-core 65.0 on x86-64.

use super::layout;
use crate::abi::*;

/// Number of types checked here.
#[cfg(test)]
pub(super) const COUNT: usize = 13;

layout!(_compat_ibv_port_attr, 48, 4, {state @ 0 + 4, max_mtu @ 4 + 4, active_mtu @ 8 + 4, gid_tbl_len @ 12 + 4, port_cap_flags @ 16 + 4, max_msg_sz @ 20 + 4, bad_pkey_cntr @ 24 + 4, qkey_viol_cntr @ 28 + 4, pkey_tbl_len @ 32 + 2, lid @ 34 + 2, sm_lid @ 36 + 2, lmc @ 38 + 1, max_vl_num @ 39 + 1, sm_sl @ 40 + 1, subnet_timeout @ 41 + 1, init_type_reply @ 42 + 1, active_width @ 43 + 1, active_speed @ 44 + 1, phys_state @ 45 + 1, link_layer @ 46 + 1, flags @ 47 + 1});
layout!(ibv_ah_1_0, 32, 8, {context @ 0 + 8, pd @ 8 + 8, handle @ 16 + 4, real_ah @ 24 + 8});
layout!(ibv_context_1_0, 248, 8, {device @ 0 + 8, ops @ 8 + 216, cmd_fd @ 224 + 4, async_fd @ 228 + 4, num_comp_vectors @ 232 + 4, real_context @ 240 + 8});
layout!(ibv_context_ops_1_0, 216, 8, {query_device @ 0 + 8, query_port @ 8 + 8, alloc_pd @ 16 + 8, dealloc_pd @ 24 + 8, reg_mr @ 32 + 8, dereg_mr @ 40 + 8, create_cq @ 48 + 8, poll_cq @ 56 + 8, req_notify_cq @ 64 + 8, cq_event @ 72 + 8, resize_cq @ 80 + 8, destroy_cq @ 88 + 8, create_srq @ 96 + 8, modify_srq @ 104 + 8, query_srq @ 112 + 8, destroy_srq @ 120 + 8, post_srq_recv @ 128 + 8, create_qp @ 136 + 8, query_qp @ 144 + 8, modify_qp @ 152 + 8, destroy_qp @ 160 + 8, post_send @ 168 + 8, post_recv @ 176 + 8, create_ah @ 184 + 8, destroy_ah @ 192 + 8, attach_mcast @ 200 + 8, detach_mcast @ 208 + 8});
layout!(ibv_cq_1_0, 128, 8, {context @ 0 + 8, cq_context @ 8 + 8, handle @ 16 + 4, cqe @ 20 + 4, mutex @ 24 + 40, cond @ 64 + 48, comp_events_completed @ 112 + 4, async_events_completed @ 116 + 4, real_cq @ 120 + 8});
layout!(ibv_device_1_0, 40, 8, {obsolete_sysfs_dev @ 0 + 8, obsolete_sysfs_ibdev @ 8 + 8, real_device @ 16 + 8, _ops @ 24 + 16});
layout!(ibv_mr_1_0, 40, 8, {context @ 0 + 8, pd @ 8 + 8, handle @ 16 + 4, lkey @ 20 + 4, rkey @ 24 + 4, real_mr @ 32 + 8});
layout!(ibv_pd_1_0, 24, 8, {context @ 0 + 8, handle @ 8 + 4, real_pd @ 16 + 8});
layout!(ibv_qp_1_0, 168, 8, {context @ 0 + 8, qp_context @ 8 + 8, pd @ 16 + 8, send_cq @ 24 + 8, recv_cq @ 32 + 8, srq @ 40 + 8, handle @ 48 + 4, qp_num @ 52 + 4, state @ 56 + 4, qp_type @ 60 + 4, mutex @ 64 + 40, cond @ 104 + 48, events_completed @ 152 + 4, real_qp @ 160 + 8});
layout!(ibv_qp_init_attr_1_0, 64, 8, {qp_context @ 0 + 8, send_cq @ 8 + 8, recv_cq @ 16 + 8, srq @ 24 + 8, cap @ 32 + 20, qp_type @ 52 + 4, sq_sig_all @ 56 + 4});
layout!(ibv_recv_wr_1_0, 32, 8, {next @ 0 + 8, wr_id @ 8 + 8, sg_list @ 16 + 8, num_sge @ 24 + 4});
layout!(ibv_send_wr_1_0, 72, 8, {next @ 0 + 8, wr_id @ 8 + 8, sg_list @ 16 + 8, num_sge @ 24 + 4, opcode @ 28 + 4, send_flags @ 32 + 4, imm_data @ 36 + 4, wr @ 40 + 32, wr.rdma @ 40 + 16, wr.rdma.remote_addr @ 40 + 8, wr.rdma.rkey @ 48 + 4, wr.atomic @ 40 + 32, wr.atomic.remote_addr @ 40 + 8, wr.atomic.compare_add @ 48 + 8, wr.atomic.swap @ 56 + 8, wr.atomic.rkey @ 64 + 4, wr.ud @ 40 + 16, wr.ud.ah @ 40 + 8, wr.ud.remote_qpn @ 48 + 4, wr.ud.remote_qkey @ 52 + 4});
layout!(ibv_srq_1_0, 136, 8, {context @ 0 + 8, srq_context @ 8 + 8, pd @ 16 + 8, handle @ 24 + 4, mutex @ 32 + 40, cond @ 72 + 48, events_completed @ 120 + 4, real_srq @ 128 + 8});
