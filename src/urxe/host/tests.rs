use super::testing::{Child, Scratch};
use super::*;
use crate::urxe::shared::{PATIENCE, QPS, TakenOver};
use libc::iovec;

fn part(bytes: &mut [u8]) -> iovec {
    iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }
}

#[test]
fn a_process_has_one_slot() {
    let (first, second) = (host().unwrap(), host().unwrap());
    assert!(core::ptr::eq(first, second) && first.is_current());
    assert!(first.slot() > 0 && first.epoch() != 0);
    let header = first.header().unwrap();
    assert_eq!(header.pid.load(Ordering::Relaxed), std::process::id());
    assert!(core::ptr::eq(&raw const **first.own(), &raw const *first.peer(first.slot()).unwrap()));
    assert_eq!(first.peer(0).err(), Some(Errno::ENOENT));
    assert_eq!(first.peer(SLOTS).err(), Some(Errno::ENOENT));
}

#[test]
fn two_processes_exchange_bytes() {
    let scratch = Scratch::new();
    let mine = scratch.host();
    let mut bytes: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let address = bytes.as_mut_ptr() as usize;
    let mut child = Child::start(|| {
        let host = scratch.host();
        let peer = host.peer(mine.slot()).unwrap();
        assert!(!peer.is_own() && peer.is_alive() && peer.epoch() == mine.epoch());
        let mut here = vec![0_u8; 70_000];
        let there = iovec { iov_base: address as *mut _, iov_len: 70_000 };
        // SAFETY: the parent waits for this.
        unsafe { peer.read(&[part(&mut here)], &[there]) }.unwrap();
        assert!(here.iter().enumerate().all(|(at, byte)| *byte == (at % 256) as u8));
        here.iter_mut().for_each(|byte| *byte ^= 0xff);
        // SAFETY: as above.
        unsafe { peer.write(&[part(&mut here)], &[there]) }.unwrap();
        let hole = iovec { iov_base: 4096 as *mut _, iov_len: 8 };
        // SAFETY: there is nothing.
        assert_eq!(unsafe { peer.write(&[part(&mut here)], &[hole]) }, Err(Errno::EFAULT));
    });
    child.join();
    assert!(bytes.iter().enumerate().all(|(at, byte)| *byte == !((at % 256) as u8)));
}

#[test]
fn locks_of_the_dead_are_known() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let word = host.new_record::<QpShared>(Kind::Qp).unwrap();
    let lock = &host.memory().at::<QpShared>(word).unwrap().lock;
    let (mut child, said) = Child::start_and_say(|say| {
        let other = scratch.host();
        let peer = other.peer(host.slot()).unwrap();
        let lock = &peer.memory().at::<QpShared>(word).unwrap().lock;
        core::mem::forget(lock.try_lock(other.holder()).unwrap());
        say(other.slot());
        // SAFETY: waits for the signal.
        unsafe { libc::pause() };
    });
    let peer = host.peer(said).unwrap();
    let stranger = Holder::new(said, peer.epoch().wrapping_add(1));
    let holder = Holder::new(said, peer.epoch());
    assert!(!host.is_dead(holder) && host.is_dead(stranger) && !host.is_dead(host.holder()));
    assert!(host.is_dead(Holder::new(host.slot(), host.epoch().wrapping_add(1))));
    assert!(host.is_dead(Holder::new(1000, 5)), "nobody has that slot");
    assert!(lock.try_lock(host.holder()).is_none());
    child.kill();
    assert!(peer.is_alive() || !peer.is_alive_now(), "a look counts for a while");
    assert!(host.is_dead(holder));
    let (guard, taken_over) = host.lock(lock, PATIENCE).unwrap();
    assert_eq!(taken_over, TakenOver::FromTheDead);
    drop(guard);
    let mut byte = [0];
    // SAFETY: nothing happens.
    let result = unsafe { peer.write(&[part(&mut byte)], &[part(&mut byte.clone())]) };
    assert_eq!(result, Err(Errno(libc::ESRCH)));
    assert_eq!(host.peer(said).err(), Some(Errno::ENOENT));
}

#[test]
fn who_follows_in_a_slot_is_seen_at_once() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let start = || {
        Child::start_and_say(|say| {
            say(scratch.host().slot());
            // SAFETY: waits for the signal.
            unsafe { libc::pause() };
        })
    };
    let mut epochs = Vec::new();
    for _ in 0..5 {
        let (mut child, slot) = start();
        let peer = host.peer(slot).unwrap();
        assert!(peer.is_alive() && !epochs.contains(&peer.epoch()));
        epochs.push(peer.epoch());
        child.kill();
    }
}

#[test]
fn a_child_has_a_slot_of_its_own() {
    let mine = host().unwrap();
    let mut child = Child::start(|| {
        assert!(!mine.is_current());
        let other = host().unwrap();
        assert!(other.is_current() && !mine.is_current());
        assert!(other.slot() != mine.slot() && other.epoch() != mine.epoch());
        assert_ne!(other.holder(), mine.holder());
        let peer = other.peer(mine.slot()).unwrap();
        assert!(!peer.is_own() && peer.is_alive_now() && peer.epoch() == mine.epoch());
    });
    child.join();
    assert!(mine.is_current());
}

