//! Every operation of a reliable connection through the crate `rdma-sys`: its types are made from the
//! installed headers, and its inline functions are its own.

use std::mem::{self, MaybeUninit};
use std::ptr::{addr_of, addr_of_mut, null_mut};
use std::time::{Duration, Instant};

use rdma_sys::*;

/// How long a completion may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The bytes of each of the two halves of the region.
const HALF: usize = 1 << 16;

/// A queue pair that is its own peer, and a region: local bytes first, remote ones behind them.
struct Loopback {
    context: *mut ibv_context,
    pd: *mut ibv_pd,
    cq: *mut ibv_cq,
    qp: *mut ibv_qp,
    mr: *mut ibv_mr,
    memory: Box<[u64; 2 * HALF / 8]>,
}

/// All bits zero, as C programs begin with.
fn zeroed<T>() -> T {
    // SAFETY: only used for structs of C, whose fields are numbers, pointers and unions of them.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

impl Loopback {
    /// Opens the first device and connects.
    fn new() -> Loopback {
        let all = ibv_access_flags::IBV_ACCESS_LOCAL_WRITE
            | ibv_access_flags::IBV_ACCESS_REMOTE_WRITE
            | ibv_access_flags::IBV_ACCESS_REMOTE_READ
            | ibv_access_flags::IBV_ACCESS_REMOTE_ATOMIC;
        // SAFETY: each call gets objects that the ones before have made.
        unsafe {
            let mut count = 0;
            let list = ibv_get_device_list(&mut count);
            assert!(!list.is_null() && count > 0, "no device");
            let context = ibv_open_device(*list);
            ibv_free_device_list(list);
            let pd = ibv_alloc_pd(context);
            let cq = ibv_create_cq(context, 16, null_mut(), null_mut(), 0);
            let mut memory = Box::new([0; 2 * HALF / 8]);
            let mr = ibv_reg_mr(pd, memory.as_mut_ptr().cast(), 2 * HALF, all.0 as i32);
            assert!(!pd.is_null() && !cq.is_null() && !mr.is_null());
            let mut wanted: ibv_qp_init_attr = zeroed();
            (wanted.send_cq, wanted.recv_cq) = (cq, cq);
            wanted.qp_type = ibv_qp_type::IBV_QPT_RC;
            wanted.cap.max_send_wr = 8;
            wanted.cap.max_recv_wr = 8;
            wanted.cap.max_send_sge = 2;
            wanted.cap.max_recv_sge = 2;
            wanted.cap.max_inline_data = 64;
            let qp = ibv_create_qp(pd, &mut wanted);
            assert!(!qp.is_null() && wanted.cap.max_inline_data >= 64);
            connect(context, qp, all.0);
            Loopback { context, pd, cq, qp, mr, memory }
        }
    }

    /// A piece of the local half.
    fn local(&self, offset: usize, length: usize) -> ibv_sge {
        // SAFETY: the region lives as long as this.
        let lkey = unsafe { (*self.mr).lkey };
        ibv_sge { addr: self.address(offset), length: length as u32, lkey }
    }

    /// Where a byte of the region is.
    fn address(&self, offset: usize) -> u64 {
        addr_of!(*self.memory) as u64 + offset as u64
    }

    /// Posts a receive into the remote half.
    fn receive(&self, id: u64, length: usize) {
        let mut piece = self.local(HALF, length);
        let mut request: ibv_recv_wr = zeroed();
        (request.wr_id, request.sg_list, request.num_sge) = (id, &mut piece, 1);
        let mut bad = null_mut();
        // SAFETY: the request and its list live until the call returns.
        assert_eq!(unsafe { ibv_post_recv(self.qp, &mut request, &mut bad) }, 0);
    }

    /// Posts a signaled request with these pieces, after `set` has filled in the rest of it.
    fn send(
        &self,
        opcode: ibv_wr_opcode::Type,
        pieces: &mut [ibv_sge],
        set: impl FnOnce(&mut ibv_send_wr),
    ) {
        let mut request: ibv_send_wr = zeroed();
        request.wr_id = 77;
        request.opcode = opcode;
        request.send_flags = ibv_send_flags::IBV_SEND_SIGNALED.0;
        (request.sg_list, request.num_sge) = (pieces.as_mut_ptr(), pieces.len() as i32);
        set(&mut request);
        let mut bad = null_mut();
        // SAFETY: the request and its list live until the call returns.
        assert_eq!(unsafe { ibv_post_send(self.qp, &mut request, &mut bad) }, 0);
    }

    /// Where one-sided requests go: the beginning of the remote half.
    fn remote(&self) -> rdma_t {
        // SAFETY: the region lives as long as this.
        rdma_t { remote_addr: self.address(HALF), rkey: unsafe { (*self.mr).rkey } }
    }

    /// The next completion.
    fn completion(&self) -> ibv_wc {
        let limit = Instant::now() + PATIENCE;
        let mut found: ibv_wc = zeroed();
        // SAFETY: there is room for the one completion that is asked for.
        while unsafe { ibv_poll_cq(self.cq, 1, &mut found) } == 0 {
            assert!(Instant::now() < limit, "no completion");
        }
        found
    }

    /// The next completion, which has to be a good one of this request and operation.
    fn done(&self, id: u64, opcode: ibv_wc_opcode::Type) -> ibv_wc {
        let found = self.completion();
        assert_eq!((found.status, found.wr_id), (ibv_wc_status::IBV_WC_SUCCESS, id));
        assert_eq!(found.opcode, opcode);
        found
    }

    /// The bytes of the local half, and of the remote one.
    fn halves(&mut self) -> (&mut [u8], &mut [u8]) {
        let start = self.memory.as_mut_ptr().cast::<u8>();
        // SAFETY: the memory is of this size, and borrowed while the slice is used.
        unsafe { std::slice::from_raw_parts_mut(start, 2 * HALF) }.split_at_mut(HALF)
    }

    /// Fills the halves with different bytes.
    fn fill(&mut self, seed: u8) {
        let (local, remote) = self.halves();
        for (number, (local, remote)) in local.iter_mut().zip(remote).enumerate() {
            *local = (number as u8).wrapping_mul(31).wrapping_add(seed);
            *remote = !*local;
        }
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        // SAFETY: all are of this, and nobody uses them any more.
        unsafe {
            assert_eq!(ibv_destroy_qp(self.qp), 0);
            assert_eq!(ibv_dereg_mr(self.mr), 0);
            assert_eq!(ibv_destroy_cq(self.cq), 0);
            assert_eq!(ibv_dealloc_pd(self.pd), 0);
            assert_eq!(ibv_close_device(self.context), 0);
        }
    }
}

/// Brings a queue pair to where it sends to itself, by GID 1.
unsafe fn connect(context: *mut ibv_context, qp: *mut ibv_qp, access: u32) {
    // SAFETY: of the caller, and the attributes are on the stack.
    unsafe {
        let mut gid = MaybeUninit::zeroed();
        assert_eq!(ibv_query_gid(context, 1, 1, gid.as_mut_ptr()), 0);
        let mut attr: ibv_qp_attr = zeroed();
        attr.qp_state = ibv_qp_state::IBV_QPS_INIT;
        attr.port_num = 1;
        attr.qp_access_flags = access;
        attr.path_mtu = ibv_mtu::IBV_MTU_1024;
        attr.dest_qp_num = (*qp).qp_num;
        attr.max_dest_rd_atomic = 1;
        attr.max_rd_atomic = 1;
        attr.ah_attr.is_global = 1;
        attr.ah_attr.port_num = 1;
        attr.ah_attr.grh.dgid = gid.assume_init();
        attr.ah_attr.grh.sgid_index = 1;
        attr.ah_attr.grh.hop_limit = 1;
        let to_init = ibv_qp_attr_mask::IBV_QP_STATE
            | ibv_qp_attr_mask::IBV_QP_PKEY_INDEX
            | ibv_qp_attr_mask::IBV_QP_PORT
            | ibv_qp_attr_mask::IBV_QP_ACCESS_FLAGS;
        assert_eq!(ibv_modify_qp(qp, &mut attr, to_init.0 as i32), 0);
        attr.qp_state = ibv_qp_state::IBV_QPS_RTR;
        let to_receive = ibv_qp_attr_mask::IBV_QP_STATE
            | ibv_qp_attr_mask::IBV_QP_AV
            | ibv_qp_attr_mask::IBV_QP_PATH_MTU
            | ibv_qp_attr_mask::IBV_QP_DEST_QPN
            | ibv_qp_attr_mask::IBV_QP_RQ_PSN
            | ibv_qp_attr_mask::IBV_QP_MAX_DEST_RD_ATOMIC
            | ibv_qp_attr_mask::IBV_QP_MIN_RNR_TIMER;
        assert_eq!(ibv_modify_qp(qp, &mut attr, to_receive.0 as i32), 0);
        attr.qp_state = ibv_qp_state::IBV_QPS_RTS;
        let to_send = ibv_qp_attr_mask::IBV_QP_STATE
            | ibv_qp_attr_mask::IBV_QP_TIMEOUT
            | ibv_qp_attr_mask::IBV_QP_RETRY_CNT
            | ibv_qp_attr_mask::IBV_QP_RNR_RETRY
            | ibv_qp_attr_mask::IBV_QP_SQ_PSN
            | ibv_qp_attr_mask::IBV_QP_MAX_QP_RD_ATOMIC;
        assert_eq!(ibv_modify_qp(qp, &mut attr, to_send.0 as i32), 0);
    }
}

#[test]
fn sends_with_and_without_data_of_their_own() {
    let mut it = Loopback::new();
    it.fill(1);
    it.receive(1, HALF);
    it.send(ibv_wr_opcode::IBV_WR_SEND, &mut [it.local(8, 100), it.local(1000, 5000)], |_| ());
    assert_eq!(it.done(1, ibv_wc_opcode::IBV_WC_RECV).byte_len, 5100);
    it.done(77, ibv_wc_opcode::IBV_WC_SEND);
    let (local, remote) = it.halves();
    assert_eq!(remote[..100], local[8..108]);
    assert_eq!(remote[100..5100], local[1000..6000]);
    assert_eq!(remote[5100], !local[5100]);

    it.receive(2, HALF);
    it.send(ibv_wr_opcode::IBV_WR_SEND_WITH_IMM, &mut [it.local(0, 9)], |request| {
        request.imm_data_invalidated_rkey_union.imm_data = 0x0102_0304u32.to_be();
    });
    let found = it.done(2, ibv_wc_opcode::IBV_WC_RECV);
    assert_ne!(found.wc_flags & ibv_wc_flags::IBV_WC_WITH_IMM.0, 0);
    // SAFETY: the flag says which field of the union it is.
    let data = unsafe { found.imm_data_invalidated_rkey_union.imm_data };
    assert_eq!((found.byte_len, u32::from_be(data)), (9, 0x0102_0304));
    it.done(77, ibv_wc_opcode::IBV_WC_SEND);
}

#[test]
fn inline_data_is_taken_when_it_is_posted() {
    let mut it = Loopback::new();
    it.fill(2);
    let mut data = *b"sixty-four bytes that no region has, gone when the post returns.";
    let mut piece = ibv_sge { addr: addr_of_mut!(data) as u64, length: 64, lkey: 0 };
    let remote = it.remote();
    it.send(ibv_wr_opcode::IBV_WR_RDMA_WRITE, std::slice::from_mut(&mut piece), |request| {
        request.send_flags |= ibv_send_flags::IBV_SEND_INLINE.0;
        request.wr.rdma = remote;
    });
    let sent = mem::replace(&mut data, [0; 64]);
    it.done(77, ibv_wc_opcode::IBV_WC_RDMA_WRITE);
    assert_eq!(it.halves().1[..64], sent);
}

#[test]
fn writes_and_reads() {
    let mut it = Loopback::new();
    it.fill(3);
    let remote = it.remote();
    it.send(ibv_wr_opcode::IBV_WR_RDMA_WRITE, &mut [it.local(1, HALF - 1)], |request| {
        request.wr.rdma = remote;
    });
    it.done(77, ibv_wc_opcode::IBV_WC_RDMA_WRITE);
    let (local, other) = it.halves();
    assert_eq!(other[..HALF - 1], local[1..]);

    it.fill(4);
    it.receive(3, 0);
    it.send(ibv_wr_opcode::IBV_WR_RDMA_WRITE_WITH_IMM, &mut [it.local(0, 33)], |request| {
        request.wr.rdma = remote;
        request.imm_data_invalidated_rkey_union.imm_data = 9u32.to_be();
    });
    assert_eq!(it.done(3, ibv_wc_opcode::IBV_WC_RECV_RDMA_WITH_IMM).byte_len, 33);
    it.done(77, ibv_wc_opcode::IBV_WC_RDMA_WRITE);
    let (local, other) = it.halves();
    assert_eq!(other[..33], local[..33]);
    assert_eq!(other[33], !local[33]);

    it.fill(5);
    let mut pieces = [it.local(0, 10), it.local(100, HALF - 100)];
    it.send(ibv_wr_opcode::IBV_WR_RDMA_READ, &mut pieces, |request| request.wr.rdma = remote);
    it.done(77, ibv_wc_opcode::IBV_WC_RDMA_READ);
    let (local, other) = it.halves();
    assert_eq!(local[..10], other[..10]);
    assert_eq!(local[100..], other[10..HALF - 90]);
}

#[test]
fn atomics() {
    let mut it = Loopback::new();
    let rdma_t { remote_addr, rkey } = it.remote();
    let word = HALF / 8;
    it.memory[word] = 40;
    for (opcode, compare_add, swap, before, after, completed) in [
        (ibv_wr_opcode::IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 0, 40, 42, ibv_wc_opcode::IBV_WC_FETCH_ADD),
        (ibv_wr_opcode::IBV_WR_ATOMIC_CMP_AND_SWP, 41, 7, 42, 42, ibv_wc_opcode::IBV_WC_COMP_SWAP),
        (ibv_wr_opcode::IBV_WR_ATOMIC_CMP_AND_SWP, 42, 7, 42, 7, ibv_wc_opcode::IBV_WC_COMP_SWAP),
    ] {
        it.send(opcode, &mut [it.local(0, 8)], |request| {
            request.wr.atomic = atomic_t { remote_addr, compare_add, swap, rkey };
        });
        it.done(77, completed);
        assert_eq!((it.memory[0], it.memory[word]), (before, after));
    }
}

#[test]
fn a_wrong_key_and_what_comes_behind_it() {
    let mut it = Loopback::new();
    it.fill(6);
    let mut remote = it.remote();
    remote.rkey ^= 1;
    it.send(ibv_wr_opcode::IBV_WR_RDMA_WRITE, &mut [it.local(0, 8)], |request| {
        request.wr.rdma = remote;
    });
    assert_eq!(it.completion().status, ibv_wc_status::IBV_WC_REM_ACCESS_ERR);
    let (local, other) = it.halves();
    assert_eq!(other[0], !local[0]);
    it.send(ibv_wr_opcode::IBV_WR_SEND, &mut [it.local(0, 8)], |_| ());
    assert_eq!(it.completion().status, ibv_wc_status::IBV_WC_WR_FLUSH_ERR);
    let mut attr: ibv_qp_attr = zeroed();
    let mut init: ibv_qp_init_attr = zeroed();
    let mask = ibv_qp_attr_mask::IBV_QP_STATE.0 as i32;
    // SAFETY: the queue pair is there, and there is room for the answer.
    assert_eq!(unsafe { ibv_query_qp(it.qp, &mut attr, mask, &mut init) }, 0);
    assert_eq!(attr.qp_state, ibv_qp_state::IBV_QPS_ERR);
}
