//! Completion queues through the verbs, with events, and from other processes.

use crate::sync::atomic::Ordering::Relaxed;
use core::ffi::{c_int, c_void};
use core::ptr;
use std::cell::RefCell;

use super::add::add;
use super::*;
use crate::abi::*;
use crate::sys::errno::Errno;
use crate::urxe::device::{Opened, Pd};
use crate::urxe::host::testing::Child;
use crate::urxe::host::{self, Host};
use crate::urxe::limits::MAX_CQE;
use crate::urxe::origin::Origin;
use crate::urxe::queue::OwnQueue;
use crate::urxe::queue::owner::Identity;
use crate::urxe::shared::{CqShared, IN_A_HURRY, PATIENCE};
use crate::verbs::comp_channel::{
    ibv_ack_cq_events, ibv_create_comp_channel, ibv_destroy_comp_channel, ibv_get_cq_event,
};
use crate::verbs::cq::ibv_resize_cq;
use crate::verbs::cq::{create_cq_ex as verbs_create_cq_ex, ibv_create_cq, ibv_destroy_cq};
use crate::verbs::event::{ibv_ack_async_event, ibv_get_async_event};

/// A CQ that is destroyed with its last use.
struct Made(*mut ibv_cq);

impl Made {
    fn new(opened: &Opened, entries: c_int, channel: *mut ibv_comp_channel) -> Made {
        // SAFETY: a live context, and NULL or a channel of it.
        let cq = unsafe { ibv_create_cq(opened.get(), entries, ptr::null_mut(), channel, 0) };
        assert!(!cq.is_null(), "{:?}", Errno::last());
        Made(cq)
    }

    fn extended(opened: &Opened, attr: &mut ibv_cq_init_attr_ex) -> Result<Made, Errno> {
        // SAFETY: a live context and attributes.
        let cq = unsafe { verbs_create_cq_ex(opened.get(), attr) };
        if cq.is_null() { Err(Errno::last()) } else { Ok(Made(cq.cast())) }
    }

    fn cq(&self) -> &Cq {
        // SAFETY: a live CQ.
        unsafe { Cq::of(self.0) }
    }

    fn add(&self, entry: &Entry<'_>) -> Added {
        let host = host::host().unwrap();
        add(host, host.own(), self.cq().record(), entry, PATIENCE)
    }

    fn add_ids(&self, ids: impl IntoIterator<Item = u64>) {
        for wr_id in ids {
            assert_eq!(self.add(&Entry { wr_id, ..Entry::default() }), Added::Done);
        }
    }

    fn poll(&self, count: usize) -> Vec<ibv_wc> {
        let mut wc = vec![ibv_wc::zeroed(); count];
        // SAFETY: a live CQ, and room for so many.
        let got = unsafe { poll_cq(self.0, count as c_int, wc.as_mut_ptr()) };
        wc.truncate(usize::try_from(got).unwrap());
        wc
    }

    fn ids(&self, count: usize) -> Vec<u64> {
        self.poll(count).iter().map(|wc| wc.wr_id).collect()
    }

    fn arm(&self, solicited: bool) {
        // SAFETY: a live CQ.
        assert_eq!(unsafe { req_notify_cq(self.0, solicited.into()) }, 0);
    }

    fn resize(&self, entries: c_int) -> c_int {
        // SAFETY: a live CQ.
        unsafe { ibv_resize_cq(self.0, entries) }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // SAFETY: a live CQ, for the last time.
        assert_eq!(unsafe { ibv_destroy_cq(self.0) }, 0);
    }
}

/// Completion events that wait in a channel.
fn events(channel: *mut ibv_comp_channel) -> usize {
    let mut bytes: c_int = 0;
    // SAFETY: a live channel, and room for the number.
    unsafe { libc::ioctl((*channel).fd, libc::FIONREAD, &raw mut bytes) };
    bytes as usize / 8
}

#[test]
fn sizes_and_vectors_are_checked() {
    let opened = Opened::new();
    let create = |entries, vector| {
        // SAFETY: a live context.
        let cq = unsafe {
            ibv_create_cq(opened.get(), entries, ptr::null_mut(), ptr::null_mut(), vector)
        };
        if cq.is_null() { Err(Errno::last()) } else { Ok(Made(cq)) }
    };
    for (entries, vector) in [(0, 0), (-1, 0), (MAX_CQE as c_int + 1, 0), (5, 1), (5, -1)] {
        assert_eq!(create(entries, vector).err(), Some(Errno::EINVAL), "{entries} {vector}");
    }
    for entries in [1, 3, 100, MAX_CQE as c_int] {
        let made = create(entries, 0).unwrap();
        // SAFETY: a live CQ.
        assert_eq!(unsafe { ((*made.0).cqe, (*made.0).context) }, (entries, opened.get()));
    }
}

