//! A queue pair that is its own peer, by the extended interfaces of completion queues and queue pairs.

use std::cell::Cell;
use std::io;
use std::ptr::{null, null_mut};
use std::time::Instant;

use rdma_sys::*;

use crate::device::*;

/// The Q_Key of datagrams.
pub const QKEY: u32 = 0x1234_5678;

/// What a program asks completions for.
const FIELDS: u64 = (ibv_create_cq_wc_flags::IBV_WC_EX_WITH_BYTE_LEN.0
    | ibv_create_cq_wc_flags::IBV_WC_EX_WITH_IMM.0
    | ibv_create_cq_wc_flags::IBV_WC_EX_WITH_QP_NUM.0
    | ibv_create_cq_wc_flags::IBV_WC_EX_WITH_SRC_QP.0) as u64;

/// Bits of the type of `ibv_qp_attr_mask`.
pub fn mask(bits: &[ibv_qp_attr_mask]) -> i32 {
    bits.iter().fold(0, |all, bit| all | bit.0) as i32
}

/// A completion, as far as the tests look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    pub id: u64,
    pub opcode: ibv_wc_opcode::Type,
    pub length: u32,
    pub imm: Option<u32>,
    pub flags: u32,
    pub qp_num: u32,
    pub src_qp: u32,
}

/// An extended completion queue.
pub struct Cq(pub *mut ibv_cq_ex);

impl Cq {
    /// With these further fields; `context` tells its events from those of others.
    pub fn new(device: &Device, fields: u64, channel: Option<&Channel>, context: usize) -> Cq {
        let mut wanted: ibv_cq_init_attr_ex = zeroed();
        (wanted.cqe, wanted.wc_flags) = (64, FIELDS | fields);
        wanted.channel = channel.map_or(null_mut(), |channel| channel.0);
        wanted.cq_context = context as *mut _;
        // SAFETY: an open device.
        let cq =
            unsafe { extended(device.context).create_cq_ex.unwrap()(device.context, &mut wanted) };
        assert!(!cq.is_null());
        Cq(cq)
    }

    /// The same as a plain queue.
    pub fn plain(&self) -> *mut ibv_cq {
        self.0.cast()
    }

    /// Asks for an event with the next completion.
    pub fn arm(&self) {
        // SAFETY: a live queue.
        assert_eq!(unsafe { ibv_req_notify_cq(self.plain(), 0) }, 0);
    }

    /// Takes what there is, without waiting: `each` is called with the queue at each of them.
    pub fn poll(&self, mut each: impl FnMut(*mut ibv_cq_ex)) {
        let mut attr = ibv_poll_cq_attr { comp_mask: 0 };
        // SAFETY: a live queue, in the order that ibv_start_poll(3) tells.
        unsafe {
            let mut status = ibv_start_poll(self.0, &mut attr);
            if status == 0 {
                while status == 0 {
                    assert_eq!((*self.0).status, ibv_wc_status::IBV_WC_SUCCESS);
                    each(self.0);
                    status = ibv_next_poll(self.0);
                }
                ibv_end_poll(self.0);
            }
            assert_eq!(kind(status), Some(io::ErrorKind::NotFound), "the queue is empty");
        }
    }

    /// Waits for so many completions and not one more; each as `read` tells of it.
    pub fn each<T>(&self, count: usize, read: impl Fn(*mut ibv_cq_ex) -> T) -> Vec<T> {
        let limit = Instant::now() + PATIENCE;
        let mut found = Vec::new();
        while found.len() < count {
            assert!(Instant::now() < limit, "{} of {count} completions", found.len());
            self.poll(|cq| found.push(read(cq)));
        }
        self.poll(|cq| found.push(read(cq)));
        assert_eq!(found.len(), count);
        found
    }

    /// The next completions, sorted by the number of their request.
    pub fn done(&self, count: usize) -> Vec<Done> {
        let mut found = self.each(count, Cq::read);
        found.sort_by_key(|done| done.id);
        found
    }

