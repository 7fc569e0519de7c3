//! The memory of a peer, and the own one as far as peers write there: any bytes, while this process
//! posts every kind of request to it, receives, polls and destroys.
//!
//! The peer is a child process that makes real objects and then sleeps; this process writes into its
//! slot what a hostile one could. Each life begins with the slot as the peer has made it.
//!
//! Left out is the own key table: who can write there can write to the memory that it names.

use core::ptr;
use core::time::Duration;
use std::sync::Arc;

use super::input::Input;
use crate::abi::*;
use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use crate::sync::atomic::{AtomicU32, AtomicU64};
use crate::sys::mutex::Mutex;
use crate::urxe::completion::{create_cq, destroy_cq, poll_cq, resize_cq};
use crate::urxe::device::{Context, Opened};
use crate::urxe::host::{self, Memory, Peer, Table};
use crate::urxe::pair::{Qp, create_qp_ex, open_xrcd, post_recv, post_send};
use crate::urxe::queue::srq::{create_srq_ex, get_srq_num, post_srq_recv};
use crate::urxe::shared::{
    ARENA, CqShared, Cqe, Header, KEY_TABLE, KeyEntry, QP_TABLE, QpShared, QueueShared, SRQ_TABLE,
};
use crate::verbs::ah::ibv_create_ah;
use crate::verbs::mr::ibv_reg_mr;
use crate::verbs::pd::ibv_alloc_pd;
use crate::verbs::qp::{ibv_destroy_qp, ibv_modify_qp};

/// Steps of one life.
const STEPS: usize = 60;
/// Bytes of registered memory on either side.
const BYTES: usize = 1 << 16;
const QKEY: u32 = 0x1234;
/// The types of the own QP, and those of the QPs of the peer, in one order.
const KINDS: [ibv_qp_type; 4] = [IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND];
/// Bytes of the peer's objects that are put back before each life.
const OBJECTS: u64 = 192 << 10;

/// What the peer says of itself, in memory of both.
#[repr(C)]
#[derive(Default)]
struct Card {
    slot: AtomicU32,
    srq: AtomicU32,
    qps: [AtomicU32; 4],
    rkey: AtomicU32,
    is_ready: AtomicU32,
    address: AtomicU64,
}

/// What all lives share.
struct World {
    opened: Opened,
    pd: *mut ibv_pd,
    ah: *mut ibv_ah,
    mr: *mut ibv_mr,
    base: u64,
    address: ibv_ah_attr,
    card: &'static Card,
    child: i32,
    peer: Arc<Peer>,
    /// Offsets, and the words there, as the peer has made them.
    before: Vec<(u64, Vec<u64>)>,
}

// SAFETY: used by one thread at a time.
unsafe impl Send for World {}

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

fn address(opened: &Opened) -> ibv_ah_attr {
    // SAFETY: a live context.
    let port = unsafe { Context::of(opened.get()) }.port();
    let dgid = port.gid(0).expect("a port has a GID").gid;
    ibv_ah_attr {
        grh: ibv_global_route { dgid, hop_limit: 1, ..ibv_global_route::zeroed() },
        is_global: 1,
        dlid: port.lid(),
        port_num: 1,
        ..ibv_ah_attr::zeroed()
    }
}

/// A region of new memory: the region and its address. `extra` is allowed beside reading and writing.
///
/// # Safety
///
/// `pd` must be live.
unsafe fn region(pd: *mut ibv_pd, extra: u32) -> (*mut ibv_mr, u64) {
    let access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | extra;
    // SAFETY: the caller's promise; the memory stays.
    unsafe {
        let memory = libc::calloc(1, BYTES);
        let mr = ibv_reg_mr(pd, memory, BYTES, access.cast_signed());
        assert!(!mr.is_null());
        (mr, memory.expose_provenance() as u64)
    }
}

