//! `urxe/host/fork.rs` and `urxe/host/null.rs`: what a process makes once, and does without in a
//! child. That a child finds no host is the work of the kernel, which clears the page.

use loom::thread;

use super::super::null::zeros;
use super::{Host, fork};
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::Relaxed;
use crate::urxe::limits::MAX_MESSAGE;

const FORK: &str = "urxe/host/fork.rs";
const NULL: &str = "urxe/host/null.rs";

/// Hosts that were made. It is as what belongs to them.
static HOSTS: AtomicU32 = AtomicU32::new(0);

pub(crate) static HOST: Model = Model {
    name: "host, once",
    property: "a process makes one host, which everybody finds as a whole",
    preemptions: None,
    mortal: false,
    program: host,
    mutations: &[
        relax(FORK, "page.host.store(ptr::from_ref(host).cast_mut(), Ordering::Release);"),
        skip(FORK, "page.host.store(ptr::from_ref(host).cast_mut(), Ordering::Release);"),
        skip(FORK, "PAGE.compare_exchange(ptr::null_mut(), new.as_ptr(), Ordering::AcqRel"),
    ],
};

fn use_host() {
    let make = || {
        HOSTS.fetch_add(1, Relaxed);
        Ok(Host(1))
    };
    let host = fork::current(make).unwrap();
    assert_eq!((host.0, HOSTS.load(Relaxed)), (1, 1), "half of a host");
    assert!(core::ptr::eq(host, fork::existing().unwrap()), "another host");
}

fn host() {
    let threads = [(); 2].map(|()| thread::spawn(use_host));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(HOSTS.load(Relaxed), 1, "so many hosts");
}

pub(crate) static NULLS: Model = Model {
    name: "host, null regions",
    property: "the memory behind null regions is one, whoever needs it first",
    preemptions: None,
    mortal: false,
    program: nulls,
    mutations: &[skip(
        NULL,
        "match place.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {",
    )],
};

fn nulls() {
    let find = || zeros().unwrap().addr();
    let thread = thread::spawn(find);
    let found = [find(), thread.join().unwrap()];
    assert_eq!(found[0], found[1]);
    // SAFETY: the memory is of this execution alone.
    unsafe { libc::munmap(zeros().unwrap().cast(), MAX_MESSAGE as usize) };
}
