//! `urxe/completion/counter.rs`: what is counted, and by whom.

use loom::thread;

use super::counter::{Counter, count, create_comp_cntr, read_comp_cntr};
use crate::abi::*;
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::Relaxed;
use crate::urxe::device::Context;
use crate::urxe::host::{Host, processes};
use crate::urxe::shared::QpShared;

const FILE: &str = "urxe/completion/counter.rs";

pub(crate) static COUNTERS: Model = Model {
    name: "counters, counting",
    property: "nothing is counted twice or not at all, and who sees a count sees what was completed",
    preemptions: Some(2),
    mortal: false,
    program: counting,
    mutations: &[
        relax(FILE, "counter.completed.fetch_add(bytes, Release)"),
        skip(FILE, "counter.completed.fetch_add(bytes, Release)"),
        relax(FILE, "count.load(Acquire)"),
    ],
};

const OPERATION: u32 = IBV_QP_ATTACH_COMP_CNTR_OP_RECV;
/// Bytes of a message.
const BYTES: u64 = 3;

/// 1 when a message is there.
static ARRIVED: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

#[derive(Clone, Copy)]
struct Handle(*mut ibv_comp_cntr);

impl Handle {
    fn read(self) -> u64 {
        let mut value = 0;
        // SAFETY: a counter of the model.
        assert_eq!(unsafe { read_comp_cntr(self.0, &raw mut value) }, 0);
        value
    }
}

fn qp(owner: &Host) -> &QpShared {
    owner.memory().at(0x10_f000).unwrap()
}

/// Two peers count a message each, of two QPs with one counter.
fn counting() {
    let [owner] = processes();
    let mut attr = ibv_comp_cntr_init_attr {
        type_: IBV_COMP_CNTR_TYPE_BYTES,
        ..ibv_comp_cntr_init_attr::zeroed()
    };
    // SAFETY: a context of the model, and attributes.
    let counter = Handle(unsafe { create_comp_cntr(Context::pointer(owner), &raw mut attr) });
    // SAFETY: a new counter.
    let record = unsafe { Counter::of(counter.0) }.record();
    qp(owner).counters[OPERATION.trailing_zeros() as usize].store(record, Relaxed);
    qp(owner).counted.store(OPERATION, Relaxed);
    let threads = [0, 1].map(|number: usize| {
        thread::spawn(move || {
            ARRIVED[number].store(1, Relaxed);
            count(owner.memory(), qp(owner), OPERATION, Some(BYTES));
        })
    });
    let seen = counter.read();
    let there: u32 = ARRIVED.iter().map(|arrived| arrived.load(Relaxed)).sum();
    assert!(u64::from(there) * BYTES >= seen, "{seen} bytes of {there} messages");
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(counter.read(), 2 * BYTES);
}
