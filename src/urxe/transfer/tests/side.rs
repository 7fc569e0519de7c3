//! One end of a connection in a test, and the other end, which may be in another process.

use core::cell::{Cell, RefCell};
use core::ptr;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::abi::*;
use crate::sys::errno::Errno;
use crate::urxe::completion::poll_cq;
use crate::urxe::device::{Context, Opened};
use crate::urxe::pair::{Qp, close_xrcd, create_qp_ex, open_xrcd, post_recv, post_send};
use crate::urxe::queue::srq::{create_srq_ex, destroy_srq, get_srq_num, modify_srq, post_srq_recv};
use crate::urxe::region::{alloc_buf, free_buf, rereg_mr};
use crate::verbs::ah::{ibv_create_ah, ibv_destroy_ah};
use crate::verbs::comp_cntr::{
    ibv_create_comp_cntr, ibv_destroy_comp_cntr, ibv_qp_attach_comp_cntr, ibv_read_comp_cntr,
    ibv_read_err_comp_cntr,
};
use crate::verbs::cq::{ibv_create_cq, ibv_destroy_cq};
use crate::verbs::mr::{ibv_dereg_mr, ibv_reg_mr};
use crate::verbs::pd::{ibv_alloc_pd, ibv_dealloc_pd};
use crate::verbs::qp::{ibv_destroy_qp, ibv_modify_qp};

/// Length of the registered memory of a side.
pub(super) const LENGTH: usize = (16 << 20) + (1 << 16);
pub(super) const QKEY: u32 = 0x1234_5678;
/// All that a region can allow.
pub(super) const ALL: u32 = IBV_ACCESS_LOCAL_WRITE
    | IBV_ACCESS_REMOTE_WRITE
    | IBV_ACCESS_REMOTE_READ
    | IBV_ACCESS_REMOTE_ATOMIC
    | IBV_ACCESS_MW_BIND
    | IBV_ACCESS_FLUSH_GLOBAL;

/// What a side tells the other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Card {
    pub(super) qp_num: u32,
    pub(super) rkey: u32,
    pub(super) address: u64,
    pub(super) srq_num: u32,
}

/// One end of a connection. All that it is made of goes with it.
pub(super) struct Side {
    pub(super) opened: Opened,
    pub(super) pd: *mut ibv_pd,
    pub(super) cq: *mut ibv_cq,
    pub(super) recv_cq: *mut ibv_cq,
    pub(super) qp: *mut ibv_qp,
    pub(super) srq: *mut ibv_srq,
    pub(super) mr: *mut ibv_mr,
    pub(super) base: *mut u8,
    buf: *mut ibv_buf,
    pub(super) kind: ibv_qp_type,
    /// By the operations that they count.
    pub(super) counters: Vec<*mut ibv_comp_cntr>,
    xrcd: *mut ibv_xrcd,
    /// The test has destroyed the QP.
    without_qp: Cell<bool>,
    /// The keys of the region, if it is gone already.
    old_keys: Cell<Option<(u32, u32)>>,
    /// Frees what a test has made beside.
    others: RefCell<Vec<Box<dyn FnOnce()>>>,
}

/// How a side is made.
#[derive(Clone, Copy)]
pub(super) struct Options {
    pub(super) kind: ibv_qp_type,
    pub(super) qp_access: u32,
    pub(super) mr_access: u32,
    pub(super) rnr_retry: u8,
    pub(super) retry_cnt: u8,
    /// As coded in `ibv_qp_attr`: 10 is about 4 ms.
    pub(super) timeout: u8,
    pub(super) recv_cqe: i32,
    /// Receives come from an SRQ with a limit of 2.
    pub(super) srq: bool,
    /// Type of the completion counters of the QP, and which operations they count.
    pub(super) counted: (u32, u32),
    /// Reads and atomics that may be under way.
    pub(super) reads: u8,
    /// The memory is that of `ibv_alloc_buf(3)`.
    pub(super) buf: bool,
}

