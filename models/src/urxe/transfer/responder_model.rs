//! `urxe/transfer/responder.rs`, `urxe/host/table.rs` and `urxe/shared/qp.rs`: finding a QP by its
//! number, and what its record is used for.

use loom::thread;

use super::responder::Responder;
use super::stop::Stop;
use crate::abi::*;
use crate::death;
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::sync;
use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use crate::urxe::device::events;
use crate::urxe::host::{Host, Kind, Table, processes};
use crate::urxe::shared::{PATIENCE, QPS, QpShared};

const LOCK: &str = "urxe/shared/lock.rs";
const QP: &str = "urxe/shared/qp.rs";
const TABLE: &str = "urxe/host/table.rs";
const ERROR: &str = "urxe/pair/error.rs";

/// A record, and the entry of the table that names it.
#[derive(Clone, Copy)]
struct Record {
    host: &'static Host,
    offset: u64,
    index: u32,
}

impl Record {
    fn of(host: &'static Host, offset: u64) -> Record {
        Record { host, offset, index: host.table_insert(Table::Qp, offset).unwrap() }
    }

    fn number(&self) -> u32 {
        (self.host.slot() * QPS) | self.index
    }

    fn shared(&self) -> &'static QpShared {
        self.host.memory().at(self.offset).unwrap()
    }

    /// Makes a QP, which is of a PD, and ready to receive; see `pair::create` and `pair::modify`.
    fn create(&self, generation: u32, pd: u32) {
        let shared = self.shared();
        shared.state.store(IBV_QPS_RESET, Relaxed);
        shared.qp_num.store(self.number(), Relaxed);
        shared.qp_type.store(IBV_QPT_UC, Relaxed);
        shared.pd.store(pd, Relaxed);
        shared.begin(generation);
        let _guard = self.host.lock(&shared.lock, PATIENCE).unwrap();
        shared.state.store(IBV_QPS_RTS, Release);
    }

    /// Takes a QP away; see `pair::create`.
    fn destroy(&self, generation: u32) {
        self.host.table_remove(Table::Qp, self.index);
        let _guard = self.host.lock(&self.shared().lock, PATIENCE).unwrap();
        self.shared().end(generation);
    }
}

/// What the models are not about.
fn settle(shared: &QpShared) {
    for member in [&shared.qp_type, &shared.stamp, &shared.counted] {
        sync::plain(member);
    }
    for member in [&shared.queue, &shared.recv_cq] {
        sync::plain(member);
    }
}

/// How many use the QP of a PD.
static USERS: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

/// Uses the QP with a number, if it is there; it has to be of the PD.
fn use_qp(me: &Host, owner: &Host, number: u32, pd: u32) -> Result<(), Stop> {
    let responder = Responder::find(me, owner.own(), number)?;
    let _guard = responder.lock(IBV_QPT_UC, PATIENCE)?;
    assert_eq!(responder.shared.pd.load(Relaxed), pd, "another QP");
    let users = &USERS[pd as usize - 1];
    users.store(1, Relaxed);
    users.store(0, Relaxed);
    Ok(())
}

pub(crate) static NUMBERS: Model = Model {
    name: "QPs, numbers",
    property: "who looks a QP up finds that or none, whatever its record is used for, and nobody uses \
               one that has been destroyed",
    preemptions: Some(2),
    mortal: false,
    program: numbers,
    mutations: &[
        skip(TABLE, "entry.store(offset, Ordering::Release);"),
        skip(QP, "self.generation.store(generation, Release);"),
        skip(LOCK, ".compare_exchange(0, me.0, Ordering::SeqCst, Ordering::Relaxed)"),
        relax(LOCK, "self.0.0.store(0, Ordering::Release);"),
    ],
};

/// A QP goes away, and another one gets its record, while somebody wants the first, and the second.
fn numbers() {
    let [owner, peer] = processes();
    let offset = owner.new_record::<QpShared>(Kind::Qp).unwrap();
    let first = Record::of(owner, offset);
    settle(first.shared());
    first.create(1, 1);
    let numbers = [first.number(), first.number() + 1];
    let requester = thread::spawn(move || {
        let _ = use_qp(peer, owner, numbers[0], 1);
        let _ = use_qp(peer, owner, numbers[1], 2);
    });
    first.destroy(1);
    assert_eq!(USERS[0].load(Relaxed), 0, "it is used after it has gone");
    let second = Record::of(owner, offset);
    second.create(3, 2);
    requester.join().unwrap();
    assert_eq!(use_qp(peer, owner, numbers[0], 1), Err(Stop::Silence));
    assert_eq!(use_qp(peer, owner, numbers[1], 2), Ok(()));
}

pub(crate) static DEATH: Model = Model {
    name: "QPs, death",
    property: "nobody goes on with a QP at which a requester has died, and its owner is told",
    preemptions: Some(2),
    mortal: true,
    program: dying,
    mutations: &[
        skip(ERROR, "qp.state.store(IBV_QPS_ERR, SeqCst);"),
        skip(LOCK, "self.0.0.store(0, Ordering::Release);"),
    ],
};

/// Changes two words of a QP together, as a request does; what they were before.
fn request(me: &Host, owner: &Host, number: u32) -> Result<(), Stop> {
    let responder = Responder::find(me, owner.own(), number)?;
    let _guard = responder.lock(IBV_QPT_UC, PATIENCE)?;
    let [one, other] = [&responder.shared.msn, &responder.shared.access];
    assert_eq!(one.load(Relaxed), other.load(Relaxed), "half of a request");
    one.store(one.load(Relaxed) + 1, Relaxed);
    other.store(one.load(Relaxed), Relaxed);
    Ok(())
}

/// One dies at a request, while another one has a request too, and one more behind that.
fn dying() {
    let [owner, mortal, peer] = processes();
    let record = Record::of(owner, owner.new_record::<QpShared>(Kind::Qp).unwrap());
    settle(record.shared());
    record.create(1, 1);
    record.shared().user_handle.store(1, Relaxed);
    let number = record.number();
    let thread = thread::spawn(move || {
        let died = death::mortal(|| _ = request(mortal, owner, number));
        mortal.ends();
        died
    });
    let done = [request(peer, owner, number), request(peer, owner, number)];
    let died = thread.join().unwrap();
    let last = request(peer, owner, number);
    let is_broken = last.is_err();
    assert!(died || !is_broken && done == [Ok(()); 2]);
    assert_eq!(is_broken, record.shared().state.load(SeqCst) == IBV_QPS_ERR);
    assert_eq!(events::OTHER.load(SeqCst), u32::from(is_broken));
}
