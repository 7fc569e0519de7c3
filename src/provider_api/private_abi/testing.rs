//! Objects of an older provider: memory that is just as large as its release made them.

use super::Layout;
use crate::abi::ibv_context;

/// Guards on either side, in 8-byte words.
const GUARD: usize = 16;
const UNTOUCHED: u64 = 0xa5a5_a5a5_a5a5_a5a5;

/// Zeroed memory between guards, which nobody may touch; dropping it looks whether somebody did.
pub(crate) struct Guarded {
    words: *mut [u64],
}

impl Guarded {
    pub(crate) fn new(size: usize) -> Guarded {
        assert_eq!(size % size_of::<u64>(), 0);
        let mut words = vec![UNTOUCHED; 2 * GUARD + size / size_of::<u64>()];
        let end = words.len() - GUARD;
        words[GUARD..end].fill(0);
        Guarded { words: Box::into_raw(words.into_boxed_slice()) }
    }

    /// A context of a layout.
    pub(crate) fn context(layout: &Layout) -> Guarded {
        Guarded::new(layout.context_size())
    }

    /// Address of the memory.
    pub(crate) fn get<T>(&self) -> *mut T {
        self.words.cast::<u64>().wrapping_add(GUARD).cast()
    }

    /// The public context, if this is a [`context`](Guarded::context) of the layout.
    pub(crate) fn public(&self, layout: &Layout) -> *mut ibv_context {
        self.get::<u8>().wrapping_add(layout.context_offset).cast()
    }

    /// Fills the memory with a byte, as if it had been used before.
    pub(crate) fn fill(&self, byte: u8) {
        // SAFETY: the memory is ours, between the guards.
        unsafe {
            let length = (self.words.len() - 2 * GUARD) * size_of::<u64>();
            self.get::<u8>().write_bytes(byte, length);
        }
    }

    /// Fails when a guard was touched.
    #[track_caller]
    pub(crate) fn check(&self) {
        // SAFETY: the memory is ours, and read as what it was made of.
        let words = unsafe { &*self.words };
        let guards = words[..GUARD].iter().chain(&words[words.len() - GUARD..]);
        assert!(guards.clone().all(|word| *word == UNTOUCHED), "{guards:x?}");
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.check();
        }
        // SAFETY: `new` made it of a box.
        drop(unsafe { Box::from_raw(self.words) });
    }
}
