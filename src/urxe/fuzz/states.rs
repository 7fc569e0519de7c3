//! The calls of a program: two connected QPs, and any sequence of modify, post, poll, query and
//! destroy, against a model of what may happen.
//!
//! The model is written after the manual page `ibv_modify_qp(3)` (what a move needs), and IBTA volume
//! 1, section 10.3.1 and table 91 (which moves there are, and what they allow besides). It knows of
//! each request that was taken that it completes once, in order, and not at all after a reset.

use core::ptr;
use std::collections::VecDeque;

use super::input::Input;
use crate::abi::*;
use crate::sys::mutex::Mutex;
use crate::urxe::completion::poll_cq;
use crate::urxe::device::{Context, Opened};
use crate::urxe::pair::{create_qp, post_recv, post_send, query_qp};
use crate::verbs::ah::ibv_create_ah;
use crate::verbs::cq::ibv_create_cq;
use crate::verbs::mr::ibv_reg_mr;
use crate::verbs::pd::ibv_alloc_pd;
use crate::verbs::qp::{ibv_destroy_qp, ibv_modify_qp};

/// Calls of one life, and entries of the completion queue, which is large enough for them.
const CALLS: usize = 150;
const ENTRIES: i32 = 2048;
/// Requests that each queue takes.
const DEPTH: usize = 6;
/// Bit in the `wr_id` of receives.
const RECEIVE: u64 = 1 << 63;
const BYTES: usize = 4096;

/// What all lives share.
struct World {
    opened: Opened,
    pd: *mut ibv_pd,
    cq: *mut ibv_cq,
    ah: *mut ibv_ah,
    mr: *mut ibv_mr,
    base: u64,
    address: ibv_ah_attr,
}

// SAFETY: used by one thread at a time.
unsafe impl Send for World {}

static WORLD: Mutex<Option<World>> = Mutex::new(None);

impl World {
    fn new() -> World {
        let opened = Opened::new();
        // SAFETY: a live context.
        let port = unsafe { Context::of(opened.get()) }.port();
        let dgid = port.gid(0).expect("a port has a GID").gid;
        let address = ibv_ah_attr {
            grh: ibv_global_route { dgid, hop_limit: 1, ..ibv_global_route::zeroed() },
            is_global: 1,
            dlid: port.lid(),
            port_num: 1,
            ..ibv_ah_attr::zeroed()
        };
        let all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
        // SAFETY: a live context; the memory stays as long as the region.
        unsafe {
            let pd = ibv_alloc_pd(opened.get());
            let cq = ibv_create_cq(opened.get(), ENTRIES, ptr::null_mut(), ptr::null_mut(), 0);
            let ah = ibv_create_ah(pd, &mut address.clone());
            let memory = libc::calloc(1, BYTES);
            let mr = ibv_reg_mr(pd, memory, BYTES, all.cast_signed());
            assert!(!pd.is_null() && !cq.is_null() && !ah.is_null() && !mr.is_null());
            World { opened, pd, cq, ah, mr, base: memory.expose_provenance() as u64, address }
        }
    }
}

/// A QP and what is known of it.
struct Model {
    qp: *mut ibv_qp,
    number: u32,
    kind: ibv_qp_type,
    /// Requests that have been taken: number, and whether they are signaled.
    sends: VecDeque<(u64, bool)>,
    receives: VecDeque<u64>,
    next: u64,
}

pub(super) fn run(input: &mut Input<'_>) {
    let mut world = WORLD.lock();
    let world = world.get_or_insert_with(World::new);
    let kind = input.pick(&[IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD]);
    let mut pair = [Model::new(world, kind), Model::new(world, kind)];
    for _ in 0..CALLS {
        if input.is_empty() {
            break;
        }
        let which = input.below(2);
        let other = pair[1 - which].number;
        let model = &mut pair[which];
        match input.byte() % 8 {
            0 => model.modify(world, input, other),
            1 | 2 => model.advance(world, input, other),
            3 => model.send(world, input, other),
            4 => model.receive(world, input),
            5 => poll(world, &mut pair),
            6 => {
                model.state();
            }
            _ if input.byte() > 200 => {
                // The completions that are there belong to the old one.
                poll(world, &mut pair);
                pair[which].destroy(world);
                pair[which] = Model::new(world, kind);
            }
            _ => poll(world, &mut pair),
        }
    }
    for which in 0..2 {
        poll(world, &mut pair);
        pair[which].end_in_error(world, which, &mut []);
        poll(world, &mut pair);
        pair[which].is_done();
    }
    pair.iter().for_each(|model| model.destroy(world));
    let mut wc = ibv_wc::zeroed();
    // SAFETY: a live CQ, and room.
    assert_eq!(unsafe { poll_cq(world.cq, 1, &raw mut wc) }, 0, "of QP {:#x}", wc.qp_num);
    assert!(world.opened.events().len() <= CALLS * 4);
}

