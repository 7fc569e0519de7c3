//! What follows from failures.

use core::ptr;

use super::*;
use crate::urxe::queue::{create_srq, destroy_srq, post_srq_recv};
use crate::urxe::shared::IN_A_HURRY;
use crate::verbs::cq::{ibv_create_cq, ibv_destroy_cq};

const FLUSHED: ibv_wc_status = IBV_WC_WR_FLUSH_ERR;

/// Requests with this number fail.
fn fail_at(wr_id: u64, status: ibv_wc_status) -> Executing {
    Executing::new(move |_, wqe, _| {
        Outcome::Done(if wqe.wr_id == wr_id { Done::failure(status, 42) } else { Done::success(0) })
    })
}

#[test]
fn a_failure_flushes_both_queues_in_order() {
    let bench = Bench::new();
    let _executing = fail_at(2, IBV_WC_REM_ACCESS_ERR);
    let qp = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
    qp.receive_ids(&[11, 12, 13]).unwrap();
    // The last two are not signaled: failures are told all the same.
    let quiet = |wr_id| ibv_send_wr { send_flags: 0, ..send_wr(wr_id) };
    qp.send(&mut [send_wr(1), quiet(2), quiet(3), quiet(4)]).unwrap();
    let all = bench.poll(16);
    let of = |receives: bool| {
        let is_receive = |wc: &&ibv_wc| wc.wr_id > 10;
        all.iter()
            .filter(|wc| is_receive(wc) == receives)
            .map(|wc| (wc.wr_id, wc.status))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of(false),
        [(1, IBV_WC_SUCCESS), (2, IBV_WC_REM_ACCESS_ERR), (3, FLUSHED), (4, FLUSHED)]
    );
    assert_eq!(of(true), [(11, FLUSHED), (12, FLUSHED), (13, FLUSHED)]);
    assert_eq!(all.iter().find(|wc| wc.wr_id == 2).unwrap().vendor_err, 42);
    assert!(all.iter().filter(|wc| wc.wr_id > 10).all(|wc| wc.opcode == IBV_WC_RECV));
    assert!(all.iter().all(|wc| wc.qp_num == qp.qp().number));
    assert_eq!(qp.query().0.qp_state, IBV_QPS_ERR);
    // What is posted now is flushed at once, and its places are used again and again.
    for round in 0..10 {
        qp.send_ids([round]).unwrap();
        qp.receive_ids(&[round + 100]).unwrap();
        assert_eq!(bench.statuses(), [(round, FLUSHED), (round + 100, FLUSHED)]);
    }
    assert!(bench.events().is_empty());
}

#[test]
fn moving_to_the_error_state_flushes() {
    let bench = Bench::new();
    let _executing = Executing::new(|_, _, now| Outcome::Wait { until: now + HOUR });
    let qp = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
    qp.receive_ids(&[11, 12]).unwrap();
    qp.send_ids([1, 2]).unwrap();
    assert!(bench.poll(1).is_empty());
    assert_eq!(qp.set_state(IBV_QPS_ERR), 0);
    let mut all = bench.statuses();
    all.sort_by_key(|(wr_id, _)| *wr_id);
    assert_eq!(all, [(1, FLUSHED), (2, FLUSHED), (11, FLUSHED), (12, FLUSHED)]);
    assert!(!qp.qp().sending().waits);
    // Once more changes nothing.
    assert_eq!(qp.set_state(IBV_QPS_ERR), 0);
    assert!(bench.poll(1).is_empty());
    for state in [IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD] {
        assert_eq!(qp.set_state(state), libc::EINVAL);
    }
}

#[test]
fn of_unreliable_qps_only_the_send_queue_fails() {
    let bench = Bench::new();
    for kind in [IBV_QPT_UC, IBV_QPT_UD] {
        let executing = fail_at(2, IBV_WC_LOC_LEN_ERR);
        let qp = bench.qp(kind, IBV_QPS_RTS);
        let wr = |wr_id| {
            let mut wr = send_wr(wr_id);
            if kind == IBV_QPT_UD {
                wr.wr.ud = ibv_send_wr_wr_ud { ah: bench.ah, remote_qpn: 1, remote_qkey: 1 };
            }
            wr
        };
        qp.receive_ids(&[11]).unwrap();
        qp.send(&mut [wr(1), wr(2), wr(3)]).unwrap();
        assert_eq!(bench.statuses(), [(1, IBV_WC_SUCCESS), (2, IBV_WC_LOC_LEN_ERR), (3, FLUSHED)]);
        assert_eq!(qp.query().0.qp_state, IBV_QPS_SQE);
        qp.send(&mut [wr(4)]).unwrap();
        assert_eq!(bench.statuses(), [(4, FLUSHED)]);
        drop(executing);
        let _executing = Executing::success();
        let mut attr = ibv_qp_attr {
            qp_state: IBV_QPS_RTS,
            cur_qp_state: IBV_QPS_SQE,
            ..ibv_qp_attr::zeroed()
        };
        assert_eq!(qp.modify(&mut attr, IBV_QP_STATE | IBV_QP_CUR_STATE), 0);
        qp.send(&mut [wr(5)]).unwrap();
        assert_eq!(bench.statuses(), [(5, IBV_WC_SUCCESS)]);
        assert_eq!(qp.set_state(IBV_QPS_ERR), 0);
        assert_eq!(bench.statuses(), [(11, FLUSHED)]);
    }
}

