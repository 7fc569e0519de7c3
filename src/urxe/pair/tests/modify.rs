//! States and attributes.

use crate::sync::atomic::Ordering::Relaxed;

use super::*;
use crate::urxe::device::Context;

#[test]
fn attributes_are_told_as_they_were_set() {
    let bench = Bench::new();
    let qp = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
    let (attr, _) = qp.query();
    let (set, _) = bench.attributes(&qp, IBV_QPS_RTS);
    macro_rules! same {
        ($($member:ident),*) => { $(assert_eq!(attr.$member, set.$member);)* };
    }
    same!(qp_state, path_mtu, rq_psn, sq_psn, dest_qp_num, qp_access_flags, max_rd_atomic);
    same!(max_dest_rd_atomic, min_rnr_timer, port_num, timeout, retry_cnt, rnr_retry);
    assert_eq!((attr.cur_qp_state, attr.qkey, attr.sq_draining), (IBV_QPS_RTS, 0, 0));
    assert_eq!((attr.ah_attr.port_num, attr.ah_attr.is_global), (1, 1));
    // SAFETY: a GID is 16 bytes in each of its forms.
    unsafe { assert_eq!(attr.ah_attr.grh.dgid.raw, set.ah_attr.grh.dgid.raw) };
    let shared = qp.qp().shared;
    assert_eq!(shared.dest_qp_num.load(Relaxed), qp.qp().number);
    assert_eq!(shared.access.load(Relaxed), set.qp_access_flags);
    assert_eq!((shared.min_rnr_timer.load(Relaxed), shared.path_mtu.load(Relaxed)), (9, 3));
    // SAFETY: a live QP.
    assert_eq!(unsafe { (*qp.0).state }, IBV_QPS_RTS);

    let qp = bench.qp(IBV_QPT_UD, IBV_QPS_INIT);
    assert_eq!((qp.query().0.qkey, qp.qp().shared.qkey.load(Relaxed)), (0x1111_1111, 0x1111_1111));
}

#[test]
fn bad_values_change_nothing() {
    let bench = Bench::new();
    let bad = |to, change: fn(&mut ibv_qp_attr)| {
        let from = if to == IBV_QPS_INIT { IBV_QPS_RESET } else { to - 1 };
        let qp = bench.qp(IBV_QPT_RC, from);
        let (mut attr, mask) = bench.attributes(&qp, to);
        change(&mut attr);
        assert_eq!(qp.modify(&mut attr, mask), libc::EINVAL);
        assert_eq!(qp.query().0.qp_state, from);
        // SAFETY: a live QP.
        assert_eq!(unsafe { (*qp.0).state }, from);
        let (mut attr, mask) = bench.attributes(&qp, to);
        assert_eq!(qp.modify(&mut attr, mask), 0);
    };
    bad(IBV_QPS_INIT, |attr| attr.port_num = 0);
    bad(IBV_QPS_INIT, |attr| attr.port_num = 2);
    bad(IBV_QPS_INIT, |attr| attr.pkey_index = 1);
    bad(IBV_QPS_INIT, |attr| attr.qp_access_flags = 1 << 19);
    bad(IBV_QPS_RTR, |attr| attr.path_mtu = 0);
    bad(IBV_QPS_RTR, |attr| attr.path_mtu = 6);
    bad(IBV_QPS_RTR, |attr| attr.dest_qp_num = 1 << 24);
    bad(IBV_QPS_RTR, |attr| attr.max_dest_rd_atomic = 17);
    bad(IBV_QPS_RTR, |attr| attr.min_rnr_timer = 32);
    bad(IBV_QPS_RTR, |attr| attr.ah_attr.port_num = 2);
    bad(IBV_QPS_RTR, |attr| attr.ah_attr.is_global = 0);
    bad(IBV_QPS_RTR, |attr| attr.ah_attr.grh.sgid_index = 200);
    bad(IBV_QPS_RTS, |attr| attr.timeout = 32);
    bad(IBV_QPS_RTS, |attr| attr.retry_cnt = 8);
    bad(IBV_QPS_RTS, |attr| attr.rnr_retry = 8);
    bad(IBV_QPS_RTS, |attr| attr.max_rd_atomic = 17);
    bad(IBV_QPS_RTS, |attr| attr.qp_state = 7);
}