    /// The completion that a queue is at.
    pub fn read(cq: *mut ibv_cq_ex) -> Done {
        // SAFETY: inside of a poll session of a queue with these fields.
        unsafe {
            let flags = ibv_wc_read_wc_flags(cq);
            let has_imm = flags & ibv_wc_flags::IBV_WC_WITH_IMM.0 != 0;
            Done {
                id: (*cq).wr_id,
                opcode: ibv_wc_read_opcode(cq),
                length: ibv_wc_read_byte_len(cq),
                imm: has_imm.then(|| u32::from_be(ibv_wc_read_imm_data(cq))),
                flags,
                qp_num: ibv_wc_read_qp_num(cq),
                src_qp: ibv_wc_read_src_qp(cq),
            }
        }
    }
}

impl Drop for Cq {
    fn drop(&mut self) {
        // SAFETY: its queue pairs are gone.
        gone(unsafe { ibv_destroy_cq(self.plain()) });
    }
}

/// A queue pair.
pub struct Qp {
    pub plain: *mut ibv_qp,
    pub ex: *mut ibv_qp_ex,
    /// Requests that were begun with and not yet ended.
    open: Cell<bool>,
}

impl Qp {
    /// In the state RESET; receives come from `srq` if there is one.
    pub fn new(device: &Device, cq: &Cq, kind: ibv_qp_type::Type, srq: *mut ibv_srq) -> Qp {
        let mut operations = ibv_qp_create_send_ops_flags::IBV_QP_EX_WITH_SEND
            | ibv_qp_create_send_ops_flags::IBV_QP_EX_WITH_SEND_WITH_IMM;
        if kind != ibv_qp_type::IBV_QPT_UD {
            operations |= ibv_qp_create_send_ops_flags::IBV_QP_EX_WITH_RDMA_WRITE
                | ibv_qp_create_send_ops_flags::IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
        }
        if kind == ibv_qp_type::IBV_QPT_RC {
            operations |= ibv_qp_create_send_ops_flags::IBV_QP_EX_WITH_RDMA_READ
                | ibv_qp_create_send_ops_flags::IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP
                | ibv_qp_create_send_ops_flags::IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
        }
        let mut wanted: ibv_qp_init_attr_ex = zeroed();
        (wanted.send_cq, wanted.recv_cq) = (cq.plain(), cq.plain());
        (wanted.qp_type, wanted.srq, wanted.pd) = (kind, srq, device.pd);
        (wanted.cap.max_send_wr, wanted.cap.max_recv_wr) = (16, 16);
        (wanted.cap.max_send_sge, wanted.cap.max_recv_sge) = (4, 4);
        wanted.cap.max_inline_data = 64;
        wanted.send_ops_flags = operations.0.into();
        wanted.comp_mask = ibv_qp_init_attr_mask::IBV_QP_INIT_ATTR_PD.0
            | ibv_qp_init_attr_mask::IBV_QP_INIT_ATTR_SEND_OPS_FLAGS.0;
        // SAFETY: live objects.
        unsafe {
            let create = extended(device.context).create_qp_ex.unwrap();
            let plain = create(device.context, &mut wanted);
            assert!(!plain.is_null());
            assert!(wanted.cap.max_send_wr >= 16 && wanted.cap.max_inline_data >= 64);
            Qp { plain, ex: ibv_qp_to_qp_ex(plain), open: Cell::new(false) }
        }
    }

    /// Ready to send to itself.
    pub fn connected(device: &Device, cq: &Cq, kind: ibv_qp_type::Type) -> Qp {
        let qp = Qp::new(device, cq, kind, null_mut());
        qp.connect(device, kind);
        qp
    }

    /// Brings it from RESET to RTS.
    pub fn connect(&self, device: &Device, kind: ibv_qp_type::Type) {
        self.to_init(kind);
        assert_eq!(self.to_rtr(&device.address(), kind), 0);
        self.to_rts(kind);
    }

