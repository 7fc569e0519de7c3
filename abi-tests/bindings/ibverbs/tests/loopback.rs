//! The public interface of the crate `ibverbs`, with queue pairs that are connected to themselves.

use std::time::{Duration, Instant};

use ibverbs::{
    CompletionQueue, Context, ProtectionDomain, QueuePair, ibv_qp_type, ibv_wc, ibv_wc_opcode,
    ibv_wc_status,
};

/// The index of the GID that is made of the IPv4 address.
const GID_INDEX: u32 = 1;

/// How long a completion may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The first device.
fn open() -> Context {
    let devices = ibverbs::devices().unwrap();
    let device = devices.get(0).expect("a device");
    assert_eq!(device.name().unwrap().to_str().unwrap(), "urxe0");
    device.open().unwrap()
}

/// A queue pair of the type that is its own peer.
fn connected<'res>(
    pd: &'res ProtectionDomain<'_>,
    cq: &'res CompletionQueue<'_>,
    kind: ibv_qp_type::Type,
) -> QueuePair<'res> {
    let mut builder = pd.create_qp(cq, cq, kind);
    builder.set_gid_index(GID_INDEX).set_max_send_wr(16).set_max_recv_wr(16).allow_remote_rw();
    if kind == ibv_qp_type::IBV_QPT_RC {
        builder.set_timeout(1).set_retry_count(1).set_rnr_retry(0);
    }
    let prepared = builder.build().unwrap();
    let endpoint = prepared.endpoint();
    assert!(endpoint.gid.is_some());
    prepared.handshake(endpoint).unwrap()
}

/// Waits for so many completions; what they are, sorted by the number of their request.
fn completions(cq: &CompletionQueue<'_>, count: usize) -> Vec<ibv_wc> {
    let limit = Instant::now() + PATIENCE;
    let mut found = Vec::new();
    while found.len() < count {
        assert!(Instant::now() < limit, "{} of {count} completions", found.len());
        found.extend_from_slice(cq.poll(&mut [ibv_wc::default(); 16]).unwrap());
    }
    assert!(cq.poll(&mut [ibv_wc::default(); 16]).unwrap().is_empty());
    found.sort_by_key(ibv_wc::wr_id);
    found
}

/// The status of a completion, whatever it is.
fn status(completion: &ibv_wc) -> ibv_wc_status::Type {
    completion.error().map_or(ibv_wc_status::IBV_WC_SUCCESS, |(status, _)| status)
}

/// Moves messages of many sizes and compares all their bytes.
fn messages(kind: ibv_qp_type::Type) {
    let context = open();
    let (cq, pd) = (context.create_cq(64, 0).unwrap(), context.alloc_pd().unwrap());
    let mut qp = connected(&pd, &cq, kind);
    for size in [0, 1, 8, 63, 4096, 4097, 1 << 20, (1 << 24) + 1] {
        let (mut from, mut to) =
            (pd.allocate::<u8>(size + 1).unwrap(), pd.allocate::<u8>(size + 1).unwrap());
        for (number, byte) in from.iter_mut().enumerate() {
            *byte = (number * 7 + size) as u8 | 1;
        }
        // SAFETY: both regions live until the requests have completed, and nobody else uses them.
        unsafe {
            qp.post_receive(&mut to, ..size, 1).unwrap();
            qp.post_send(&mut from, ..size, 2).unwrap();
        }
        let found = completions(&cq, 2);
        assert_eq!(found.iter().map(status).collect::<Vec<_>>(), [0, 0], "{size} bytes");
        assert_eq!((found[0].wr_id(), found[0].len()), (1, size));
        assert_eq!(found[0].opcode(), ibv_wc_opcode::IBV_WC_RECV);
        assert_eq!((found[1].wr_id(), found[1].opcode()), (2, ibv_wc_opcode::IBV_WC_SEND));
        assert_eq!(to[..size], from[..size]);
        assert_eq!(to[size], 0, "nothing is written behind the message");
    }
}

#[test]
fn messages_of_a_reliable_connection() {
    messages(ibv_qp_type::IBV_QPT_RC);
}

#[test]
fn messages_of_an_unreliable_connection() {
    messages(ibv_qp_type::IBV_QPT_UC);
}

