//! Requests that fail, with what each side sees of it.

use crate::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::super::responder::Responder;
use super::*;
use crate::urxe::shared::QPS;

/// What both ends see of a request that failed.
#[track_caller]
fn ended(pair: &mut Pair, wc: ibv_wc, status: ibv_wc_status, reason: super::super::Reason) {
    assert_eq!((wc.status, wc.vendor_err), (status, reason as u32));
    assert_eq!(pair.near.state(), IBV_QPS_ERR, "the requester");
}

use super::super::Reason;

#[test]
fn local_errors_concern_this_side_alone() {
    for place in PLACES {
        // An unknown key, a range that is too long.
        for (key, length) in [(0xdead, 8), (0, LENGTH as u32)] {
            let mut pair = Pair::of(place, IBV_QPT_RC);
            pair.far.receive(1, &[(0, 100)]);
            let mut list = pair.near.list(&[(64, 8)]);
            (list[0].lkey, list[0].length) = (if key == 0 { list[0].lkey } else { key }, length);
            pair.near.send(pair.wr(1, IBV_WR_SEND), &mut list);
            let wc = pair.near.sent();
            ended(&mut pair, wc, IBV_WC_LOC_PROT_ERR, Reason::LocalKey);
            assert_eq!(pair.far.ask(&[STATE]), [IBV_QPS_RTS.into()]);
            assert_eq!(pair.far.ask(&[POLL]), []);
        }
        // A read into memory that may not be written.
        let read_only = Options { mr_access: IBV_ACCESS_REMOTE_READ, ..Options::new(IBV_QPT_RC) };
        let mut pair = Pair::new(place, read_only, Options::new(IBV_QPT_RC));
        let wc = pair.run(pair.rdma(1, IBV_WR_RDMA_READ, 0), &[(0, 8)]);
        ended(&mut pair, wc, IBV_WC_LOC_PROT_ERR, Reason::LocalKey);
        // No room for the result of an atomic.
        let mut pair = Pair::of(place, IBV_QPT_RC);
        let mut wr = pair.wr(1, IBV_WR_ATOMIC_FETCH_AND_ADD);
        let (remote_addr, rkey) = (pair.card.address, pair.card.rkey);
        wr.wr.atomic = ibv_send_wr_wr_atomic { remote_addr, compare_add: 1, swap: 0, rkey };
        let wc = pair.run(wr, &[(0, 7)]);
        ended(&mut pair, wc, IBV_WC_LOC_LEN_ERR, Reason::WordLength);
    }
}

#[test]
fn remote_access_errors_end_both_qps() {
    for place in PLACES {
        let read = Options { mr_access: IBV_ACCESS_REMOTE_READ, ..Options::new(IBV_QPT_RC) };
        let all = Options::new(IBV_QPT_RC);
        let cases: [(Options, ibv_wr_opcode, u32, u64, u32); 6] = [
            (all, IBV_WR_RDMA_WRITE, 1 << 30, 0, 8),
            (all, IBV_WR_RDMA_READ, 0, LENGTH as u64, 1),
            (all, IBV_WR_RDMA_READ, 0, LENGTH as u64 - 7, 8),
            (all, IBV_WR_RDMA_WRITE, 0, u64::MAX - 100, 200),
            (read, IBV_WR_RDMA_WRITE, 0, 0, 8),
            (read, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0, 8),
        ];
        for (far, opcode, key, offset, length) in cases {
            let mut pair = Pair::new(place, all, far);
            pair.far.receive(5, &[(0, 8)]);
            pair.far.ask(&[EVENTS]);
            let mut wr = pair.wr(1, opcode);
            let (remote_addr, rkey) =
                (pair.card.address.wrapping_add(offset), pair.card.rkey ^ key);
            if opcode == IBV_WR_ATOMIC_FETCH_AND_ADD {
                wr.wr.atomic = ibv_send_wr_wr_atomic { remote_addr, compare_add: 1, swap: 0, rkey };
            } else {
                wr.wr.rdma = ibv_send_wr_wr_rdma { remote_addr, rkey };
            }
            let wc = pair.run(wr, &[(0, length as usize)]);
            ended(&mut pair, wc, IBV_WC_REM_ACCESS_ERR, Reason::RemoteKey);
            assert_eq!(pair.far.ask(&[STATE]), [IBV_QPS_ERR.into()]);
            assert_eq!(pair.far.ask(&[EVENTS]), [IBV_EVENT_QP_ACCESS_ERR.into()]);
            let flushed = pair.far.received();
            assert_eq!((flushed.wr_id, flushed.status), (5, IBV_WC_WR_FLUSH_ERR));
        }
    }
}

