//! Sends that are carried out straight from what is posted: they are like others to all who look.

use super::super::*;
use super::{SITES, at_once};
use crate::urxe::pair::go_the_general_way;

/// A message, and the receive that it goes to.
#[derive(Clone, Copy, Debug)]
struct Row {
    opcode: ibv_wr_opcode,
    flags: u32,
    from: &'static [(usize, usize)],
    to: &'static [(usize, usize)],
    /// Added to the keys of the sender.
    key: u32,
    /// It is done at once.
    fast: bool,
}

const SEND: Row =
    Row { opcode: IBV_WR_SEND, flags: 0, from: &[(64, 8)], to: &[(0, 5000)], key: 0, fast: true };
const IMM: Row = Row { opcode: IBV_WR_SEND_WITH_IMM, ..SEND };
const SLOW: Row = Row { fast: false, ..SEND };
/// A receive of two pieces, the first of them shorter than a word.
const TWO: &[(usize, usize)] = &[(0, 5), (7, 5000)];

/// What all types of QPs do.
const ROWS: &[Row] = &[
    Row { from: &[], ..SEND },
    Row { from: &[(64, 0)], to: TWO, ..SEND },
    Row { from: &[(64, 1)], ..IMM },
    Row { from: &[(65, 4)], to: TWO, ..SEND },
    Row { from: &[(65, 5)], to: TWO, ..SEND },
    Row { flags: IBV_SEND_SOLICITED, to: TWO, ..IMM },
    Row { from: &[(64, 63)], to: TWO, ..SEND },
    Row { from: &[(64, 64)], flags: IBV_SEND_INLINE, to: TWO, ..SEND },
    Row { from: &[(64, 65)], flags: IBV_SEND_INLINE | IBV_SEND_FENCE, to: TWO, ..IMM },
    Row { from: &[(64, 256)], flags: IBV_SEND_INLINE, key: 77 << 8, ..SEND },
    Row { from: &[(64, 65)], ..SEND },
    Row { from: &[(67, 1000)], to: &[(3, 1040)], ..SEND },
    Row { from: &[(67, 1000)], to: &[(3, 40), (50, 3), (60, 0), (70, 1100)], ..IMM },
    Row { from: &[(64, 3), (70, 4)], ..SEND },
    Row { from: &[(64, 3), (70, 0), (80, 1), (90, 60)], to: TWO, ..SEND },
    Row { from: &[(64, 300), (400, 3), (500, 600)], ..SEND },
    Row { from: &[(64, 1), (70, 1), (80, 1), (90, 1), (100, 1), (110, 1), (120, 900)], ..SEND },
    Row { from: &[(64, 900), (970, 3), (980, 2), (990, 1)], to: TWO, ..IMM },
    // Several pieces of inline data go by the ring.
    Row { from: &[(64, 100), (300, 50)], flags: IBV_SEND_INLINE, to: TWO, ..SEND },
    // What goes wrong.
    Row { key: 1, ..SLOW },
    Row { key: 1 << 20, from: &[(64, 500)], ..SLOW },
    Row { from: &[(64, 8), (LENGTH - 7, 8)], ..SLOW },
];

/// What connected ones do beside.
const CONNECTED: &[Row] = &[
    Row { from: &[(67, 5000)], ..SEND },
    Row { from: &[(67, 20_000)], to: &[(3, 7001), (8000, 13_000)], ..SEND },
    Row { from: &[(100, 300_000), (7, 3)], to: &[(3, 300_003)], ..IMM },
    // The receive is too short, or its memory is none.
    Row { from: &[(64, 5001)], ..SLOW },
    Row { from: &[(64, 500)], to: &[], ..SLOW },
    Row { from: &[(64, 500)], to: &[(0, 100), (LENGTH - 7, 1000)], ..SLOW },
    Row { from: &[(64, 500)], to: &[(LENGTH + 64, 1000)], ..SLOW },
];

/// What datagrams do beside.
const DATAGRAMS: &[Row] = &[
    Row { from: &[(64, 1024)], to: &[(0, 1064)], ..SEND },
    Row { from: &[(64, 512), (600, 512)], to: &[(0, 39), (50, 1), (100, 1024)], ..IMM },
    Row { from: &[(64, 500), (600, 525)], ..SLOW },
    Row { from: &[(64, 300)], to: &[(0, 339)], ..SLOW },
    Row { from: &[(64, 0)], to: &[(0, 39)], ..SLOW },
];

