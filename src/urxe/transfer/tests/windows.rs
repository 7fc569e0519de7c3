//! Windows and invalidation, and regions without memory.

use super::super::Reason;
use super::*;
use crate::urxe::region::{alloc_mw, alloc_null_mr, dealloc_mw, next_rkey};
use crate::verbs::mr::ibv_dereg_mr;

/// A QP that is connected with one that has bound a window of type 2, both in this process.
fn bound(offset: usize, length: usize) -> (Side, Side, u32) {
    let options = Options::new(IBV_QPT_RC);
    let (near, far) = (Side::new(options), Side::new(options));
    near.connect(far.card().qp_num, options);
    far.connect(near.card().qp_num, options);
    // SAFETY: live objects.
    let rkey = unsafe {
        let mw = alloc_mw(far.pd, IBV_MW_TYPE_2);
        assert!(!mw.is_null());
        far.in_the_end(move || assert_eq!(dealloc_mw(mw), 0));
        let rkey = next_rkey((*mw).rkey);
        let mut wr = ibv_send_wr { wr_id: 1, opcode: IBV_WR_BIND_MW, ..ibv_send_wr::zeroed() };
        let bind_info = ibv_mw_bind_info {
            mr: far.mr,
            addr: (far.base.addr() + offset) as u64,
            length: length as u64,
            mw_access_flags: IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
        };
        wr.op.bind_mw = ibv_send_wr_bind_mw { mw, rkey, bind_info };
        far.send(wr, &mut []);
        rkey
    };
    let wc = far.sent();
    assert_eq!((wc.status, wc.opcode), (IBV_WC_SUCCESS, IBV_WC_BIND_MW));
    (near, far, rkey)
}

fn write(near: &Side, far: &Side, rkey: u32, offset: usize, length: usize) -> ibv_wc {
    let mut wr = ibv_send_wr { wr_id: 2, opcode: IBV_WR_RDMA_WRITE, ..ibv_send_wr::zeroed() };
    let remote_addr = (far.base.addr() + offset) as u64;
    wr.wr.rdma = ibv_send_wr_wr_rdma { remote_addr, rkey };
    near.send(wr, &mut near.list(&[(0, length)]));
    near.sent()
}

#[test]
fn windows_open_a_part() {
    let (near, far, rkey) = bound(1000, 500);
    near.fill_part(0, 500, 8);
    assert_eq!(write(&near, &far, rkey, 1000, 500).status, IBV_WC_SUCCESS);
    assert_eq!(far.wrong(1000, 500, 8), None);
    let wc = write(&near, &far, rkey, 1001, 500);
    assert_eq!((wc.status, wc.vendor_err), (IBV_WC_REM_ACCESS_ERR, Reason::RemoteKey as u32));
}

#[test]
fn invalidated_windows_are_closed() {
    // By their owner.
    let (near, far, rkey) = bound(1000, 500);
    let mut wr = ibv_send_wr { wr_id: 1, opcode: IBV_WR_LOCAL_INV, ..ibv_send_wr::zeroed() };
    wr.imm.invalidate_rkey = rkey;
    far.send(wr, &mut []);
    let wc = far.sent();
    assert_eq!((wc.status, wc.opcode), (IBV_WC_SUCCESS, IBV_WC_LOCAL_INV));
    assert_eq!(write(&near, &far, rkey, 1000, 500).status, IBV_WC_REM_ACCESS_ERR);
    // By the peer.
    let (near, far, rkey) = bound(1000, 500);
    assert_eq!(far.receive(5, &mut far.list(&[(0, 10)])), 0);
    let mut wr = ibv_send_wr { wr_id: 1, opcode: IBV_WR_SEND_WITH_INV, ..ibv_send_wr::zeroed() };
    wr.imm.invalidate_rkey = rkey;
    near.send(wr, &mut near.list(&[(0, 10)]));
    assert_eq!(near.sent().status, IBV_WC_SUCCESS);
    let wc = far.poll(far.recv_cq).unwrap();
    assert_eq!((wc.status, wc.wc_flags), (IBV_WC_SUCCESS, IBV_WC_WITH_INV));
    // SAFETY: 32 bits in each form.
    assert_eq!(unsafe { wc.imm.invalidated_rkey }, rkey);
    assert_eq!(write(&near, &far, rkey, 1000, 500).status, IBV_WC_REM_ACCESS_ERR);
    // What is no window, by either.
    let (near, far, _) = bound(1000, 500);
    assert_eq!(far.receive(5, &mut far.list(&[(0, 10)])), 0);
    let mut wr = ibv_send_wr { wr_id: 1, opcode: IBV_WR_SEND_WITH_INV, ..ibv_send_wr::zeroed() };
    wr.imm.invalidate_rkey = far.card().rkey;
    near.send(wr, &mut near.list(&[(0, 10)]));
    let wc = near.sent();
    assert_eq!((wc.status, wc.vendor_err), (IBV_WC_REM_ACCESS_ERR, Reason::Invalidate as u32));
    let wc = far.poll(far.recv_cq).unwrap();
    assert_eq!((wc.wr_id, wc.status), (5, IBV_WC_MW_BIND_ERR));
    let (_near, far, rkey) = bound(1000, 500);
    let mut wr = ibv_send_wr { wr_id: 1, opcode: IBV_WR_LOCAL_INV, ..ibv_send_wr::zeroed() };
    wr.imm.invalidate_rkey = rkey ^ 1;
    far.send(wr, &mut []);
    let wc = far.sent();
    assert_eq!((wc.status, wc.vendor_err), (IBV_WC_MW_BIND_ERR, Reason::Invalidate as u32));
}

#[test]
fn the_null_region_swallows_and_gives_zeros() {
    for place in PLACES {
        let mut pair = Pair::of(place, IBV_QPT_RC);
        // SAFETY: a live PD.
        let null = unsafe { alloc_null_mr(pair.near.pd) };
        // SAFETY: live until then.
        pair.near.in_the_end(move || assert_eq!(unsafe { ibv_dereg_mr(null) }, 0));
        // SAFETY: live.
        let null = unsafe { (*null).lkey };
        let mut list = pair.near.list(&[(0, 10), (0, 100_000), (10, 10)]);
        list[1].lkey = null;
        // Zeros go out.
        pair.near.fill_part(0, 20, 6);
        pair.fill_far(0, 200_000, 7);
        pair.near.send(pair.rdma(1, IBV_WR_RDMA_WRITE, 0), &mut list);
        assert_eq!(pair.near.sent().status, IBV_WC_SUCCESS);
        assert_eq!(pair.wrong(0, 10, 6), []);
        let words: Vec<_> = [16, 50_000, 99_992].map(|at| pair.far.ask(&[WORD, at])[0]).into();
        assert_eq!(words, [0, 0, 0]);
        // What comes in there is lost.
        pair.fill_far(0, 200_000, 9);
        pair.near.send(pair.rdma(1, IBV_WR_RDMA_READ, 0), &mut list);
        assert_eq!(pair.near.sent().status, IBV_WC_SUCCESS);
        assert_eq!(pair.near.wrong(0, 10, 9), None);
        pair.well(pair.rdma(1, IBV_WR_RDMA_READ, 100_010), &[(64, 10)]);
        for at in 0..10 {
            // SAFETY: inside the memory.
            let bytes = unsafe { (*pair.near.base.add(10 + at), *pair.near.base.add(64 + at)) };
            assert_eq!(bytes.0, bytes.1);
        }
    }
}