#[test]
fn completions_are_polled_in_order() {
    let opened = Opened::new();
    let made = Made::new(&opened, 4, ptr::null_mut());
    assert!(made.poll(3).is_empty());
    for round in 0..10 {
        made.add_ids(round..round + 4);
        assert_eq!(made.ids(0), []);
        assert_eq!(made.ids(3), [round, round + 1, round + 2]);
        assert_eq!(made.ids(3), [round + 3]);
    }
    assert_eq!(made.add(&Entry { status: IBV_WC_REM_OP_ERR, ..Entry::default() }), Added::Done);
    assert_eq!(made.poll(1)[0].status, IBV_WC_REM_OP_ERR);
}

#[test]
fn what_is_no_queue_takes_no_completion() {
    let opened = Opened::new();
    let host = host::host().unwrap();
    let add_at = |cq| add(host, host.own(), cq, &Entry::default(), PATIENCE);
    let record = Made::new(&opened, 4, ptr::null_mut()).cq().record();
    for place in [record, record + 1, 4 << 30, u64::MAX] {
        assert_eq!(add_at(place), Added::Gone);
    }
    let made = Made::new(&opened, 4, ptr::null_mut());
    let shared: &CqShared = host.memory().at(made.cq().record()).unwrap();
    let capacity = shared.capacity.swap(3, Relaxed);
    assert_eq!(made.add(&Entry::default()), Added::Gone);
    shared.capacity.store(u32::MAX, Relaxed);
    assert_eq!(made.add(&Entry::default()), Added::Gone);
    shared.capacity.store(capacity, Relaxed);
    assert_eq!(made.add(&Entry::default()), Added::Done);
}

#[test]
fn an_overrun_is_an_asynchronous_event() {
    let opened = Opened::new();
    let made = Made::new(&opened, 2, ptr::null_mut());
    made.add_ids(0..2);
    assert_eq!(made.add(&Entry::default()), Added::Overrun);
    assert_eq!(made.add(&Entry::default()), Added::Overrun);
    assert_eq!(made.ids(8), [0, 1]);
    let mut event = ibv_async_event::zeroed();
    // SAFETY: live objects.
    unsafe {
        assert_eq!(ibv_get_async_event(opened.get(), &mut event), 0);
        assert_eq!((event.event_type, event.element.cq), (IBV_EVENT_CQ_ERR, made.0));
        ibv_ack_async_event(&mut event);
    }
    assert_eq!(opened.events(), []);
}

#[test]
fn events_follow_wishes_and_are_acknowledged() {
    let opened = Opened::new();
    // SAFETY: a live context.
    let channel = unsafe { ibv_create_comp_channel(opened.get()) };
    let made = Made::new(&opened, 64, channel);
    made.add_ids(0..2);
    assert_eq!(events(channel), 0);
    made.arm(false);
    assert_eq!(events(channel), 0, "an event is for the next completion");
    made.add_ids(2..4);
    assert_eq!(events(channel), 1);
    made.arm(true);
    made.add_ids(4..6);
    assert_eq!(events(channel), 1);
    made.add(&Entry { solicited: true, ..Entry::default() });
    assert_eq!(events(channel), 2);
    made.arm(true);
    made.add(&Entry { status: IBV_WC_WR_FLUSH_ERR, ..Entry::default() });
    assert_eq!(events(channel), 3);
    let (mut cq, mut cq_context) = (ptr::null_mut(), ptr::null_mut::<c_void>());
    // SAFETY: live objects.
    unsafe {
        for _ in 0..2 {
            assert_eq!(ibv_get_cq_event(channel, &mut cq, &mut cq_context), 0);
            assert_eq!(cq, made.0);
        }
        assert_eq!(ibv_destroy_comp_channel(channel), libc::EBUSY);
        // One event is not read: it goes with the CQ. Two were read, and are waited for.
        let address = made.0.expose_provenance();
        let destroyer = std::thread::spawn(move || {
            drop(Made(ptr::with_exposed_provenance_mut(address)));
        });
        core::mem::forget(made);
        std::thread::sleep(core::time::Duration::from_millis(20));
        assert!(!destroyer.is_finished());
        ibv_ack_cq_events(cq, 2);
        destroyer.join().unwrap();
        assert_eq!(events(channel), 0);
        assert_eq!(ibv_destroy_comp_channel(channel), 0);
    }
}