impl Options {
    pub(super) fn new(kind: ibv_qp_type) -> Options {
        let (qp_access, mr_access) = (ALL & !IBV_ACCESS_MW_BIND, ALL);
        let (rnr_retry, retry_cnt, timeout, recv_cqe) = (7, 7, 10, 64);
        let srq = kind == IBV_QPT_XRC_RECV;
        let counted = (IBV_COMP_CNTR_TYPE_WRS, 0);
        Options {
            kind,
            qp_access,
            mr_access,
            rnr_retry,
            retry_cnt,
            timeout,
            recv_cqe,
            srq,
            counted,
            reads: 8,
            buf: false,
        }
    }

    fn encode(self) -> Vec<u64> {
        vec![
            self.kind.into(),
            self.qp_access.into(),
            self.mr_access.into(),
            self.rnr_retry.into(),
            self.retry_cnt.into(),
            self.recv_cqe as u64,
            self.timeout.into(),
            self.srq.into(),
            self.counted.0.into(),
            self.counted.1.into(),
            self.reads.into(),
            self.buf.into(),
        ]
    }

    fn decode(words: &[u64]) -> Options {
        Options {
            kind: words[0] as u32,
            qp_access: words[1] as u32,
            mr_access: words[2] as u32,
            rnr_retry: words[3] as u8,
            retry_cnt: words[4] as u8,
            recv_cqe: words[5] as i32,
            timeout: words[6] as u8,
            srq: words[7] != 0,
            counted: (words[8] as u32, words[9] as u32),
            reads: words[10] as u8,
            buf: words[11] != 0,
        }
    }
}

/// Bytes after which a pattern comes again: a prime number, so that no piece is like another.
const PERIOD: usize = 4093;

/// The pieces of a pattern from its begin on, each as long as it is cheap to copy or compare.
fn pieces(seed: u64, length: usize) -> impl Iterator<Item = (usize, &'static [u8])> {
    static TABLE: OnceLock<Vec<u8>> = OnceLock::new();
    let table = TABLE.get_or_init(|| (0..PERIOD).map(|at| (at * 7 + (at >> 5)) as u8).collect());
    let mut at = 0;
    core::iter::from_fn(move || {
        let begin = (seed as usize * 31 + at) % PERIOD;
        let piece = &table[begin..PERIOD.min(begin + length - at)];
        let place = at;
        at += piece.len();
        (!piece.is_empty()).then_some((place, piece))
    })
}

impl Side {
    pub(super) fn new(options: Options) -> Side {
        let opened = Opened::new();
        // SAFETY: a live context, and what is made of it.
        unsafe {
            let pd = ibv_alloc_pd(opened.get());
            let cq = ibv_create_cq(opened.get(), 64, ptr::null_mut(), ptr::null_mut(), 0);
            let recv_cq =
                ibv_create_cq(opened.get(), options.recv_cqe, ptr::null_mut(), ptr::null_mut(), 0);
            let cap = ibv_qp_cap {
                max_send_wr: 16,
                max_recv_wr: 16,
                max_send_sge: 8,
                max_recv_sge: 8,
                max_inline_data: 256,
            };
            let xrcd = xrcd(&opened, options.kind);
            let srq = if options.srq { srq(&opened, pd, xrcd, recv_cq) } else { ptr::null_mut() };
            let mut init = ibv_qp_init_attr_ex {
                send_cq: cq,
                recv_cq,
                srq: if xrcd.is_null() { srq } else { ptr::null_mut() },
                cap,
                qp_type: options.kind,
                comp_mask: if xrcd.is_null() { IBV_QP_INIT_ATTR_PD } else { IBV_QP_INIT_ATTR_XRCD },
                pd,
                xrcd,
                ..ibv_qp_init_attr_ex::zeroed()
            };
            let qp = create_qp_ex(opened.get(), &raw mut init);
            let mut buf = ptr::null_mut();
            let base = if options.buf {
                alloc_buf(pd, LENGTH, &raw mut buf).cast()
            } else {
                Box::leak(vec![0_u64; LENGTH / 8].into_boxed_slice()).as_mut_ptr()
            };
            let mr = ibv_reg_mr(pd, base.cast(), LENGTH, options.mr_access.cast_signed());
            for object in [pd.cast::<u8>(), cq.cast(), recv_cq.cast(), qp.cast(), mr.cast()] {
                assert!(!object.is_null(), "{:?}", Errno::last());
            }
            let (base, kind) = (base.cast(), options.kind);
            let counters = counters(&opened, qp, options.counted);
            let (without_qp, others) = (Cell::new(false), RefCell::default());
            Side {
                opened,
                pd,
                cq,
                recv_cq,
                qp,
                srq,
                mr,
                base,
                buf,
                kind,
                counters,
                xrcd,
                without_qp,
                old_keys: Cell::new(None),
                others,
            }
        }
    }

