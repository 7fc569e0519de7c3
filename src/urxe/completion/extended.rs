//! Polling field by field: the functions of `ibv_cq_ex`. `ibv_create_cq_ex(3)`
//!
//! From `start_poll` to `end_poll` the calling thread has the CQ for itself. Fields are read from the
//! ring: it has one entry more than completions may wait, so the current one stays there, although
//! its place is given back at once. It has to be: a program that posts while it polls may never come
//! to the end, as what it posts is complete before it looks for more.

use crate::sync::atomic::Ordering::Relaxed;
use core::ffi::{c_int, c_uint};

use super::cq::Cq;
use super::retire;
use crate::abi::*;
use crate::urxe::host::{self, agent};
use crate::urxe::shared::Cqe;

/// Sets the functions for the fields that were asked for, and those that are always there.
pub(super) fn set_functions(cq: &mut ibv_cq_ex, fields: u64) {
    let has = |field: c_uint| fields & u64::from(field) != 0;
    cq.start_poll = Some(start_poll);
    cq.next_poll = Some(next_poll);
    cq.end_poll = Some(end_poll);
    cq.read_opcode = Some(read_opcode);
    cq.read_vendor_err = Some(read_vendor_err);
    cq.read_wc_flags = Some(read_wc_flags);
    cq.read_byte_len = has(IBV_WC_EX_WITH_BYTE_LEN).then_some(read_byte_len);
    cq.read_imm_data = has(IBV_WC_EX_WITH_IMM).then_some(read_imm_data);
    cq.read_qp_num = has(IBV_WC_EX_WITH_QP_NUM).then_some(read_qp_num);
    cq.read_src_qp = has(IBV_WC_EX_WITH_SRC_QP).then_some(read_src_qp);
    cq.read_slid = has(IBV_WC_EX_WITH_SLID).then_some(read_slid);
    cq.read_sl = has(IBV_WC_EX_WITH_SL).then_some(read_sl);
    cq.read_dlid_path_bits = has(IBV_WC_EX_WITH_DLID_PATH_BITS).then_some(read_dlid_path_bits);
    cq.read_completion_ts = has(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP).then_some(read_completion_ts);
    cq.read_completion_wallclock_ns =
        has(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK).then_some(read_completion_wallclock_ns);
}

/// # Safety
///
/// `cq` must be a live extended CQ of this device.
unsafe fn of<'a>(cq: *mut ibv_cq_ex) -> &'a Cq {
    // SAFETY: the caller's promise.
    unsafe { Cq::of(cq.cast()) }
}

unsafe extern "C" fn start_poll(cq: *mut ibv_cq_ex, attr: *mut ibv_poll_cq_attr) -> c_int {
    // SAFETY: the caller passes an extended CQ of this device and NULL or attributes.
    let (this, mask) = unsafe { (of(cq), attr.as_ref().map_or(0, |attr| attr.comp_mask)) };
    if mask != 0 {
        return libc::EINVAL;
    }
    if this.has_pending() {
        retire::progress(this);
    }
    if !this.host().is_current() {
        return libc::ENODEV;
    }
    if this.looks_empty() {
        agent::serve_if_asked(this.host());
        return libc::ENOENT;
    }
    this.polling().lock();
    // SAFETY: this thread has the CQ for itself.
    let status = unsafe { advance(cq) };
    if status != 0 {
        this.polling().unlock();
    }
    status
}

unsafe extern "C" fn next_poll(cq: *mut ibv_cq_ex) -> c_int {
    // SAFETY: the caller has started to poll the CQ.
    unsafe { advance(cq) }
}

unsafe extern "C" fn end_poll(cq: *mut ibv_cq_ex) {
    // SAFETY: the caller has started to poll the CQ.
    let this = unsafe { of(cq) };
    this.polling().unlock();
}

/// Makes the next completion the current one, or returns ENOENT.
///
/// # Safety
///
/// `cq` must be an extended CQ that this thread polls.
unsafe fn advance(cq: *mut ibv_cq_ex) -> c_int {
    // SAFETY: the caller's promise.
    let this = unsafe { of(cq) };
    let Some(ring) = this.ring() else { return libc::ENOENT };
    let taken = this.take(&ring);
    ring.publish(this.head.load(Relaxed));
    let Some(taken) = taken else { return libc::ENOENT };
    // SAFETY: as above; nobody else writes these members.
    unsafe {
        (*cq).wr_id = taken.wr_id;
        (*cq).status = taken.status;
    }
    0
}

impl Cq {
    /// The current completion: the last one that was taken.
    fn current(&self) -> Option<&'static Cqe> {
        self.ring()?.at(self.head.load(Relaxed).wrapping_sub(1))
    }
}

/// A field of the current completion.
///
/// # Safety
///
/// `cq` must be an extended CQ that this thread polls.
unsafe fn field<T: Default>(cq: *mut ibv_cq_ex, read: impl FnOnce(&Cqe) -> T) -> T {
    // SAFETY: the caller's promise.
    unsafe { of(cq) }.current().map(read).unwrap_or_default()
}

/// Functions that read a field of the current completion.
macro_rules! fields {
    ($($(#[$doc:meta])* fn $name:ident() -> $type:ty { $read:expr })+) => {
        $(
            $(#[$doc])*
            unsafe extern "C" fn $name(cq: *mut ibv_cq_ex) -> $type {
                // SAFETY: the caller polls the CQ.
                unsafe { field(cq, $read) }
            }
        )+
    };
}

fields! {
    fn read_opcode() -> ibv_wc_opcode { Cqe::opcode }
    fn read_vendor_err() -> u32 { |cqe| cqe.vendor_err.load(Relaxed) }
    fn read_wc_flags() -> c_uint { Cqe::wc_flags }
    fn read_byte_len() -> u32 { |cqe| cqe.byte_len.load(Relaxed) }
    fn read_imm_data() -> u32 { |cqe| cqe.imm_or_key.load(Relaxed) }
    fn read_qp_num() -> u32 { |cqe| cqe.qp_num.load(Relaxed) }
    fn read_src_qp() -> u32 { |cqe| cqe.src_qp.load(Relaxed) }
    fn read_slid() -> u32 { |cqe| u32::from(cqe.slid()) }
    fn read_sl() -> u8 { Cqe::sl }
    fn read_dlid_path_bits() -> u8 { |_| 0 }
    /// Nanoseconds of CLOCK_MONOTONIC, the device's clock.
    fn read_completion_ts() -> u64 { |cqe| cqe.timestamp.load(Relaxed) }
    /// Nanoseconds of CLOCK_REALTIME.
    fn read_completion_wallclock_ns() -> u64 { |cqe| wallclock(cqe.timestamp.load(Relaxed)) }
}

/// A time of CLOCK_MONOTONIC on CLOCK_REALTIME, in nanoseconds: as the two stand to each other now.
fn wallclock(time: u64) -> u64 {
    let age = host::now().saturating_sub(time);
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: there is room for the time; this clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now) };
    (now.tv_sec.cast_unsigned())
        .wrapping_mul(1_000_000_000)
        .wrapping_add(now.tv_nsec.cast_unsigned())
        .saturating_sub(age)
}
