use super::super::testing::Scratch;
use super::*;
use crate::sync::atomic::{AtomicU64, Ordering};

fn fill(memory: &Memory, offset: u64, length: u64) {
    for word in memory.slice::<AtomicU64>(offset, (length / 8) as usize).unwrap() {
        assert_eq!(word.swap(u64::MAX, Ordering::Relaxed), 0, "memory is handed out cleared");
    }
}

/// Bytes of the slot's file that have memory.
fn occupied(scratch: &Scratch) -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(scratch.path().join("slot-0001")).unwrap().blocks() * 512
}

#[test]
fn parts_do_not_overlap_and_are_cleared() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let mut parts = Vec::new();
    for (length, align) in [(1, 1), (64, 64), (4096, 4096), (100_000, 8), (0, 1), (65, 1 << 16)] {
        let offset = host.alloc(length, align).unwrap();
        assert!(offset.is_multiple_of(align.max(UNIT)) && offset >= ARENA);
        fill(host.memory(), offset, length.next_multiple_of(8));
        parts.push((offset, length));
    }
    parts.sort_unstable();
    for pair in parts.windows(2) {
        assert!(pair[0].0 + pair[0].1.max(1) <= pair[1].0, "{pair:?}");
    }
    // Freed and had again, they are clear.
    for (offset, length) in parts {
        host.free(offset, length);
    }
    let again = host.alloc(300_000, 64).unwrap();
    assert_eq!(again, ARENA, "all that was freed is one part again");
    fill(host.memory(), again, 300_000);
    assert_eq!(host.alloc(64, 3), Err(Errno::EINVAL));
    assert_eq!(host.alloc(64, 0), Err(Errno::EINVAL));
}

#[test]
fn more_than_there_is() {
    let scratch = Scratch::new();
    let host = scratch.host();
    for length in [FILE_SIZE - ARENA + 1, u64::MAX, u64::MAX - 62] {
        assert_eq!(host.alloc(length, 64), Err(Errno::ENOMEM), "{length}");
    }
    assert_eq!(host.alloc(64, 1 << 63), Err(Errno::ENOMEM));
    let offset = host.alloc(64, 1 << 31).unwrap();
    assert_eq!(offset, 1 << 31);
}

#[test]
fn large_parts_give_their_memory_back() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let before = occupied(&scratch);
    let length = 32 << 20;
    let (large, behind) = (host.alloc(length, 64).unwrap(), host.alloc(64, 64).unwrap());
    fill(host.memory(), large, length);
    assert!(occupied(&scratch) >= before + length);
    host.free(large, length);
    assert!(occupied(&scratch) < before + (1 << 20), "{}", occupied(&scratch));
    let again = host.alloc(length, 64).unwrap();
    assert_eq!(again, large);
    fill(host.memory(), again, length);
    host.free(again, length);
    host.free(behind, 64);
}

#[test]
fn records_keep_what_was_in_them() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let first = host.new_record::<AtomicU64>(Kind::Qp).unwrap();
    let second = host.new_record::<AtomicU64>(Kind::Qp).unwrap();
    let value = |offset| host.memory().at::<AtomicU64>(offset).unwrap();
    assert_eq!(value(first).swap(7, Ordering::Relaxed), 0);
    host.free_record(Kind::Qp, first);
    let other = host.new_record::<AtomicU64>(Kind::Cq).unwrap();
    assert!(other != first && other != second, "records are reused for their kind alone");
    assert_eq!(host.new_record::<AtomicU64>(Kind::Qp).unwrap(), first);
    assert_eq!(value(first).load(Ordering::Relaxed), 7);
}

#[test]
fn a_long_mixed_life() {
    let scratch = Scratch::new();
    let host = scratch.host();
    let mut live: Vec<(u64, u64)> = Vec::new();
    let mut random = 12345_u64;
    for round in 0..2000_u64 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(round | 1);
        if live.len() > 20 || random >> 63 == 1 && !live.is_empty() {
            let (offset, length) = live.swap_remove((random >> 32) as usize % live.len());
            host.free(offset, length);
        } else {
            let length = 8 << (random >> 40 & 15);
            let offset = host.alloc(length, 1 << (random >> 50 & 12)).unwrap();
            fill(host.memory(), offset, length);
            assert!(
                live.iter()
                    .all(|&(other, size)| offset + length <= other || other + size <= offset)
            );
            live.push((offset, length));
        }
    }
    for (offset, length) in live {
        host.free(offset, length);
    }
    let arena = host.arena.lock();
    assert_eq!(arena.free.iter().collect::<Vec<_>>(), [(&ARENA, &(FILE_SIZE - ARENA))]);
}
