//! From creation to destruction.

use core::ptr;
use std::os::fd::AsRawFd;

use super::*;
use crate::urxe::host::testing::Child;
use crate::urxe::limits::{MAX_INLINE, MAX_QP_WR, MAX_SGE, MAX_SRQ_SGE, MAX_SRQ_WR};
use crate::urxe::queue::{
    create_srq, create_srq_ex, destroy_srq, get_srq_num, modify_srq, post_srq_recv, query_srq,
};
use crate::verbs::cq::ibv_destroy_cq;
use crate::verbs::pd::ibv_dealloc_pd;

fn refused(bench: &Bench, change: impl FnOnce(&mut ibv_qp_init_attr)) -> Errno {
    let mut init = bench.init(IBV_QPT_RC);
    change(&mut init);
    bench.create(&mut init).err().unwrap()
}

#[test]
fn sizes_are_checked_against_the_limits() {
    let bench = Bench::new();
    let einval = Errno::EINVAL;
    assert_eq!(refused(&bench, |init| init.cap.max_send_wr = MAX_QP_WR + 1), einval);
    assert_eq!(refused(&bench, |init| init.cap.max_recv_wr = MAX_QP_WR + 1), einval);
    assert_eq!(refused(&bench, |init| init.cap.max_send_sge = MAX_SGE + 1), einval);
    assert_eq!(refused(&bench, |init| init.cap.max_recv_sge = u32::MAX), einval);
    assert_eq!(refused(&bench, |init| init.cap.max_inline_data = MAX_INLINE + 1), einval);
    assert_eq!(refused(&bench, |init| init.send_cq = ptr::null_mut()), einval);
    assert_eq!(refused(&bench, |init| init.recv_cq = ptr::null_mut()), einval);
    for kind in [0, IBV_QPT_RAW_PACKET, IBV_QPT_DRIVER, u32::MAX] {
        assert_eq!(refused(&bench, |init| init.qp_type = kind), Errno::EOPNOTSUPP);
    }
    // As large as it gets, and as small.
    let mut init = bench.init(IBV_QPT_RC);
    init.cap = ibv_qp_cap {
        max_send_wr: MAX_QP_WR,
        max_recv_wr: MAX_QP_WR,
        max_send_sge: MAX_SGE,
        max_recv_sge: MAX_SGE,
        max_inline_data: MAX_INLINE,
    };
    let qp = bench.create(&mut init).unwrap();
    assert_eq!(qp.query().1.cap.max_send_wr, MAX_QP_WR);
    init.cap = ibv_qp_cap::zeroed();
    bench.create(&mut init).unwrap();
}

#[test]
fn a_qp_is_what_was_asked_for() {
    let bench = Bench::new();
    for kind in [IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD] {
        let mut init = bench.init(kind);
        init.qp_context = ptr::without_provenance_mut(0x77);
        init.sq_sig_all = 1;
        let qp = bench.create(&mut init).unwrap();
        // SAFETY: a live QP.
        let public = unsafe { &*qp.0 };
        assert_eq!((public.context, public.pd), (bench.opened.get(), bench.pd));
        assert_eq!(
            (public.send_cq, public.recv_cq, public.srq),
            (bench.cq, bench.cq, ptr::null_mut())
        );
        assert_eq!((public.qp_type, public.state), (kind, IBV_QPS_RESET));
        assert_eq!(public.qp_context, init.qp_context);
        assert_eq!(public.qp_num, qp.qp().number);
        assert_eq!(public.qp_num >> 14, qp.qp().host.slot());
        let (attr, stored) = qp.query();
        assert_eq!((attr.qp_state, attr.cap.max_inline_data), (IBV_QPS_RESET, 32));
        assert_eq!((stored.qp_type, stored.sq_sig_all), (kind, 1));
        assert_eq!((stored.send_cq, stored.recv_cq), (bench.cq, bench.cq));
        assert_eq!(stored.qp_context, init.qp_context);
        assert_eq!((stored.cap.max_send_wr, stored.cap.max_recv_sge), (4, 2));
        // Not of the extended interface.
        // SAFETY: a live QP.
        assert_eq!(unsafe { (*qp.0.cast::<verbs_qp>()).comp_mask }, 0);
    }
}

