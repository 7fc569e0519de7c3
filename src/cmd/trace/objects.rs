//! Completion queues, queue pairs, shared receive queues, work queues, flows, multicast.

use core::ffi::c_int;
use core::ptr;

use crate::abi::*;
use crate::cmd::cq::*;
use crate::cmd::fake::TestContext;
use crate::cmd::flow::*;
use crate::cmd::ind_table::*;
use crate::cmd::mcast::*;
use crate::cmd::qp::*;
use crate::cmd::qp_modify::*;
use crate::cmd::srq::*;
use crate::cmd::testing::WithBytes;
use crate::cmd::wq::*;
use crate::uapi::*;

/// A provider's block with one attribute of four bytes.
#[repr(C)]
struct Block {
    buffer: ibv_command_buffer,
    attr: ib_uverbs_attr,
}

impl Block {
    fn new(object: u16, method: u16) -> Box<Block> {
        let attr = ib_uverbs_attr {
            attr_id: UVERBS_ID_DRIVER_NS_WITH_UHW,
            len: 4,
            flags: UVERBS_ATTR_F_MANDATORY,
            ..Plain::zeroed()
        };
        let mut block = Box::new(Block { buffer: Plain::zeroed(), attr });
        block.buffer.hdr.object_id = object;
        block.buffer.hdr.method_id = method;
        block.buffer.uhw_in_idx = _UHW_NO_INDEX as u8;
        block.buffer.uhw_out_idx = _UHW_NO_INDEX as u8;
        block.buffer.next_attr = (&raw mut block.attr).wrapping_add(1);
        block.buffer.last_attr = block.buffer.next_attr;
        block
    }

    /// The block, good for the attribute behind it as well.
    fn get(&mut self) -> *mut ibv_command_buffer {
        (&raw mut *self).cast()
    }
}

/// A flow rule with one specification.
#[repr(C)]
struct Rule {
    attr: ibv_flow_attr,
    eth: ibv_flow_spec_eth,
}

