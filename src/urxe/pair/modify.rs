//! Changing and asking: `ibv_modify_qp(3)`, `ibv_query_qp(3)`, `ibv_query_qp_data_in_order(3)`.

use crate::sync::atomic::Ordering::{Relaxed, Release};
use core::ffi::c_int;

use super::attempt::Attempt;
use super::error::enter_error;
use super::qp::{Qp, SendQueue};
use super::run::{run, stop_waiting};
use super::states::{self, Refused, names, state_name};
use crate::abi::*;
use crate::sys::errno::{Errno, Result, ReturnNumber};
use crate::urxe::device::check_address;
use crate::urxe::explain;
use crate::urxe::host::agent;
use crate::urxe::limits::{KNOWN_ACCESS, MAX_MTU, MAX_RD_ATOMIC, PKEYS, PORTS};
use crate::urxe::shared::{QPS, QpShared, TakenOver};
use crate::urxe::transfer::{Fast, Route, somebody_answers};

/// Low 24 bits: QP numbers and PSNs.
const BITS_24: u32 = 0xff_ffff;

/// `ibv_modify_qp(3)`
///
/// # Errors
///
/// EINVAL for a move that there is not, attributes that it needs or does not allow, and bad values;
/// ETIMEDOUT for a destination on Ethernet that no process has; ENODEV in a child process; EIO if a
/// request of a peer that lives is under way and does not end.
pub(crate) unsafe extern "C" fn modify_qp(
    qp: *mut ibv_qp,
    attr: *mut ibv_qp_attr,
    mask: c_int,
) -> c_int {
    // SAFETY: the caller passes a QP and its attributes.
    unsafe { modify(Qp::of(qp).real(), &*attr, mask.cast_unsigned()) }.or_number()
}

fn modify(qp: &Qp, new: &ibv_qp_attr, mask: u32) -> Result<()> {
    qp.check_process()?;
    qp.check_exists()?;
    agent::serve_if_asked(qp.host);
    let mask = states::without_ignored(qp.kind, mask);
    let to = {
        let mut send = qp.sending();
        refresh(qp, &mut send.attr);
        let from = qp.state();
        let to = if mask & IBV_QP_STATE != 0 { new.qp_state } else { from };
        check_move(qp, from, to, new, mask)?;
        check_values(qp, new, mask)?;
        if to == IBV_QPS_SQD && from == IBV_QPS_RTS {
            // It is asked for with each move.
            send.attr.en_sqd_async_notify = 0;
        }
        let before = send.attr;
        merge(&mut send.attr, new, mask);
        if let Err(errno) = move_to(qp, &mut send, from, to) {
            send.attr = before;
            return Err(errno);
        }
        to
    };
    if to == IBV_QPS_RESET {
        // A completion of before would be taken for one of the new life. The program may hold the
        // queues while it posts, so no lock of the QP is held here.
        qp.forget_completions();
    }
    Ok(())
}

fn check_move(
    qp: &Qp,
    from: ibv_qp_state,
    to: ibv_qp_state,
    new: &ibv_qp_attr,
    mask: u32,
) -> Result<()> {
    let number = qp.number;
    if mask & IBV_QP_CUR_STATE != 0 && new.cur_qp_state != from {
        let believed = state_name(new.cur_qp_state);
        explain!(
            "ibv_modify_qp: QP {number:#x} is in state {}, not in cur_qp_state {believed}",
            state_name(from)
        );
        return Err(Errno::EINVAL);
    }
    let refused = match states::check(qp.kind, from, to, mask) {
        Ok(()) => return Ok(()),
        Err(refused) => refused,
    };
    let (from, to) = (state_name(from), state_name(to));
    match refused {
        Refused::Move => {
            explain!(
                "ibv_modify_qp: QP {number:#x} of type {} cannot go from {from} to {to}",
                qp.kind
            );
        }
        Refused::Missing(missing) => {
            explain!(
                "ibv_modify_qp: QP {number:#x}: from {from} to {to} needs {} too",
                names(missing)
            );
        }
        Refused::TooMany(too_many) => {
            explain!(
                "ibv_modify_qp: QP {number:#x}: from {from} to {to} does not allow {}",
                names(too_many)
            );
        }
    }
    Err(refused.into())
}

