//! What is moved, by each type of queue pair.

use std::ptr::null_mut;

use rdma_sys::*;

use crate::device::*;
use crate::queue::*;

#[test]
fn send_recv() {
    let it = Loopback::rc();
    let (from, to) = (it.device.region(64).with(b"hello"), it.device.region(64));
    it.qp.receive(1, &[to.piece(0, 5)]);
    it.qp.send(2, &[from.piece(0, 5)]);
    let [received, sent] = it.cq.done(2)[..] else { panic!() };
    let number = it.qp.number();
    assert_eq!((received.id, received.opcode), (1, ibv_wc_opcode::IBV_WC_RECV));
    assert_eq!((received.length, received.imm, received.qp_num), (5, None, number));
    assert_eq!((sent.id, sent.opcode, sent.qp_num), (2, ibv_wc_opcode::IBV_WC_SEND, number));
    assert_eq!(to.bytes()[..6], *b"hello\0");
}

#[test]
fn send_recv_large() {
    let it = Loopback::rc();
    const LENGTH: usize = 4096;
    let pattern: Vec<u8> = (0..LENGTH).map(|number| (number % 251) as u8).collect();
    let (from, to) = (it.device.region(LENGTH).with(&pattern), it.device.region(LENGTH + 1));
    it.qp.receive(1, &[to.piece(0, LENGTH + 1)]);
    it.qp.send(2, &[from.piece(0, LENGTH)]);
    assert_eq!(it.cq.done(2)[0].length as usize, LENGTH);
    assert_eq!(to.bytes()[..LENGTH], pattern);
    assert_eq!(to.bytes()[LENGTH], 0);
}

#[test]
fn scatter_gather() {
    let it = Loopback::rc();
    let from = it.device.region(64).with(b"abcd............efgh");
    let to = it.device.region(64);
    it.qp.receive(1, &[to.piece(0, 3), to.piece(40, 2), to.piece(32, 4)]);
    it.qp.send(2, &[from.piece(0, 4), from.piece(16, 4)]);
    assert_eq!(it.cq.done(2)[0].length, 8);
    let mut wanted = [0; 64];
    wanted[..3].copy_from_slice(b"abc");
    wanted[40..42].copy_from_slice(b"de");
    wanted[32..35].copy_from_slice(b"fgh");
    assert_eq!(to.bytes(), wanted);
}

#[test]
fn multiple_outstanding() {
    let it = Loopback::rc();
    let from = it.device.region(64).with(&[10, 11, 12, 13, 14, 15, 16, 17]);
    let to = it.device.region(64);
    for number in 0..8 {
        it.qp.receive(1000 + number, &[to.piece(8 * number as usize, 8)]);
    }
    for number in 0..8 {
        it.qp.send(number, &[from.piece(number as usize, 1)]);
    }
    assert!(it.ids(16).into_iter().eq((0..8).chain(1000..1008)));
    let firsts = to.bytes().chunks_exact(8).map(|bytes| (bytes[0], bytes[1]));
    assert!(firsts.eq((10..18).map(|byte| (byte, 0))));
}

#[test]
fn rdma_write() {
    let it = Loopback::rc();
    let (from, to) = (it.device.region(64).with(b"verbs!"), it.device.region(64));
    it.qp.start().add(1, SIGNALED, write(&[from.piece(0, 6)], to.remote(3))).post();
    let done = it.cq.done(1)[0];
    assert_eq!((done.id, done.opcode), (1, ibv_wc_opcode::IBV_WC_RDMA_WRITE));
    assert_eq!(to.bytes()[..10], *b"\0\0\0verbs!\0");
}

#[test]
fn rdma_write_with_imm() {
    let it = Loopback::rc();
    let (from, to) = (it.device.region(64).with(&[1, 2, 3, 4]), it.device.region(64));
    let unused = it.device.region(64);
    it.qp.receive(10, &[unused.piece(0, 1)]);
    let (key, address) = to.remote(0);
    let pieces = [from.piece(0, 4)];
    let operation = with(&pieces, |qp| {
        // SAFETY: called by `add`.
        unsafe { ibv_wr_rdma_write_imm(qp, key, address, 0xdead_beef_u32.to_be()) };
    });
    it.qp.start().add(11, SIGNALED, operation).post();
    let [received, sent] = it.cq.done(2)[..] else { panic!() };
    assert_eq!((received.id, received.opcode), (10, ibv_wc_opcode::IBV_WC_RECV_RDMA_WITH_IMM));
    assert_eq!((received.imm, received.length), (Some(0xdead_beef), 4));
    assert_eq!((sent.id, sent.opcode), (11, ibv_wc_opcode::IBV_WC_RDMA_WRITE));
    assert_eq!((&to.bytes()[..5], unused.bytes()[0]), (&[1, 2, 3, 4, 0][..], 0));
}

