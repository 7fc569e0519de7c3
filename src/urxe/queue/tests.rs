use crate::sync::atomic::AtomicBool;
use crate::sync::atomic::Ordering::{Relaxed, SeqCst};

use super::owner::Identity;
use super::*;
use crate::abi::*;
use crate::sys::errno::Errno;
use crate::urxe::host::Host;
use crate::urxe::host::testing::Scratch;
use crate::urxe::shared::{Holder, IN_A_HURRY, PATIENCE, QueueShared, RecvSge};

fn sge(addr: u64) -> ibv_sge {
    ibv_sge { addr, length: addr as u32 + 1, lkey: addr as u32 + 2 }
}

/// Posts receives with these numbers, each with as many entries of a list.
fn post(queue: &OwnQueue, wr_ids: &[u64], entries: usize) -> Result<(), (Errno, u64)> {
    let mut list: Vec<ibv_sge> = (0..entries as u64).map(|n| sge(100 * n)).collect();
    let mut requests: Vec<ibv_recv_wr> = wr_ids
        .iter()
        .map(|&wr_id| ibv_recv_wr {
            wr_id,
            next: core::ptr::null_mut(),
            sg_list: list.as_mut_ptr(),
            num_sge: entries as i32,
        })
        .collect();
    let first = requests.as_mut_ptr();
    for index in 1..requests.len() {
        // SAFETY: inside the vector.
        unsafe { (*first.add(index - 1)).next = first.add(index) };
    }
    // SAFETY: a valid list.
    unsafe { queue.post(first).map_err(|(errno, bad)| (errno, (*bad).wr_id)) }
}

/// Takes the next receive: its number, and that of its slot.
fn take(host: &Host, queue: &OwnQueue) -> Option<(u64, u32)> {
    let view = Queue::at(host.memory(), queue.offset())?;
    let receive = view.first()?;
    view.take();
    Some((receive.wr_id, receive.slot))
}

fn free(host: &Host, queue: &OwnQueue, slot: u32) {
    polled(host.memory(), queue.offset(), queue.view().unwrap().generation(), slot);
}

#[test]
fn receives_come_out_in_order_with_their_lists() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let queue = OwnQueue::new(host, 3, 2, Identity { pd: 5, ..Identity::default() }).unwrap();
    assert_eq!(queue.caps(), (3, 2));
    assert!(take(host, &queue).is_none());
    assert_eq!(post(&queue, &[7, 8], 2), Ok(()));
    assert_eq!(post(&queue, &[9], 0), Ok(()));
    let view = Queue::at(host.memory(), queue.offset()).unwrap();
    assert_eq!((view.waiting(), view.shared.pd.load(Relaxed)), (3, 5));
    let first = view.first().unwrap();
    let entries = |list: &[RecvSge]| -> Vec<_> {
        list.iter()
            .map(|e| (e.addr.load(Relaxed), e.length.load(Relaxed), e.lkey.load(Relaxed)))
            .collect()
    };
    assert_eq!((first.wr_id, entries(first.list)), (7, vec![(0, 1, 2), (100, 101, 102)]));
    // It stays until it is taken.
    assert_eq!(view.first().unwrap().slot, first.slot);
    view.take();
    assert_eq!(take(host, &queue).unwrap().0, 8);
    let last = view.first().unwrap();
    assert_eq!((last.wr_id, last.list.len()), (9, 0));
    view.take();
    assert!(view.first().is_none());
    // What was taken can still be read, for its completion.
    assert_eq!(entries(view.receive(first.slot).unwrap().list).len(), 2);
}

