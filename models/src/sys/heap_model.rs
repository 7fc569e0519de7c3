//! `sys/heap.rs`: the reserve behind malloc(3).

use core::alloc::Layout;
use loom::thread;

use super::heap::Reserve;
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::Relaxed;

const FILE: &str = "sys/heap.rs";

pub(crate) static PIECES: Model = Model {
    name: "reserve, pieces",
    property: "each piece has one owner, who finds it as the one before has left it; all come back",
    preemptions: Some(3),
    mortal: false,
    program: pieces,
    mutations: &[
        relax(FILE, "match self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, next) {"),
        skip(FILE, "match self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, next) {"),
        relax(FILE, "let _ = self.state.fetch_update(Ordering::Release, Ordering::Relaxed, next);"),
        skip(FILE, "let _ = self.state.fetch_update(Ordering::Release, Ordering::Relaxed, next);"),
    ],
};

static RESERVE: Reserve = Reserve::new();
const PIECE: Layout = Layout::new::<u64>();

/// Takes a piece, uses it and gives it back; where it was.
fn use_a_piece() -> usize {
    let piece = RESERVE.take(PIECE);
    assert!(!piece.is_null());
    // SAFETY: it is as large as that, and aligned.
    let word = unsafe { &*piece.cast::<AtomicU64>() };
    assert_eq!(word.load(Relaxed), 0, "somebody else has it");
    word.store(1, Relaxed);
    word.store(0, Relaxed);
    RESERVE.give_back(piece, PIECE);
    piece.addr()
}

fn pieces() {
    let first = use_a_piece();
    let thread = thread::spawn(use_a_piece);
    use_a_piece();
    thread.join().unwrap();
    assert_eq!(use_a_piece(), first, "one has not come back");
}
