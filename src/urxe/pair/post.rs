//! Posting: `ibv_post_send(3)`, `ibv_post_recv(3)`, `ibv_bind_mw(3)`.

use crate::sync::atomic::Ordering::SeqCst;
use core::ffi::c_int;

use super::error::flush_receives;
use super::fast;
use super::qp::{Qp, SendQueue, Sending};
use super::run::run;
use super::states::state_name;
use super::wqe::{Place, Request, Target};
use crate::abi::*;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::urxe::device::{Ah, Pd};
use crate::urxe::explain;
use crate::urxe::queue::answer;
use crate::urxe::region::{Bind, next_rkey};

/// All flags that a request can have, but for inline data.
const FLAGS: u32 = IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED;

/// `ibv_post_send(3)`
///
/// # Errors
///
/// EINVAL for a bad request, or if the QP is in RESET, INIT or RTR; ENOMEM if the queue is full;
/// ENODEV in a child process. `bad` gets the first request that is not posted.
pub(crate) unsafe extern "C" fn post_send(
    qp: *mut ibv_qp,
    wr: *mut ibv_send_wr,
    bad: *mut *mut ibv_send_wr,
) -> c_int {
    // SAFETY: the caller passes a QP and a list of requests, which ends with NULL.
    unsafe {
        let this = Qp::of(qp);
        if let Err(errno) = this.check_process() {
            return answer(Err((errno, wr)), bad);
        }
        let (mut send, mut rest) = (this.sending(), wr);
        if fast::is_ready(this, &mut send) {
            while let Some(request) = rest.as_ref() {
                if fast::likes_several(&send, request) {
                    let before = rest;
                    rest = fast::post_several(this, &mut send, rest);
                    if rest != before {
                        continue;
                    }
                }
                if !fast::try_post(this, &mut send, request) {
                    break;
                }
                rest = request.next;
            }
            if rest.is_null() {
                return 0;
            }
        }
        post_in_ring(this, send, rest, bad)
    }
}

/// Posts requests that cannot be carried out at once, and those behind them.
///
/// # Safety
///
/// As for [`post_sends`]; `bad` must be room for a pointer.
#[inline(never)]
unsafe fn post_in_ring(
    qp: &Qp,
    send: Sending<'_>,
    wr: *mut ibv_send_wr,
    bad: *mut *mut ibv_send_wr,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { answer(post_sends(qp, send, wr), bad) }
}

/// # Safety
///
/// `wr` must be NULL or a valid list of requests.
unsafe fn post_sends(
    qp: &Qp,
    mut send: Sending<'_>,
    mut wr: *mut ibv_send_wr,
) -> core::result::Result<(), (Errno, *mut ibv_send_wr)> {
    check_state(qp).map_err(|errno| (errno, wr))?;
    let mut result = Ok(());
    // SAFETY: the caller's promise.
    while let Some(request) = unsafe { wr.as_ref() } {
        // SAFETY: the caller's promise.
        if let Err(errno) = unsafe { post_one(qp, &mut send, request) } {
            result = Err((errno, wr));
            break;
        }
        wr = request.next;
    }
    run(qp, &mut send);
    result
}

/// EINVAL in a state in which sends cannot be posted.
pub(super) fn check_state(qp: &Qp) -> Result<()> {
    let state = qp.state();
    if matches!(state, IBV_QPS_RTS | IBV_QPS_SQD | IBV_QPS_SQE | IBV_QPS_ERR)
        && qp.kind != IBV_QPT_XRC_RECV
    {
        return Ok(());
    }
    explain!(
        "urxe: QP {:#x} of type {} takes no sends in state {}",
        qp.number,
        qp.kind,
        state_name(state),
    );
    Err(Errno::EINVAL)
}

/// ENOMEM if there is no room for a request behind so many others.
#[inline]
pub(super) fn check_room(qp: &Qp, send: &SendQueue, ahead: u32) -> Result<()> {
    if send.ring.has_room(ahead, qp.freed()) {
        return Ok(());
    }
    explain!(
        "urxe: the send queue of QP {:#x} is full: {} requests are outstanding, whose completions, \
         or those of later ones, have not been polled",
        qp.number,
        send.ring.caps().0,
    );
    Err(Errno::ENOMEM)
}