    pub fn to_init(&self, kind: ibv_qp_type::Type) {
        use ibv_qp_attr_mask as Mask;
        let mut attr: ibv_qp_attr = zeroed();
        (attr.qp_state, attr.port_num, attr.qkey) = (ibv_qp_state::IBV_QPS_INIT, 1, QKEY);
        attr.qp_access_flags = ibv_access_flags::IBV_ACCESS_REMOTE_WRITE.0;
        if kind == ibv_qp_type::IBV_QPT_RC {
            attr.qp_access_flags |= ibv_access_flags::IBV_ACCESS_REMOTE_READ.0
                | ibv_access_flags::IBV_ACCESS_REMOTE_ATOMIC.0;
        }
        let own = match kind {
            ibv_qp_type::IBV_QPT_UD => Mask::IBV_QP_QKEY,
            _ => Mask::IBV_QP_ACCESS_FLAGS,
        };
        let all = [Mask::IBV_QP_STATE, Mask::IBV_QP_PKEY_INDEX, Mask::IBV_QP_PORT, own];
        assert_eq!(self.modify(&mut attr, mask(&all)), 0);
    }

    /// To the state RTR, towards an address; the error.
    pub fn to_rtr(&self, address: &ibv_ah_attr, kind: ibv_qp_type::Type) -> i32 {
        use ibv_qp_attr_mask as Mask;
        let mut attr: ibv_qp_attr = zeroed();
        (attr.qp_state, attr.path_mtu) = (ibv_qp_state::IBV_QPS_RTR, ibv_mtu::IBV_MTU_1024);
        (attr.dest_qp_num, attr.ah_attr) = (self.number(), *address);
        (attr.max_dest_rd_atomic, attr.min_rnr_timer) = (1, 16);
        let mut all = vec![Mask::IBV_QP_STATE];
        if kind != ibv_qp_type::IBV_QPT_UD {
            all.extend([Mask::IBV_QP_AV, Mask::IBV_QP_PATH_MTU]);
            all.extend([Mask::IBV_QP_DEST_QPN, Mask::IBV_QP_RQ_PSN]);
        }
        if kind == ibv_qp_type::IBV_QPT_RC {
            all.extend([Mask::IBV_QP_MAX_DEST_RD_ATOMIC, Mask::IBV_QP_MIN_RNR_TIMER]);
        }
        self.modify(&mut attr, mask(&all))
    }

    pub fn to_rts(&self, kind: ibv_qp_type::Type) {
        use ibv_qp_attr_mask as Mask;
        let mut attr: ibv_qp_attr = zeroed();
        (attr.qp_state, attr.timeout) = (ibv_qp_state::IBV_QPS_RTS, 14);
        (attr.retry_cnt, attr.rnr_retry, attr.max_rd_atomic) = (6, 6, 1);
        let mut all = vec![Mask::IBV_QP_STATE, Mask::IBV_QP_SQ_PSN];
        if kind == ibv_qp_type::IBV_QPT_RC {
            all.extend([Mask::IBV_QP_TIMEOUT, Mask::IBV_QP_RETRY_CNT, Mask::IBV_QP_RNR_RETRY]);
            all.push(Mask::IBV_QP_MAX_QP_RD_ATOMIC);
        }
        assert_eq!(self.modify(&mut attr, mask(&all)), 0);
    }

    /// `ibv_modify_qp(3)`
    pub fn modify(&self, attr: &mut ibv_qp_attr, mask: i32) -> i32 {
        // SAFETY: a live queue pair.
        unsafe { ibv_modify_qp(self.plain, attr, mask) }
    }

    /// All that it tells of itself.
    pub fn query(&self) -> (ibv_qp_attr, ibv_qp_init_attr) {
        let (mut attr, mut init) = (zeroed(), zeroed());
        // SAFETY: a live queue pair, and room for the answer.
        assert_eq!(unsafe { ibv_query_qp(self.plain, &mut attr, i32::MAX, &mut init) }, 0);
        (attr, init)
    }

    pub fn number(&self) -> u32 {
        // SAFETY: a live queue pair.
        unsafe { (*self.plain).qp_num }
    }

    /// Posts one receive.
    pub fn receive(&self, id: u64, pieces: &[ibv_sge]) {
        self.receives(&[(id, pieces)]);
    }

