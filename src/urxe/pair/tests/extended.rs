//! `ibv_wr_start` to `ibv_wr_complete`.

use core::cell::RefCell;
use core::ffi::{c_int, c_void};
use core::ptr;
use std::rc::Rc;

use super::*;
use crate::urxe::region::{alloc_mw, dealloc_mw};

const ALL: u32 = 0x1fff & !IBV_QP_EX_WITH_TSO;

/// A QP and the functions that it has.
struct Extended(Made);

impl Extended {
    fn new(bench: &Bench, kind: ibv_qp_type, operations: u32) -> Extended {
        let qp = bench.create_ex(&mut bench.init_ex(kind, operations)).unwrap();
        bench.move_to(&qp, IBV_QPS_RTS);
        Extended(qp)
    }

    fn ex(&self) -> *mut ibv_qp_ex {
        self.0.0.cast()
    }

    fn start(&self) {
        // SAFETY: a live QP.
        unsafe { (*self.ex()).wr_start.unwrap()(self.ex()) }
    }

    /// What the next request gets.
    fn next(&self, wr_id: u64, flags: u32) {
        // SAFETY: a live QP.
        unsafe { ((*self.ex()).wr_id, (*self.ex()).wr_flags) = (wr_id, flags) }
    }

    fn complete(&self) -> c_int {
        // SAFETY: a live QP.
        unsafe { (*self.ex()).wr_complete.unwrap()(self.ex()) }
    }

    fn abort(&self) {
        // SAFETY: a live QP.
        unsafe { (*self.ex()).wr_abort.unwrap()(self.ex()) }
    }
}

/// `call!(qp.wr_send(...))`
macro_rules! call {
    ($qp:ident.$function:ident($($argument:expr),*)) => {
        // SAFETY: a live QP and what the request demands.
        unsafe { (*$qp.ex()).$function.unwrap()($qp.ex() $(, $argument)*) }
    };
}

/// Notes what is carried out, in words.
fn recording() -> (Executing, Rc<RefCell<Vec<String>>>) {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&seen);
    let executing = Executing::new(move |_, wqe, _| {
        let target = match wqe.target {
            Target::Peer => String::from("peer"),
            Target::Memory { address, rkey } => format!("memory {address} {rkey}"),
            Target::Word { address, rkey, operand, swap } => {
                format!("word {address} {rkey} {operand} {swap}")
            }
            Target::Flush { address, rkey, length, placement, level } => {
                format!("flush {address} {rkey} {length} {placement} {level}")
            }
            Target::Datagram { qp_num, qkey, .. } => format!("datagram {qp_num} {qkey}"),
            Target::Window { .. } => String::from("window"),
        };
        let data = match wqe.data {
            Data::List(list) => list
                .iter()
                .map(|sge| format!(" [{} {} {}]", sge.addr, sge.length, sge.lkey))
                .collect::<String>(),
            Data::Inline(bytes) => format!(" {:?}", String::from_utf8_lossy(bytes)),
        };
        let (id, opcode, flags) = (wqe.wr_id, wqe.opcode, wqe.flags);
        let (word, srqn) = (wqe.imm_or_key, wqe.remote_srqn);
        log.borrow_mut().push(format!("{id}: {opcode} {flags} {word} {srqn} {target}{data}"));
        Outcome::Done(Done::success(wqe.length as u32))
    });
    (executing, seen)
}

#[test]
fn every_request_can_be_built() {
    let bench = Bench::new();
    let (_executing, seen) = recording();
    let qp = Extended::new(&bench, IBV_QPT_RC, ALL);
    let text = *b"some text";
    let at = |offset: usize, length| ibv_data_buf {
        addr: text[offset..].as_ptr().cast_mut().cast::<c_void>(),
        length,
    };
    let list = [ibv_sge { addr: 1, length: 2, lkey: 3 }, ibv_sge { addr: 4, length: 5, lkey: 6 }];
    let round = |build: &dyn Fn()| {
        qp.start();
        qp.next(7, IBV_SEND_SIGNALED);
        build();
        assert_eq!(qp.complete(), 0);
        assert_eq!(bench.poll(4).len(), 1);
        core::mem::take(&mut *seen.borrow_mut()).concat()
    };
    let inline_list = [at(0, 4), at(4, 0), at(5, 4)];
    assert_eq!(round(&|| call!(qp.wr_send())), "7: 2 2 0 0 peer");
    assert_eq!(
        round(&|| {
            call!(qp.wr_send_imm(8));
            call!(qp.wr_set_sge(3, 1, 2));
        }),
        "7: 3 2 8 0 peer [1 2 3]"
    );
    assert_eq!(
        round(&|| {
            call!(qp.wr_send_inv(9));
            call!(qp.wr_set_sge_list(2, list.as_ptr()));
        }),
        "7: 9 2 9 0 peer [1 2 3] [4 5 6]"
    );
    assert_eq!(
        round(&|| {
            call!(qp.wr_rdma_write(10, 20));
            call!(qp.wr_set_inline_data(at(0, 9).addr, 9));
        }),
        "7: 0 2 0 0 memory 20 10 \"some text\""
    );
    assert_eq!(
        round(&|| {
            call!(qp.wr_rdma_write_imm(10, 20, 30));
            // The last setter counts.
            call!(qp.wr_set_sge(3, 1, 2));
            call!(qp.wr_set_inline_data_list(3, inline_list.as_ptr()));
        }),
        "7: 1 2 30 0 memory 20 10 \"sometext\""
    );
    assert_eq!(
        round(&|| {
            call!(qp.wr_rdma_read(10, 20));
            call!(qp.wr_set_sge(3, 1, 2));
        }),
        "7: 4 2 0 0 memory 20 10 [1 2 3]"
    );
    assert_eq!(
        round(&|| call!(qp.wr_atomic_cmp_swp(10, 20, 30, 40))),
        "7: 5 2 0 0 word 20 10 30 40"
    );
    assert_eq!(round(&|| call!(qp.wr_atomic_fetch_add(10, 20, 30))), "7: 6 2 0 0 word 20 10 30 0");
    assert_eq!(
        round(&|| call!(qp.wr_atomic_write(10, 20, text.as_ptr().cast()))),
        "7: 15 2 0 0 memory 20 10 \"some tex\""
    );
    assert_eq!(round(&|| call!(qp.wr_flush(10, 20, 30, 1, 0))), "7: 14 2 0 0 flush 20 10 30 1 0");
    assert_eq!(round(&|| call!(qp.wr_local_inv(11))), "7: 7 2 11 0 peer");
}

