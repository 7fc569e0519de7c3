use crate::sync::atomic::AtomicBool;

use super::*;
use crate::sync::rounds;
use crate::urxe::completion::entry::empty_cqe;
use crate::urxe::shared::{Holder, PATIENCE};

/// A queue in ordinary memory.
struct Queue {
    shared: CqShared,
    entries: Vec<Cqe>,
}

impl Queue {
    fn new(limit: u32) -> Queue {
        // SAFETY: atomics, for which zero is a value.
        let shared: CqShared = unsafe { core::mem::zeroed() };
        shared.limit.store(limit, Relaxed);
        let entries = (0..limit.next_power_of_two()).map(|_| empty_cqe()).collect();
        Queue { shared, entries }
    }

    fn ring(&self) -> Ring<'_> {
        Ring::new(&self.shared, &self.entries).unwrap()
    }
}

fn success(wr_id: u64) -> Entry<'static> {
    Entry { wr_id, ..Entry::default() }
}

fn never() -> u64 {
    panic!("nobody wants the time")
}

fn taken(ring: &Ring<'_>, head: &mut u64) -> Vec<u64> {
    let mut ids = Vec::new();
    while let Some(cqe) = ring.at(*head) {
        ids.push(cqe.wr_id.load(Relaxed));
        *head += 1;
    }
    ring.publish(*head);
    ids
}

#[test]
fn the_number_of_entries_is_a_power_of_two() {
    let queue = Queue::new(4);
    for (count, good) in [(0, false), (1, true), (3, false), (4, true)] {
        assert_eq!(Ring::new(&queue.shared, &queue.entries[..count]).is_some(), good);
    }
}

#[test]
fn completions_come_out_in_order_for_many_rounds() {
    let queue = Queue::new(3);
    let (ring, mut head) = (queue.ring(), 0);
    assert!(ring.at(0).is_none());
    for round in 0..100_u64 {
        for number in 0..3 {
            assert_eq!(ring.put(&success(round * 3 + number), never), Put::Done);
        }
        let first = round * 3;
        assert_eq!(taken(&ring, &mut head), [first, first + 1, first + 2]);
    }
    assert_eq!(queue.shared.tail.load(Relaxed), 300);
}

#[test]
fn numbers_may_wrap() {
    let queue = Queue::new(2);
    let (ring, mut head) = (queue.ring(), u64::MAX);
    queue.shared.tail.store(head, Relaxed);
    queue.shared.seen_head.store(head, Relaxed);
    ring.publish(head);
    assert!(ring.at(head).is_some(), "the sequence number after the last one is 0");
    queue.entries[1].sequence.store(7, Relaxed);
    assert_eq!(ring.put(&success(1), never), Put::Done);
    assert_eq!(ring.put(&success(2), never), Put::Done);
    assert_eq!(ring.at(head).unwrap().wr_id.load(Relaxed), 1);
    head = head.wrapping_add(1);
    assert_eq!(ring.at(head).unwrap().wr_id.load(Relaxed), 2);
}

#[test]
fn a_queue_without_room_is_in_error_for_good() {
    let queue = Queue::new(3);
    let (ring, mut head) = (queue.ring(), 0);
    for number in 0..3 {
        assert_eq!(ring.put(&success(number), never), Put::Done);
    }
    assert_eq!(ring.put(&success(3), never), Put::Overrun);
    assert_eq!(ring.put(&success(4), never), Put::OverrunBefore);
    assert_eq!(taken(&ring, &mut head), [0, 1, 2]);
    assert_eq!(ring.put(&success(5), never), Put::OverrunBefore);
}

#[test]
fn an_overrun_that_is_ignored_drops_the_completion() {
    let queue = Queue::new(1);
    queue.shared.flags.store(CqShared::IGNORE_OVERRUN, Relaxed);
    let (ring, mut head) = (queue.ring(), 0);
    assert_eq!(ring.put(&success(1), never), Put::Done);
    assert_eq!(ring.put(&success(2), never), Put::Done);
    assert_eq!(taken(&ring, &mut head), [1]);
    assert_eq!(ring.put(&success(3), never), Put::Done);
    assert_eq!(taken(&ring, &mut head), [3]);
}

#[test]
fn a_damaged_head_or_limit_reaches_no_further_than_the_ring() {
    let queue = Queue::new(2);
    let ring = queue.ring();
    queue.shared.limit.store(u32::MAX, Relaxed);
    assert_eq!(ring.put(&success(1), never), Put::Done);
    assert_eq!(ring.put(&success(2), never), Put::Done);
    assert_eq!(ring.put(&success(3), never), Put::Overrun);
    let queue = Queue::new(2);
    queue.shared.head.0.store(u64::MAX / 2, Relaxed);
    queue.shared.seen_head.store(u64::MAX / 2, Relaxed);
    assert_eq!(queue.ring().put(&success(1), never), Put::Overrun);
}

#[test]
fn timestamps_are_there_when_wanted() {
    let queue = Queue::new(2);
    let ring = queue.ring();
    ring.put(&success(1), never);
    queue.shared.flags.store(CqShared::TIMESTAMPS, Relaxed);
    ring.put(&success(2), || 1234);
    let times: Vec<_> = queue.entries.iter().map(|cqe| cqe.timestamp.load(Relaxed)).collect();
    assert_eq!(times, [0, 1234]);
}

#[test]
fn one_event_per_wish() {
    let queue = Queue::new(8);
    let ring = queue.ring();
    assert_eq!(ring.event(true, never), Event::No);
    queue.shared.arm(false);
    assert_eq!(ring.event(false, never), Event::Send);
    assert_eq!(queue.shared.sending.load(Relaxed), 1);
    ring.sent();
    assert_eq!(queue.shared.sending.load(Relaxed), 0);
    assert_eq!(ring.event(true, never), Event::No);
}

