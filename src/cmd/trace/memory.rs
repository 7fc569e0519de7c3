//! Contexts, ports, devices, PDs, memory, counters, actions.

use core::ffi::c_int;
use core::ptr;

use crate::abi::*;
use crate::cmd::ah::*;
use crate::cmd::comp_cntr::*;
use crate::cmd::context::*;
use crate::cmd::counters::*;
use crate::cmd::device::*;
use crate::cmd::dm::*;
use crate::cmd::dmabuf::*;
use crate::cmd::dmah::*;
use crate::cmd::fake::TestContext;
use crate::cmd::flow_action::*;
use crate::cmd::mr::*;
use crate::cmd::mr_ex::*;
use crate::cmd::mw::*;
use crate::cmd::pd::*;
use crate::cmd::port::*;
use crate::cmd::xrcd::*;
use crate::uapi::*;

pub(super) fn call(context: &TestContext, function: &str, nth: usize) -> Option<c_int> {
    let ctx = context.get();
    // A command and a response of the right type, with their sizes.
    macro_rules! buffers {
        ($cmd:ty, $resp:ty) => {
            (&mut <$cmd>::zeroed(), size_of::<$cmd>(), &mut <$resp>::zeroed(), size_of::<$resp>())
        };
    }
    let mut pd = ibv_pd { context: ctx, handle: 1 };
    let mut mr = verbs_mr::zeroed();
    mr.ibv_mr.context = ctx;
    let mut dm = verbs_dm::zeroed();
    dm.dm.context = ctx;
    let mut dmah = verbs_dmah::zeroed();
    dmah.dmah.context = ctx;
    let mut counters = verbs_counters::zeroed();
    counters.counters.context = ctx;
    let mut counter = ibv_comp_cntr { context: ctx, handle: 2 };
    let mut action = verbs_flow_action::zeroed();
    action.action.context = ctx;
    let mut ah = ibv_ah { context: ctx, pd: &mut pd, handle: 3 };
    let mut mw = ibv_mw::zeroed();
    mw.context = ctx;
    let mut xrcd = verbs_xrcd::zeroed();
    xrcd.xrcd.context = ctx;
    let mut value = 0_u64;
    let null = ptr::null_mut();
    let address = ptr::without_provenance_mut(0x1000);

    let mut esp = ib_uverbs_flow_action_esp::zeroed();
    let mut key = [0_u8; 16];
    let mut replay = [0_u8; 8];
    let mut esp_attr = ibv_flow_action_esp_attr {
        esp_attr: &mut esp,
        keymat_len: 16,
        keymat_ptr: key.as_mut_ptr().cast(),
        replay_len: 8,
        replay_ptr: replay.as_mut_ptr().cast(),
        comp_mask: IBV_FLOW_ACTION_ESP_MASK_ESN,
        ..Plain::zeroed()
    };

    // SAFETY: all objects and buffers are as the functions want them.
    Some(unsafe {
        match function {
            "ibv_cmd_get_context" => {
                let mut fds = [3, 4, 5];
                let mut array = ibv_fd_arr { arr: fds.as_mut_ptr(), count: 3 };
                let fds = if nth == 0 { &raw mut array } else { ptr::null_mut() };
                let (cmd, cmd_size, resp, resp_size) =
                    buffers!(ibv_get_context, ib_uverbs_get_context_resp);
                ibv_cmd_get_context::<65>(context.extended(), cmd, cmd_size, fds, resp, resp_size)
            }
            "ibv_cmd_query_context" => ibv_cmd_query_context(ctx, null),
            "ibv_cmd_query_port" => {
                let mut attr = ibv_port_attr::zeroed();
                let mut cmd = ibv_query_port::zeroed();
                ibv_cmd_query_port(ctx, 1, &mut attr, &mut cmd, size_of_val(&cmd))
            }
            "ibv_cmd_query_port_speed" => ibv_cmd_query_port_speed(ctx, 1, &mut value),
            "ibv_cmd_query_comp_cntr_caps" => {
                let mut caps = ibv_comp_cntr_caps::zeroed();
                ibv_cmd_query_comp_cntr_caps(ctx, &mut caps, size_of_val(&caps))
            }
            "ibv_cmd_alloc_pd" => {
                let (cmd, cmd_size, resp, resp_size) =
                    buffers!(ibv_alloc_pd, ib_uverbs_alloc_pd_resp);
                ibv_cmd_alloc_pd(ctx, &mut pd, cmd, cmd_size, resp, resp_size)
            }
            "ibv_cmd_qp_attach_comp_cntr" => {
                let mut qp = ibv_qp::zeroed();
                qp.context = ctx;
                let mut attr = ibv_qp_attach_comp_cntr_attr { comp_mask: 0, op_mask: 1 };
                ibv_cmd_qp_attach_comp_cntr(&mut qp, &mut counter, &mut attr)
            }
            "ibv_cmd_create_comp_cntr" => ibv_cmd_create_comp_cntr(ctx, &mut counter, null),
            "ibv_cmd_inc_err_comp_cntr" => ibv_cmd_inc_err_comp_cntr(&mut counter, 5),
            "ibv_cmd_read_comp_cntr" => ibv_cmd_read_comp_cntr(&mut counter, &mut value),
            "ibv_cmd_reg_mr" => {
                let (cmd, cmd_size, resp, resp_size) = buffers!(ibv_reg_mr, ib_uverbs_reg_mr_resp);
                ibv_cmd_reg_mr(
                    &mut pd, address, 64, 0x1000, 1, &mut mr, cmd, cmd_size, resp, resp_size,
                )
            }
            "ibv_cmd_reg_mr_ex" => {
                let mask = if nth == 0 {
                    IBV_REG_MR_MASK_ADDR
                } else {
                    IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA
                };
                let mut attr = ibv_mr_init_attr {
                    length: 64,
                    comp_mask: u64::from(mask),
                    addr: address,
                    fd: 5,
                    ..Plain::zeroed()
                };
                ibv_cmd_reg_mr_ex(&mut pd, &mut mr, &mut attr)
            }
            "ibv_cmd_reg_dmabuf_mr" => {
                ibv_cmd_reg_dmabuf_mr(&mut pd, 0, 64, 0, 5, 1, &mut mr, null)
            }
            "ibv_cmd_query_mr" => ibv_cmd_query_mr(&mut pd, &mut mr, 7),
            "ibv_cmd_advise_mr" => {
                let mut ranges = [ibv_sge::zeroed(); 2];
                ibv_cmd_advise_mr(&mut pd, 0, 0, ranges.as_mut_ptr(), 2)
            }
            "ibv_cmd_alloc_dm" => {
                let attr = ibv_alloc_dm_attr { length: 64, log_align_req: 0, comp_mask: 0 };
                ibv_cmd_alloc_dm(ctx, &attr, &mut dm, null)
            }
            "ibv_cmd_reg_dm_mr" => {
                ibv_cmd_reg_dm_mr(&mut pd, &mut dm, 0, 64, IBV_ACCESS_ZERO_BASED, &mut mr, null)
            }
            "ibv_cmd_alloc_dmah" => {
                let mut attr =
                    ibv_dmah_init_attr { comp_mask: 7, cpu_id: 0, ph: 1, tph_mem_type: 1 };
                ibv_cmd_alloc_dmah(ctx, &mut dmah, &mut attr)
            }
            "ibv_cmd_export_dmabuf_fd" => ibv_cmd_export_dmabuf_fd(ctx, 0x1000),
            "ibv_cmd_create_counters" => {
                let mut attr = ibv_counters_init_attr { comp_mask: 0 };
                ibv_cmd_create_counters(ctx, &mut attr, &mut counters, null)
            }
            "ibv_cmd_read_counters" => ibv_cmd_read_counters(&mut counters, &mut value, 1, 0, null),
            "ibv_cmd_create_flow_action_esp" => {
                ibv_cmd_create_flow_action_esp(ctx, &mut esp_attr, &mut action, null)
            }
            "ibv_cmd_modify_flow_action_esp" => {
                ibv_cmd_modify_flow_action_esp(&mut action, &mut esp_attr, null)
            }
            "ibv_cmd_query_device_any" => {
                let mut attr = ibv_device_attr_ex::zeroed();
                let size = size_of_val(&attr);
                ibv_cmd_query_device_any(
                    ctx,
                    ptr::null(),
                    &mut attr,
                    size,
                    null.cast(),
                    null.cast(),
                )
            }
            "ibv_cmd_create_ah" => {
                let mut attr = ibv_ah_attr::zeroed();
                let mut resp = ib_uverbs_create_ah_resp::zeroed();
                ibv_cmd_create_ah(&mut pd, &mut ah, &mut attr, &mut resp, size_of_val(&resp))
            }
            "ibv_cmd_destroy_ah" => ibv_cmd_destroy_ah(&mut ah),
            "ibv_cmd_dealloc_pd" => ibv_cmd_dealloc_pd(&mut pd),
            "ibv_cmd_dereg_mr" => ibv_cmd_dereg_mr(&mut mr),
            "ibv_cmd_close_xrcd" => ibv_cmd_close_xrcd(&mut xrcd),
            "ibv_cmd_free_dm" => ibv_cmd_free_dm(&mut dm),
            "ibv_cmd_free_dmah" => ibv_cmd_free_dmah(&mut dmah),
            "ibv_cmd_destroy_counters" => ibv_cmd_destroy_counters(&mut counters),
            "ibv_cmd_destroy_comp_cntr" => ibv_cmd_destroy_comp_cntr(&mut counter),
            "ibv_cmd_destroy_flow_action" => ibv_cmd_destroy_flow_action(&mut action),
            "ibv_cmd_dealloc_mw" => ibv_cmd_dealloc_mw(&mut mw),
            _ => return None,
        }
    })
}
