//! Completion counters, on both sides.

use super::*;
use crate::sys::errno::Errno;
use crate::verbs::comp_cntr::*;

const SEND: usize = 0;
const RECV: usize = 1;
const READ: usize = 2;
const REMOTE_READ: usize = 3;
const WRITE: usize = 4;
const REMOTE_WRITE: usize = 5;

/// What can be counted at a QP of a type.
fn operations(kind: ibv_qp_type) -> u32 {
    let bits: &[usize] = match kind {
        IBV_QPT_RC => &[SEND, RECV, READ, REMOTE_READ, WRITE, REMOTE_WRITE],
        IBV_QPT_UC => &[SEND, RECV, WRITE, REMOTE_WRITE],
        IBV_QPT_XRC_SEND => &[SEND, READ, WRITE],
        IBV_QPT_XRC_RECV => &[RECV, REMOTE_READ, REMOTE_WRITE],
        _ => &[SEND, RECV],
    };
    bits.iter().map(|bit| 1 << bit).sum()
}

fn counting(place: Where, kind: ibv_qp_type, by: ibv_comp_cntr_type) -> Pair {
    let of = |kind| Options { counted: (by, operations(kind)), ..Options::new(kind) };
    let far = if kind == IBV_QPT_XRC_SEND { IBV_QPT_XRC_RECV } else { kind };
    Pair::new(place, of(kind), of(far))
}

/// Completed and failed of some operations, nothing of the others.
fn counts(wanted: &[(usize, u64, u64)]) -> Vec<u64> {
    let mut all = vec![0; 12];
    for &(operation, completed, failed) in wanted {
        (all[operation * 2], all[operation * 2 + 1]) = (completed, failed);
    }
    all
}

#[test]
fn each_operation_counts_on_both_sides() {
    for place in PLACES {
        for kind in [IBV_QPT_RC, IBV_QPT_XRC_SEND] {
            let mut pair = counting(place, kind, IBV_COMP_CNTR_TYPE_WRS);
            assert_eq!((pair.near.counts(), pair.far.ask(&[COUNTS])), (counts(&[]), counts(&[])));
            for number in 0..3 {
                pair.far.receive(number, &[(0, 4000)]);
            }
            // The second one is not signaled, and counts.
            for flags in [IBV_SEND_SIGNALED, 0] {
                let mut list = pair.near.list(&[(100, 1000)]);
                let mut wr = pair.wr(7, IBV_WR_SEND);
                (wr.send_flags, wr.sg_list, wr.num_sge) = (flags, list.as_mut_ptr(), 1);
                pair.near.post(wr);
            }
            pair.near.sent();
            pair.well(pair.rdma(1, IBV_WR_RDMA_WRITE, 64), &[(0, 700)]);
            pair.well(pair.rdma(2, IBV_WR_RDMA_WRITE_WITH_IMM, 64), &[(0, 10)]);
            for _ in 0..3 {
                pair.well(pair.rdma(3, IBV_WR_RDMA_READ, 64), &[(0, 70)]);
            }
            let near = counts(&[(SEND, 2, 0), (WRITE, 2, 0), (READ, 3, 0)]);
            let far = counts(&[(RECV, 3, 0), (REMOTE_WRITE, 2, 0), (REMOTE_READ, 3, 0)]);
            assert_eq!((pair.near.counts(), pair.far.ask(&[COUNTS])), (near, far), "{place:?}");
        }
    }
}

#[test]
fn bytes_count_as_messages_have_them() {
    for place in PLACES {
        let mut pair = counting(place, IBV_QPT_RC, IBV_COMP_CNTR_TYPE_BYTES);
        pair.far.receive(1, &[(0, 10_000)]);
        pair.far.receive(2, &[(0, 10_000)]);
        pair.near.fill_part(0, 5000, 3);
        pair.well(pair.wr(1, IBV_WR_SEND), &[(0, 5000)]);
        pair.well(pair.wr(1, IBV_WR_SEND), &[(0, 24)]);
        pair.well(pair.rdma(1, IBV_WR_RDMA_WRITE, 64), &[(0, 700), (1000, 77)]);
        pair.well(pair.rdma(1, IBV_WR_RDMA_READ, 64), &[(0, 8)]);
        pair.well(pair.rdma(1, IBV_WR_RDMA_WRITE, 64), &[]);
        let near = counts(&[(SEND, 5024, 0), (WRITE, 777, 0), (READ, 8, 0)]);
        let far = counts(&[(RECV, 5024, 0), (REMOTE_WRITE, 777, 0), (REMOTE_READ, 8, 0)]);
        assert_eq!((pair.near.counts(), pair.far.ask(&[COUNTS])), (near, far), "{place:?}");
    }
}