/// Moves a QP to RTS, connected with another.
fn connect(qp: *mut ibv_qp, kind: ibv_qp_type, address: ibv_ah_attr, to: u32) {
    let mut attr = ibv_qp_attr {
        path_mtu: IBV_MTU_4096,
        qkey: QKEY,
        dest_qp_num: to,
        qp_access_flags: IBV_ACCESS_REMOTE_WRITE
            | IBV_ACCESS_REMOTE_READ
            | IBV_ACCESS_REMOTE_ATOMIC,
        ah_attr: address,
        max_rd_atomic: 4,
        max_dest_rd_atomic: 4,
        min_rnr_timer: 1,
        port_num: 1,
        timeout: 1,
        ..ibv_qp_attr::zeroed()
    };
    let (ud, responds) = (kind == IBV_QPT_UD, matches!(kind, IBV_QPT_RC | IBV_QPT_XRC_RECV));
    let last = if ud { IBV_QP_QKEY } else { IBV_QP_ACCESS_FLAGS };
    let path = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    let responder = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    let times = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    let rts = match kind {
        IBV_QPT_RC | IBV_QPT_XRC_SEND => times,
        IBV_QPT_XRC_RECV => IBV_QP_TIMEOUT,
        _ => 0,
    };
    let rtr = if ud { 0 } else { path | if responds { responder } else { 0 } };
    for (state, mask) in [
        (IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | last),
        (IBV_QPS_RTR, rtr),
        (IBV_QPS_RTS, rts | IBV_QP_SQ_PSN),
    ] {
        attr.qp_state = state;
        let mask = (mask | IBV_QP_STATE).cast_signed();
        // SAFETY: a live QP.
        assert_eq!(unsafe { ibv_modify_qp(qp, &raw mut attr, mask) }, 0, "to state {state}");
    }
}

fn init(kind: ibv_qp_type, pd: *mut ibv_pd, cqs: [*mut ibv_cq; 2]) -> ibv_qp_init_attr_ex {
    ibv_qp_init_attr_ex {
        send_cq: cqs[0],
        recv_cq: cqs[1],
        cap: ibv_qp_cap {
            max_send_wr: 8,
            max_recv_wr: 8,
            max_send_sge: 4,
            max_recv_sge: 4,
            max_inline_data: 64,
        },
        qp_type: kind,
        comp_mask: IBV_QP_INIT_ATTR_PD,
        pd,
        ..ibv_qp_init_attr_ex::zeroed()
    }
}

/// What the peer does: objects of all kinds, and what waits for a server is answered, with nonsense.
///
/// # Safety
///
/// In a child process alone.
unsafe fn live(opened: &Opened, card: &Card) {
    let context = opened.anew();
    // SAFETY: live objects, and lists that end.
    unsafe {
        let pd = ibv_alloc_pd(context);
        let cq = create_cq(context, 32, ptr::null_mut(), 0);
        let (mr, base) = region(pd, IBV_ACCESS_FLUSH_GLOBAL);
        let mut attr = ibv_xrcd_init_attr {
            comp_mask: IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
            fd: -1,
            oflags: libc::O_CREAT,
        };
        let xrcd = open_xrcd(context, &raw mut attr);
        let mut attr = ibv_srq_init_attr_ex {
            attr: ibv_srq_attr { max_wr: 16, max_sge: 4, srq_limit: 0 },
            comp_mask: IBV_SRQ_INIT_ATTR_TYPE
                | IBV_SRQ_INIT_ATTR_PD
                | IBV_SRQ_INIT_ATTR_XRCD
                | IBV_SRQ_INIT_ATTR_CQ,
            srq_type: IBV_SRQT_XRC,
            pd,
            xrcd,
            cq,
            ..ibv_srq_init_attr_ex::zeroed()
        };
        let srq = create_srq_ex(context, &raw mut attr);
        assert!(!srq.is_null());
        let mut number = 0;
        get_srq_num(srq, &raw mut number);
        card.srq.store(number, Relaxed);
        let mut sge = [ibv_sge { addr: base, length: 3000, lkey: (*mr).lkey }; 2];
        let mut wr = ibv_recv_wr { sg_list: sge.as_mut_ptr(), num_sge: 2, ..ibv_recv_wr::zeroed() };
        let mut bad = ptr::null_mut();
        for (kind, place) in KINDS.into_iter().zip(&card.qps) {
            let kind = if kind == IBV_QPT_XRC_SEND { IBV_QPT_XRC_RECV } else { kind };
            let mut init = init(kind, pd, [cq, cq]);
            if kind == IBV_QPT_XRC_RECV {
                init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
                init.xrcd = xrcd;
            }
            let qp = create_qp_ex(context, &raw mut init);
            assert!(!qp.is_null());
            connect(qp, kind, address(opened), 1 << 14);
            place.store((*qp).qp_num, Relaxed);
            for _ in 0..8 {
                if kind == IBV_QPT_XRC_RECV {
                    assert_eq!(post_srq_recv(srq, &raw mut wr, &raw mut bad), 0);
                } else {
                    assert_eq!(post_recv(qp, &raw mut wr, &raw mut bad), 0);
                }
            }
        }
        card.rkey.store((*mr).rkey, Relaxed);
        card.address.store(base, Relaxed);
        let host = host::host().expect("the peer has a slot");
        card.slot.store(host.slot(), Relaxed);
        card.is_ready.store(1, SeqCst);
        loop {
            std::thread::sleep(Duration::from_millis(1));
            answer(host.memory());
        }
    }
}