#[test]
fn members_that_the_device_does_not_know_are_refused() {
    let bench = Bench::new();
    let refused = |change: fn(&mut ibv_qp_init_attr_ex)| {
        let mut init = bench.init_ex(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);
        change(&mut init);
        bench.create_ex(&mut init).err()
    };
    assert_eq!(refused(|_| {}), None);
    for bit in [
        IBV_QP_INIT_ATTR_MAX_TSO_HEADER,
        IBV_QP_INIT_ATTR_IND_TABLE,
        IBV_QP_INIT_ATTR_RX_HASH,
        1 << 30,
    ] {
        let mut init = bench.init_ex(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);
        init.comp_mask |= bit;
        assert_eq!(bench.create_ex(&mut init).err(), Some(Errno::EOPNOTSUPP));
    }
    let flags = |init: &mut ibv_qp_init_attr_ex| {
        init.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
        init.create_flags = IBV_QP_CREATE_SCATTER_FCS;
    };
    assert_eq!(refused(flags), Some(Errno::EOPNOTSUPP));
    assert_eq!(refused(|init| init.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS), None);
    assert_eq!(refused(|init| init.comp_mask &= !IBV_QP_INIT_ATTR_PD), Some(Errno::EINVAL));
    assert_eq!(refused(|init| init.pd = ptr::null_mut()), Some(Errno::EINVAL));
}

#[test]
fn operations_are_those_of_the_type() {
    let bench = Bench::new();
    const CONNECTED: u32 = IBV_QP_EX_WITH_RDMA_WRITE
        | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM
        | IBV_QP_EX_WITH_SEND
        | IBV_QP_EX_WITH_SEND_WITH_IMM
        | IBV_QP_EX_WITH_LOCAL_INV
        | IBV_QP_EX_WITH_BIND_MW
        | IBV_QP_EX_WITH_SEND_WITH_INV;
    const RELIABLE: u32 = CONNECTED
        | IBV_QP_EX_WITH_RDMA_READ
        | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP
        | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
    for (kind, supported) in [
        (IBV_QPT_RC, RELIABLE | IBV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_ATOMIC_WRITE),
        (IBV_QPT_XRC_SEND, RELIABLE),
        (IBV_QPT_UC, CONNECTED),
        (IBV_QPT_UD, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM),
    ] {
        for bit in (0..16).map(|shift| 1 << shift) {
            let result = bench.create_ex(&mut bench.init_ex(kind, bit));
            assert_eq!(result.is_ok(), supported & bit != 0, "{kind} {bit:#x}");
            match result {
                Ok(qp) => {
                    // SAFETY: a live QP.
                    let qp_ex = unsafe { &*qp.0.cast::<ibv_qp_ex>() };
                    assert!(qp_ex.wr_start.is_some() && qp_ex.wr_set_inline_data_list.is_some());
                    assert_eq!(qp_ex.wr_send.is_some(), bit == IBV_QP_EX_WITH_SEND);
                    assert!(qp_ex.wr_send_tso.is_none());
                }
                Err(errno) => assert_eq!(errno, Errno::EOPNOTSUPP),
            }
        }
        bench.create_ex(&mut bench.init_ex(kind, supported)).unwrap();
    }
}

#[test]
fn objects_stay_as_long_as_a_qp_uses_them() {
    let bench = Bench::new();
    let qp = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
    // SAFETY: live objects, which are not destroyed.
    unsafe {
        assert_eq!(ibv_destroy_cq(bench.cq), libc::EBUSY);
        assert_eq!(ibv_dealloc_pd(bench.pd), libc::EBUSY);
    }
    let number = qp.qp().number;
    drop(qp);
    // Numbers come round as late as possible.
    assert_ne!(bench.qp(IBV_QPT_RC, IBV_QPS_RESET).qp().number, number);
}

#[test]
fn a_qp_goes_with_its_completions() {
    let bench = Bench::new();
    let _executing = Executing::success();
    let one = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
    let other = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
    one.send_ids([1, 2]).unwrap();
    other.send_ids([3]).unwrap();
    drop(one);
    assert_eq!(bench.statuses(), [(3, IBV_WC_SUCCESS)]);
    drop(other);
}

#[test]
fn qps_are_destroyed_with_requests_under_way() {
    let bench = Bench::new();
    let _executing = Executing::new(|_, _, now| Outcome::Wait { until: now + HOUR });
    for _ in 0..20 {
        let qp = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
        qp.receive_ids(&[1, 2]).unwrap();
        qp.send_ids([3, 4]).unwrap();
        assert!(qp.qp().sending().waits);
        drop(qp);
    }
    assert!(bench.poll(1).is_empty());
}

fn srq_attr(max_wr: u32, max_sge: u32) -> ibv_srq_init_attr {
    let attr = ibv_srq_attr { max_wr, max_sge, srq_limit: 0 };
    ibv_srq_init_attr { srq_context: ptr::without_provenance_mut(5), attr }
}

