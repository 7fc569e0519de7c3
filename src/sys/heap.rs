//! The library's heap: malloc(3), and a reserve for when that has nothing left.
//!
//! Where Rust allocates a little, for a list or a text, it has no way to say that it cannot, and ends
//! the process. A library must not do that to a program that copes. So small pieces come from the
//! reserve while malloc(3) fails: the call that is under way gets to its end, and the next one that
//! would create something fails with ENOMEM, see [`enough`], until malloc(3) works again.

use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr;
use std::alloc::System;

use crate::sys::errno::{Errno, Result};

/// Bytes of the reserve, which take no memory before they are used.
const SIZE: usize = 64 << 10;

/// The largest piece that comes from the reserve, in bytes. What may be larger is asked for by
/// functions that can fail.
const LARGEST: usize = 8 << 10;

/// How much memory there must be, in bytes, before something new is created after a failure.
const PROBE: usize = 16 << 10;

#[global_allocator]
static HEAP: Heap = Heap { reserve: Reserve::new(), is_low: AtomicBool::new(false) };

/// Fails with ENOMEM if there was no memory a while ago and still is none. To be asked before
/// anything is created.
#[inline(never)]
pub(crate) fn enough() -> Result<()> {
    HEAP.enough()
}

struct Heap {
    reserve: Reserve,
    /// malloc(3) has failed since it was last seen to work.
    is_low: AtomicBool,
}

impl Heap {
    fn enough(&self) -> Result<()> {
        if !self.is_low.load(Ordering::Relaxed) {
            return Ok(());
        }
        // SAFETY: malloc has no preconditions, and free gets what came from it.
        let has_memory = unsafe {
            let probe = libc::malloc(PROBE);
            libc::free(core::hint::black_box(probe));
            !probe.is_null()
        };
        self.is_low.store(!has_memory, Ordering::Relaxed);
        if has_memory { Ok(()) } else { Err(Errno::ENOMEM) }
    }

    #[cold]
    fn reserved(&self, layout: Layout) -> *mut u8 {
        self.is_low.store(true, Ordering::Relaxed);
        self.reserve.take(layout)
    }
}

// SAFETY: memory is that of `System`, or a piece of the reserve that nobody else has; each piece goes
// back to where it came from.
// Not inlined, which would put all of it wherever something is allocated.
unsafe impl GlobalAlloc for Heap {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        match unsafe { System.alloc(layout) } {
            memory if memory.is_null() => self.reserved(layout),
            memory => memory,
        }
    }

    #[inline(never)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let memory = unsafe { System.alloc_zeroed(layout) };
        if !memory.is_null() {
            return memory;
        }
        let memory = self.reserved(layout);
        if !memory.is_null() {
            // SAFETY: a new piece of this size, which may have been used before.
            unsafe { memory.write_bytes(0, layout.size()) };
        }
        memory
    }

    #[inline(never)]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if self.reserve.has(memory) {
            self.reserve.give_back(memory, layout);
        } else {
            // SAFETY: the caller's promise; it did not come from the reserve.
            unsafe { System.dealloc(memory, layout) };
        }
    }

    #[inline(never)]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !self.reserve.has(memory) {
            // SAFETY: the caller's promise; it did not come from the reserve.
            let longer = unsafe { System.realloc(memory, layout, size) };
            if !longer.is_null() {
                return longer;
            }
        }
        // SAFETY: the caller's promise: the size is good for the alignment.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                ptr::copy_nonoverlapping(memory, new, layout.size().min(size));
                self.dealloc(memory, layout);
            }
            new
        }
    }
}

/// Pieces of memory one behind the other. What is behind the last one in use is free.
pub(super) struct Reserve {
    memory: UnsafeCell<[u64; SIZE / 8]>,
    /// How many pieces are in use, and above bit 32 the bytes up to the end of the last one.
    state: AtomicU64,
}

// SAFETY: each byte belongs to one piece, which one caller has, or to none.
unsafe impl Sync for Reserve {}

const END: u32 = 32;

impl Reserve {
    pub(super) const fn new() -> Reserve {
        Reserve { memory: UnsafeCell::new([0; SIZE / 8]), state: AtomicU64::new(0) }
    }