/// A program that looks at the counter alone finds the message, short as it is.
#[test]
fn what_is_counted_is_in_its_place() {
    for place in PLACES {
        let mut pair = counting(place, IBV_QPT_RC, IBV_COMP_CNTR_TYPE_WRS);
        pair.far.receive(1, &[(200, 100)]);
        pair.near.fill_part(0, 9, 3);
        pair.well(pair.wr(1, IBV_WR_SEND), &[(0, 9)]);
        assert_eq!(pair.far.ask(&[COUNTS]), counts(&[(RECV, 1, 0)]));
        assert_eq!(pair.wrong(200, 9, 3), []);
    }
}

#[test]
fn datagrams_count_without_their_header() {
    for place in PLACES {
        let mut pair = counting(place, IBV_QPT_UD, IBV_COMP_CNTR_TYPE_BYTES);
        pair.far.receive(1, &[(0, 1000)]);
        let mut wr = pair.wr(1, IBV_WR_SEND);
        let (ah, remote_qpn) = (pair.near.ah(), pair.card.qp_num);
        wr.wr.ud = ibv_send_wr_wr_ud { ah, remote_qpn, remote_qkey: QKEY };
        pair.well(wr, &[(0, 300)]);
        assert_eq!(pair.far.received().byte_len, 340);
        assert_eq!(pair.near.counts(), counts(&[(SEND, 300, 0)]));
        assert_eq!(pair.far.ask(&[COUNTS]), counts(&[(RECV, 300, 0)]));
    }
}

#[test]
fn errors_count_apart() {
    for place in PLACES {
        for by in [IBV_COMP_CNTR_TYPE_WRS, IBV_COMP_CNTR_TYPE_BYTES] {
            let mut pair = counting(place, IBV_QPT_RC, by);
            pair.far.receive(1, &[(0, 100)]);
            pair.far.receive(2, &[(0, 100)]);
            let mut wr = pair.wr(1, IBV_WR_RDMA_WRITE);
            let remote_addr = pair.card.address;
            wr.wr.rdma = ibv_send_wr_wr_rdma { remote_addr, rkey: pair.card.rkey ^ 1 };
            assert_eq!(pair.run(wr, &[(0, 8)]).status, IBV_WC_REM_ACCESS_ERR);
            // The QP is in error, and what comes is flushed.
            assert_eq!(pair.run(pair.wr(2, IBV_WR_SEND), &[]).status, IBV_WC_WR_FLUSH_ERR);
            assert_eq!(pair.near.counts(), counts(&[(WRITE, 0, 1), (SEND, 0, 1)]));
            // So are the receives of the peer.
            let far = counts(&[(REMOTE_WRITE, 0, 1), (RECV, 0, 2)]);
            assert_eq!(pair.far.ask(&[COUNTS]), far, "{place:?}");
        }
    }
}

/// A request that the receiver is not ready for counts when it is through, once.
#[test]
fn tries_do_not_count() {
    for place in PLACES {
        let mut pair = counting(place, IBV_QPT_RC, IBV_COMP_CNTR_TYPE_WRS);
        let wr = pair.rdma(1, IBV_WR_RDMA_WRITE_WITH_IMM, 64);
        pair.near.send(wr, &mut pair.near.list(&[(0, 10)]));
        assert!(pair.near.poll(pair.near.cq).is_none());
        assert_eq!((pair.near.counts(), pair.far.ask(&[COUNTS])), (counts(&[]), counts(&[])));
        pair.far.receive(1, &[]);
        assert_eq!(pair.near.sent().status, IBV_WC_SUCCESS);
        assert_eq!(pair.near.counts(), counts(&[(WRITE, 1, 0)]));
        assert_eq!(pair.far.ask(&[COUNTS]), counts(&[(REMOTE_WRITE, 1, 0), (RECV, 1, 0)]));
    }
}

fn create(
    side: &Side,
    comp_mask: u32,
    type_: u32,
    flags: u32,
) -> Result<*mut ibv_comp_cntr, Errno> {
    let mut attr = ibv_comp_cntr_init_attr { comp_mask, type_, flags };
    // SAFETY: a live context.
    let counter = unsafe { ibv_create_comp_cntr(side.opened.get(), &raw mut attr) };
    if counter.is_null() { Err(Errno::last()) } else { Ok(counter) }
}

#[track_caller]
fn attach(side: &Side, counter: *mut ibv_comp_cntr, comp_mask: u32, op_mask: u32, status: i32) {
    let mut attr = ibv_qp_attach_comp_cntr_attr { comp_mask, op_mask };
    // SAFETY: a live QP and a live counter.
    let got = unsafe { ibv_qp_attach_comp_cntr(side.qp, counter, &raw mut attr) };
    assert_eq!(got, status);
}

