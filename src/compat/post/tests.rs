use core::cell::RefCell;

use super::*;
use crate::compat::testing::Old;
use crate::verbs::testing::{Call, Fake, new_cq, new_qp, new_srq, words};

thread_local! {
    /// The work requests that reached the provider, and how many more it takes.
    static SENT: RefCell<Vec<ibv_send_wr>> = const { RefCell::new(Vec::new()) };
    static RECEIVED: RefCell<Vec<ibv_recv_wr>> = const { RefCell::new(Vec::new()) };
    static ROOM: RefCell<usize> = const { RefCell::new(usize::MAX) };
}

/// Takes a chain until there is no room, as a provider does.
unsafe fn take<Wr: Chained>(
    mut wr: *mut Wr,
    bad_wr: *mut *mut Wr,
    taken: &RefCell<Vec<Wr>>,
) -> c_int {
    // SAFETY: the layer passes a chain and room for the bad one.
    unsafe {
        while !wr.is_null() {
            let room = ROOM.take();
            ROOM.set(room.saturating_sub(1));
            if room == 0 {
                *bad_wr = wr;
                return libc::ENOMEM;
            }
            taken.borrow_mut().push(*wr);
            wr = *(*wr).next();
        }
    }
    0
}

unsafe extern "C" fn take_sends(
    _: *mut ibv_qp,
    wr: *mut ibv_send_wr,
    bad_wr: *mut *mut ibv_send_wr,
) -> c_int {
    // SAFETY: the layer's arguments.
    SENT.with(|sent| unsafe { take(wr, bad_wr, sent) })
}

unsafe extern "C" fn take_receives(
    _: *mut ibv_qp,
    wr: *mut ibv_recv_wr,
    bad_wr: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the layer's arguments.
    RECEIVED.with(|received| unsafe { take(wr, bad_wr, received) })
}

unsafe extern "C" fn take_srq_receives(
    _: *mut ibv_srq,
    wr: *mut ibv_recv_wr,
    bad_wr: *mut *mut ibv_recv_wr,
) -> c_int {
    // SAFETY: the layer's arguments.
    RECEIVED.with(|received| unsafe { take(wr, bad_wr, received) })
}

fn provider() -> Fake {
    let fake = Fake::new();
    fake.set_ops(|ops| {
        ops.post_send = Some(take_sends);
        ops.post_recv = Some(take_receives);
        ops.post_srq_recv = Some(take_srq_receives);
    });
    SENT.take();
    RECEIVED.take();
    ROOM.set(usize::MAX);
    fake
}

/// A chain of `count` requests with `wr_id` 100, 101, ...
fn chain<Wr: Chained>(count: usize, set_id: impl Fn(&mut Wr, u64)) -> Vec<Wr> {
    let mut chain = vec![Wr::zeroed(); count];
    let base = chain.as_mut_ptr();
    for (place, wr) in chain.iter_mut().enumerate() {
        set_id(wr, 100 + place as u64);
        if place + 1 < count {
            *wr.next() = base.wrapping_add(place + 1);
        }
    }
    chain
}

fn sends(count: usize) -> Vec<ibv_send_wr_1_0> {
    chain(count, |wr: &mut ibv_send_wr_1_0, id| {
        wr.wr_id = id;
        wr.opcode = IBV_WR_SEND;
    })
}

fn receives(count: usize) -> Vec<ibv_recv_wr_1_0> {
    chain(count, |wr: &mut ibv_recv_wr_1_0, id| wr.wr_id = id)
}

/// Posts through the function that the context shows to programs.
fn post_sends(
    old: &Old,
    qp: &mut ibv_qp_1_0,
    wr: *mut ibv_send_wr_1_0,
) -> (c_int, *mut ibv_send_wr_1_0) {
    let mut bad = ptr::null_mut();
    // SAFETY: an open context, a QP of it and a chain.
    let status = unsafe {
        let post = (*old.context()).ops.post_send.unwrap();
        post(qp, wr, &mut bad)
    };
    (status, bad)
}

/// What becomes of one request on a QP of a type.
fn translated(qp_type: ibv_qp_type, wr: &mut ibv_send_wr_1_0) -> (c_int, Option<ibv_send_wr>) {
    let fake = provider();
    let old = Old::new(&fake);
    let mut real = new_qp(&fake);
    let mut qp = old.qp(&mut real);
    qp.qp_type = qp_type;
    let given = &raw mut *wr;
    let (status, bad) = post_sends(&old, &mut qp, wr);
    assert_eq!(bad, if status == 0 { ptr::null_mut() } else { given });
    (status, SENT.take().pop())
}

