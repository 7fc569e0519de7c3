//! Requests between two QPs: in one process, between two, and between two of which one forbids
//! access to its memory.

mod counters;
mod death;
mod errors;
mod fast;
mod shared;
mod side;
mod windows;

use crate::abi::*;
use crate::urxe::host;
use crate::urxe::pair::wqe::Ring;
use crate::urxe::pair::{Attempt, Done, Outcome, Qp, Request, Target};
use side::*;

const PLACES: [Where; 3] = [Where::Here, Where::There, Where::Closed];

/// A connected pair.
struct Pair {
    near: Side,
    far: Far,
    card: Card,
    options: Options,
}

impl Pair {
    fn new(place: Where, near: Options, far: Options) -> Pair {
        let mut other = Far::new(place, far);
        let side = Side::new(near);
        let card = other.card();
        side.connect(card.qp_num, near);
        other.ask(&[CONNECT, side.card().qp_num.into()]);
        Pair { near: side, far: other, card, options: near }
    }

    fn of(place: Where, kind: ibv_qp_type) -> Pair {
        Pair::new(place, Options::new(kind), Options::new(kind))
    }

    /// A request for the peer.
    fn wr(&self, wr_id: u64, opcode: ibv_wr_opcode) -> ibv_send_wr {
        let mut wr = ibv_send_wr { wr_id, opcode, ..ibv_send_wr::zeroed() };
        wr.qp_type.xrc.remote_srqn = self.card.srq_num;
        wr
    }

    /// A request for memory of the peer at an offset.
    fn rdma(&self, wr_id: u64, opcode: ibv_wr_opcode, offset: usize) -> ibv_send_wr {
        let mut wr = self.wr(wr_id, opcode);
        let remote_addr = self.card.address + offset as u64;
        wr.wr.rdma = ibv_send_wr_wr_rdma { remote_addr, rkey: self.card.rkey };
        wr
    }

    /// Posts a request and waits for its completion.
    #[track_caller]
    fn run(&self, wr: ibv_send_wr, parts: &[(usize, usize)]) -> ibv_wc {
        self.near.send(wr, &mut self.near.list(parts));
        let wc = self.near.sent();
        assert_eq!((wc.wr_id, wc.qp_num), (wr.wr_id, self.near.card().qp_num));
        wc
    }

    /// As [`run`](Self::run), with success.
    #[track_caller]
    fn well(&self, wr: ibv_send_wr, parts: &[(usize, usize)]) -> ibv_wc {
        let wc = self.run(wr, parts);
        assert_eq!(wc.status, IBV_WC_SUCCESS);
        wc
    }

    /// Carries out a request that only the extended interface can post.
    fn execute(&self, opcode: ibv_wr_opcode, target: Target, word: Option<u64>) -> Done {
        let mut ring = Ring::new(1, 1, 8, None).unwrap();
        let mut place = ring.place(0);
        place.begin(Request::new(1, opcode, 0, target));
        word.inspect(|word| place.word(word.to_ne_bytes()));
        let attr = ibv_qp_attr {
            dest_qp_num: self.card.qp_num,
            ah_attr: self.near.address(),
            timeout: 10,
            max_rd_atomic: 1,
            ..ibv_qp_attr::zeroed()
        };
        // SAFETY: a live QP.
        let qp = unsafe { Qp::of(self.near.qp) };
        let mut attempt = Attempt::default();
        let mut route = super::Route::default();
        loop {
            match super::execute(qp, &attr, ring.wqe(0), &mut attempt, &mut route) {
                Outcome::Done(done) => return done,
                // The other process may get no processor for a while.
                Outcome::Wait { .. } => std::thread::sleep(core::time::Duration::from_millis(1)),
            }
        }
    }

    /// What the peer finds wrong in a part of its memory.
    fn wrong(&mut self, offset: usize, length: usize, seed: u64) -> Vec<u64> {
        self.far.ask(&[WRONG, offset as u64, length as u64, seed])
    }

    fn fill_far(&mut self, offset: usize, length: usize, seed: u64) {
        self.far.ask(&[FILL, offset as u64, length as u64, seed]);
    }
}

/// Sizes around all borders: nothing, a word, what fits into a completion, an MTU, a page, a buffer.
const SIZES: [usize; 16] =
    [0, 1, 7, 8, 9, 63, 64, 65, 1023, 1024, 1025, 4097, 65_535, 65_536, 65_537, 1_000_003];

