//! Devices, ports, addresses, and the states of queue pairs.

use std::ffi::CStr;
use std::io::ErrorKind;
use std::ptr::{null, null_mut};

use rdma_sys::*;

use crate::device::*;
use crate::queue::*;

unsafe extern "C" {
    /// What the inline function `ibv_query_gid_table(3)` calls.
    fn _ibv_query_gid_table(
        context: *mut ibv_context,
        entries: *mut ibv_gid_entry,
        max_entries: usize,
        flags: u32,
        entry_size: usize,
    ) -> isize;
}

/// `ibv_query_port(3)`, whole.
fn port(device: &Device, number: u8) -> Result<ibv_port_attr, i32> {
    let mut attr = zeroed();
    // SAFETY: an open device, and room for the answer.
    let errno = unsafe {
        let query = extended(device.context).query_port.unwrap();
        query(device.context, number, &mut attr, size_of::<ibv_port_attr>())
    };
    if errno == 0 { Ok(attr) } else { Err(errno) }
}

/// `ibv_query_device(3)`
fn plain(device: &Device) -> ibv_device_attr {
    let mut attr = zeroed();
    // SAFETY: an open device, and room for the answer.
    assert_eq!(unsafe { ibv_query_device(device.context, &mut attr) }, 0);
    attr
}

/// The valid entries of the GID table.
fn gids(device: &Device) -> Vec<ibv_gid_entry> {
    let most = port(device, 1).unwrap().gid_tbl_len as usize;
    let mut table: Vec<ibv_gid_entry> = (0..most).map(|_| zeroed()).collect();
    let size = size_of::<ibv_gid_entry>();
    // SAFETY: an open device, and room for so many entries.
    let count = unsafe { _ibv_query_gid_table(device.context, table.as_mut_ptr(), most, 0, size) };
    table.truncate(usize::try_from(count).expect("a number of entries"));
    table
}

#[test]
fn gid_table() {
    let device = Device::open();
    let table = gids(&device);
    assert!(!table.is_empty());
    // Of RoCE version 2, on port 1, each at its place.
    assert!(table.iter().all(|entry| (entry.gid_type, entry.port_num) == (2, 1)));
    assert!(table.windows(2).all(|pair| pair[0].gid_index < pair[1].gid_index));
    assert!(table.iter().any(|entry| entry.gid_index == GID_INDEX.into()));
}

#[test]
fn gid_and_device_introspection() {
    let device = Device::open();
    // SAFETY: the device of an open context.
    let (transport, node) = unsafe {
        let public = (*device.context).device;
        ((*public).transport_type, (*public).node_type)
    };
    assert_eq!(transport, ibv_transport_type::IBV_TRANSPORT_IB);
    assert_eq!(node, ibv_node_type::IBV_NODE_CA);
    for entry in gids(&device) {
        // SAFETY: a GID is 16 bytes in each of its forms.
        let (single, listed) = unsafe { (device.gid(entry.gid_index as u8).raw, entry.gid.raw) };
        assert_eq!(single, listed);
        let mut name = [0; libc::IF_NAMESIZE];
        // SAFETY: room for a name.
        let found = unsafe { libc::if_indextoname(entry.ndev_ifindex, name.as_mut_ptr()) };
        assert!(entry.ndev_ifindex != 0 && !found.is_null(), "{}", entry.ndev_ifindex);
    }
}

#[test]
fn query_device_and_port() {
    let device = Device::open();
    let attr = plain(&device);
    assert!(attr.max_qp > 0 && attr.max_cqe >= 32767 && attr.max_sge >= 6 && attr.max_srq > 0);
    assert_eq!(attr.phys_port_cnt, 1);
    assert_ne!(attr.node_guid, 0);
    let one = port(&device, 1).unwrap();
    assert_eq!(one.state, ibv_port_state::IBV_PORT_ACTIVE);
    assert!((ibv_mtu::IBV_MTU_1024..=one.max_mtu).contains(&one.active_mtu));
    // Up, on Ethernet, 4 lanes, as man/urxe.7 says.
    assert_eq!((one.phys_state, one.link_layer, one.active_width), (5, 2, 2));
    assert!(one.gid_tbl_len >= 2 && one.active_speed > 0 && one.lid == 0);
    for number in [0, 2, 255] {
        assert_eq!(port(&device, number).err().and_then(kind), Some(ErrorKind::InvalidInput));
    }
}

