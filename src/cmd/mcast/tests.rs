use super::*;
use crate::cmd::fake::{self, Form, TestContext};
use crate::cmd::testing::*;

#[test]
fn attached_and_detached() {
    for (form, attach, detach) in [
        (Form::Write, "write n=32 cmd=1e in=8 out=0", "write n=32 cmd=1f in=8 out=0"),
        (
            Form::InvokeWrite,
            "ioctl 0.0: 2(len8)=cmd 1e 0(len24)",
            "ioctl 0.0: 2(len8)=cmd 1f 0(len24)",
        ),
    ] {
        let context = TestContext::new(form);
        let mut qp = ibv_qp::zeroed();
        (qp.context, qp.handle) = (context.get(), 7);
        let raw = core::array::from_fn(|index| index as u8 + 1);
        let gid = ibv_gid { raw };
        old_kernel(libc::ENOTTY, empty {});
        // SAFETY: all is as a provider passes it.
        assert_eq!(unsafe { ibv_cmd_attach_mcast(&mut qp, &gid, 0xc001) }, 0);
        let (core, _) = request::<ib_uverbs_attach_mcast>();
        assert_eq!((core.gid, core.qp_handle), (raw, 7));
        assert_eq!((core.mlid, core.reserved), (0xc001, 0));
        // SAFETY: as above.
        assert_eq!(unsafe { ibv_cmd_detach_mcast(&mut qp, &gid, 0xc002) }, 0);
        let (core, _) = request::<ib_uverbs_detach_mcast>();
        assert_eq!((core.gid, core.qp_handle), (raw, 7));
        assert_eq!((core.mlid, core.reserved), (0xc002, 0));
        assert_eq!(fake::calls(), [attach, detach]);
    }
}

#[test]
fn detaching_on_a_device_that_is_gone() {
    let context = TestContext::new(Form::Write);
    let mut qp = ibv_qp::zeroed();
    qp.context = context.get();
    let gid = ibv_gid { raw: [0; 16] };
    failing_kernel(libc::ENOTTY, empty {}, Some(libc::EIO));
    fake::set_allow_disassociate_destroy(false);
    // SAFETY: all is as a provider passes it.
    unsafe {
        assert_eq!(failure(ibv_cmd_detach_mcast(&mut qp, &gid, 1)), libc::EIO);
        fake::set_allow_disassociate_destroy(true);
        assert_eq!(ibv_cmd_detach_mcast(&mut qp, &gid, 1), 0);
        // Attaching creates something.
        assert_eq!(failure(ibv_cmd_attach_mcast(&mut qp, &gid, 1)), libc::EIO);
    }
}
