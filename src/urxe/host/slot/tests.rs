use super::super::testing::{Child, Scratch};
use super::*;
use crate::sync::atomic::AtomicU64;
use std::fs;
use std::os::unix::fs::symlink;

/// A child that takes a slot, and says so; it waits to be killed.
fn holder(scratch: &Scratch) -> (Child, Slot) {
    let (child, number) = Child::start_and_say(|say| {
        let slot = take(&scratch.directory()).unwrap();
        say(slot.number);
        // SAFETY: waits for the signal.
        unsafe { libc::pause() };
    });
    let (file, memory, epoch, owner) = open(&scratch.directory(), number).unwrap();
    assert_eq!(owner, Owner::Process(child.pid()));
    (child, Slot { number, epoch, file, memory })
}

#[test]
fn slots_are_taken_in_order_and_once() {
    let scratch = Scratch::new();
    let (_first, one) = holder(&scratch);
    let (mut second, two) = holder(&scratch);
    let (_third, three) = holder(&scratch);
    assert_eq!((one.number, two.number, three.number), (1, 2, 3));
    assert!(one.epoch != two.epoch && two.epoch != three.epoch);
    second.kill();
    assert_eq!(owner(&two.file), Ok(Owner::Nobody));
    assert!(owner(&one.file).is_ok_and(|owner| owner != Owner::Nobody));
    assert_eq!(open(&scratch.directory(), 2).err(), Some(Errno::ENOENT));

    // The slot of the dead is taken over, in a new file; who has the old one mapped keeps it.
    fs::write(scratch.path().join("event-0002-5"), "").unwrap();
    fs::write(scratch.path().join("share-0003-5"), "").unwrap();
    let (_fourth, four) = holder(&scratch);
    assert_eq!(four.number, 2);
    assert_ne!(four.epoch, two.epoch);
    let epoch = |slot: &Slot| slot.memory.at::<Header>(0).unwrap().epoch.load(Ordering::Relaxed);
    assert_eq!((epoch(&two), epoch(&four)), (two.epoch, four.epoch));
    let magic = |slot: &Slot| slot.memory.at::<Header>(0).unwrap().magic.load(Ordering::Relaxed);
    assert_eq!((magic(&two), magic(&four)), (0, MAGIC));
    two.memory.at::<AtomicU64>(1 << 20).unwrap().store(1, Ordering::Relaxed);
    assert!(!scratch.path().join("event-0002-5").exists());
    assert!(scratch.path().join("share-0003-5").exists());
}

/// Peers of a process that is dead would write to the memory of the one that takes its slot over, if they
/// took that for the owner.
#[test]
fn who_takes_a_slot_over_is_not_its_owner_before() {
    let scratch = Scratch::new();
    let (mut child, slot) = holder(&scratch);
    assert_eq!(lock_to_take(&slot.file), Ok(false), "the owner lives");
    child.kill();
    let file = || scratch.directory().open_file(&slot_name(slot.number).unwrap(), libc::O_RDWR);
    let (mut taker, took) = Child::start_and_say(|say| {
        let file = file().unwrap();
        say(lock_to_take(&file).unwrap().into());
        // SAFETY: waits for the signal.
        unsafe { libc::pause() };
    });
    assert_eq!(took, 1);
    // For those that have the file, and for those that open it.
    assert_eq!(owner(&slot.file), Ok(Owner::Nobody));
    assert_eq!(open(&scratch.directory(), slot.number).err(), Some(Errno::ENOENT));
    assert_eq!(lock_to_take(&file().unwrap()), Ok(false), "one at a time");
    taker.kill();
    assert_eq!(lock_to_take(&file().unwrap()), Ok(true));
}

#[test]
fn files_of_the_dead_are_removed() {
    let scratch = Scratch::new();
    let path = |name: &str| scratch.path().join(name);
    let children: Vec<_> = (0..4).map(|_| holder(&scratch)).collect();
    let mut children = children.into_iter().map(|(child, _)| child);
    let (mut one, _two) = (children.next().unwrap(), children.next());
    let (mut three, mut four) = (children.next().unwrap(), children.next().unwrap());
    fs::write(path("event-0003-1"), "").unwrap();
    fs::write(path("event-0002-1"), "").unwrap();
    for child in [&mut one, &mut three, &mut four] {
        child.kill();
    }
    let (_new, slot) = holder(&scratch);
    assert_eq!(slot.number, 1);
    let left = |name: &str| path(name).exists();
    assert!(left("slot-0001") && left("slot-0002") && left("event-0002-1"));
    assert!(!left("slot-0003") && !left("slot-0004") && !left("event-0003-1"));
}