/// The moves of IBTA figure 124, but for those to RESET and ERR, which all make.
fn is_move(from: u32, to: u32) -> bool {
    match to {
        IBV_QPS_RESET => true,
        IBV_QPS_ERR => from != IBV_QPS_RESET,
        IBV_QPS_INIT => matches!(from, IBV_QPS_RESET | IBV_QPS_INIT),
        IBV_QPS_RTR => from == IBV_QPS_INIT,
        IBV_QPS_RTS => matches!(from, IBV_QPS_RTR | IBV_QPS_RTS | IBV_QPS_SQD | IBV_QPS_SQE),
        IBV_QPS_SQD => matches!(from, IBV_QPS_RTS | IBV_QPS_SQD),
        _ => false,
    }
}

/// What a move needs: the tables of `ibv_modify_qp(3)`.
fn needed(kind: ibv_qp_type, from: u32, to: u32) -> u32 {
    let place = IBV_QP_PKEY_INDEX | IBV_QP_PORT;
    let path = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    match (from, to, kind) {
        (IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPT_UD) => place | IBV_QP_QKEY,
        (IBV_QPS_RESET, IBV_QPS_INIT, _) => place | IBV_QP_ACCESS_FLAGS,
        (IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPT_UC) => path,
        (IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPT_RC) => {
            path | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER
        }
        (IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPT_RC) => {
            IBV_QP_SQ_PSN
                | IBV_QP_MAX_QP_RD_ATOMIC
                | IBV_QP_RETRY_CNT
                | IBV_QP_RNR_RETRY
                | IBV_QP_TIMEOUT
        }
        (IBV_QPS_RTR, IBV_QPS_RTS, _) => IBV_QP_SQ_PSN,
        _ => 0,
    }
}

/// What a move allows besides: IBTA table 91. Alternate paths are left out, as the device has none.
fn optional(kind: ibv_qp_type, from: u32, to: u32) -> u32 {
    let (rc, ud) = (kind == IBV_QPT_RC, kind == IBV_QPT_UD);
    let key = if ud { IBV_QP_QKEY } else { IBV_QP_ACCESS_FLAGS };
    match (from, to) {
        (IBV_QPS_INIT, IBV_QPS_INIT) => IBV_QP_PKEY_INDEX | IBV_QP_PORT | key,
        (IBV_QPS_INIT, IBV_QPS_RTR) => IBV_QP_PKEY_INDEX | key,
        (IBV_QPS_SQE, IBV_QPS_RTS) if rc => 0,
        (IBV_QPS_SQE, IBV_QPS_RTS) => IBV_QP_CUR_STATE | key,
        (_, IBV_QPS_RTS) if ud => IBV_QP_CUR_STATE | key,
        (_, IBV_QPS_RTS) => {
            let timer = if rc { IBV_QP_MIN_RNR_TIMER } else { 0 };
            IBV_QP_CUR_STATE | key | IBV_QP_PATH_MIG_STATE | timer
        }
        (IBV_QPS_RTS, IBV_QPS_SQD) => IBV_QP_EN_SQD_ASYNC_NOTIFY,
        (IBV_QPS_SQD, IBV_QPS_SQD) if ud => IBV_QP_PKEY_INDEX | key,
        (IBV_QPS_SQD, IBV_QPS_SQD) => {
            let more = IBV_QP_PORT
                | IBV_QP_TIMEOUT
                | IBV_QP_RETRY_CNT
                | IBV_QP_RNR_RETRY
                | IBV_QP_MAX_QP_RD_ATOMIC
                | IBV_QP_MAX_DEST_RD_ATOMIC
                | IBV_QP_MIN_RNR_TIMER;
            let more = if rc { more } else { 0 };
            IBV_QP_AV | key | IBV_QP_PKEY_INDEX | IBV_QP_PATH_MIG_STATE | more
        }
        _ => 0,
    }
}