    /// Destroys the QP, which is not used any more; what `ibv_destroy_qp(3)` returns.
    pub(super) fn destroy_qp(&self) -> i32 {
        // SAFETY: a live QP.
        let status = unsafe { ibv_destroy_qp(self.qp) };
        self.without_qp.set(status == 0);
        status
    }

    /// Deregisters the region, whose key is of no use any more.
    pub(super) fn deregister(&self) {
        self.old_keys.set(Some(self.keys()));
        // SAFETY: a live region.
        assert_eq!(unsafe { ibv_dereg_mr(self.mr) }, 0);
    }

    /// Changes the QP: to a state that needs nothing, or with the mask of its access what peers may do.
    pub(super) fn modify(&self, mask: u32, value: u32) {
        let mut attr =
            ibv_qp_attr { qp_state: value, qp_access_flags: value, ..ibv_qp_attr::zeroed() };
        // SAFETY: a live QP.
        assert_eq!(unsafe { ibv_modify_qp(self.qp, &raw mut attr, mask.cast_signed()) }, 0);
    }

    /// Does something when this goes, before anything else of it goes.
    pub(super) fn in_the_end(&self, free: impl FnOnce() + 'static) {
        self.others.borrow_mut().push(Box::new(free));
    }

    pub(super) fn card(&self) -> Card {
        // SAFETY: a live QP.
        let (qp_num, (_, rkey)) = (unsafe { (*self.qp).qp_num }, self.keys());
        let mut srq_num = 0;
        if !self.srq.is_null() {
            // SAFETY: a live SRQ, and room. One that is not of XRC has no number to tell.
            unsafe { get_srq_num(self.srq, &raw mut srq_num) };
        }
        Card { qp_num, rkey, address: self.base.addr() as u64, srq_num }
    }

    /// Changes what the region may be used for; its keys stay the same.
    pub(super) fn change_access(&self, access: u32) {
        let change = IBV_REREG_MR_CHANGE_ACCESS.cast_signed();
        // SAFETY: a live region, which nobody uses just now.
        unsafe {
            let before = ((*self.mr).lkey, (*self.mr).rkey);
            let status = rereg_mr(
                self.mr.cast(),
                change,
                ptr::null_mut(),
                ptr::null_mut(),
                0,
                access.cast_signed(),
            );
            assert_eq!((status, ((*self.mr).lkey, (*self.mr).rkey)), (0, before));
        }
    }

    /// `lkey` and `rkey` of the region, or what they were.
    fn keys(&self) -> (u32, u32) {
        // SAFETY: a live region, if it was not deregistered.
        self.old_keys.get().unwrap_or_else(|| unsafe { ((*self.mr).lkey, (*self.mr).rkey) })
    }

    pub(super) fn lkey(&self) -> u32 {
        self.keys().0
    }

    pub(super) fn address(&self) -> ibv_ah_attr {
        // SAFETY: a live context.
        let port = unsafe { Context::of(self.opened.get()) }.port();
        let dgid = port.gid(0).unwrap().gid;
        ibv_ah_attr {
            grh: ibv_global_route { dgid, hop_limit: 1, ..ibv_global_route::zeroed() },
            is_global: 1,
            dlid: port.lid(),
            port_num: 1,
            sl: 3,
            ..ibv_ah_attr::zeroed()
        }
    }

    pub(super) fn ah(&self) -> *mut ibv_ah {
        self.ah_of(self.address())
    }