#[test]
fn a_peer_can_put_a_qp_into_error() {
    let bench = Bench::new();
    let _executing = Executing::new(|_, _, now| Outcome::Wait { until: now + HOUR });
    let qp = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
    qp.receive_ids(&[11]).unwrap();
    qp.send_ids([1]).unwrap();
    for _ in 0..2 {
        let this = qp.qp();
        let (_guard, _) = this.lock_record().unwrap();
        enter_error(this.host, this.own(), this.shared, Some(IBV_EVENT_QP_ACCESS_ERR));
    }
    assert_eq!(bench.events(), [IBV_EVENT_QP_ACCESS_ERR]);
    // The owner finds its sends to be flushed when it polls.
    let mut all = bench.statuses();
    all.sort_by_key(|(wr_id, _)| *wr_id);
    assert_eq!(all, [(1, FLUSHED), (11, FLUSHED)]);
    assert_eq!(qp.query().0.qp_state, IBV_QPS_ERR);
}

#[test]
fn shared_receives_stay_and_the_last_one_is_told() {
    let bench = Bench::new();
    let mut attr = ibv_srq_init_attr {
        attr: ibv_srq_attr { max_wr: 4, max_sge: 1, srq_limit: 0 },
        ..ibv_srq_init_attr::zeroed()
    };
    // SAFETY: live objects.
    unsafe {
        let srq = create_srq(bench.pd, &mut attr);
        let mut wr = ibv_recv_wr::zeroed();
        assert_eq!(post_srq_recv(srq, &mut wr, ptr::null_mut()), 0);
        let mut init = bench.init(IBV_QPT_RC);
        init.srq = srq;
        let qp = bench.create(&mut init).unwrap();
        bench.move_to(&qp, IBV_QPS_RTS);
        assert_eq!(qp.set_state(IBV_QPS_ERR), 0);
        assert_eq!(bench.events(), [IBV_EVENT_QP_LAST_WQE_REACHED]);
        assert!(bench.poll(1).is_empty());
        assert_eq!(qp.set_state(IBV_QPS_ERR), 0);
        assert!(bench.events().is_empty());
        drop(qp);
        assert_eq!(destroy_srq(srq), 0);
    }
}

#[test]
fn a_full_completion_queue_ends_the_qp() {
    let bench = Bench::new();
    let _executing = Executing::success();
    // SAFETY: live objects.
    unsafe {
        let cq = ibv_create_cq(bench.opened.get(), 2, ptr::null_mut(), ptr::null_mut(), 0);
        let mut init = bench.init(IBV_QPT_RC);
        init.send_cq = cq;
        let qp = bench.create(&mut init).unwrap();
        bench.move_to(&qp, IBV_QPS_RTS);
        qp.receive_ids(&[11]).unwrap();
        qp.send_ids([1, 2, 3, 4]).unwrap();
        assert_eq!(bench.events(), [IBV_EVENT_CQ_ERR, IBV_EVENT_QP_FATAL]);
        assert_eq!(qp.query().0.qp_state, IBV_QPS_ERR);
        assert_eq!(bench.statuses(), [(11, FLUSHED)]);
        drop(qp);
        assert_eq!(ibv_destroy_cq(cq), 0);
    }
}

#[test]
fn a_qp_that_a_live_process_keeps_is_given_up_and_not_taken_away() {
    let bench = Bench::new();
    let _executing = Executing::new(|_, _, now| Outcome::Wait { until: now + HOUR });
    let qp = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
    let (record, shared) = (qp.qp().record, qp.qp().shared);
    let holder = qp.qp().host.holder();
    IN_A_HURRY.set(true);
    let guard = shared.lock.try_lock(holder).unwrap();
    assert_eq!(qp.set_state(IBV_QPS_ERR), libc::EIO);
    assert_eq!(qp.query().0.qp_state, IBV_QPS_RTS);
    drop(guard);
    assert_eq!(qp.set_state(IBV_QPS_ERR), 0);
    assert_eq!(qp.query().0.qp_state, IBV_QPS_ERR);
    core::mem::forget(shared.lock.try_lock(holder).unwrap());
    // It goes, and what the other goes on to write to is nobody else's.
    drop(qp);
    let other = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
    assert_ne!(other.qp().record, record);
    IN_A_HURRY.set(false);
}

#[test]
fn a_request_that_fails_at_a_qp_which_is_kept_says_so() {
    let bench = Bench::new();
    let _executing =
        Executing::new(|_, _, _| Outcome::Done(Done::failure(IBV_WC_REM_ACCESS_ERR, 0)));
    let qp = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
    IN_A_HURRY.set(true);
    let guard = qp.qp().shared.lock.try_lock(qp.qp().host.holder()).unwrap();
    qp.send_ids([1, 2]).unwrap();
    assert_eq!(bench.events(), [IBV_EVENT_QP_FATAL]);
    assert_eq!(bench.statuses(), [(1, IBV_WC_REM_ACCESS_ERR), (2, FLUSHED)]);
    drop(guard);
    IN_A_HURRY.set(false);
}
