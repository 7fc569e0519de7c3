//! `verbs/mr/device_address.rs`: the count that spares a lock.

use loom::thread;

use super::device_address::{forget, record, start};
use crate::abi::*;
use crate::mutation::skip;
use crate::runner::Model;

pub(crate) static ADDRESSES: Model = Model {
    name: "regions, device addresses",
    property: "the address of a region is known from its registration to its end",
    preemptions: Some(3),
    mortal: false,
    program: addresses,
    mutations: &[skip(
        "verbs/mr/device_address.rs",
        "COUNT.store(addresses.len(), Ordering::Relaxed);\n    Ok(())",
    )],
};

fn come_and_go(address: u64) {
    let mr = verbs_mr::zeroed();
    let mr = &raw const mr.ibv_mr;
    record(mr, address).unwrap();
    // SAFETY: a live region.
    assert_eq!(unsafe { start(mr) }, Some(address));
    assert_eq!(forget(mr), Some(address));
}

fn addresses() {
    let thread = thread::spawn(|| come_and_go(1));
    come_and_go(2);
    thread.join().unwrap();
}
