use core::ffi::c_uint;

use super::*;
use crate::fork::testing::{enable, take_advices};
use crate::verbs::mr::device_address::start;
use crate::verbs::mr::ibv_dereg_mr;
use crate::verbs::mr::tests::{RELAXED, at, provider_mr};
use crate::verbs::testing::{Call, Fake, RECORDING_OPS, object, record, words};

/// The operation `reg_mr_ex`, noting all members.
unsafe extern "C" fn note_attr(_: *mut ibv_pd, attr: *mut ibv_mr_init_attr) -> *mut ibv_mr {
    // SAFETY: the library passes a whole struct.
    let a = unsafe { *attr };
    record(
        "reg_mr_ex",
        words![a.length, a.access, a.comp_mask, a.iova, a.addr, a.fd, a.fd_offset, a.dmah, a.buf],
    );
    object()
}

/// Attributes with something in every member.
fn full_attr(comp_mask: c_uint, buf: *mut ibv_buf) -> ibv_mr_init_attr {
    ibv_mr_init_attr {
        length: 0x1000,
        access: 1,
        comp_mask: u64::from(comp_mask),
        iova: 0xabc,
        addr: at(0x11000),
        fd: 44,
        fd_offset: 0x2222,
        dmah: ptr::without_provenance_mut(0x99),
        buf,
    }
}

/// A context whose provider has `reg_mr_ex`.
fn fake_with_reg_mr_ex() -> Fake {
    let fake = Fake::new();
    fake.set_ops(|ops| ops.reg_mr_ex = Some(note_attr));
    fake
}

#[test]
fn the_provider_gets_the_members_that_the_mask_names() {
    let fake = fake_with_reg_mr_ex();
    let mut pd = fake.pd();
    for mask in 0..32 {
        let mut mr = provider_mr(IBV_MR_TYPE_MR, 1);
        fake.answer_object(&raw mut *mr);
        let mut attr = full_attr(mask, ptr::dangling_mut());
        // SAFETY: live objects; memory is not touched.
        assert!(!unsafe { ibv_reg_mr_ex(&mut pd, &mut attr) }.is_null());
        let named = |bit, value| if mask & bit != 0 { value } else { 0 };
        let offset = named(IBV_REG_MR_MASK_FD_OFFSET, 0x2222);
        assert_eq!(
            fake.calls()[0].1,
            [
                0x1000,
                1,
                u64::from(mask),
                named(IBV_REG_MR_MASK_IOVA, 0xabc),
                named(IBV_REG_MR_MASK_ADDR, 0x11000),
                named(IBV_REG_MR_MASK_FD, 44),
                offset,
                named(IBV_REG_MR_MASK_DMAH, 0x99),
                0,
            ],
            "{mask:#x}"
        );
        let place = if mask & IBV_REG_MR_MASK_ADDR != 0 { 0x11000 } else { offset };
        assert_eq!(mr.ibv_mr.addr.addr() as u64, place, "{mask:#x}");
        assert_eq!((mr.ibv_mr.length, mr.ibv_mr.pd), (0x1000, &raw mut pd));
        assert_eq!(mr.ibv_mr.context, fake.context());
        fake.answer(0);
        // SAFETY: a live region.
        unsafe { ibv_dereg_mr(&mut mr.ibv_mr) };
        fake.calls();
    }
}

#[test]
fn unknown_bits_are_for_the_provider() {
    let fake = fake_with_reg_mr_ex();
    let mut pd = fake.pd();
    let mut attr = full_attr(IBV_REG_MR_MASK_ADDR, ptr::null_mut());
    attr.comp_mask |= 1 << 40;
    fake.answer(libc::EOPNOTSUPP);
    // SAFETY: live objects; memory is not touched.
    assert!(unsafe { ibv_reg_mr_ex(&mut pd, &mut attr) }.is_null());
    assert_eq!(Errno::last(), Errno::EOPNOTSUPP);
    assert_eq!(fake.calls()[0].1[2], 1 << 40 | u64::from(IBV_REG_MR_MASK_ADDR));
}

