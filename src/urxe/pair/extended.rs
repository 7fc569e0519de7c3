//! The extended posting interface: a series of requests, each built by calls. `ibv_wr_post(3)`
//!
//! `wr_start` takes the lock of the send queue and keeps it to `wr_complete` or `wr_abort`. Requests
//! are built in their places behind the tail of the ring. The first failure makes the rest of the
//! series do nothing, and `wr_complete` tells it.

use core::ffi::{c_int, c_void};

use super::post::{
    add_inline, check_request, check_room, check_state, datagram, takes_inline, window,
};
use super::qp::{Qp, SendQueue, Sending};
use super::run::run;
use super::wqe::{Place, Request, Target};
use crate::abi::*;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::urxe::explain;

/// An operation that is supported, for which types, and how it gets its place in the QP.
struct Operation {
    flag: u32,
    opcode: ibv_wr_opcode,
    set: fn(&mut ibv_qp_ex),
}

/// All operations that a QP can be created with.
const OPERATIONS: [Operation; 12] = [
    Operation {
        flag: IBV_QP_EX_WITH_RDMA_WRITE,
        opcode: IBV_WR_RDMA_WRITE,
        set: |qp| qp.wr_rdma_write = Some(wr_rdma_write),
    },
    Operation {
        flag: IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM,
        opcode: IBV_WR_RDMA_WRITE_WITH_IMM,
        set: |qp| qp.wr_rdma_write_imm = Some(wr_rdma_write_imm),
    },
    Operation {
        flag: IBV_QP_EX_WITH_SEND,
        opcode: IBV_WR_SEND,
        set: |qp| qp.wr_send = Some(wr_send),
    },
    Operation {
        flag: IBV_QP_EX_WITH_SEND_WITH_IMM,
        opcode: IBV_WR_SEND_WITH_IMM,
        set: |qp| qp.wr_send_imm = Some(wr_send_imm),
    },
    Operation {
        flag: IBV_QP_EX_WITH_RDMA_READ,
        opcode: IBV_WR_RDMA_READ,
        set: |qp| qp.wr_rdma_read = Some(wr_rdma_read),
    },
    Operation {
        flag: IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP,
        opcode: IBV_WR_ATOMIC_CMP_AND_SWP,
        set: |qp| qp.wr_atomic_cmp_swp = Some(wr_atomic_cmp_swp),
    },
    Operation {
        flag: IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
        opcode: IBV_WR_ATOMIC_FETCH_AND_ADD,
        set: |qp| qp.wr_atomic_fetch_add = Some(wr_atomic_fetch_add),
    },
    Operation {
        flag: IBV_QP_EX_WITH_LOCAL_INV,
        opcode: IBV_WR_LOCAL_INV,
        set: |qp| qp.wr_local_inv = Some(wr_local_inv),
    },
    Operation {
        flag: IBV_QP_EX_WITH_BIND_MW,
        opcode: IBV_WR_BIND_MW,
        set: |qp| qp.wr_bind_mw = Some(wr_bind_mw),
    },
    Operation {
        flag: IBV_QP_EX_WITH_SEND_WITH_INV,
        opcode: IBV_WR_SEND_WITH_INV,
        set: |qp| qp.wr_send_inv = Some(wr_send_inv),
    },
    Operation {
        flag: IBV_QP_EX_WITH_FLUSH,
        opcode: IBV_WR_FLUSH,
        set: |qp| qp.wr_flush = Some(wr_flush),
    },
    Operation {
        flag: IBV_QP_EX_WITH_ATOMIC_WRITE,
        opcode: IBV_WR_ATOMIC_WRITE,
        set: |qp| qp.wr_atomic_write = Some(wr_atomic_write),
    },
];

/// Whether a QP of a type can be created for these operations. EOPNOTSUPP if not.
pub(super) fn check_operations(kind: ibv_qp_type, flags: u64) -> Result<()> {
    let supported = OPERATIONS
        .iter()
        .filter(|operation| super::post::is_allowed(kind, operation.opcode))
        .fold(0, |flags, operation| flags | u64::from(operation.flag));
    if flags & !supported != 0 {
        explain!(
            "ibv_create_qp_ex: a QP of type {kind} has no operations {:#x} (send_ops_flags)",
            flags & !supported,
        );
        return Err(Errno::EOPNOTSUPP);
    }
    Ok(())
}

