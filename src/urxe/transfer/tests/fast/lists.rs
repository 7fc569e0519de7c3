//! Lists of reads and writes: several may be done by one system call, and it does not show.

use core::ptr;

use super::super::*;
use super::{SITES, at_once, pair_of};
use crate::urxe::pair::{done_at_once, go_the_general_way, post_send};

/// Bytes between the parts of memory of two requests.
const STEP: usize = 3000;

/// A request of a list.
#[derive(Clone, Copy, Debug)]
struct Row {
    opcode: ibv_wr_opcode,
    flags: u32,
    length: usize,
    /// Added to the keys, near and far.
    keys: (u32, u32),
    /// Added to the offset of the memory of the peer.
    more: usize,
}

const WRITE: Row = Row {
    opcode: IBV_WR_RDMA_WRITE,
    flags: IBV_SEND_SIGNALED,
    length: 1000,
    keys: (0, 0),
    more: 0,
};
const READ: Row = Row { opcode: IBV_WR_RDMA_READ, ..WRITE };
const QUIET: Row = Row { flags: 0, ..WRITE };
const INLINE: Row = Row { flags: IBV_SEND_SIGNALED | IBV_SEND_INLINE, length: 200, ..WRITE };

const LISTS: &[&[Row]] = &[
    &[WRITE, WRITE, QUIET, WRITE],
    &[WRITE; 16],
    &[READ; 12],
    &[WRITE, READ, WRITE, WRITE, READ, READ],
    &[
        Row { length: 1, ..WRITE },
        Row { length: 7, ..WRITE },
        Row { length: 8, ..WRITE },
        Row { length: 9, ..WRITE },
        Row { length: 0, ..WRITE },
        Row { length: 2999, ..WRITE },
        Row { length: 3, ..READ },
    ],
    &[INLINE, WRITE, INLINE, INLINE],
    // The second goes wrong, and all behind it.
    &[WRITE, Row { keys: (1 << 20, 0), ..WRITE }, WRITE, READ],
    &[QUIET, Row { keys: (0, 1), flags: 0, ..WRITE }, WRITE],
    &[READ, READ, Row { more: LENGTH, ..READ }, READ],
    &[WRITE, Row { flags: 1 << 20, ..WRITE }, WRITE],
];

/// Posts a list; what both sides see, and how many requests were done at once.
fn outcome(pair: &mut Pair, rows: &[Row]) -> (Vec<u64>, u64) {
    pair.fill_far(0, 60_000, 1);
    pair.near.fill_part(0, 60_000, 2);
    let mut lists: Vec<_> = rows
        .iter()
        .enumerate()
        .map(|(number, row)| {
            let mut list = pair.near.list(&[(number * STEP + 3, row.length)]);
            list[0].lkey = list[0].lkey.wrapping_add(row.keys.0);
            list
        })
        .collect();
    let mut requests: Vec<_> = rows
        .iter()
        .zip(&mut lists)
        .enumerate()
        .map(|(number, (row, list))| {
            let mut wr = pair.rdma(number as u64, row.opcode, 0);
            wr.wr.rdma = ibv_send_wr_wr_rdma {
                remote_addr: pair.card.address + (number * STEP + 5 + row.more) as u64,
                rkey: pair.card.rkey.wrapping_add(row.keys.1),
            };
            (wr.send_flags, wr.sg_list, wr.num_sge) = (row.flags, list.as_mut_ptr(), 1);
            wr
        })
        .collect();
    for number in 1..requests.len() {
        requests[number - 1].next = &raw mut requests[number];
    }
    let (mut bad, before) = (ptr::null_mut(), done_at_once());
    // SAFETY: a live QP and a list of requests.
    let status = unsafe { post_send(pair.near.qp, requests.as_mut_ptr(), &raw mut bad) };
    let done = done_at_once() - before;
    let mut seen = vec![status as u64];
    // SAFETY: one of the list, if there is one.
    seen.push(unsafe { bad.as_ref() }.map_or(u64::MAX, |bad| bad.wr_id));
    while let Some(wc) = pair.near.poll(pair.near.cq) {
        seen.extend([wc.wr_id, wc.status.into(), wc.opcode.into(), wc.vendor_err.into()]);
        seen.push(if wc.status == IBV_WC_SUCCESS { wc.byte_len.into() } else { 0 });
    }
    seen.extend([pair.near.state().into(), pair.far.ask(&[STATE])[0]]);
    seen.extend((0..60_000).step_by(8).map(|offset| pair.near.word(offset)));
    seen.extend(pair.far.ask(&[SUM, 0, 60_000]));
    (seen, done)
}

