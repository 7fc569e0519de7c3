//! Queue pairs for tests, and an executor that a test can replace.

use core::cell::{Cell, RefCell};
use core::ffi::c_int;
use core::ptr;

use super::*;
use crate::abi::*;
use crate::sys::errno::Errno;
use crate::sys::mutex::Mutex;
use crate::urxe::completion::poll_cq;
use crate::urxe::device::{Context, Opened};
use crate::urxe::host;
use crate::urxe::transfer::{self, Route};
use crate::verbs::ah::{ibv_create_ah, ibv_destroy_ah};
use crate::verbs::cq::{ibv_create_cq, ibv_destroy_cq};
use crate::verbs::pd::{ibv_alloc_pd, ibv_dealloc_pd};
use crate::verbs::qp::{ibv_destroy_qp, ibv_modify_qp};

/// What a test lets happen to a request: its number and opcode are given.
type Executor = Box<dyn FnMut(&Qp, Wqe<'_>, u64) -> Outcome>;

thread_local! {
    static EXECUTOR: RefCell<Option<Executor>> = const { RefCell::new(None) };
    static GENERAL: Cell<bool> = const { Cell::new(false) };
    static AT_ONCE: Cell<u64> = const { Cell::new(0) };
}

/// Makes this thread carry out all requests in the general way, or not any more.
pub(crate) fn go_the_general_way(general: bool) {
    GENERAL.set(general);
}

/// Requests that this thread has carried out straight from what was posted, or from the ring.
pub(crate) fn done_at_once() -> u64 {
    AT_ONCE.get()
}

/// Counts one of them.
pub(super) fn count_at_once() {
    AT_ONCE.set(AT_ONCE.get() + 1);
}

/// Carries out a request as the test on this thread wants, or as the device does.
pub(super) fn execute(
    qp: &Qp,
    attr: &ibv_qp_attr,
    wqe: Wqe<'_>,
    attempt: &mut Attempt,
    route: &mut Route,
) -> Outcome {
    EXECUTOR.with_borrow_mut(|executor| match executor {
        Some(executor) => {
            let mut scripted = SCRIPTED.lock();
            if !scripted.contains(&qp.number) {
                scripted.push(qp.number);
            }
            drop(scripted);
            executor(qp, wqe, host::now())
        }
        None => transfer::execute(qp, attr, wqe, attempt, route),
    })
}

/// Whether this thread makes the requests of a QP go on.
pub(super) fn is_for_this_thread(qp: &Qp) -> bool {
    EXECUTOR.with_borrow(Option::is_some) || !SCRIPTED.lock().contains(&qp.number)
}

/// Whether requests on this thread are carried out by a test, or in the general way alone.
pub(super) fn is_scripted() -> bool {
    GENERAL.get() || EXECUTOR.with_borrow(Option::is_some)
}

/// An hour in nanoseconds: no thread tries again what waits that long.
pub(super) const HOUR: u64 = 3_600_000_000_000;

/// Numbers of QPs, which are not used again soon, whose requests only the thread of their test
/// carries out.
static SCRIPTED: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Replaces the executor on this thread until it is dropped.
pub(super) struct Executing;

impl Executing {
    pub(super) fn new(executor: impl FnMut(&Qp, Wqe<'_>, u64) -> Outcome + 'static) -> Executing {
        EXECUTOR.with_borrow_mut(|place| *place = Some(Box::new(executor)));
        Executing
    }

    /// All requests succeed, with as many bytes as they have.
    pub(super) fn success() -> Executing {
        Executing::new(|_, wqe, _| Outcome::Done(Done::success(wqe.length as u32)))
    }
}

impl Drop for Executing {
    fn drop(&mut self) {
        EXECUTOR.with_borrow_mut(|place| *place = None);
    }
}

/// A context with a PD and a CQ, in which a test makes QPs.
pub(super) struct Bench {
    pub(super) pd: *mut ibv_pd,
    pub(super) cq: *mut ibv_cq,
    pub(super) ah: *mut ibv_ah,
    pub(super) opened: Opened,
}

impl Bench {
    pub(super) fn new() -> Bench {
        let opened = Opened::new();
        // SAFETY: a live context.
        unsafe {
            let pd = ibv_alloc_pd(opened.get());
            let cq = ibv_create_cq(opened.get(), 64, ptr::null_mut(), ptr::null_mut(), 0);
            assert!(!pd.is_null() && !cq.is_null());
            let ah = ibv_create_ah(pd, &mut address(&opened));
            assert!(!ah.is_null());
            Bench { pd, cq, ah, opened }
        }
    }

    /// What a QP of a type is created with.
    pub(super) fn init(&self, kind: ibv_qp_type) -> ibv_qp_init_attr {
        ibv_qp_init_attr {
            send_cq: self.cq,
            recv_cq: self.cq,
            cap: ibv_qp_cap {
                max_send_wr: 4,
                max_recv_wr: 4,
                max_send_sge: 2,
                max_recv_sge: 2,
                max_inline_data: 32,
            },
            qp_type: kind,
            ..ibv_qp_init_attr::zeroed()
        }
    }

    pub(super) fn create(&self, init: &mut ibv_qp_init_attr) -> Result<Made, Errno> {
        // SAFETY: live objects.
        Made::of(unsafe { create_qp(self.pd, init) })
    }

    /// Attributes of a QP for the extended interface with all operations of its type.
    pub(super) fn init_ex(&self, kind: ibv_qp_type, operations: u32) -> ibv_qp_init_attr_ex {
        let init = self.init(kind);
        ibv_qp_init_attr_ex {
            send_cq: init.send_cq,
            recv_cq: init.recv_cq,
            cap: init.cap,
            qp_type: kind,
            comp_mask: IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
            pd: self.pd,
            send_ops_flags: operations.into(),
            ..ibv_qp_init_attr_ex::zeroed()
        }
    }

    pub(super) fn create_ex(&self, init: &mut ibv_qp_init_attr_ex) -> Result<Made, Errno> {
        // SAFETY: live objects.
        Made::of(unsafe { create_qp_ex(self.opened.get(), init) })
    }

    /// A QP that has been moved to a state.
    pub(super) fn qp(&self, kind: ibv_qp_type, state: ibv_qp_state) -> Made {
        let qp = self.create(&mut self.init(kind)).unwrap();
        self.move_to(&qp, state);
        qp
    }

    /// Moves a new QP to a state, connected with itself.
    pub(super) fn move_to(&self, qp: &Made, state: ibv_qp_state) {
        let path: &[ibv_qp_state] = match state {
            IBV_QPS_RESET => &[],
            IBV_QPS_INIT => &[IBV_QPS_INIT],
            IBV_QPS_RTR => &[IBV_QPS_INIT, IBV_QPS_RTR],
            IBV_QPS_RTS => &[IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS],
            _ => &[IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, state],
        };
        path.iter().for_each(|&to| self.move_on(qp, to));
    }

    /// Moves a QP to the next state.
    pub(super) fn move_on(&self, qp: &Made, to: ibv_qp_state) {
        let (mut attr, mask) = self.attributes(qp, to);
        assert_eq!(qp.modify(&mut attr, mask), 0, "to {to}: {:?}", Errno::last());
    }

    /// What a move to a state needs.
    pub(super) fn attributes(&self, qp: &Made, to: ibv_qp_state) -> (ibv_qp_attr, u32) {
        let kind = qp.qp().kind;
        let attr = ibv_qp_attr {
            qp_state: to,
            path_mtu: IBV_MTU_1024,
            qkey: 0x1111_1111,
            rq_psn: 5,
            sq_psn: 6,
            dest_qp_num: qp.qp().number,
            qp_access_flags: IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
            ah_attr: address(&self.opened),
            max_rd_atomic: 7,
            max_dest_rd_atomic: 8,
            min_rnr_timer: 9,
            port_num: 1,
            timeout: 10,
            retry_cnt: 3,
            rnr_retry: 4,
            ..ibv_qp_attr::zeroed()
        };
        let mask = match (to, kind) {
            (IBV_QPS_INIT, IBV_QPT_UD) => IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
            (IBV_QPS_INIT, _) => IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
            (IBV_QPS_RTR, IBV_QPT_UD) => 0,
            (IBV_QPS_RTR, _) => {
                let path = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
                if matches!(kind, IBV_QPT_RC | IBV_QPT_XRC_RECV) {
                    path | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER
                } else {
                    path
                }
            }
            (IBV_QPS_RTS, IBV_QPT_RC | IBV_QPT_XRC_SEND) => {
                IBV_QP_TIMEOUT
                    | IBV_QP_RETRY_CNT
                    | IBV_QP_RNR_RETRY
                    | IBV_QP_SQ_PSN
                    | IBV_QP_MAX_QP_RD_ATOMIC
            }
            (IBV_QPS_RTS, IBV_QPT_XRC_RECV) => IBV_QP_TIMEOUT | IBV_QP_SQ_PSN,
            (IBV_QPS_RTS, _) => IBV_QP_SQ_PSN,
            _ => 0,
        };
        (attr, mask | IBV_QP_STATE)
    }

    /// Up to `count` completions.
    pub(super) fn poll(&self, count: usize) -> Vec<ibv_wc> {
        let mut wc = vec![ibv_wc::zeroed(); count];
        // SAFETY: a live CQ, and room for so many.
        let got = unsafe { poll_cq(self.cq, count as c_int, wc.as_mut_ptr()) };
        wc.truncate(usize::try_from(got).unwrap());
        wc
    }

    /// Number and status of the completions that wait.
    pub(super) fn statuses(&self) -> Vec<(u64, ibv_wc_status)> {
        self.poll(64).iter().map(|wc| (wc.wr_id, wc.status)).collect()
    }

    /// Type of the asynchronous events that wait, none of which is acknowledged.
    pub(super) fn events(&self) -> Vec<ibv_event_type> {
        self.opened.events()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // SAFETY: live objects, for the last time.
        unsafe {
            assert_eq!(ibv_destroy_ah(self.ah), 0);
            assert_eq!(ibv_destroy_cq(self.cq), 0);
            assert_eq!(ibv_dealloc_pd(self.pd), 0);
        }
    }
}

/// The address of the own port.
pub(super) fn address(opened: &Opened) -> ibv_ah_attr {
    // SAFETY: a live context.
    let port = unsafe { Context::of(opened.get()) }.port();
    ibv_ah_attr {
        grh: ibv_global_route {
            dgid: port.gid(0).unwrap().gid,
            hop_limit: 1,
            ..ibv_global_route::zeroed()
        },
        is_global: 1,
        dlid: port.lid(),
        port_num: 1,
        ..ibv_ah_attr::zeroed()
    }
}

/// A QP that is destroyed with its last use.
pub(super) struct Made(pub(super) *mut ibv_qp);

impl Made {
    fn of(qp: *mut ibv_qp) -> Result<Made, Errno> {
        if qp.is_null() { Err(Errno::last()) } else { Ok(Made(qp)) }
    }

    pub(super) fn qp(&self) -> &Qp {
        // SAFETY: a live QP.
        unsafe { Qp::of(self.0) }
    }

    pub(super) fn modify(&self, attr: &mut ibv_qp_attr, mask: u32) -> c_int {
        // SAFETY: a live QP.
        unsafe { ibv_modify_qp(self.0, attr, mask.cast_signed()) }
    }

    /// Moves it to a state that needs no attributes.
    pub(super) fn set_state(&self, state: ibv_qp_state) -> c_int {
        let mut attr = ibv_qp_attr { qp_state: state, ..ibv_qp_attr::zeroed() };
        self.modify(&mut attr, IBV_QP_STATE)
    }

    pub(super) fn query(&self) -> (ibv_qp_attr, ibv_qp_init_attr) {
        let (mut attr, mut init) = (ibv_qp_attr::zeroed(), ibv_qp_init_attr::zeroed());
        // SAFETY: a live QP, and room.
        assert_eq!(unsafe { query_qp(self.0, &mut attr, 0, &mut init) }, 0);
        (attr, init)
    }

    /// Posts requests; the error, and the place of the first that is not posted.
    pub(super) fn send(&self, requests: &mut [ibv_send_wr]) -> Result<(), (c_int, usize)> {
        let first = requests.as_mut_ptr();
        for index in 1..requests.len() {
            // SAFETY: inside the slice.
            unsafe { (*first.add(index - 1)).next = first.add(index) };
        }
        let mut bad = ptr::null_mut();
        // SAFETY: a live QP and a valid list.
        let status = unsafe { post_send(self.0, first, &mut bad) };
        if status == 0 {
            return Ok(());
        }
        // SAFETY: both are in the slice.
        Err((status, usize::try_from(unsafe { bad.offset_from(first) }).unwrap()))
    }

    /// Posts signaled sends without data.
    pub(super) fn send_ids(
        &self,
        ids: impl IntoIterator<Item = u64>,
    ) -> Result<(), (c_int, usize)> {
        self.send(&mut ids.into_iter().map(send_wr).collect::<Vec<_>>())
    }

    /// Posts receives without data.
    pub(super) fn receive_ids(&self, ids: &[u64]) -> Result<(), (c_int, usize)> {
        let mut requests: Vec<_> =
            ids.iter().map(|&wr_id| ibv_recv_wr { wr_id, ..ibv_recv_wr::zeroed() }).collect();
        let first = requests.as_mut_ptr();
        for index in 1..requests.len() {
            // SAFETY: inside the vector.
            unsafe { (*first.add(index - 1)).next = first.add(index) };
        }
        let mut bad = ptr::null_mut();
        // SAFETY: a live QP and a valid list.
        let status = unsafe { post_recv(self.0, first, &mut bad) };
        if status == 0 {
            return Ok(());
        }
        // SAFETY: both are in the vector.
        Err((status, usize::try_from(unsafe { bad.offset_from(first) }).unwrap()))
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // SAFETY: a live QP, for the last time.
        assert_eq!(unsafe { ibv_destroy_qp(self.0) }, 0);
    }
}

/// A signaled send without data.
pub(super) fn send_wr(wr_id: u64) -> ibv_send_wr {
    ibv_send_wr {
        wr_id,
        opcode: IBV_WR_SEND,
        send_flags: IBV_SEND_SIGNALED,
        ..ibv_send_wr::zeroed()
    }
}