#[test]
fn the_device_and_its_gids() {
    let devices = ibverbs::devices().unwrap();
    let device = devices.get(0).unwrap();
    assert!(!devices.is_empty() && devices.get(devices.len()).is_none());
    assert!(!device.guid().unwrap().is_reserved());
    let gids = open().gid_table().to_vec();
    let of_ipv4 = gids.iter().find(|entry| entry.gid_index == GID_INDEX).unwrap();
    assert_eq!(of_ipv4.port_num, 1);
    assert_eq!(of_ipv4.gid.interface_id() >> 32, 0xffff);
}

#[test]
fn requests_complete_in_their_order() {
    let context = open();
    let (cq, pd) = (context.create_cq(64, 0).unwrap(), context.alloc_pd().unwrap());
    let mut qp = connected(&pd, &cq, ibv_qp_type::IBV_QPT_RC);
    let (mut from, mut to) = (pd.allocate::<u64>(16).unwrap(), pd.allocate::<u64>(16).unwrap());
    for number in 0..16 {
        from[number] = 1000 + number as u64;
        // SAFETY: the region lives until the requests have completed.
        unsafe { qp.post_receive(&mut to, number..number + 1, number as u64) }.unwrap();
    }
    for number in 0..16 {
        // SAFETY: as above.
        unsafe { qp.post_send(&mut from, number..number + 1, 16 + number as u64) }.unwrap();
    }
    let found = completions(&cq, 32);
    assert!(found.iter().all(ibv_wc::is_valid));
    assert!(found.iter().map(ibv_wc::wr_id).eq(0..32));
    assert_eq!(to[..], from[..]);
}

#[test]
fn a_full_queue_is_refused() {
    let context = open();
    let (cq, pd) = (context.create_cq(64, 0).unwrap(), context.alloc_pd().unwrap());
    let mut qp = connected(&pd, &cq, ibv_qp_type::IBV_QPT_RC);
    let mut region = pd.allocate::<u8>(1).unwrap();
    // SAFETY: no message ever arrives.
    let refused = (0..100_000).find_map(|id| unsafe { qp.post_receive(&mut region, .., id) }.err());
    assert_eq!(refused.expect("a limit").kind(), std::io::ErrorKind::OutOfMemory);
}

#[test]
fn a_send_without_a_receive_fails_and_the_next_is_flushed() {
    let context = open();
    let (cq, pd) = (context.create_cq(64, 0).unwrap(), context.alloc_pd().unwrap());
    let mut qp = connected(&pd, &cq, ibv_qp_type::IBV_QPT_RC);
    let mut region = pd.allocate::<u8>(8).unwrap();
    // SAFETY: the region lives until the requests have completed.
    unsafe { qp.post_send(&mut region, .., 1) }.unwrap();
    let found = completions(&cq, 1);
    assert_eq!(status(&found[0]), ibv_wc_status::IBV_WC_RNR_RETRY_EXC_ERR);
    // SAFETY: as above.
    unsafe { qp.post_send(&mut region, .., 2) }.unwrap();
    let found = completions(&cq, 1);
    assert_eq!((found[0].wr_id(), status(&found[0])), (2, ibv_wc_status::IBV_WC_WR_FLUSH_ERR));
}

#[test]
fn a_message_that_is_too_long_for_its_receive() {
    let context = open();
    let (cq, pd) = (context.create_cq(64, 0).unwrap(), context.alloc_pd().unwrap());
    let mut qp = connected(&pd, &cq, ibv_qp_type::IBV_QPT_RC);
    let (mut from, mut to) = (pd.allocate::<u8>(9).unwrap(), pd.allocate::<u8>(9).unwrap());
    from.fill(7);
    // SAFETY: the regions live until the requests have completed.
    unsafe {
        qp.post_receive(&mut to, ..8, 1).unwrap();
        qp.post_send(&mut from, .., 2).unwrap();
    }
    let found = completions(&cq, 2);
    assert_eq!(status(&found[0]), ibv_wc_status::IBV_WC_LOC_LEN_ERR);
    assert_eq!(status(&found[1]), ibv_wc_status::IBV_WC_REM_INV_REQ_ERR);
    assert_eq!(to[8], 0);
}

#[test]
fn a_completion_queue_in_use_is_kept() {
    let context = open();
    let pd = context.alloc_pd().unwrap();
    let cq = context.create_cq(1, 0).unwrap();
    drop(connected(&pd, &cq, ibv_qp_type::IBV_QPT_RC));
    // More than the device has.
    assert!(context.create_cq(i32::MAX, 0).is_err());
    assert!(context.create_cq(0, 0).is_err());
}
