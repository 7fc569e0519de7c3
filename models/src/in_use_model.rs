//! `in_use.rs`: who uses an object.

use loom::thread;

use crate::in_use::InUse;
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::Relaxed;

const FILE: &str = "in_use.rs";

static OBJECT: InUse = InUse::none();
static SHARED: InUse = InUse::one();
/// What a user has done, and how often the object has gone.
static DONE: AtomicU32 = AtomicU32::new(0);
static GONE: AtomicU32 = AtomicU32::new(0);

pub(crate) static USERS: Model = Model {
    name: "objects, users",
    property: "an object that nobody uses any more goes when all that was done with it is done",
    preemptions: None,
    mortal: false,
    program: users,
    mutations: &[
        relax(FILE, "self.0.fetch_sub(1, AcqRel) == 1"),
        relax(FILE, "self.0.load(Acquire)"),
        skip(FILE, "self.0.fetch_add(1, Relaxed);"),
    ],
};

fn users() {
    OBJECT.hold();
    let user = thread::spawn(|| {
        DONE.store(1, Relaxed);
        OBJECT.release();
    });
    while OBJECT.count() != 0 {
        thread::yield_now();
    }
    assert_eq!(DONE.load(Relaxed), 1, "it is used after it has gone");
    user.join().unwrap();
}

pub(crate) static LAST: Model = Model {
    name: "objects, last user",
    property: "the last user takes an object away, once, and nobody comes after that",
    preemptions: None,
    mortal: false,
    program: last,
    mutations: &[
        relax(FILE, "self.0.fetch_sub(1, AcqRel) == 1"),
        skip(FILE, "self.0.fetch_update(Relaxed, Relaxed, more).is_ok()"),
    ],
};

fn release() {
    if SHARED.release() {
        assert!(DONE.load(Relaxed) != 1, "it is used after it has gone");
        GONE.fetch_add(1, Relaxed);
    }
}

/// One gives up the object, which another one wants to use.
fn last() {
    let other = thread::spawn(|| {
        if SHARED.hold_if_used() {
            assert_eq!(GONE.load(Relaxed), 0, "it has gone");
            DONE.store(1, Relaxed);
            DONE.store(2, Relaxed);
            release();
        }
    });
    release();
    other.join().unwrap();
    assert_eq!(GONE.load(Relaxed), 1, "it has gone so often");
}