/// Which opcodes a type has: IBTA table "Operation types per transport", and which of them
/// `ibv_post_send(3)` posts.
fn has_opcode(kind: ibv_qp_type, opcode: u32) -> bool {
    match opcode {
        IBV_WR_SEND | IBV_WR_SEND_WITH_IMM => true,
        IBV_WR_RDMA_WRITE
        | IBV_WR_RDMA_WRITE_WITH_IMM
        | IBV_WR_LOCAL_INV
        | IBV_WR_SEND_WITH_INV => kind != IBV_QPT_UD,
        IBV_WR_RDMA_READ | IBV_WR_ATOMIC_CMP_AND_SWP | IBV_WR_ATOMIC_FETCH_AND_ADD => {
            kind == IBV_QPT_RC
        }
        _ => false,
    }
}

/// What a state is followed by without a call: requests fail.
fn may_become(kind: ibv_qp_type, from: u32, to: u32) -> bool {
    from == to
        || (to == IBV_QPS_ERR && !matches!(from, IBV_QPS_RESET | IBV_QPS_INIT))
        || (to == IBV_QPS_SQE && kind != IBV_QPT_RC && from == IBV_QPS_RTS)
}

impl Model {
    fn new(world: &World, kind: ibv_qp_type) -> Model {
        let mut init = ibv_qp_init_attr {
            send_cq: world.cq,
            recv_cq: world.cq,
            cap: ibv_qp_cap {
                max_send_wr: DEPTH as u32,
                max_recv_wr: DEPTH as u32,
                max_send_sge: 2,
                max_recv_sge: 2,
                max_inline_data: 32,
            },
            qp_type: kind,
            ..ibv_qp_init_attr::zeroed()
        };
        // SAFETY: live objects.
        let qp = unsafe { create_qp(world.pd, &raw mut init) };
        assert!(!qp.is_null());
        // SAFETY: a live QP.
        let number = unsafe { (*qp).qp_num };
        let (sends, receives) = (VecDeque::new(), VecDeque::new());
        Model { qp, number, kind, sends, receives, next: 1 }
    }

    fn destroy(&self, _: &World) {
        // SAFETY: a live QP, for the last time.
        assert_eq!(unsafe { ibv_destroy_qp(self.qp) }, 0);
    }

    fn query(&self) -> ibv_qp_attr {
        let (mut attr, mut init) = (ibv_qp_attr::zeroed(), ibv_qp_init_attr::zeroed());
        // SAFETY: a live QP, and room.
        assert_eq!(unsafe { query_qp(self.qp, &raw mut attr, 0, &raw mut init) }, 0);
        assert_eq!((init.cap.max_send_sge, init.qp_type), (2, self.kind));
        attr
    }

    fn state(&self) -> u32 {
        let state = self.query().qp_state;
        assert!(state <= IBV_QPS_ERR);
        state
    }

    /// Good values for all attributes.
    fn attributes(&self, world: &World, to: u32, other: u32) -> ibv_qp_attr {
        ibv_qp_attr {
            qp_state: to,
            path_mtu: IBV_MTU_1024,
            qkey: 0x1234,
            dest_qp_num: other,
            qp_access_flags: IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
            ah_attr: world.address,
            max_rd_atomic: 1,
            max_dest_rd_atomic: 1,
            min_rnr_timer: 1,
            port_num: 1,
            // 8 microseconds.
            timeout: 1,
            retry_cnt: 1,
            rnr_retry: 1,
            ..ibv_qp_attr::zeroed()
        }
    }

    /// One step towards sending, with what it needs.
    fn advance(&mut self, world: &World, input: &mut Input<'_>, other: u32) {
        let from = self.state();
        let to = match from {
            IBV_QPS_RESET => IBV_QPS_INIT,
            IBV_QPS_INIT => IBV_QPS_RTR,
            IBV_QPS_ERR => IBV_QPS_RESET,
            IBV_QPS_RTS if input.byte() > 250 => IBV_QPS_SQD,
            IBV_QPS_RTS => return,
            _ => IBV_QPS_RTS,
        };
        let attr = self.attributes(world, to, other);
        self.apply(attr, needed(self.kind, from, to) | IBV_QP_STATE, true);
    }