#[test]
fn what_the_peer_does_not_allow_is_an_invalid_request() {
    for place in PLACES {
        let closed = Options { qp_access: 0, ..Options::new(IBV_QPT_RC) };
        for opcode in [IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ] {
            let mut pair = Pair::new(place, Options::new(IBV_QPT_RC), closed);
            pair.far.ask(&[EVENTS]);
            let wc = pair.run(pair.rdma(1, opcode, 0), &[(0, 8)]);
            ended(&mut pair, wc, IBV_WC_REM_INV_REQ_ERR, Reason::QpAccess);
            assert_eq!(pair.far.ask(&[EVENTS]), [IBV_EVENT_QP_REQ_ERR.into()]);
        }
        let mut pair = Pair::of(place, IBV_QPT_RC);
        let mut wr = pair.wr(1, IBV_WR_ATOMIC_FETCH_AND_ADD);
        let (remote_addr, rkey) = (pair.card.address + 4, pair.card.rkey);
        wr.wr.atomic = ibv_send_wr_wr_atomic { remote_addr, compare_add: 1, swap: 0, rkey };
        let wc = pair.run(wr, &[(0, 8)]);
        ended(&mut pair, wc, IBV_WC_REM_INV_REQ_ERR, Reason::Alignment);
    }
}

#[test]
fn receives_that_do_not_fit() {
    for place in PLACES {
        for kind in [IBV_QPT_RC, IBV_QPT_UC] {
            let mut pair = Pair::of(place, kind);
            pair.far.receive(4, &[(0, 50), (100, 49)]);
            pair.far.receive(5, &[(0, 50)]);
            let wc = pair.run(pair.wr(1, IBV_WR_SEND), &[(0, 100)]);
            if kind == IBV_QPT_RC {
                ended(&mut pair, wc, IBV_WC_REM_INV_REQ_ERR, Reason::ReceiveLength);
            } else {
                assert_eq!((wc.status, pair.near.state()), (IBV_WC_SUCCESS, IBV_QPS_RTS));
            }
            let (bad, flushed) = (pair.far.received(), pair.far.received());
            assert_eq!((bad.wr_id, bad.status), (4, IBV_WC_LOC_LEN_ERR));
            assert_eq!((flushed.wr_id, flushed.status), (5, IBV_WC_WR_FLUSH_ERR));
            assert_eq!(pair.far.ask(&[STATE]), [IBV_QPS_ERR.into()]);
        }
        // Memory of the receive that may not be written.
        let read_only = Options { mr_access: 0, ..Options::new(IBV_QPT_RC) };
        let mut pair = Pair::new(place, Options::new(IBV_QPT_RC), read_only);
        pair.far.receive(4, &[(0, 100)]);
        let wc = pair.run(pair.wr(1, IBV_WR_SEND), &[(0, 10)]);
        ended(&mut pair, wc, IBV_WC_REM_OP_ERR, Reason::ReceiveKey);
        assert_eq!(pair.far.received().status, IBV_WC_LOC_PROT_ERR);
    }
}

