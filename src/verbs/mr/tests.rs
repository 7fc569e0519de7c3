use core::ptr;

use super::extended::*;
use super::*;
use crate::fork::testing::{enable, fail_at, fail_no_more, take_advices};
use crate::verbs::testing::{Call, Fake, object, record, words};

const RELAXED: c_uint = IBV_ACCESS_RELAXED_ORDERING;

fn at(address: usize) -> *mut c_void {
    ptr::without_provenance_mut(address)
}

/// A region as a provider returns it: full of garbage but for its own part.
fn provider_mr(mr_type: ibv_mr_type, access: c_uint) -> Box<verbs_mr> {
    let garbage = ibv_mr {
        context: ptr::dangling_mut(),
        pd: ptr::dangling_mut(),
        addr: at(0xbad),
        length: 0xbad,
        handle: 1,
        lkey: 2,
        rkey: 3,
    };
    Box::new(verbs_mr { ibv_mr: garbage, mr_type, access: access.cast_signed() })
}

/// A registered region.
fn registered(fake: &Fake, pd: &mut ibv_pd, addr: usize, length: usize) -> Box<verbs_mr> {
    let mut mr = provider_mr(IBV_MR_TYPE_MR, 1);
    mr.ibv_mr.context = fake.context();
    mr.ibv_mr.pd = pd;
    mr.ibv_mr.addr = at(addr);
    mr.ibv_mr.length = length;
    mr
}

#[test]
fn a_new_region_is_filled_in() {
    let fake = Fake::new();
    let mut pd = fake.pd();
    let mut mr = provider_mr(IBV_MR_TYPE_MR, 1);
    fake.answer_object(&raw mut *mr);
    // SAFETY: live objects; memory is not touched.
    let result = unsafe { ibv_reg_mr(&mut pd, at(0x1234), 0x2000, 1) };
    assert_eq!(result, (&raw mut *mr).cast());
    let ibv_mr { context, pd: of_pd, addr, length, handle, lkey, rkey } = mr.ibv_mr;
    assert_eq!((context, of_pd), (fake.context(), &raw mut pd));
    assert_eq!((addr, length), (at(0x1234), 0x2000));
    assert_eq!((handle, lkey, rkey), (1, 2, 3));
    assert_eq!(fake.calls(), [Call("reg_mr", words![&raw const pd, 0x1234, 0x2000, 0x1234, 1])]);
}

#[test]
fn the_device_address_is_passed_on_and_remembered() {
    let fake = Fake::new();
    let mut pd = fake.pd();
    let mut mr = provider_mr(IBV_MR_TYPE_MR, 1);
    let region = &raw const mr.ibv_mr;
    fake.answer_object(&raw mut *mr);
    // SAFETY: live objects; memory is not touched.
    unsafe {
        ibv_reg_mr_iova(&mut pd, at(0x1000), 10, 0x55, 1);
        assert_eq!(device_start(region), Some(0x55));
        ibv_reg_mr_iova2(&mut pd, at(0x1000), 10, 0x66, 5);
        assert_eq!(device_start(region), Some(0x66));
        fake.answer(libc::EBUSY);
        ibv_dereg_mr(region.cast_mut());
        assert_eq!(device_start(region), Some(0x66), "the region is still there");
        fake.answer(0);
        ibv_dereg_mr(region.cast_mut());
        assert_eq!(device_start(region), Some(0x1000));
    }
    assert_eq!(
        fake.calls()[..2],
        [
            Call("reg_mr", words![&raw const pd, 0x1000, 10, 0x55, 1]),
            Call("reg_mr", words![&raw const pd, 0x1000, 10, 0x66, 5]),
        ]
    );
}

#[test]
fn optional_access_is_for_kernels_that_know_of_it() {
    let fake = Fake::new();
    let mut pd = fake.pd();
    let mut mr = provider_mr(IBV_MR_TYPE_MR, 1);
    fake.answer_object(&raw mut *mr);
    let asked = 1 | RELAXED | 1 << 29 | 1 << 30;
    let mut passed_on = |support| {
        // SAFETY: live objects; memory is not touched.
        unsafe {
            (*fake.device()).core_support = support;
            ibv_reg_mr_iova2(&mut pd, at(0x1000), 1, 0x1000, asked);
        }
        fake.calls()[0].1[4] as c_uint
    };
    assert_eq!(passed_on(0), 1 | 1 << 30);
    assert_eq!(passed_on(2), 1 | 1 << 30);
    assert_eq!(passed_on(1), asked);
    assert_eq!(passed_on(u64::MAX), asked);
}

