use core::ptr;

use super::testing::{COPIES_ON_FORK, HUGE_PAGE, enable, fail_at, fail_no_more, take_advices};
use super::*;
use crate::sync::rounds;

fn at(address: usize) -> *mut c_void {
    ptr::without_provenance_mut(address)
}

/// Calls the exported function.
fn dontfork_range(address: usize, size: usize) -> c_int {
    // SAFETY: the test's system touches no memory.
    unsafe { ibv_dontfork_range(at(address), size) }
}

fn dofork_range(address: usize, size: usize) -> c_int {
    // SAFETY: the test's system touches no memory.
    unsafe { ibv_dofork_range(at(address), size) }
}

#[test]
fn without_support_nothing_is_marked_and_then_it_is_too_late() {
    assert_eq!(ibv_is_fork_initialized(), IBV_FORK_DISABLED);
    assert_eq!(dontfork_range(0x1000, 1), 0);
    assert_eq!(take_advices(), []);
    assert_eq!(ibv_fork_init(), libc::EINVAL);
    assert_eq!(Errno::last(), Errno::EINVAL);
    assert_eq!(ibv_is_fork_initialized(), IBV_FORK_DISABLED);
    assert_eq!(dofork_range(0x1000, 1), 0);
    assert_eq!(take_advices(), []);
}

#[test]
fn a_call_without_effect_is_too_late_as_well() {
    assert_eq!(dofork_range(0, 0), 0);
    assert_eq!(ibv_fork_init(), libc::EINVAL);
}

#[test]
fn init_tries_the_kernel_once() {
    assert_eq!(ibv_fork_init(), 0);
    let advices = take_advices();
    assert_eq!(advices.iter().map(|advice| advice.2).collect::<Vec<_>>(), [true, false]);
    assert_eq!(ibv_fork_init(), 0);
    assert_eq!(take_advices(), []);
    assert_eq!(ibv_is_fork_initialized(), IBV_FORK_ENABLED);
}

#[test]
fn a_kernel_that_copies_needs_no_support() {
    COPIES_ON_FORK.set(true);
    assert_eq!(ibv_is_fork_initialized(), IBV_FORK_UNNEEDED);
    assert_eq!(dontfork_range(0x1000, 1), 0);
    assert_eq!(ibv_fork_init(), 0);
    assert_eq!(take_advices(), []);
    // Nothing was set up.
    COPIES_ON_FORK.set(false);
    assert_eq!(ibv_is_fork_initialized(), IBV_FORK_DISABLED);
}

#[test]
fn unneeded_takes_precedence_over_enabled() {
    enable();
    COPIES_ON_FORK.set(true);
    assert_eq!(ibv_is_fork_initialized(), IBV_FORK_UNNEEDED);
}

#[test]
fn a_kernel_without_the_advice_is_told_apart() {
    for address in [0, usize::MAX] {
        // No test page is there, so support is enabled.
        fail_at(address, Errno::EINVAL);
    }
    assert_eq!(ibv_fork_init(), 0);
    // A thread of its own has support of its own; there every address fails.
    std::thread::spawn(|| {
        let fork = Fork::new(System {
            copies_on_fork: || false,
            madvise: |_, _| Err(Errno::EINVAL),
            page_size_at: |_| None,
        });
        assert_eq!(fork.enable(), Err(Errno::ENOSYS));
        assert_eq!(fork.status(), IBV_FORK_DISABLED);
        // It may be tried again: nothing was registered.
        assert_eq!(fork.enable(), Err(Errno::ENOSYS));
    })
    .join()
    .unwrap();
}

#[test]
fn ranges_are_marked_in_whole_pages() {
    enable();
    assert_eq!(dontfork_range(0x1234, 0x1000), 0);
    assert_eq!(take_advices(), [(0x1000, 0x2000, true)]);
    assert_eq!(dontfork_range(0x2000, 1), 0);
    assert_eq!(take_advices(), []);
    assert_eq!(dofork_range(0x1234, 0x1000), 0);
    assert_eq!(take_advices(), [(0x1000, 0x1000, false)]);
    assert_eq!(dofork_range(0x2000, 1), 0);
    assert_eq!(take_advices(), [(0x2000, 0x1000, false)]);
}

