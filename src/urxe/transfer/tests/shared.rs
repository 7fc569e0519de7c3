//! Shared receive queues, XRC, multicast.

use super::super::Reason;
use super::*;
use crate::urxe::transfer::{attach_mcast, detach_mcast};

fn with_srq(place: Where, kind: ibv_qp_type) -> Pair {
    let far = if kind == IBV_QPT_XRC_SEND { IBV_QPT_XRC_RECV } else { kind };
    Pair::new(place, Options::new(kind), Options { srq: true, ..Options::new(far) })
}

const KINDS: [ibv_qp_type; 2] = [IBV_QPT_RC, IBV_QPT_XRC_SEND];

#[test]
fn sends_take_receives_of_an_srq() {
    for place in PLACES {
        for kind in KINDS {
            let mut pair = with_srq(place, kind);
            pair.far.ask(&[EVENTS]);
            for number in 0..4 {
                pair.far.receive(number, &[(number as usize * 10_000, 10_000)]);
            }
            for (number, length) in [(0, 10), (1, 64), (2, 5000), (3, 0)] {
                pair.near.fill_part(0, length, number);
                pair.well(pair.wr(number, IBV_WR_SEND), &[(0, length)]);
                let wc = pair.far.received();
                assert_eq!((wc.wr_id, wc.status), (number, IBV_WC_SUCCESS));
                assert_eq!((wc.byte_len, wc.qp_num), (length as u32, pair.card.qp_num));
                assert_eq!(wc.src_qp, pair.near.card().qp_num);
                assert_eq!(pair.wrong(number as usize * 10_000, length, number), []);
                let events = pair.far.ask(&[EVENTS]);
                let limit = u64::from(IBV_EVENT_SRQ_LIMIT_REACHED);
                // Fewer than two are left after the third, and that is told once.
                assert_eq!(events.contains(&limit), number == 2, "{place:?} {kind} {number}");
            }
            let mut wr = pair.rdma(1, IBV_WR_RDMA_WRITE_WITH_IMM, 64);
            wr.imm.imm_data = 5;
            pair.far.receive(9, &[]);
            pair.near.fill_part(0, 700, 77);
            pair.well(wr, &[(0, 700)]);
            let wc = pair.far.received();
            assert_eq!((wc.wr_id, wc.imm_data), (9, 5));
            assert_eq!(pair.wrong(64, 700, 77), []);
        }
    }
}

#[test]
fn xrc_reaches_memory_of_the_srq() {
    for place in PLACES {
        let mut pair = with_srq(place, IBV_QPT_XRC_SEND);
        pair.near.fill_part(0, 3000, 5);
        pair.well(pair.rdma(1, IBV_WR_RDMA_WRITE, 100), &[(0, 3000)]);
        assert_eq!(pair.wrong(100, 3000, 5), []);
        pair.well(pair.rdma(1, IBV_WR_RDMA_READ, 100), &[(5000, 3000)]);
        assert_eq!(pair.near.wrong(5000, 3000, 5), None);
        pair.far.ask(&[SET_WORD, 8, 100]);
        let mut wr = pair.wr(1, IBV_WR_ATOMIC_FETCH_AND_ADD);
        let (remote_addr, rkey) = (pair.card.address + 8, pair.card.rkey);
        wr.wr.atomic = ibv_send_wr_wr_atomic { remote_addr, compare_add: 1, swap: 0, rkey };
        pair.well(wr, &[(0, 8)]);
        assert_eq!((pair.near.word(0), pair.far.ask(&[WORD, 8])), (100, vec![101]));
        // An SRQ that is not there.
        let mut wr = pair.wr(2, IBV_WR_SEND);
        wr.qp_type.xrc.remote_srqn = pair.card.srq_num ^ 0x3ff;
        let wc = pair.run(wr, &[(0, 8)]);
        assert_eq!((wc.status, wc.vendor_err), (IBV_WC_REM_INV_REQ_ERR, Reason::Srq as u32));
        assert_eq!(pair.far.ask(&[STATE]), [IBV_QPS_ERR.into()]);
    }
}

