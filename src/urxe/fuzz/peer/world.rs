//! What all lives share: the peer, which is a process of its own, and the own objects.

use core::ptr;
use core::time::Duration;
use std::sync::Arc;

use crate::abi::*;
use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use crate::sync::atomic::{AtomicU32, AtomicU64};
use crate::urxe::completion::create_cq;
use crate::urxe::device::{Context, Opened};
use crate::urxe::host::{self, Memory, Peer};
use crate::urxe::pair::{create_qp_ex, open_xrcd, post_recv};
use crate::urxe::queue::srq::{create_srq_ex, get_srq_num, post_srq_recv};
use crate::urxe::shared::{ARENA, Header, KEY_TABLE, QP_TABLE, SRQ_TABLE};
use crate::verbs::ah::ibv_create_ah;
use crate::verbs::mr::ibv_reg_mr;
use crate::verbs::pd::ibv_alloc_pd;
use crate::verbs::qp::ibv_modify_qp;

/// Bytes of registered memory on either side.
const BYTES: usize = 1 << 16;
pub(super) const QKEY: u32 = 0x1234;
/// The types of the own QP, and those of the QPs of the peer, in one order.
pub(super) const KINDS: [ibv_qp_type; 4] = [IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND];
/// Bytes of the peer's objects that are put back before each life.
pub(super) const OBJECTS: u64 = 192 << 10;

/// What the peer says of itself, in memory of both.
#[repr(C)]
#[derive(Default)]
pub(super) struct Card {
    slot: AtomicU32,
    pub(super) srq: AtomicU32,
    pub(super) qps: [AtomicU32; 4],
    pub(super) rkey: AtomicU32,
    is_ready: AtomicU32,
    pub(super) address: AtomicU64,
}

/// What all lives share.
pub(super) struct World {
    pub(super) opened: Opened,
    pub(super) pd: *mut ibv_pd,
    pub(super) ah: *mut ibv_ah,
    pub(super) mr: *mut ibv_mr,
    pub(super) base: u64,
    pub(super) address: ibv_ah_attr,
    pub(super) card: &'static Card,
    child: i32,
    pub(super) peer: Arc<Peer>,
    /// Offsets, and the words there, as the peer has made them.
    before: Vec<(u64, Vec<u64>)>,
}

// SAFETY: used by one thread at a time.
unsafe impl Send for World {}

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
pub(super) fn connect(qp: *mut ibv_qp, kind: ibv_qp_type, address: ibv_ah_attr, to: u32) {
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

pub(super) fn init(
    kind: ibv_qp_type,
    pd: *mut ibv_pd,
    cqs: [*mut ibv_cq; 2],
) -> ibv_qp_init_attr_ex {
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
    pub(super) fn new() -> World {
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
    pub(super) fn restore(&self) {
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
