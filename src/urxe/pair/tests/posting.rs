//! `ibv_post_send` and `ibv_post_recv`.

use core::cell::RefCell;
use core::ptr;
use std::rc::Rc;

use super::*;
use crate::verbs::ah::{ibv_create_ah, ibv_destroy_ah};
use crate::verbs::pd::{ibv_alloc_pd, ibv_dealloc_pd};

#[test]
fn sends_are_taken_from_rts_on() {
    let bench = Bench::new();
    let _executing = Executing::success();
    for (state, taken) in [
        (IBV_QPS_RESET, false),
        (IBV_QPS_INIT, false),
        (IBV_QPS_RTR, false),
        (IBV_QPS_RTS, true),
        (IBV_QPS_SQD, true),
        (IBV_QPS_ERR, true),
    ] {
        let qp = bench.qp(IBV_QPT_RC, state);
        let expected = if taken { Ok(()) } else { Err((libc::EINVAL, 0)) };
        assert_eq!(qp.send_ids([1, 2]), expected, "{state}");
        let expected = if state == IBV_QPS_RESET { Err((libc::EINVAL, 0)) } else { Ok(()) };
        assert_eq!(qp.receive_ids(&[1, 2]), expected, "{state}");
    }
}

#[test]
fn the_type_decides_on_opcodes() {
    let bench = Bench::new();
    let _executing = Executing::success();
    for (kind, opcodes) in [
        (IBV_QPT_RC, (0..10).collect::<Vec<_>>()),
        (IBV_QPT_XRC_SEND, (0..10).collect()),
        (IBV_QPT_UC, vec![0, 1, 2, 3, 7, 8, 9]),
        (IBV_QPT_UD, vec![2, 3]),
    ] {
        let qp = bench.qp(kind, IBV_QPS_RTS);
        for opcode in (0..20).chain([255, u32::MAX]) {
            let mut wr = ibv_send_wr { opcode, ..send_wr(u64::from(opcode)) };
            if kind == IBV_QPT_UD {
                wr.wr.ud = ibv_send_wr_wr_ud { ah: bench.ah, remote_qpn: 1, remote_qkey: 2 };
            }
            // A window is needed for that.
            let expected = opcodes.contains(&opcode) && opcode != IBV_WR_BIND_MW;
            let result = qp.send(&mut [wr]);
            assert_eq!(result, if expected { Ok(()) } else { Err((libc::EINVAL, 0)) }, "{opcode}");
            assert_eq!(bench.poll(2).len(), usize::from(expected));
        }
    }
}

#[test]
fn requests_arrive_as_they_were_posted() {
    let bench = Bench::new();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&seen);
    let _executing = Executing::new(move |_, wqe, _| {
        let data = match wqe.data {
            Data::List(list) => list.iter().map(|sge| (sge.addr, sge.length, sge.lkey)).collect(),
            Data::Inline(bytes) => vec![(u64::from(bytes[0]), bytes.len() as u32, 0)],
        };
        let target = match wqe.target {
            Target::Peer => [0; 4],
            Target::Memory { address, rkey } => [1, address, rkey.into(), 0],
            Target::Word { address, rkey, operand, swap } => [address, rkey.into(), operand, swap],
            Target::Datagram { ah, qp_num, qkey } => {
                [2, u64::from(ah.port_num), qp_num.into(), qkey.into()]
            }
            _ => panic!(),
        };
        log.borrow_mut().push((
            wqe.opcode,
            wqe.flags,
            wqe.imm_or_key,
            wqe.remote_srqn,
            target,
            data,
        ));
        Outcome::Done(Done::success(wqe.length as u32))
    });
    let take = |completions: usize| {
        assert_eq!(bench.poll(8).len(), completions);
        core::mem::take(&mut *seen.borrow_mut())
    };
    let mut list =
        [ibv_sge { addr: 10, length: 20, lkey: 30 }, ibv_sge { addr: 40, length: 50, lkey: 60 }];
    let with_list = |opcode, send_flags| ibv_send_wr {
        opcode,
        send_flags,
        num_sge: 2,
        sg_list: ptr::null_mut(),
        ..send_wr(1)
    };
    let qp = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
    let mut write = with_list(IBV_WR_RDMA_WRITE_WITH_IMM, IBV_SEND_SOLICITED);
    write.sg_list = list.as_mut_ptr();
    write.imm.imm_data = 77;
    write.wr.rdma = ibv_send_wr_wr_rdma { remote_addr: 100, rkey: 200 };
    let mut add = ibv_send_wr { num_sge: 1, ..write };
    add.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
    add.send_flags = IBV_SEND_FENCE | IBV_SEND_SIGNALED;
    add.wr.atomic = ibv_send_wr_wr_atomic { remote_addr: 1, compare_add: 2, swap: 3, rkey: 4 };
    qp.send(&mut [write, add]).unwrap();
    let both = vec![(10, 20, 30), (40, 50, 60)];
    assert_eq!(
        take(1),
        [
            (IBV_WR_RDMA_WRITE_WITH_IMM, IBV_SEND_SOLICITED, 77, 0, [1, 100, 200, 0], both.clone()),
            (IBV_WR_ATOMIC_CMP_AND_SWP, 3, 77, 0, [1, 4, 2, 3], vec![(10, 20, 30)]),
        ]
    );

    let bytes = *b"inline data";
    let mut pieces = [
        ibv_sge { addr: bytes.as_ptr().expose_provenance() as u64, length: 6, lkey: 0 },
        ibv_sge { addr: 0, length: 0, lkey: 0 },
    ];
    let mut inline = with_list(IBV_WR_SEND, IBV_SEND_INLINE);
    inline.sg_list = pieces.as_mut_ptr();
    qp.send(&mut [inline]).unwrap();
    assert_eq!(take(0), [(IBV_WR_SEND, 0, 0, 0, [0; 4], vec![(u64::from(b'i'), 6, 0)])]);

    let mut init = bench.init(IBV_QPT_XRC_SEND);
    init.sq_sig_all = 1;
    let qp = bench.create(&mut init).unwrap();
    bench.move_to(&qp, IBV_QPS_RTS);
    let mut send = with_list(IBV_WR_SEND_WITH_INV, 0);
    send.sg_list = list.as_mut_ptr();
    send.imm.invalidate_rkey = 5;
    send.qp_type.xrc.remote_srqn = 6;
    qp.send(&mut [send]).unwrap();
    assert_eq!(take(1), [(IBV_WR_SEND_WITH_INV, IBV_SEND_SIGNALED, 5, 6, [0; 4], both)]);

    let qp = bench.qp(IBV_QPT_UD, IBV_QPS_RTS);
    let mut send = send_wr(1);
    send.wr.ud = ibv_send_wr_wr_ud { ah: bench.ah, remote_qpn: 3, remote_qkey: 4 };
    qp.send(&mut [send]).unwrap();
    assert_eq!(take(1), [(IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 0, [2, 1, 3, 4], vec![])]);
}

