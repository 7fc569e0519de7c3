use super::*;
use crate::cmd::fake::{self, Call, Form, Reply, TestContext};

const ADDR: u32 = IBV_REG_MR_MASK_ADDR;
const FD: u32 = IBV_REG_MR_MASK_FD;
const OFFSET: u32 = IBV_REG_MR_MASK_FD_OFFSET;
const IOVA: u32 = IBV_REG_MR_MASK_IOVA;
const DMAH: u32 = IBV_REG_MR_MASK_DMAH;

fn attr(mask: u32, dmah: &mut verbs_dmah) -> ibv_mr_init_attr {
    ibv_mr_init_attr {
        length: 64,
        access: 7,
        comp_mask: u64::from(mask),
        iova: 0x9000,
        addr: ptr::without_provenance_mut(0x1000),
        fd: 31,
        fd_offset: 0x2000,
        dmah: ptr::from_mut(dmah).cast(),
        buf: ptr::null_mut(),
    }
}

fn register(
    context: &TestContext,
    change: impl FnOnce(&mut ibv_mr_init_attr),
    mask: u32,
) -> (c_int, verbs_mr) {
    let mut pd = ibv_pd { context: context.get(), handle: 5 };
    let mut mr = verbs_mr { mr_type: 99, ..Plain::zeroed() };
    let mut dmah = verbs_dmah { handle: 6, ..Plain::zeroed() };
    let mut attr = attr(mask, &mut dmah);
    change(&mut attr);
    // SAFETY: all objects are valid.
    let result = unsafe { ibv_cmd_reg_mr_ex(&mut pd, &mut mr, &mut attr) };
    (result, mr)
}

/// Checks what a registration by ioctl says and answers it.
fn answer_ioctl() {
    fake::answer(|call| {
        let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
        assert_eq!(ioctl.data(UVERBS_ATTR_REG_MR_PD_HANDLE), Some(5));
        assert_eq!(ioctl.data(UVERBS_ATTR_REG_MR_LENGTH), Some(64));
        assert_eq!(ioctl.input(UVERBS_ATTR_REG_MR_ACCESS_FLAGS), Some(vec![7, 0, 0, 0]));
        match ioctl.data(UVERBS_ATTR_REG_MR_FD) {
            Some(fd) => {
                assert_eq!((fd, ioctl.data(UVERBS_ATTR_REG_MR_FD_OFFSET)), (31, Some(0x2000)));
            }
            None => assert_eq!(ioctl.data(UVERBS_ATTR_REG_MR_ADDR), Some(0x1000)),
        }
        assert!(ioctl.data(UVERBS_ATTR_REG_MR_DMA_HANDLE).is_none_or(|handle| handle == 6));
        ioctl.set_data(UVERBS_ATTR_REG_MR_HANDLE, 12);
        let iova = ioctl.data(UVERBS_ATTR_REG_MR_IOVA).unwrap();
        ioctl.output(UVERBS_ATTR_REG_MR_RESP_LKEY, &(iova as u32));
        ioctl.output(UVERBS_ATTR_REG_MR_RESP_RKEY, &14_u32);
        Reply::Done
    });
}

#[test]
fn memory_and_dma_bufs_with_their_options() {
    let context = TestContext::new(Form::Write);
    answer_ioctl();
    for (mask, mr_type, iova, attrs) in [
        (ADDR, IBV_MR_TYPE_MR, 0x1000, "4(len8) 3(len8)"),
        (ADDR | IOVA, IBV_MR_TYPE_MR, 0x9000, "4(len8) 3(len8)"),
        (FD | OFFSET | IOVA, IBV_MR_TYPE_DMABUF_MR, 0x9000, "8(len8) 7(len0) 3(len8)"),
    ] {
        for (dmah, dmah_attr) in [(0, ""), (DMAH, " 2(len0)")] {
            let (result, mr) = register(&context, |_| {}, mask | dmah);
            assert_eq!(result, 0);
            let tail = "0(len0) 9(len4) 10(len4) 1(len0) 5(len8) 6(len4)";
            assert_eq!(fake::calls(), [format!("ioctl 7.5: {attrs} {tail}{dmah_attr}")]);
            assert_eq!((mr.ibv_mr.handle, mr.ibv_mr.lkey, mr.ibv_mr.rkey), (12, iova, 14));
            assert_eq!(mr.ibv_mr.context, context.get());
            assert_eq!((mr.mr_type, mr.access), (mr_type, 7));
        }
    }
}