#[test]
fn counters_are_set_added_to_and_wrap() {
    let side = Side::new(Options::new(IBV_QPT_RC));
    let counter = create(&side, 0, IBV_COMP_CNTR_TYPE_WRS, 0).unwrap();
    let (mut completed, mut failed) = (7, 7);
    // SAFETY: a live counter, and room.
    unsafe {
        assert_eq!(ibv_read_comp_cntr(counter, &raw mut completed), 0);
        assert_eq!(ibv_read_err_comp_cntr(counter, &raw mut failed), 0);
        assert_eq!((completed, failed), (0, 0));
        assert_eq!(ibv_set_comp_cntr(counter, u64::MAX), 0);
        assert_eq!(ibv_set_err_comp_cntr(counter, 5), 0);
        assert_eq!(ibv_inc_comp_cntr(counter, 1), 0);
        assert_eq!(ibv_inc_err_comp_cntr(counter, 10), 0);
        assert_eq!(ibv_read_comp_cntr(counter, &raw mut completed), 0);
        assert_eq!(ibv_read_err_comp_cntr(counter, &raw mut failed), 0);
        assert_eq!((completed, failed), (0, 15));
        assert_eq!(ibv_destroy_comp_cntr(counter), 0);
    }
    // Its memory comes again, as new.
    let counter = create(&side, 0, IBV_COMP_CNTR_TYPE_BYTES, 0).unwrap();
    // SAFETY: as above.
    unsafe {
        assert_eq!(ibv_read_err_comp_cntr(counter, &raw mut failed), 0);
        assert_eq!((failed, ibv_destroy_comp_cntr(counter)), (0, 0));
    }
}

#[test]
fn what_counters_refuse() {
    let side = Side::new(Options::new(IBV_QPT_RC));
    assert_eq!(create(&side, 1, 0, 0), Err(Errno::EINVAL));
    assert_eq!(create(&side, 0, 0, 1), Err(Errno::EINVAL));
    assert_eq!(create(&side, 0, 2, 0), Err(Errno::EOPNOTSUPP));
    let counter = create(&side, 0, 0, 0).unwrap();
    let other = create(&side, 0, 0, 0).unwrap();
    attach(&side, counter, 1, 1, libc::EINVAL);
    attach(&side, counter, 0, 0, libc::EINVAL);
    attach(&side, counter, 0, 1 << 6, libc::EOPNOTSUPP);
    let stranger = Side::new(Options::new(IBV_QPT_UD));
    attach(&stranger, counter, 0, 1, libc::EINVAL);
    let its = create(&stranger, 0, 0, 0).unwrap();
    attach(&stranger, its, 0, 1 << READ, libc::EOPNOTSUPP);
    attach(&side, counter, 0, 1 << SEND | 1 << RECV, 0);
    attach(&side, other, 0, 1 << RECV | 1 << READ, libc::EBUSY);
    // In INIT it may still be; later not.
    let options = Options::new(IBV_QPT_RC);
    side.move_to(IBV_QPS_INIT, 0, options);
    attach(&side, other, 0, 1 << READ, 0);
    side.move_to(IBV_QPS_RTR, side.card().qp_num, options);
    attach(&side, other, 0, 1 << WRITE, libc::EINVAL);
    // SAFETY: live objects; the QP is not used any more, and then the counters are free.
    unsafe {
        assert_eq!(ibv_destroy_comp_cntr(counter), libc::EBUSY);
        assert_eq!(side.destroy_qp(), 0);
        assert_eq!(ibv_destroy_comp_cntr(counter), 0);
        assert_eq!(ibv_destroy_comp_cntr(other), 0);
        assert_eq!(ibv_destroy_comp_cntr(its), 0);
    }
}

#[test]
fn caps_are_told_as_far_as_there_is_room() {
    let side = Side::new(Options::new(IBV_QPT_RC));
    let mut caps = ibv_comp_cntr_caps { max_value: 1, max_counters: 1, supported_qp_attach_ops: 1 };
    let size = size_of_val(&caps);
    // SAFETY: a live context, and room.
    unsafe {
        let context = side.opened.get();
        assert_eq!(_ibv_query_comp_cntr_caps(context, &raw mut caps, size - 1), libc::EINVAL);
        assert_eq!(_ibv_query_comp_cntr_caps(context, &raw mut caps, size), 0);
    }
    assert_eq!((caps.max_value, caps.supported_qp_attach_ops), (u64::MAX, 0x3f));
    assert_eq!(caps.max_counters, crate::urxe::limits::MAX_COUNTERS);
}