#[test]
fn a_slot_is_free_when_its_completion_has_been_polled() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let queue = OwnQueue::new(host, 3, 1, Identity::default()).unwrap();
    assert_eq!(post(&queue, &[1, 2, 3, 4], 1), Err((Errno::ENOMEM, 4)));
    let (_, first) = take(host, &queue).unwrap();
    let (_, second) = take(host, &queue).unwrap();
    assert_eq!(post(&queue, &[5], 1), Err((Errno::ENOMEM, 5)));
    // Not in the order in which they were taken.
    free(host, &queue, second);
    assert_eq!(post(&queue, &[6, 7], 1), Err((Errno::ENOMEM, 7)));
    free(host, &queue, first);
    assert_eq!(post(&queue, &[8], 1), Ok(()));
    let order: Vec<_> = core::iter::from_fn(|| take(host, &queue)).map(|(id, _)| id).collect();
    assert_eq!(order, [3, 6, 8]);
}

#[test]
fn bad_receives_are_refused_and_those_before_them_are_posted() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let queue = OwnQueue::new(host, 8, 2, Identity::default()).unwrap();
    assert_eq!(post(&queue, &[1], 3), Err((Errno::EINVAL, 1)));
    let mut list = [sge(1)];
    for (num_sge, sg_list) in
        [(-1, list.as_mut_ptr()), (3, list.as_mut_ptr()), (1, core::ptr::null_mut())]
    {
        let mut bad = ibv_recv_wr { wr_id: 2, next: core::ptr::null_mut(), sg_list, num_sge };
        let mut good =
            ibv_recv_wr { wr_id: 1, next: &mut bad, sg_list: list.as_mut_ptr(), num_sge: 1 };
        // SAFETY: a valid list.
        let result = unsafe { queue.post(&mut good) };
        assert_eq!(result, Err((Errno::EINVAL, &raw mut bad)));
        assert_eq!(take(host, &queue).unwrap().0, 1);
        assert!(take(host, &queue).is_none());
    }
    // SAFETY: no request.
    assert_eq!(unsafe { queue.post(core::ptr::null_mut()) }, Ok(()));
    let none = OwnQueue::new(host, 0, 0, Identity::default()).unwrap();
    assert_eq!(post(&none, &[1], 0), Err((Errno::ENOMEM, 1)));
}

#[test]
fn counters_wrap_around() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let queue = OwnQueue::new(host, 5, 1, Identity::default()).unwrap();
    let shared = host.memory().at::<QueueShared>(queue.offset()).unwrap();
    shared.head.store(u32::MAX - 6, Relaxed);
    shared.tail.store(u32::MAX - 6, Relaxed);
    for round in 0..20_u64 {
        assert_eq!(post(&queue, &[round, round + 100], 1), Ok(()));
        assert_eq!(queue.view().unwrap().waiting(), 2);
        for wr_id in [round, round + 100] {
            let (got, slot) = take(host, &queue).unwrap();
            assert_eq!(got, wr_id);
            free(host, &queue, slot);
        }
    }
    // All five are free.
    assert_eq!(post(&queue, &[1, 2, 3, 4, 5, 6], 1), Err((Errno::ENOMEM, 6)));
}

#[test]
fn a_damaged_queue_is_no_danger() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let queue = OwnQueue::new(host, 4, 2, Identity::default()).unwrap();
    let shared = host.memory().at::<QueueShared>(queue.offset()).unwrap();
    post(&queue, &[1, 2], 2).unwrap();
    let entry = queue.view().unwrap().ring_entry(0).unwrap();
    let slot = entry.load(Relaxed);
    entry.store(u32::MAX, Relaxed);
    assert!(queue.view().unwrap().first().is_none());
    entry.store(slot, Relaxed);
    queue.view().unwrap().header(slot).unwrap().num_sge.store(3, Relaxed);
    assert!(queue.view().unwrap().first().is_none());
    shared.head.store(1000, Relaxed);
    assert_eq!(queue.view().unwrap().waiting(), 0);
    for capacity in [0, 3, u32::MAX] {
        shared.capacity.store(capacity, Relaxed);
        shared.head.store(0, Relaxed);
        assert!(queue.view().unwrap().first().is_none(), "{capacity}");
    }
    shared.slots.store(u64::MAX - 3, Relaxed);
    shared.free.store(u64::from(u32::MAX - 1), Relaxed);
    assert!(queue.view().unwrap().pop_free().is_none());
    shared.ring.store(u64::MAX, Relaxed);
    shared.capacity.store(4, Relaxed);
    assert!(queue.view().unwrap().first().is_none());
    let offset = queue.offset();
    for offset in [0, 1, offset + 4, u64::MAX] {
        assert!(Queue::at(host.memory(), offset).is_none());
    }
    core::mem::forget(queue);
}

