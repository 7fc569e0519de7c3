//! `discovery/reference.rs`: who has a device.

use loom::thread;

use super::reference::{device_get, device_put};
use crate::abi::*;
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::sync::atomic::Ordering::Relaxed;
use crate::sync::atomic::{AtomicI32, AtomicU32};

const FILE: &str = "discovery/reference.rs";

pub(crate) static REFERENCES: Model = Model {
    name: "devices, references",
    property: "a device is freed once, by the last who has it, when all others are through with it",
    preemptions: None,
    mortal: false,
    program: references,
    mutations: &[
        relax(FILE, "if (*device).refcount.fetch_sub(1, Ordering::AcqRel) != 1 {"),
        skip(FILE, "if (*device).refcount.fetch_sub(1, Ordering::AcqRel) != 1 {"),
        skip(FILE, "unsafe { (*device).refcount.fetch_add(1, Ordering::Relaxed) };"),
    ],
};

/// Set by each user before it gives the device back, and how often that was freed.
static USED: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
static FREED: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn uninit_device(_: *mut verbs_device) {
    assert_eq!(USED.each_ref().map(|used| used.load(Relaxed)), [1, 1], "it is still used");
    FREED.fetch_add(1, Relaxed);
}

/// A pointer that goes to another thread.
#[derive(Clone, Copy)]
struct Device(*mut verbs_device);

// SAFETY: threads of a model are one of the system.
unsafe impl Send for Device {}

impl Device {
    fn use_and_put(self, user: usize) {
        USED[user].store(1, Relaxed);
        // SAFETY: a device and a reference of the user.
        unsafe { device_put(self.0) };
    }
}

fn references() {
    let ops = verbs_device_ops { uninit_device: Some(uninit_device), ..verbs_device_ops::zeroed() };
    // SAFETY: zero bytes are a valid device.
    let mut device: verbs_device = unsafe { core::mem::zeroed() };
    (device.ops, device.refcount) = (&raw const ops, AtomicI32::new(1));
    let device = Device(&raw mut device);
    // SAFETY: a live device.
    unsafe { device_get(device.0) };
    let thread = thread::spawn(move || {
        // The whole of it, not the pointer alone.
        let device = device;
        device.use_and_put(1);
    });
    device.use_and_put(0);
    thread.join().unwrap();
    assert_eq!(FREED.load(Relaxed), 1, "it is freed so often");
}