#[test]
fn a_series_is_posted_as_a_whole() {
    let bench = Bench::new();
    let (_executing, seen) = recording();
    let qp = Extended::new(&bench, IBV_QPT_RC, ALL);
    qp.start();
    for wr_id in 1..=4 {
        qp.next(wr_id, 0);
        call!(qp.wr_send());
        assert!(seen.borrow().is_empty());
    }
    assert_eq!(qp.complete(), 0);
    assert_eq!(seen.borrow().len(), 4);
    // Nothing was signaled, so all places are in use.
    qp.start();
    qp.next(5, IBV_SEND_SIGNALED);
    call!(qp.wr_send());
    assert_eq!(qp.complete(), libc::ENOMEM);
    assert_eq!(Errno::last(), Errno::ENOMEM);
    qp.start();
    assert_eq!(qp.complete(), 0);
    assert_eq!(seen.borrow().len(), 4);
}

#[test]
fn one_bad_request_fails_the_series() {
    let bench = Bench::new();
    let (_executing, seen) = recording();
    let qp = Extended::new(&bench, IBV_QPT_RC, ALL);
    let list = [ibv_sge::zeroed(); 3];
    let bytes = [0_u8; 33];
    let large = [ibv_data_buf { addr: bytes.as_ptr().cast_mut().cast(), length: 17 }; 2];
    let address = bytes.as_ptr().cast_mut().cast::<c_void>();
    let wrong: [(&str, &dyn Fn()); 6] = [
        ("entries", &|| {
            call!(qp.wr_send());
            call!(qp.wr_set_sge_list(3, list.as_ptr()));
        }),
        ("inline", &|| {
            call!(qp.wr_send());
            call!(qp.wr_set_inline_data(address, 33));
        }),
        ("inline list", &|| {
            call!(qp.wr_send());
            call!(qp.wr_set_inline_data_list(2, large.as_ptr()));
        }),
        ("inline read", &|| {
            call!(qp.wr_rdma_read(1, 2));
            call!(qp.wr_set_inline_data(address, 1));
        }),
        ("data of an invalidation", &|| {
            call!(qp.wr_local_inv(1));
            call!(qp.wr_set_sge(1, 2, 3));
        }),
        ("flags", &|| {
            qp.next(2, IBV_SEND_IP_CSUM);
            call!(qp.wr_send());
        }),
    ];
    for (what, build) in wrong {
        qp.start();
        qp.next(1, IBV_SEND_SIGNALED);
        call!(qp.wr_send());
        build();
        qp.next(3, IBV_SEND_SIGNALED);
        call!(qp.wr_send());
        call!(qp.wr_set_sge(1, 2, 3));
        assert_eq!(qp.complete(), libc::EINVAL, "{what}");
        assert!(seen.borrow().is_empty() && bench.poll(1).is_empty(), "{what}");
    }
    // A setter before any builder.
    qp.start();
    call!(qp.wr_set_sge(1, 2, 3));
    assert_eq!(qp.complete(), libc::EINVAL);
    // The next series is none the worse for it.
    qp.start();
    qp.next(9, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
    call!(qp.wr_send());
    assert_eq!(qp.complete(), 0);
    assert_eq!(bench.statuses(), [(9, IBV_WC_SUCCESS)]);
}

#[test]
fn a_series_in_the_wrong_state_is_refused() {
    let bench = Bench::new();
    let (_executing, seen) = recording();
    let qp = Extended::new(&bench, IBV_QPT_RC, ALL);
    assert_eq!(qp.0.set_state(IBV_QPS_RESET), 0);
    qp.start();
    call!(qp.wr_send());
    assert_eq!(qp.complete(), libc::EINVAL);
    bench.move_to(&qp.0, IBV_QPS_ERR);
    qp.start();
    qp.next(1, 0);
    call!(qp.wr_send());
    assert_eq!(qp.complete(), 0);
    assert_eq!(bench.statuses(), [(1, IBV_WC_WR_FLUSH_ERR)]);
    assert!(seen.borrow().is_empty());
}

#[test]
fn datagrams_and_xrc_requests_have_destinations() {
    let bench = Bench::new();
    let (_executing, seen) = recording();
    let both = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
    let qp = Extended::new(&bench, IBV_QPT_UD, both);
    qp.start();
    qp.next(1, 0);
    call!(qp.wr_send());
    call!(qp.wr_set_ud_addr(bench.ah, 5, 6));
    call!(qp.wr_set_sge(1, 2, 3));
    qp.next(2, 0);
    call!(qp.wr_send_imm(7));
    call!(qp.wr_set_sge(1, 2, 3));
    assert_eq!(qp.complete(), libc::EINVAL);
    qp.start();
    call!(qp.wr_send());
    call!(qp.wr_set_ud_addr(ptr::null_mut(), 5, 6));
    assert_eq!(qp.complete(), libc::EINVAL);
    qp.start();
    call!(qp.wr_send_imm(7));
    call!(qp.wr_set_ud_addr(bench.ah, 5, 6));
    assert_eq!(qp.complete(), 0);
    assert_eq!(*seen.borrow(), ["2: 3 0 7 0 datagram 5 6"]);
    seen.borrow_mut().clear();
    let qp = Extended::new(&bench, IBV_QPT_XRC_SEND, both);
    qp.start();
    qp.next(3, 0);
    call!(qp.wr_send());
    call!(qp.wr_set_xrc_srqn(8));
    assert_eq!(qp.complete(), 0);
    assert_eq!(*seen.borrow(), ["3: 2 0 0 8 peer"]);
}

/// A window that is deallocated with its last use.
struct Window(*mut ibv_mw);

impl Window {
    fn new(bench: &Bench, kind: ibv_mw_type) -> Window {
        // SAFETY: a live PD.
        Window(unsafe { alloc_mw(bench.pd, kind) })
    }

    fn key(&self) -> u32 {
        // SAFETY: a live window.
        unsafe { (*self.0).rkey }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: a live window, for the last time.
        assert_eq!(unsafe { dealloc_mw(self.0) }, 0);
    }
}

#[test]
fn an_aborted_series_leaves_no_trace() {
    let bench = Bench::new();
    let (_executing, seen) = recording();
    let qp = Extended::new(&bench, IBV_QPT_RC, ALL);
    let window = Window::new(&bench, IBV_MW_TYPE_2);
    let (mw, key) = (window.0, window.key());
    let info = ibv_mw_bind_info::zeroed();
    qp.start();
    for _ in 0..4 {
        call!(qp.wr_send());
    }
    qp.abort();
    qp.start();
    call!(qp.wr_bind_mw(mw, key + 1, &raw const info));
    call!(qp.wr_bind_mw(mw, key + 2, &raw const info));
    qp.abort();
    assert_eq!(window.key(), key);
    qp.start();
    call!(qp.wr_bind_mw(mw, key + 1, &raw const info));
    call!(qp.wr_set_sge(1, 2, 3));
    assert_eq!(qp.complete(), libc::EINVAL);
    assert_eq!(window.key(), key);
    assert!(seen.borrow().is_empty());
    qp.start();
    qp.next(1, IBV_SEND_SIGNALED);
    call!(qp.wr_bind_mw(mw, key + 1, &raw const info));
    assert_eq!(qp.complete(), 0);
    assert_eq!((window.key(), seen.borrow().len()), (key + 1, 1));
    assert_eq!(bench.poll(4)[0].opcode, IBV_WC_BIND_MW);
}

#[test]
fn windows_are_bound_as_their_type_is() {
    let bench = Bench::new();
    let (_executing, _) = recording();
    let qp = Extended::new(&bench, IBV_QPT_RC, ALL);
    let info = ibv_mw_bind_info::zeroed();
    let (one, two) = (Window::new(&bench, IBV_MW_TYPE_1), Window::new(&bench, IBV_MW_TYPE_2));
    let key = one.key();
    qp.start();
    call!(qp.wr_bind_mw(one.0, key + 1, &raw const info));
    assert_eq!(qp.complete(), libc::EINVAL);
    let mut bind = ibv_mw_bind { wr_id: 5, send_flags: IBV_SEND_SIGNALED, bind_info: info };
    // SAFETY: live objects.
    let mut bind = |mw| unsafe { bind_mw(qp.0.0, mw, &mut bind) };
    assert_eq!((bind(two.0), bind(one.0)), (libc::EINVAL, 0));
    assert_eq!(bench.statuses(), [(5, IBV_WC_SUCCESS)]);
    assert_eq!(one.key(), key + 1);
    assert_eq!(qp.0.set_state(IBV_QPS_RESET), 0);
    assert_eq!((bind(one.0), one.key()), (libc::EINVAL, key + 1));
}