#[test]
fn rdma_read() {
    let it = Loopback::rc();
    let there = it.device.region(64).with(&[9, 8, 7, 6, 5, 4, 3, 2]);
    let here = it.device.region(64);
    let (key, address) = there.remote(1);
    // SAFETY: called by `add`.
    let read = |qp| unsafe { ibv_wr_rdma_read(qp, key, address) };
    it.qp.start().add(1, SIGNALED, with(&[here.piece(0, 3), here.piece(8, 4)], read)).post();
    let done = it.cq.done(1)[0];
    assert_eq!((done.id, done.opcode), (1, ibv_wc_opcode::IBV_WC_RDMA_READ));
    assert_eq!(done.length, 7);
    assert_eq!(here.bytes()[..13], [8, 7, 6, 0, 0, 0, 0, 0, 5, 4, 3, 2, 0]);
}

#[test]
fn atomic_operations() {
    let it = Loopback::rc();
    let (there, here) = (it.device.region(16), it.device.region(8));
    let (key, address) = there.remote(8);
    const SWAPPED: u64 = 0x0102_0304_0506_0708;
    // Compare, swap; what was there before and is there then.
    for (id, compare, swap, before, after) in
        [(1, 0, SWAPPED, 0, SWAPPED), (2, 0, 5, SWAPPED, SWAPPED), (3, SWAPPED, 5, SWAPPED, 5)]
    {
        // SAFETY: called by `add`.
        let operation = |qp| unsafe { ibv_wr_atomic_cmp_swp(qp, key, address, compare, swap) };
        it.qp.start().add(id, SIGNALED, with(&[here.piece(0, 8)], operation)).post();
        let done = it.cq.done(1)[0];
        assert_eq!((done.id, done.opcode), (id, ibv_wc_opcode::IBV_WC_COMP_SWAP));
        assert_eq!(here.bytes(), before.to_ne_bytes());
        assert_eq!(there.bytes()[8..], after.to_ne_bytes());
    }
    // SAFETY: called by `add`.
    let operation = |qp| unsafe { ibv_wr_atomic_fetch_add(qp, key, address, u64::MAX) };
    it.qp.start().add(4, SIGNALED, with(&[here.piece(0, 8)], operation)).post();
    let done = it.cq.done(1)[0];
    assert_eq!((done.id, done.opcode, done.length), (4, ibv_wc_opcode::IBV_WC_FETCH_ADD, 8));
    assert_eq!(here.bytes(), 5_u64.to_ne_bytes());
    assert_eq!(there.bytes()[8..], 4_u64.to_ne_bytes());
    assert_eq!(there.bytes()[..8], [0; 8]);
}

#[test]
fn register_from_raw() {
    let it = Loopback::rc();
    let (mut from, mut to) = (*b"..extern..", [0; 10]);
    let access = ibv_access_flags::IBV_ACCESS_LOCAL_WRITE.0 as i32;
    // SAFETY: arrays that live until the regions of them are gone.
    let regions = [from.as_mut_ptr(), to.as_mut_ptr()]
        .map(|start| unsafe { ibv_reg_mr(it.device.pd, start.cast(), 10, access) });
    // SAFETY: live regions, if they are there.
    let [sent, received] = regions.map(|mr| unsafe {
        assert!(!mr.is_null());
        ibv_sge { addr: (*mr).addr as u64 + 2, length: 6, lkey: (*mr).lkey }
    });
    it.qp.receive(1, &[received]);
    it.qp.send(2, &[sent]);
    assert_eq!(it.ids(2), [1, 2]);
    // SAFETY: no request uses them any more.
    assert_eq!(regions.map(|mr| unsafe { ibv_dereg_mr(mr) }), [0, 0]);
    assert_eq!((to, from), (*b"\0\0extern\0\0", *b"..extern.."));
}

