use super::super::testing::{Child, Scratch};
use super::*;
use crate::sync::atomic::AtomicU64 as Count;
use crate::sync::rounds;
use crate::sys::tests::keep;
use crate::urxe::shared::IN_A_HURRY;

fn piece(address: *mut u8, length: usize) -> iovec {
    iovec { iov_base: address.cast(), iov_len: length }
}

/// A page that parent and child have at the same address, but each its own.
fn words() -> &'static [AtomicU64; 512] {
    keep([const { AtomicU64::new(0) }; 512])
}

#[test]
fn words_of_another_process() {
    let scratch = Scratch::new();
    let words = words();
    let address = words.as_ptr().addr() as u64;
    let (mut child, slot) = Child::start_and_say(|say| {
        let host = scratch.host();
        serve(host).unwrap();
        serve(host).unwrap();
        words[0].store(5, Relaxed);
        say(host.slot());
        while words[1].load(SeqCst) != 99 {
            words[2].fetch_add(1, SeqCst);
            std::thread::yield_now();
        }
        assert_eq!((words[0].load(SeqCst), words[3].load(SeqCst)), (15, 10 * rounds(100)));
    });
    let host = scratch.host();
    let peer = host.peer(slot).unwrap();
    let word = |index: u64, word| on_word(host, &peer, address + index * 8, word, PATIENCE);
    assert_eq!(word(0, Word::CompareSwap { compare: 6, swap: 7 }), Ok(5));
    assert_eq!(word(0, Word::CompareSwap { compare: 5, swap: 10 }), Ok(5));
    assert_eq!(word(0, Word::FetchAdd { add: 5 }), Ok(10));
    assert_eq!(
        on_word(host, &peer, address + 4, Word::FetchAdd { add: 1 }, PATIENCE),
        Err(Errno::EINVAL)
    );
    assert_eq!(on_word(host, &peer, 4096, Word::FetchAdd { add: 1 }, PATIENCE), Err(Errno::EFAULT));
    // Several at a time, from more threads than there are mailboxes.
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                for _ in 0..rounds(100) {
                    word(3, Word::FetchAdd { add: 1 }).unwrap();
                }
            });
        }
    });
    assert_eq!(word(1, Word::Store { value: 99 }), Ok(0));
    child.join();
    assert_eq!(words[0].load(Relaxed), 0, "these are not the child's");
    assert_eq!(word(0, Word::FetchAdd { add: 1 }), Err(Errno(libc::ESRCH)));
}

#[test]
fn bytes_by_the_server() {
    let scratch = Scratch::new();
    let length = 3 * BUFFER + 1001;
    let mut bytes: Vec<u8> = (0..length).map(|at| (at % 253) as u8).collect();
    let base = bytes.as_mut_ptr();
    let (mut child, slot) = Child::start_and_say(|say| {
        let host = scratch.host();
        serve(host).unwrap();
        // SAFETY: the buffer of the child.
        unsafe { base.write_bytes(1, length) };
        say(host.slot());
        // SAFETY: inside the buffer.
        while unsafe { base.add(length - 1).read_volatile() } == 1 {
            std::thread::sleep(Duration::from_millis(1));
        }
        // SAFETY: the buffer of the child.
        let bytes = unsafe { core::slice::from_raw_parts(base, length) };
        assert!(bytes.iter().enumerate().all(|(at, &byte)| byte == (at % 253) as u8));
    });
    let host = scratch.host();
    let peer = host.peer(slot).unwrap();
    let mut cut = Vec::new();
    let mut at = 0;
    for step in [1, 0, 7, 100_000, 1, 1, 1, 1, 1, 1, 1, 1, 3, 70_000] {
        cut.push(piece(base.wrapping_add(at), step));
        at += step;
    }
    cut.push(piece(base.wrapping_add(at), length - at));
    let mut here = vec![0; length];
    let whole = [piece(here.as_mut_ptr(), length)];
    let hole = [piece(core::ptr::without_provenance_mut(4096), 9)];
    // SAFETY: the buffers of both.
    unsafe {
        copy_by_server(host, &peer, Direction::Read, &whole, &cut, PATIENCE).unwrap();
        assert!(here.iter().all(|&byte| byte == 1));
        let fault = Err(Errno::EFAULT);
        assert_eq!(copy_by_server(host, &peer, Direction::Read, &whole, &hole, PATIENCE), fault);
        assert_eq!(copy_by_server(host, &peer, Direction::Write, &hole, &cut, PATIENCE), fault);
        let own = [piece(base, length)];
        copy_by_server(host, &peer, Direction::Write, &own, &cut, PATIENCE).unwrap();
    }
    child.join();
}