#[test]
fn an_empty_srq_and_one_of_another_qp() {
    for place in PLACES {
        for kind in KINDS {
            let mut pair = with_srq(place, kind);
            pair.near.send(pair.wr(1, IBV_WR_SEND), &mut pair.near.list(&[(0, 100)]));
            assert!(pair.near.poll(pair.near.cq).is_none());
            pair.far.receive(3, &[(0, 100)]);
            assert_eq!(pair.near.sent().status, IBV_WC_SUCCESS);
            assert_eq!(pair.far.received().wr_id, 3);
            // The QP fails; the receives of the SRQ stay, and its owner is told.
            pair.far.receive(4, &[(0, 10)]);
            pair.far.receive(5, &[(0, 10)]);
            pair.far.ask(&[EVENTS]);
            let wc = pair.run(pair.wr(2, IBV_WR_SEND), &[(0, 11)]);
            assert_eq!(wc.status, IBV_WC_REM_INV_REQ_ERR);
            let wc = pair.far.received();
            assert_eq!((wc.wr_id, wc.status), (4, IBV_WC_LOC_LEN_ERR));
            assert_eq!(pair.far.ask(&[POLL]), []);
            if kind == IBV_QPT_RC {
                let events = pair.far.ask(&[EVENTS]);
                assert_eq!(events.last(), Some(&IBV_EVENT_QP_LAST_WQE_REACHED.into()));
            }
        }
    }
}

#[test]
fn multicast_reaches_all_that_are_attached() {
    let mut gid = ibv_gid { raw: [0; 16] };
    // SAFETY: bytes of a GID. A group of this test process alone.
    unsafe {
        gid.raw[0] = 0xff;
        gid.raw[1] = 0x0e;
        gid.raw[8..12].copy_from_slice(&std::process::id().to_ne_bytes());
    }
    let options = Options::new(IBV_QPT_UD);
    let sides = [Side::new(options), Side::new(options), Side::new(options)];
    for side in &sides {
        side.connect(0, options);
        assert_eq!(side.receive(1, &mut side.list(&[(0, 200)])), 0);
        assert_eq!(side.receive(2, &mut side.list(&[(0, 200)])), 0);
    }
    let [sender, member, other] = &sides;
    // SAFETY: live QPs, and a GID.
    unsafe {
        assert_eq!(attach_mcast(member.qp, &raw const gid, 0), 0);
        assert_eq!(attach_mcast(member.qp, &raw const gid, 0), 0, "a second time");
        assert_eq!(attach_mcast(sender.qp, &raw const gid, 0), 0);
        let unicast = ibv_gid { raw: [0xfe; 16] };
        assert_eq!(attach_mcast(other.qp, &raw const unicast, 0), libc::EINVAL);
        assert_eq!(attach_mcast(other.qp, &raw const gid, 5), libc::EINVAL);
        let rc = Side::new(Options::new(IBV_QPT_RC));
        assert_eq!(attach_mcast(rc.qp, &raw const gid, 0), libc::EINVAL);
        assert_eq!(detach_mcast(other.qp, &raw const gid, 0), libc::EINVAL);
    }
    assert_eq!(member.destroy_qp(), libc::EBUSY);
    let mut address = sender.address();
    address.grh.dgid = gid;
    let ah = sender.ah_of(address);
    let send = || {
        let mut wr = ibv_send_wr { wr_id: 9, opcode: IBV_WR_SEND, ..ibv_send_wr::zeroed() };
        wr.wr.ud = ibv_send_wr_wr_ud { ah, remote_qpn: 0xff_ffff, remote_qkey: QKEY };
        sender.fill_part(1000, 100, 4);
        sender.send(wr, &mut sender.list(&[(1000, 100)]));
        assert_eq!(sender.sent().status, IBV_WC_SUCCESS);
    };
    send();
    for side in [sender, member] {
        let wc = side.poll(side.recv_cq).unwrap();
        assert_eq!((wc.wr_id, wc.byte_len, wc.wc_flags), (1, 140, IBV_WC_GRH));
        assert_eq!(side.wrong(40, 100, 4), None);
        assert!(side.poll(side.recv_cq).is_none());
    }
    assert!(other.poll(other.recv_cq).is_none());
    // SAFETY: live QPs, and a GID.
    unsafe {
        assert_eq!(detach_mcast(member.qp, &raw const gid, 0), 0);
        assert_eq!(detach_mcast(member.qp, &raw const gid, 0), libc::EINVAL);
    }
    send();
    assert!(sender.poll(sender.recv_cq).is_some() && member.poll(member.recv_cq).is_none());
    assert_eq!(member.destroy_qp(), 0);
    // SAFETY: a live QP, and a GID.
    assert_eq!(unsafe { detach_mcast(sender.qp, &raw const gid, 0) }, 0);
}