    /// An address handle, which goes with this.
    pub(super) fn ah_of(&self, mut address: ibv_ah_attr) -> *mut ibv_ah {
        // SAFETY: a live PD.
        let ah = unsafe { ibv_create_ah(self.pd, &raw mut address) };
        assert!(!ah.is_null());
        // SAFETY: it is live until then.
        self.in_the_end(move || assert_eq!(unsafe { ibv_destroy_ah(ah) }, 0));
        ah
    }

    /// Moves the QP to RTS, connected with another.
    pub(super) fn connect(&self, to: u32, options: Options) {
        self.move_to(IBV_QPS_INIT, to, options);
        self.move_to(IBV_QPS_RTR, to, options);
        self.move_to(IBV_QPS_RTS, to, options);
    }

    pub(super) fn move_to(&self, state: ibv_qp_state, to: u32, options: Options) {
        let mut attr = ibv_qp_attr {
            qp_state: state,
            path_mtu: IBV_MTU_1024,
            qkey: QKEY,
            dest_qp_num: to,
            qp_access_flags: options.qp_access,
            ah_attr: self.address(),
            max_rd_atomic: options.reads,
            max_dest_rd_atomic: options.reads,
            // 0.01 ms.
            min_rnr_timer: 1,
            port_num: 1,
            timeout: options.timeout,
            retry_cnt: options.retry_cnt,
            rnr_retry: options.rnr_retry,
            ..ibv_qp_attr::zeroed()
        };
        let kind = self.kind;
        let responds = matches!(kind, IBV_QPT_RC | IBV_QPT_XRC_RECV);
        let mask = match state {
            IBV_QPS_INIT => {
                let last = if kind == IBV_QPT_UD { IBV_QP_QKEY } else { IBV_QP_ACCESS_FLAGS };
                IBV_QP_PKEY_INDEX | IBV_QP_PORT | last
            }
            IBV_QPS_RTR if kind == IBV_QPT_UD => 0,
            IBV_QPS_RTR => {
                let path = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
                let more = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
                if responds { path | more } else { path }
            }
            IBV_QPS_RTS if matches!(kind, IBV_QPT_RC | IBV_QPT_XRC_SEND) => {
                IBV_QP_TIMEOUT
                    | IBV_QP_RETRY_CNT
                    | IBV_QP_RNR_RETRY
                    | IBV_QP_SQ_PSN
                    | IBV_QP_MAX_QP_RD_ATOMIC
            }
            IBV_QPS_RTS if kind == IBV_QPT_XRC_RECV => IBV_QP_TIMEOUT | IBV_QP_SQ_PSN,
            IBV_QPS_RTS => IBV_QP_SQ_PSN,
            _ => 0,
        };
        let mask = (mask | IBV_QP_STATE).cast_signed();
        // SAFETY: a live QP.
        let status = unsafe { ibv_modify_qp(self.qp, &raw mut attr, mask) };
        assert_eq!(status, 0, "to state {state}");
    }

    /// Entries for parts of the registered memory: offsets and lengths.
    pub(super) fn list(&self, parts: &[(usize, usize)]) -> Vec<ibv_sge> {
        let sge = |&(offset, length): &(usize, usize)| ibv_sge {
            addr: (self.base.addr() + offset) as u64,
            length: length as u32,
            lkey: self.lkey(),
        };
        parts.iter().map(sge).collect()
    }

    pub(super) fn receive(&self, wr_id: u64, list: &mut [ibv_sge]) -> i32 {
        let mut wr = ibv_recv_wr {
            wr_id,
            sg_list: list.as_mut_ptr(),
            num_sge: list.len() as i32,
            ..ibv_recv_wr::zeroed()
        };
        let mut bad = ptr::null_mut();
        // SAFETY: a live QP or SRQ, and a valid request.
        unsafe {
            if self.srq.is_null() {
                post_recv(self.qp, &raw mut wr, &raw mut bad)
            } else {
                post_srq_recv(self.srq, &raw mut wr, &raw mut bad)
            }
        }
    }

