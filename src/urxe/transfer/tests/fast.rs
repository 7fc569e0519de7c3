//! Requests that are carried out straight from what is posted: they are like others to all who look.
//!
//! A key that is withdrawn makes the other requests of its process go the general way for once, and
//! most tests withdraw keys at their end. So these run in a process of their own, one by one.

mod lists;
mod sends;

use crate::sync::atomic::AtomicBool;
use crate::sync::atomic::Ordering::SeqCst;

use super::super::Reason;
use super::*;
use crate::sync::rounds;
use crate::urxe::pair::{done_at_once, go_the_general_way, post_send};

/// Where the peer is, and whether its memory is a buffer of the device.
const SITES: [(Where, bool); 5] = [
    (Where::Here, false),
    (Where::Here, true),
    (Where::There, false),
    (Where::There, true),
    (Where::Closed, true),
];

#[test]
fn in_a_process_of_their_own() {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--test-threads=1", "urxe::transfer::tests::fast::"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let passed = text.split_once("test result: ok. ").and_then(|(_, rest)| rest.split_once(' '));
    assert!(
        output.status.success() && passed.is_some_and(|(number, _)| number != "0"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn pair_of(place: Where, buf: bool, kind: ibv_qp_type) -> Pair {
    let options = Options { buf, retry_cnt: 1, ..Options::new(kind) };
    let mut pair = Pair::new(place, options, options);
    pair.fill_far(0, 20_000, 1);
    pair.near.fill_part(0, 20_000, 2);
    // The first ones find out what there is to know.
    pair.well(pair.rdma(900, IBV_WR_RDMA_WRITE, 30_000), &[(30_000, 1)]);
    pair.well(pair.rdma(901, IBV_WR_RDMA_WRITE, 30_000), &[(30_000, 1)]);
    pair
}

/// Whether the next request is done at once.
fn at_once<T>(action: impl FnOnce() -> T) -> (T, bool) {
    let before = done_at_once();
    let result = action();
    (result, done_at_once() > before)
}

/// A row: a request, and what is special about it.
#[derive(Clone, Copy, Debug)]
struct Row {
    opcode: ibv_wr_opcode,
    flags: u32,
    parts: &'static [(usize, usize)],
    /// Offset of the memory of the peer.
    offset: usize,
    /// Added to the keys, near and far.
    keys: (u32, u32),
    /// It is one for the fast way.
    fast: bool,
}

const WRITE: Row = Row {
    opcode: IBV_WR_RDMA_WRITE,
    flags: 0,
    parts: &[(64, 8)],
    offset: 640,
    keys: (0, 0),
    fast: true,
};
const READ: Row = Row { opcode: IBV_WR_RDMA_READ, ..WRITE };
const SLOW: Row = Row { fast: false, ..WRITE };

const ROWS: &[Row] = &[
    WRITE,
    READ,
    Row { parts: &[], ..WRITE },
    Row { parts: &[(64, 0)], ..WRITE },
    Row { parts: &[(64, 0), (70, 0)], ..READ },
    Row { parts: &[(65, 1)], offset: 643, ..WRITE },
    Row { parts: &[(65, 2)], offset: 643, ..READ },
    Row { parts: &[(65, 3)], offset: 643, ..WRITE },
    Row { parts: &[(65, 4)], offset: 643, ..READ },
    Row { parts: &[(65, 7)], offset: 643, ..WRITE },
    Row { parts: &[(65, 9)], offset: 643, ..READ },
    Row { parts: &[(65, 16)], offset: 643, ..WRITE },
    Row { parts: &[(65, 63)], offset: 643, ..WRITE },
    Row { parts: &[(65, 4097)], offset: 643, ..READ },
    Row { parts: &[(65, 10_000)], offset: 643, ..WRITE },
    Row { parts: &[(65, 3), (200, 0), (300, 8)], ..WRITE },
    Row { parts: &[(65, 3), (200, 70), (300, 9), (7, 100)], ..READ },
    Row { flags: IBV_SEND_INLINE, ..WRITE },
    Row { flags: IBV_SEND_INLINE, parts: &[(65, 256)], ..WRITE },
    // The keys of inline data are of no account.
    Row { flags: IBV_SEND_INLINE, keys: (77 << 8, 0), ..WRITE },
    Row { flags: IBV_SEND_FENCE | IBV_SEND_SOLICITED, ..WRITE },
    Row { flags: IBV_SEND_FENCE, ..READ },
    // For no bytes no key is looked at.
    Row { parts: &[], keys: (0, 77 << 8), ..WRITE },
    // From the ring.
    Row { flags: IBV_SEND_INLINE, parts: &[(65, 3), (90, 20)], ..WRITE },
    Row { parts: &[(0, 8), (10, 8), (20, 8), (30, 8), (40, 8)], ..WRITE },
    Row { parts: &[(0, 8), (10, 8), (20, 8), (30, 8), (40, 5000), (6000, 3)], ..READ },
    // What goes wrong.
    Row { keys: (1, 0), ..SLOW },
    Row { keys: (0, 1), ..SLOW },
    Row { keys: (1 << 20, 0), ..SLOW },
    Row { keys: (0, 1 << 20), ..SLOW },
    Row { offset: LENGTH - 7, ..SLOW },
    Row { offset: usize::MAX - 1000, ..SLOW },
    Row { parts: &[(LENGTH - 7, 8)], opcode: IBV_WR_RDMA_READ, ..SLOW },
];

/// Does what a row says; what both sides see.
fn outcome(pair: &mut Pair, row: &Row) -> (Vec<u64>, bool) {
    let mut wr = pair.rdma(5, row.opcode, 0);
    wr.send_flags = row.flags;
    wr.wr.rdma = ibv_send_wr_wr_rdma {
        remote_addr: pair.card.address.wrapping_add(row.offset as u64),
        rkey: pair.card.rkey.wrapping_add(row.keys.1),
    };
    let mut list = pair.near.list(row.parts);
    list.iter_mut().for_each(|entry| entry.lkey = entry.lkey.wrapping_add(row.keys.0));
    let (wc, fast) = at_once(|| {
        pair.near.send(wr, &mut list);
        pair.near.sent()
    });
    let mut seen = vec![wc.wr_id, wc.status.into(), wc.opcode.into(), wc.vendor_err.into()];
    seen.extend([wc.byte_len, wc.src_qp, wc.wc_flags].map(u64::from));
    seen.push(u64::from(wc.qp_num == pair.near.card().qp_num));
    seen.extend([pair.near.state().into(), pair.far.ask(&[STATE])[0]]);
    seen.extend((0..20_000).step_by(8).map(|offset| pair.near.word(offset)));
    for seed in [1, 2] {
        // Where the memory of the peer begins to be unlike each pattern, from several places on.
        for (offset, length) in [(0, 640), (640, 3), (643, 9), (643, 10_000), (10_643, 9000)] {
            seen.push(pair.wrong(offset, length, seed).first().copied().unwrap_or(u64::MAX));
        }
    }
    seen.extend((640..704).step_by(8).map(|offset| pair.far.ask(&[WORD, offset])[0]));
    (seen, fast)
}

#[test]
#[ignore = "run by in_a_process_of_their_own"]
fn both_ways_tell_the_same() {
    for (place, buf) in SITES {
        let [general, fast] = [true, false].map(|general| {
            go_the_general_way(general);
            let mut pair = pair_of(place, buf, IBV_QPT_RC);
            let outcomes = ROWS.iter().map(|row| {
                if pair.near.state() != IBV_QPS_RTS {
                    pair = pair_of(place, buf, IBV_QPT_RC);
                }
                outcome(&mut pair, row)
            });
            let outcomes: Vec<_> = outcomes.collect();
            go_the_general_way(false);
            outcomes
        });
        for ((row, general), fast) in ROWS.iter().zip(general).zip(fast) {
            assert!(!general.1);
            assert_eq!(fast.1, row.fast, "{place:?} {buf} {row:?}");
            assert!(general.0 == fast.0, "{place:?} {buf} {row:?}");
        }
    }
}

#[test]
#[ignore = "run by in_a_process_of_their_own"]
fn unreliable_connections_write_at_once_and_do_not_read() {
    for (place, buf) in SITES {
        let mut pair = pair_of(place, buf, IBV_QPT_UC);
        assert!(outcome(&mut pair, &WRITE).1);
        // A key that is not good is not heard of.
        let (seen, fast) = outcome(&mut pair, &Row { keys: (0, 1), ..WRITE });
        assert_eq!((seen[1], fast), (IBV_WC_SUCCESS.into(), false));
        assert!(outcome(&mut pair, &WRITE).1);
    }
}

#[test]
#[ignore = "run by in_a_process_of_their_own"]
fn a_change_is_seen_by_the_next_request() {
    /// How a request ends: status, and which check failed.
    type End = (ibv_wc_status, u32);
    /// What is changed at the peer or here, and how the next write, or read, ends.
    type Change = (fn(&mut Pair), End, End);
    let denied = |reason: Reason| (IBV_WC_REM_ACCESS_ERR, reason as u32);
    let refused = (IBV_WC_REM_INV_REQ_ERR, Reason::QpAccess as u32);
    let silent = (IBV_WC_RETRY_EXC_ERR, Reason::NoAnswer as u32);
    let flushed = (IBV_WC_WR_FLUSH_ERR, 0);
    let changes: [Change; 6] = [
        (
            |pair| drop(pair.far.ask(&[DEREGISTER])),
            denied(Reason::RemoteKey),
            denied(Reason::RemoteKey),
        ),
        (
            |pair| pair.near.deregister(),
            (IBV_WC_LOC_PROT_ERR, Reason::LocalKey as u32),
            (IBV_WC_LOC_PROT_ERR, Reason::LocalKey as u32),
        ),
        (
            |pair| {
                let read = IBV_ACCESS_REMOTE_READ;
                drop(pair.far.ask(&[MODIFY, IBV_QP_ACCESS_FLAGS.into(), read.into()]));
            },
            refused,
            (IBV_WC_SUCCESS, 0),
        ),
        (
            |pair| drop(pair.far.ask(&[MODIFY, IBV_QP_STATE.into(), IBV_QPS_ERR.into()])),
            silent,
            silent,
        ),
        (
            |pair| drop(pair.far.ask(&[MODIFY, IBV_QP_STATE.into(), IBV_QPS_RESET.into()])),
            silent,
            silent,
        ),
        (|pair| pair.near.modify(IBV_QP_STATE, IBV_QPS_ERR), flushed, flushed),
    ];
    for (place, buf) in SITES {
        for (number, (change, written, read)) in changes.iter().enumerate() {
            for (row, expected) in [(WRITE, written), (READ, read)] {
                let mut pair = pair_of(place, buf, IBV_QPT_RC);
                assert!(outcome(&mut pair, &row).1);
                change(&mut pair);
                let wc = pair.run(pair.rdma(7, row.opcode, 640), &[(64, 8)]);
                assert_eq!((wc.status, wc.vendor_err), *expected, "{place:?} {buf} {number}");
            }
        }
    }
}

#[test]
#[ignore = "run by in_a_process_of_their_own"]
fn a_connection_that_is_made_anew_is_fast_again() {
    for (place, buf) in SITES {
        let mut pair = pair_of(place, buf, IBV_QPT_RC);
        for round in 0..3 {
            pair.far.ask(&[MODIFY, IBV_QP_STATE.into(), IBV_QPS_RESET.into()]);
            pair.near.modify(IBV_QP_STATE, IBV_QPS_RESET);
            pair.near.connect(pair.card.qp_num, pair.options);
            pair.far.ask(&[CONNECT, pair.near.card().qp_num.into()]);
            pair.near.fill_part(64, 8, round);
            let (_, fast) = outcome(&mut pair, &WRITE);
            assert!(fast, "{place:?} {buf} {round}");
            assert_eq!(pair.wrong(640, 8, round), []);
        }
    }
}

#[test]
#[ignore = "run by in_a_process_of_their_own"]
fn requests_without_completion_fill_the_queue() {
    for general in [true, false] {
        go_the_general_way(general);
        let pair = pair_of(Where::Here, true, IBV_QPT_RC);
        let mut list = pair.near.list(&[(64, 8)]);
        let mut wr = pair.rdma(1, IBV_WR_RDMA_WRITE, 640);
        (wr.sg_list, wr.num_sge) = (list.as_mut_ptr(), 1);
        let post = |flags| {
            let mut bad = core::ptr::null_mut();
            let mut wr = ibv_send_wr { send_flags: flags, ..wr };
            // SAFETY: a live QP and a valid request.
            unsafe { post_send(pair.near.qp, &raw mut wr, &raw mut bad) }
        };
        for _ in 0..3 {
            let before = done_at_once();
            for number in 0..16 {
                let flags = if number == 15 { IBV_SEND_SIGNALED } else { 0 };
                assert_eq!(post(flags), 0, "{general} {number}");
            }
            assert_eq!(done_at_once() - before, if general { 0 } else { 16 });
            assert_eq!(post(IBV_SEND_SIGNALED), libc::ENOMEM);
            assert_eq!(pair.near.sent().status, IBV_WC_SUCCESS);
            assert!(pair.near.poll(pair.near.cq).is_none());
        }
        go_the_general_way(false);
    }
}

#[test]
#[ignore = "run by in_a_process_of_their_own"]
fn counted_requests_go_the_general_way() {
    let all = (IBV_COMP_CNTR_TYPE_WRS, IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE);
    let options = Options { counted: all, buf: true, ..Options::new(IBV_QPT_RC) };
    let pair = Pair::new(Where::Here, options, Options::new(IBV_QPT_RC));
    for _ in 0..20 {
        let (_, fast) = at_once(|| pair.well(pair.rdma(1, IBV_WR_RDMA_WRITE, 0), &[(0, 8)]));
        assert!(!fast);
    }
}

/// What [`Side::in_the_end`] and the like keep from going to another thread does no harm here.
struct Shared<'a>(&'a Pair);

// SAFETY: both threads use what verbs let several threads use.
unsafe impl Sync for Shared<'_> {}

impl Shared<'_> {
    fn pair(&self) -> &Pair {
        self.0
    }
}

/// Threads post to one QP and poll its CQ: each piece arrives, and there are as many completions.
#[test]
#[ignore = "run by in_a_process_of_their_own"]
fn threads_share_a_qp() {
    const THREADS: usize = 3;
    const LENGTH: usize = 200;
    for (general, buf) in [(false, false), (false, true), (true, true)] {
        go_the_general_way(general);
        let mut pair = pair_of(Where::Here, buf, IBV_QPT_RC);
        let shared = Shared(&pair);
        std::thread::scope(|scope| {
            let threads = core::array::from_fn::<_, THREADS, _>(|thread| {
                let shared = &shared;
                scope.spawn(move || {
                    let (pair, near) = (shared.pair(), &shared.pair().near);
                    let at = thread * LENGTH;
                    near.fill_part(at, LENGTH, 7 + thread as u64);
                    for round in 0..rounds(200) {
                        let wr = pair.rdma(round, IBV_WR_RDMA_WRITE, at);
                        near.send(wr, &mut near.list(&[(at, LENGTH)]));
                        // It may be that of another thread.
                        assert_eq!(near.sent().status, IBV_WC_SUCCESS);
                    }
                })
            });
            for thread in threads {
                thread.join().unwrap();
            }
        });
        assert!(pair.near.poll(pair.near.cq).is_none());
        for thread in 0..THREADS {
            assert_eq!(pair.wrong(thread * LENGTH, LENGTH, 7 + thread as u64), []);
        }
        go_the_general_way(false);
    }
}

#[test]
#[ignore = "run by in_a_process_of_their_own"]
fn nothing_is_written_after_its_region_was_deregistered() {
    deregister_under_load();
    // Where the system has no barriers, marks are fenced.
    let barriers = &host::host().unwrap().header().unwrap().barriers;
    let before = barriers.swap(0, SeqCst);
    deregister_under_load();
    barriers.store(before, SeqCst);
}

fn deregister_under_load() {
    for buf in [false, true] {
        for _ in 0..rounds(10) {
            let pair = pair_of(Where::Here, buf, IBV_QPT_RC);
            let (stop, shared) = (AtomicBool::new(false), Shared(&pair));
            std::thread::scope(|scope| {
                let writer = scope.spawn(|| {
                    let (pair, near) = (shared.pair(), &shared.pair().near);
                    while !stop.load(SeqCst) {
                        let wr = pair.rdma(1, IBV_WR_RDMA_WRITE, 640);
                        near.send(wr, &mut near.list(&[(64, 2000)]));
                        if near.sent().status != IBV_WC_SUCCESS {
                            break;
                        }
                    }
                });
                std::thread::sleep(std::time::Duration::from_micros(300));
                let Far::Here(far, _) = &pair.far else { panic!() };
                far.deregister();
                far.fill_part(640, 2000, 99);
                for _ in 0..100 {
                    assert_eq!(far.wrong(640, 2000, 99), None);
                }
                stop.store(true, SeqCst);
                writer.join().unwrap();
            });
        }
    }
}