/// # Safety
///
/// The request must be valid for its opcode and the type of the QP.
unsafe fn post_one(qp: &Qp, send: &mut SendQueue, wr: &ibv_send_wr) -> Result<()> {
    let inline = wr.send_flags & IBV_SEND_INLINE != 0;
    let flags = check_request(qp, wr.opcode, wr.send_flags & !IBV_SEND_INLINE)?;
    if inline && !takes_inline(wr.opcode) {
        explain!("urxe: QP {:#x}: opcode {} has no inline data", qp.number, wr.opcode);
        return Err(Errno::EINVAL);
    }
    if matches!(wr.opcode, IBV_WR_ATOMIC_WRITE | IBV_WR_FLUSH) {
        explain!("urxe: QP {:#x}: opcode {} is posted by ibv_wr_* only", qp.number, wr.opcode);
        return Err(Errno::EINVAL);
    }
    check_room(qp, send, 0)?;
    // SAFETY: the caller's promise.
    let target = unsafe { target(qp, wr) }?;
    let mut request = Request::new(wr.wr_id, wr.opcode, flags, target);
    // SAFETY: both members are numbers; so is the only one of the XRC union.
    unsafe {
        request.imm_or_key = wr.imm.imm_data;
        if qp.kind == IBV_QPT_XRC_SEND {
            request.remote_srqn = wr.qp_type.xrc.remote_srqn;
        }
    }
    let mut place = send.ring.place(send.ring.tail);
    place.begin(request);
    let has_data = !matches!(wr.opcode, IBV_WR_LOCAL_INV | IBV_WR_BIND_MW);
    let count = if has_data { wr.num_sge } else { 0 };
    // SAFETY: the caller's promise.
    let result = unsafe { add_list(&mut place, wr.sg_list, count, inline) };
    if let Err(errno) = result {
        let (_, max_sge, max_inline) = send.ring.caps();
        explain!(
            "urxe: QP {:#x}: a request with {count} entries{} is too large: {max_sge} entries or \
             {max_inline} inline bytes at most",
            qp.number,
            if inline { " of inline data" } else { "" },
        );
        return Err(errno);
    }
    send.ring.tail = send.ring.tail.wrapping_add(1);
    Ok(())
}

/// Whom the request is for.
///
/// # Safety
///
/// As for [`post_one`].
unsafe fn target(qp: &Qp, wr: &ibv_send_wr) -> Result<Target> {
    // SAFETY: the opcode, and the type of the QP, say which member of a union is valid.
    unsafe {
        Ok(match wr.opcode {
            _ if qp.kind == IBV_QPT_UD => {
                let ud = wr.wr.ud;
                datagram(qp, ud.ah, ud.remote_qpn, ud.remote_qkey)?
            }
            IBV_WR_RDMA_WRITE | IBV_WR_RDMA_WRITE_WITH_IMM | IBV_WR_RDMA_READ => {
                Target::Memory { address: wr.wr.rdma.remote_addr, rkey: wr.wr.rdma.rkey }
            }
            IBV_WR_ATOMIC_CMP_AND_SWP | IBV_WR_ATOMIC_FETCH_AND_ADD => {
                let atomic = wr.wr.atomic;
                Target::Word {
                    address: atomic.remote_addr,
                    rkey: atomic.rkey,
                    operand: atomic.compare_add,
                    swap: atomic.swap,
                }
            }
            IBV_WR_BIND_MW => {
                let bind = wr.op.bind_mw;
                window(bind.mw, bind.rkey, &bind.bind_info)?
            }
            _ => Target::Peer,
        })
    }
}

/// A destination of a datagram: EINVAL without an address handle, or with one of another PD.
///
/// # Safety
///
/// `ah` must be NULL or a live address handle of the device.
pub(super) unsafe fn datagram(qp: &Qp, ah: *mut ibv_ah, qp_num: u32, qkey: u32) -> Result<Target> {
    if ah.is_null() {
        explain!("urxe: QP {:#x}: a datagram without address handle", qp.number);
        return Err(Errno::EINVAL);
    }
    // SAFETY: the caller's promise; a PD outlives its address handles.
    let (attr, pd) = unsafe { (*Ah::of(ah).attr(), Pd::of((*ah).pd).number()) };
    if pd != qp.pd {
        explain!("urxe: QP {:#x} is of PD {}, the address handle of PD {pd}", qp.number, qp.pd);
        return Err(Errno::EINVAL);
    }
    // IBTA 10.2.5: with the top bit set, the QP's own Q_Key is used, which is known when the
    // request is carried out.
    Ok(Target::Datagram { ah: attr, qp_num, qkey })
}