#[test]
fn without_attributes_there_is_no_region() {
    let fake = fake_with_reg_mr_ex();
    let mut pd = fake.pd();
    // SAFETY: NULL is handled.
    assert!(unsafe { ibv_reg_mr_ex(&mut pd, ptr::null_mut()) }.is_null());
    assert_eq!((Errno::last(), fake.calls()), (Errno::EINVAL, vec![]));
}

#[test]
fn extended_registrations_mark_memory_but_no_dmabuf() {
    let fake = fake_with_reg_mr_ex();
    let mut pd = fake.pd();
    let mut mr = provider_mr(IBV_MR_TYPE_MR, 1);
    enable();
    fake.answer_object(&raw mut *mr);
    let mut attr = full_attr(IBV_REG_MR_MASK_ADDR, ptr::null_mut());
    // SAFETY: live objects; memory is not touched.
    unsafe {
        ibv_reg_mr_ex(&mut pd, &mut attr);
        assert_eq!(take_advices(), [(0x11000, 0x1000, true)]);
        attr.comp_mask |= u64::from(IBV_REG_MR_MASK_FD);
        ibv_reg_mr_ex(&mut pd, &mut attr);
        attr.comp_mask &= !u64::from(IBV_REG_MR_MASK_FD);
        attr.access = IBV_ACCESS_ON_DEMAND.cast_signed();
        ibv_reg_mr_ex(&mut pd, &mut attr);
        assert_eq!(take_advices(), []);
        attr.access = 1;
        attr.addr = at(0x20000);
        fake.answer(libc::EINVAL);
        assert!(ibv_reg_mr_ex(&mut pd, &mut attr).is_null());
    }
    assert_eq!(take_advices(), [(0x20000, 0x1000, true), (0x20000, 0x1000, false)]);
}

#[test]
fn extended_registrations_drop_optional_access_for_old_kernels() {
    let fake = fake_with_reg_mr_ex();
    let mut pd = fake.pd();
    let mut attr = full_attr(IBV_REG_MR_MASK_ADDR, ptr::null_mut());
    attr.access = (1 | RELAXED).cast_signed();
    let mut passed_on = |support| {
        // SAFETY: live objects; memory is not touched.
        unsafe {
            (*fake.device()).core_support = support;
            ibv_reg_mr_ex(&mut pd, &mut attr);
        }
        assert_eq!(attr.access, (1 | RELAXED).cast_signed());
        fake.calls()[0].1[1]
    };
    assert_eq!(passed_on(0), 1);
    assert_eq!(passed_on(1), u64::from(1 | RELAXED));
}

/// A buffer of 0x4000 bytes at 0x10000.
fn buffer(pd: &mut ibv_pd, dmabuf_fd: c_int) -> ibv_buf {
    ibv_buf { addr: at(0x10000), size: 0x4000, pd, dmabuf_fd }
}

#[test]
fn buffers_of_memory_are_registered_by_address() {
    let fake = fake_with_reg_mr_ex();
    let mut pd = fake.pd();
    let mut buf = buffer(&mut pd, -1);
    let mut mr = provider_mr(IBV_MR_TYPE_MR, 1);
    enable();
    fake.answer_object(&raw mut *mr);
    let both = IBV_REG_MR_MASK_BUF | IBV_REG_MR_MASK_ADDR;
    for (mask, passed, iova, dmah) in [
        (both, 2, 0, 0),
        (both | IBV_REG_MR_MASK_IOVA, 3, 0xabc, 0),
        (both | IBV_REG_MR_MASK_DMAH, 0x12, 0, 0x99),
        (both | IBV_REG_MR_MASK_IOVA | IBV_REG_MR_MASK_DMAH, 0x13, 0xabc, 0x99),
    ] {
        let mut attr = full_attr(mask, &mut buf);
        // SAFETY: live objects; memory is not touched.
        unsafe {
            assert!(!ibv_reg_mr_ex(&mut pd, &mut attr).is_null());
            assert_eq!(mr.ibv_mr.addr, at(0x11000));
            assert_eq!(take_advices(), [(0x11000, 0x1000, true)]);
            let expected = if iova == 0 { 0x11000 } else { iova };
            assert_eq!(start(&mr.ibv_mr), Some(expected));
            ibv_dereg_mr(&mut mr.ibv_mr);
        }
        take_advices();
        assert_eq!(
            fake.calls()[0].1,
            words![0x1000, 1, passed, iova, 0x11000, 0, 0, dmah, &raw const buf],
            "{mask:#x}"
        );
        fake.answer_object(&raw mut *mr);
    }
}