#[test]
fn resizing_keeps_completions_and_gives_room() {
    let opened = Opened::new();
    let made = Made::new(&opened, 3, ptr::null_mut());
    made.add_ids(0..3);
    assert_eq!(made.resize(2), libc::EINVAL);
    assert_eq!(made.resize(0), libc::EINVAL);
    assert_eq!(made.resize(-1), libc::EINVAL);
    assert_eq!(made.resize(MAX_CQE as c_int + 1), libc::EINVAL);
    assert_eq!(made.resize(7), 0);
    // SAFETY: a live CQ.
    assert_eq!(unsafe { (*made.0).cqe }, 7);
    made.add_ids(3..7);
    assert_eq!(made.ids(2), [0, 1]);
    assert_eq!(made.resize(5), 0);
    assert_eq!(made.ids(8), [2, 3, 4, 5, 6]);
    assert_eq!(made.resize(1), 0);
    made.add_ids(7..8);
    assert_eq!(made.add(&Entry::default()), Added::Overrun);
    assert_eq!(made.ids(8), [7]);
    let mut event = ibv_async_event::zeroed();
    // SAFETY: live objects.
    unsafe {
        assert_eq!(ibv_get_async_event(opened.get(), &mut event), 0);
        ibv_ack_async_event(&mut event);
    }
}

#[test]
fn a_queue_in_use_is_busy() {
    let opened = Opened::new();
    let made = Made::new(&opened, 3, ptr::null_mut());
    made.cq().hold();
    // SAFETY: a live CQ.
    assert_eq!(unsafe { ibv_destroy_cq(made.0) }, libc::EBUSY);
    made.cq().release();
}

#[test]
fn completions_of_a_qp_that_goes_are_forgotten() {
    let opened = Opened::new();
    let made = Made::new(&opened, 8, ptr::null_mut());
    for (wr_id, qp_num) in [(0, 7), (1, 8), (2, 7), (3, 8), (4, 7)] {
        made.add(&Entry { wr_id, qp_num, ..Entry::default() });
    }
    assert!(made.cq().has_completions_of(7) && !made.cq().has_completions_of(9));
    assert_eq!(made.ids(1), [0]);
    made.cq().forget(7);
    assert!(!made.cq().has_completions_of(7) && made.cq().has_completions_of(8));
    assert_eq!(made.ids(8), [1, 3]);
    made.add_ids(5..13);
    assert_eq!(made.ids(8), [5, 6, 7, 8, 9, 10, 11, 12]);
}

#[test]
fn moderation_holds_events_back() {
    let opened = Opened::new();
    // SAFETY: a live context.
    let channel = unsafe { ibv_create_comp_channel(opened.get()) };
    let made = Made::new(&opened, 64, channel);
    let modify = |attr_mask, cq_count, cq_period| {
        let moderate = ibv_moderate_cq { cq_count, cq_period };
        // SAFETY: a live CQ.
        unsafe { modify_cq(made.0, &mut ibv_modify_cq_attr { attr_mask, moderate }) }
    };
    assert_eq!(modify(2, 1, 1), libc::EINVAL);
    assert_eq!(modify(1, 3, 0), 0);
    made.arm(false);
    made.add_ids(0..2);
    assert_eq!(events(channel), 0);
    made.add_ids(2..3);
    assert_eq!(events(channel), 1);
    assert_eq!(modify(1, 1, 0), 0);
    made.arm(false);
    made.add_ids(3..4);
    assert_eq!(events(channel), 2);
    drop(made);
    // SAFETY: a live channel without CQs.
    assert_eq!(unsafe { ibv_destroy_comp_channel(channel) }, 0);
}

#[test]
fn events_that_are_held_back_come_in_time() {
    let opened = Opened::new();
    // SAFETY: a live context.
    let channel = unsafe { ibv_create_comp_channel(opened.get()) };
    let made = Made::new(&opened, 64, channel);
    let modify = |cq_count, cq_period| {
        let moderate = ibv_moderate_cq { cq_count, cq_period };
        // SAFETY: a live CQ.
        unsafe { modify_cq(made.0, &mut ibv_modify_cq_attr { attr_mask: 1, moderate }) }
    };
    let (mut cq, mut cq_context) = (ptr::null_mut(), ptr::null_mut());
    assert_eq!(modify(10, 5_000), 0);
    for round in 0..3 {
        made.arm(false);
        let before = host::now();
        made.add_ids(round..round + 1);
        // SAFETY: live objects.
        unsafe {
            assert_eq!(ibv_get_cq_event(channel, &mut cq, &mut cq_context), 0);
            ibv_ack_cq_events(cq, 1);
        }
        assert!(host::now() - before >= 5_000_000);
        assert_eq!(made.ids(4), [round]);
    }
    // As many as are wanted do not wait.
    made.arm(false);
    made.add_ids(0..10);
    assert_eq!(events(channel), 1);
    drop(made);
    // SAFETY: a live channel without CQs.
    assert_eq!(unsafe { ibv_destroy_comp_channel(channel) }, 0);
}