/// Sets the functions of a QP for these operations, and the setters.
pub(super) fn set_functions(qp: &mut ibv_qp_ex, flags: u64) {
    qp.wr_start = Some(wr_start);
    qp.wr_complete = Some(wr_complete);
    qp.wr_abort = Some(wr_abort);
    qp.wr_set_ud_addr = Some(wr_set_ud_addr);
    qp.wr_set_xrc_srqn = Some(wr_set_xrc_srqn);
    qp.wr_set_inline_data = Some(wr_set_inline_data);
    qp.wr_set_inline_data_list = Some(wr_set_inline_data_list);
    qp.wr_set_sge = Some(wr_set_sge);
    qp.wr_set_sge_list = Some(wr_set_sge_list);
    for operation in &OPERATIONS {
        if flags & u64::from(operation.flag) != 0 {
            (operation.set)(qp);
        }
    }
}

unsafe extern "C" fn wr_start(qp: *mut ibv_qp_ex) {
    // SAFETY: the caller passes a QP.
    let qp = unsafe { Qp::of(qp.cast()) };
    let mut send = qp.sending();
    send.building = 0;
    send.failed = qp.check_process().err();
    send.keep();
}

unsafe extern "C" fn wr_complete(qp: *mut ibv_qp_ex) -> c_int {
    // SAFETY: the caller passes a QP after the begin of the series.
    let (qp, mut send) = unsafe { kept(qp) };
    let result = match send.failed.take() {
        Some(errno) => Err(errno),
        None => check_state(qp).and_then(|()| check_series(qp, &send)),
    };
    if result.is_ok() {
        send.ring.tail = send.ring.tail.wrapping_add(core::mem::take(&mut send.building));
        run(qp, &mut send);
    } else {
        drop_series(&mut send);
    }
    result.or_number()
}

unsafe extern "C" fn wr_abort(qp: *mut ibv_qp_ex) {
    // SAFETY: the caller passes a QP after the begin of the series.
    let (_, mut send) = unsafe { kept(qp) };
    drop_series(&mut send);
}

/// EINVAL if a request lacks what a setter should have set.
fn check_series(qp: &Qp, send: &SendQueue) -> Result<()> {
    let first = send.ring.tail;
    let is_complete = |ahead| {
        let wqe = send.ring.wqe(first.wrapping_add(ahead));
        qp.kind != IBV_QPT_UD || matches!(wqe.target, Target::Datagram { .. })
    };
    if (0..send.building).all(is_complete) {
        return Ok(());
    }
    explain!("urxe: QP {:#x}: a datagram without wr_set_ud_addr", qp.number);
    Err(Errno::EINVAL)
}

/// Forgets the series. Windows that it would have bound have their keys again.
fn drop_series(send: &mut SendQueue) {
    send.failed = None;
    let first = send.ring.tail;
    for ahead in (0..core::mem::take(&mut send.building)).rev() {
        if let Target::Window { mw, bind } = send.ring.wqe(first.wrapping_add(ahead)).target {
            // SAFETY: the window is used in this series, so it exists.
            unsafe { (*mw).rkey = bind.old_rkey() };
        }
    }
}

/// The QP and its send queue, whose lock `wr_start` has taken.
///
/// # Safety
///
/// `qp` must be a live QP, on which the thread has called `wr_start`.
#[inline]
unsafe fn kept<'a>(qp: *mut ibv_qp_ex) -> (&'a Qp, Sending<'a>) {
    // SAFETY: the caller's promise.
    unsafe {
        let qp = Qp::of(qp.cast());
        (qp, qp.kept())
    }
}