#[test]
fn a_bad_request_stops_the_list_and_those_before_it_are_done() {
    let bench = Bench::new();
    let _executing = Executing::success();
    let qp = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
    let mut list = [ibv_sge::zeroed(); 3];
    let mut inline = [ibv_sge { addr: 0, length: 33, lkey: 0 }; 1];
    let (list, inline) = (list.as_mut_ptr(), inline.as_mut_ptr());
    let bad: [ibv_send_wr; 9] = [
        ibv_send_wr { num_sge: 3, sg_list: list, ..send_wr(9) },
        ibv_send_wr { num_sge: -1, sg_list: list, ..send_wr(9) },
        ibv_send_wr { num_sge: 1, sg_list: ptr::null_mut(), ..send_wr(9) },
        ibv_send_wr { num_sge: 1, sg_list: inline, send_flags: IBV_SEND_INLINE, ..send_wr(9) },
        ibv_send_wr { opcode: IBV_WR_RDMA_READ, send_flags: IBV_SEND_INLINE, ..send_wr(9) },
        ibv_send_wr { opcode: IBV_WR_LOCAL_INV, send_flags: IBV_SEND_INLINE, ..send_wr(9) },
        ibv_send_wr { send_flags: IBV_SEND_IP_CSUM, ..send_wr(9) },
        ibv_send_wr { send_flags: 1 << 20, ..send_wr(9) },
        ibv_send_wr { opcode: IBV_WR_TSO, ..send_wr(9) },
    ];
    for bad in bad {
        assert_eq!(qp.send(&mut [send_wr(1), send_wr(2), bad, send_wr(3)]), Err((libc::EINVAL, 2)));
        assert_eq!(bench.statuses(), [(1, IBV_WC_SUCCESS), (2, IBV_WC_SUCCESS)]);
    }
    // An empty list, and nowhere to tell the bad one.
    // SAFETY: a live QP.
    unsafe {
        let mut wrong = ibv_send_wr { opcode: 99, ..send_wr(1) };
        assert_eq!(post_send(qp.0, ptr::null_mut(), ptr::null_mut()), 0);
        assert_eq!(post_send(qp.0, &mut wrong, ptr::null_mut()), libc::EINVAL);
        assert_eq!(Errno::last(), Errno::EINVAL);
    }
}