/// A receive of these pieces of memory, whose lengths add up to that of the message or more.
fn receive_into(pieces: &mut [Vec<u8>], payload: &[u8], flags: u32) -> Vec<ibv_wc> {
    let opened = Opened::new();
    let made = Made::new(&opened, 4, ptr::null_mut());
    let host = host::host().unwrap();
    let pd = crate::urxe::region::testing::pd();
    // SAFETY: live objects, and memory that outlives its regions.
    unsafe {
        let number = Pd::of(pd).number();
        let queue =
            OwnQueue::new(host, 1, 8, Identity { pd: number, ..Identity::default() }).unwrap();
        let mut regions = Vec::new();
        let mut list: Vec<ibv_sge> = pieces
            .iter_mut()
            .map(|piece| {
                let (addr, length) = (piece.as_mut_ptr(), piece.len());
                let access = IBV_ACCESS_LOCAL_WRITE as c_int;
                let start = addr.expose_provenance() as u64;
                let mr = crate::urxe::region::reg_mr(pd, addr.cast(), length, start, access);
                regions.push(mr);
                ibv_sge { addr: start, length: length as u32, lkey: (*mr).lkey }
            })
            .collect();
        let mut request = ibv_recv_wr {
            wr_id: 1,
            next: ptr::null_mut(),
            sg_list: list.as_mut_ptr(),
            num_sge: list.len() as c_int,
        };
        queue.post(&mut request).unwrap();
        let view = queue.view().unwrap();
        let slot = view.first().unwrap().slot;
        view.take();
        let origin = Origin::receive(queue.offset(), view.generation(), slot);
        let opcode = IBV_WC_RECV;
        made.add(&Entry { opcode, origin, payload, wc_flags: flags, ..Entry::default() });
        assert!(queue.post(&mut request).is_err(), "the slot is not free yet");
        let wc = made.poll(4);
        queue.post(&mut request).unwrap();
        for mr in regions {
            assert_eq!(crate::urxe::region::dereg_mr(mr.cast()), 0);
        }
        crate::urxe::region::testing::free_pd(pd);
        wc
    }
}

#[test]
fn short_messages_go_where_the_receive_says() {
    let mut pieces = vec![vec![0_u8; 3], vec![0; 1], vec![0; 10]];
    let wc = receive_into(&mut pieces, b"abcdefgh", 0);
    assert_eq!((wc.len(), wc[0].status), (1, IBV_WC_SUCCESS));
    assert_eq!(pieces, [b"abc".to_vec(), b"d".to_vec(), b"efgh\0\0\0\0\0\0".to_vec()]);
    // Behind the room for the global route header of a datagram.
    let mut pieces = vec![vec![0_u8; 38], vec![0; 4], vec![0; 3]];
    let wc = receive_into(&mut pieces, b"abcd", IBV_WC_GRH);
    assert_eq!(wc[0].status, IBV_WC_SUCCESS);
    assert_eq!(pieces[1..], [b"\0\0ab".to_vec(), b"cd\0".to_vec()]);
    assert_eq!(pieces[0], [0; 38]);
    // More than there is room for, which who added it should not have done.
    let mut pieces = vec![vec![0_u8; 2]];
    assert_eq!(receive_into(&mut pieces, b"abcd", 0)[0].status, IBV_WC_LOC_PROT_ERR);
}

fn init_attr(wc_flags: u32) -> ibv_cq_init_attr_ex {
    ibv_cq_init_attr_ex { cqe: 4, wc_flags: wc_flags.into(), ..ibv_cq_init_attr_ex::zeroed() }
}

