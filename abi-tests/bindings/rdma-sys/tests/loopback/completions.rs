//! Waiting for completions, and what they tell beside the usual.

use std::os::fd::RawFd;
use std::time::Duration;

use rdma_sys::*;

use crate::device::*;
use crate::queue::*;

/// A loopback whose completions are told by a channel.
fn with_channel() -> (Device, Channel, Cq, Qp) {
    let device = Device::open();
    let channel = Channel::new(&device);
    let cq = Cq::new(&device, 0, Some(&channel), 7);
    let qp = Qp::connected(&device, &cq, ibv_qp_type::IBV_QPT_RC);
    // What is bound last goes first.
    (device, channel, cq, qp)
}

#[test]
fn wait_for_completion() {
    let (device, channel, cq, qp) = with_channel();
    let (from, to) = (device.region(16).with(b"wait"), device.region(16));
    cq.arm();
    qp.receive(1, &[to.piece(0, 4)]);
    // It comes while this thread sleeps.
    std::thread::scope(|scope| {
        let (sender, pieces) = (Handle(&qp), [from.piece(0, 4)]);
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            sender.get().send(2, &pieces);
        });
        assert_eq!(channel.wait(), 7);
    });
    let ids: Vec<_> = cq.done(2).iter().map(|done| done.id).collect();
    assert_eq!(ids, [1, 2]);
    assert_eq!(to.bytes()[..5], *b"wait\0");
    // It has to be asked for again.
    assert_eq!(channel.event(), None);
}

/// What one thread has at a time.
struct Handle<'a>(&'a Qp);
// SAFETY: verbs may be called from any thread, and only one has it here.
unsafe impl Send for Handle<'_> {}

impl Handle<'_> {
    fn get(&self) -> &Qp {
        self.0
    }
}

#[test]
fn event_driven_completion() {
    let (device, channel, cq, qp) = with_channel();
    assert!(channel.fd() >= 0);
    let (from, to) = (device.region(64).with(b"hello"), device.region(64));
    // One that was not asked for raises no event.
    qp.receive(1, &[to.piece(0, 5)]);
    qp.send(2, &[from.piece(0, 5)]);
    assert_eq!(cq.done(2).len(), 2);
    assert_eq!((channel.event(), is_readable(channel.fd())), (None, false));
    // One event, however many completions there are.
    cq.arm();
    qp.receives(&[(3, &[to.piece(8, 5)]), (4, &[to.piece(16, 5)])]);
    qp.start()
        .add(5, 0, send(&[from.piece(0, 5)]))
        .add(6, SIGNALED, send(&[from.piece(0, 5)]))
        .post();
    let ids: Vec<_> = cq.done(3).iter().map(|done| done.id).collect();
    assert_eq!(ids, [3, 4, 6]);
    assert!(is_readable(channel.fd()));
    assert_eq!(
        (channel.event(), channel.event(), is_readable(channel.fd())),
        (Some(7), None, false)
    );
    assert_eq!(to.bytes()[..21], *b"hello\0\0\0hello\0\0\0hello");
}

fn is_readable(fd: RawFd) -> bool {
    let mut file = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry.
    unsafe { libc::poll(&mut file, 1, 0) == 1 }
}

#[test]
fn shared_completion_channel() {
    let device = Device::open();
    let channel = Channel::new(&device);
    let cqs = [1, 2].map(|context| Cq::new(&device, 0, Some(&channel), context));
    for cq in &cqs {
        // SAFETY: a live queue.
        assert_eq!(unsafe { (*cq.0).channel }, channel.0);
    }
    let qps = cqs.each_ref().map(|cq| Qp::connected(&device, cq, ibv_qp_type::IBV_QPT_RC));
    let (from, to) = (device.region(16).with(b"aabb"), device.region(16));
    for (number, (qp, cq)) in qps.iter().zip(&cqs).enumerate() {
        qp.receive(10, &[to.piece(8 * number, 2)]);
        cq.arm();
    }
    // The second one first: each event says of which queue it is.
    for number in [1, 0] {
        qps[number].send(11, &[from.piece(2 * number, 2)]);
        assert_eq!(channel.wait(), number + 1);
        let ids: Vec<_> = cqs[number].done(2).iter().map(|done| done.id).collect();
        assert_eq!(ids, [10, 11]);
    }
    assert_eq!(channel.event(), None);
    assert_eq!(to.bytes()[..11], *b"aa\0\0\0\0\0\0bb\0");
    let without = Cq::new(&device, 0, None, 3);
    // SAFETY: a live queue.
    assert!(unsafe { (*without.0).channel }.is_null());
}