/// A window to be bound: EINVAL if it is not of type 2.
///
/// # Safety
///
/// `mw` must be NULL or a live window, `info.mr` NULL or a live region of the device.
pub(super) unsafe fn window(mw: *mut ibv_mw, rkey: u32, info: &ibv_mw_bind_info) -> Result<Target> {
    // SAFETY: the caller's promise.
    unsafe {
        if mw.is_null() || (*mw).type_ != IBV_MW_TYPE_2 {
            explain!("urxe: IBV_WR_BIND_MW is for windows of type 2");
            return Err(Errno::EINVAL);
        }
        Ok(Target::Window { mw, bind: Bind::new(mw, rkey, info) })
    }
}

/// Checks opcode and flags; the flags that the request gets.
#[inline]
pub(super) fn check_request(qp: &Qp, opcode: ibv_wr_opcode, flags: u32) -> Result<u32> {
    if !is_allowed(qp.kind, opcode) {
        explain!("urxe: QP {:#x} of type {} has no opcode {opcode}", qp.number, qp.kind);
        return Err(Errno::EINVAL);
    }
    if flags & !FLAGS != 0 {
        explain!("urxe: QP {:#x}: send flags {:#x} are not supported", qp.number, flags & !FLAGS);
        return Err(Errno::EINVAL);
    }
    Ok(if qp.init.sq_sig_all != 0 { flags | IBV_SEND_SIGNALED } else { flags })
}

/// Whether requests of a type can have this opcode. IBTA volume 1, table "Operation types per
/// transport"; `ibv_wr_post(3)`.
pub(super) fn is_allowed(kind: ibv_qp_type, opcode: ibv_wr_opcode) -> bool {
    let connected = matches!(kind, IBV_QPT_RC | IBV_QPT_UC | IBV_QPT_XRC_SEND);
    let reliable = connected && kind != IBV_QPT_UC;
    match opcode {
        IBV_WR_SEND | IBV_WR_SEND_WITH_IMM => connected || kind == IBV_QPT_UD,
        IBV_WR_RDMA_WRITE
        | IBV_WR_RDMA_WRITE_WITH_IMM
        | IBV_WR_SEND_WITH_INV
        | IBV_WR_LOCAL_INV
        | IBV_WR_BIND_MW => connected,
        IBV_WR_RDMA_READ | IBV_WR_ATOMIC_CMP_AND_SWP | IBV_WR_ATOMIC_FETCH_AND_ADD => reliable,
        IBV_WR_FLUSH | IBV_WR_ATOMIC_WRITE => kind == IBV_QPT_RC,
        _ => false,
    }
}

/// Whether requests with this opcode can have inline data.
pub(super) fn takes_inline(opcode: ibv_wr_opcode) -> bool {
    matches!(
        opcode,
        IBV_WR_SEND
            | IBV_WR_SEND_WITH_IMM
            | IBV_WR_SEND_WITH_INV
            | IBV_WR_RDMA_WRITE
            | IBV_WR_RDMA_WRITE_WITH_IMM
    )
}

/// Adds the data of a request: EINVAL if there is too much of it.
///
/// # Safety
///
/// `list` must have `count` entries; with `inline`, each must name memory that can be read.
unsafe fn add_list(
    place: &mut Place<'_>,
    list: *const ibv_sge,
    count: c_int,
    inline: bool,
) -> Result<()> {
    let count = usize::try_from(count).map_err(|_| Errno::EINVAL)?;
    if count > 0 && list.is_null() {
        return Err(Errno::EINVAL);
    }
    for index in 0..count {
        // SAFETY: the caller's promise.
        let sge = unsafe { *list.add(index) };
        if inline {
            let address = core::ptr::with_exposed_provenance::<u8>(sge.addr as usize);
            // SAFETY: the caller's promise.
            unsafe { add_inline(place, address, sge.length as usize) }?;
        } else if !place.add(sge) {
            return Err(Errno::EINVAL);
        }
    }
    Ok(())
}