#[test]
fn members_that_do_not_fit_together() {
    let context = TestContext::new(Form::Write);
    fake::answer(|_| Reply::Done);
    for mask in [0, IOVA, FD, FD | IOVA, FD | OFFSET, FD | OFFSET | IOVA | ADDR, ADDR | OFFSET] {
        let (result, mr) = register(&context, |_| {}, mask);
        assert_eq!((result, mr.mr_type), (libc::EINVAL, 99), "{mask:#x}");
    }
    let implicit = |attr: &mut ibv_mr_init_attr| {
        attr.length = usize::MAX;
        attr.access = IBV_ACCESS_ON_DEMAND as c_int;
    };
    assert_eq!(register(&context, implicit, ADDR).0, libc::EINVAL);
    assert!(fake::calls().is_empty());
    let implicit_at_0 = |attr: &mut ibv_mr_init_attr| {
        implicit(attr);
        attr.addr = ptr::null_mut();
    };
    assert_eq!(register(&context, implicit_at_0, ADDR).0, 0);
}

#[test]
fn an_old_kernel_registers_plain_memory_only() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        if let Call::Ioctl(_) = call {
            return Reply::Fail(libc::EPROTONOSUPPORT);
        }
        let request: ib_uverbs_reg_mr = call.request();
        assert_eq!((request.start, request.hca_va), (0x1000, 0x9000));
        let lkey = request.access_flags;
        call.respond(&ib_uverbs_reg_mr_resp { mr_handle: 12, lkey, rkey: 14, driver_data: [] });
        Reply::Done
    });
    let (result, mr) = register(&context, |_| {}, ADDR | IOVA);
    assert_eq!((result, mr.ibv_mr.handle, mr.ibv_mr.lkey, mr.access), (0, 12, 7, 7));
    assert_eq!(mr.mr_type, IBV_MR_TYPE_MR);
    for mask in [ADDR | DMAH, FD | OFFSET | IOVA] {
        assert_eq!(register(&context, |_| {}, mask).0, libc::EOPNOTSUPP);
    }
}

#[test]
fn a_part_of_a_dma_buf() {
    let context = TestContext::new(Form::Write);
    fake::answer(|call| {
        let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
        assert_eq!(ioctl.data(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE), Some(5));
        assert_eq!(ioctl.data(UVERBS_ATTR_REG_DMABUF_MR_OFFSET), Some(0x2000));
        assert_eq!(ioctl.data(UVERBS_ATTR_REG_DMABUF_MR_LENGTH), Some(64));
        assert_eq!(ioctl.data(UVERBS_ATTR_REG_DMABUF_MR_IOVA), Some(0x9000));
        assert_eq!(ioctl.input(UVERBS_ATTR_REG_DMABUF_MR_FD), Some(vec![31, 0, 0, 0]));
        assert_eq!(ioctl.input(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS), Some(vec![7, 0, 0, 0]));
        ioctl.set_data(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 12);
        ioctl.output(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, &13_u32);
        ioctl.output(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, &14_u32);
        Reply::Done
    });
    let mut pd = ibv_pd { context: context.get(), handle: 5 };
    let mut mr = verbs_mr::zeroed();
    // SAFETY: all objects are valid.
    let result = unsafe {
        ibv_cmd_reg_dmabuf_mr(&mut pd, 0x2000, 64, 0x9000, 31, 7, &mut mr, ptr::null_mut())
    };
    assert_eq!(result, 0);
    let new = mr.ibv_mr;
    assert_eq!((new.handle, new.lkey, new.rkey, new.length), (12, 13, 14, 64));
    assert_eq!((new.addr.addr(), new.context, new.pd), (0x2000, context.get(), &raw mut pd));
    assert_eq!(mr.mr_type, IBV_MR_TYPE_DMABUF_MR);
}
