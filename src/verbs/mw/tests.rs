use core::ptr;

use super::*;
use crate::verbs::testing::{Call, Fake, new_qp, record, words};

const FULL: u32 = IBV_ACCESS_LOCAL_WRITE
    | IBV_ACCESS_MW_BIND
    | IBV_ACCESS_REMOTE_WRITE
    | IBV_ACCESS_REMOTE_READ
    | IBV_ACCESS_REMOTE_ATOMIC;

/// A QP, a window and a region of 0x1000 bytes at 0x10000 in one PD, and a request that is fine.
struct Objects {
    fake: Fake,
    pd: Box<ibv_pd>,
    qp: Box<ibv_qp>,
    mw: ibv_mw,
    mr: Box<verbs_mr>,
    request: ibv_mw_bind,
}

/// A bind operation as providers have it: it chooses the next key.
unsafe extern "C" fn bind_mw(qp: *mut ibv_qp, mw: *mut ibv_mw, request: *mut ibv_mw_bind) -> c_int {
    record("bind_mw", words![qp, mw, request]);
    // SAFETY: the test passes live objects.
    unsafe { (*mw).rkey += 1 };
    0
}

impl Objects {
    fn new() -> Objects {
        let fake = Fake::new();
        fake.set_ops(|ops| ops.bind_mw = Some(bind_mw));
        let mut pd = Box::new(fake.pd());
        let mut qp = new_qp(&fake);
        qp.qp_type = IBV_QPT_RC;
        let mw = ibv_mw {
            context: fake.context(),
            pd: &raw mut *pd,
            rkey: 0x100,
            type_: IBV_MW_TYPE_1,
            ..ibv_mw::zeroed()
        };
        let mut mr = Box::new(verbs_mr {
            ibv_mr: ibv_mr {
                context: fake.context(),
                pd: &raw mut *pd,
                addr: ptr::without_provenance_mut(0x10000),
                length: 0x1000,
                ..ibv_mr::zeroed()
            },
            mr_type: IBV_MR_TYPE_MR,
            access: FULL.cast_signed(),
        });
        let request = ibv_mw_bind {
            wr_id: 7,
            send_flags: IBV_SEND_SIGNALED,
            bind_info: ibv_mw_bind_info {
                mr: (&raw mut *mr).cast(),
                addr: 0x10000,
                length: 0x1000,
                mw_access_flags: IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
            },
        };
        Objects { fake, pd, qp, mw, mr, request }
    }

    /// What `ibv_bind_mw` returns. It must reach the provider on success and only then, and
    /// have `errno` agree.
    fn bind(&mut self) -> c_int {
        let (qp, mw, request) = (&raw mut *self.qp, &raw mut self.mw, &raw mut self.request);
        let before = self.mw.rkey;
        Errno(0).store();
        // SAFETY: live objects.
        let status = unsafe { ibv_bind_mw(qp, mw, request) };
        assert_eq!(Errno::last(), Errno(status));
        if status == 0 {
            assert_eq!(self.fake.calls(), [Call("bind_mw", words![qp, mw, request])]);
            assert_eq!(self.mw.rkey, before + 1);
        } else {
            assert_eq!(self.fake.calls(), []);
            assert_eq!(self.mw.rkey, before);
        }
        status
    }

    /// What it returns with a change of the objects, for this time only.
    fn bind_with(&mut self, change: impl FnOnce(&mut Objects)) -> c_int {
        let (qp, mw, mr, request) = (*self.qp, self.mw, *self.mr, self.request);
        change(self);
        let status = self.bind();
        (*self.qp, self.mw, *self.mr, self.request) = (qp, mw, mr, request);
        status
    }
}

#[test]
fn a_good_request_gets_a_new_key() {
    let mut objects = Objects::new();
    assert_eq!(objects.bind(), 0);
    assert_eq!(objects.bind(), 0);
    assert_eq!(objects.mw.rkey, 0x102);
    assert_eq!(objects.request.wr_id, 7);
}

#[test]
fn the_window_is_of_type_1() {
    let mut objects = Objects::new();
    for mw_type in [0, IBV_MW_TYPE_2, 3, u32::MAX] {
        assert_eq!(objects.bind_with(|o| o.mw.type_ = mw_type), libc::EINVAL, "{mw_type}");
    }
}

