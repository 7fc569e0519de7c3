//! `urxe/transfer/fast/mod.rs`: what a requester remembers of a connection.

use loom::thread;

use super::Route;
use super::fast::{Fast, Job};
use crate::abi::*;
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::sync;
use crate::sync::atomic::Ordering::{Relaxed, Release};
use crate::urxe::host::{Host, copy, processes};
use crate::urxe::marks_model::{REQUESTER, RESPONDER, connect, qp};
use crate::urxe::pair::Qp;
use crate::urxe::region::model::region;
use crate::urxe::shared::{PATIENCE, QPS, QpShared};

const FAST: &str = "urxe/transfer/fast/mod.rs";
const MARK: &str = "urxe/shared/mark.rs";

pub(crate) static CONNECTION: Model = Model {
    name: "marks, a connection",
    property: "when a QP is changed nobody uses it any more as it was, whoever finds out just then \
               that the connection is in order",
    preemptions: Some(2),
    mortal: false,
    program: connection,
    mutations: &[
        skip(FAST, "far.flags.fetch_or(QpShared::PEER_MARKS, SeqCst);"),
        skip(MARK, "            fence(Ordering::SeqCst);\n        } else {"),
        relax(MARK, "self.mark.0.store(self.count.wrapping_add(1), Ordering::Release);"),
        skip("urxe/shared/qp.rs", "self.stamp.fetch_add(1, SeqCst);"),
    ],
};

/// Two QPs of type UC that are ready; the requester's may write.
fn ready(responder: &'static Host, requester: &'static Host) {
    connect(responder, requester);
    for (host, place) in [(responder, RESPONDER), (requester, REQUESTER)] {
        let shared = qp(host, place);
        shared.qp_num.store(host.slot() * QPS, Relaxed);
        shared.qp_type.store(IBV_QPT_UC, Relaxed);
        shared.pd.store(1, Relaxed);
        shared.access.store(IBV_ACCESS_REMOTE_WRITE, Relaxed);
        shared.generation.store(1, Relaxed);
        shared.state.store(IBV_QPS_RTS, Relaxed);
        for member in [&shared.qp_num, &shared.qp_type, &shared.pd, &shared.generation] {
            sync::plain(member);
        }
        for member in [&shared.counted, &shared.device, &shared.reads, &shared.state] {
            sync::plain(member);
        }
        for member in [&shared.queue, &shared.recv_cq, &shared.peer_epoch] {
            sync::plain(member);
        }
    }
}

/// Writes twice, if it can, as `ibv_post_send(3)` does.
fn write(responder: &'static Host, requester: &'static Host, rkey: u32) {
    let own = Qp {
        host: requester,
        kind: IBV_QPT_UC,
        number: requester.slot() * QPS,
        record: REQUESTER,
        pd: 1,
        device: 0,
    };
    let attr = ibv_qp_attr { dest_qp_num: responder.slot() * QPS, ..ibv_qp_attr::zeroed() };
    let list = [ibv_sge { addr: 0, length: 8, lkey: 0 }];
    let job = Job { reads: false, address: 0, rkey, list: &list, inline: true };
    let (mut fast, mut route) = (Fast::default(), Route::default());
    for _ in 0..2 {
        if fast.is_ready(&own, &attr, &mut route) {
            let _ = fast.run(&own, &job);
        }
    }
}

/// The owner takes the right to write away, as `ibv_modify_qp(3)` does, while somebody writes.
fn connection() {
    let [responder, requester] = processes();
    ready(responder, requester);
    let key = region(responder);
    let thread = thread::spawn(move || write(responder, requester, key));
    let far = qp(responder, RESPONDER);
    {
        let _guard = responder.lock(&far.lock, PATIENCE).unwrap();
        far.change();
        responder.pass_marks_of(far).unwrap();
        far.flags.fetch_and(!QpShared::PEER_MARKS, Relaxed);
        far.access.store(0, Release);
    }
    assert_eq!(copy::IN_USE.load(Relaxed), 0, "it is used as it was");
    copy::OVER.store(1, Relaxed);
    thread.join().unwrap();
}