    /// Any move with any attributes.
    fn modify(&mut self, world: &World, input: &mut Input<'_>, other: u32) {
        let from = self.state();
        let to = u32::from(input.byte() % 8);
        let mut attr = self.attributes(world, to, other);
        attr.cur_qp_state = if input.flag() { from } else { u32::from(input.byte() % 8) };
        let flags = input.byte();
        let mut mask = needed(self.kind, from, to);
        if flags & 1 != 0 {
            mask |= optional(self.kind, from, to) & input.word();
        }
        if flags & 2 != 0 {
            // A bit more or less.
            mask ^= 1 << input.below(26);
        }
        if flags & 0xe0 == 0xe0 {
            mask = input.word();
        }
        if flags & 0x1c != 0x1c {
            mask |= IBV_QP_STATE;
        }
        let mut is_good = true;
        if flags & 0xc == 0xc {
            is_good = false;
            let value = input.number();
            match input.byte() % 12 {
                0 => attr.path_mtu = value as u32,
                1 => attr.timeout = value as u8,
                2 => attr.retry_cnt = value as u8,
                3 => attr.rnr_retry = value as u8,
                4 => attr.min_rnr_timer = value as u8,
                5 => attr.max_rd_atomic = value as u8,
                6 => attr.max_dest_rd_atomic = value as u8,
                7 => attr.port_num = value as u8,
                8 => attr.pkey_index = value as u16,
                9 => attr.dest_qp_num = value as u32,
                10 => attr.qp_access_flags = value as u32,
                _ => {
                    attr.ah_attr.is_global = value as u8;
                    attr.ah_attr.port_num = (value >> 8) as u8;
                    attr.ah_attr.grh.sgid_index = (value >> 16) as u8;
                }
            }
        }
        self.apply(attr, mask, is_good);
    }

    /// Modifies, and compares what comes of it with the model.
    fn apply(&mut self, mut attr: ibv_qp_attr, mask: u32, is_good: bool) {
        let before = self.query();
        let from = before.qp_state;
        let to = if mask & IBV_QP_STATE != 0 { attr.qp_state } else { from };
        let (needs, allows) = (needed(self.kind, from, to), optional(self.kind, from, to));
        let is_named = mask & needs == needs && mask & !(needs | allows | IBV_QP_STATE) == 0;
        let is_where = mask & IBV_QP_CUR_STATE == 0 || attr.cur_qp_state == from;
        let may = is_move(from, to) && is_named && is_where;
        // SAFETY: a live QP and attributes.
        let status = unsafe { ibv_modify_qp(self.qp, &raw mut attr, mask.cast_signed()) };
        let after = self.query();
        if status != 0 {
            assert_eq!(status, libc::EINVAL);
            assert!(may_become(self.kind, from, after.qp_state), "{from} {}", after.qp_state);
            if after.qp_state == from {
                let is_refused = !may || !is_good;
                assert!(is_refused, "type {}: {from} to {to} with {mask:#x} is refused", self.kind);
                assert_eq!(bytes(&before), bytes(&after), "a refused move has changed something");
            }
            return;
        }
        assert!(may, "type {}: {from} to {to} with {mask:#x} is not refused", self.kind);
        assert!(may_become(self.kind, to, after.qp_state), "{to} {}", after.qp_state);
        if to == IBV_QPS_RESET {
            self.sends.clear();
            self.receives.clear();
        }
    }

    fn send(&mut self, world: &World, input: &mut Input<'_>, other: u32) {
        let state = self.state();
        let opcode = u32::from(input.byte() % 16);
        if opcode == IBV_WR_BIND_MW {
            return;
        }
        let signaled = input.flag();
        let flags = if signaled { IBV_SEND_SIGNALED } else { 0 };
        let flags = flags | if input.byte() > 200 { IBV_SEND_INLINE } else { 0 };
        let mut list = self.list(world, input);
        if flags & IBV_SEND_INLINE != 0 {
            // Memory that is there.
            list.iter_mut().for_each(|sge| (sge.addr, sge.length) = (world.base, sge.length % 40));
        }
        let count = input.below(4);
        // SAFETY: a live region.
        let rkey = unsafe { (*world.mr).rkey } ^ u32::from(input.byte() > 230);
        let id = self.next;
        let mut wr = ibv_send_wr {
            wr_id: id,
            opcode,
            send_flags: flags,
            sg_list: list.as_mut_ptr(),
            num_sge: count as i32,
            ..ibv_send_wr::zeroed()
        };
        if self.kind == IBV_QPT_UD {
            wr.wr.ud = ibv_send_wr_wr_ud { ah: world.ah, remote_qpn: other, remote_qkey: 0x1234 };
        } else if matches!(opcode, IBV_WR_ATOMIC_CMP_AND_SWP | IBV_WR_ATOMIC_FETCH_AND_ADD) {
            let remote_addr = world.base + u64::from(input.byte());
            wr.wr.atomic = ibv_send_wr_wr_atomic { remote_addr, rkey, compare_add: 1, swap: 2 };
        } else {
            wr.wr.rdma =
                ibv_send_wr_wr_rdma { remote_addr: world.base + input.number() % 5000, rkey };
        }
        let mut bad = ptr::null_mut();
        // SAFETY: a live QP and a valid request.
        let status = unsafe { post_send(self.qp, &raw mut wr, &raw mut bad) };
        if status != 0 {
            assert_eq!(bad, &raw mut wr);
            assert!([libc::EINVAL, libc::ENOMEM].contains(&status));
            assert!(status != libc::ENOMEM || self.sends.len() >= DEPTH, "there is room");
            return;
        }
        assert!(has_opcode(self.kind, opcode), "opcode {opcode} of type {}", self.kind);
        let may = matches!(state, IBV_QPS_RTS | IBV_QPS_SQD | IBV_QPS_SQE | IBV_QPS_ERR);
        assert!(may, "a send is taken in state {state}");
        self.sends.push_back((id, signaled));
        self.next += 1;
    }