    /// Posts a signaled request.
    pub(super) fn send(&self, mut wr: ibv_send_wr, list: &mut [ibv_sge]) {
        wr.send_flags |= IBV_SEND_SIGNALED;
        wr.sg_list = list.as_mut_ptr();
        wr.num_sge = list.len() as i32;
        self.post(wr);
    }

    /// Posts a request.
    pub(super) fn post(&self, mut wr: ibv_send_wr) {
        let mut bad = ptr::null_mut();
        // SAFETY: a live QP and a valid request.
        let status = unsafe { post_send(self.qp, &raw mut wr, &raw mut bad) };
        assert_eq!(status, 0);
    }

    /// The next completion, or none.
    pub(super) fn poll(&self, cq: *mut ibv_cq) -> Option<ibv_wc> {
        let mut wc = ibv_wc::zeroed();
        // SAFETY: a live CQ, and room.
        match unsafe { poll_cq(cq, 1, &raw mut wc) } {
            0 => None,
            1 => Some(wc),
            error => panic!("{error}"),
        }
    }

    /// The completion of the request that was posted.
    #[track_caller]
    pub(super) fn sent(&self) -> ibv_wc {
        let begin = Instant::now();
        loop {
            if let Some(wc) = self.poll(self.cq) {
                return wc;
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "no completion");
            std::thread::yield_now();
        }
    }

    /// Fills a part with a pattern.
    pub(super) fn fill_part(&self, offset: usize, length: usize, seed: u64) {
        for (at, piece) in pieces(seed, length) {
            // SAFETY: inside the memory.
            unsafe { self.base.add(offset + at).copy_from(piece.as_ptr(), piece.len()) };
        }
    }

    /// First byte of a part that is not as the pattern says.
    pub(super) fn wrong(&self, offset: usize, length: usize, seed: u64) -> Option<usize> {
        pieces(seed, length).find_map(|(at, piece)| {
            // SAFETY: inside the memory.
            let bytes =
                unsafe { core::slice::from_raw_parts(self.base.add(offset + at), piece.len()) };
            if bytes == piece {
                return None;
            }
            bytes.iter().zip(piece).position(|(byte, wanted)| byte != wanted).map(|more| at + more)
        })
    }

    pub(super) fn word(&self, offset: usize) -> u64 {
        // SAFETY: an aligned word inside the memory.
        unsafe { self.base.add(offset).cast::<u64>().read_volatile() }
    }

    pub(super) fn set_word(&self, offset: usize, value: u64) {
        // SAFETY: as above.
        unsafe { self.base.add(offset).cast::<u64>().write_volatile(value) }
    }

    pub(super) fn state(&self) -> u32 {
        // SAFETY: a live QP.
        unsafe { Qp::of(self.qp) }.state()
    }

    /// Types of the asynchronous events that have come.
    pub(super) fn events(&self) -> Vec<u64> {
        self.opened.events().into_iter().map(u64::from).collect()
    }

    /// What has been completed and what has failed, by operation.
    pub(super) fn counts(&self) -> Vec<u64> {
        let read = |&counter: &*mut ibv_comp_cntr| {
            let (mut completed, mut failed) = (0, 0);
            if !counter.is_null() {
                // SAFETY: a live counter, and room.
                unsafe {
                    assert_eq!(ibv_read_comp_cntr(counter, &raw mut completed), 0);
                    assert_eq!(ibv_read_err_comp_cntr(counter, &raw mut failed), 0);
                }
            }
            [completed, failed]
        };
        self.counters.iter().flat_map(read).collect()
    }

    /// Sends and writes as fast as it can, until the process is killed or the connection ends.
    fn hammer(&self, rkey: u32, remote_addr: u64) -> Vec<u64> {
        for number in 0_u64.. {
            let opcode = match number % 3 {
                0 => IBV_WR_SEND,
                1 => IBV_WR_RDMA_WRITE,
                _ => IBV_WR_RDMA_WRITE_WITH_IMM,
            };
            let mut wr = ibv_send_wr { wr_id: number, opcode, ..ibv_send_wr::zeroed() };
            wr.wr.rdma = ibv_send_wr_wr_rdma { remote_addr, rkey };
            let length = [8, 64, 500, 20_000][number as usize % 4];
            self.send(wr, &mut self.list(&[(0, length)]));
            if self.sent().status != IBV_WC_SUCCESS {
                break;
            }
        }
        vec![]
    }