/// Answers all mailboxes that look as if something was asked: state, number of the error, result.
fn answer(memory: &Memory) {
    /// `sizeof(Mailbox)`, and where its state, the number of the error and the result are.
    const PLACES: [u64; 4] = [192, 8, 40, 32];
    let [size, state, errno, result] = PLACES;
    let Some(header) = memory.at::<Header>(0) else { return };
    let first = header.mailboxes.load(Relaxed);
    for number in (0..8).filter(|_| first != 0) {
        let at = first.wrapping_add(number * size);
        let word = |offset| memory.at::<AtomicU32>(at.wrapping_add(offset));
        let (Some(state), Some(errno)) = (word(state), word(errno)) else { return };
        let Some(result) = memory.at::<AtomicU64>(at.wrapping_add(result)) else { return };
        if matches!(state.load(SeqCst), 1 | 2) {
            errno.store((result.fetch_add(7, Relaxed) & 15) as u32 % 3 * 7, Relaxed);
            state.store(3, SeqCst);
        }
    }
}

impl World {
    fn new() -> World {
        let opened = Opened::new();
        let both = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, which stays.
        let page = unsafe { libc::mmap(ptr::null_mut(), 4096, both, flags, -1, 0) };
        assert_ne!(page, libc::MAP_FAILED);
        // SAFETY: zeros are a card, and it is never unmapped.
        let card: &'static Card = unsafe { &*page.cast::<Card>() };
        // SAFETY: the child does what is its own, and never returns.
        let child = unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                live(&opened, card);
                libc::_exit(1);
            }
            child
        };
        assert!(child > 0);
        while card.is_ready.load(SeqCst) == 0 {
            // SAFETY: asks for the child's fate.
            assert_eq!(unsafe { libc::waitpid(child, ptr::null_mut(), libc::WNOHANG) }, 0);
            std::thread::sleep(Duration::from_millis(1));
        }
        // SAFETY: a live context, and what is made of it.
        unsafe {
            let pd = ibv_alloc_pd(opened.get());
            let (mr, base) = region(pd, 0);
            let address = address(&opened);
            let ah = ibv_create_ah(pd, &mut address.clone());
            assert!(!ah.is_null());
            let slot = card.slot.load(Relaxed);
            let peer = host::host().expect("a slot").peer(slot).expect("the peer lives");
            let read = |at: u64, length: u64| {
                let words = peer.memory().slice::<AtomicU64>(at, length as usize / 8);
                let words = words.expect("inside").iter().map(|word| word.load(Relaxed));
                (at, words.collect())
            };
            let before = vec![
                read(0, 4096),
                read(QP_TABLE, 512),
                read(SRQ_TABLE, 512),
                read(KEY_TABLE, 4096),
                read(ARENA, OBJECTS),
            ];
            World { opened, pd, ah, mr, base, address, card, child, peer, before }
        }
    }

    /// Makes the slot of the peer as it was.
    fn restore(&self) {
        for (at, words) in &self.before {
            let places = self.peer.memory().slice::<AtomicU64>(*at, words.len()).expect("inside");
            for (place, word) in places.iter().zip(words) {
                if place.load(Relaxed) != *word {
                    place.store(*word, Relaxed);
                }
            }
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: the own child.
        unsafe {
            libc::kill(self.child, libc::SIGKILL);
            libc::waitpid(self.child, ptr::null_mut(), 0);
        }
    }
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