    fn has(&self, memory: *const u8) -> bool {
        memory.addr().wrapping_sub(self.memory.get().addr()) < SIZE
    }

    /// A new piece, or NULL.
    pub(super) fn take(&self, layout: Layout) -> *mut u8 {
        let base = self.memory.get().cast::<u8>();
        let mut place = 0;
        let next = |state: u64| {
            let first = base.addr() + (state >> END) as usize;
            place = first.next_multiple_of(layout.align()) - base.addr();
            // A piece of no bytes is never asked for.
            let end = place + layout.size();
            let fits = layout.size() <= LARGEST && layout.align() <= LARGEST && end <= SIZE;
            fits.then_some((end as u64) << END | ((state & u64::from(u32::MAX)) + 1))
        };
        match self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, next) {
            // SAFETY: the place is inside of the reserve.
            Ok(_) => unsafe { base.add(place) },
            Err(_) => ptr::null_mut(),
        }
    }

    /// Ends the use of a piece.
    pub(super) fn give_back(&self, memory: *mut u8, layout: Layout) {
        let place = (memory.addr() - self.memory.get().addr()) as u64;
        let next = |state: u64| {
            let (pieces, end) = ((state & u64::from(u32::MAX)) - 1, state >> END);
            let is_last = end == place + layout.size() as u64;
            let end = if pieces == 0 {
                0
            } else if is_last {
                place
            } else {
                end
            };
            Some(end << END | pieces)
        };
        let _ = self.state.fetch_update(Ordering::Release, Ordering::Relaxed, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    #[test]
    fn pieces_of_the_reserve_do_not_meet_and_come_back() {
        let reserve = Reserve::new();
        let sizes = [(1, 1), (8, 8), (100, 4), (3, 1), (64, 64)];
        let pieces: Vec<_> = sizes
            .map(|(size, align)| (reserve.take(layout(size, align)), layout(size, align)))
            .into();
        for (number, (piece, layout)) in pieces.iter().enumerate() {
            assert!(reserve.has(*piece) && piece.addr().is_multiple_of(layout.align()));
            for (other, other_layout) in &pieces[..number] {
                assert!(other.addr() + other_layout.size() <= piece.addr());
            }
        }
        // The last one can be used again at once, others when none is left.
        let (last, of_last) = pieces[4];
        reserve.give_back(last, of_last);
        assert_eq!(reserve.take(layout(64, 64)), last);
        for (piece, layout) in &pieces {
            reserve.give_back(*piece, *layout);
        }
        assert_eq!(reserve.state.load(Ordering::Relaxed), 0);
        let first = reserve.take(layout(1, 1));
        assert_eq!(first, pieces[0].0);
        assert!(!reserve.has(ptr::null()) && !reserve.has((&raw const reserve.state).cast()));
    }

    #[test]
    fn the_reserve_has_an_end() {
        let reserve = Reserve::new();
        assert!(reserve.take(layout(LARGEST + 1, 1)).is_null());
        for _ in 0..SIZE / LARGEST {
            assert!(!reserve.take(layout(LARGEST, 8)).is_null());
        }
        assert!(reserve.take(layout(1, 1)).is_null());
        let first = reserve.memory.get().cast();
        reserve.give_back(first, layout(LARGEST, 8));
        assert!(reserve.take(layout(1, 1)).is_null());
    }

    #[test]
    fn what_is_moved_keeps_its_bytes_and_memory_that_is_back_is_noticed() {
        let heap = Heap { reserve: Reserve::new(), is_low: AtomicBool::new(false) };
        let old = layout(4, 1);
        let piece = heap.reserved(old);
        assert!(heap.is_low.load(Ordering::Relaxed));
        // SAFETY: a piece of four bytes; longer, and then given back.
        unsafe {
            piece.copy_from_nonoverlapping(b"abcd".as_ptr(), 4);
            let longer = heap.realloc(piece, old, 8);
            assert!(!heap.reserve.has(longer));
            assert_eq!(core::slice::from_raw_parts(longer, 4), b"abcd");
            heap.dealloc(longer, layout(8, 1));
        }
        assert_eq!(heap.reserve.state.load(Ordering::Relaxed), 0);
        assert_eq!(heap.enough(), Ok(()));
        assert!(!heap.is_low.load(Ordering::Relaxed));
    }
}