#[test]
fn a_shared_receive_queue_lives_as_long_as_its_qps() {
    let bench = Bench::new();
    // SAFETY: live objects.
    unsafe {
        for (max_wr, max_sge) in [(0, 1), (1, 0), (MAX_SRQ_WR + 1, 1), (1, MAX_SRQ_SGE + 1)] {
            assert!(create_srq(bench.pd, &mut srq_attr(max_wr, max_sge)).is_null());
            assert_eq!(Errno::last(), Errno::EINVAL);
        }
        let srq = create_srq(bench.pd, &mut srq_attr(3, 2));
        let mut init = bench.init(IBV_QPT_RC);
        init.srq = srq;
        let qp = bench.create(&mut init).unwrap();
        // Its sizes are those of a QP without a receive queue.
        assert_eq!((init.cap.max_recv_wr, init.cap.max_recv_sge), (0, 0));
        assert_eq!(((*qp.0).srq, qp.query().1.srq), (srq, srq));
        bench.move_to(&qp, IBV_QPS_INIT);
        assert_eq!(qp.receive_ids(&[1]), Err((libc::EINVAL, 0)));
        assert_eq!(destroy_srq(srq), libc::EBUSY);
        assert_eq!(ibv_dealloc_pd(bench.pd), libc::EBUSY);
        let mut number = 0;
        assert_eq!(get_srq_num(srq, &mut number), libc::EINVAL);
        drop(qp);
        assert_eq!(destroy_srq(srq), 0);
    }
}

#[test]
fn a_shared_receive_queue_changes_size_and_limit() {
    let bench = Bench::new();
    // SAFETY: live objects.
    unsafe {
        let srq = create_srq(bench.pd, &mut srq_attr(3, 2));
        let query = || {
            let mut attr = ibv_srq_attr::zeroed();
            assert_eq!(query_srq(srq, &mut attr), 0);
            (attr.max_wr, attr.max_sge, attr.srq_limit)
        };
        let modify = |max_wr, srq_limit, mask: u32| {
            let mut attr = ibv_srq_attr { max_wr, srq_limit, max_sge: 0 };
            modify_srq(srq, &mut attr, mask.cast_signed())
        };
        assert_eq!(query(), (3, 2, 0));
        assert_eq!(modify(0, 4, IBV_SRQ_LIMIT), libc::EINVAL);
        assert_eq!(modify(0, 3, IBV_SRQ_LIMIT), 0);
        assert_eq!(query(), (3, 2, 3));
        assert_eq!(modify(2, 0, IBV_SRQ_MAX_WR), libc::EINVAL);
        assert_eq!(modify(0, 0, IBV_SRQ_MAX_WR), libc::EINVAL);
        assert_eq!(modify(MAX_SRQ_WR + 1, 0, IBV_SRQ_MAX_WR), libc::EINVAL);
        assert_eq!(modify(5, 5, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT), 0);
        assert_eq!(query(), (5, 2, 5));
        assert_eq!(modify(5, 5, 4), libc::EINVAL);
        let mut list = [ibv_sge::zeroed(); 3];
        let mut bad = ptr::null_mut();
        let mut wr =
            ibv_recv_wr { num_sge: 3, sg_list: list.as_mut_ptr(), ..ibv_recv_wr::zeroed() };
        assert_eq!(post_srq_recv(srq, &mut wr, &mut bad), libc::EINVAL);
        assert_eq!(bad, &raw mut wr);
        wr.num_sge = 2;
        for _ in 0..5 {
            assert_eq!(post_srq_recv(srq, &mut wr, &mut bad), 0);
        }
        assert_eq!(post_srq_recv(srq, &mut wr, &mut bad), libc::ENOMEM);
        assert_eq!(modify(4, 0, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT), libc::EINVAL);
        assert_eq!(modify(MAX_SRQ_WR, 0, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT), 0);
        assert_eq!(query(), (MAX_SRQ_WR, 2, 0));
        assert_eq!(destroy_srq(srq), 0);
    }
}

fn open_domain(bench: &Bench, fd: i32, oflags: i32) -> Result<*mut ibv_xrcd, Errno> {
    let mut attr = ibv_xrcd_init_attr { comp_mask: 3, fd, oflags };
    // SAFETY: a live context.
    let xrcd = unsafe { open_xrcd(bench.opened.get(), &mut attr) };
    if xrcd.is_null() { Err(Errno::last()) } else { Ok(xrcd) }
}