    fn receive(&mut self, world: &World, input: &mut Input<'_>) {
        let state = self.state();
        let mut list = self.list(world, input);
        let id = self.next | RECEIVE;
        let count = input.below(4);
        let mut wr = ibv_recv_wr {
            wr_id: id,
            sg_list: list.as_mut_ptr(),
            num_sge: count as i32,
            ..ibv_recv_wr::zeroed()
        };
        let mut bad = ptr::null_mut();
        // SAFETY: a live QP and a valid request.
        let status = unsafe { post_recv(self.qp, &raw mut wr, &raw mut bad) };
        let may = state != IBV_QPS_RESET && count <= 2 && self.receives.len() < DEPTH;
        if status == 0 {
            assert!(state != IBV_QPS_RESET && count <= 2, "a receive is taken in state {state}");
            assert!(self.receives.len() < DEPTH, "a receive too much is taken");
            self.receives.push_back(id);
            self.next += 1;
        } else {
            assert_eq!(bad, &raw mut wr);
            assert!(!may, "a receive is refused in state {state}: {status}");
        }
    }

    /// Three entries, most of them good.
    fn list(&self, world: &World, input: &mut Input<'_>) -> [ibv_sge; 3] {
        [(); 3].map(|()| ibv_sge {
            addr: world.base + u64::from(input.byte()) * 8,
            length: if input.byte() > 240 { input.number() as u32 } else { input.byte().into() },
            // SAFETY: a live region.
            lkey: unsafe { (*world.mr).lkey } ^ u32::from(input.byte() > 240),
        })
    }

    /// A completion of this QP has come.
    fn completed(&mut self, wc: &ibv_wc) {
        if wc.wr_id & RECEIVE != 0 {
            assert_eq!(self.receives.pop_front(), Some(wc.wr_id), "receives complete in order");
            return;
        }
        loop {
            let (id, signaled) = self.sends.pop_front().expect("a request completes once");
            if id == wc.wr_id {
                assert!(signaled || wc.status != IBV_WC_SUCCESS, "it is not signaled");
                return;
            }
            assert!(!signaled, "request {id} has not completed, and {} has", wc.wr_id);
        }
    }

    /// Moves to the error state, where all requests end.
    fn end_in_error(&mut self, world: &World, _: usize, _: &mut [Model]) {
        if self.state() != IBV_QPS_RESET {
            let attr = self.attributes(world, IBV_QPS_ERR, 0);
            self.apply(attr, IBV_QP_STATE, true);
        }
    }

    /// Nothing is left that has to complete.
    fn is_done(&self) {
        assert_eq!(self.receives.len(), 0, "receives are left");
        assert!(!self.sends.iter().any(|(_, signaled)| *signaled), "{:?} is left", self.sends);
    }
}

fn bytes(attr: &ibv_qp_attr) -> &[u8] {
    // SAFETY: plain data, all of which was zero before it got values.
    unsafe { core::slice::from_raw_parts(ptr::from_ref(attr).cast(), size_of::<ibv_qp_attr>()) }
}

/// Takes all completions.
fn poll(world: &World, pair: &mut [Model; 2]) {
    let mut wc = [ibv_wc::zeroed(); 4];
    loop {
        // SAFETY: a live CQ, and room.
        let got = unsafe { poll_cq(world.cq, wc.len() as i32, wc.as_mut_ptr()) };
        assert!((0..=4).contains(&got));
        for wc in &wc[..got as usize] {
            let of = pair.iter_mut().find(|model| model.number == wc.qp_num);
            of.expect("a completion of a QP that there is").completed(wc);
        }
        if got == 0 {
            return;
        }
    }
}