/// Copies inline data: EINVAL if it is too much.
///
/// # Safety
///
/// So many bytes must be readable at the address.
pub(super) unsafe fn add_inline(
    place: &mut Place<'_>,
    address: *const u8,
    length: usize,
) -> Result<()> {
    let room = place.inline(length).ok_or(Errno::EINVAL)?;
    if length > 0 {
        // SAFETY: the caller's promise; the room is the ring's own.
        unsafe { address.copy_to_nonoverlapping(room.as_mut_ptr(), length) };
    }
    Ok(())
}

/// `ibv_bind_mw(3)`: a window of type 1 gets its next key.
pub(crate) unsafe extern "C" fn bind_mw(
    qp: *mut ibv_qp,
    mw: *mut ibv_mw,
    bind: *mut ibv_mw_bind,
) -> c_int {
    // SAFETY: the caller passes a QP, a window of type 1 and a request.
    unsafe { bind_window(Qp::of(qp), mw, &*bind) }.or_number()
}

/// # Safety
///
/// `mw` must be a live window, and the region of the request NULL or a live one.
unsafe fn bind_window(qp: &Qp, mw: *mut ibv_mw, bind: &ibv_mw_bind) -> Result<()> {
    qp.check_process()?;
    // SAFETY: the caller's promise.
    if unsafe { (*mw).type_ } != IBV_MW_TYPE_1 {
        explain!("ibv_bind_mw: not a window of type 1");
        return Err(Errno::EINVAL);
    }
    let mut send = qp.sending();
    check_state(qp)?;
    let flags = check_request(qp, IBV_WR_BIND_MW, bind.send_flags & !IBV_SEND_INLINE)?;
    check_room(qp, &send, 0)?;
    // SAFETY: the caller's promise.
    let target = unsafe {
        Target::Window { mw, bind: Bind::new(mw, next_rkey((*mw).rkey), &bind.bind_info) }
    };
    let tail = send.ring.tail;
    send.ring.place(tail).begin(Request::new(bind.wr_id, IBV_WR_BIND_MW, flags, target));
    send.ring.tail = tail.wrapping_add(1);
    run(qp, &mut send);
    Ok(())
}

/// `ibv_post_recv(3)`
///
/// # Errors
///
/// EINVAL in state RESET, for a QP without a receive queue of its own, or too many entries; ENOMEM
/// if the queue is full; ENODEV in a child process. `bad` gets the first request that is not posted.
pub(crate) unsafe extern "C" fn post_recv(
    qp: *mut ibv_qp,
    wr: *mut ibv_recv_wr,
    bad: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the caller passes a QP, a list of requests and room for a pointer.
    unsafe { answer(post_receives(Qp::of(qp), wr), bad) }
}

/// # Safety
///
/// `wr` must be NULL or a valid list of requests.
unsafe fn post_receives(
    qp: &Qp,
    wr: *mut ibv_recv_wr,
) -> core::result::Result<(), (Errno, *mut ibv_recv_wr)> {
    qp.check_process().map_err(|errno| (errno, wr))?;
    let Some(queue) = &qp.receives else {
        explain!("urxe: QP {:#x} has no receive queue of its own", qp.number);
        return Err((Errno::EINVAL, wr));
    };
    if qp.state() == IBV_QPS_RESET {
        explain!("urxe: QP {:#x} takes no receives in state RESET", qp.number);
        return Err((Errno::EINVAL, wr));
    }
    // SAFETY: the caller's promise.
    let result = unsafe { queue.post(wr) };
    if let Err((errno, _)) = result {
        let (max_wr, max_sge) = queue.caps();
        explain!(
            "urxe: the receive queue of QP {:#x} refuses a request: {}",
            qp.number,
            if errno == Errno::ENOMEM {
                format!("all {max_wr} are outstanding")
            } else {
                format!("more than {max_sge} entries")
            },
        );
    }
    // Who puts the QP into error stores the state first and looks at the queue then.
    if qp.shared.state.load(SeqCst) == IBV_QPS_ERR {
        // Without it nothing can be done for those who wait; the error has been told otherwise.
        let Ok((_guard, _)) = qp.lock_record() else { return result };
        flush_receives(qp.host, qp.own(), qp.shared);
    }
    result
}