#[test]
fn completions_of_a_queue_that_is_gone_free_nothing() {
    let host = crate::urxe::host::host().unwrap();
    let new = || OwnQueue::new(host, 1, 1, Identity::default()).unwrap();
    let queue = new();
    post(&queue, &[1], 1).unwrap();
    let (_, slot) = take(host, &queue).unwrap();
    let (offset, generation) = (queue.offset(), queue.view().unwrap().generation());
    drop(queue);
    polled(host.memory(), offset, generation, slot);
    // The record is used again, here or by another test at the same time; the old completion is none
    // of the new queue's.
    let queues: Vec<_> = (0..100).map(|_| new()).collect();
    if let Some(queue) = queues.iter().find(|queue| queue.offset() == offset) {
        post(queue, &[2], 1).unwrap();
        polled(host.memory(), offset, generation, slot);
        assert_eq!(post(queue, &[3], 1), Err((Errno::ENOMEM, 3)));
        let of = |generation| of_completion(host.memory(), offset, generation).is_some();
        assert!(!of(generation) && of(queue.view().unwrap().generation()));
    }
}

/// A queue of a QP.
fn in_order(host: &'static Host, max_wr: u32, pd: u32) -> OwnQueue {
    let identity = Identity { pd, in_order: true, ..Identity::default() };
    OwnQueue::new(host, max_wr, 2, identity).unwrap()
}

#[test]
fn clearing_frees_what_waits() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let queue = in_order(host, 3, 0);
    post(&queue, &[1, 2, 3], 1).unwrap();
    let (_, slot) = take(host, &queue).unwrap();
    queue.clear();
    assert!(take(host, &queue).is_none());
    assert_eq!(post(&queue, &[4, 5, 6], 1), Err((Errno::ENOMEM, 6)));
    free(host, &queue, slot);
    assert_eq!(post(&queue, &[6], 1), Ok(()));
    let order: Vec<_> = core::iter::from_fn(|| take(host, &queue)).map(|(id, _)| id).collect();
    assert_eq!(order, [4, 5, 6]);
    // Polled once more, it frees nothing.
    free(host, &queue, slot);
    assert_eq!(post(&queue, &[7], 1), Err((Errno::ENOMEM, 7)));
}

#[test]
fn slots_in_order_come_round() {
    let scratch = Scratch::new();
    let host = scratch.host();
    for max_wr in [1, 3, 5, 64] {
        let queue = in_order(host, max_wr, 0);
        let shared = queue.view().unwrap().shared;
        for place in [&shared.head, &shared.tail, &shared.freed, &shared.seen_tail] {
            place.store(u32::MAX - 70, Relaxed);
        }
        let (mut next, mut expected) = (0, 0);
        for _ in 0..200 {
            while post(&queue, &[next], 2).is_ok() {
                next += 1;
            }
            assert_eq!(queue.view().unwrap().waiting(), max_wr);
            // All but the last are polled one by one, the last two at once.
            let taken: Vec<_> = core::iter::from_fn(|| take(host, &queue)).collect();
            for (index, &(wr_id, slot)) in taken.iter().enumerate() {
                assert_eq!(wr_id, expected);
                expected += 1;
                assert_eq!(queue.view().unwrap().receive(slot).unwrap().wr_id, wr_id);
                if index + 2 != taken.len() {
                    free(host, &queue, slot);
                }
            }
        }
    }
}