/// Begins a request of the series.
///
/// # Safety
///
/// As for [`kept`].
#[inline]
unsafe fn begin(
    qp: *mut ibv_qp_ex,
    opcode: ibv_wr_opcode,
    target: impl FnOnce() -> Result<Target>,
    more: impl FnOnce(&mut Place<'_>),
) {
    // SAFETY: the caller's promise; it has set the two members.
    let ((this, mut send), wr_id, flags) =
        unsafe { (kept(qp), (*qp).wr_id, (*qp).wr_flags & !IBV_SEND_INLINE) };
    if send.failed.is_none() {
        let result = check_request(this, opcode, flags).and_then(|flags| {
            check_room(this, &send, send.building)?;
            let request = Request::new(wr_id, opcode, flags, target()?);
            let position = send.ring.tail.wrapping_add(send.building);
            let mut place = send.ring.place(position);
            place.begin(request);
            more(&mut place);
            Ok(())
        });
        match result {
            Ok(()) => send.building += 1,
            Err(errno) => send.failed = Some(errno),
        }
    }
    send.keep();
}

/// Changes the request that the last builder began.
///
/// # Safety
///
/// As for [`kept`].
#[inline]
unsafe fn change(
    qp: *mut ibv_qp_ex,
    name: &str,
    set: impl FnOnce(&Qp, &mut Place<'_>) -> Result<()>,
) {
    // SAFETY: the caller's promise.
    let (this, mut send) = unsafe { kept(qp) };
    if send.failed.is_none() {
        let caps = send.ring.caps();
        let result = match send.building.checked_sub(1) {
            Some(ahead) => {
                let position = send.ring.tail.wrapping_add(ahead);
                set(this, &mut send.ring.place(position))
            }
            // A setter before a builder.
            None => Err(Errno::EINVAL),
        };
        if let Err(errno) = result {
            explain!(
                "{name}: QP {:#x}: not for this request, or more than {} entries or {} inline bytes",
                this.number,
                caps.1,
                caps.2,
            );
            send.failed = Some(errno);
        }
    }
    send.keep();
}

/// Defines builders: name, arguments, opcode, target, what else to set.
macro_rules! builders {
    ($(fn $name:ident($($arg:ident: $type:ty),*) => $opcode:ident, $target:expr, $more:expr;)*) => {
        $(
            unsafe extern "C" fn $name(qp: *mut ibv_qp_ex $(, $arg: $type)*) {
                // SAFETY: the caller passes a QP after the begin of a series, and what the request
                // demands.
                unsafe { begin(qp, $opcode, || Ok($target), $more) }
            }
        )*
    };
}

/// No more than the target.
fn nothing(_: &mut Place<'_>) {}

builders! {
    fn wr_rdma_write(rkey: u32, address: u64) =>
        IBV_WR_RDMA_WRITE, Target::Memory { address, rkey }, nothing;
    fn wr_rdma_write_imm(rkey: u32, address: u64, imm: u32) =>
        IBV_WR_RDMA_WRITE_WITH_IMM, Target::Memory { address, rkey },
        |place| place.request().imm_or_key = imm;
    fn wr_rdma_read(rkey: u32, address: u64) =>
        IBV_WR_RDMA_READ, Target::Memory { address, rkey }, nothing;
    fn wr_send() => IBV_WR_SEND, Target::Peer, nothing;
    fn wr_send_imm(imm: u32) =>
        IBV_WR_SEND_WITH_IMM, Target::Peer, |place| place.request().imm_or_key = imm;
    fn wr_send_inv(key: u32) =>
        IBV_WR_SEND_WITH_INV, Target::Peer, |place| place.request().imm_or_key = key;
    fn wr_local_inv(key: u32) =>
        IBV_WR_LOCAL_INV, Target::Peer, |place| place.request().imm_or_key = key;
    fn wr_atomic_cmp_swp(rkey: u32, address: u64, operand: u64, swap: u64) =>
        IBV_WR_ATOMIC_CMP_AND_SWP, Target::Word { address, rkey, operand, swap }, nothing;
    fn wr_atomic_fetch_add(rkey: u32, address: u64, operand: u64) =>
        IBV_WR_ATOMIC_FETCH_AND_ADD, Target::Word { address, rkey, operand, swap: 0 }, nothing;
    fn wr_flush(rkey: u32, address: u64, length: usize, placement: u8, level: u8) =>
        IBV_WR_FLUSH,
        Target::Flush { address, rkey, length: length as u64, placement, level },
        nothing;
}

unsafe extern "C" fn wr_bind_mw(
    qp: *mut ibv_qp_ex,
    mw: *mut ibv_mw,
    rkey: u32,
    info: *const ibv_mw_bind_info,
) {
    // SAFETY: the caller passes a QP after the begin of a series, a window and what it shall open.
    unsafe { begin(qp, IBV_WR_BIND_MW, || window(mw, rkey, &*info), nothing) }
}

unsafe extern "C" fn wr_atomic_write(
    qp: *mut ibv_qp_ex,
    rkey: u32,
    address: u64,
    data: *const c_void,
) {
    // SAFETY: the caller passes a QP after the begin of a series, and eight bytes.
    unsafe {
        begin(
            qp,
            IBV_WR_ATOMIC_WRITE,
            || Ok(Target::Memory { address, rkey }),
            |place| {
                place.word(data.cast::<[u8; 8]>().read_unaligned());
            },
        );
    }
}

unsafe extern "C" fn wr_set_ud_addr(
    qp: *mut ibv_qp_ex,
    ah: *mut ibv_ah,
    remote_qpn: u32,
    remote_qkey: u32,
) {
    // SAFETY: the caller passes a QP after a builder, and an address handle.
    unsafe {
        change(qp, "wr_set_ud_addr", |qp, place| {
            if qp.kind == IBV_QPT_UD {
                place.request().target = datagram(qp, ah, remote_qpn, remote_qkey)?;
            }
            Ok(())
        });
    }
}

unsafe extern "C" fn wr_set_xrc_srqn(qp: *mut ibv_qp_ex, remote_srqn: u32) {
    // SAFETY: the caller passes a QP after a builder.
    unsafe {
        change(qp, "wr_set_xrc_srqn", |_, place| {
            place.request().remote_srqn = remote_srqn;
            Ok(())
        });
    }
}

/// Begins the data of a request anew: EINVAL if it has none, or no inline data.
fn data(place: &mut Place<'_>, inline: bool) -> Result<()> {
    let opcode = place.request().opcode;
    let has_none =
        matches!(opcode, IBV_WR_LOCAL_INV | IBV_WR_BIND_MW | IBV_WR_FLUSH | IBV_WR_ATOMIC_WRITE);
    if has_none || inline && !takes_inline(opcode) {
        return Err(Errno::EINVAL);
    }
    place.drop_data();
    Ok(())
}

unsafe extern "C" fn wr_set_sge(qp: *mut ibv_qp_ex, lkey: u32, addr: u64, length: u32) {
    // SAFETY: the caller passes a QP after a builder.
    unsafe {
        change(qp, "wr_set_sge", |_, place| {
            data(place, false)?;
            place.add(ibv_sge { addr, length, lkey }).then_some(()).ok_or(Errno::EINVAL)
        });
    }
}

unsafe extern "C" fn wr_set_sge_list(qp: *mut ibv_qp_ex, num_sge: usize, list: *const ibv_sge) {
    // SAFETY: the caller passes a QP after a builder, and so many entries.
    unsafe {
        change(qp, "wr_set_sge_list", |_, place| {
            data(place, false)?;
            for index in 0..num_sge {
                if !place.add(*list.add(index)) {
                    return Err(Errno::EINVAL);
                }
            }
            Ok(())
        });
    }
}

unsafe extern "C" fn wr_set_inline_data(qp: *mut ibv_qp_ex, addr: *mut c_void, length: usize) {
    // SAFETY: the caller passes a QP after a builder, and so many bytes.
    unsafe {
        change(qp, "wr_set_inline_data", |_, place| {
            data(place, true)?;
            add_inline(place, addr.cast(), length)
        });
    }
}

unsafe extern "C" fn wr_set_inline_data_list(
    qp: *mut ibv_qp_ex,
    num_buf: usize,
    list: *const ibv_data_buf,
) {
    // SAFETY: the caller passes a QP after a builder, and so many pieces of data.
    unsafe {
        change(qp, "wr_set_inline_data_list", |_, place| {
            data(place, true)?;
            for index in 0..num_buf {
                let piece = *list.add(index);
                add_inline(place, piece.addr.cast(), piece.length)?;
            }
            Ok(())
        });
    }
}