#[test]
fn the_table_of_moves_is_in_force() {
    let bench = Bench::new();
    let qp = bench.qp(IBV_QPT_RC, IBV_QPS_INIT);
    let (mut attr, mask) = bench.attributes(&qp, IBV_QPS_RTR);
    assert_eq!(qp.modify(&mut attr, mask & !IBV_QP_RQ_PSN), libc::EINVAL);
    assert_eq!(qp.modify(&mut attr, mask | IBV_QP_SQ_PSN), libc::EINVAL);
    attr.qp_state = IBV_QPS_RTS;
    assert_eq!(qp.modify(&mut attr, mask), libc::EINVAL);
    // Without a state it stays where it is.
    attr.qp_access_flags = 0;
    assert_eq!(qp.modify(&mut attr, IBV_QP_ACCESS_FLAGS), 0);
    assert_eq!((qp.query().0.qp_access_flags, qp.query().0.qp_state), (0, IBV_QPS_INIT));
    assert_eq!(qp.modify(&mut attr, IBV_QP_ALT_PATH), libc::EINVAL);
    assert_eq!(qp.modify(&mut attr, IBV_QP_CAP), libc::EINVAL);
}

#[test]
fn the_state_that_the_caller_believes_in_is_checked() {
    let bench = Bench::new();
    let qp = bench.qp(IBV_QPT_UD, IBV_QPS_RTR);
    let (mut attr, mask) = bench.attributes(&qp, IBV_QPS_RTS);
    for believed in [IBV_QPS_INIT, IBV_QPS_RTS, 99] {
        attr.cur_qp_state = believed;
        assert_eq!(qp.modify(&mut attr, mask | IBV_QP_CUR_STATE), libc::EINVAL);
    }
    attr.cur_qp_state = IBV_QPS_RTR;
    assert_eq!(qp.modify(&mut attr, mask | IBV_QP_CUR_STATE), 0);
}

#[test]
fn psns_have_24_bits() {
    let bench = Bench::new();
    let qp = bench.qp(IBV_QPT_UC, IBV_QPS_INIT);
    for to in [IBV_QPS_RTR, IBV_QPS_RTS] {
        let (mut attr, mask) = bench.attributes(&qp, to);
        (attr.rq_psn, attr.sq_psn) = (0xff12_3456, 0x0165_4321);
        assert_eq!(qp.modify(&mut attr, mask), 0);
    }
    assert_eq!((qp.query().0.rq_psn, qp.query().0.sq_psn), (0x12_3456, 0x65_4321));
}

#[test]
fn reset_makes_a_qp_new() {
    let bench = Bench::new();
    let _executing = Executing::success();
    let qp = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
    for round in 0..3 {
        // All places are in use, partly by completions that nobody polls.
        qp.receive_ids(&[1, 2, 3, 4]).unwrap();
        assert_eq!(qp.receive_ids(&[5]), Err((libc::ENOMEM, 0)));
        qp.send_ids(6..10).unwrap();
        assert_eq!(qp.send_ids([10]), Err((libc::ENOMEM, 0)));
        if round == 1 {
            assert_eq!(qp.set_state(IBV_QPS_ERR), 0);
        }
        assert_eq!(qp.set_state(IBV_QPS_RESET), 0);
        assert!(bench.poll(64).is_empty());
        let (attr, _) = qp.query();
        assert_eq!((attr.qp_state, attr.dest_qp_num, attr.port_num), (IBV_QPS_RESET, 0, 0));
        assert_eq!(qp.send_ids([1]), Err((libc::EINVAL, 0)));
        assert_eq!(qp.receive_ids(&[1]), Err((libc::EINVAL, 0)));
        bench.move_to(&qp, IBV_QPS_RTS);
    }
}