#[test]
fn fields_that_the_device_lacks_are_refused() {
    let opened = Opened::new();
    for bit in 0..12 {
        let lacks = matches!(
            1 << bit,
            IBV_WC_EX_WITH_CVLAN | IBV_WC_EX_WITH_FLOW_TAG | IBV_WC_EX_WITH_TM_INFO
        );
        let made = Made::extended(&opened, &mut init_attr(1 << bit));
        assert_eq!(made.err(), lacks.then_some(Errno::EOPNOTSUPP), "{bit}");
    }
    let both = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
    for (attr, errno) in [
        (ibv_cq_init_attr_ex { comp_mask: 4, ..init_attr(0) }, Errno::EOPNOTSUPP),
        (ibv_cq_init_attr_ex { comp_mask: 1, flags: 4, ..init_attr(0) }, Errno::EOPNOTSUPP),
        (ibv_cq_init_attr_ex { comp_mask: both, ..init_attr(0) }, Errno::EINVAL),
        (ibv_cq_init_attr_ex { cqe: 0, ..init_attr(0) }, Errno::EINVAL),
        (ibv_cq_init_attr_ex { comp_vector: 1, ..init_attr(0) }, Errno::EINVAL),
    ] {
        let mut attr = attr;
        assert_eq!(Made::extended(&opened, &mut attr).err(), Some(errno));
    }
    // Flags without their bit in the mask are not looked at.
    assert!(Made::extended(&opened, &mut ibv_cq_init_attr_ex { flags: 4, ..init_attr(0) }).is_ok());
    let flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
    let mut attr = ibv_cq_init_attr_ex { comp_mask: 1, flags, cqe: 1, ..init_attr(0) };
    let made = Made::extended(&opened, &mut attr).unwrap();
    made.add_ids(0..3);
    assert_eq!(made.ids(3), [0]);
}

#[test]
fn all_fields_can_be_read() {
    let opened = Opened::new();
    let times = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
    let made = Made::extended(&opened, &mut init_attr(IBV_WC_STANDARD_FLAGS | times)).unwrap();
    let cq = made.0.cast::<ibv_cq_ex>();
    let before = (host::now(), real_time());
    made.add(&Entry {
        wr_id: 11,
        status: IBV_WC_SUCCESS,
        opcode: IBV_WC_RECV,
        vendor_err: 12,
        byte_len: 13,
        imm_or_key: 14,
        qp_num: 15,
        src_qp: 16,
        wc_flags: IBV_WC_WITH_IMM,
        sl: 17,
        pkey_index: 18,
        slid: 19,
        ..Entry::default()
    });
    made.add(&Entry { wr_id: 21, status: IBV_WC_REM_ACCESS_ERR, ..Entry::default() });
    let after = (host::now(), real_time());
    // SAFETY: a live CQ, polled by this thread; its functions are set.
    unsafe {
        let functions = *cq;
        let mut attr = ibv_poll_cq_attr { comp_mask: 1 };
        assert_eq!(functions.start_poll.unwrap()(cq, &mut attr), libc::EINVAL);
        assert_eq!(functions.start_poll.unwrap()(cq, ptr::null_mut()), 0);
        assert_eq!(((*cq).wr_id, (*cq).status), (11, IBV_WC_SUCCESS));
        assert_eq!(functions.read_opcode.unwrap()(cq), IBV_WC_RECV);
        assert_eq!(functions.read_vendor_err.unwrap()(cq), 12);
        assert_eq!(functions.read_byte_len.unwrap()(cq), 13);
        assert_eq!(functions.read_imm_data.unwrap()(cq), 14);
        assert_eq!(functions.read_qp_num.unwrap()(cq), 15);
        assert_eq!(functions.read_src_qp.unwrap()(cq), 16);
        assert_eq!(functions.read_wc_flags.unwrap()(cq), IBV_WC_WITH_IMM);
        assert_eq!(functions.read_sl.unwrap()(cq), 17);
        assert_eq!(functions.read_slid.unwrap()(cq), 19);
        assert_eq!(functions.read_dlid_path_bits.unwrap()(cq), 0);
        let ticks = functions.read_completion_ts.unwrap()(cq);
        assert!((before.0..=after.0).contains(&ticks));
        // The two clocks are not read at the same moment.
        let wallclock = functions.read_completion_wallclock_ns.unwrap()(cq);
        assert!(wallclock + 50_000_000 > before.1 && wallclock < after.1 + 50_000_000);
        assert_eq!(functions.next_poll.unwrap()(cq), 0);
        assert_eq!(((*cq).wr_id, (*cq).status), (21, IBV_WC_REM_ACCESS_ERR));
        assert_eq!(functions.next_poll.unwrap()(cq), libc::ENOENT);
        functions.end_poll.unwrap()(cq);
        assert_eq!(functions.start_poll.unwrap()(cq, ptr::null_mut()), libc::ENOENT);
        // All places are free again.
        made.add_ids(0..4);
        assert_eq!(functions.start_poll.unwrap()(cq, &mut ibv_poll_cq_attr { comp_mask: 0 }), 0);
        functions.end_poll.unwrap()(cq);
        assert_eq!(made.ids(8), [1, 2, 3]);
    }
}