#[test]
fn nothing_and_what_cannot_be_is_not_marked() {
    enable();
    for (base, size) in [(0, 4096), (0x1000, 0), (0, 0), (0x1000, usize::MAX), (usize::MAX, 2)] {
        assert_eq!(dontfork_range(base, size), 0);
        assert_eq!(dofork_range(base, size), 0);
    }
    assert_eq!(take_advices(), []);
    // The last page of the address space.
    assert_eq!(dontfork_range(usize::MAX - 10, 11), 0);
    assert_eq!(dofork_range(usize::MAX - 10, 11), 0);
    let last = usize::MAX - 4095;
    assert_eq!(take_advices(), [(last, 4096, true), (last, 4096, false)]);
}

#[test]
fn a_failed_mark_is_undone_and_reported() {
    enable();
    fail_at(0x3000, Errno::ENOMEM);
    assert_eq!(dontfork_range(0x2000, 0x2000), -1);
    assert_eq!(Errno::last(), Errno::ENOMEM);
    // The part that failed is undone page by page.
    assert_eq!(
        take_advices(),
        [
            (0x2000, 0x2000, true),
            (0x2000, 0x2000, false),
            (0x2000, 0x1000, false),
            (0x3000, 0x1000, false)
        ]
    );
    fail_no_more();
    assert_eq!(dontfork_range(0x2000, 0x2000), 0);
    assert_eq!(take_advices(), [(0x2000, 0x2000, true)]);
}

#[test]
fn memory_with_holes_is_given_back_page_by_page() {
    enable();
    assert_eq!(dontfork_range(0x1000, 0x3000), 0);
    take_advices();
    fail_at(0x2000, Errno::ENOMEM);
    assert_eq!(dofork_range(0x1000, 0x3000), 0);
    assert_eq!(
        take_advices(),
        [
            (0x1000, 0x3000, false),
            (0x1000, 0x1000, false),
            (0x2000, 0x1000, false),
            (0x3000, 0x1000, false)
        ]
    );
}

#[test]
fn huge_pages_are_marked_as_a_whole() {
    enable();
    fork().huge_pages.store(true, Ordering::Relaxed);
    HUGE_PAGE.set(Some(2 << 20));
    assert_eq!(dontfork_range((4 << 20) + 1, 1), 0);
    HUGE_PAGE.set(None);
    assert_eq!(dontfork_range(0x1001, 1), 0);
    assert_eq!(take_advices(), [(4 << 20, 2 << 20, true), (0x1000, 0x1000, true)]);
}

#[test]
fn the_kernel_keeps_marked_memory_from_children() {
    let fork =
        Fork::new(System { copies_on_fork: || false, madvise, page_size_at: smaps::page_size_at });
    fork.enable().unwrap();
    let page = fork.state.page_size().unwrap();
    // Where the kernel puts nothing by itself: no other thread's mapping joins this one or fills the
    // hole behind it.
    let place = at(0x3000_0000);
    // SAFETY: a new mapping of two pages, in place of none.
    let memory = unsafe {
        libc::mmap(
            place,
            2 * page,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE,
            -1,
            0,
        )
    };
    assert_eq!(memory, place);
    let memory = memory.addr();
    let marked = || {
        let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mapping = smaps.split(&format!("{memory:x}-")).nth(1).unwrap();
        let flags = mapping.split("VmFlags:").nth(1).unwrap().lines().next().unwrap();
        flags.split_whitespace().any(|flag| flag == "dc")
    };
    fork.exclude(memory + 1, 2 * page - 1).unwrap();
    assert!(marked());
    fork.include(memory + 1, 2 * page - 1).unwrap();
    assert!(!marked());
    // The kernel marks what there is before it notices the hole.
    assert_eq!(fork.exclude(memory, 3 * page), Err(Errno::ENOMEM));
    assert!(!marked());
    // SAFETY: the mapping is ours.
    unsafe { libc::munmap(at(memory), 2 * page) };
}

#[test]
fn threads_share_the_counts() {
    static FORK: Fork = Fork::new(System {
        copies_on_fork: || false,
        madvise: |_, _| Ok(()),
        page_size_at: |_| None,
    });
    FORK.enable().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for round in 0..rounds(500) as usize {
                    let base = 0x1000 * (1 + (thread + round) % 7);
                    FORK.exclude(base, 0x2000).unwrap();
                    FORK.include(base, 0x2000).unwrap();
                }
            });
        }
    });
    // All is as before: one new mark is one new advice.
    let advices = core::cell::Cell::new(0);
    FORK.ranges()
        .as_mut()
        .unwrap()
        .exclude(Span { first: 0, last: usize::MAX }, |_, _| {
            advices.set(advices.get() + 1);
            Ok(())
        })
        .unwrap();
    assert_eq!(advices.get(), 1);
}
