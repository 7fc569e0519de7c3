//! The resolver on a real kernel: two network namespaces and a virtual cable between them.
//!
//! Without root, iproute2 or namespaces a test says so on standard error and passes.

use super::*;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

const OWN: Mac = [0x02, 0, 0x5e, 0, 0x53, 0x0a];
const PEER: Mac = [0x02, 0, 0x5e, 0, 0x53, 0x0b];

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn own(address: &str, interface: u32) -> OwnAddress {
    OwnAddress { address: ip(address), interface }
}

#[test]
fn the_interface_is_the_hinted_one_if_it_has_the_address() {
    let addresses = [own("fe80::1", 2), own("192.0.2.1", 3), own("fe80::1", 4), own("fe80::1", 5)];
    let find = |source, hint| interface_of(addresses.iter().copied(), ip(source), hint);
    assert_eq!(find("fe80::1", 4), Some(4));
    assert_eq!(find("fe80::1", 3), Some(2));
    assert_eq!(find("fe80::1", 0), Some(2));
    assert_eq!(find("192.0.2.1", 2), Some(3));
    assert_eq!(find("192.0.2.2", 3), None);
}

#[test]
fn a_link_local_or_loopback_address_is_own_on_its_interface_only() {
    let addresses = [
        own("127.0.0.1", 1),
        own("::1", 1),
        own("fe80::1", 2),
        own("192.0.2.1", 3),
        own("2001:db8::1", 4),
    ];
    let own = |address, interface| is_own(addresses.iter().copied(), ip(address), interface);
    assert!(own("fe80::1", 2) && !own("fe80::1", 3));
    assert!(own("127.0.0.1", 1) && !own("127.0.0.1", 3));
    assert!(own("::1", 1) && !own("::1", 4));
    assert!(own("192.0.2.1", 3) && own("192.0.2.1", 2) && !own("192.0.2.2", 3));
    assert!(own("2001:db8::1", 2) && !own("2001:db8::2", 2));
}