/// A short message needs no look at a receive whose key was good when it was posted, as long as that
/// has not changed.
#[test]
fn the_key_of_a_receive_changes() {
    const WRITABLE: u64 = IBV_ACCESS_LOCAL_WRITE as u64;
    for place in PLACES {
        for (posted, sent) in [(WRITABLE, 0), (0, WRITABLE), (0, 0), (WRITABLE, WRITABLE)] {
            let mut pair = Pair::of(place, IBV_QPT_RC);
            // The way is known.
            pair.far.receive(1, &[(0, 100)]);
            pair.well(pair.wr(1, IBV_WR_SEND), &[(0, 8)]);
            assert_eq!(pair.far.received().wr_id, 1);
            pair.far.ask(&[ACCESS, posted]);
            pair.far.receive(2, &[(0, 100)]);
            pair.far.receive(3, &[(8, 8)]);
            pair.far.ask(&[ACCESS, sent]);
            pair.near.fill_part(0, 16, 5);
            let wc = pair.run(pair.wr(2, IBV_WR_SEND), &[(0, 8)]);
            if sent == 0 {
                ended(&mut pair, wc, IBV_WC_REM_OP_ERR, Reason::ReceiveKey);
                let (bad, flushed) = (pair.far.received(), pair.far.received());
                assert_eq!((bad.wr_id, bad.status), (2, IBV_WC_LOC_PROT_ERR));
                assert_eq!((flushed.wr_id, flushed.status), (3, IBV_WC_WR_FLUSH_ERR));
                continue;
            }
            assert_eq!(wc.status, IBV_WC_SUCCESS);
            // Inline, and one that is too long for the second.
            let mut list = pair.near.list(&[(8, 8)]);
            let inline = pair.wr(3, IBV_WR_SEND);
            pair.near.send(ibv_send_wr { send_flags: IBV_SEND_INLINE, ..inline }, &mut list);
            assert_eq!((pair.near.sent().wr_id, pair.far.received().wr_id), (3, 2));
            let second = pair.far.received();
            assert_eq!((second.wr_id, second.status, second.byte_len), (3, IBV_WC_SUCCESS, 8));
            assert_eq!(pair.wrong(0, 16, 5), []);
            pair.far.receive(4, &[(0, 8)]);
            let wc = pair.run(pair.wr(4, IBV_WR_SEND), &[(0, 9)]);
            ended(&mut pair, wc, IBV_WC_REM_INV_REQ_ERR, Reason::ReceiveLength);
            assert_eq!(pair.far.received().status, IBV_WC_LOC_LEN_ERR);
        }
    }
}

