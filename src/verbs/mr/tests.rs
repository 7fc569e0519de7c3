use core::ptr;

use super::*;
use crate::fork::testing::{enable, fail_at, fail_no_more, take_advices};
use crate::verbs::testing::{Call, Fake, words};

pub(super) const RELAXED: c_uint = IBV_ACCESS_RELAXED_ORDERING;

pub(super) fn at(address: usize) -> *mut c_void {
    ptr::without_provenance_mut(address)
}

/// A region as a provider returns it: full of garbage but for its own part.
pub(super) fn provider_mr(mr_type: ibv_mr_type, access: c_uint) -> Box<verbs_mr> {
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