#[test]
fn a_poll_that_does_not_end_leaves_room_for_more() {
    let opened = Opened::new();
    // As many as fill the ring together with the current one.
    let mut attr = ibv_cq_init_attr_ex { cqe: 15, ..init_attr(0) };
    let made = Made::extended(&opened, &mut attr).unwrap();
    let cq = made.0.cast::<ibv_cq_ex>();
    made.add_ids([0]);
    // SAFETY: a live CQ, polled by this thread; its functions are set.
    unsafe {
        let functions = *cq;
        assert_eq!(functions.start_poll.unwrap()(cq, ptr::null_mut()), 0);
        for wr_id in 1..20 {
            made.add(&Entry { wr_id, vendor_err: 99, ..Entry::default() });
            assert_eq!(functions.next_poll.unwrap()(cq), 0);
            assert_eq!((*cq).wr_id, wr_id);
        }
        // The current one stays, while as many wait as there are places for.
        assert_eq!(functions.next_poll.unwrap()(cq), libc::ENOENT);
        let places = u64::from((*made.0).cqe.cast_unsigned());
        made.add_ids(20..20 + places);
        assert_eq!(functions.read_vendor_err.unwrap()(cq), 99);
        assert_eq!(made.add(&Entry::default()), Added::Overrun);
        functions.end_poll.unwrap()(cq);
    }
}

fn real_time() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    now.as_nanos() as u64
}

#[test]
fn fields_that_were_not_asked_for_have_no_function() {
    let opened = Opened::new();
    let made = Made::extended(&opened, &mut init_attr(IBV_WC_EX_WITH_IMM)).unwrap();
    // SAFETY: a live CQ.
    let cq = unsafe { *made.0.cast::<ibv_cq_ex>() };
    assert!(cq.read_imm_data.is_some() && cq.read_opcode.is_some());
    assert!(cq.read_byte_len.is_none() && cq.read_completion_ts.is_none());
    assert!(cq.read_completion_wallclock_ns.is_none() && cq.read_qp_num.is_none());
}

