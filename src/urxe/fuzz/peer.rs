//! The memory of a peer, and the own one as far as peers write there: any bytes, while this process
//! posts every kind of request to it, receives, polls and destroys.
//!
//! The peer is a child process that makes real objects and then sleeps; this process writes into its
//! slot what a hostile one could. Each life begins with the slot as the peer has made it.
//!
//! Left out is the own key table: who can write there can write to the memory that it names.

mod world;

use core::ptr;

use super::input::Input;
use crate::abi::*;
use crate::sync::atomic::Ordering::Relaxed;
use crate::sync::atomic::{AtomicU32, AtomicU64};
use crate::sys::mutex::Mutex;
use crate::urxe::completion::{create_cq, destroy_cq, poll_cq, resize_cq};
use crate::urxe::host::{self, Memory, Table};
use crate::urxe::pair::{Qp, create_qp_ex, post_recv, post_send};
use crate::urxe::shared::{
    ARENA, CqShared, Cqe, Header, KEY_TABLE, KeyEntry, QP_TABLE, QpShared, QueueShared, SRQ_TABLE,
};
use crate::verbs::qp::ibv_destroy_qp;
use world::{KINDS, OBJECTS, QKEY, World, connect, init};

/// Steps of one life.
const STEPS: usize = 60;

static WORLD: Mutex<Option<World>> = Mutex::new(None);

pub(super) fn run(input: &mut Input<'_>) {
    let mut world = WORLD.lock();
    if world.as_ref().is_some_and(|world| !world.peer.is_alive_now()) {
        *world = None;
    }
    let world = world.get_or_insert_with(World::new);
    world.restore();
    let kind = input.below(KINDS.len());
    let mut life = Life::new(world, kind);
    for _ in 0..STEPS {
        if input.is_empty() {
            break;
        }
        match input.byte() % 16 {
            0..=4 => life.damage_peer(input),
            5 | 6 => life.damage_own(input),
            7..=12 => life.send(input),
            13 => life.receive(input),
            14 => life.resize(input),
            _ => life.poll(),
        }
    }
    life.end();
    let _ = world.opened.events();
}

/// The own objects of one life, connected with the QP of the peer that is of their type.
struct Life<'a> {
    world: &'a World,
    kind: ibv_qp_type,
    cq: *mut ibv_cq,
    recv_cq: *mut ibv_cq,
    qp: *mut ibv_qp,
    far: u32,
    next: u64,
}