/// Checks the values of the attributes that are given.
fn check_values(qp: &Qp, new: &ibv_qp_attr, mask: u32) -> Result<()> {
    let check = |bit: u32, what: &str, value: u32, is_good: bool| -> Result<()> {
        if mask & bit == 0 || is_good {
            return Ok(());
        }
        explain!("ibv_modify_qp: QP {:#x}: {what} {value:#x} is out of range", qp.number);
        Err(Errno::EINVAL)
    };
    let small = |bit, what, value: u8, most: u8| check(bit, what, value.into(), value <= most);
    let is_port = (1..=PORTS).contains(&new.port_num);
    check(IBV_QP_PORT, "port_num", new.port_num.into(), is_port)?;
    let index = new.pkey_index;
    check(IBV_QP_PKEY_INDEX, "pkey_index", index.into(), index < PKEYS)?;
    let access = new.qp_access_flags;
    check(IBV_QP_ACCESS_FLAGS, "qp_access_flags", access, access & !KNOWN_ACCESS == 0)?;
    let mtu = new.path_mtu;
    let is_mtu = (IBV_MTU_256..=MAX_MTU).contains(&mtu);
    check(IBV_QP_PATH_MTU, "path_mtu", mtu, is_mtu)?;
    small(IBV_QP_TIMEOUT, "timeout", new.timeout, 31)?;
    small(IBV_QP_RETRY_CNT, "retry_cnt", new.retry_cnt, 7)?;
    small(IBV_QP_RNR_RETRY, "rnr_retry", new.rnr_retry, 7)?;
    small(IBV_QP_MIN_RNR_TIMER, "min_rnr_timer", new.min_rnr_timer, 31)?;
    small(IBV_QP_MAX_QP_RD_ATOMIC, "max_rd_atomic", new.max_rd_atomic, MAX_RD_ATOMIC)?;
    let most = new.max_dest_rd_atomic;
    small(IBV_QP_MAX_DEST_RD_ATOMIC, "max_dest_rd_atomic", most, MAX_RD_ATOMIC)?;
    let qp_num = new.dest_qp_num;
    check(IBV_QP_DEST_QPN, "dest_qp_num", qp_num, qp_num <= BITS_24)?;
    let migration = new.path_mig_state;
    check(IBV_QP_PATH_MIG_STATE, "path_mig_state", migration, migration == IBV_MIG_MIGRATED)?;
    if mask & IBV_QP_ALT_PATH != 0 {
        explain!("ibv_modify_qp: QP {:#x}: the device has no alternate paths", qp.number);
        return Err(Errno::EINVAL);
    }
    if mask & IBV_QP_AV != 0 {
        check_address(qp.objects.context, &new.ah_attr, "ibv_modify_qp")?;
        // On Ethernet the address of the peer is looked up now, on InfiniBand packets get lost.
        let is_looked_up = qp.objects.context.port().is_ethernet();
        if is_looked_up && !somebody_answers(qp.host, &new.ah_attr, Some(new.dest_qp_num)) {
            explain!("ibv_modify_qp: QP {:#x}: nobody answers for the destination GID", qp.number);
            return Err(Errno::ETIMEDOUT);
        }
    }
    Ok(())
}

/// Stores the attributes that are given.
fn merge(attr: &mut ibv_qp_attr, new: &ibv_qp_attr, mask: u32) {
    macro_rules! take {
        ($($bit:ident => $($member:ident),+;)*) => {
            $(if mask & $bit != 0 {
                $(attr.$member = new.$member;)+
            })*
        };
    }
    take! {
        IBV_QP_EN_SQD_ASYNC_NOTIFY => en_sqd_async_notify;
        IBV_QP_ACCESS_FLAGS => qp_access_flags;
        IBV_QP_PKEY_INDEX => pkey_index;
        IBV_QP_PORT => port_num;
        IBV_QP_QKEY => qkey;
        IBV_QP_AV => ah_attr;
        IBV_QP_PATH_MTU => path_mtu;
        IBV_QP_TIMEOUT => timeout;
        IBV_QP_RETRY_CNT => retry_cnt;
        IBV_QP_RNR_RETRY => rnr_retry;
        IBV_QP_RQ_PSN => rq_psn;
        IBV_QP_MAX_QP_RD_ATOMIC => max_rd_atomic;
        IBV_QP_MIN_RNR_TIMER => min_rnr_timer;
        IBV_QP_SQ_PSN => sq_psn;
        IBV_QP_MAX_DEST_RD_ATOMIC => max_dest_rd_atomic;
        IBV_QP_PATH_MIG_STATE => path_mig_state;
        IBV_QP_DEST_QPN => dest_qp_num;
    }
    attr.rq_psn &= BITS_24;
    attr.sq_psn &= BITS_24;
}

/// What peers need to know.
fn publish(shared: &QpShared, attr: &ibv_qp_attr) {
    shared.access.store(attr.qp_access_flags, Relaxed);
    shared.qkey.store(attr.qkey, Relaxed);
    shared.dest_qp_num.store(attr.dest_qp_num, Relaxed);
    shared.min_rnr_timer.store(attr.min_rnr_timer.into(), Relaxed);
    shared.path_mtu.store(attr.path_mtu, Relaxed);
    shared.reads.store(attr.max_dest_rd_atomic.into(), Relaxed);
}

/// Takes over what other handles of the QP, in other processes too, have set: what peers need to
/// know of a target of XRC.
fn refresh(qp: &Qp, attr: &mut ibv_qp_attr) {
    if qp.kind == IBV_QPT_XRC_RECV {
        let shared = qp.shared;
        attr.qp_access_flags = shared.access.load(Relaxed);
        attr.dest_qp_num = shared.dest_qp_num.load(Relaxed);
        attr.min_rnr_timer = shared.min_rnr_timer.load(Relaxed) as u8;
        attr.path_mtu = shared.path_mtu.load(Relaxed);
        attr.max_dest_rd_atomic = shared.reads.load(Relaxed) as u8;
    }
}