#[test]
fn completion_timestamps() {
    let device = Device::open();
    let clock = || {
        let mut values: ibv_values_ex = zeroed();
        values.comp_mask = ibv_values_mask::IBV_VALUES_MASK_RAW_CLOCK.0;
        // SAFETY: an open device, and room for the answer.
        unsafe {
            let query = extended(device.context).query_rt_values.unwrap();
            assert_eq!(query(device.context, &mut values), 0);
        }
        assert_eq!(values.comp_mask, ibv_values_mask::IBV_VALUES_MASK_RAW_CLOCK.0);
        let time = values.raw_clock;
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    };
    let fields = ibv_create_cq_wc_flags::IBV_WC_EX_WITH_COMPLETION_TIMESTAMP
        | ibv_create_cq_wc_flags::IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
    let cq = Cq::new(&device, fields.0.into(), None, 0);
    let qp = Qp::connected(&device, &cq, ibv_qp_type::IBV_QPT_RC);
    let (from, to) = (device.region(64).with(b"time"), device.region(64));
    let before = clock();
    qp.receive(1, &[to.piece(0, 4)]);
    qp.send(2, &[from.piece(0, 4)]);
    let stamps = cq.each(2, |cq| {
        // SAFETY: inside of a poll session, and the fields were asked for.
        unsafe { (ibv_wc_read_completion_ts(cq), ibv_wc_read_completion_wallclock_ns(cq)) }
    });
    let after = clock();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    for (raw, wall) in stamps {
        assert!((before..=after).contains(&raw), "{before} {raw} {after}");
        // Within an hour, whatever somebody does to the clock of the machine meanwhile.
        assert!(now.as_nanos().abs_diff(wall.into()) < 3_600_000_000_000, "{wall}");
    }
}

#[test]
fn extended_wc_fields() {
    let device = Device::open();
    let fields = ibv_create_cq_wc_flags::IBV_WC_EX_WITH_SLID
        | ibv_create_cq_wc_flags::IBV_WC_EX_WITH_SL
        | ibv_create_cq_wc_flags::IBV_WC_EX_WITH_DLID_PATH_BITS;
    let cq = Cq::new(&device, fields.0.into(), None, 0);
    let kind = ibv_qp_type::IBV_QPT_RC;
    let qp = Qp::new(&device, &cq, kind, std::ptr::null_mut());
    qp.to_init(kind);
    let mut address = device.address();
    address.sl = 3;
    assert_eq!(qp.to_rtr(&address, kind), 0);
    qp.to_rts(kind);
    let (from, to) = (device.region(64).with(b"wcfl"), device.region(64));
    qp.receive(1, &[to.piece(0, 4)]);
    qp.send(2, &[from.piece(0, 4)]);
    // SAFETY: inside of a poll session, and the fields were asked for.
    let mut found = cq.each(2, |cq| unsafe {
        let rest = (ibv_wc_read_slid(cq), ibv_wc_read_dlid_path_bits(cq));
        (Cq::read(cq).id, Cq::read(cq).flags, ibv_wc_read_sl(cq), rest)
    });
    found.sort_unstable();
    // There are no LIDs on Ethernet, and no header in front of what a connection receives.
    assert_eq!(found[0], (1, 0, 3, (0, 0)));
    assert_eq!((found[1].0, found[1].1), (2, 0));
}