#[test]
fn drained_queues_take_requests_and_start_none() {
    let bench = Bench::new();
    let _executing = Executing::success();
    let qp = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
    let mut attr =
        ibv_qp_attr { qp_state: IBV_QPS_SQD, en_sqd_async_notify: 1, ..ibv_qp_attr::zeroed() };
    assert_eq!(qp.modify(&mut attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
    assert_eq!(bench.events(), [IBV_EVENT_SQ_DRAINED]);
    qp.send_ids([1, 2]).unwrap();
    assert!(bench.poll(1).is_empty());
    assert_eq!((qp.query().0.qp_state, qp.query().0.sq_draining), (IBV_QPS_SQD, 0));
    attr.rnr_retry = 5;
    assert_eq!(qp.modify(&mut attr, IBV_QP_RNR_RETRY), 0);
    assert_eq!(qp.query().0.rnr_retry, 5);
    assert_eq!(qp.set_state(IBV_QPS_RTS), 0);
    assert_eq!(bench.statuses(), [(1, IBV_WC_SUCCESS), (2, IBV_WC_SUCCESS)]);
    assert_eq!(qp.set_state(IBV_QPS_SQD), 0);
    assert!(bench.events().is_empty());
}

#[test]
fn what_has_begun_is_finished_before_a_queue_is_drained() {
    let bench = Bench::new();
    let ready = std::rc::Rc::new(core::cell::Cell::new(false));
    let is_ready = std::rc::Rc::clone(&ready);
    let _executing = Executing::new(move |_, _, now| {
        if is_ready.get() {
            Outcome::Done(Done::success(0))
        } else {
            // So late that no other thread tries it.
            Outcome::Wait { until: now + HOUR }
        }
    });
    let qp = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
    qp.send_ids([1, 2]).unwrap();
    let mut attr =
        ibv_qp_attr { qp_state: IBV_QPS_SQD, en_sqd_async_notify: 1, ..ibv_qp_attr::zeroed() };
    assert_eq!(qp.modify(&mut attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
    assert_eq!(qp.query().0.sq_draining, 1);
    assert!(bench.events().is_empty() && bench.poll(1).is_empty());
    ready.set(true);
    assert_eq!(bench.statuses(), [(1, IBV_WC_SUCCESS)]);
    assert_eq!(bench.events(), [IBV_EVENT_SQ_DRAINED]);
    assert_eq!(qp.query().0.sq_draining, 0);
    assert!(bench.poll(1).is_empty());
    assert_eq!(qp.set_state(IBV_QPS_RTS), 0);
    assert_eq!(bench.statuses(), [(2, IBV_WC_SUCCESS)]);
}

#[test]
fn messages_are_visible_in_order() {
    for (opcode, caps) in
        [(IBV_WR_SEND, 3), (IBV_WR_RDMA_WRITE, 3), (IBV_WR_RDMA_READ, 3), (IBV_WR_LOCAL_INV, 0)]
    {
        // SAFETY: the QP is not looked at.
        let answer = unsafe { query_qp_data_in_order(core::ptr::null_mut(), opcode, 0) };
        assert_eq!(answer, caps, "{opcode}");
    }
}

#[test]
fn on_ethernet_somebody_must_have_the_address() {
    let bench = Bench::new();
    // SAFETY: a live context.
    let port = unsafe { Context::of(bench.opened.get()) }.port();
    for kind in [IBV_QPT_RC, IBV_QPT_UC] {
        let qp = bench.qp(kind, IBV_QPS_INIT);
        let (mut attr, mask) = bench.attributes(&qp, IBV_QPS_RTR);
        // SAFETY: a GID is 16 bytes in each of its forms.
        let last = unsafe { &mut attr.ah_attr.grh.dgid.raw[15] };
        *last ^= 1;
        assert_eq!(qp.modify(&mut attr, mask), libc::ETIMEDOUT);
        assert_eq!(qp.query().0.qp_state, IBV_QPS_INIT);
        // The other entry of the own table answers too.
        attr.ah_attr.grh.dgid = port.gid(1).unwrap().gid;
        assert_eq!(qp.modify(&mut attr, mask), 0);
    }
}