#[test]
fn buffers_with_a_dmabuf_are_registered_by_descriptor() {
    let fake = fake_with_reg_mr_ex();
    let mut pd = fake.pd();
    let mut buf = buffer(&mut pd, 33);
    let mut mr = provider_mr(IBV_MR_TYPE_DMABUF_MR, 1);
    enable();
    fake.answer_object(&raw mut *mr);
    let both = IBV_REG_MR_MASK_BUF | IBV_REG_MR_MASK_ADDR;
    for (mask, passed, dmah) in [(both, 0xd, 0), (both | IBV_REG_MR_MASK_DMAH, 0x1d, 0x99)] {
        let mut attr = full_attr(mask, &mut buf);
        // SAFETY: live objects; memory is not touched.
        unsafe {
            assert!(!ibv_reg_mr_ex(&mut pd, &mut attr).is_null());
            assert_eq!(mr.ibv_mr.addr, at(0x1000), "the offset in the dma-buf");
            assert_eq!(start(&mr.ibv_mr), Some(0x11000));
            ibv_dereg_mr(&mut mr.ibv_mr);
        }
        assert_eq!(
            fake.calls()[0].1,
            words![0x1000, 1, passed, 0x11000, 0x11000, 33, 0x1000, dmah, &raw const buf],
            "{mask:#x}"
        );
    }
    assert_eq!(take_advices(), []);
}

#[test]
fn members_that_a_buffer_determines_are_refused() {
    let fake = fake_with_reg_mr_ex();
    let mut pd = fake.pd();
    let buf_bit = IBV_REG_MR_MASK_BUF;
    let (addr, iova) = (IBV_REG_MR_MASK_ADDR, IBV_REG_MR_MASK_IOVA);
    let (fd, offset) = (IBV_REG_MR_MASK_FD, IBV_REG_MR_MASK_FD_OFFSET);
    let both = buf_bit | addr;
    for (dmabuf_fd, mask) in [
        (-1, buf_bit),
        (-1, buf_bit | iova),
        (-1, both | fd),
        (-1, both | offset),
        (-1, both | fd | offset | iova),
        (-1, buf_bit | fd | offset | iova),
        (33, buf_bit),
        (33, both | fd),
        (33, both | offset),
        (33, both | iova),
    ] {
        let mut buf = buffer(&mut pd, dmabuf_fd);
        let mut attr = full_attr(mask, &mut buf);
        // SAFETY: live objects.
        assert!(unsafe { ibv_reg_mr_ex(&mut pd, &mut attr) }.is_null());
        assert_eq!((Errno::last(), fake.calls()), (Errno::EINVAL, vec![]), "{mask:#x}");
    }
}

#[test]
fn a_buffer_is_registered_in_its_own_pd() {
    let fake = fake_with_reg_mr_ex();
    let (mut pd, mut other) = (fake.pd(), fake.pd());
    let mut buf = buffer(&mut pd, -1);
    // SAFETY: live objects.
    unsafe {
        assert!(ibv_reg_buf_mr(&mut other, &mut buf, at(0x10000), 1, 1).is_null());
        assert_eq!(Errno::last(), Errno::EINVAL);
        assert!(ibv_reg_buf_mr(&mut pd, ptr::null_mut(), at(0x10000), 1, 1).is_null());
        assert_eq!(Errno::last(), Errno::EINVAL);
    }
    assert!(fake.calls().is_empty());
}