#[test]
fn query_device_extended() {
    let device = Device::open();
    let plain = plain(&device);
    let mut more: ibv_device_attr_ex = zeroed();
    // SAFETY: an open device, and room for the answer.
    unsafe {
        let query = extended(device.context).query_device_ex.unwrap();
        assert_eq!(query(device.context, null(), &mut more, size_of::<ibv_device_attr_ex>()), 0);
    }
    let base = &more.orig_attr;
    assert_eq!((base.node_guid, base.max_qp), (plain.node_guid, plain.max_qp));
    assert_eq!((base.max_mr, base.vendor_id), (plain.max_mr, plain.vendor_id));
    // A clock of nanoseconds, all of whose bits count.
    assert_eq!((more.completion_timestamp_mask, more.hca_core_clock), (u64::MAX, 1_000_000));
    assert_eq!((more.raw_packet_caps, more.packet_pacing_caps.qp_rate_limit_max), (0, 0));
    assert!(more.max_dm_size > 0);
}

/// What a program shows of a device.
#[test]
fn debug_formatting() {
    let device = Device::open();
    let attr = plain(&device);
    // SAFETY: the version ends with a zero; the device of an open context has a name.
    unsafe {
        let version = CStr::from_ptr(attr.fw_ver.as_ptr()).to_str().unwrap();
        assert!(version.split('.').all(|part| part.parse::<u32>().is_ok()), "{version:?}");
        let public = (*device.context).device;
        assert_eq!(ibv_get_device_guid(public), attr.node_guid);
        let name = CStr::from_ptr(ibv_get_device_name(public)).to_str().unwrap();
        assert!(name.starts_with("urxe"), "{name:?}");
        let words = CStr::from_ptr(ibv_port_state_str(ibv_port_state::IBV_PORT_ACTIVE));
        assert_eq!(words, c"active");
    }
}

#[test]
fn raw_handles() {
    let it = Loopback::rc();
    // The plain and the extended objects are the same.
    assert_eq!(it.cq.0.cast::<u8>(), it.cq.plain().cast());
    assert_eq!(it.qp.ex.cast::<u8>(), it.qp.plain.cast());
    let region = it.device.region(64);
    // SAFETY: live objects.
    unsafe {
        assert_eq!(((*it.qp.plain).context, (*it.qp.plain).pd), (it.device.context, it.device.pd));
        assert_eq!(
            ((*it.qp.plain).send_cq, (*it.qp.plain).recv_cq),
            (it.cq.plain(), it.cq.plain())
        );
        assert_eq!((*it.qp.plain).qp_type, ibv_qp_type::IBV_QPT_RC);
        assert_eq!((*it.cq.plain()).context, it.device.context);
        assert_eq!(((*region.mr).pd, (*region.mr).length), (it.device.pd, 64));
        assert_ne!((*region.mr).lkey, 0);
        assert_eq!((*it.device.pd).context, it.device.context);
        assert!((*it.device.context).async_fd >= 0 && (*it.device.context).num_comp_vectors > 0);
    }
}

#[test]
fn modify_and_query_queue_pair() {
    use ibv_qp_attr_mask as Mask;
    let it = Loopback::rc();
    let (attr, init) = it.qp.query();
    assert_eq!(attr.qp_state, ibv_qp_state::IBV_QPS_RTS);
    assert_eq!(attr.cur_qp_state, ibv_qp_state::IBV_QPS_RTS);
    assert_eq!((attr.dest_qp_num, attr.sq_psn, attr.timeout), (it.qp.number(), 0, 14));
    assert!(init.cap.max_send_wr >= 16 && init.qp_type == ibv_qp_type::IBV_QPT_RC);

    let mut back: ibv_qp_attr = zeroed();
    back.qp_state = ibv_qp_state::IBV_QPS_INIT;
    let refused = it.qp.modify(&mut back, mask(&[Mask::IBV_QP_STATE]));
    assert_eq!(kind(refused), Some(ErrorKind::InvalidInput));
    // SAFETY: a live queue pair.
    let state = || unsafe { (*it.qp.plain).state };
    assert_eq!((it.qp.query().0.qp_state, state()), (attr.qp_state, attr.qp_state));

    let mut error: ibv_qp_attr = zeroed();
    error.qp_state = ibv_qp_state::IBV_QPS_ERR;
    assert_eq!(it.qp.modify(&mut error, mask(&[Mask::IBV_QP_STATE])), 0);
    assert_eq!((it.qp.query().0.qp_state, state()), (error.qp_state, error.qp_state));
}