pub(super) fn call(context: &TestContext, function: &str, nth: usize) -> Option<c_int> {
    let ctx = context.get();
    // A command and a response with so many words of a provider.
    macro_rules! buffers {
        ($cmd:ty, $cmd_words:literal, $resp:ty, $resp_words:literal) => {
            (
                WithBytes::<$cmd, $cmd_words>::new([0; $cmd_words]),
                WithBytes::<$resp, $resp_words>::new([0; $resp_words]),
            )
        };
    }
    let mut pd = ibv_pd { context: ctx, handle: 1 };
    let mut cq = verbs_cq::zeroed();
    let public_cq = (&raw mut cq).cast::<ibv_cq>();
    let mut other_cq = ibv_cq::zeroed();
    let mut channel = ibv_comp_channel { context: ctx, fd: 5, refcnt: 0 };
    let mut qp = verbs_qp::zeroed();
    let public_qp = (&raw mut qp).cast::<ibv_qp>();
    let mut xrcd = verbs_xrcd::zeroed();
    let mut srq = verbs_srq::zeroed();
    let mut wq = ibv_wq::zeroed();
    let mut table = ibv_rwq_ind_table::zeroed();
    let mut flow = ibv_flow::zeroed();
    let gid = ibv_gid { raw: [1; 16] };

    // SAFETY: all objects and buffers are as the functions want them.
    Some(unsafe {
        (*public_cq).context = ctx;
        (*public_qp).context = ctx;
        srq.srq.context = ctx;
        wq.context = ctx;
        table.context = ctx;
        flow.context = ctx;
        match function {
            "ibv_cmd_create_cq" => {
                let (mut cmd, mut resp) = buffers!(ibv_create_cq, 2, ib_uverbs_create_cq_resp, 1);
                ibv_cmd_create_cq(
                    ctx,
                    1,
                    &mut channel,
                    0,
                    public_cq,
                    cmd.core(),
                    cmd.size(),
                    resp.core(),
                    resp.size(),
                )
            }
            "ibv_cmd_create_cq_ex" | "ibv_cmd_create_cq_ex2" => {
                let (mut cmd, mut resp) =
                    buffers!(ibv_create_cq_ex, 1, ib_uverbs_ex_create_cq_resp, 1);
                let mut attr = ibv_cq_init_attr_ex::zeroed();
                attr.wc_flags = u64::from(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
                let mut prov_attr = verbs_create_cq_prov_attr::zeroed();
                if function == "ibv_cmd_create_cq_ex2" {
                    let mut block = Block::new(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
                    return Some(ibv_cmd_create_cq_ex2(
                        ctx,
                        &attr,
                        &mut prov_attr,
                        &mut cq,
                        cmd.core(),
                        cmd.size(),
                        resp.core(),
                        resp.size(),
                        0,
                        block.get(),
                    ));
                }
                let cmd_flags = match nth {
                    0 => CREATE_CQ_CMD_FLAGS_TS_IGNORED_EX,
                    1 => 0,
                    2 => CREATE_CQ_CMD_FLAGS_WITH_MEM_VA,
                    _ => CREATE_CQ_CMD_FLAGS_WITH_MEM_DMABUF,
                };
                ibv_cmd_create_cq_ex(
                    ctx,
                    &attr,
                    &mut prov_attr,
                    &mut cq,
                    cmd.core(),
                    cmd.size(),
                    resp.core(),
                    resp.size(),
                    cmd_flags,
                )
            }
            "ibv_cmd_destroy_cq" => ibv_cmd_destroy_cq(public_cq),
            "ibv_cmd_modify_cq" => {
                let (mut cmd, _) = buffers!(ibv_modify_cq, 0, empty, 0);
                let mut attr = ibv_modify_cq_attr::zeroed();
                ibv_cmd_modify_cq(public_cq, &mut attr, cmd.core(), cmd.size())
            }
            "ibv_cmd_create_qp" => {
                let (mut cmd, mut resp) = buffers!(ibv_create_qp, 0, ib_uverbs_create_qp_resp, 0);
                let mut attr = ibv_qp_init_attr::zeroed();
                (attr.send_cq, attr.recv_cq) = (&raw mut other_cq, &raw mut other_cq);
                (attr.qp_type, attr.sq_sig_all) = (IBV_QPT_RC, 1);
                ibv_cmd_create_qp(
                    &mut pd,
                    public_qp,
                    &mut attr,
                    cmd.core(),
                    cmd.size(),
                    resp.core(),
                    resp.size(),
                )
            }
            "ibv_cmd_create_qp_ex" => {
                let (mut cmd, mut resp) = buffers!(ibv_create_qp, 0, ib_uverbs_create_qp_resp, 0);
                let mut attr = ibv_qp_init_attr_ex::zeroed();
                (attr.qp_type, attr.xrcd) = (IBV_QPT_XRC_RECV, &mut xrcd.xrcd);
                attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
                ibv_cmd_create_qp_ex(
                    ctx,
                    &mut qp,
                    &mut attr,
                    cmd.core(),
                    cmd.size(),
                    resp.core(),
                    resp.size(),
                )
            }
            "ibv_cmd_create_qp_ex2" => {
                let (mut cmd, mut resp) =
                    buffers!(ibv_create_qp_ex, 0, ib_uverbs_ex_create_qp_resp, 0);
                let mut attr = ibv_qp_init_attr_ex::zeroed();
                attr.qp_type = IBV_QPT_RAW_PACKET;
                (attr.pd, attr.rwq_ind_tbl) = (&mut pd, &mut table);
                attr.create_flags = IBV_QP_CREATE_SOURCE_QPN;
                attr.comp_mask = IBV_QP_INIT_ATTR_PD
                    | IBV_QP_INIT_ATTR_IND_TABLE
                    | IBV_QP_INIT_ATTR_CREATE_FLAGS;
                let driver = ptr::null_mut();
                ibv_cmd_create_qp_ex2(
                    ctx,
                    &mut qp,
                    &mut attr,
                    cmd.core(),
                    cmd.size(),
                    resp.core(),
                    resp.size(),
                    driver,
                )
            }
            "ibv_cmd_destroy_qp" => ibv_cmd_destroy_qp(public_qp),
            "ibv_cmd_modify_qp" => {
                let (mut cmd, _) = buffers!(ibv_modify_qp, 0, empty, 0);
                let mask = if nth == 0 { IBV_QP_STATE } else { IBV_QP_RATE_LIMIT };
                let mut attr = ibv_qp_attr::zeroed();
                ibv_cmd_modify_qp(public_qp, &mut attr, mask.cast_signed(), cmd.core(), cmd.size())
            }
            "ibv_cmd_modify_qp_ex" => {
                let (mut cmd, mut resp) =
                    buffers!(ibv_modify_qp_ex, 0, ib_uverbs_ex_modify_qp_resp, 0);
                let mask = (IBV_QP_STATE | IBV_QP_RATE_LIMIT).cast_signed();
                let mut attr = ibv_qp_attr::zeroed();
                ibv_cmd_modify_qp_ex(
                    public_qp,
                    &mut attr,
                    mask,
                    cmd.core(),
                    cmd.size(),
                    resp.core(),
                    resp.size(),
                )
            }
            "ibv_cmd_create_srq" => {
                let (mut cmd, mut resp) = buffers!(ibv_create_srq, 0, ib_uverbs_create_srq_resp, 0);
                let mut attr = ibv_srq_init_attr::zeroed();
                let srq = &mut srq.srq;
                ibv_cmd_create_srq(
                    &mut pd,
                    srq,
                    &mut attr,
                    cmd.core(),
                    cmd.size(),
                    resp.core(),
                    resp.size(),
                )
            }
            "ibv_cmd_create_srq_ex" => {
                let (mut cmd, mut resp) =
                    buffers!(ibv_create_xsrq, 0, ib_uverbs_create_srq_resp, 0);
                let mut attr = ibv_srq_init_attr_ex::zeroed();
                attr.srq_type = IBV_SRQT_XRC;
                (attr.pd, attr.xrcd, attr.cq) = (&mut pd, &mut xrcd.xrcd, &mut other_cq);
                attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE
                    | IBV_SRQ_INIT_ATTR_PD
                    | IBV_SRQ_INIT_ATTR_XRCD
                    | IBV_SRQ_INIT_ATTR_CQ;
                ibv_cmd_create_srq_ex(
                    ctx,
                    &mut srq,
                    &mut attr,
                    cmd.core(),
                    cmd.size(),
                    resp.core(),
                    resp.size(),
                )
            }
            "ibv_cmd_destroy_srq" => ibv_cmd_destroy_srq(&mut srq.srq),
            "ibv_cmd_create_wq" => {
                let (mut cmd, mut resp) =
                    buffers!(ibv_create_wq, 0, ib_uverbs_ex_create_wq_resp, 0);
                let mut attr = ibv_wq_init_attr::zeroed();
                (attr.pd, attr.cq) = (&mut pd, &mut other_cq);
                ibv_cmd_create_wq(
                    ctx,
                    &mut attr,
                    &mut wq,
                    cmd.core(),
                    cmd.size(),
                    resp.core(),
                    resp.size(),
                )
            }
            "ibv_cmd_destroy_wq" => ibv_cmd_destroy_wq(&mut wq),
            "ibv_cmd_modify_wq" => {
                let (mut cmd, _) = buffers!(ibv_modify_wq, 0, empty, 0);
                let mut attr = ibv_wq_attr::zeroed();
                ibv_cmd_modify_wq(&mut wq, &mut attr, cmd.core(), cmd.size())
            }
            "ibv_cmd_create_rwq_ind_table" => {
                let mut wqs = [&raw mut wq; 2];
                let mut attr = ibv_rwq_ind_table_init_attr {
                    log_ind_tbl_size: 1,
                    ind_tbl: wqs.as_mut_ptr(),
                    comp_mask: 0,
                };
                let mut resp = ib_uverbs_ex_create_rwq_ind_table_resp::zeroed();
                let resp_size = size_of_val(&resp);
                ibv_cmd_create_rwq_ind_table(ctx, &mut attr, &mut table, &mut resp, resp_size)
            }
            "ibv_cmd_destroy_rwq_ind_table" => ibv_cmd_destroy_rwq_ind_table(&mut table),
            "ibv_cmd_create_flow" => {
                let mut rule = Rule { attr: Plain::zeroed(), eth: Plain::zeroed() };
                rule.attr.num_of_specs = 1;
                rule.eth.type_ = IBV_FLOW_SPEC_ETH;
                rule.eth.size = size_of_val(&rule.eth) as u16;
                let mut ucmd = 0_u64;
                let attr = (&raw mut rule).cast();
                ibv_cmd_create_flow(public_qp, &mut flow, attr, (&raw mut ucmd).cast(), 8)
            }
            "ibv_cmd_destroy_flow" => ibv_cmd_destroy_flow(&mut flow),
            "ibv_cmd_attach_mcast" => ibv_cmd_attach_mcast(public_qp, &gid, 7),
            "ibv_cmd_detach_mcast" => ibv_cmd_detach_mcast(public_qp, &gid, 7),
            _ => return None,
        }
    })
}