#[test]
fn what_is_no_slot_file_is_passed_over() {
    let scratch = Scratch::new();
    let path = |name: &str| scratch.path().join(name);
    fs::write(path("elsewhere"), "precious").unwrap();
    symlink("elsewhere", path("slot-0001")).unwrap();
    fs::create_dir(path("slot-0002")).unwrap();
    fs::write(path("slot-0003"), "stale and too short").unwrap();
    let slot = take(&scratch.directory()).unwrap();
    assert_eq!(slot.number, 3, "a short file is a stale one");
    assert_eq!(fs::read(path("elsewhere")).unwrap(), b"precious");
    assert_eq!(open(&scratch.directory(), 1).err(), Some(Errno(libc::ELOOP)));
    assert_eq!(open(&scratch.directory(), 2).err(), Some(Errno(libc::EISDIR)));
    assert_eq!(open(&scratch.directory(), 4).err(), Some(Errno::ENOENT));
}

/// A child that holds the lock of a slot file with any content.
fn pretender(scratch: &Scratch, number: u32, length: u64, magic: u64, epoch: u64) -> Child {
    let name = scratch.path().join(format!("slot-{number:04}"));
    let file = fs::File::create(&name).unwrap();
    file.set_len(length).unwrap();
    let words = [magic, epoch].map(u64::to_ne_bytes).concat();
    if length >= 16 {
        std::os::unix::fs::FileExt::write_all_at(&file, &words, 0).unwrap();
    }
    drop(file);
    let child = Child::start(|| {
        let file = scratch.directory().open_file(&slot_name(number).unwrap(), libc::O_RDWR);
        let file = file.unwrap();
        assert!(lock(&file, OWNER).unwrap());
        // SAFETY: waits for the signal.
        unsafe { libc::pause() };
    });
    let file = scratch.directory().open_file(&slot_name(number).unwrap(), libc::O_RDWR).unwrap();
    while owner(&file) == Ok(Owner::Nobody) {
        std::thread::sleep(core::time::Duration::from_millis(1));
    }
    child
}

#[test]
fn files_that_are_not_as_they_should_be() {
    let scratch = Scratch::new();
    let wrong = Some(Errno(libc::EPROTO));
    for (number, length, magic, epoch, expected) in [
        (1, 0, 0, 0, wrong),
        (2, 8, 0, 0, wrong),
        (3, FILE_SIZE - 1, MAGIC, 5, wrong),
        (4, FILE_SIZE + 1, MAGIC, 5, wrong),
        (5, FILE_SIZE, MAGIC + (1 << 56), 5, wrong),
        (6, FILE_SIZE, MAGIC, 0, wrong),
        (7, FILE_SIZE, MAGIC, 5, None),
    ] {
        let _child = pretender(&scratch, number, length, magic, epoch);
        assert_eq!(open(&scratch.directory(), number).err(), expected, "{number}");
    }
}

#[test]
fn a_full_file_system_and_a_low_limit_are_errors() {
    let scratch = Scratch::new();
    let mut child = Child::start(|| {
        let limit = libc::rlimit { rlim_cur: 1 << 20, rlim_max: 1 << 20 };
        // SAFETY: a limit.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }, 0);
        assert_eq!(take(&scratch.directory()).err(), Some(Errno(libc::EFBIG)));
        assert!(!scratch.path().join("slot-0001").exists());
    });
    child.join();
    // No system gives this much.
    let slot = take(&scratch.directory()).unwrap();
    assert_eq!(allocate(&slot.file, 0, 1 << 62), Err(Errno::ENOMEM));
    assert_eq!(allocate(&slot.file, 0, u64::MAX), Err(Errno::ENOMEM));
}

#[test]
fn without_descriptors() {
    let scratch = Scratch::new();
    let mut child = Child::start(|| {
        let directory = scratch.directory();
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: asks for a limit, and sets it.
        unsafe {
            libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
            limit.rlim_cur = 0;
            assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit), 0);
        }
        assert_eq!(take(&directory).err(), Some(Errno(libc::EMFILE)));
        assert_eq!(open(&directory, 1).err(), Some(Errno(libc::EMFILE)));
    });
    child.join();
}
