use core::ptr;

use super::*;
use crate::cmd::fake::{self, Call, Form, Reply, TestContext};
use crate::cmd::testing::*;

/// A rule with an Ethernet and a drop specification.
#[repr(C)]
struct Rule {
    attr: ibv_flow_attr,
    eth: ibv_flow_spec_eth,
    drop: ibv_flow_spec_action_drop,
}

fn rule() -> Rule {
    let mut eth = ibv_flow_spec_eth::zeroed();
    (eth.type_, eth.size) = (IBV_FLOW_SPEC_ETH, size_of_val(&eth) as u16);
    eth.val.dst_mac = [1, 2, 3, 4, 5, 6];
    let mut drop = ibv_flow_spec_action_drop::zeroed();
    (drop.type_, drop.size) = (IBV_FLOW_SPEC_ACTION_DROP, size_of_val(&drop) as u16);
    let attr = ibv_flow_attr {
        comp_mask: 0,
        type_: IBV_FLOW_ATTR_NORMAL,
        size: size_of::<Rule>() as u16,
        priority: 0x11,
        num_of_specs: 2,
        port: 2,
        flags: IBV_FLOW_ATTR_FLAGS_EGRESS,
    };
    Rule { attr, eth, drop }
}

fn create(context: &TestContext, flow: &mut ibv_flow, rule: &mut Rule, ucmd: &[u64]) -> c_int {
    let mut qp = ibv_qp::zeroed();
    (qp.context, qp.handle) = (context.get(), 7);
    let ucmd_ptr = if ucmd.is_empty() { ptr::null_mut() } else { ucmd.as_ptr().cast_mut().cast() };
    let attr = (&raw mut *rule).cast();
    // SAFETY: all is as a provider passes it.
    unsafe { ibv_cmd_create_flow(&mut qp, flow, attr, ucmd_ptr, size_of_val(ucmd)) }
}

fn created() -> ib_uverbs_create_flow_resp {
    ib_uverbs_create_flow_resp { comp_mask: 0, flow_handle: 8 }
}

#[test]
fn created_in_each_form() {
    for (form, lines) in [
        (
            Form::Write,
            [
                "write n=96 cmd=80000032 in=9 out=1 pin=0 pout=0",
                "write n=112 cmd=80000032 in=9 out=1 pin=2 pout=0",
            ],
        ),
        (
            Form::InvokeWrite,
            [
                "ioctl 0.0: 2(len8)=cmd 80000032 0(len72) 1(len8)",
                "ioctl 0.0: 2(len8)=cmd 80000032 0(len72) 1(len8) 4096(len16)",
            ],
        ),
    ] {
        for (ucmd, line) in [&[][..], &[0x33, 0x44]].into_iter().zip(lines) {
            let context = TestContext::new(form);
            let mut flow = ibv_flow::zeroed();
            old_kernel(libc::ENOTTY, created());
            assert_eq!(create(&context, &mut flow, &mut rule(), ucmd), 0);
            assert_eq!(fake::calls(), [line]);
            let (core, rest) = request::<ib_uverbs_create_flow>();
            assert_eq!((core.comp_mask, core.qp_handle), (0, 7));
            let attr = core.flow_attr;
            assert_eq!((attr.type_, attr.size, attr.priority), (IBV_FLOW_ATTR_NORMAL, 48, 0x11));
            assert_eq!((attr.num_of_specs, attr.port), (2, 2));
            assert_eq!((attr.flags, attr.reserved), (IBV_FLOW_ATTR_FLAGS_EGRESS, [0; 2]));
            let (specs, provider) = rest.split_at(48);
            assert_eq!(specs[..6], [0x20, 0, 0, 0, 40, 0]);
            assert_eq!(specs[8..14], [1, 2, 3, 4, 5, 6]);
            assert_eq!(specs[40..], [1, 0x10, 0, 0, 8, 0, 0, 0]);
            assert_eq!(provider, bytes_of_words(ucmd));
            assert_eq!((flow.handle, flow.context), (8, context.get()));
        }
    }
}

#[test]
fn rules_without_specifications() {
    let context = TestContext::new(Form::Write);
    let (mut flow, mut rule) = (ibv_flow::zeroed(), rule());
    rule.attr.num_of_specs = 0;
    rule.attr.type_ = IBV_FLOW_ATTR_SNIFFER;
    old_kernel(libc::ENOTTY, created());
    assert_eq!(create(&context, &mut flow, &mut rule, &[]), 0);
    assert_eq!(fake::calls(), ["write n=48 cmd=80000032 in=3 out=1 pin=0 pout=0"]);
    assert_eq!(request::<ib_uverbs_create_flow>().0.flow_attr.size, 0);
}

#[test]
fn malformed_rules_and_failures() {
    let context = TestContext::new(Form::Write);
    let mut flow = ibv_flow::zeroed();
    fake::answer(|_| panic!("the kernel must not be asked"));
    let mut bad = rule();
    bad.drop.type_ = 0x77;
    assert_eq!(failure(create(&context, &mut flow, &mut bad, &[])), libc::EINVAL);
    let mut bad = rule();
    bad.eth.size = 0;
    assert_eq!(failure(create(&context, &mut flow, &mut bad, &[])), libc::EINVAL);
    failing_kernel(libc::ENOTTY, created(), Some(libc::EOPNOTSUPP));
    assert_eq!(failure(create(&context, &mut flow, &mut rule(), &[])), libc::EOPNOTSUPP);
    assert_eq!(flow.handle, 0);
    assert!(flow.context.is_null());
}

#[test]
fn destroyed_in_each_form() {
    for (form, line) in [
        (Form::Write, "write n=32 cmd=80000033 in=1 out=0 pin=0 pout=0"),
        (Form::InvokeWrite, "ioctl 0.0: 2(len8)=cmd 80000033 0(len8)"),
    ] {
        let context = TestContext::new(form);
        let mut flow = ibv_flow::zeroed();
        (flow.context, flow.handle) = (context.get(), 7);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("no write command") };
            assert_eq!(ioctl.data(UVERBS_ATTR_DESTROY_FLOW_HANDLE), Some(7));
            Reply::Done
        });
        // SAFETY: the flow is set up.
        unsafe {
            assert_eq!(ibv_cmd_destroy_flow(&mut flow), 0);
            assert_eq!(fake::calls(), ["ioctl 9.0: 0(len0)"]);
            old_kernel(libc::EPROTONOSUPPORT, empty {});
            assert_eq!(ibv_cmd_destroy_flow(&mut flow), 0);
            assert_eq!(fake::calls(), ["ioctl 9.0: 0(len0)", line]);
            let (core, _) = request::<ib_uverbs_destroy_flow>();
            assert_eq!((core.flow_handle, core.comp_mask), (7, 0));
            // Kernels that lack this method lack that of address handles too.
            assert!(context.kernel().private().lacks_ioctl(op_index!(destroy_ah)));

            failing_kernel(libc::EPROTONOSUPPORT, empty {}, Some(libc::EIO));
            fake::set_allow_disassociate_destroy(false);
            assert_eq!(failure(ibv_cmd_destroy_flow(&mut flow)), libc::EIO);
            fake::set_allow_disassociate_destroy(true);
            assert_eq!(ibv_cmd_destroy_flow(&mut flow), 0);
        }
    }
}