    /// Does what the other end asks for.
    fn obey(&self, options: Options, order: &[u64]) -> Vec<u64> {
        let at = |index: usize| order[index] as usize;
        match order[0] {
            CARD => {
                let card = self.card();
                vec![card.qp_num.into(), card.rkey.into(), card.address, card.srq_num.into()]
            }
            CONNECT => {
                self.connect(order[1] as u32, options);
                vec![]
            }
            RECEIVE => {
                let parts: Vec<_> =
                    order[2..].chunks(2).map(|part| (part[0] as usize, part[1] as usize)).collect();
                vec![self.receive(order[1], &mut self.list(&parts)) as u64]
            }
            POLL => self.poll(self.recv_cq).map_or(vec![], |wc| {
                vec![
                    wc.wr_id,
                    wc.status.into(),
                    wc.opcode.into(),
                    wc.byte_len.into(),
                    // SAFETY: 32 bits in each form.
                    unsafe { wc.imm.imm_data }.into(),
                    wc.qp_num.into(),
                    wc.src_qp.into(),
                    wc.wc_flags.into(),
                    wc.sl.into(),
                ]
            }),
            FILL => {
                self.fill_part(at(1), at(2), order[3]);
                vec![]
            }
            WRONG => self.wrong(at(1), at(2), order[3]).map_or(vec![], |at| vec![at as u64]),
            WORD => vec![self.word(at(1))],
            SUM => vec![(0..at(2) / 8).fold(0, |sum: u64, word| {
                (sum ^ self.word(at(1) + word * 8)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            })],
            SET_WORD => {
                self.set_word(at(1), order[2]);
                vec![]
            }
            STATE => vec![self.state().into()],
            EVENTS => self.events(),
            COUNTS => self.counts(),
            THREADS => vec![threads() - THREADS_BEFORE.get().expect("in another process")],
            DEREGISTER => {
                self.deregister();
                vec![]
            }
            MODIFY => {
                self.modify(order[1] as u32, order[2] as u32);
                vec![]
            }
            ACCESS => {
                self.change_access(order[1] as u32);
                vec![]
            }
            HAMMER => self.hammer(order[1] as u32, order[2]),
            order => panic!("{order}"),
        }
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.others.take().into_iter().for_each(|free| free());
        // SAFETY: live objects, for the last time, those first that use others.
        unsafe {
            assert!(self.without_qp.get() || ibv_destroy_qp(self.qp) == 0);
            for counter in self.counters.iter().filter(|counter| !counter.is_null()) {
                assert_eq!(ibv_destroy_comp_cntr(*counter), 0);
            }
            assert!(self.srq.is_null() || destroy_srq(self.srq) == 0);
            assert!(self.old_keys.get().is_some() || ibv_dereg_mr(self.mr) == 0);
            assert_eq!(ibv_destroy_cq(self.cq), 0);
            assert_eq!(ibv_destroy_cq(self.recv_cq), 0);
            assert!(self.xrcd.is_null() || close_xrcd(self.xrcd) == 0);
            if self.buf.is_null() {
                let memory = ptr::slice_from_raw_parts_mut(self.base.cast::<u64>(), LENGTH / 8);
                drop(Box::from_raw(memory));
            } else {
                free_buf(self.buf);
            }
            assert_eq!(ibv_dealloc_pd(self.pd), 0);
        }
    }
}

/// Threads of this process.
fn threads() -> u64 {
    std::fs::read_dir("/proc/self/task").unwrap().count() as u64
}

/// How many there were before it had a device: threads have their names only when they run.
static THREADS_BEFORE: OnceLock<u64> = OnceLock::new();

/// The XRC domain of this test binary, for types that need one.
unsafe fn xrcd(opened: &Opened, kind: ibv_qp_type) -> *mut ibv_xrcd {
    if kind != IBV_QPT_XRC_RECV {
        return ptr::null_mut();
    }
    let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
    let mut attr = ibv_xrcd_init_attr {
        comp_mask: IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
        fd: file.as_raw_fd(),
        oflags: libc::O_CREAT,
    };
    // SAFETY: a live context.
    let xrcd = unsafe { open_xrcd(opened.get(), &raw mut attr) };
    assert!(!xrcd.is_null());
    xrcd
}

/// A counter of a type for each of some operations of a QP; NULL for others.
unsafe fn counters(
    opened: &Opened,
    qp: *mut ibv_qp,
    (kind, operations): (u32, u32),
) -> Vec<*mut ibv_comp_cntr> {
    (0..6)
        .map(|bit| {
            if operations >> bit & 1 == 0 {
                return ptr::null_mut();
            }
            let mut attr = ibv_comp_cntr_init_attr { comp_mask: 0, type_: kind, flags: 0 };
            let mut what = ibv_qp_attach_comp_cntr_attr { comp_mask: 0, op_mask: 1 << bit };
            // SAFETY: a live context and a live QP.
            unsafe {
                let counter = ibv_create_comp_cntr(opened.get(), &raw mut attr);
                assert!(!counter.is_null());
                assert_eq!(ibv_qp_attach_comp_cntr(qp, counter, &raw mut what), 0);
                counter
            }
        })
        .collect()
}

/// An SRQ, of XRC in a domain.
unsafe fn srq(
    opened: &Opened,
    pd: *mut ibv_pd,
    xrcd: *mut ibv_xrcd,
    cq: *mut ibv_cq,
) -> *mut ibv_srq {
    let xrc = IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
    let is_xrc = !xrcd.is_null();
    let mut attr = ibv_srq_init_attr_ex {
        attr: ibv_srq_attr { max_wr: 16, max_sge: 8, srq_limit: 0 },
        comp_mask: IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | if is_xrc { xrc } else { 0 },
        srq_type: if is_xrc { IBV_SRQT_XRC } else { IBV_SRQT_BASIC },
        pd,
        xrcd,
        cq,
        ..ibv_srq_init_attr_ex::zeroed()
    };
    // SAFETY: live objects.
    let srq = unsafe { create_srq_ex(opened.get(), &raw mut attr) };
    assert!(!srq.is_null());
    let mut attr = ibv_srq_attr { max_wr: 0, max_sge: 0, srq_limit: 2 };
    // SAFETY: a live SRQ.
    assert_eq!(unsafe { modify_srq(srq, &raw mut attr, IBV_SRQ_LIMIT.cast_signed()) }, 0);
    srq
}

pub(super) const CARD: u64 = 1;
pub(super) const CONNECT: u64 = 2;
pub(super) const RECEIVE: u64 = 3;
pub(super) const POLL: u64 = 4;
pub(super) const FILL: u64 = 5;
pub(super) const WRONG: u64 = 6;
pub(super) const WORD: u64 = 7;
pub(super) const SET_WORD: u64 = 8;
pub(super) const STATE: u64 = 9;
pub(super) const EVENTS: u64 = 10;
pub(super) const HAMMER: u64 = 11;
pub(super) const COUNTS: u64 = 12;
pub(super) const THREADS: u64 = 13;
pub(super) const DEREGISTER: u64 = 14;
pub(super) const MODIFY: u64 = 15;
pub(super) const ACCESS: u64 = 16;
pub(super) const SUM: u64 = 17;

/// The other end of a connection.
pub(super) enum Far {
    Here(Side, Options),
    There(UnixStream, Child),
}

/// Where the other end is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Where {
    /// In the same process.
    Here,
    /// In another one.
    There,
    /// In another one that forbids its peers to reach its memory.
    Closed,
}