fn pair_of(place: Where, buf: bool, kind: ibv_qp_type, srq: bool) -> Pair {
    let near = Options { retry_cnt: 1, rnr_retry: 1, ..Options::new(kind) };
    let mut pair = Pair::new(place, near, Options { buf, srq, ..near });
    pair.near.fill_part(0, 20_000, 2);
    // The first ones find out what there is to know.
    for _ in 0..2 {
        pair.far.receive(1, &[(0, 5000)]);
        let wr = addressed(&pair, 1, IBV_WR_SEND);
        pair.well(wr, &[(64, 100)]);
        pair.far.received();
    }
    pair
}

/// A request for the peer, of any type.
fn addressed(pair: &Pair, wr_id: u64, opcode: ibv_wr_opcode) -> ibv_send_wr {
    let mut wr = pair.wr(wr_id, opcode);
    if pair.near.kind == IBV_QPT_UD {
        let (ah, remote_qpn) = (pair.near.ah(), pair.card.qp_num);
        wr.wr.ud = ibv_send_wr_wr_ud { ah, remote_qpn, remote_qkey: QKEY };
    }
    wr.imm.imm_data = 0x1234_5678;
    wr
}

/// Does what a row says; what both sides see.
fn outcome(pair: &mut Pair, row: &Row) -> (Vec<u64>, bool) {
    pair.fill_far(0, 6000, 1);
    pair.far.receive(11, row.to);
    let mut wr = addressed(pair, 5, row.opcode);
    wr.send_flags = row.flags;
    let mut list = pair.near.list(row.from);
    list.iter_mut().for_each(|entry| entry.lkey = entry.lkey.wrapping_add(row.key));
    let (wc, fast) = at_once(|| {
        pair.near.send(wr, &mut list);
        pair.near.sent()
    });
    let mut seen = vec![wc.wr_id, wc.status.into(), wc.opcode.into(), wc.vendor_err.into()];
    seen.push(wc.byte_len.into());
    let mut received = pair.far.ask(&[POLL]);
    if let [_, status, _, _, imm, qp_num, src_qp, flags, _] = received.as_mut_slice() {
        if *status == 0 {
            assert_eq!(*qp_num, pair.card.qp_num.into());
            assert_eq!(*src_qp, pair.near.card().qp_num.into());
        }
        if *flags & u64::from(IBV_WC_WITH_IMM) == 0 {
            *imm = 0;
        }
        (*qp_num, *src_qp) = (0, 0);
    }
    seen.extend(received);
    seen.extend([pair.near.state().into(), pair.far.ask(&[STATE])[0]]);
    seen.extend(pair.far.ask(&[EVENTS]));
    seen.extend(pair.far.ask(&[POLL]));
    // All that it may have stored, and what is behind that.
    seen.extend(pair.far.ask(&[SUM, 0, 310_000 / 8 * 8]));
    (seen, fast)
}

/// Does what all rows say, in one way; what was seen each time.
fn outcomes(general: bool, rows: &[Row], pair_of: impl Fn() -> Pair) -> Vec<(Vec<u64>, bool)> {
    go_the_general_way(general);
    let mut pair = None;
    let all = rows.iter().map(|row| {
        let outcome = outcome(pair.get_or_insert_with(&pair_of), row);
        if !row.fast {
            // A QP may be in error now, and a message that was dropped has left its receive.
            pair = None;
        }
        outcome
    });
    let all = all.collect();
    go_the_general_way(false);
    all
}

#[test]
#[ignore = "run by in_a_process_of_their_own"]
fn sends_are_like_others() {
    for (kind, srq, more) in [
        (IBV_QPT_RC, false, CONNECTED),
        (IBV_QPT_RC, true, CONNECTED),
        (IBV_QPT_UC, false, CONNECTED),
        (IBV_QPT_UD, false, DATAGRAMS),
        (IBV_QPT_UD, true, DATAGRAMS),
    ] {
        for (place, buf) in SITES {
            let mut rows = [ROWS, more].concat();
            // Each that goes wrong takes a pair of its own.
            rows.retain(|row| row.fast || !buf && (place == Where::There || !srq));
            let [general, fast] = [true, false]
                .map(|general| outcomes(general, &rows, || pair_of(place, buf, kind, srq)));
            for ((row, general), fast) in rows.iter().zip(general).zip(fast) {
                assert!(!general.1);
                assert_eq!(fast.1, row.fast, "{kind} {srq} {place:?} {buf} {row:?}");
                let differs = general.0.iter().zip(&fast.0).position(|(one, other)| one != other);
                assert!(general.0 == fast.0, "{kind} {srq} {place:?} {buf} {row:?}: {differs:?}");
            }
        }
    }
}
