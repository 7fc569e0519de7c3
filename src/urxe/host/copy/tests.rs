use super::*;

fn me() -> i32 {
    // SAFETY: cannot fail.
    unsafe { libc::getpid() }
}

/// Cuts a buffer into pieces of these lengths.
fn cut(bytes: &mut [u8], lengths: &[usize]) -> Vec<iovec> {
    let base = bytes.as_mut_ptr();
    assert!(lengths.iter().sum::<usize>() <= bytes.len());
    let mut at = 0;
    lengths
        .iter()
        .map(|&length| {
            let piece = iovec { iov_base: base.wrapping_add(at).cast(), iov_len: length };
            at += length;
            piece
        })
        .collect()
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 + at / 251) as u8).collect()
}

/// A way of copying: from, to.
type Way = fn(&[iovec], &[iovec]) -> Result<()>;

fn ways() -> [Way; 3] {
    // SAFETY: buffers of the tests.
    unsafe {
        [
            |from, to| copy(from, to),
            |from, to| copy_process(me(), Direction::Write, from, to),
            |from, to| copy_process(me(), Direction::Read, to, from),
        ]
    }
}

#[test]
fn every_split_gives_the_same_bytes() {
    let splits: [&[usize]; 7] = [
        &[4000],
        &[1; 100],
        &[0, 1, 2, 0, 3, 3994, 0],
        &[3999, 1],
        &[7, 3993],
        &[500, 500, 500, 500, 500, 500, 500, 500],
        &[],
    ];
    for (number, way) in ways().into_iter().enumerate() {
        for from in splits {
            for to in splits {
                let (mut source, mut target) = (pattern(4000), vec![0xee; 4000]);
                let length = from.iter().sum::<usize>().min(to.iter().sum());
                way(&cut(&mut source, from), &cut(&mut target, to)).unwrap();
                assert_eq!(source, pattern(4000));
                assert_eq!(target[..length], source[..length], "{number} {from:?} {to:?}");
                assert!(target[length..].iter().all(|&byte| byte == 0xee), "{number}");
            }
        }
    }
}

#[test]
fn more_pieces_than_a_call_takes() {
    for way in ways() {
        let (mut source, mut target) = (pattern(9000), vec![0; 9000]);
        let (thirds, halves) = (vec![3; 3000], vec![2; 4500]);
        way(&cut(&mut source, &thirds), &cut(&mut target, &halves)).unwrap();
        assert!(source == target);
    }
}

#[test]
fn sizes_around_the_tail() {
    for way in ways() {
        for length in 0..40 {
            let (mut source, mut target) = (pattern(64), vec![0; 64]);
            way(&cut(&mut source, &[length]), &cut(&mut target, &[64])).unwrap();
            assert_eq!(target[..length], pattern(64)[..length]);
            assert!(target[length..].iter().all(|&byte| byte == 0));
        }
    }
}

#[test]
fn a_process_may_send_to_where_it_sends_from() {
    let mut bytes = pattern(1000);
    let base = bytes.as_mut_ptr();
    let piece = |at| [iovec { iov_base: base.wrapping_add(at).cast(), iov_len: 900 }];
    // SAFETY: inside the buffer.
    unsafe { copy(&piece(0), &piece(100)) }.unwrap();
    assert_eq!(bytes[100..992], pattern(1000)[..892], "but for the tail, which came after it");
}

#[test]
fn memory_that_is_not_there() {
    let hole = [iovec { iov_base: core::ptr::without_provenance_mut(4096), iov_len: 100 }];
    let mut bytes = pattern(100);
    let here = cut(&mut bytes, &[100]);
    // SAFETY: the kernel notices.
    unsafe {
        for direction in [Direction::Write, Direction::Read] {
            assert_eq!(copy_process(me(), direction, &here, &hole), Err(Errno::EFAULT));
            assert_eq!(copy_process(me(), direction, &hole, &here), Err(Errno::EFAULT));
            assert_eq!(copy_carefully(direction, &hole, &here), Err(Errno::EFAULT));
        }
        let none = copy_process(i32::MAX, Direction::Write, &here, &here);
        assert_eq!(none, Err(Errno(libc::ESRCH)));
        let all = iovec { iov_base: hole[0].iov_base, iov_len: usize::MAX };
        assert_eq!(copy(&[all, all], &here), Err(Errno::EINVAL));
        assert_eq!(copy_process(me(), Direction::Read, &here, &[all, all]), Err(Errno::EINVAL));
    }
    assert!(!is_readable(&hole[0]) && is_readable(&here[0]));
    assert!(is_readable(&iovec { iov_base: hole[0].iov_base, iov_len: 0 }));
    // A hole behind readable memory, where all of the first part has gone.
    let mut target = vec![0; 300];
    let list = [here[0], hole[0]];
    // SAFETY: the kernel notices.
    let result = unsafe { copy_process(me(), Direction::Read, &cut(&mut target, &[300]), &list) };
    assert_eq!(result, Err(Errno::EFAULT));
}