/// The last receives, posted with lists of these lengths, may get a message of so many bytes without
/// a look at them.
fn post_lengths(queue: &OwnQueue, lengths: &[u32], lkey: u32) {
    let mut list: Vec<_> =
        lengths.iter().map(|&length| ibv_sge { addr: 0x1000, length, lkey }).collect();
    let mut request = ibv_recv_wr {
        wr_id: 0,
        next: core::ptr::null_mut(),
        sg_list: list.as_mut_ptr(),
        num_sge: list.len() as i32,
    };
    // SAFETY: a valid request.
    unsafe { queue.post(&mut request) }.unwrap();
}

#[test]
fn what_may_be_sent_without_a_look() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let key = crate::urxe::region::testing::key(host, 5, 0x1000, 4096);
    let queue = in_order(host, 4, 5);
    let view = queue.view().unwrap();
    // What the next receive takes at most, of 64 bytes.
    let room = || (0..=65).rev().find(|&length| view.is_plain(length));
    let pass = || {
        let (_, slot) = take(host, &queue).unwrap();
        free(host, &queue, slot);
    };
    assert_eq!(room(), Some(64));
    post_lengths(&queue, &[100], key);
    assert_eq!(room(), Some(64));
    // The shortest counts, also for those before it.
    post_lengths(&queue, &[5, 3], key);
    assert_eq!(room(), Some(8));
    post_lengths(&queue, &[40], key);
    (0..3).for_each(|_| pass());
    // As long as one so short may be there.
    assert_eq!(room(), Some(8));
    post_lengths(&queue, &[40], key);
    post_lengths(&queue, &[50], key);
    (0..2).for_each(|_| pass());
    for _ in 0..3 {
        post_lengths(&queue, &[50], key);
        pass();
    }
    assert_eq!(room(), Some(50));
    // A bad key: that one is looked at, and those before.
    post_lengths(&queue, &[50], key);
    post_lengths(&queue, &[50], key + 1);
    post_lengths(&queue, &[50], key);
    assert_eq!(room(), None);
    pass();
    assert_eq!(room(), None);
    pass();
    assert_eq!(room(), Some(50));
    pass();
    // No bytes need no key, but room is room.
    post_lengths(&queue, &[0], key + 1);
    assert_eq!(room(), Some(0));
    pass();
    // What was good may be gone.
    (0..8).for_each(|_| {
        post_lengths(&queue, &[64], key);
        pass();
    });
    assert_eq!(room(), Some(64));
    post_lengths(&queue, &[64], key);
    view.distrust();
    post_lengths(&queue, &[64], key);
    assert_eq!(room(), None);
    pass();
    assert_eq!(room(), Some(64));
    // Of another domain.
    let other = in_order(host, 4, 6);
    post_lengths(&other, &[64], key);
    assert!(!other.view().unwrap().is_plain(1));
}

#[test]
fn the_limit_is_told_once() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let queue = OwnQueue::new(host, 8, 1, Identity::default()).unwrap();
    post(&queue, &[1, 2, 3, 4], 1).unwrap();
    let view = queue.view().unwrap();
    view.take();
    assert!(!view.passed_limit());
    view.shared.limit.store(2, Relaxed);
    view.take();
    assert!(!view.passed_limit());
    view.take();
    assert!(view.passed_limit());
    view.take();
    assert!(!view.passed_limit());
    assert_eq!(view.shared.limit.load(Relaxed), 0);
}