#[test]
fn solicited_events_wait_for_solicited_completions() {
    let queue = Queue::new(8);
    let ring = queue.ring();
    queue.shared.arm(true);
    assert_eq!(ring.event(false, never), Event::No);
    assert_eq!(ring.event(true, never), Event::Send);
    // The stronger wish counts, in whichever order they come.
    queue.shared.arm(true);
    queue.shared.arm(false);
    assert_eq!(ring.event(false, never), Event::Send);
    queue.shared.arm(false);
    queue.shared.arm(true);
    assert_eq!(ring.event(false, never), Event::Send);
}

#[test]
fn moderation_counts_completions_and_time() {
    let queue = Queue::new(8);
    let (ring, shared) = (queue.ring(), &queue.shared);
    shared.moderation.store(3, Relaxed);
    shared.arm(false);
    let events: Vec<_> = (0..3).map(|_| ring.event(false, never)).collect();
    assert_eq!(events, [Event::HeldBack, Event::HeldBack, Event::Send]);
    assert_eq!(shared.held_back.load(Relaxed), 0);
    // Ten microseconds after the first one at the latest.
    shared.moderation.store(3 | 10 << 16, Relaxed);
    shared.arm(false);
    assert_eq!(ring.event(false, || 5_000), Event::HeldBack);
    assert_eq!(ring.event(false, || 15_000), Event::Send);
    shared.arm(false);
    assert_eq!(ring.event(false, || 20_000), Event::HeldBack);
    assert_eq!(ring.event(false, || 29_999), Event::HeldBack);
    assert_eq!(ring.event(false, never), Event::Send);
}

#[test]
fn what_the_dead_left_is_repaired() {
    let queue = Queue::new(4);
    let (ring, shared) = (queue.ring(), &queue.shared);
    // Dead before the sequence number was stored: nothing was added.
    success(1).store(&queue.entries[0], 0);
    assert!(!ring.repair());
    assert_eq!(shared.tail.load(Relaxed), 0);
    // Dead behind it: it was, and an event is due if one is wanted.
    queue.entries[0].sequence.store(1, Relaxed);
    assert!(!ring.repair());
    assert_eq!(shared.tail.load(Relaxed), 1);
    shared.arm(true);
    queue.entries[1].sequence.store(2, Relaxed);
    assert!(ring.repair());
    assert_eq!((shared.tail.load(Relaxed), shared.armed.load(Relaxed)), (2, NOT_ARMED));
    // Dead while it sent.
    assert!(ring.repair());
    ring.sent();
    assert!(!ring.repair());
}

#[test]
fn resizing_keeps_what_waits() {
    let queue = Queue::new(4);
    let ring = queue.ring();
    for number in 0..4 {
        ring.put(&success(number), never);
    }
    let smaller = Queue::new(2);
    assert_eq!(ring.copy_to(1, &smaller.ring()), None);
    assert_eq!(ring.copy_to(2, &smaller.ring()), Some(2));
    let mut head = 2;
    assert_eq!(taken(&smaller.ring(), &mut head), [2, 3]);
    let larger = Queue::new(16);
    assert_eq!(ring.copy_to(1, &larger.ring()), Some(3));
    let mut head = 1;
    assert_eq!(taken(&larger.ring(), &mut head), [1, 2, 3]);
}

/// Two threads add, one takes: nothing is lost, doubled or torn, and each completion that comes
/// after a wish for an event is followed by one.
#[test]
fn adding_and_taking_at_once() {
    const EACH: u64 = rounds(3000);
    let queue = Queue::new(16);
    let lock = &queue.shared.lock;
    let events = crate::sync::atomic::AtomicU32::new(0);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 1..=2_u64 {
            let (queue, events) = (&queue, &events);
            scope.spawn(move || {
                let me = Holder::new(1, thread);
                for number in 0..EACH {
                    let id = thread << 32 | number;
                    let entry = Entry { wr_id: id, src_qp: number as u32, ..Entry::default() };
                    loop {
                        let (_guard, _) = lock.lock(me, PATIENCE, |_| false).unwrap();
                        let ring = queue.ring();
                        let waiting =
                            queue.shared.tail.load(Relaxed) - queue.shared.head.0.load(Acquire);
                        if waiting == 16 {
                            drop(_guard);
                            std::thread::yield_now();
                            continue;
                        }
                        assert_eq!(ring.put(&entry, never), Put::Done);
                        if ring.event(false, never) == Event::Send {
                            ring.sent();
                            events.fetch_add(1, SeqCst);
                        }
                        break;
                    }
                }
            });
        }
        let (ring, mut head, mut next, mut seen) = (queue.ring(), 0, [0, 0], 0);
        while head < 2 * EACH {
            {
                let (_guard, _) = lock.lock(Holder::new(1, 3), PATIENCE, |_| false).unwrap();
                queue.shared.arm(false);
            }
            let before = head;
            while let Some(cqe) = ring.at(head) {
                let id = cqe.wr_id.load(Relaxed);
                let thread = (id >> 32) as usize - 1;
                assert_eq!(id & 0xffff_ffff, next[thread]);
                assert_eq!(u64::from(cqe.src_qp.load(Relaxed)), next[thread]);
                next[thread] += 1;
                head += 1;
                ring.publish(head);
            }
            if head == before && head < 2 * EACH {
                // As a program that sleeps until the event comes.
                while events.load(SeqCst) == seen {
                    std::thread::yield_now();
                }
            }
            seen = events.load(SeqCst);
        }
        done.store(true, Relaxed);
    });
    assert_eq!(queue.shared.tail.load(Relaxed), 2 * EACH);
}