#[test]
fn registered_memory_is_kept_from_children() {
    let fake = Fake::new();
    let mut pd = fake.pd();
    let mut mr = provider_mr(IBV_MR_TYPE_MR, 1);
    enable();
    fake.answer_object(&raw mut *mr);
    // SAFETY: live objects; memory is not touched.
    unsafe {
        ibv_reg_mr(&mut pd, at(0x1800), 0x1000, 1);
        assert_eq!(take_advices(), [(0x1000, 0x2000, true)]);
        fake.answer(libc::EBUSY);
        assert_eq!(ibv_dereg_mr(&mut mr.ibv_mr), libc::EBUSY);
        assert_eq!((Errno::last(), take_advices()), (Errno::EBUSY, vec![]));
        fake.answer(0);
        assert_eq!(ibv_dereg_mr(&mut mr.ibv_mr), 0);
        assert_eq!(take_advices(), [(0x1000, 0x2000, false)]);
    }
}

#[test]
fn memory_that_is_not_pinned_is_not_kept_from_children() {
    let fake = Fake::new();
    let mut pd = fake.pd();
    let mut mr = provider_mr(IBV_MR_TYPE_MR, IBV_ACCESS_ON_DEMAND);
    enable();
    fake.answer_object(&raw mut *mr);
    // SAFETY: live objects; memory is not touched.
    unsafe {
        let access = IBV_ACCESS_ON_DEMAND.cast_signed();
        assert!(!ibv_reg_mr(&mut pd, ptr::null_mut(), usize::MAX, access).is_null());
        assert!(!ibv_reg_mr(&mut pd, at(0x1000), 0x1000, access).is_null());
        fake.answer(0);
        ibv_dereg_mr(&mut mr.ibv_mr);
        // Nor are regions of other kinds.
        mr.access = 0;
        for mr_type in [IBV_MR_TYPE_NULL_MR, IBV_MR_TYPE_IMPORTED_MR, IBV_MR_TYPE_DMABUF_MR] {
            mr.mr_type = mr_type;
            assert_eq!(ibv_dereg_mr(&mut mr.ibv_mr), 0);
        }
    }
    assert_eq!(take_advices(), []);
}

#[test]
fn a_failed_registration_gives_the_memory_back() {
    let fake = Fake::new();
    let mut pd = fake.pd();
    enable();
    fake.answer(libc::ENOMEM);
    // SAFETY: live objects; memory is not touched.
    unsafe {
        assert!(ibv_reg_mr(&mut pd, at(0x1000), 0x1000, 1).is_null());
        assert_eq!(Errno::last(), Errno::ENOMEM);
        assert_eq!(take_advices(), [(0x1000, 0x1000, true), (0x1000, 0x1000, false)]);
        fake.calls();
        fail_at(0x1000, Errno::EFAULT);
        assert!(ibv_reg_mr(&mut pd, at(0x1000), 0x1000, 1).is_null());
        assert_eq!(Errno::last(), Errno::EFAULT);
    }
    assert!(fake.calls().is_empty());
}

#[test]
fn dmabufs_are_regions_at_their_offset() {
    let fake = Fake::new();
    let mut pd = fake.pd();
    let mut mr = provider_mr(IBV_MR_TYPE_DMABUF_MR, 1);
    enable();
    fake.answer_object(&raw mut *mr);
    let access = (1 | RELAXED).cast_signed();
    // SAFETY: live objects.
    unsafe {
        assert!(!ibv_reg_dmabuf_mr(&mut pd, 0x3000, 10, 0x777, 9, access).is_null());
        assert_eq!(mr.ibv_mr.context, fake.context());
        assert_eq!((mr.ibv_mr.pd, mr.ibv_mr.addr), (&raw mut pd, at(0x3000)));
        assert_eq!(mr.ibv_mr.length, 10);
        assert_eq!(device_start(&mr.ibv_mr), Some(0x777));
        fake.answer(0);
        ibv_dereg_mr(&mut mr.ibv_mr);
        fake.answer(libc::EOPNOTSUPP);
        assert!(ibv_reg_dmabuf_mr(&mut pd, 0, 1, 0, 9, 1).is_null());
        assert_eq!(Errno::last(), Errno::EOPNOTSUPP);
    }
    assert_eq!(take_advices(), []);
    assert_eq!(
        fake.calls()[0],
        Call("reg_dmabuf_mr", words![&raw const pd, 0x3000, 10, 0x777, 9, access])
    );
}