/// Name of the variable with the descriptor of a process that is the other end.
const LINK: &str = "URXE_TEST_LINK";

impl Far {
    pub(super) fn new(place: Where, options: Options) -> Far {
        if place == Where::Here {
            return Far::Here(Side::new(options), options);
        }
        let (mut near, far) = UnixStream::pair().unwrap();
        // SAFETY: clears close-on-exec of a descriptor of ours.
        unsafe { libc::fcntl(far.as_raw_fd(), libc::F_SETFD, 0) };
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "urxe::transfer::tests::side::the_other_process", "--nocapture"])
            .env(LINK, far.as_raw_fd().to_string());
        if place == Where::Closed {
            command.env("URXE_NO_ACCESS", "1");
        }
        let child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
        write(&mut near, &options.encode());
        Far::There(near, child)
    }

    pub(super) fn ask(&mut self, order: &[u64]) -> Vec<u64> {
        match self {
            Far::Here(side, options) => side.obey(*options, order),
            Far::There(stream, _) => {
                write(stream, order);
                read(stream).expect("the other process has died")
            }
        }
    }

    pub(super) fn card(&mut self) -> Card {
        let answer = self.ask(&[CARD]);
        Card {
            qp_num: answer[0] as u32,
            rkey: answer[1] as u32,
            address: answer[2],
            srq_num: answer[3] as u32,
        }
    }

    /// Posts a receive for parts of its memory.
    pub(super) fn receive(&mut self, wr_id: u64, parts: &[(usize, usize)]) {
        let mut order = vec![RECEIVE, wr_id];
        order.extend(parts.iter().flat_map(|&(offset, length)| [offset as u64, length as u64]));
        assert_eq!(self.ask(&order), [0]);
    }

    /// The next completion of a receive, which is there.
    #[track_caller]
    pub(super) fn received(&mut self) -> Received {
        let words = self.ask(&[POLL]);
        assert!(!words.is_empty(), "no completion");
        Received {
            wr_id: words[0],
            status: words[1] as u32,
            opcode: words[2] as u32,
            byte_len: words[3] as u32,
            imm_data: words[4] as u32,
            qp_num: words[5] as u32,
            src_qp: words[6] as u32,
            flags: words[7] as u32,
            sl: words[8] as u8,
        }
    }

    /// Lets the other process hammer on this one; there is no answer until that ends.
    pub(super) fn hammer(&mut self, at: Card) {
        match self {
            Far::Here(..) => panic!("it would not come back"),
            Far::There(stream, _) => write(stream, &[HAMMER, at.rkey.into(), at.address]),
        }
    }

    /// Kills the process.
    pub(super) fn kill(&mut self) {
        if let Far::There(_, child) = self {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        if let Far::There(stream, child) = self {
            let _ = stream.shutdown(std::net::Shutdown::Both);
            let _ = child.wait();
        }
    }
}

