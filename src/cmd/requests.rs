//! The requests of the write interface: command number, form, core structs.

use crate::abi::*;
use crate::cmd::write::{Request, WriteCommand};
use crate::uapi::*;

/// `struct => COMMAND, response` per line, `plain` with the response's address in the core struct,
/// `silent` without one, `extended` with the address in the header.
macro_rules! requests {
    ($($form:ident $request:ident => $command:ident, $response:ty;)*) => {
        $(impl Request for $request {
            const COMMAND: WriteCommand = WriteCommand {
                number: $command,
                extended: requests!(@ $form),
                name: stringify!($command),
            };
            type Response = $response;

            requests!(@ $form set_response);
        })*
    };
    (@ plain) => { false };
    (@ silent) => { false };
    (@ extended) => { true };
    (@ plain set_response) => {
        fn set_response(&mut self, address: u64) {
            self.response = address;
        }
    };
    (@ $other:ident set_response) => {
        fn set_response(&mut self, _address: u64) {}
    };
}

requests! {
    plain ib_uverbs_get_context => IB_USER_VERBS_CMD_GET_CONTEXT, ib_uverbs_get_context_resp;
    plain ib_uverbs_query_device => IB_USER_VERBS_CMD_QUERY_DEVICE, ib_uverbs_query_device_resp;
    plain ib_uverbs_query_port => IB_USER_VERBS_CMD_QUERY_PORT, ib_uverbs_query_port_resp;
    plain ib_uverbs_alloc_pd => IB_USER_VERBS_CMD_ALLOC_PD, ib_uverbs_alloc_pd_resp;
    silent ib_uverbs_dealloc_pd => IB_USER_VERBS_CMD_DEALLOC_PD, empty;
    plain ib_uverbs_create_ah => IB_USER_VERBS_CMD_CREATE_AH, ib_uverbs_create_ah_resp;
    silent ib_uverbs_destroy_ah => IB_USER_VERBS_CMD_DESTROY_AH, empty;
    plain ib_uverbs_reg_mr => IB_USER_VERBS_CMD_REG_MR, ib_uverbs_reg_mr_resp;
    plain ib_uverbs_rereg_mr => IB_USER_VERBS_CMD_REREG_MR, ib_uverbs_rereg_mr_resp;
    silent ib_uverbs_dereg_mr => IB_USER_VERBS_CMD_DEREG_MR, empty;
    plain ib_uverbs_alloc_mw => IB_USER_VERBS_CMD_ALLOC_MW, ib_uverbs_alloc_mw_resp;
    silent ib_uverbs_dealloc_mw => IB_USER_VERBS_CMD_DEALLOC_MW, empty;
    plain ib_uverbs_create_comp_channel => IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, ib_uverbs_create_comp_channel_resp;
    plain ib_uverbs_create_cq => IB_USER_VERBS_CMD_CREATE_CQ, ib_uverbs_create_cq_resp;
    plain ib_uverbs_resize_cq => IB_USER_VERBS_CMD_RESIZE_CQ, ib_uverbs_resize_cq_resp;
    plain ib_uverbs_destroy_cq => IB_USER_VERBS_CMD_DESTROY_CQ, ib_uverbs_destroy_cq_resp;
    plain ib_uverbs_poll_cq => IB_USER_VERBS_CMD_POLL_CQ, ib_uverbs_poll_cq_resp;
    silent ib_uverbs_req_notify_cq => IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, empty;
    plain ib_uverbs_create_qp => IB_USER_VERBS_CMD_CREATE_QP, ib_uverbs_create_qp_resp;
    plain ib_uverbs_query_qp => IB_USER_VERBS_CMD_QUERY_QP, ib_uverbs_query_qp_resp;
    silent ib_uverbs_modify_qp => IB_USER_VERBS_CMD_MODIFY_QP, empty;
    plain ib_uverbs_destroy_qp => IB_USER_VERBS_CMD_DESTROY_QP, ib_uverbs_destroy_qp_resp;
    plain ib_uverbs_post_send => IB_USER_VERBS_CMD_POST_SEND, ib_uverbs_post_send_resp;
    plain ib_uverbs_post_recv => IB_USER_VERBS_CMD_POST_RECV, ib_uverbs_post_recv_resp;
    silent ib_uverbs_attach_mcast => IB_USER_VERBS_CMD_ATTACH_MCAST, empty;
    silent ib_uverbs_detach_mcast => IB_USER_VERBS_CMD_DETACH_MCAST, empty;
    plain ib_uverbs_create_srq => IB_USER_VERBS_CMD_CREATE_SRQ, ib_uverbs_create_srq_resp;
    silent ib_uverbs_modify_srq => IB_USER_VERBS_CMD_MODIFY_SRQ, empty;
    plain ib_uverbs_query_srq => IB_USER_VERBS_CMD_QUERY_SRQ, ib_uverbs_query_srq_resp;
    plain ib_uverbs_destroy_srq => IB_USER_VERBS_CMD_DESTROY_SRQ, ib_uverbs_destroy_srq_resp;
    plain ib_uverbs_post_srq_recv => IB_USER_VERBS_CMD_POST_SRQ_RECV, ib_uverbs_post_srq_recv_resp;
    plain ib_uverbs_open_xrcd => IB_USER_VERBS_CMD_OPEN_XRCD, ib_uverbs_open_xrcd_resp;
    silent ib_uverbs_close_xrcd => IB_USER_VERBS_CMD_CLOSE_XRCD, empty;
    plain ib_uverbs_create_xsrq => IB_USER_VERBS_CMD_CREATE_XSRQ, ib_uverbs_create_srq_resp;
    plain ib_uverbs_open_qp => IB_USER_VERBS_CMD_OPEN_QP, ib_uverbs_create_qp_resp;
    silent ib_uverbs_modify_srq_v3 => IB_USER_VERBS_CMD_MODIFY_SRQ, empty;

    extended ib_uverbs_ex_query_device => IB_USER_VERBS_EX_CMD_QUERY_DEVICE, ib_uverbs_ex_query_device_resp;
    extended ib_uverbs_ex_create_cq => IB_USER_VERBS_EX_CMD_CREATE_CQ, ib_uverbs_ex_create_cq_resp;
    extended ib_uverbs_ex_create_qp => IB_USER_VERBS_EX_CMD_CREATE_QP, ib_uverbs_ex_create_qp_resp;
    extended ib_uverbs_ex_modify_qp => IB_USER_VERBS_EX_CMD_MODIFY_QP, ib_uverbs_ex_modify_qp_resp;
    extended ib_uverbs_create_flow => IB_USER_VERBS_EX_CMD_CREATE_FLOW, ib_uverbs_create_flow_resp;
    extended ib_uverbs_destroy_flow => IB_USER_VERBS_EX_CMD_DESTROY_FLOW, empty;
    extended ib_uverbs_ex_create_wq => IB_USER_VERBS_EX_CMD_CREATE_WQ, ib_uverbs_ex_create_wq_resp;
    extended ib_uverbs_ex_modify_wq => IB_USER_VERBS_EX_CMD_MODIFY_WQ, empty;
    extended ib_uverbs_ex_destroy_wq => IB_USER_VERBS_EX_CMD_DESTROY_WQ, ib_uverbs_ex_destroy_wq_resp;
    extended ib_uverbs_ex_create_rwq_ind_table => IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, ib_uverbs_ex_create_rwq_ind_table_resp;
    extended ib_uverbs_ex_destroy_rwq_ind_table => IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL, empty;
    extended ib_uverbs_ex_modify_cq => IB_USER_VERBS_EX_CMD_MODIFY_CQ, empty;
}