/// Cuts a part of memory in several ways.
fn splits(offset: usize, length: usize) -> Vec<Vec<(usize, usize)>> {
    let mut all = vec![vec![(offset, length)]];
    if length >= 2 {
        all.push(vec![(offset, 1), (offset + 1, length - 1)]);
        all.push(vec![(offset, length - 1), (offset + length - 1, 1)]);
        all.push(vec![
            (offset, 0),
            (offset, length / 2),
            (offset + length / 2, length.div_ceil(2)),
        ]);
    }
    if length >= 64 {
        let step = length / 8;
        let mut parts: Vec<_> = (0..7).map(|number| (offset + number * step, step)).collect();
        parts.push((offset + 7 * step, length - 7 * step));
        all.push(parts);
    }
    all
}

/// Moves every size with every split; `step` does one and checks it.
fn matrix(
    place: Where,
    kind: ibv_qp_type,
    mut step: impl FnMut(&mut Pair, u64, usize, &[(usize, usize)], &[(usize, usize)]),
) {
    let mut pair = Pair::of(place, kind);
    let mut seed = 0;
    for length in SIZES {
        let (near, far) = (splits(64, length), splits(4096 + 3, length));
        for (number, from) in near.iter().enumerate() {
            let to = &far[(number + 1) % far.len()];
            seed += 1;
            step(&mut pair, seed, length, from, to);
        }
    }
    // And one large one.
    let length = 16 << 20;
    step(&mut pair, seed + 1, length, &[(64, length)], &[(4099, length)]);
}

#[test]
fn sends_move_all_bytes_and_fill_completions() {
    for place in PLACES {
        for kind in [IBV_QPT_RC, IBV_QPT_UC] {
            matrix(place, kind, |pair, seed, length, from, to| {
                pair.near.fill_part(64, length, seed);
                pair.fill_far(4099, length + 1, seed + 1000);
                pair.far.receive(seed + 7, to);
                let with_imm = seed % 2 == 0;
                let mut wr =
                    pair.wr(seed, if with_imm { IBV_WR_SEND_WITH_IMM } else { IBV_WR_SEND });
                wr.imm.imm_data = 0x1234_5678;
                let wc = pair.well(wr, from);
                assert_eq!((wc.opcode, wc.byte_len), (IBV_WC_SEND, length as u32));
                let wc = pair.far.received();
                let expected = Received {
                    wr_id: seed + 7,
                    status: IBV_WC_SUCCESS,
                    opcode: IBV_WC_RECV,
                    byte_len: length as u32,
                    imm_data: if with_imm { 0x1234_5678 } else { wc.imm_data },
                    qp_num: pair.card.qp_num,
                    src_qp: pair.near.card().qp_num,
                    flags: if with_imm { IBV_WC_WITH_IMM } else { 0 },
                    sl: 3,
                };
                assert_eq!(wc, expected);
                assert_eq!(
                    pair.wrong(4099, length, seed),
                    [],
                    "{place:?} {length} {from:?} {to:?}"
                );
                if length > 0 {
                    // The byte behind it is as before.
                    let last = pair.wrong(4099, length + 1, seed + 1000);
                    assert_ne!(last, [length as u64]);
                }
            });
        }
    }
}

#[test]
fn writes_and_reads_move_all_bytes() {
    for place in PLACES {
        matrix(place, IBV_QPT_RC, |pair, seed, length, from, _| {
            pair.near.fill_part(64, length, seed);
            let wc = pair.well(pair.rdma(seed, IBV_WR_RDMA_WRITE, 8195), from);
            assert_eq!((wc.opcode, wc.byte_len), (IBV_WC_RDMA_WRITE, length as u32));
            assert_eq!(pair.wrong(8195, length, seed), [], "{place:?} {length} {from:?}");
            pair.fill_far(8195, length, seed + 500);
            let wc = pair.well(pair.rdma(seed, IBV_WR_RDMA_READ, 8195), from);
            assert_eq!((wc.opcode, wc.byte_len), (IBV_WC_RDMA_READ, length as u32));
            assert_eq!(pair.near.wrong(64, length, seed + 500), None, "{place:?} {length}");
        });
    }
}

#[test]
fn writes_with_immediate_data_take_a_receive() {
    for place in PLACES {
        for kind in [IBV_QPT_RC, IBV_QPT_UC] {
            let mut pair = Pair::of(place, kind);
            for (seed, length) in [(1, 0), (2, 1), (3, 1000), (4, 70_000)] {
                pair.near.fill_part(0, length, seed);
                pair.far.receive(seed, &[(0, 8)]);
                let mut wr = pair.rdma(seed, IBV_WR_RDMA_WRITE_WITH_IMM, 4096);
                wr.imm.imm_data = seed as u32;
                let wc = pair.well(wr, &[(0, length)]);
                assert_eq!((wc.opcode, wc.byte_len), (IBV_WC_RDMA_WRITE, length as u32));
                let wc = pair.far.received();
                assert_eq!((wc.opcode, wc.wr_id), (IBV_WC_RECV_RDMA_WITH_IMM, seed));
                assert_eq!((wc.byte_len, wc.imm_data), (length as u32, seed as u32));
                assert_eq!(wc.flags, IBV_WC_WITH_IMM);
                assert_eq!(pair.wrong(4096, length, seed), []);
            }
        }
    }
}