impl<'a> Life<'a> {
    fn new(world: &'a World, kind: usize) -> Life<'a> {
        let far = world.card.qps[kind].load(Relaxed);
        let kind = KINDS[kind];
        // SAFETY: live objects.
        let (cq, recv_cq, qp) = unsafe {
            let cq = create_cq(world.opened.get(), 16, ptr::null_mut(), 0);
            let recv_cq = create_cq(world.opened.get(), 16, ptr::null_mut(), 0);
            let mut init = init(kind, world.pd, [cq, recv_cq]);
            let qp = create_qp_ex(world.opened.get(), &raw mut init);
            assert!(!cq.is_null() && !recv_cq.is_null() && !qp.is_null());
            (cq, recv_cq, qp)
        };
        connect(qp, kind, world.address, far);
        let life = Life { world, kind, cq, recv_cq, qp, far, next: 0 };
        if let Some(record) = life.far_record() {
            // SAFETY: a live QP.
            record.dest_qp_num.store(unsafe { (*qp).qp_num }, Relaxed);
            record.peer_epoch.store(0, Relaxed);
        }
        life
    }

    fn far_record(&self) -> Option<&QpShared> {
        let memory = self.world.peer.memory();
        memory.at(Table::Qp.find(memory, self.far)?)
    }

    /// Writes a number somewhere into the slot of the peer.
    fn damage_peer(&self, input: &mut Input<'_>) {
        let memory = self.world.peer.memory();
        let record = self.far_record();
        let load = |place: Option<&AtomicU64>| place.map_or(0, |place| place.load(Relaxed));
        let queue = load(record.map(|record| &record.queue));
        let cq = load(record.map(|record| &record.recv_cq));
        let srq = Table::Srq.find(memory, self.world.card.srq.load(Relaxed)).unwrap_or(0);
        let key = u64::from(self.world.card.rkey.load(Relaxed) >> 8);
        let of = |offset: u64, size: usize| (offset, size as u64);
        let (offset, size) = match input.byte() % 12 {
            0 => of(0, size_of::<Header>()),
            1 => of(QP_TABLE + u64::from(self.far & 0x3fff) * 8, 8),
            2 => of(SRQ_TABLE + u64::from(self.world.card.srq.load(Relaxed) & 0x3fff) * 8, 8),
            3 | 4 => of(Table::Qp.find(memory, self.far).unwrap_or(0), size_of::<QpShared>()),
            5 => of(queue, size_of::<QueueShared>()),
            6 => of(srq, size_of::<QueueShared>()),
            7 => of(cq, size_of::<CqShared>()),
            8 => of(KEY_TABLE + key * 64, size_of::<KeyEntry>()),
            9 => {
                let ring = memory.at::<CqShared>(cq).map(|cq| &cq.ring);
                of(load(ring), 32 * size_of::<Cqe>())
            }
            10 => {
                let slots = memory.at::<QueueShared>(queue).map(|queue| &queue.slots);
                of(load(slots), 512)
            }
            _ => of(ARENA, OBJECTS as usize),
        };
        write_number(memory, offset, size, input);
    }

    /// Writes a number into the own record of the QP, its queue, or a completion queue.
    fn damage_own(&self, input: &mut Input<'_>) {
        let host = host::host().expect("a slot");
        let memory = host.memory();
        // SAFETY: a live QP.
        let offset = unsafe { Qp::of(self.qp) }.record;
        let Some(record) = memory.at::<QpShared>(offset) else { return };
        let (queue, cq) = (record.queue.load(Relaxed), record.recv_cq.load(Relaxed));
        let (offset, size) = match input.byte() % 4 {
            0 => (offset, size_of::<QpShared>()),
            1 => (queue, size_of::<QueueShared>()),
            2 => (cq, size_of::<CqShared>()),
            _ => {
                let ring = memory.at::<CqShared>(cq).map_or(0, |cq| cq.ring.load(Relaxed));
                (ring, 16 * size_of::<Cqe>())
            }
        };
        // Offsets that were damaged before may be anywhere, also where the keys are.
        if offset >= ARENA {
            write_number(memory, offset, size as u64, input);
        }
    }

    fn send(&mut self, input: &mut Input<'_>) {
        let opcode = u32::from(input.byte() % 16);
        if opcode == IBV_WR_BIND_MW {
            return;
        }
        let far = self.world.card.address.load(Relaxed);
        let rkey = self.world.card.rkey.load(Relaxed);
        // SAFETY: a live region.
        let lkey = unsafe { (*self.world.mr).lkey };
        let mut list = [(); 3].map(|()| ibv_sge {
            addr: self.world.base + u64::from(input.byte()) * 16,
            length: if input.byte() > 200 { u32::from(input.byte()) * 64 } else { 8 },
            lkey,
        });
        let inline = if input.byte() > 220 { IBV_SEND_INLINE } else { 0 };
        let mut count = input.below(4);
        let is_atomic = matches!(opcode, IBV_WR_ATOMIC_CMP_AND_SWP | IBV_WR_ATOMIC_FETCH_AND_ADD);
        if is_atomic {
            count = 1;
            list[0].length = 8;
        }
        let remote_addr = far + u64::from(input.byte()) * 8;
        let mut wr = ibv_send_wr {
            wr_id: self.next,
            opcode,
            send_flags: IBV_SEND_SIGNALED | inline,
            sg_list: list.as_mut_ptr(),
            num_sge: count as i32,
            ..ibv_send_wr::zeroed()
        };
        wr.qp_type.xrc.remote_srqn = self.world.card.srq.load(Relaxed);
        if self.kind == IBV_QPT_UD {
            let all = input.byte() > 230;
            let remote_qpn = if all { 0xff_ffff } else { self.far };
            wr.wr.ud = ibv_send_wr_wr_ud { ah: self.world.ah, remote_qpn, remote_qkey: QKEY };
        } else if is_atomic {
            wr.wr.atomic = ibv_send_wr_wr_atomic { remote_addr, rkey, compare_add: 0, swap: 1 };
        } else {
            wr.wr.rdma = ibv_send_wr_wr_rdma { remote_addr, rkey };
        }
        self.next += 1;
        let mut bad = ptr::null_mut();
        // SAFETY: a live QP and a valid request.
        let status = unsafe { post_send(self.qp, &raw mut wr, &raw mut bad) };
        assert!([0, libc::EINVAL, libc::ENOMEM].contains(&status), "{status}");
    }

    fn receive(&self, input: &mut Input<'_>) {
        // SAFETY: a live region.
        let lkey = unsafe { (*self.world.mr).lkey };
        let length = u32::from(input.byte()) * 16;
        let mut list = ibv_sge { addr: self.world.base, length, lkey };
        let mut wr = ibv_recv_wr { sg_list: &raw mut list, num_sge: 1, ..ibv_recv_wr::zeroed() };
        let mut bad = ptr::null_mut();
        // SAFETY: a live QP and a valid request.
        let status = unsafe { post_recv(self.qp, &raw mut wr, &raw mut bad) };
        assert!([0, libc::EINVAL, libc::EIO, libc::ENOMEM].contains(&status), "{status}");
    }

    fn resize(&self, input: &mut Input<'_>) {
        let entries = i32::from(input.byte());
        // SAFETY: a live CQ.
        let status = unsafe { resize_cq(self.recv_cq, entries) };
        assert!([0, libc::EINVAL, libc::EIO, libc::ENOMEM].contains(&status), "{status}");
    }

    fn poll(&self) {
        let mut wc = [ibv_wc::zeroed(); 8];
        for cq in [self.cq, self.recv_cq] {
            // SAFETY: a live CQ, and room.
            let got = unsafe { poll_cq(cq, wc.len() as i32, wc.as_mut_ptr()) };
            assert!((0..=8).contains(&got));
        }
    }

    fn end(&self) {
        self.poll();
        // SAFETY: live objects, for the last time.
        unsafe {
            assert_eq!(ibv_destroy_qp(self.qp), 0);
            assert_eq!(destroy_cq(self.cq), 0);
            assert_eq!(destroy_cq(self.recv_cq), 0);
        }
    }
}

/// Writes a number of 4 or 8 bytes into a part of a slot. Locks are left out, whose holder it would
/// name: who lives and holds a lock is waited for.
fn write_number(memory: &Memory, offset: u64, size: u64, input: &mut Input<'_>) {
    let at = u64::from(input.word() & 0xffff) % size.max(1);
    let (at, value) = (offset.wrapping_add(at), input.number());
    if input.flag() {
        if let Some(word) = memory.at::<AtomicU32>(at & !3) {
            word.store(value as u32, Relaxed);
        }
    } else if let Some(word) = memory.at::<AtomicU64>(at & !7) {
        word.store(value, Relaxed);
    }
}