#[test]
fn without_a_server() {
    let scratch = Scratch::new();
    let words = words();
    let address = words.as_ptr().addr() as u64;
    let (mut child, slot) = Child::start_and_say(|say| {
        let host = scratch.host();
        say(host.slot());
        while words[0].load(SeqCst) != 3 {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    let host = scratch.host();
    let peer = host.peer(slot).unwrap();
    let add = on_word(host, &peer, address, Word::FetchAdd { add: 3 }, PATIENCE);
    assert_eq!(add, Err(Errno::EPERM));
    let none: &[iovec] = &[];
    // SAFETY: nothing is copied.
    let copied = unsafe { copy_by_server(host, &peer, Direction::Write, none, none, PATIENCE) };
    assert_eq!(copied, Err(Errno::EPERM));
    peer.header().unwrap().access.store(access::FREE, Relaxed);
    assert_eq!(on_word(host, &peer, address, Word::Store { value: 3 }, PATIENCE), Ok(0));
    child.join();
}

/// A process with a server, until it is killed, and its slot.
fn start_server(scratch: &Scratch) -> (Child, u32) {
    Child::start_and_say(|say| {
        let host = scratch.host();
        serve(host).unwrap();
        say(host.slot());
        std::thread::sleep(Duration::from_secs(60));
    })
}

#[test]
fn a_server_that_dies_and_a_peer_that_dies() {
    let scratch = Scratch::new();
    let words = words();
    let address = words.as_ptr().addr() as u64;
    let (mut server, slot) = start_server(&scratch);
    let (mut asker, _) = Child::start_and_say(|say| {
        let host = scratch.host();
        let peer = host.peer(slot).unwrap();
        let claimed = claim(host, &peer, PATIENCE).unwrap();
        claimed.mailbox.job.store(FETCH_ADD, Relaxed);
        claimed.mailbox.count.store(0, Relaxed);
        say(1);
        claimed.mailbox.post();
        std::thread::sleep(Duration::from_secs(60));
    });
    asker.kill();
    let host = scratch.host();
    let peer = host.peer(slot).unwrap();
    // The dead one keeps a mailbox until it is taken over.
    let offset = peer.header().unwrap().mailboxes.load(Relaxed);
    let boxes: &[Mailbox] = peer.memory().slice(offset, MAILBOXES).unwrap();
    assert!(boxes[0].lock.try_lock(host.holder()).is_none());
    drop(wait_for(host, &peer, &boxes[0], PATIENCE).unwrap());
    assert!(boxes[0].lock.try_lock(host.holder()).is_some());
    assert_eq!(on_word(host, &peer, address, Word::FetchAdd { add: 4 }, PATIENCE), Ok(0));
    assert_eq!(on_word(host, &peer, address, Word::FetchAdd { add: 4 }, PATIENCE), Ok(4));
    server.kill();
    let gone = on_word(host, &peer, address, Word::FetchAdd { add: 4 }, PATIENCE);
    assert_eq!(gone, Err(Errno(libc::ESRCH)));
}

#[test]
fn the_pusher_comes_in_time_and_goes() {
    static CALLS: Count = Count::new(0);
    static FIRST: Count = Count::new(0);
    fn push(now: u64) -> Option<u64> {
        FIRST.compare_exchange(0, now, SeqCst, SeqCst).ok();
        let calls = CALLS.fetch_add(1, SeqCst);
        (calls < 5).then_some(now + 2_000_000)
    }
    let scratch = Scratch::new();
    let host = scratch.host();
    let begin = now();
    push_at(host, begin + 5_000_000, push).unwrap();
    let waited = |calls| {
        while CALLS.load(SeqCst) < calls {
            assert!(now() - begin < 20_000_000_000, "{}", CALLS.load(SeqCst));
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    waited(6);
    let six = now();
    assert!(six - FIRST.load(SeqCst) >= 9_000_000, "not more often than it wants");
    // The doorbell wakes it.
    std::thread::sleep(Duration::from_millis(10));
    ring_slot(host, host.slot());
    waited(7);
    push_at(host, now() + 1, push).unwrap();
    waited(8);
    while host.threads.lock().pushes {
        assert!(now() - begin < 20_000_000_000);
        std::thread::sleep(Duration::from_millis(20));
    }
    let calls = CALLS.load(SeqCst);
    push_at(host, now(), push).unwrap();
    waited(calls + 1);
}

#[test]
fn a_server_that_is_stopped_is_waited_for_and_what_it_has_begun_is_not_begun_anew() {
    let scratch = Scratch::new();
    let words = words();
    let address = words.as_ptr().addr() as u64;
    let (mut server, slot) = start_server(&scratch);
    let host = scratch.host();
    let peer = host.peer(slot).unwrap();
    let add = |patience| on_word(host, &peer, address, Word::FetchAdd { add: 1 }, patience);
    assert_eq!(add(PATIENCE), Ok(0));
    server.stop();
    assert_eq!(add(20_000_000), Err(Errno::ETIMEDOUT));
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| add(PATIENCE));
        std::thread::sleep(Duration::from_millis(50));
        assert!(!waiter.is_finished());
        server.go_on();
        assert_eq!(waiter.join().unwrap(), Ok(1), "the first one was not done");
    });
    // Begun, and not done.
    let offset = peer.header().unwrap().mailboxes.load(Relaxed);
    let boxes: &[Mailbox] = peer.memory().slice(offset, MAILBOXES).unwrap();
    let claimed = claim(host, &peer, 0).unwrap();
    claimed.mailbox.post();
    assert!(claimed.mailbox.take());
    IN_A_HURRY.set(true);
    assert_eq!(claimed.answer(0), Err(Errno::EIO));
    IN_A_HURRY.set(false);
    drop(claimed);
    assert!(boxes.iter().all(|mailbox| mailbox.lock.try_lock(host.holder()).is_some()));
    // Others take others.
    assert_eq!(add(PATIENCE), Ok(2));
    server.kill();
}