/// A completion of a receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Received {
    pub(super) wr_id: u64,
    pub(super) status: u32,
    pub(super) opcode: u32,
    pub(super) byte_len: u32,
    pub(super) imm_data: u32,
    pub(super) qp_num: u32,
    pub(super) src_qp: u32,
    pub(super) flags: u32,
    pub(super) sl: u8,
}

fn write(stream: &mut UnixStream, words: &[u64]) {
    let mut bytes = (words.len() as u64).to_ne_bytes().to_vec();
    bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
    stream.write_all(&bytes).unwrap();
}

fn read(stream: &mut UnixStream) -> Option<Vec<u64>> {
    let mut word = || {
        let mut bytes = [0; 8];
        stream.read_exact(&mut bytes).ok().map(|()| u64::from_ne_bytes(bytes))
    };
    let count = word()?;
    (0..count).map(|_| word()).collect()
}

/// The other end of a connection in a process of its own; nothing when run as a test.
#[test]
fn the_other_process() {
    let Some(fd) = std::env::var(LINK).ok().and_then(|text| text.parse().ok()) else { return };
    // SAFETY: the descriptor that the parent made for this process.
    let mut stream = unsafe { UnixStream::from_raw_fd(fd) };
    let options = Options::decode(&read(&mut stream).unwrap());
    THREADS_BEFORE.set(threads()).unwrap();
    let side = Side::new(options);
    while let Some(order) = read(&mut stream) {
        write(&mut stream, &side.obey(options, &order));
    }
}