#[test]
fn a_queue_changes_its_size_with_receives_in_it() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let queue = OwnQueue::new(host, 3, 2, Identity::default()).unwrap();
    let shared = host.memory().at::<QueueShared>(queue.offset()).unwrap();
    let lock = || Ok(shared.lock.lock(Holder::new(1, 1), PATIENCE, |_| false)?.0);
    shared.head.store(u32::MAX, Relaxed);
    shared.tail.store(u32::MAX, Relaxed);
    post(&queue, &[1, 2, 3], 2).unwrap();
    let (_, taken) = take(host, &queue).unwrap();
    queue.resize(10, lock).unwrap();
    assert_eq!(queue.caps(), (10, 2));
    assert_eq!(queue.view().unwrap().waiting(), 2);
    let mut more = (4..=11).collect::<Vec<u64>>();
    assert_eq!(post(&queue, &more, 1), Err((Errno::ENOMEM, 11)));
    free(host, &queue, taken);
    assert_eq!(post(&queue, &[11], 1), Ok(()));
    // Ten are outstanding.
    assert_eq!(queue.resize(9, lock), Err(Errno::EINVAL));
    let mut order = Vec::new();
    let mut slots = Vec::new();
    while let Some((wr_id, slot)) = take(host, &queue) {
        order.push(wr_id);
        slots.push(slot);
    }
    more.splice(0..0, [2, 3]);
    assert_eq!(order, more);
    slots.iter().for_each(|&slot| free(host, &queue, slot));
    queue.resize(2, lock).unwrap();
    assert_eq!(post(&queue, &[1, 2, 3], 1), Err((Errno::ENOMEM, 3)));
    queue.resize(4, lock).unwrap();
    assert_eq!(post(&queue, &[3, 4, 5], 1), Err((Errno::ENOMEM, 5)));
    let order: Vec<_> = core::iter::from_fn(|| take(host, &queue)).map(|(id, _)| id).collect();
    assert_eq!(order, [1, 2, 3, 4]);
}

#[test]
fn slots_are_freed_while_the_queue_grows() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let queue = OwnQueue::new(host, 8, 1, Identity::default()).unwrap();
    let shared = host.memory().at::<QueueShared>(queue.offset()).unwrap();
    let lock = || Ok(shared.lock.lock(Holder::new(1, 1), PATIENCE, |_| false)?.0);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for size in 9..200 {
                queue.resize(size, lock).unwrap();
                std::thread::yield_now();
            }
            done.store(true, SeqCst);
        });
        let mut wr_id = 0;
        let mut expected = 0;
        while !done.load(SeqCst) {
            while post(&queue, &[wr_id], 1).is_ok() {
                wr_id += 1;
            }
            let guard = shared.lock.lock(Holder::new(1, 2), PATIENCE, |_| false).unwrap().0;
            let taken: Vec<_> = core::iter::from_fn(|| take(host, &queue)).collect();
            drop(guard);
            for (got, slot) in taken {
                assert_eq!(got, expected);
                expected += 1;
                free(host, &queue, slot);
            }
        }
    });
    let all: Vec<u64> = (0..200).collect();
    assert_eq!(post(&queue, &all, 1), Err((Errno::ENOMEM, 199)));
}

#[test]
fn who_waits_is_told_of_what_was_posted_meanwhile() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let queue = OwnQueue::new(host, 2, 1, Identity::default()).unwrap();
    let view = queue.view().unwrap();
    assert!(!view.wait(host.slot()));
    let doorbell = &host.header().unwrap().doorbell;
    let before = doorbell.load(SeqCst);
    post(&queue, &[1], 1).unwrap();
    assert_ne!(doorbell.load(SeqCst), before);
    assert_eq!(view.shared.waiter.load(SeqCst), 0);
    assert!(view.wait(host.slot()));
}

#[test]
fn a_queue_that_is_not_given_back_stays_as_it_is() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let queue = OwnQueue::new(host, 3, 2, Identity::default()).unwrap();
    let shared = host.memory().at::<QueueShared>(queue.offset()).unwrap();
    let lock = || Ok(host.lock(&shared.lock, PATIENCE)?.0);
    IN_A_HURRY.set(true);
    let guard = shared.lock.try_lock(Holder::new(host.slot(), host.epoch())).unwrap();
    assert_eq!(queue.resize(10, lock), Err(Errno::EIO));
    assert_eq!(queue.caps(), (3, 2));
    drop(guard);
    assert_eq!(queue.resize(10, lock), Ok(()));
    // Slots are said to be moved, for ever.
    post(&queue, &[1], 2).unwrap();
    let (_, taken) = take(host, &queue).unwrap();
    shared.free.fetch_or(u64::from(u32::MAX), Relaxed);
    free(host, &queue, taken);
    IN_A_HURRY.set(false);
}