#[test]
fn manual_bringup_via_modify() {
    let device = Device::open();
    let cq = Cq::new(&device, 0, None, 0);
    let kind = ibv_qp_type::IBV_QPT_UD;
    let qp = Qp::new(&device, &cq, kind, null_mut());
    let state = || qp.query().0.qp_state;
    assert_eq!(state(), ibv_qp_state::IBV_QPS_RESET);
    qp.to_init(kind);
    assert_eq!(state(), ibv_qp_state::IBV_QPS_INIT);
    assert_eq!(qp.to_rtr(&device.address(), kind), 0);
    assert_eq!(state(), ibv_qp_state::IBV_QPS_RTR);
    qp.to_rts(kind);
    let attr = qp.query().0;
    assert_eq!((attr.qp_state, attr.qkey), (ibv_qp_state::IBV_QPS_RTS, QKEY));
    assert_eq!((attr.port_num, attr.pkey_index), (1, 0));
}

#[test]
fn queue_pair_on_explicit_port() {
    use ibv_qp_attr_mask as Mask;
    let device = Device::open();
    let cq = Cq::new(&device, 0, None, 0);
    let qp = Qp::new(&device, &cq, ibv_qp_type::IBV_QPT_RC, null_mut());
    let mut attr: ibv_qp_attr = zeroed();
    (attr.qp_state, attr.port_num) = (ibv_qp_state::IBV_QPS_INIT, 2);
    let all =
        [Mask::IBV_QP_STATE, Mask::IBV_QP_PKEY_INDEX, Mask::IBV_QP_PORT, Mask::IBV_QP_ACCESS_FLAGS];
    assert_eq!(kind(qp.modify(&mut attr, mask(&all))), Some(ErrorKind::InvalidInput));
    qp.connect(&device, ibv_qp_type::IBV_QPT_RC);
    assert_eq!(qp.query().0.port_num, 1);
    let (from, to) = (device.region(64).with(b"port"), device.region(64));
    qp.receive(1, &[to.piece(0, 4)]);
    qp.send(2, &[from.piece(0, 4)]);
    assert_eq!(cq.done(2).len(), 2);
    assert_eq!(to.bytes()[..5], *b"port\0");
}

#[test]
fn roce_route_failure_diagnostic() {
    let device = Device::open();
    let cq = Cq::new(&device, 0, None, 0);
    for wanted in [ibv_qp_type::IBV_QPT_RC, ibv_qp_type::IBV_QPT_UC] {
        let qp = Qp::new(&device, &cq, wanted, null_mut());
        qp.to_init(wanted);
        let mut address = device.address();
        address.grh.dgid = ibv_gid { raw: *b"\xfe\x80\0\0\0\0\0\0\0\0\0\0\xde\xad\xbe\xef" };
        assert_eq!(kind(qp.to_rtr(&address, wanted)), Some(ErrorKind::TimedOut));
        // It is as before, and can go where somebody is.
        assert_eq!(qp.query().0.qp_state, ibv_qp_state::IBV_QPS_INIT);
        assert_eq!(qp.to_rtr(&device.address(), wanted), 0);
    }
}

#[test]
fn advise_mr() {
    let device = Device::open();
    let region = device.region(8192).with(b"there");
    let advise = |piece: ibv_sge| {
        let mut list = [piece];
        let prefetch = ib_uverbs_advise_mr_advice::IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH;
        // SAFETY: a live domain and a list of one.
        kind(unsafe {
            let advise = extended(device.context).advise_mr.unwrap();
            advise(device.pd, prefetch, 0, list.as_mut_ptr(), 1)
        })
    };
    // Of a region that is not on demand too.
    assert_eq!(advise(region.piece(0, 8192)), None);
    assert_eq!(region.bytes()[..5], *b"there");
    let mut unknown = region.piece(0, 1);
    unknown.lkey ^= 1;
    assert_eq!(advise(unknown), Some(ErrorKind::NotFound));
}