#[test]
fn without_a_receive() {
    for place in PLACES {
        // Twice more and no longer.
        let impatient = Options { rnr_retry: 2, ..Options::new(IBV_QPT_RC) };
        let mut pair = Pair::new(place, impatient, Options::new(IBV_QPT_RC));
        let wc = pair.run(pair.wr(1, IBV_WR_SEND), &[(0, 10)]);
        ended(&mut pair, wc, IBV_WC_RNR_RETRY_EXC_ERR, Reason::NoReceive);
        assert_eq!(pair.far.ask(&[STATE]), [IBV_QPS_RTS.into()]);

        // For ever, until there is one.
        let mut pair = Pair::of(place, IBV_QPT_RC);
        pair.near.fill_part(0, 100, 3);
        pair.near.send(pair.wr(1, IBV_WR_SEND), &mut pair.near.list(&[(0, 100)]));
        pair.near.send(pair.wr(2, IBV_WR_SEND), &mut pair.near.list(&[(0, 10)]));
        std::thread::sleep(Duration::from_millis(30));
        assert!(pair.near.poll(pair.near.cq).is_none());
        pair.far.receive(7, &[(0, 100)]);
        let wc = pair.near.sent();
        assert_eq!((wc.wr_id, wc.status), (1, IBV_WC_SUCCESS));
        assert!(pair.near.poll(pair.near.cq).is_none());
        assert_eq!(pair.far.received().wr_id, 7);
        assert_eq!(pair.wrong(0, 100, 3), []);
        // The thread does it as well, when nobody polls.
        pair.far.receive(8, &[(0, 100)]);
        let begin = Instant::now();
        while pair.far.ask(&[POLL]).is_empty() {
            assert!(begin.elapsed() < Duration::from_secs(10));
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(pair.near.sent().wr_id, 2);

        // Unreliable ones lose the message.
        let mut pair = Pair::of(place, IBV_QPT_UC);
        pair.well(pair.wr(1, IBV_WR_SEND), &[(0, 10)]);
        pair.far.receive(7, &[(0, 100)]);
        assert_eq!(pair.far.ask(&[POLL]), []);
    }
}

#[test]
fn a_peer_that_is_not_there() {
    // Never was.
    let options = Options { retry_cnt: 1, ..Options::new(IBV_QPT_RC) };
    let side = Side::new(options);
    side.connect(999 << 14, options);
    let begin = Instant::now();
    let wr = ibv_send_wr { wr_id: 1, opcode: IBV_WR_SEND, ..ibv_send_wr::zeroed() };
    side.send(wr, &mut side.list(&[(0, 10)]));
    let wc = side.sent();
    assert_eq!((wc.status, wc.vendor_err), (IBV_WC_RETRY_EXC_ERR, Reason::NoAnswer as u32));
    // Two times 4.096 us times 2^10.
    assert!(begin.elapsed() >= Duration::from_micros(8388), "{:?}", begin.elapsed());

    for place in [Where::There, Where::Closed] {
        // Is killed.
        let mut pair = Pair::new(place, options, options);
        pair.well(pair.rdma(1, IBV_WR_RDMA_WRITE, 0), &[(0, 10)]);
        pair.far.kill();
        let wc = pair.run(pair.rdma(2, IBV_WR_RDMA_WRITE, 0), &[(0, 10)]);
        ended(&mut pair, wc, IBV_WC_RETRY_EXC_ERR, Reason::NoAnswer);
    }
    // Is not connected yet, and then is.
    for place in PLACES {
        let options = Options { timeout: 20, ..Options::new(IBV_QPT_RC) };
        let mut far = Far::new(place, options);
        let near = Side::new(options);
        let card = far.card();
        near.connect(card.qp_num, options);
        let mut pair = Pair { near, far, card, options };
        pair.near.send(pair.rdma(1, IBV_WR_RDMA_WRITE, 0), &mut pair.near.list(&[(0, 10)]));
        let early = pair.near.poll(pair.near.cq).map(|wc| (wc.status, wc.vendor_err));
        assert_eq!(early, None, "{place:?}");
        pair.far.ask(&[CONNECT, pair.near.card().qp_num.into()]);
        assert_eq!(pair.near.sent().status, IBV_WC_SUCCESS);
        assert_eq!(pair.options.kind, IBV_QPT_RC);
    }
}

#[test]
fn a_process_that_has_the_slot_of_the_peer_is_a_stranger() {
    // The epoch that one side remembers of the other is that of a process before.
    for (ours, theirs) in [(true, false), (false, true)] {
        let options = Options { retry_cnt: 1, ..Options::new(IBV_QPT_RC) };
        let mut pair = Pair::new(Where::Here, options, options);
        pair.well(pair.rdma(1, IBV_WR_RDMA_WRITE, 0), &[(0, 10)]);
        for (number, is_changed) in [(pair.near.card().qp_num, ours), (pair.card.qp_num, theirs)] {
            let host = host::host().unwrap();
            let peer = host.peer(number / QPS).unwrap();
            let record = Responder::find(host, &peer, number).unwrap().shared;
            assert_eq!(record.peer_epoch.load(Relaxed), host.epoch());
            if is_changed {
                record.peer_epoch.store(host.epoch() ^ 1, Relaxed);
                record.change();
            }
        }
        let wc = pair.run(pair.rdma(2, IBV_WR_RDMA_WRITE, 0), &[(0, 10)]);
        ended(&mut pair, wc, IBV_WC_RETRY_EXC_ERR, Reason::NoAnswer);
    }
}

#[test]
fn a_full_completion_queue_ends_the_receiver() {
    for place in PLACES {
        let small = Options { recv_cqe: 2, ..Options::new(IBV_QPT_RC) };
        let mut pair = Pair::new(place, Options::new(IBV_QPT_RC), small);
        pair.far.ask(&[EVENTS]);
        for number in 0..8 {
            pair.far.receive(number, &[(0, 100)]);
        }
        let mut statuses = Vec::new();
        for number in 0..8 {
            pair.near.send(pair.wr(number, IBV_WR_SEND), &mut pair.near.list(&[(0, 10)]));
            statuses.push(pair.near.sent().status);
            if statuses.last() != Some(&IBV_WC_SUCCESS) {
                break;
            }
        }
        assert_eq!(statuses.last(), Some(&IBV_WC_RETRY_EXC_ERR), "{statuses:?}");
        let events = pair.far.ask(&[EVENTS]);
        assert_eq!(events, [IBV_EVENT_CQ_ERR.into(), IBV_EVENT_QP_FATAL.into()]);
        assert_eq!(pair.far.ask(&[STATE]), [IBV_QPS_ERR.into()]);
    }
}

/// The lines of the log that a test of this module causes, in a process of its own.
fn explanations(test: &str) -> String {
    let path = std::env::temp_dir().join(format!("urxe-test-{}-{test}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("urxe::transfer::tests::errors::{test}")])
        .env("VERBS_LOG_LEVEL", "2")
        .env("VERBS_LOG_FILE", &path)
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    text
}

#[test]
fn errors_are_explained() {
    for (test, wanted) in [
        ("local_errors_concern_this_side_alone", "local key 0xdead is not known"),
        ("local_errors_concern_this_side_alone", "7 bytes for the result of an atomic"),
        ("receives_that_do_not_fit", "a message of 100 bytes is 1 bytes longer than the receive"),
        ("what_the_peer_does_not_allow_is_an_invalid_request", "allows 0x0 and lacks access 0x2"),
        ("without_a_receive", "has no receive, after 3 tries 10000 ns apart"),
    ] {
        let text = explanations(test);
        assert!(text.contains(wanted), "{wanted}:\n{text}");
    }
}

/// Neither side does reads and atomics without resources for them.
#[test]
fn no_reads_without_resources() {
    for place in PLACES {
        let none = Options { reads: 0, ..Options::new(IBV_QPT_RC) };
        for (near, far) in [(none, Options::new(IBV_QPT_RC)), (Options::new(IBV_QPT_RC), none)] {
            for opcode in [IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD] {
                let mut pair = Pair::new(place, near, far);
                pair.well(pair.rdma(1, IBV_WR_RDMA_WRITE, 64), &[(0, 8)]);
                let mut wr = pair.rdma(2, opcode, 64);
                if opcode != IBV_WR_RDMA_READ {
                    let (remote_addr, rkey) = (pair.card.address + 64, pair.card.rkey);
                    wr.wr.atomic = ibv_send_wr_wr_atomic { remote_addr, rkey, ..Plain::zeroed() };
                }
                let wc = pair.run(wr, &[(0, 8)]);
                let local = near.reads == 0;
                let reason = if local { Reason::Opcode } else { Reason::Reads };
                assert_eq!(wc.vendor_err, reason as u32);
                let status = if local { IBV_WC_LOC_QP_OP_ERR } else { IBV_WC_REM_INV_REQ_ERR };
                assert_eq!(wc.status, status, "{place:?} {opcode}");
                let events = pair.far.ask(&[EVENTS]);
                assert_eq!(events.contains(&IBV_EVENT_QP_REQ_ERR.into()), !local);
            }
        }
    }
}

/// The kernel refuses access to a process that believes it can be reached: it starts its thread when
/// it calls next, and nothing is lost.
#[test]
fn who_is_refused_is_served() {
    let options =
        Options { mr_access: ALL & !IBV_ACCESS_REMOTE_ATOMIC, ..Options::new(IBV_QPT_RC) };
    let options = Options { timeout: 20, ..options };
    let mut pair = Pair::new(Where::There, options, options);
    assert_eq!(pair.far.ask(&[THREADS]), [0]);
    let peer = host::host().unwrap().peer(pair.card.qp_num >> 14).unwrap();
    peer.refuse();
    pair.near.fill_part(0, 5000, 3);
    pair.near.send(pair.rdma(1, IBV_WR_RDMA_WRITE, 64), &mut pair.near.list(&[(0, 5000)]));
    assert!(pair.near.poll(pair.near.cq).is_none());
    // A poll of an empty queue.
    assert_eq!(pair.far.ask(&[POLL]), []);
    assert_eq!(pair.near.sent().status, IBV_WC_SUCCESS);
    assert_eq!(pair.wrong(64, 5000, 3), []);
    assert_eq!(pair.far.ask(&[THREADS]), [1]);
}