thread_local! {
    static CALLS: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

unsafe extern "C" fn alloc(
    _: *mut ibv_pd,
    _: *mut c_void,
    size: usize,
    alignment: usize,
    _: u64,
) -> *mut c_void {
    CALLS.with_borrow_mut(|calls| calls.push("alloc"));
    // SAFETY: the alignment is a power of two, and divides the size when it is rounded up.
    unsafe { libc::aligned_alloc(alignment, size.next_multiple_of(alignment)) }
}

unsafe extern "C" fn free(_: *mut ibv_pd, _: *mut c_void, address: *mut c_void, _: u64) {
    CALLS.with_borrow_mut(|calls| calls.push("free"));
    // SAFETY: allocated above.
    unsafe { libc::free(address) };
}

#[test]
fn a_parent_domain_has_its_allocators_called_and_stays() {
    let opened = Opened::new();
    let pd = crate::urxe::region::testing::pd();
    // SAFETY: live objects.
    unsafe {
        let mut attr = ibv_parent_domain_init_attr {
            pd,
            comp_mask: IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS,
            alloc: Some(alloc),
            free: Some(free),
            ..ibv_parent_domain_init_attr::zeroed()
        };
        let parent = crate::urxe::region::testing::parent_domain(&mut attr);
        let mut attr = ibv_cq_init_attr_ex {
            comp_mask: IBV_CQ_INIT_ATTR_MASK_PD,
            parent_domain: parent,
            ..init_attr(0)
        };
        let made = Made::extended(&opened, &mut attr).unwrap();
        assert_eq!(crate::urxe::region::testing::dealloc_pd(parent), libc::EBUSY);
        made.add_ids(0..1);
        assert_eq!(made.ids(1), [0]);
        drop(made);
        assert_eq!(CALLS.take(), ["alloc", "free"]);
        // A domain that is no parent domain will not do.
        attr.parent_domain = pd;
        assert_eq!(Made::extended(&opened, &mut attr).err(), Some(Errno::EINVAL));
        crate::urxe::region::testing::free_pd(parent);
        crate::urxe::region::testing::free_pd(pd);
    }
}

/// The process that forked, as its child sees it.
fn parent_of(slot: u32) -> (&'static Host, std::sync::Arc<host::Peer>) {
    let host = host::host().unwrap();
    (host, host.peer(slot).unwrap())
}

#[test]
fn another_process_adds_and_wakes() {
    let opened = Opened::new();
    // SAFETY: a live context.
    let channel = unsafe { ibv_create_comp_channel(opened.get()) };
    let made = Made::new(&opened, 64, channel);
    made.arm(false);
    let (slot, record) = (host::host().unwrap().slot(), made.cq().record());
    let mut child = Child::start(|| {
        let (me, parent) = parent_of(slot);
        for wr_id in 0..50 {
            let entry = Entry { wr_id, ..Entry::default() };
            assert_eq!(add(me, &parent, record, &entry, PATIENCE), Added::Done);
        }
    });
    let (mut cq, mut cq_context) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: live objects.
    unsafe {
        assert_eq!(ibv_get_cq_event(channel, &mut cq, &mut cq_context), 0);
        ibv_ack_cq_events(cq, 1);
    }
    child.join();
    assert_eq!(made.ids(64), (0..50).collect::<Vec<_>>());
    drop(made);
    // SAFETY: a live channel without CQs.
    assert_eq!(unsafe { ibv_destroy_comp_channel(channel) }, 0);
}

#[test]
fn a_killed_process_leaves_a_queue_that_works() {
    let opened = Opened::new();
    let made = Made::new(&opened, 64, ptr::null_mut());
    let (slot, record) = (host::host().unwrap().slot(), made.cq().record());
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut child = Child::start(|| {
        let (me, parent) = parent_of(slot);
        add(me, &parent, record, &Entry { wr_id: 1, ..Entry::default() }, PATIENCE);
        let shared: &CqShared = parent.memory().at(record).unwrap();
        core::mem::forget(shared.lock.try_lock(me.holder()).unwrap());
        std::io::Write::write_all(&mut &writer, b"x").unwrap();
        loop {
            std::thread::park();
        }
    });
    std::io::Read::read_exact(&mut reader, &mut [0]).unwrap();
    child.kill();
    made.add_ids(2..4);
    assert_eq!(made.ids(64), [1, 2, 3]);
}

#[test]
fn a_child_cannot_use_what_it_inherited() {
    let opened = Opened::new();
    let made = Made::new(&opened, 4, ptr::null_mut());
    made.add_ids(0..1);
    let mut child = Child::start(|| {
        let mut wc = ibv_wc::zeroed();
        // SAFETY: the memory of the CQ was inherited.
        unsafe {
            assert_eq!(poll_cq(made.0, 1, &mut wc), -libc::ENODEV);
            assert_eq!(req_notify_cq(made.0, 0), libc::ENODEV);
            assert_eq!(resize_cq(made.0, 8), libc::ENODEV);
            assert_eq!(destroy_cq(made.0), 0);
        }
    });
    child.join();
    assert_eq!(made.ids(4), [0]);
}

/// Processes that add as fast as they can are killed at any moment. The queue goes on, what a
/// process has added arrives in order and once, and none of what the others add is lost.
#[test]
fn processes_killed_at_any_moment_do_no_harm() {
    const ROUNDS: u64 = 4;
    let opened = Opened::new();
    let made = Made::new(&opened, 1 << 10, ptr::null_mut());
    let (slot, record) = (host::host().unwrap().slot(), made.cq().record());
    for round in 0..ROUNDS {
        let mut children: Vec<Child> = (0..2_u32)
            .map(|number| {
                Child::start(|| {
                    let (me, parent) = parent_of(slot);
                    let shared: &CqShared = parent.memory().at(record).unwrap();
                    for wr_id in 0.. {
                        // The head may be past the tail that was read a moment ago.
                        let waiting = || {
                            let tail = shared.tail.load(Relaxed);
                            tail.saturating_sub(shared.head.0.load(Relaxed))
                        };
                        while waiting() > 500 {
                            std::thread::yield_now();
                        }
                        let entry = Entry { wr_id, src_qp: number, ..Entry::default() };
                        assert_eq!(add(me, &parent, record, &entry, PATIENCE), Added::Done);
                    }
                })
            })
            .collect();
        let mut next = [0_u64; 3];
        let mut look = |made: &Made| {
            for wc in made.poll(64) {
                let next = &mut next[wc.src_qp as usize];
                assert_eq!(wc.wr_id, *next, "round {round}, process {}", wc.src_qp);
                *next += 1;
            }
            next
        };
        while look(&made)[..2].iter().any(|&count| count < 30 * (round + 1)) {
            std::thread::yield_now();
        }
        children.iter_mut().for_each(Child::kill);
        for wr_id in 0..20 {
            made.add(&Entry { wr_id, src_qp: 2, ..Entry::default() });
        }
        while look(&made)[2] < 20 {}
        assert!(made.poll(1).is_empty());
    }
}

#[test]
fn a_receive_is_given_back_unless_its_completion_is_there() {
    given_back_unless_completed(true);
    given_back_unless_completed(false);
}

fn given_back_unless_completed(in_order: bool) {
    let opened = Opened::new();
    let made = Made::new(&opened, 8, ptr::null_mut());
    let host = host::host().unwrap();
    let queue = OwnQueue::new(host, 4, 1, Identity { in_order, ..Identity::default() }).unwrap();
    let mut request = ibv_recv_wr { wr_id: 77, ..ibv_recv_wr::zeroed() };
    // SAFETY: a valid list.
    unsafe { queue.post(&mut request).unwrap() };
    let view = queue.view().unwrap();
    let receive = view.first().unwrap();
    let origin = Origin::receive(view.offset, view.generation(), receive.slot);
    let entry = Entry { wr_id: 77, origin, ..Entry::default() };
    let cq = made.cq().record();
    made.add_ids([1]);

    // Dead before the head has moved: nothing is to be done.
    view.begin_taking(cq, 1);
    view.put_back();
    assert!(view.is_torn() && view.torn().is_none());
    restore(host, host.own(), &view, PATIENCE).unwrap();
    assert_eq!((view.is_torn(), view.waiting()), (false, 1));

    // Dead before the completion, with another one behind: the receive is there again.
    view.begin_taking(cq, 1);
    made.add_ids([2]);
    restore(host, host.own(), &view, PATIENCE).unwrap();
    assert_eq!(view.waiting(), 1);
    assert_eq!(view.first().unwrap().slot, receive.slot);

    // Dead behind the completion, which has been polled meanwhile: it is not given back.
    view.begin_taking(cq, 2);
    assert_eq!(made.add(&entry), Added::Done);
    assert_eq!(made.ids(8), [1, 2, 77]);
    restore(host, host.own(), &view, PATIENCE).unwrap();
    assert_eq!((view.is_torn(), view.waiting()), (false, 0));

    // The same after so many others that neither is there any more.
    let pass = || {
        for id in 10..30 {
            made.add_ids([id]);
            assert_eq!(made.ids(8), [id]);
        }
    };
    // SAFETY: a valid list.
    unsafe { queue.post(&mut request).unwrap() };
    let receive = view.first().unwrap();
    view.begin_taking(cq, 3);
    pass();
    restore(host, host.own(), &view, PATIENCE).unwrap();
    assert_eq!((view.is_torn(), view.waiting()), (false, 1));
    assert_eq!(view.first().unwrap().slot, receive.slot);
    let origin = Origin::receive(view.offset, view.generation(), receive.slot);
    view.begin_taking(cq, 23);
    assert_eq!(made.add(&Entry { origin, ..entry }), Added::Done);
    assert_eq!(made.ids(8), [77]);
    pass();
    // Its slot has been used again meanwhile.
    // SAFETY: a valid list.
    unsafe { queue.post(&mut request).unwrap() };
    restore(host, host.own(), &view, PATIENCE).unwrap();
    assert_eq!((view.is_torn(), view.waiting()), (false, 1));
    queue.close();
}

#[test]
fn a_queue_that_a_live_process_keeps_is_given_up_and_not_taken_away() {
    let opened = Opened::new();
    let made = Made::new(&opened, 4, ptr::null_mut());
    let host = host::host().unwrap();
    let (record, shared) = (made.cq().record(), made.cq().shared());
    IN_A_HURRY.set(true);
    // The own process lives; so does a word that only says so.
    let guard = shared.lock.try_lock(host.holder()).unwrap();
    // SAFETY: a live CQ.
    unsafe {
        assert_eq!(resize_cq(made.0, 8), libc::EIO);
        assert_eq!((*made.0).cqe, 4);
        assert_eq!(req_notify_cq(made.0, 0), libc::EIO);
    }
    assert_eq!(made.add(&Entry::default()), Added::Busy);
    assert_eq!(shared.overrun.load(Relaxed), 0);
    drop(guard);
    // Nothing has happened to it.
    made.add_ids([1]);
    // SAFETY: a live CQ.
    assert_eq!(unsafe { resize_cq(made.0, 8) }, 0);
    assert_eq!(made.ids(8), [1]);
    // A completion that is lost is told.
    let guard = shared.lock.try_lock(host.holder()).unwrap();
    let add = || add_own(host, host.own(), record, &Entry::default());
    assert_eq!((add(), add()), (Added::Busy, Added::Busy));
    let mut event = ibv_async_event::zeroed();
    // SAFETY: a live context and CQ.
    unsafe {
        assert_eq!(ibv_get_async_event(opened.get(), &mut event), 0);
        assert_eq!((event.event_type, event.element.cq), (IBV_EVENT_CQ_ERR, made.0));
        ibv_ack_async_event(&mut event);
    }
    // What the other goes on to write to is nobody else's.
    drop(made);
    let other = Made::new(&opened, 4, ptr::null_mut());
    assert_ne!(other.cq().record(), record);
    drop(guard);
    IN_A_HURRY.set(false);
}