#[test]
fn without_a_region_there_is_no_address_and_no_length() {
    let mut objects = Objects::new();
    for (addr, length, status) in
        [(0, 0, 0), (1, 0, libc::EINVAL), (0, 1, libc::EINVAL), (1, 1, libc::EINVAL)]
    {
        let result = objects.bind_with(|o| {
            let mr = ptr::null_mut();
            o.request.bind_info = ibv_mw_bind_info { mr, addr, length, mw_access_flags: 0 };
        });
        assert_eq!(result, status, "{addr} {length}");
    }
}

#[test]
fn the_region_is_of_the_window_s_pd() {
    let mut objects = Objects::new();
    let mut other = *objects.pd;
    assert_eq!(objects.bind_with(|o| o.mr.ibv_mr.pd = &raw mut other), libc::EPERM);
    assert_eq!(objects.bind_with(|o| o.mw.pd = &raw mut other), libc::EPERM);
    // Also when the window is unbound.
    let status = objects.bind_with(|o| {
        o.mw.pd = &raw mut other;
        o.request.bind_info.length = 0;
    });
    assert_eq!(status, libc::EPERM);
    // The PD of the QP is no matter of binding windows of type 1.
    assert_eq!(objects.bind_with(|o| o.qp.pd = &raw mut other), 0);
}

#[test]
fn checks_come_in_the_known_order() {
    let mut objects = Objects::new();
    let mut other = *objects.pd;
    // The type comes before the PD, the PD before all that the header does not check.
    let status = objects.bind_with(|o| {
        o.mw.type_ = IBV_MW_TYPE_2;
        o.mw.pd = &raw mut other;
    });
    assert_eq!(status, libc::EINVAL);
    let status = objects.bind_with(|o| {
        o.mw.pd = &raw mut other;
        o.qp.qp_type = IBV_QPT_UD;
        o.request.send_flags = u32::MAX;
        o.request.bind_info.length = u64::MAX;
    });
    assert_eq!(status, libc::EPERM);
}

#[test]
fn the_qp_is_rc_uc_or_xrc_send() {
    let mut objects = Objects::new();
    for qp_type in [IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_XRC_SEND] {
        assert_eq!(objects.bind_with(|o| o.qp.qp_type = qp_type), 0, "{qp_type}");
    }
    for qp_type in [0, 1, IBV_QPT_UD, IBV_QPT_RAW_PACKET, IBV_QPT_XRC_RECV, IBV_QPT_DRIVER, 300] {
        let status = objects.bind_with(|o| o.qp.qp_type = qp_type);
        assert_eq!(status, libc::EINVAL, "{qp_type}");
    }
}

#[test]
fn the_qp_is_of_the_window_s_context() {
    let mut objects = Objects::new();
    let mut other = ibv_context::zeroed();
    assert_eq!(objects.bind_with(|o| o.qp.context = &raw mut other), libc::EINVAL);
}

#[test]
fn the_flags_are_fence_and_signaled() {
    let mut objects = Objects::new();
    for flags in [0, IBV_SEND_FENCE, IBV_SEND_SIGNALED, IBV_SEND_FENCE | IBV_SEND_SIGNALED] {
        assert_eq!(objects.bind_with(|o| o.request.send_flags = flags), 0, "{flags}");
    }
    for flags in [
        IBV_SEND_SOLICITED,
        IBV_SEND_INLINE,
        IBV_SEND_IP_CSUM,
        1 << 5,
        1 << 31,
        IBV_SEND_SIGNALED | IBV_SEND_INLINE,
    ] {
        let status = objects.bind_with(|o| o.request.send_flags = flags);
        assert_eq!(status, libc::EINVAL, "{flags}");
    }
}

#[test]
fn the_access_is_remote_access() {
    let mut objects = Objects::new();
    for access in [
        0,
        IBV_ACCESS_REMOTE_READ,
        IBV_ACCESS_REMOTE_WRITE,
        IBV_ACCESS_REMOTE_ATOMIC,
        IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
        IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_READ,
        IBV_ACCESS_FLUSH_GLOBAL | IBV_ACCESS_FLUSH_PERSISTENT,
        IBV_ACCESS_RELAXED_ORDERING | IBV_ACCESS_REMOTE_READ,
        1 << 29,
        1 << 15,
    ] {
        let status = objects.bind_with(|o| o.request.bind_info.mw_access_flags = access);
        assert_eq!(status, 0, "{access:#x}");
    }
    for access in [
        IBV_ACCESS_LOCAL_WRITE,
        IBV_ACCESS_MW_BIND,
        IBV_ACCESS_ON_DEMAND,
        IBV_ACCESS_HUGETLB,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
    ] {
        let status = objects.bind_with(|o| o.request.bind_info.mw_access_flags = access);
        assert_eq!(status, libc::EINVAL, "{access:#x}");
    }
}