#[test]
fn a_registered_part_lies_inside_of_the_buffer() {
    let fake = fake_with_reg_mr_ex();
    let mut pd = fake.pd();
    let mut mr = provider_mr(IBV_MR_TYPE_MR, 1);
    fake.answer_object(&raw mut *mr);
    for dmabuf_fd in [-1, 33] {
        let mut buf = buffer(&mut pd, dmabuf_fd);
        for (address, length, inside) in [
            (0x10000, 0x4000, true),
            (0x13fff, 1, true),
            (0x10000, 0, true),
            (0x14000, 0, true),
            (0x10000, 0x4001, false),
            (0x13fff, 2, false),
            (0x14000, 1, false),
            (0x14001, 0, false),
            (0xffff, 1, false),
            (0xffff, 0, false),
            (0, 0x14000, false),
            (0x10001, usize::MAX, false),
            (0x13fff, usize::MAX, false),
            (usize::MAX, 1, false),
            (usize::MAX, usize::MAX, false),
        ] {
            Errno(0).store();
            // SAFETY: live objects; memory is not touched.
            let result = unsafe { ibv_reg_buf_mr(&mut pd, &mut buf, at(address), length, 5) };
            assert_eq!(!result.is_null(), inside, "{length:#x} bytes at {address:#x}");
            let calls = fake.calls();
            assert_eq!(calls.len(), usize::from(inside));
            if inside {
                assert_eq!(calls[0].1[..2], [length as u64, 5]);
                // SAFETY: a live region.
                unsafe { ibv_dereg_mr(result) };
                fake.calls();
            } else {
                assert_eq!(Errno::last(), Errno::EINVAL);
            }
        }
    }
}

#[test]
fn the_caller_s_attributes_stay_as_they_are() {
    let fake = fake_with_reg_mr_ex();
    let mut pd = fake.pd();
    for (mask, dmabuf_fd) in (0..64).flat_map(|mask| [(mask, -1), (mask, 33)]) {
        let mut mr = provider_mr(IBV_MR_TYPE_MR, 1);
        fake.answer_object(&raw mut *mr);
        let mut buf = buffer(&mut pd, dmabuf_fd);
        let mut attr = full_attr(mask, &mut buf);
        attr.access |= RELAXED.cast_signed();
        let bytes = |attr: &ibv_mr_init_attr| {
            let members = (attr.length, attr.access, attr.comp_mask, attr.iova, attr.addr);
            (members, attr.fd, attr.fd_offset, attr.dmah, attr.buf)
        };
        let before = bytes(&attr);
        // SAFETY: live objects; memory is not touched.
        let result = unsafe { ibv_reg_mr_ex(&mut pd, &mut attr) };
        assert_eq!(bytes(&attr), before, "{mask:#x}");
        if !result.is_null() {
            // SAFETY: a live region.
            unsafe { ibv_dereg_mr(result) };
        }
    }
}

#[test]
fn the_defaults_register_buffers_too() {
    let fake = Fake::with_ops(&verbs_context_ops {
        reg_mr: RECORDING_OPS.reg_mr,
        reg_dmabuf_mr: RECORDING_OPS.reg_dmabuf_mr,
        dereg_mr: RECORDING_OPS.dereg_mr,
        ..verbs_context_ops::zeroed()
    });
    let mut pd = fake.pd();
    let mut mr = provider_mr(IBV_MR_TYPE_MR, 1);
    fake.answer_object(&raw mut *mr);
    let (mut plain, mut dmabuf) = (buffer(&mut pd, -1), buffer(&mut pd, 33));
    // SAFETY: live objects; memory is not touched.
    unsafe {
        ibv_reg_buf_mr(&mut pd, &mut plain, at(0x11008), 0x10, 3);
        ibv_reg_buf_mr(&mut pd, &mut dmabuf, at(0x11008), 0x10, 3);
        ibv_dereg_mr(&mut mr.ibv_mr);
    }
    assert_eq!(
        fake.calls()[..2],
        [
            Call("reg_mr", words![&raw const pd, 0x11008, 0x10, 0x11008, 3]),
            Call("reg_dmabuf_mr", words![&raw const pd, 0x1008, 0x10, 0x11008, 33, 3]),
        ]
    );
}