#[test]
fn domains_hold_their_qps_and_srqs() {
    let bench = Bench::new();
    let file = std::fs::File::open("/proc/self/exe").unwrap();
    let (creat, excl) = (libc::O_CREAT, libc::O_EXCL);
    let one = open_domain(&bench, file.as_raw_fd(), creat | excl).unwrap();
    assert_eq!(open_domain(&bench, file.as_raw_fd(), creat | excl), Err(Errno::EINVAL));
    let same = open_domain(&bench, file.as_raw_fd(), creat).unwrap();
    let alone = open_domain(&bench, -1, creat).unwrap();
    let other = open_domain(&bench, -1, creat | excl).unwrap();
    assert_eq!(open_domain(&bench, -2, creat), Err(Errno(libc::EBADF)));
    assert_eq!(open_domain(&bench, -1, libc::O_RDWR), Err(Errno::EINVAL));
    // SAFETY: live objects.
    unsafe {
        let id = |xrcd| Xrcd::of(xrcd).id();
        assert_eq!(id(one), id(same));
        assert!(id(alone) != id(other) && id(alone) != id(one));
        let mut attr = ibv_srq_init_attr_ex {
            attr: ibv_srq_attr { max_wr: 2, max_sge: 1, srq_limit: 0 },
            comp_mask: IBV_SRQ_INIT_ATTR_TYPE
                | IBV_SRQ_INIT_ATTR_PD
                | IBV_SRQ_INIT_ATTR_XRCD
                | IBV_SRQ_INIT_ATTR_CQ,
            srq_type: IBV_SRQT_XRC,
            pd: bench.pd,
            xrcd: one,
            cq: bench.cq,
            ..ibv_srq_init_attr_ex::zeroed()
        };
        let mut incomplete = attr;
        incomplete.comp_mask &= !IBV_SRQ_INIT_ATTR_CQ;
        assert!(create_srq_ex(bench.opened.get(), &mut incomplete).is_null());
        assert_eq!(Errno::last(), Errno::EINVAL);
        incomplete = ibv_srq_init_attr_ex { srq_type: IBV_SRQT_TM, ..attr };
        assert!(create_srq_ex(bench.opened.get(), &mut incomplete).is_null());
        assert_eq!(Errno::last(), Errno::EOPNOTSUPP);
        let srq = create_srq_ex(bench.opened.get(), &mut attr);
        let mut number = 0;
        assert_eq!(get_srq_num(srq, &mut number), 0);
        assert_eq!((number >> 14, (*srq.cast::<verbs_srq>()).srq_num), (number >> 14, number));
        assert_ne!(number, 0);
        // Not for other QPs.
        let mut init = bench.init(IBV_QPT_RC);
        init.srq = srq;
        assert_eq!(bench.create(&mut init).err(), Some(Errno::EINVAL));
        assert_eq!(close_xrcd(one), libc::EBUSY);
        assert_eq!(ibv_destroy_cq(bench.cq), libc::EBUSY);
        assert_eq!(destroy_srq(srq), 0);
        for xrcd in [one, same, alone, other] {
            assert_eq!(close_xrcd(xrcd), 0);
        }
    }
}

/// A target QP in a domain.
fn target(bench: &Bench, xrcd: *mut ibv_xrcd) -> Made {
    let mut init = ibv_qp_init_attr_ex {
        qp_type: IBV_QPT_XRC_RECV,
        comp_mask: IBV_QP_INIT_ATTR_XRCD,
        xrcd,
        ..ibv_qp_init_attr_ex::zeroed()
    };
    bench.create_ex(&mut init).unwrap()
}