#[test]
fn atomics_change_words() {
    for place in PLACES {
        let mut pair = Pair::of(place, IBV_QPT_RC);
        pair.far.ask(&[SET_WORD, 8, 100]);
        let atomic = |opcode, compare_add, swap| {
            let mut wr = pair.wr(1, opcode);
            let remote_addr = pair.card.address + 8;
            let rkey = pair.card.rkey;
            wr.wr.atomic = ibv_send_wr_wr_atomic { remote_addr, compare_add, swap, rkey };
            let wc = pair.well(wr, &[(64, 3), (128, 5)]);
            let opcode = if opcode == IBV_WR_ATOMIC_FETCH_AND_ADD {
                IBV_WC_FETCH_ADD
            } else {
                IBV_WC_COMP_SWAP
            };
            assert_eq!((wc.opcode, wc.byte_len), (opcode, 8));
            // SAFETY: inside the memory.
            let bytes: Vec<u8> = [64, 65, 66, 128, 129, 130, 131, 132]
                .iter()
                .map(|&at| unsafe { pair.near.base.add(at).read() })
                .collect();
            u64::from_ne_bytes(bytes.try_into().unwrap())
        };
        assert_eq!(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 5, 0), 100, "{place:?}");
        assert_eq!(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, u64::MAX, 0), 105);
        assert_eq!(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 105, 7), 104);
        assert_eq!(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 104, 7), 104);
        assert_eq!(pair.far.ask(&[WORD, 8]), [7]);

        let target = Target::Memory { address: pair.card.address + 16, rkey: pair.card.rkey };
        let done = pair.execute(IBV_WR_ATOMIC_WRITE, target, Some(0x0102_0304_0506_0708));
        assert_eq!((done.status, done.byte_len), (IBV_WC_SUCCESS, 8));
        assert_eq!(pair.far.ask(&[WORD, 16]), [0x0102_0304_0506_0708]);
    }
}

#[test]
fn inline_data_needs_no_key() {
    for place in PLACES {
        let mut pair = Pair::of(place, IBV_QPT_RC);
        for length in [0, 1, 64, 65, 256] {
            pair.near.fill_part(0, length, 9);
            pair.far.receive(1, &[(0, 300)]);
            let mut wr = pair.wr(1, IBV_WR_SEND);
            wr.send_flags = IBV_SEND_INLINE;
            let mut list = pair.near.list(&[(0, length)]);
            list[0].lkey = 0xdead;
            pair.near.send(wr, &mut list);
            assert_eq!(pair.near.sent().status, IBV_WC_SUCCESS);
            assert_eq!(pair.far.received().byte_len, length as u32);
            assert_eq!(pair.wrong(0, length, 9), []);
        }
    }
}