#[test]
fn the_region_allows_windows() {
    let mut objects = Objects::new();
    for access in [0, FULL & !IBV_ACCESS_MW_BIND] {
        let status = objects.bind_with(|o| o.mr.access = access.cast_signed());
        assert_eq!(status, libc::EINVAL, "{access:#x}");
    }
}

#[test]
fn remote_writes_need_local_write_access() {
    let mut objects = Objects::new();
    let mut bind = |of_region: u32, of_window| {
        objects.bind_with(|o| {
            o.mr.access = of_region.cast_signed();
            o.request.bind_info.mw_access_flags = of_window;
        })
    };
    let read_only = IBV_ACCESS_MW_BIND;
    assert_eq!(bind(read_only, 0), 0);
    assert_eq!(bind(read_only, IBV_ACCESS_REMOTE_READ), 0);
    assert_eq!(bind(read_only, IBV_ACCESS_REMOTE_WRITE), libc::EINVAL);
    assert_eq!(bind(read_only, IBV_ACCESS_REMOTE_ATOMIC), libc::EINVAL);
    let writable = read_only | IBV_ACCESS_LOCAL_WRITE;
    assert_eq!(bind(writable, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC), 0);
}

#[test]
fn the_part_lies_inside_of_the_region() {
    let mut objects = Objects::new();
    for (addr, length, inside) in [
        (0x10000, 0x1000, true),
        (0x10000, 1, true),
        (0x10fff, 1, true),
        (0x10000, 0x1001, false),
        (0x10fff, 2, false),
        (0x11000, 1, false),
        (0xffff, 1, false),
        (0xffff, 2, false),
        (0, 0x1000, false),
        (0x10001, u64::MAX, false),
        (u64::MAX, 1, false),
        (u64::MAX, u64::MAX, false),
    ] {
        let status = objects.bind_with(|o| {
            o.request.bind_info.addr = addr;
            o.request.bind_info.length = length;
        });
        assert_eq!(status == 0, inside, "{length:#x} at {addr:#x}");
        assert!(inside || status == libc::EINVAL);
    }
}

#[test]
fn a_zero_based_window_starts_inside_of_the_region_too() {
    let mut objects = Objects::new();
    let zero_based = IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_READ;
    objects.request.bind_info.mw_access_flags = zero_based;
    assert_eq!(objects.bind_with(|o| o.request.bind_info.addr = 0x10000), 0);
    assert_eq!(objects.bind_with(|o| o.request.bind_info.addr = 0), libc::EINVAL);
}

#[test]
fn no_bytes_unbind_and_demand_nothing_of_the_region() {
    let mut objects = Objects::new();
    let status = objects.bind_with(|o| {
        o.mr.access = 0;
        o.request.bind_info.length = 0;
        o.request.bind_info.mw_access_flags = 0;
    });
    assert_eq!(status, 0);
    // But the request must be a good one.
    let status = objects.bind_with(|o| {
        o.qp.qp_type = IBV_QPT_UD;
        o.request.bind_info.length = 0;
    });
    assert_eq!(status, libc::EINVAL);
}

