//! `urxe/transfer/multicast.rs`: who is in a multicast group.

use loom::thread;

use super::multicast::{Group, attach_mcast, detach_mcast, for_each};
use crate::abi::*;
use crate::mutation::{relax, skip};
use crate::runner::Model;
use crate::urxe::host::{Host, processes};
use crate::urxe::pair::Qp;

const FILE: &str = "urxe/transfer/multicast.rs";

pub(crate) static GROUPS: Model = Model {
    name: "multicast, groups",
    property: "a datagram goes to members of its group, to each that stays in it, and to no others",
    preemptions: Some(3),
    mortal: false,
    program: groups,
    mutations: &[
        skip(FILE, "fence(Release);"),
        skip(FILE, "fence(Acquire);"),
        relax(FILE, "let member = entry.member.load(Acquire);"),
        relax(FILE, "entry.member.store(count << NUMBER_BITS | number, Release);"),
    ],
};

/// A group whose GID has two equal halves but for the first byte.
fn group(number: u8) -> ibv_gid {
    let mut raw = [number; 16];
    raw[0] = 0xff;
    ibv_gid { raw }
}

/// Attaches a QP to a group, or detaches it.
fn change(
    host: &'static Host,
    number: u32,
    gid: u8,
    action: unsafe extern "C" fn(*mut ibv_qp, *const ibv_gid, u16) -> i32,
) {
    let mut qp = Qp { host, kind: IBV_QPT_UD, number, record: 0, pd: 0, device: 0 };
    let gid = group(gid);
    // SAFETY: a QP of the model, and a GID.
    assert_eq!(unsafe { action((&raw mut qp).cast(), &gid, 0) }, 0);
}

/// The members of a group, as a sender finds them.
fn members(host: &Host, gid: [u8; 16]) -> Vec<u32> {
    let mut address = ibv_ah_attr { is_global: 1, ..ibv_ah_attr::zeroed() };
    address.grh.dgid.raw = gid;
    let mut found = Vec::new();
    for_each(host, &Group::of_address(&address), |_, number| found.push(number));
    found
}

/// A QP stays in one group; another entry goes from one QP, which leaves a group and joins another,
/// while somebody sends to the first group, and to one that nobody is in.
fn groups() {
    let [owner, sender] = processes();
    change(owner, 5, 1, attach_mcast);
    change(owner, 6, 1, attach_mcast);
    let thread = thread::spawn(move || {
        // SAFETY: a GID is 16 bytes in each of its forms.
        let (first, second) = unsafe { (group(1).raw, group(2).raw) };
        let of_first = members(sender, first);
        assert!(of_first == [5] || of_first == [5, 6], "{of_first:?}");
        let of_second = members(sender, second);
        assert!(of_second.is_empty() || of_second == [6], "{of_second:?}");
        let mut mixed = first;
        mixed[8..].copy_from_slice(&second[8..]);
        assert_eq!(members(sender, mixed), [0; 0]);
    });
    change(owner, 6, 1, detach_mcast);
    change(owner, 6, 2, attach_mcast);
    thread.join().unwrap();
}