#[test]
fn every_member_of_a_send_is_carried_over() {
    let mut sge = [ibv_sge::zeroed(); 2];
    for opcode in [IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_SEND_WITH_INV, IBV_WR_LOCAL_INV] {
        let mut wr = ibv_send_wr_1_0::zeroed();
        wr.wr_id = 0x0123_4567_89ab_cdef;
        wr.sg_list = sge.as_mut_ptr();
        wr.num_sge = 2;
        wr.opcode = opcode;
        wr.send_flags = (IBV_SEND_SIGNALED | IBV_SEND_INLINE) as c_int;
        wr.imm_data = 0xdead_beef;
        let (status, real) = translated(IBV_QPT_RC, &mut wr);
        let real = real.unwrap();
        assert_eq!((status, real.wr_id, real.opcode), (0, wr.wr_id, opcode));
        assert_eq!((real.sg_list, real.num_sge), (sge.as_mut_ptr(), 2));
        assert_eq!(real.send_flags, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
        assert!(real.next.is_null());
        // SAFETY: the member was written.
        assert_eq!(unsafe { real.imm.imm_data }, 0xdead_beef);
    }
}

#[test]
fn remote_memory_is_carried_over() {
    for opcode in [IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ] {
        let mut wr = ibv_send_wr_1_0::zeroed();
        wr.opcode = opcode;
        wr.wr.rdma = ibv_send_wr_1_0_wr_rdma { remote_addr: 0x1122_3344_5566_7788, rkey: 99 };
        let (status, real) = translated(IBV_QPT_UC, &mut wr);
        // SAFETY: the member was written.
        let rdma = unsafe { real.unwrap().wr.rdma };
        assert_eq!((status, rdma.remote_addr, rdma.rkey), (0, 0x1122_3344_5566_7788, 99));
    }
    for opcode in [IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD] {
        let mut wr = ibv_send_wr_1_0::zeroed();
        wr.opcode = opcode;
        wr.wr.atomic =
            ibv_send_wr_1_0_wr_atomic { remote_addr: 1, compare_add: 2, swap: 3, rkey: 4 };
        let (status, real) = translated(IBV_QPT_RC, &mut wr);
        // SAFETY: the member was written.
        let atomic = unsafe { real.unwrap().wr.atomic };
        assert_eq!((status, atomic.remote_addr, atomic.compare_add), (0, 1, 2));
        assert_eq!((atomic.swap, atomic.rkey), (3, 4));
    }
}

#[test]
fn datagrams_go_to_the_real_address_handle() {
    let mut real_ah = ibv_ah::zeroed();
    let mut ah = ibv_ah_1_0::zeroed();
    ah.real_ah = &mut real_ah;
    let mut wr = ibv_send_wr_1_0::zeroed();
    for opcode in [IBV_WR_SEND, IBV_WR_SEND_WITH_IMM] {
        wr.opcode = opcode;
        wr.wr.ud = ibv_send_wr_1_0_wr_ud { ah: &mut ah, remote_qpn: 5, remote_qkey: 6 };
        let (status, real) = translated(IBV_QPT_UD, &mut wr);
        // SAFETY: the member was written.
        let ud = unsafe { real.unwrap().wr.ud };
        assert_eq!((status, ud.ah), (0, &raw mut real_ah));
        assert_eq!((ud.remote_qpn, ud.remote_qkey), (5, 6));
    }
    wr.wr.ud.ah = ptr::null_mut();
    assert!(matches!(translated(IBV_QPT_UD, &mut wr), (libc::EINVAL, None)));
}

#[test]
fn operations_without_room_in_the_old_struct_are_refused() {
    for qp_type in [IBV_QPT_RC, IBV_QPT_UD] {
        for opcode in [IBV_WR_BIND_MW, IBV_WR_TSO, IBV_WR_FLUSH, IBV_WR_ATOMIC_WRITE, u32::MAX] {
            let mut wr = ibv_send_wr_1_0::zeroed();
            wr.opcode = opcode;
            let (status, real) = translated(qp_type, &mut wr);
            assert!(real.is_none());
            assert_eq!((status, Errno::last()), (libc::EINVAL, Errno::EINVAL), "{opcode}");
        }
    }
}

#[test]
fn chains_of_any_length_arrive_whole_and_in_order() {
    let fake = provider();
    let old = Old::new(&fake);
    let (mut real_qp, mut real_srq) = (new_qp(&fake), new_srq(&fake));
    let (mut qp, mut srq) = (old.qp(&mut real_qp), old.srq(&mut real_srq));
    for count in [1, 2, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 100] {
        let expected: Vec<u64> = (100..100 + count as u64).collect();
        let (status, bad) = post_sends(&old, &mut qp, sends(count).as_mut_ptr());
        assert_eq!((status, bad), (0, ptr::null_mut()));
        let sent: Vec<u64> = SENT.take().iter().map(|wr| wr.wr_id).collect();
        assert_eq!(sent, expected);

        let mut bad = ptr::null_mut();
        // SAFETY: an open context, a QP and an SRQ of it, and chains.
        unsafe {
            let ops = (*old.context()).ops;
            let post = ops.post_recv.unwrap();
            assert_eq!(post(&mut qp, receives(count).as_mut_ptr(), &mut bad), 0);
            let received: Vec<u64> = RECEIVED.take().iter().map(|wr| wr.wr_id).collect();
            assert_eq!(received, expected);
            let post = ops.post_srq_recv.unwrap();
            assert_eq!(post(&mut srq, receives(count).as_mut_ptr(), &mut bad), 0);
            let received: Vec<u64> = RECEIVED.take().iter().map(|wr| wr.wr_id).collect();
            assert_eq!(received, expected);
        }
        assert!(bad.is_null());
    }
}

#[test]
fn the_bad_request_is_the_caller_s_own() {
    let fake = provider();
    let old = Old::new(&fake);
    let (mut real_qp, mut real_srq) = (new_qp(&fake), new_srq(&fake));
    let (mut qp, mut srq) = (old.qp(&mut real_qp), old.srq(&mut real_srq));
    let count = 2 * PIECE + 3;
    for room in [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, count - 1] {
        let mut wrs = sends(count);
        ROOM.set(room);
        let (status, bad) = post_sends(&old, &mut qp, wrs.as_mut_ptr());
        assert_eq!((status, bad), (libc::ENOMEM, wrs.as_mut_ptr().wrapping_add(room)));
        assert_eq!(SENT.take().len(), room);

        let mut wrs = receives(count);
        let mut bad = ptr::null_mut();
        // SAFETY: an open context, a QP and an SRQ of it, and chains.
        unsafe {
            ROOM.set(room);
            assert_eq!(post_recv(&mut qp, wrs.as_mut_ptr(), &mut bad), libc::ENOMEM);
            assert_eq!(bad, wrs.as_mut_ptr().wrapping_add(room));
            ROOM.set(room);
            bad = ptr::null_mut();
            assert_eq!(post_srq_recv(&mut srq, wrs.as_mut_ptr(), &mut bad), libc::ENOMEM);
            assert_eq!(bad, wrs.as_mut_ptr().wrapping_add(room));
        }
        assert_eq!(RECEIVED.take().len(), 2 * room);
    }
}

#[test]
fn requests_before_a_refused_one_are_posted() {
    let fake = provider();
    let old = Old::new(&fake);
    let mut real = new_qp(&fake);
    let mut qp = old.qp(&mut real);
    for place in [0, 1, PIECE - 1, PIECE, PIECE + 2] {
        let mut wrs = sends(PIECE + 3);
        wrs[place].opcode = IBV_WR_BIND_MW;
        let (status, bad) = post_sends(&old, &mut qp, wrs.as_mut_ptr());
        assert_eq!((status, bad), (libc::EINVAL, wrs.as_mut_ptr().wrapping_add(place)));
        assert_eq!(SENT.take().len(), place);
    }
}

#[test]
fn a_provider_that_names_no_bad_request_means_the_first() {
    let fake = Fake::new();
    let old = Old::new(&fake);
    let mut real = new_qp(&fake);
    let mut qp = old.qp(&mut real);
    fake.answer(libc::EINVAL);
    let mut wrs = sends(3);
    let (status, bad) = post_sends(&old, &mut qp, wrs.as_mut_ptr());
    assert_eq!((status, bad), (libc::EINVAL, wrs.as_mut_ptr()));
}

#[test]
fn an_empty_chain_is_the_provider_s_to_judge() {
    let fake = Fake::new();
    let old = Old::new(&fake);
    let mut real = new_qp(&fake);
    let mut qp = old.qp(&mut real);
    assert_eq!(post_sends(&old, &mut qp, ptr::null_mut()), (0, ptr::null_mut()));
    assert_eq!(fake.called(), ["post_send"]);
}

#[test]
fn polling_and_arming_reach_the_real_cq() {
    let fake = Fake::new();
    let old = Old::new(&fake);
    let mut real = new_cq(&fake);
    let mut cq = old.cq(&mut real);
    let mut wc = ibv_wc::zeroed();
    fake.answer(3);
    // SAFETY: an open context, a CQ of it, and room for a completion.
    unsafe {
        let ops = (*old.context()).ops;
        assert_eq!(ops.poll_cq.unwrap()(&mut cq, 1, &mut wc), 3);
        assert_eq!(ops.req_notify_cq.unwrap()(&mut cq, 1), 3);
    }
    assert_eq!(
        fake.calls(),
        [
            Call("poll_cq", words![&raw const *real, 1, &raw const wc]),
            Call("req_notify_cq", words![&raw const *real, 1])
        ]
    );
}