#[test]
fn what_is_not_known_of_a_region_is_not_checked() {
    let mut objects = Objects::new();
    // Device memory: no address, access not kept.
    let device_memory = |o: &mut Objects, addr, length| {
        o.mr.access = 0;
        o.mr.ibv_mr.addr = ptr::null_mut();
        o.request.bind_info.addr = addr;
        o.request.bind_info.length = length;
    };
    assert_eq!(objects.bind_with(|o| device_memory(o, 0x7_0000, 0x1000)), 0);
    assert_eq!(objects.bind_with(|o| device_memory(o, 0, 0x1001)), libc::EINVAL);
    for mr_type in [IBV_MR_TYPE_DMABUF_MR, IBV_MR_TYPE_IMPORTED_MR] {
        let mut bind = |length| {
            objects.bind_with(|o| {
                o.mr.mr_type = mr_type;
                o.mr.access = 0;
                o.request.bind_info.addr = 5;
                o.request.bind_info.length = length;
            })
        };
        assert_eq!((bind(0x1000), bind(0x1001)), (0, libc::EINVAL), "{mr_type}");
    }
    let status = objects.bind_with(|o| {
        o.mr.mr_type = IBV_MR_TYPE_NULL_MR;
        o.mr.ibv_mr.length = 0;
    });
    assert_eq!(status, 0);
    // All memory, on demand.
    let mut everywhere = |addr, length| {
        objects.bind_with(|o| {
            o.mr.access = (FULL | IBV_ACCESS_ON_DEMAND).cast_signed();
            o.mr.ibv_mr.addr = ptr::null_mut();
            o.mr.ibv_mr.length = usize::MAX;
            o.request.bind_info.addr = addr;
            o.request.bind_info.length = length;
        })
    };
    assert_eq!(everywhere(0x7fff_0000_0000, 0x1000), 0);
    assert_eq!(everywhere(u64::MAX, 2), libc::EINVAL);
    // A region in addresses of its own.
    let zero_based = FULL | IBV_ACCESS_ZERO_BASED;
    let status = objects.bind_with(|o| {
        o.mr.access = zero_based.cast_signed();
        o.request.bind_info.addr = 0;
    });
    assert_eq!(status, 0);
}

#[test]
fn a_region_with_a_device_address_is_bound_by_that() {
    let mut objects = Objects::new();
    let mut mr = Box::new(*objects.mr);
    let region = (&raw mut *mr).cast::<ibv_mr>();
    objects.fake.answer_object(region);
    // SAFETY: live objects; memory is not touched.
    unsafe {
        let memory = ptr::without_provenance_mut(0x10000);
        mr::ibv_reg_mr_iova(&raw mut *objects.pd, memory, 0x1000, 0x5000_0000, 0x1f);
    }
    objects.fake.calls();
    let mut bind = |addr| {
        objects.bind_with(|o| {
            o.request.bind_info.mr = region;
            o.request.bind_info.addr = addr;
        })
    };
    assert_eq!(bind(0x5000_0000), 0);
    assert_eq!(bind(0x10000), libc::EINVAL);
    assert_eq!(bind(0x5000_0001), libc::EINVAL);
    objects.fake.answer(0);
    // SAFETY: a live region.
    assert_eq!(unsafe { mr::ibv_dereg_mr(region) }, 0);
}

#[test]
fn a_failure_of_the_provider_keeps_the_key() {
    unsafe extern "C" fn spoil_key(_: *mut ibv_qp, mw: *mut ibv_mw, _: *mut ibv_mw_bind) -> c_int {
        // SAFETY: the test passes live objects.
        unsafe { (*mw).rkey = 0xdead };
        libc::ENOMEM
    }
    unsafe extern "C" fn errno_alone(_: *mut ibv_qp, _: *mut ibv_mw, _: *mut ibv_mw_bind) -> c_int {
        Errno::EBUSY.store();
        -1
    }
    let mut objects = Objects::new();
    objects.fake.set_ops(|ops| ops.bind_mw = Some(spoil_key));
    assert_eq!((objects.bind(), objects.mw.rkey), (libc::ENOMEM, 0x100));
    objects.fake.set_ops(|ops| ops.bind_mw = Some(errno_alone));
    assert_eq!((objects.bind(), objects.mw.rkey), (libc::EBUSY, 0x100));
}

#[test]
fn a_device_without_windows_says_so() {
    let mut objects = Objects::new();
    objects.fake.set_ops(|ops| ops.bind_mw = crate::provider_api::DEFAULT_OPS.bind_mw);
    assert_eq!(objects.bind(), libc::EOPNOTSUPP);
    // SAFETY: a live context.
    unsafe { (*objects.fake.context()).ops.bind_mw = None };
    assert_eq!(objects.bind(), libc::EOPNOTSUPP);
}

#[test]
fn missing_objects_are_an_error() {
    let mut objects = Objects::new();
    let (qp, mw, request) = (&raw mut *objects.qp, &raw mut objects.mw, &raw mut objects.request);
    // SAFETY: NULL is allowed.
    unsafe {
        assert_eq!(ibv_bind_mw(ptr::null_mut(), mw, request), libc::EINVAL);
        assert_eq!(ibv_bind_mw(qp, ptr::null_mut(), request), libc::EINVAL);
        assert_eq!(ibv_bind_mw(qp, mw, ptr::null_mut()), libc::EINVAL);
    }
    assert!(objects.fake.calls().is_empty());
}