/// Runs `ip` with each line of arguments; false if one fails.
fn run_ip(lines: &str) -> bool {
    lines.lines().map(str::trim).filter(|line| !line.is_empty()).all(|line| {
        let mut command = Command::new("ip");
        command.args(line.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })
}

/// Gives the calling thread a network of its own, and a table of descriptors of its own so that
/// they can be counted.
fn leave_network() -> bool {
    // SAFETY: no pointers are passed.
    unsafe { libc::unshare(libc::CLONE_NEWNET | libc::CLONE_FILES) == 0 }
}

/// Runs a test in a namespace with the interface `a0`, whose cable leads to `b0` in another one.
fn with_network(test: impl FnOnce() + Send + 'static) {
    let outcome = std::thread::spawn(move || {
        if !leave_network() {
            return Err("no network namespaces (root needed)");
        }
        let set_up = "link set lo up
            link add a0 address 02:00:5e:00:53:0a type veth peer name b0 address 02:00:5e:00:53:0b
            link set a0 addrgenmode none
            link set b0 addrgenmode none";
        if !run_ip(set_up) {
            return Err("no `ip` or no veth interfaces");
        }
        let (end, ended) = mpsc::channel::<()>();
        let peer = start_peer(ended)?;
        let set_up = "link set a0 up
            address add 192.0.2.1/24 dev a0
            address add 2001:db8::1/64 dev a0 nodad
            address add fe80::a:1/64 dev a0 nodad";
        // The kernel brings IPv6 up on an interface some time after its cable.
        let up = || run_ip("-6 route get 2001:db8::2 from 2001:db8::1 oif a0");
        let wait = || std::thread::sleep(Duration::from_millis(20));
        if !run_ip(set_up) || !(0..200).any(|_| up() || (wait(), false).1) {
            return Err("interface not configured");
        }
        test();
        drop(end);
        peer.join().map_err(|_| "the peer's thread failed")
    });
    match outcome.join() {
        Ok(Ok(())) => {}
        Ok(Err(why)) => {
            // Past the test harness, which keeps the output of tests that pass to itself.
            let _ = writeln!(std::io::stderr(), "SKIPPED address::resolve on a network: {why}");
        }
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// The other end of the cable, in a namespace that lives until `ended` is closed.
fn start_peer(
    ended: mpsc::Receiver<()>,
) -> core::result::Result<std::thread::JoinHandle<()>, &'static str> {
    let (tell, told) = mpsc::channel();
    let (moved, wait) = mpsc::channel();
    let peer = std::thread::spawn(move || {
        // SAFETY: no pointers are passed.
        let id = leave_network().then(|| unsafe { libc::gettid() });
        let _ = tell.send(id);
        let _ = wait.recv();
        let set_up = "link set lo up
            link set b0 up
            address add 192.0.2.2/24 dev b0
            address add 2001:db8::2/64 dev b0 nodad
            address add fe80::b:2/64 dev b0 nodad";
        let _ = tell.send(run_ip(set_up).then_some(0));
        let _ = ended.recv();
    });
    let id = told.recv().ok().flatten().ok_or("no second namespace")?;
    if !run_ip(&format!("link set b0 netns {id}")) {
        return Err("the cable's end was not moved");
    }
    let _ = moved.send(());
    told.recv().ok().flatten().ok_or("the peer's interface not configured")?;
    Ok(peer)
}

/// The descriptors of the calling thread.
fn count_descriptors() -> usize {
    std::fs::read_dir("/proc/thread-self/fd").unwrap().count()
}

fn to(mac: Mac) -> Result<Resolved> {
    Ok(Resolved { mac, vlan: None })
}

#[test]
fn neighbours_are_asked_for_their_address() {
    with_network(|| {
        let before = count_descriptors();
        // Each twice: over the network, then out of the table.
        for _ in 0..2 {
            assert_eq!(resolve(ip("192.0.2.1"), 0, ip("192.0.2.2")), to(PEER));
            assert_eq!(resolve(ip("2001:db8::1"), 0, ip("2001:db8::2")), to(PEER));
            assert_eq!(resolve(ip("fe80::a:1"), 0, ip("fe80::b:2")), to(PEER));
        }
        assert!(run_ip("-6 neighbour flush dev a0"));
        assert_eq!(resolve(ip("fe80::a:1"), 0, ip("2001:db8::2")), to(PEER));
        assert_eq!(resolve(ip("2001:db8::1"), 0, ip("fe80::b:2")), to(PEER));
        assert_eq!(count_descriptors(), before);
    });
}

#[test]
fn gateways_stand_in_for_what_is_behind_them() {
    with_network(|| {
        assert!(run_ip(
            "route add 198.51.100.0/24 via 192.0.2.2
             route add 203.0.113.0/24 via inet6 fe80::b:2 dev a0
             route add 2001:db8:1::/64 via 2001:db8::2
             route add unreachable 2001:db8:2::/64
             route add blackhole 2001:db8:3::/64"
        ));
        assert_eq!(resolve(ip("192.0.2.1"), 0, ip("203.0.113.5")), to(PEER));
        assert_eq!(resolve(ip("192.0.2.1"), 0, ip("198.51.100.5")), to(PEER));
        assert_eq!(resolve(ip("2001:db8::1"), 0, ip("2001:db8:1::5")), to(PEER));
        for nowhere in ["2001:db8:2::1", "2001:db8:3::1", "2001:db8:4::1"] {
            let result = resolve(ip("2001:db8::1"), 0, ip(nowhere));
            assert_eq!(result, Err(Errno::EHOSTUNREACH), "{nowhere}");
        }
    });
}

#[test]
fn routes_may_depend_on_the_source() {
    with_network(|| {
        assert!(run_ip(
            "address add 192.0.2.3/32 dev a0
             neighbour add 192.0.2.9 dev a0 lladdr 02:00:5e:00:53:09 nud permanent
             route add 198.51.100.0/24 via 192.0.2.2
             route add 198.51.100.0/24 via 192.0.2.9 table 100
             rule add from 192.0.2.3 lookup 100"
        ));
        assert_eq!(resolve(ip("192.0.2.1"), 0, ip("198.51.100.5")), to(PEER));
        let other = to([0x02, 0, 0x5e, 0, 0x53, 0x09]);
        assert_eq!(resolve(ip("192.0.2.3"), 0, ip("198.51.100.5")), other);
    });
}

#[test]
fn this_host_and_groups_need_no_network() {
    with_network(|| {
        for (source, destination, mac) in [
            ("192.0.2.1", "192.0.2.1", OWN),
            ("2001:db8::1", "2001:db8::1", OWN),
            ("fe80::a:1", "fe80::a:1", OWN),
            ("192.0.2.1", "224.1.2.3", [1, 0, 0x5e, 1, 2, 3]),
            ("fe80::a:1", "ff02::1", [0x33, 0x33, 0, 0, 0, 1]),
            ("fe80::a:1", "fe80::5eff:fe00:53ff", [2, 0, 0x5e, 0, 0x53, 0xff]),
        ] {
            assert_eq!(resolve(ip(source), 0, ip(destination)), to(mac), "{destination}");
        }
        for foreign in ["192.0.2.77", "0.0.0.0", "2001:db8::77", "::"] {
            assert_eq!(resolve(ip(foreign), 0, ip("192.0.2.2")), Err(Errno::EINVAL), "{foreign}");
        }
        for nowhere in ["0.0.0.0", "::"] {
            let result = resolve(ip("192.0.2.1"), 0, ip(nowhere));
            assert_eq!(result, Err(Errno::EHOSTUNREACH), "{nowhere}");
        }
    });
}

/// Does something on a network until it takes no longer than it may, three times at most: a machine
/// with much else to do makes one take longer now and then, a fault all of them.
fn in_time(limit: Duration, test: impl Fn() -> Duration + Copy + Send + 'static) {
    let too_late = Arc::new(AtomicBool::new(false));
    for _ in 0..3 {
        let late = Arc::clone(&too_late);
        with_network(move || late.store(test() >= limit, SeqCst));
        if !too_late.load(SeqCst) {
            return;
        }
    }
    panic!("three times longer than {limit:?}");
}

#[test]
fn silence_ends_the_search_in_time() {
    in_time(Duration::from_secs(6), || {
        let before = count_descriptors();
        let begin = Instant::now();
        let result = resolve(ip("192.0.2.1"), 0, ip("192.0.2.99"));
        let took = begin.elapsed();
        assert_eq!(result, Err(Errno::EHOSTUNREACH));
        assert!(took >= Duration::from_millis(2900), "{took:?}");
        assert_eq!(count_descriptors(), before);
        took
    });
}

#[test]
fn an_answer_that_comes_late_is_taken() {
    in_time(Duration::from_millis(2500), || {
        let begin = Instant::now();
        // A new thread is in the namespace of the one that made it.
        let helper = std::thread::spawn(|| {
            std::thread::sleep(Duration::from_millis(700));
            run_ip("neighbour replace 192.0.2.99 lladdr 02:00:5e:00:53:63 dev a0 nud reachable")
        });
        let result = resolve(ip("192.0.2.1"), 0, ip("192.0.2.99"));
        assert!(helper.join().unwrap());
        assert_eq!(result, to([0x02, 0, 0x5e, 0, 0x53, 0x63]));
        begin.elapsed()
    });
}

#[test]
fn a_full_descriptor_table_is_reported() {
    with_network(|| {
        // The limit is the process's, so the table is filled up to it rather than the limit lowered.
        let mut held = Vec::new();
        let errno = loop {
            // SAFETY: no pointers are passed.
            match unsafe { libc::dup(2) } {
                -1 => break Errno::last(),
                fd => held.push(fd),
            }
        };
        let result = resolve(ip("192.0.2.1"), 0, ip("192.0.2.2"));
        for fd in held {
            // SAFETY: the descriptor is this test's.
            unsafe { libc::close(fd) };
        }
        assert_eq!(errno, Errno(libc::EMFILE));
        assert_eq!(result, Err(Errno(libc::EMFILE)));
        assert_eq!(resolve(ip("192.0.2.1"), 0, ip("192.0.2.2")), to(PEER));
    });
}

#[test]
fn vlans_are_named() {
    with_network(|| {
        if !run_ip("link add link a0 name a0.7 type vlan id 7") {
            let why = "no VLAN interfaces in this kernel";
            let _ = writeln!(std::io::stderr(), "SKIPPED address::resolve VLAN: {why}");
            return;
        }
        assert!(run_ip(
            "link set a0.7 up
             address add 198.51.100.1/24 dev a0.7
             address add fe80::a:1/64 dev a0.7 nodad
             neighbour add 198.51.100.2 dev a0.7 lladdr 02:00:5e:00:53:07 nud permanent"
        ));
        let expected = Resolved { mac: [0x02, 0, 0x5e, 0, 0x53, 0x07], vlan: Some(7) };
        assert_eq!(resolve(ip("198.51.100.1"), 0, ip("198.51.100.2")), Ok(expected));
        // Two interfaces have the source address; the hint tells which one is meant.
        // SAFETY: the name is a C string.
        let vlan = unsafe { libc::if_nametoindex(c"a0.7".as_ptr()) };
        let group = Resolved { mac: [0x33, 0x33, 0, 0, 0, 1], vlan: Some(7) };
        assert_eq!(resolve(ip("fe80::a:1"), vlan, ip("ff02::1")), Ok(group));
    });
}
