//! Ports.

use core::ffi::c_int;
use core::ptr;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{Buffers, Command, Kernel, method};
use crate::provider_api::op_index;
use crate::sys::errno::{Result, ReturnNumber};
use crate::uapi::*;

/// Queries a port. `port_cap_flags2` and `active_speed_ex` stay as they are on kernels without the
/// ioctl; so does `active_speed_ex` for a provider of a release that does not have it.
/// `ibv_query_port(3)`, `driver.h: ibv_cmd_query_port`
pub(crate) unsafe extern "C" fn ibv_cmd_query_port(
    context: *mut ibv_context,
    port_num: u8,
    port_attr: *mut ibv_port_attr,
    cmd: *mut ibv_query_port,
    cmd_size: usize,
) -> c_int {
    // SAFETY: the provider passes its context, a place for the result that is as large as its
    // layout says, a buffer of this size.
    unsafe {
        let kernel = Kernel::of(context);
        let size = kernel.private().layout.port_attr_size;
        let mut attr = ibv_port_attr::zeroed();
        ptr::copy_nonoverlapping(port_attr.cast::<u8>(), (&raw mut attr).cast(), size);
        query_port(kernel, port_num, &mut attr, Buffers::request(cmd, cmd_size)).map(|()| {
            ptr::copy_nonoverlapping((&raw const attr).cast(), port_attr.cast::<u8>(), size);
        })
    }
    .or_number()
}
export_private!(ibv_cmd_query_port);

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
export_private!(ibv_cmd_query_port_speed since 59);

fn query_port_speed(kernel: Kernel<'_>, port_num: u32) -> Result<u64> {
    let mut speed = 0;
    Command::new(method!(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT_SPEED))
        .u64(UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM, u64::from(port_num))
        .output(UVERBS_ATTR_QUERY_PORT_SPEED_RESP, &mut speed)
        .execute(kernel)?;
    Ok(speed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::fake::{self, Call, Form, Reply, TestContext};

    fn response() -> ib_uverbs_query_port_resp {
        ib_uverbs_query_port_resp {
            port_cap_flags: 1,
            max_msg_sz: 2,
            bad_pkey_cntr: 3,
            qkey_viol_cntr: 4,
            gid_tbl_len: 5,
            pkey_tbl_len: 6,
            lid: 7,
            sm_lid: 8,
            state: 4,
            max_mtu: 5,
            active_mtu: 3,
            lmc: 9,
            max_vl_num: 10,
            sm_sl: 11,
            subnet_timeout: 12,
            init_type_reply: 13,
            active_width: 14,
            active_speed: 15,
            phys_state: 16,
            link_layer: 2,
            flags: 17,
            reserved: 0,
        }
    }

    fn query(context: &TestContext) -> (c_int, ibv_port_attr) {
        let mut attr = ibv_port_attr::zeroed();
        (attr.port_cap_flags2, attr.active_speed_ex) = (0xdead, 0xbeef);
        let mut cmd = ibv_query_port::zeroed();
        let size = size_of_val(&cmd);
        // SAFETY: context and buffers are valid.
        let result = unsafe { ibv_cmd_query_port(context.get(), 3, &mut attr, &mut cmd, size) };
        (result, attr)
    }

    fn assert_common(attr: &ibv_port_attr) {
        assert_eq!((attr.port_cap_flags, attr.max_msg_sz, attr.bad_pkey_cntr), (1, 2, 3));
        assert_eq!((attr.qkey_viol_cntr, attr.gid_tbl_len, attr.pkey_tbl_len), (4, 5, 6));
        assert_eq!((attr.lid, attr.sm_lid, attr.lmc, attr.max_vl_num), (7, 8, 9, 10));
        assert_eq!((attr.state, attr.max_mtu, attr.active_mtu), (4, 5, 3));
        assert_eq!((attr.sm_sl, attr.subnet_timeout, attr.init_type_reply), (11, 12, 13));
        assert_eq!((attr.active_width, attr.active_speed, attr.phys_state), (14, 15, 16));
        assert_eq!((attr.link_layer, attr.flags), (2, 17));
    }

    #[test]
    fn the_ioctl_fills_in_all_members() {
        let context = TestContext::new(Form::Write);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
            assert_eq!(ioctl.data(UVERBS_ATTR_QUERY_PORT_PORT_NUM), Some(3));
            let legacy_resp = response();
            let response = ib_uverbs_query_port_resp_ex {
                legacy_resp,
                port_cap_flags2: 18,
                reserved: [0; 2],
                active_speed_ex: 19,
            };
            ioctl.output(UVERBS_ATTR_QUERY_PORT_RESP, &response);
            Reply::Done
        });
        let (result, attr) = query(&context);
        assert_eq!(result, 0);
        assert_common(&attr);
        assert_eq!((attr.port_cap_flags2, attr.active_speed_ex), (18, 19));
    }

    #[test]
    fn a_write_command_leaves_the_newer_members() {
        let context = TestContext::new(Form::Write);
        fake::answer(|call| {
            if let Call::Ioctl(_) = call {
                return Reply::Fail(libc::EPROTONOSUPPORT);
            }
            assert_eq!(call.request::<ib_uverbs_query_port>().port_num, 3);
            call.respond(&response());
            Reply::Done
        });
        let (result, attr) = query(&context);
        assert_eq!(result, 0);
        assert_common(&attr);
        assert_eq!((attr.port_cap_flags2, attr.active_speed_ex), (0xdead, 0xbeef));
    }

    #[test]
    fn the_speed_is_stored_on_success_only() {
        let context = TestContext::new(Form::Write);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
            if ioctl.data(UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM) != Some(2) {
                return Reply::Fail(libc::EINVAL);
            }
            ioctl.output(UVERBS_ATTR_QUERY_PORT_SPEED_RESP, &4000_u64);
            Reply::Done
        });
        let mut speed = 7;
        // SAFETY: context and place are valid.
        unsafe {
            assert_eq!(ibv_cmd_query_port_speed(context.get(), 1, &mut speed), libc::EINVAL);
            assert_eq!(speed, 7);
            assert_eq!(ibv_cmd_query_port_speed(context.get(), 2, &mut speed), 0);
        }
        assert_eq!(speed, 4000);
    }
}
