//! `urxe/shared/mark.rs` and `urxe/host/marks.rs`: requests that take no lock.
//!
//! Marks are set with a fence here: what membarrier(2) does for those that are set without.

use loom::thread;

use super::host::{Host, processes};
use super::region::check::{Wanted, look};
use super::region::model::{region, withdraw};
use super::shared::QpShared;
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::sync;
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

const MARK: &str = "urxe/shared/mark.rs";
const MARKS: &str = "urxe/host/marks.rs";

pub(crate) const RESPONDER: u64 = 0x10_8000;
pub(crate) const REQUESTER: u64 = 0x10_9000;

pub(crate) fn qp(host: &Host, place: u64) -> &QpShared {
    host.memory().at(place).unwrap()
}

/// Two QPs that are connected with each other, found by their numbers.
pub(crate) fn connect(responder: &'static Host, requester: &'static Host) {
    let near = qp(requester, REQUESTER);
    near.qp_num.store(requester.enter_qp(REQUESTER), Relaxed);
    let far = qp(responder, RESPONDER);
    far.dest_qp_num.store(near.qp_num.load(Relaxed), Relaxed);
    far.peer_epoch.store(requester.epoch(), Relaxed);
    sync::plain(&near.qp_num);
    sync::plain(&far.dest_qp_num);
    sync::plain(&far.peer_epoch);
    sync::plain(&near.flags);
    for (host, place) in [(responder, RESPONDER), (requester, REQUESTER)] {
        host.enter_qp(place);
        sync::plain(host.qp_entry());
    }
}

/// 1 while the memory of the responder, or what its QP allows, is used.
fn in_use(host: &Host) -> &AtomicU64 {
    &qp(host, RESPONDER).user_handle
}

fn use_it(responder: &Host) {
    in_use(responder).store(1, Relaxed);
    in_use(responder).store(0, Relaxed);
}

pub(crate) static KEYS: Model = Model {
    name: "marks, withdrawal",
    property: "when a region is deregistered no request without lock uses it any more",
    preemptions: Some(2),
    mortal: false,
    program: withdrawal,
    mutations: &[
        skip(MARK, "            fence(Ordering::SeqCst);\n        } else {"),
        relax(MARK, "self.mark.0.store(self.count.wrapping_add(1), Ordering::Release);"),
        skip(MARK, "self.0.store(count, Ordering::Release);"),
        skip(MARKS, "fence(SeqCst);\n        const ANY"),
    ],
};

/// The requester has just found the connection in order, and says so; see `transfer::fast`.
fn withdrawal() {
    let [responder, requester] = processes();
    connect(responder, requester);
    let key = region(responder);
    let wanted = Wanted { pd: 1, access: 1, address: 0, length: 8, qp_num: 5 };
    let sequence = look(responder.memory(), key, &wanted).unwrap().sequence;
    let thread = thread::spawn(move || {
        qp(responder, RESPONDER).flags.fetch_or(QpShared::PEER_MARKS, SeqCst);
        let _mark = qp(requester, REQUESTER).mark.set(true);
        let entry = look(responder.memory(), key, &wanted);
        if entry.is_some_and(|known| known.sequence == sequence) {
            use_it(responder);
        }
    });
    withdraw(responder, key);
    responder.pass_all_marks();
    assert_eq!(in_use(responder).load(Relaxed), 0, "it is used after it was deregistered");
    thread.join().unwrap();
}

pub(crate) static STAMPS: Model = Model {
    name: "marks, stamps",
    property: "when a QP changes no request goes by what it was before",
    preemptions: Some(2),
    mortal: false,
    program: stamps,
    mutations: &[
        skip(MARK, "            fence(Ordering::SeqCst);\n        } else {"),
        relax(MARK, "self.mark.0.store(self.count.wrapping_add(1), Ordering::Release);"),
        relax(MARK, "self.0.store(count, Ordering::Release);"),
        skip("urxe/shared/qp.rs", "self.stamp.fetch_add(1, SeqCst);"),
    ],
};

fn stamps() {
    let [responder, requester] = processes();
    connect(responder, requester);
    let far = qp(responder, RESPONDER);
    far.flags.store(QpShared::PEER_MARKS, Relaxed);
    sync::plain(&far.flags);
    let stamp = far.stamp.load(Relaxed);
    let thread = thread::spawn(move || {
        for _ in 0..2 {
            let _mark = qp(requester, REQUESTER).mark.set(true);
            if qp(responder, RESPONDER).stamp.load(Acquire) == stamp {
                use_it(responder);
            }
        }
    });
    far.change();
    responder.pass_marks_of(far).unwrap();
    assert_eq!(in_use(responder).load(Relaxed), 0, "it goes by what was before");
    thread.join().unwrap();
}