/// The operation `reg_mr_ex`, noting all members.
unsafe extern "C" fn note_attr(_: *mut ibv_pd, attr: *mut ibv_mr_init_attr) -> *mut ibv_mr {
    // SAFETY: the library passes a whole struct.
    let a = unsafe { *attr };
    record(
        "reg_mr_ex",
        &words![a.length, a.access, a.comp_mask, a.iova, a.addr, a.fd, a.fd_offset, a.dmah, a.buf],
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
            let start = if iova == 0 { 0x11000 } else { iova };
            assert_eq!(device_start(&mr.ibv_mr), Some(start));
            ibv_dereg_mr(&mut mr.ibv_mr);
        }
        take_advices();
        assert_eq!(
            fake.calls()[0].1,
            [0x1000, 1, passed, iova, 0x11000, 0, 0, dmah, 0],
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
            assert_eq!(device_start(&mr.ibv_mr), Some(0x11000));
            ibv_dereg_mr(&mut mr.ibv_mr);
        }
        assert_eq!(
            fake.calls()[0].1,
            [0x1000, 1, passed, 0x11000, 0, 33, 0x1000, dmah, 0],
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
        reg_mr: crate::verbs::testing::RECORDING_OPS.reg_mr,
        reg_dmabuf_mr: crate::verbs::testing::RECORDING_OPS.reg_dmabuf_mr,
        dereg_mr: crate::verbs::testing::RECORDING_OPS.dereg_mr,
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

/// Calls `ibv_rereg_mr` and returns its code with `errno` (0 for success).
fn rereg(
    mr: &mut verbs_mr,
    flags: c_uint,
    pd: *mut ibv_pd,
    addr: usize,
    length: usize,
    access: c_uint,
) -> (c_int, c_int) {
    Errno(0).store();
    let (flags, access) = (flags.cast_signed(), access.cast_signed());
    // SAFETY: live objects; memory is not touched.
    let code = unsafe { ibv_rereg_mr(&mut mr.ibv_mr, flags, pd, at(addr), length, access) };
    (code, Errno::last().0)
}

const MOVE: c_uint = IBV_REREG_MR_CHANGE_TRANSLATION;
const PD: c_uint = IBV_REREG_MR_CHANGE_PD;
const ACCESS: c_uint = IBV_REREG_MR_CHANGE_ACCESS;

#[test]
fn a_region_is_changed_in_what_the_flags_name() {
    let fake = Fake::new();
    let (mut pd, mut other) = (fake.pd(), fake.pd());
    for flags in 0..8 {
        let mut mr = registered(&fake, &mut pd, 0x1000, 0x2000);
        let access = if flags & ACCESS != 0 { 3 } else { 0 };
        assert_eq!(rereg(&mut mr, flags, &mut other, 0x8000, 0x3000, access), (0, 0));
        let moved = flags & MOVE != 0;
        let place = if moved { (at(0x8000), 0x3000) } else { (at(0x1000), 0x2000) };
        assert_eq!((mr.ibv_mr.addr, mr.ibv_mr.length), place, "{flags}");
        let new_pd = if flags & PD != 0 { &raw mut other } else { &raw mut pd };
        assert_eq!(mr.ibv_mr.pd, new_pd, "{flags}");
        assert_eq!(mr.access, if flags & ACCESS != 0 { 3 } else { 1 }, "{flags}");
        assert_eq!(
            fake.calls(),
            [Call(
                "rereg_mr",
                words![&raw const *mr, flags, &raw const other, 0x8000, 0x3000, access]
            )]
        );
    }
}

#[test]
fn bad_changes_never_reach_the_provider() {
    let fake = Fake::new();
    let mut pd = fake.pd();
    let mut mr = registered(&fake, &mut pd, 0x1000, 0x2000);
    let bad = (IBV_REREG_MR_ERR_INPUT, libc::EINVAL);
    for flags in [8, 1 << 31, MOVE | 16] {
        assert_eq!(rereg(&mut mr, flags, &mut pd, 0x1000, 1, 0), bad, "{flags}");
    }
    assert_eq!(rereg(&mut mr, MOVE, &mut pd, 0, 1, 0), bad);
    assert_eq!(rereg(&mut mr, MOVE, &mut pd, 0x1000, 0, 0), bad);
    assert_eq!(rereg(&mut mr, PD, ptr::null_mut(), 0, 0, 0), bad);
    for flags in [0, MOVE, PD, MOVE | PD] {
        assert_eq!(rereg(&mut mr, flags, &mut pd, 0x1000, 1, 1), bad, "{flags}");
    }
    for mr_type in [IBV_MR_TYPE_NULL_MR, IBV_MR_TYPE_IMPORTED_MR, IBV_MR_TYPE_DMABUF_MR] {
        mr.mr_type = mr_type;
        assert_eq!(rereg(&mut mr, ACCESS, &mut pd, 0, 0, 1), bad);
    }
    assert!(fake.calls().is_empty());
    assert_eq!((mr.ibv_mr.addr, mr.access), (at(0x1000), 1));
}

#[test]
fn a_refused_change_has_the_code_for_the_command() {
    let fake = Fake::new();
    let (mut pd, mut other) = (fake.pd(), fake.pd());
    let mut mr = registered(&fake, &mut pd, 0x1000, 0x2000);
    enable();
    fake.answer(libc::EPERM);
    assert_eq!(
        rereg(&mut mr, MOVE | PD | ACCESS, &mut other, 0x8000, 0x1000, 3),
        (IBV_REREG_MR_ERR_CMD, libc::EPERM)
    );
    assert_eq!((mr.ibv_mr.addr, mr.ibv_mr.pd, mr.access), (at(0x1000), &raw mut pd, 1));
    assert_eq!(take_advices(), [(0x8000, 0x1000, true), (0x8000, 0x1000, false)]);
    // The default returns -1 with `errno`.
    let fake = Fake::with_ops(&verbs_context_ops::zeroed());
    let mut mr = registered(&fake, &mut pd, 0x1000, 0x2000);
    assert_eq!(rereg(&mut mr, 0, &mut pd, 0, 0, 0), (IBV_REREG_MR_ERR_CMD, libc::EOPNOTSUPP));
}

#[test]
fn a_change_of_place_moves_the_marks() {
    let fake = Fake::new();
    let mut pd = fake.pd();
    let mut mr = provider_mr(IBV_MR_TYPE_MR, 1);
    enable();
    fake.answer_object(&raw mut *mr);
    // SAFETY: live objects; memory is not touched.
    unsafe { ibv_reg_mr(&mut pd, at(0x1000), 0x2000, 1) };
    take_advices();
    fake.answer(0);
    assert_eq!(rereg(&mut mr, ACCESS | PD, &mut pd, 0, 0, 3), (0, 0));
    assert_eq!(take_advices(), []);
    // Page 0x2000 is in both.
    assert_eq!(rereg(&mut mr, MOVE, &mut pd, 0x2000, 0x2000, 0), (0, 0));
    assert_eq!(take_advices(), [(0x3000, 0x1000, true), (0x1000, 0x1000, false)]);
    fail_at(0x9000, Errno::ENOMEM);
    assert_eq!(
        rereg(&mut mr, MOVE, &mut pd, 0x9000, 0x1000, 0),
        (IBV_REREG_MR_ERR_DONT_FORK_NEW, libc::ENOMEM)
    );
    fail_no_more();
    take_advices();
    // Memory that is not pinned any more needs no mark, and again when it is.
    assert_eq!(rereg(&mut mr, ACCESS, &mut pd, 0, 0, IBV_ACCESS_ON_DEMAND), (0, 0));
    assert_eq!(take_advices(), [(0x2000, 0x2000, false)]);
    assert_eq!(rereg(&mut mr, MOVE, &mut pd, 0x5000, 0x1000, 0), (0, 0));
    assert_eq!(take_advices(), []);
    assert_eq!(rereg(&mut mr, ACCESS, &mut pd, 0, 0, 1), (0, 0));
    assert_eq!(take_advices(), [(0x5000, 0x1000, true)]);
    // SAFETY: a live region.
    unsafe { ibv_dereg_mr(&mut mr.ibv_mr) };
    assert_eq!(take_advices(), [(0x5000, 0x1000, false)]);
}

#[test]
fn a_moved_region_is_known_by_its_new_address() {
    let fake = Fake::new();
    let mut pd = fake.pd();
    let mut mr = provider_mr(IBV_MR_TYPE_MR, 1);
    fake.answer_object(&raw mut *mr);
    // SAFETY: live objects; memory is not touched.
    unsafe {
        ibv_reg_mr_iova(&mut pd, at(0x1000), 0x2000, 0x77, 1);
        fake.answer(0);
        assert_eq!(rereg(&mut mr, ACCESS, &mut pd, 0, 0, 3), (0, 0));
        assert_eq!(device_start(&mr.ibv_mr), Some(0x77));
        assert_eq!(rereg(&mut mr, MOVE, &mut pd, 0x9000, 0x2000, 0), (0, 0));
        assert_eq!(device_start(&mr.ibv_mr), Some(0x9000));
    }
}

#[test]
fn imported_regions_reach_the_provider() {
    let fake = Fake::new();
    let mut pd = fake.pd();
    let mut mr = registered(&fake, &mut pd, 0, 0);
    fake.answer_object(&raw mut *mr);
    // SAFETY: live objects.
    unsafe {
        assert_eq!(ibv_import_mr(&mut pd, 4), &raw mut mr.ibv_mr);
        ibv_unimport_mr(&mut mr.ibv_mr);
        fake.answer(libc::EOPNOTSUPP);
        assert!(ibv_import_mr(&mut pd, 4).is_null());
        assert_eq!(Errno::last(), Errno::EOPNOTSUPP);
    }
    let import = Call("import_mr", words![&raw const pd, 4]);
    assert_eq!(fake.calls(), [import.clone(), Call("unimport_mr", words![&raw const *mr]), import]);
}