#[test]
fn unreliable_connection() {
    let it = Loopback::new(ibv_qp_type::IBV_QPT_UC);
    let (from, to) = (it.device.region(64).with(b"uc."), it.device.region(64));
    it.qp.receive(1, &[to.piece(0, 3)]);
    let pieces = [from.piece(1, 2)];
    let written = write(&pieces, to.remote(32));
    it.qp.start().add(2, SIGNALED, send(&[from.piece(0, 3)])).add(3, SIGNALED, written).post();
    assert_eq!(it.ids(3), [1, 2, 3]);
    assert_eq!((&to.bytes()[..4], &to.bytes()[32..35]), (&b"uc.\0"[..], &b"c.\0"[..]));
}

#[test]
fn unreliable_datagram() {
    let device = Device::open();
    let cq = Cq::new(&device, 0, None, 0);
    let qp = Qp::connected(&device, &cq, ibv_qp_type::IBV_QPT_UD);
    let mut address = device.address();
    // SAFETY: a live domain, and the handle is not used after it is gone.
    let ah = unsafe { ibv_create_ah(device.pd, &mut address) };
    assert!(!ah.is_null());
    let (from, to) = (device.region(64).with(b"datagram"), device.region(40 + 64));
    qp.receive(1, &[to.piece(0, 48)]);
    let (pieces, number) = ([from.piece(0, 8)], qp.number());
    let datagram = |key| {
        // SAFETY: called by `add`.
        with(&pieces, move |ex| unsafe {
            ibv_wr_send(ex);
            ibv_wr_set_ud_addr(ex, ah, number, key);
        })
    };
    // One with another Q_Key is lost.
    qp.start().add(2, SIGNALED, datagram(QKEY + 1)).add(3, SIGNALED, datagram(QKEY)).post();
    let [received, lost, sent] = cq.done(3)[..] else { panic!() };
    assert_eq!((received.id, received.length, received.src_qp), (1, 48, qp.number()));
    assert_eq!(received.flags & ibv_wc_flags::IBV_WC_GRH.0, ibv_wc_flags::IBV_WC_GRH.0);
    assert_eq!((lost.id, sent.id, sent.opcode), (2, 3, ibv_wc_opcode::IBV_WC_SEND));
    assert_eq!(to.bytes()[40..49], *b"datagram\0");
    // An IPv4 header is in the second half, with the address as its last word.
    // SAFETY: a GID is 16 bytes in each of its forms.
    let gid = unsafe { device.gid(GID_INDEX).raw };
    assert_eq!((to.bytes()[20], &to.bytes()[36..40]), (0x45, &gid[12..]));
    // SAFETY: nobody uses it any more.
    assert_eq!(unsafe { ibv_destroy_ah(ah) }, 0);
}

#[test]
fn shared_receive_queue() {
    let device = Device::open();
    let cq = Cq::new(&device, 0, None, 0);
    let mut wanted: ibv_srq_init_attr = zeroed();
    (wanted.attr.max_wr, wanted.attr.max_sge) = (16, 1);
    // SAFETY: a live domain.
    let srq = unsafe { ibv_create_srq(device.pd, &mut wanted) };
    assert!(!srq.is_null());
    // Two queue pairs take from it.
    let qps = [(); 2].map(|()| Qp::new(&device, &cq, ibv_qp_type::IBV_QPT_RC, srq));
    let (from, to) = (device.region(64).with(b"srq!"), device.region(64));
    for (id, qp) in (1..).zip(&qps) {
        qp.connect(&device, ibv_qp_type::IBV_QPT_RC);
        let (pieces, mut bad) = ([to.piece(8 * id as usize, 4)], null_mut());
        let mut request = receive(id, &pieces);
        // SAFETY: the request lives until the call returns.
        assert_eq!(unsafe { ibv_post_srq_recv(srq, &mut request, &mut bad) }, 0);
    }
    for (id, qp) in (11..).zip(qps.iter().rev()) {
        qp.send(id, &[from.piece(0, 4)]);
        let [received, sent] = cq.done(2)[..] else { panic!() };
        assert_eq!((received.id, received.qp_num), (id - 10, qp.number()));
        assert_eq!((sent.id, sent.qp_num), (id, qp.number()));
    }
    assert_eq!(to.bytes()[8..24], *b"srq!\0\0\0\0srq!\0\0\0\0");
    drop(qps);
    // SAFETY: its queue pairs are gone.
    assert_eq!(unsafe { ibv_destroy_srq(srq) }, 0);
}
