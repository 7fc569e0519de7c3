//! `provider_api/live.rs`: which contexts there are.

use core::ptr::without_provenance;
use loom::thread;

use super::live::{add, is_live, remove};
use crate::abi::ibv_context;
use crate::mutation::{relax, skip};
use crate::runner::Model;

const FILE: &str = "provider_api/live.rs";

pub(crate) static CONTEXTS: Model = Model {
    name: "contexts, live ones",
    property: "a context is known from set-up to tear-down, with room for it or not, and no longer",
    preemptions: Some(2),
    mortal: false,
    program: contexts,
    mutations: &[
        skip(FILE, "place.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed).is_ok()"),
        skip(FILE, "self.others.fetch_add(1, Ordering::AcqRel);"),
        skip(FILE, "let _ = self.others.fetch_update(Ordering::AcqRel, Ordering::Relaxed, less);"),
    ],
};

fn context(number: usize) -> *const ibv_context {
    without_provenance(number * 8)
}

fn come_and_go(number: usize) {
    add(context(number));
    assert!(is_live(context(number)), "it is not known");
    remove(context(number));
}

/// Three contexts, and room for two.
fn contexts() {
    add(context(1));
    let threads = [2, 3].map(|number| thread::spawn(move || come_and_go(number)));
    assert!(is_live(context(1)), "it is not known");
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    remove(context(1));
    assert!((1..=3).all(|number| !is_live(context(number))), "it is still known");
}
