//! `urxe/transfer/fast/keys.rs`: keys that a requester has used, and uses again without a lock.

use loom::thread;

use super::keys::{Keys, Owner};
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use crate::urxe::host::{Host, processes};
use crate::urxe::marks_model::{REQUESTER, RESPONDER, connect, qp};
use crate::urxe::region::model::{move_region, region, withdraw};
use crate::urxe::shared::QpShared;

const MARK: &str = "urxe/shared/mark.rs";
const TABLE: &str = "urxe/region/keys.rs";

/// 1 while the bytes at an address are used.
static USED: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

/// The address behind a key of the responder, as the requester finds it.
fn find(keys: &mut Keys, responder: &Host, key: u32) -> Option<usize> {
    let owner = || Some(Owner { peer: responder.own(), pd: 1, number: 5 });
    keys.find(key, 0, 8, 1, owner).map(|place| place.address)
}

pub(crate) static REMEMBERED: Model = Model {
    name: "marks, remembered keys",
    property: "a key that was used before is used as what it is now, and not at all once its region \
               has been deregistered",
    preemptions: Some(2),
    mortal: false,
    program: remembered,
    mutations: &[
        skip(MARK, "            fence(Ordering::SeqCst);\n        } else {"),
        relax(MARK, "self.mark.0.store(self.count.wrapping_add(1), Ordering::Release);"),
        skip(TABLE, "entry.sequence.store(sequence.wrapping_add(2), Release);"),
    ],
};

/// A region goes away, and another one gets its key, while somebody uses that as it did before.
fn remembered() {
    let [responder, requester] = processes();
    connect(responder, requester);
    let key = region(responder);
    let mut keys = Keys::default();
    assert_eq!(find(&mut keys, responder, key), Some(0));
    qp(responder, RESPONDER).flags.fetch_or(QpShared::PEER_MARKS, SeqCst);
    let thread = thread::spawn(move || {
        for _ in 0..2 {
            let _mark = qp(requester, REQUESTER).mark.set(true);
            if let Some(address) = find(&mut keys, responder, key) {
                USED[address].store(1, Relaxed);
                USED[address].store(0, Relaxed);
            }
        }
    });
    withdraw(responder, key);
    responder.pass_all_marks();
    assert_eq!(USED[0].load(Relaxed), 0, "it is used after it was deregistered");
    move_region(responder, key, 1);
    thread.join().unwrap();
    assert_eq!(USED[0].load(Relaxed), 0);
    assert_eq!(find(&mut Keys::default(), responder, key), Some(1));
}