#[test]
fn datagrams_need_an_address_of_the_same_domain() {
    let bench = Bench::new();
    let _executing = Executing::success();
    let qp = bench.qp(IBV_QPT_UD, IBV_QPS_RTS);
    let mut wr = send_wr(1);
    wr.wr.ud = ibv_send_wr_wr_ud { ah: ptr::null_mut(), remote_qpn: 1, remote_qkey: 1 };
    assert_eq!(qp.send(&mut [wr]), Err((libc::EINVAL, 0)));
    // SAFETY: live objects.
    unsafe {
        let pd = ibv_alloc_pd(bench.opened.get());
        let ah = ibv_create_ah(pd, &mut address(&bench.opened));
        wr.wr.ud.ah = ah;
        assert_eq!(qp.send(&mut [wr]), Err((libc::EINVAL, 0)));
        assert_eq!(ibv_destroy_ah(ah), 0);
        assert_eq!(ibv_dealloc_pd(pd), 0);
    }
}

#[test]
fn places_are_free_when_a_later_completion_is_polled() {
    let bench = Bench::new();
    let _executing = Executing::success();
    let qp = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
    let unsignaled = |wr_id| ibv_send_wr { send_flags: 0, ..send_wr(wr_id) };
    // The counters wrap around meanwhile.
    {
        let mut send = qp.qp().sending();
        (send.ring.head, send.ring.tail) = (u32::MAX - 5, u32::MAX - 5);
        drop(send);
        qp.qp().set_freed(u32::MAX - 5);
    }
    for round in 0..10 {
        qp.send(&mut [unsignaled(1), unsignaled(2), unsignaled(3), send_wr(round)]).unwrap();
        assert_eq!(qp.send(&mut [unsignaled(5)]), Err((libc::ENOMEM, 0)));
        let wc = bench.poll(8);
        assert_eq!(wc.len(), 1);
        assert_eq!((wc[0].wr_id, wc[0].qp_num), (round, qp.qp().number));
    }
    // Without a completion they stay.
    qp.send(&mut [send_wr(1), unsignaled(2)]).unwrap();
    assert_eq!(bench.poll(8).len(), 1);
    assert_eq!(qp.send_ids([3, 4, 5, 6]), Err((libc::ENOMEM, 3)));
}

#[test]
fn all_complete_where_all_are_signaled() {
    let bench = Bench::new();
    let _executing = Executing::success();
    let mut init = bench.init(IBV_QPT_RC);
    init.sq_sig_all = 1;
    let qp = bench.create(&mut init).unwrap();
    bench.move_to(&qp, IBV_QPS_RTS);
    qp.send(&mut [ibv_send_wr { send_flags: 0, ..send_wr(1) }, send_wr(2)]).unwrap();
    assert_eq!(bench.statuses(), [(1, IBV_WC_SUCCESS), (2, IBV_WC_SUCCESS)]);
}

#[test]
fn completions_name_their_operation() {
    let bench = Bench::new();
    let _executing = Executing::success();
    let qp = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
    for (opcode, completion) in [
        (IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE),
        (IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE),
        (IBV_WR_SEND, IBV_WC_SEND),
        (IBV_WR_SEND_WITH_IMM, IBV_WC_SEND),
        (IBV_WR_SEND_WITH_INV, IBV_WC_SEND),
        (IBV_WR_RDMA_READ, IBV_WC_RDMA_READ),
        (IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WC_COMP_SWAP),
        (IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_FETCH_ADD),
        (IBV_WR_LOCAL_INV, IBV_WC_LOCAL_INV),
    ] {
        let mut list = [ibv_sge { addr: 1, length: 9, lkey: 2 }];
        let mut wr = ibv_send_wr { opcode, num_sge: 1, ..send_wr(4) };
        wr.sg_list = list.as_mut_ptr();
        qp.send(&mut [wr]).unwrap();
        let wc = bench.poll(2);
        let length = if opcode == IBV_WR_LOCAL_INV { 0 } else { 9 };
        assert_eq!((wc[0].opcode, wc[0].byte_len, wc.len()), (completion, length, 1));
    }
}

#[test]
fn what_waits_goes_on_when_the_program_polls() {
    let bench = Bench::new();
    let tries = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&tries);
    let _executing = Executing::new(move |_, wqe, now| {
        let mut log = log.borrow_mut();
        log.push(wqe.wr_id);
        if log.iter().filter(|&&id| id == wqe.wr_id).count() < 3 {
            Outcome::Wait { until: now + HOUR }
        } else {
            Outcome::Done(Done::success(0))
        }
    });
    let qp = bench.qp(IBV_QPT_RC, IBV_QPS_RTS);
    qp.send_ids([1, 2]).unwrap();
    assert!(bench.poll(4).is_empty());
    assert_eq!(bench.statuses(), [(1, IBV_WC_SUCCESS)]);
    assert!(bench.poll(4).is_empty());
    assert_eq!(bench.statuses(), [(2, IBV_WC_SUCCESS)]);
    assert_eq!(*tries.borrow(), [1, 1, 1, 2, 2, 2]);
    assert!(!qp.qp().sending().waits);
    bench.poll(1);
    assert_eq!(tries.borrow().len(), 6);
}
