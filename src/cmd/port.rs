//! Ports.

use core::ffi::c_int;

use crate::abi::export::export;
use crate::abi::*;
use crate::cmd::{Buffers, Command, Kernel, method};
use crate::provider_api::op_index;
use crate::sys::errno::{Result, ReturnNumber};
use crate::uapi::*;

/// Queries a port. `port_cap_flags2` and `active_speed_ex` stay as they are on kernels without the
/// ioctl. `ibv_query_port(3)`, `driver.h: ibv_cmd_query_port`
pub(super) unsafe extern "C" fn ibv_cmd_query_port(
    context: *mut ibv_context,
    port_num: u8,
    port_attr: *mut ibv_port_attr,
    cmd: *mut ibv_query_port,
    cmd_size: usize,
) -> c_int {
    // SAFETY: the provider passes its context, a place for the result, a buffer of this size.
    unsafe {
        let buffers = Buffers::request(cmd, cmd_size);
        query_port(Kernel::of(context), port_num, &mut *port_attr, buffers)
    }
    .or_number()
}
export!(ibv_cmd_query_port @@ "IBVERBS_PRIVATE_65");

fn query_port(
    kernel: Kernel<'_>,
    port_num: u8,
    attr: &mut ibv_port_attr,
    buffers: Buffers<'_>,
) -> Result<()> {
    let mut response = ib_uverbs_query_port_resp_ex::zeroed();
    let mut cmd = Command::new(method!(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT));
    cmd.u64(UVERBS_ATTR_QUERY_PORT_PORT_NUM, u64::from(port_num))
        .output(UVERBS_ATTR_QUERY_PORT_RESP, &mut response);
    if cmd.run(kernel, op_index!(query_port))?.is_done() {
        store(&response.legacy_resp, attr);
        attr.port_cap_flags2 = response.port_cap_flags2;
        attr.active_speed_ex = response.active_speed_ex;
    } else {
        let request = ib_uverbs_query_port { port_num, ..Plain::zeroed() };
        store(&kernel.write(request, buffers)?, attr);
    }
    Ok(())
}

fn store(response: &ib_uverbs_query_port_resp, attr: &mut ibv_port_attr) {
    attr.state = response.state.into();
    attr.max_mtu = response.max_mtu.into();
    attr.active_mtu = response.active_mtu.into();
    attr.gid_tbl_len = response.gid_tbl_len as c_int;
    attr.port_cap_flags = response.port_cap_flags;
    attr.max_msg_sz = response.max_msg_sz;
    attr.bad_pkey_cntr = response.bad_pkey_cntr;
    attr.qkey_viol_cntr = response.qkey_viol_cntr;
    attr.pkey_tbl_len = response.pkey_tbl_len;
    attr.lid = response.lid;
    attr.sm_lid = response.sm_lid;
    attr.lmc = response.lmc;
    attr.max_vl_num = response.max_vl_num;
    attr.sm_sl = response.sm_sl;
    attr.subnet_timeout = response.subnet_timeout;
    attr.init_type_reply = response.init_type_reply;
    attr.active_width = response.active_width;
    attr.active_speed = response.active_speed;
    attr.phys_state = response.phys_state;
    attr.link_layer = response.link_layer;
    attr.flags = response.flags;
}

/// Queries a port's speed, in units of 100 Mb/s. `ibv_query_port_speed(3)`,
/// `driver.h: ibv_cmd_query_port_speed`
pub(super) unsafe extern "C" fn ibv_cmd_query_port_speed(
    context: *mut ibv_context,
    port_num: u32,
    speed: *mut u64,
) -> c_int {
    // SAFETY: the provider passes its context and a place for the result.
    unsafe { query_port_speed(Kernel::of(context), port_num).map(|value| *speed = value) }
        .or_number()
}
export!(ibv_cmd_query_port_speed @@ "IBVERBS_PRIVATE_65");

fn query_port_speed(kernel: Kernel<'_>, port_num: u32) -> Result<u64> {
    let mut speed = 0;
    Command::new(method!(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT_SPEED))
        .u64(UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM, u64::from(port_num))
        .output(UVERBS_ATTR_QUERY_PORT_SPEED_RESP, &mut speed)
        .execute(kernel)?;
    Ok(speed)
}