/// Changes the state, and does what follows from that. EIO if a request of the peer does not end:
/// then nothing has changed.
fn move_to(qp: &Qp, send: &mut SendQueue, from: ibv_qp_state, to: ibv_qp_state) -> Result<()> {
    // Looking for the peer takes locks of its own.
    let connects = to == IBV_QPS_RTR && from != IBV_QPS_RTR && qp.kind != IBV_QPT_UD;
    let epoch = if connects { epoch_of(qp, send.attr.dest_qp_num) } else { 0 };
    {
        let (_guard, taken_over) = qp.lock_record()?;
        let shared = qp.shared;
        qp.stop_peer()?;
        match to {
            IBV_QPS_RESET => reset(qp, send),
            IBV_QPS_ERR => enter_error(qp.host, qp.own(), shared, None),
            _ if taken_over == TakenOver::FromTheDead => {
                // A requester died in the middle of a request.
                enter_error(qp.host, qp.own(), shared, Some(IBV_EVENT_QP_FATAL));
            }
            _ => {
                publish(shared, &send.attr);
                if connects {
                    shared.peer_epoch.store(epoch, Relaxed);
                }
                // A peer cannot change it meanwhile, the lock is held.
                if shared.state.load(Relaxed) == from {
                    shared.state.store(to, Release);
                }
            }
        }
    }
    if from == IBV_QPS_RTS && to == IBV_QPS_SQD {
        send.tells_drained = send.attr.en_sqd_async_notify != 0;
    }
    if to != IBV_QPS_RESET {
        run(qp, send);
    }
    Ok(())
}

impl Qp {
    /// Waits for what the peer has under way without the lock of the record, and makes it look again
    /// whether it is connected: with the lock held, before something changes. EIO if that does not
    /// end.
    pub(super) fn stop_peer(&self) -> Result<()> {
        self.shared.change();
        self.host.pass_marks_of(self.shared)?;
        self.shared.flags.fetch_and(!QpShared::PEER_MARKS, Relaxed);
        Ok(())
    }
}

/// Epoch of the process that has the QP with this number; 0 if there is none.
fn epoch_of(qp: &Qp, number: u32) -> u64 {
    qp.host.peer(number / QPS).map_or(0, |peer| {
        if !peer.probe() {
            agent::ask_for_server(&peer);
        }
        peer.epoch()
    })
}

/// Makes the QP as it was when it was new, with the lock of its record held.
fn reset(qp: &Qp, send: &mut SendQueue) {
    let shared = qp.shared;
    shared.state.store(IBV_QPS_RESET, Release);
    send.attr = ibv_qp_attr::zeroed();
    publish(shared, &send.attr);
    shared.msn.store(0, Relaxed);
    shared.flags.store(0, Relaxed);
    shared.peer_epoch.store(0, Relaxed);
    if let Some(queue) = &qp.receives {
        queue.clear();
    }
    send.ring.clear();
    // What is polled of before is of earlier positions, and frees nothing.
    qp.set_freed(send.ring.tail);
    (send.attempt, send.route) = (Attempt::default(), Route::default());
    send.fast = Fast::default();
    send.tells_drained = false;
    stop_waiting(qp, send);
}

/// `ibv_query_qp(3)`: all attributes, whatever the mask.
pub(crate) unsafe extern "C" fn query_qp(
    qp: *mut ibv_qp,
    attr: *mut ibv_qp_attr,
    _: c_int,
    init_attr: *mut ibv_qp_init_attr,
) -> c_int {
    // SAFETY: the caller passes a QP and room for the attributes.
    unsafe {
        let this = Qp::of(qp);
        let real = this.real();
        if let Err(errno) = this.check_process().and_then(|()| real.check_exists()) {
            return Err(errno).or_number();
        }
        *attr = attributes(real);
        *init_attr = ibv_qp_init_attr { qp_context: (*qp).qp_context, ..real.init };
    }
    0
}

fn attributes(qp: &Qp) -> ibv_qp_attr {
    let mut send = qp.sending();
    refresh(qp, &mut send.attr);
    let state = qp.state();
    let is_draining = state == IBV_QPS_SQD && send.attempt.has_begun();
    ibv_qp_attr {
        qp_state: state,
        cur_qp_state: state,
        cap: qp.init.cap,
        sq_draining: u8::from(is_draining),
        ..send.attr
    }
}

/// `ibv_query_qp_data_in_order(3)`: bytes of a message become visible in ascending order, the last
/// ones after all others.
pub(crate) unsafe extern "C" fn query_qp_data_in_order(
    _: *mut ibv_qp,
    opcode: ibv_wr_opcode,
    _: u32,
) -> c_int {
    let caps = match opcode {
        IBV_WR_RDMA_WRITE
        | IBV_WR_RDMA_WRITE_WITH_IMM
        | IBV_WR_SEND
        | IBV_WR_SEND_WITH_IMM
        | IBV_WR_SEND_WITH_INV
        | IBV_WR_RDMA_READ => {
            IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG | IBV_QUERY_QP_DATA_IN_ORDER_ALIGNED_128_BYTES
        }
        _ => 0,
    };
    caps.cast_signed()
}