    /// Posts a list of receives at once.
    pub fn receives(&self, list: &[(u64, &[ibv_sge])]) {
        let mut requests: Vec<_> = list.iter().map(|(id, pieces)| receive(*id, pieces)).collect();
        for index in 1..requests.len() {
            let next = &raw mut requests[index];
            requests[index - 1].next = next;
        }
        let mut bad = null_mut();
        // SAFETY: the list lives until the call returns.
        assert_eq!(unsafe { ibv_post_recv(self.plain, requests.as_mut_ptr(), &mut bad) }, 0);
    }

    /// Begins a list of requests.
    pub fn start(&self) -> &Self {
        assert!(!self.open.replace(true));
        // SAFETY: a live queue pair.
        unsafe { ibv_wr_start(self.ex) };
        self
    }

    /// Adds a request: its operation first, its data then.
    pub fn add(&self, id: u64, flags: u32, set: impl FnOnce(*mut ibv_qp_ex)) -> &Self {
        assert!(self.open.get());
        // SAFETY: a list was begun.
        unsafe { ((*self.ex).wr_id, (*self.ex).wr_flags) = (id, flags) };
        set(self.ex);
        self
    }

    /// Hands the list over.
    pub fn post(&self) {
        assert!(self.open.replace(false));
        // SAFETY: a list was begun.
        assert_eq!(unsafe { ibv_wr_complete(self.ex) }, 0);
    }

    /// Gives the list up.
    pub fn abort(&self) {
        assert!(self.open.replace(false));
        // SAFETY: a list was begun.
        unsafe { ibv_wr_abort(self.ex) };
    }

    /// Posts one signaled send.
    pub fn send(&self, id: u64, pieces: &[ibv_sge]) {
        self.start().add(id, SIGNALED, send(pieces)).post();
    }
}

impl Drop for Qp {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more.
        gone(unsafe { ibv_destroy_qp(self.plain) });
    }
}

pub const SIGNALED: u32 = ibv_send_flags::IBV_SEND_SIGNALED.0;

/// A receive request.
pub fn receive(id: u64, pieces: &[ibv_sge]) -> ibv_recv_wr {
    let mut request: ibv_recv_wr = zeroed();
    (request.wr_id, request.num_sge) = (id, pieces.len() as i32);
    request.sg_list = pieces.as_ptr().cast_mut();
    request
}

/// A send.
pub fn send(pieces: &[ibv_sge]) -> impl FnOnce(*mut ibv_qp_ex) {
    // SAFETY: called by `add`.
    with(pieces, |qp| unsafe { ibv_wr_send(qp) })
}

/// A write to a remote key and address.
pub fn write(pieces: &[ibv_sge], to: (u32, u64)) -> impl FnOnce(*mut ibv_qp_ex) {
    // SAFETY: called by `add`.
    with(pieces, move |qp| unsafe { ibv_wr_rdma_write(qp, to.0, to.1) })
}

/// An operation with a list of pieces.
pub fn with(
    pieces: &[ibv_sge],
    operation: impl FnOnce(*mut ibv_qp_ex),
) -> impl FnOnce(*mut ibv_qp_ex) {
    move |qp| {
        operation(qp);
        let list = if pieces.is_empty() { null() } else { pieces.as_ptr() };
        // SAFETY: called by `add`, which takes the list before it returns.
        unsafe { ibv_wr_set_sge_list(qp, pieces.len(), list) };
    }
}

/// What most tests need.
pub struct Loopback {
    // In the order in which they go.
    pub qp: Qp,
    pub cq: Cq,
    pub device: Device,
}

impl Loopback {
    pub fn new(kind: ibv_qp_type::Type) -> Loopback {
        let device = Device::open();
        let cq = Cq::new(&device, 0, None, 0);
        let qp = Qp::connected(&device, &cq, kind);
        Loopback { qp, cq, device }
    }

    pub fn rc() -> Loopback {
        Loopback::new(ibv_qp_type::IBV_QPT_RC)
    }

    /// Numbers of the next requests that complete, in ascending order.
    pub fn ids(&self, count: usize) -> Vec<u64> {
        self.cq.done(count).iter().map(|done| done.id).collect()
    }
}