#[test]
fn a_target_qp_lives_until_its_last_handle_is_gone() {
    let bench = Bench::new();
    let (xrcd, other) = (open_domain(&bench, -1, 0).unwrap(), open_domain(&bench, -1, 0).unwrap());
    let qp = target(&bench, xrcd);
    bench.move_to(&qp, IBV_QPS_RTR);
    let number = qp.qp().number;
    assert_eq!(qp.send_ids([1]), Err((libc::EINVAL, 0)));
    assert_eq!(qp.receive_ids(&[1]), Err((libc::EINVAL, 0)));
    let open = |xrcd, qp_num, comp_mask| {
        let mut attr = ibv_qp_open_attr {
            comp_mask,
            qp_num,
            xrcd,
            qp_context: ptr::without_provenance_mut(9),
            qp_type: IBV_QPT_XRC_RECV,
        };
        // SAFETY: live objects.
        let qp = unsafe { open_qp(bench.opened.get(), &mut attr) };
        if qp.is_null() { Err(Errno::last()) } else { Ok(Made(qp)) }
    };
    assert_eq!(open(other, number, 11).err(), Some(Errno::EINVAL));
    assert_eq!(open(xrcd, number + 1, 11).err(), Some(Errno::EINVAL));
    assert_eq!(open(xrcd, number, 3).err(), Some(Errno::EINVAL));
    assert_eq!(open(xrcd, number, 31).err(), Some(Errno::EOPNOTSUPP));
    let handle = open(xrcd, number, 15).unwrap();
    assert!(handle.0 != qp.0);
    // SAFETY: a live handle.
    let public = unsafe { &*handle.0 };
    assert_eq!((public.qp_num, public.state, public.qp_type), (number, IBV_QPS_UNKNOWN, 10));
    assert_eq!(handle.query().0.qp_state, IBV_QPS_RTR);
    assert_eq!(handle.query().1.qp_context, public.qp_context);
    assert_eq!(handle.send_ids([1]), Err((libc::EINVAL, 0)));
    drop(qp);
    let (mut attr, mask) = bench.attributes(&handle, IBV_QPS_RTS);
    assert_eq!(handle.modify(&mut attr, mask), 0);
    assert_eq!(handle.query().0.qp_state, IBV_QPS_RTS);
    // SAFETY: a live domain, which is not closed.
    assert_eq!(unsafe { close_xrcd(xrcd) }, libc::EBUSY);
    drop(handle);
    assert_eq!(open(xrcd, number, 11).err(), Some(Errno::EINVAL));
    // SAFETY: live domains.
    unsafe {
        assert_eq!(close_xrcd(xrcd), 0);
        assert_eq!(close_xrcd(other), 0);
    }
}

#[test]
fn a_target_qp_of_another_process_can_be_opened() {
    let bench = Bench::new();
    let xrcd = open_domain(&bench, -1, 0).unwrap();
    let qp = target(&bench, xrcd);
    bench.move_to(&qp, IBV_QPS_INIT);
    let number = qp.qp().number;
    let mut child = Child::start(|| {
        let mut attr = ibv_qp_open_attr {
            comp_mask: 11,
            qp_num: number,
            xrcd,
            qp_context: ptr::null_mut(),
            qp_type: IBV_QPT_XRC_RECV,
        };
        // What is inherited is none of the child's.
        assert_eq!(qp.set_state(IBV_QPS_ERR), libc::ENODEV);
        assert_eq!(bench.create(&mut bench.init(IBV_QPT_RC)).err(), Some(Errno::ENODEV));
        assert_eq!(open_domain(&bench, -1, 0).err(), Some(Errno::ENODEV));
        let mut srq = ibv_srq_init_attr {
            attr: ibv_srq_attr { max_wr: 1, max_sge: 1, srq_limit: 0 },
            ..ibv_srq_init_attr::zeroed()
        };
        // SAFETY: a PD, which is looked at alone.
        assert!(unsafe { crate::urxe::queue::create_srq(bench.pd, &mut srq) }.is_null());
        assert_eq!(Errno::last(), Errno::ENODEV);
        assert_eq!(qp.send_ids([1]), Err((libc::ENODEV, 0)));
        // SAFETY: the contexts are looked at alone, and so is the domain.
        let handle = unsafe {
            assert!(open_qp(bench.opened.get(), &mut attr).is_null());
            assert_eq!(Errno::last(), Errno::ENODEV);
            Made(open_qp(bench.opened.anew(), &mut attr))
        };
        assert!(!handle.0.is_null(), "{:?}", Errno::last());
        assert_ne!(handle.qp().host.slot(), number >> 14);
        bench.move_on(&handle, IBV_QPS_RTR);
        let (attr, _) = handle.query();
        assert_eq!((attr.qp_state, attr.min_rnr_timer), (IBV_QPS_RTR, 9));
        attr_is_that_of_peer(&attr);
        drop(handle);
    });
    child.join();
    let (attr, _) = qp.query();
    assert_eq!((attr.qp_state, attr.dest_qp_num), (IBV_QPS_RTR, number));
    attr_is_that_of_peer(&attr);
    drop(qp);
    // SAFETY: a live domain.
    assert_eq!(unsafe { close_xrcd(xrcd) }, 0);
}

fn attr_is_that_of_peer(attr: &ibv_qp_attr) {
    assert_eq!(attr.path_mtu, IBV_MTU_1024);
    assert_eq!(attr.qp_access_flags, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
}