#[test]
fn datagrams_have_their_header() {
    for place in PLACES {
        let mut pair = Pair::of(place, IBV_QPT_UD);
        let ah = pair.near.ah();
        for (seed, length) in [(1, 0), (2, 1), (3, 24), (4, 64), (5, 1024)] {
            pair.near.fill_part(0, length, seed);
            pair.far.receive(seed, &[(0, 40), (100, 1), (200, 2000)]);
            let with_imm = seed % 2 == 0;
            let mut wr = pair.wr(seed, if with_imm { IBV_WR_SEND_WITH_IMM } else { IBV_WR_SEND });
            wr.imm.imm_data = 77;
            let remote_qpn = pair.card.qp_num;
            wr.wr.ud = ibv_send_wr_wr_ud { ah, remote_qpn, remote_qkey: QKEY };
            let wc = pair.well(wr, &[(0, length)]);
            assert_eq!(wc.byte_len, length as u32);
            let wc = pair.far.received();
            let flags = IBV_WC_GRH | if with_imm { IBV_WC_WITH_IMM } else { 0 };
            assert_eq!((wc.wr_id, wc.byte_len), (seed, 40 + length as u32));
            assert_eq!((wc.flags, wc.src_qp, wc.sl), (flags, pair.near.card().qp_num, 3));
            if with_imm {
                assert_eq!(wc.imm_data, 77);
            }
            assert_eq!(pair.wrong(100, length.min(1), seed), []);
            // Version 6, UDP, and the GID of the sender.
            let first = pair.far.ask(&[WORD, 0])[0].to_ne_bytes();
            assert_eq!((first[0] >> 4, first[6]), (6, libc::IPPROTO_UDP as u8));
            // SAFETY: a GID is 16 bytes in each of its forms.
            let gid = unsafe { pair.near.address().grh.dgid.raw };
            let words: Vec<u64> = (1..5).map(|at| pair.far.ask(&[WORD, at * 8])[0]).collect();
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            assert_eq!((&bytes[..16], &bytes[16..]), (&gid[..], &gid[..]));
        }
        // A wrong Q_Key, a QP that is not there, no receive: the sender does not notice.
        pair.far.receive(1, &[(0, 2000)]);
        for (remote_qpn, remote_qkey, arrives) in [
            (pair.card.qp_num, QKEY + 1, false),
            (pair.card.qp_num ^ 0x3fff, QKEY, false),
            (0xff_fffe, QKEY, false),
            (pair.card.qp_num, 1 << 31, true),
            (pair.card.qp_num, QKEY, false),
        ] {
            let mut wr = pair.wr(1, IBV_WR_SEND);
            wr.wr.ud = ibv_send_wr_wr_ud { ah, remote_qpn, remote_qkey };
            pair.well(wr, &[(0, 10)]);
            assert_eq!(!pair.far.ask(&[POLL]).is_empty(), arrives, "{remote_qkey:#x}");
        }
    }
}

#[test]
fn flushes_are_checked() {
    for place in PLACES {
        let pair = Pair::of(place, IBV_QPT_RC);
        let Card { address, rkey, .. } = pair.card;
        let flush = |length, level: u32, rkey| {
            let placement = IBV_FLUSH_GLOBAL as u8;
            let level = level as u8;
            let target = Target::Flush { address, rkey, length, placement, level };
            pair.execute(IBV_WR_FLUSH, target, None).status
        };
        assert_eq!(flush(LENGTH as u64, IBV_FLUSH_RANGE, rkey), IBV_WC_SUCCESS);
        assert_eq!(flush(0, IBV_FLUSH_MR, rkey), IBV_WC_SUCCESS);
        assert_eq!(flush(LENGTH as u64 + 1, IBV_FLUSH_RANGE, rkey), IBV_WC_REM_ACCESS_ERR);
    }
}

#[test]
fn many_requests_in_a_row() {
    for place in PLACES {
        let mut pair = Pair::of(place, IBV_QPT_RC);
        for round in 0..20_u64 {
            for number in 0..8 {
                pair.far.receive(round * 8 + number, &[(number as usize * 1000, 1000)]);
            }
            for number in 0..8_usize {
                pair.near.fill_part(number * 1000, number * 100, round + number as u64);
                pair.near.send(
                    pair.wr(round, IBV_WR_SEND),
                    &mut pair.near.list(&[(number * 1000, number * 100)]),
                );
            }
            for number in 0..8_usize {
                assert_eq!(pair.near.sent().status, IBV_WC_SUCCESS);
                let wc = pair.far.received();
                assert_eq!(wc.wr_id, round * 8 + number as u64);
                assert_eq!(wc.byte_len, number as u32 * 100);
                assert_eq!(pair.wrong(number * 1000, number * 100, round + number as u64), []);
            }
        }
    }
}

/// A process whose memory peers may reach, and that offers no words for atomics, has no thread of the
/// device, whatever its peers do.
#[test]
fn an_idle_process_has_no_thread() {
    let options =
        Options { mr_access: ALL & !IBV_ACCESS_REMOTE_ATOMIC, ..Options::new(IBV_QPT_RC) };
    let mut pair = Pair::new(Where::There, options, options);
    for (number, length) in [(1, 8), (2, 5000)] {
        pair.far.receive(number, &[(0, 5000)]);
        pair.well(pair.wr(number, IBV_WR_SEND), &[(0, length)]);
        pair.well(pair.rdma(number, IBV_WR_RDMA_WRITE, 64), &[(0, length)]);
        pair.well(pair.rdma(number, IBV_WR_RDMA_READ, 64), &[(0, length)]);
        assert_eq!(pair.far.received().wr_id, number);
    }
    pair.far.ask(&[EVENTS]);
    assert_eq!(pair.far.ask(&[THREADS]), [0]);
    // The one that serves atomics is there for regions that allow them.
    let mut pair = Pair::of(Where::There, IBV_QPT_RC);
    assert_eq!(pair.far.ask(&[THREADS]), [1]);
}