#[test]
#[ignore = "run by in_a_process_of_their_own"]
fn lists_are_like_requests_one_by_one() {
    for kind in [IBV_QPT_RC, IBV_QPT_UC] {
        for (place, buf) in SITES {
            let [general, fast] = [true, false].map(|general| {
                go_the_general_way(general);
                let lists = LISTS.iter().filter(|list| {
                    kind == IBV_QPT_RC || list.iter().all(|row| row.opcode != IBV_WR_RDMA_READ)
                });
                let mut pair = pair_of(place, buf, kind);
                let outcomes = lists.map(|list| {
                    if pair.near.state() != IBV_QPS_RTS {
                        pair = pair_of(place, buf, kind);
                    }
                    (outcome(&mut pair, list), list)
                });
                let outcomes: Vec<_> = outcomes.collect();
                go_the_general_way(false);
                outcomes
            });
            for ((general, list), (fast, _)) in general.iter().zip(&fast) {
                assert_eq!(general.1, 0);
                let is_good = |row: &&Row| {
                    row.keys == (0, 0) && row.more == 0 && row.flags & !SEND_FLAGS == 0
                };
                let good = list.iter().take_while(is_good).count();
                // What an unreliable one drops stops nothing behind it.
                let dropped = kind == IBV_QPT_UC && fast.1 >= good as u64;
                assert!(dropped || fast.1 == good as u64, "{kind} {place:?} {buf} {list:?}");
                let differs = general.0.iter().zip(&fast.0).position(|(one, other)| one != other);
                assert!(general.0 == fast.0, "{kind} {place:?} {buf} {list:?}: {differs:?}");
            }
        }
    }
}

/// All flags that a request can have.
const SEND_FLAGS: u32 = IBV_SEND_SIGNALED | IBV_SEND_INLINE;

/// Memory of which only the first page is there: what lies before it is moved, and told.
#[test]
#[ignore = "run by in_a_process_of_their_own"]
fn a_fault_ends_the_requests_at_the_right_one() {
    const PAGE: usize = 4096;
    for opcode in [IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ] {
        let pair = pair_of(Where::There, false, IBV_QPT_RC);
        // SAFETY: a new mapping; its second page goes again while it is registered.
        let (base, mr) = unsafe {
            let base = libc::mmap(
                ptr::null_mut(),
                2 * PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            let access = IBV_ACCESS_LOCAL_WRITE.cast_signed();
            let mr = crate::verbs::mr::ibv_reg_mr(pair.near.pd, base, 2 * PAGE, access);
            assert!(!mr.is_null());
            assert_eq!(libc::munmap(base.byte_add(PAGE), PAGE), 0);
            (base, mr)
        };
        let list = |offset: usize| ibv_sge {
            addr: (base.addr() + offset) as u64,
            length: 1000,
            // SAFETY: a live region.
            lkey: unsafe { (*mr).lkey },
        };
        let mut lists = [0, 1000, 2000, 3500, 0].map(list);
        let mut requests: [_; 5] = core::array::from_fn(|number| {
            let mut wr = pair.rdma(number as u64, opcode, number * STEP);
            (wr.send_flags, wr.num_sge) = (IBV_SEND_SIGNALED, 1);
            wr
        });
        for number in 0..5 {
            requests[number].sg_list = &raw mut lists[number];
            if number > 0 {
                requests[number - 1].next = &raw mut requests[number];
            }
        }
        let mut bad = ptr::null_mut();
        let (status, fast) =
            // SAFETY: a live QP and a list of requests.
            at_once(|| unsafe { post_send(pair.near.qp, &raw mut requests[0], &raw mut bad) });
        assert!(status == 0 && fast);
        for (number, status) in [
            IBV_WC_SUCCESS,
            IBV_WC_SUCCESS,
            IBV_WC_SUCCESS,
            IBV_WC_LOC_PROT_ERR,
            IBV_WC_WR_FLUSH_ERR,
        ]
        .into_iter()
        .enumerate()
        {
            let wc = pair.near.sent();
            assert_eq!((wc.wr_id, wc.status), (number as u64, status), "{opcode}");
        }
        // SAFETY: for the last time.
        unsafe {
            assert_eq!(crate::verbs::mr::ibv_dereg_mr(mr), 0);
            assert_eq!(libc::munmap(base, PAGE), 0);
        }
    }
}