#[test]
fn tables_give_numbers_round_and_round() {
    let scratch = Scratch::new();
    let host = scratch.host();
    assert_eq!(host.table_insert(Table::Qp, 64), Ok(0));
    assert_eq!(host.table_insert(Table::Qp, 128), Ok(1));
    assert_eq!(host.table_insert(Table::Srq, 192), Ok(0));
    host.table_remove(Table::Qp, 0);
    host.table_remove(Table::Qp, QPS);
    assert_eq!(host.table_insert(Table::Qp, 256), Ok(2), "not the one that was just in use");
    for index in 3..QPS {
        assert_eq!(host.table_insert(Table::Qp, 64), Ok(index));
    }
    assert_eq!(host.table_insert(Table::Qp, 320), Ok(0));
    assert_eq!(host.table_insert(Table::Qp, 320), Err(Errno::ENOMEM));
    let entry = |index: u64| host.memory().at::<AtomicU64>(QP_TABLE + index * 8).unwrap();
    assert_eq!(entry(0).load(Ordering::Relaxed), 320);
    assert_eq!(entry(2).load(Ordering::Relaxed), 256);
}

#[test]
fn keys_get_their_memory_in_pieces() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let keys = &host.header().unwrap().keys;
    host.back_keys(1).unwrap();
    assert_eq!(keys.load(Ordering::Relaxed), 1);
    let last = KEY_TABLE + 999 * size_of::<KeyEntry>() as u64;
    host.back_keys(1000).unwrap();
    host.memory().at::<KeyEntry>(last).unwrap().key.store(5, Ordering::Relaxed);
    host.back_keys(10).unwrap();
    host.back_keys(KEYS + 5).unwrap();
    assert_eq!(keys.load(Ordering::Relaxed), KEYS);
    assert_eq!(host.memory().at::<KeyEntry>(last).unwrap().key.load(Ordering::Relaxed), 5);
}

#[test]
fn events_come_from_any_process() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let (number, mut reader) =
        event_file::create(host).map(|(number, fd)| (number, std::fs::File::from(fd))).unwrap();
    let (second, _other) = event_file::create(host).unwrap();
    assert!(number != 0 && second != number);
    event_file::send(host.own(), number, b"own-sent").unwrap();
    let mut child = Child::start(|| {
        let other = scratch.host();
        let peer = other.peer(host.slot()).unwrap();
        event_file::send(&peer, number, b"by child").unwrap();
        assert_eq!(event_file::send(&peer, 99, b"x"), Err(Errno::ENOENT));
    });
    child.join();
    let mut bytes = [0; 16];
    std::io::Read::read_exact(&mut reader, &mut bytes).unwrap();
    assert_eq!(&bytes, b"own-sentby child");
    // A full one does not block, and none is cut.
    let mut sent = 0;
    let full = loop {
        match event_file::send(host.own(), number, &[7; 16]) {
            Ok(()) => sent += 1,
            Err(errno) => break errno,
        }
    };
    assert_eq!(full, Errno(libc::EAGAIN));
    assert!(sent >= 4096 / 16);
    event_file::remove(host, number);
    assert_eq!(event_file::send(host.own(), number, b"x"), Err(Errno::ENOENT));
    assert_eq!(scratch_files(&scratch, "event-"), 1);
}

fn scratch_files(scratch: &Scratch, prefix: &str) -> usize {
    let entries = std::fs::read_dir(scratch.path()).unwrap();
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .count()
}

#[test]
fn shared_files_are_seen_by_both() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let file = shared_file::create(host, 10_000).unwrap();
    assert_eq!(file.length(), 12_288);
    assert_eq!(shared_file::create(host, 0).err(), Some(Errno::EINVAL));
    assert_eq!(shared_file::create(host, u64::MAX).err(), Some(Errno::ENOMEM));
    assert_eq!(shared_file::create(host, 1 << 60).err(), Some(Errno::ENOMEM));
    // SAFETY: a word of the mapping.
    let word = unsafe { AtomicU64::from_ptr(file.address().add(4096).cast()) };
    word.store(42, Ordering::SeqCst);
    let mut child = Child::start(|| {
        let other = scratch.host();
        let peer = other.peer(host.slot()).unwrap();
        let mapped = peer.file(file.number()).unwrap();
        assert!(Arc::ptr_eq(&mapped, &peer.file(file.number()).unwrap()));
        assert_eq!(mapped.length(), 12_288);
        assert!(mapped.range(12_280, 9).is_none() && mapped.range(u64::MAX, 2).is_none());
        let place = mapped.range(4096, 8).unwrap();
        // SAFETY: a word of the mapping.
        let word = unsafe { AtomicU64::from_ptr(place.cast()) };
        assert_eq!(word.fetch_add(1, Ordering::SeqCst), 42);
        assert_eq!(peer.file(77).err(), Some(Errno::ENOENT));
    });
    child.join();
    assert_eq!(word.load(Ordering::SeqCst), 43);
    drop(file);
    // The failed ones have left nothing either. The host is not that of the process, which alone
    // removes its files.
    assert_eq!(scratch_files(&scratch, "share-"), 1);
}

#[test]
fn memory_behind_the_null_region() {
    let (zeros, sink) = (null::zeros().unwrap(), null::sink().unwrap());
    assert_eq!((null::zeros(), null::sink()), (Ok(zeros), Ok(sink)));
    let last = crate::urxe::limits::MAX_MESSAGE as usize - 1;
    // SAFETY: both are as long as that.
    unsafe {
        assert_eq!((zeros.read(), zeros.add(last).read()), (0, 0));
        sink.write(1);
        sink.add(last).write(2);
    }
}
