//! A region that is used again and again: where its bytes are, without reading all of its key anew.

use super::check::{Content, entry};
use crate::abi::*;
use crate::sync::atomic::Ordering::{Acquire, Relaxed};
use crate::sync::atomic::fence;
use crate::urxe::host::Memory;
use crate::urxe::shared::{KeyEntry, KeyMemory};

/// A region of one slot that its owner may write, and that is sure to be mapped.
#[derive(Default)]
pub(crate) struct Known {
    /// The entry of the key, once there is one.
    entry: Option<&'static KeyEntry>,
    key: u32,
    /// The sequence number that the entry of the key had.
    sequence: u32,
    pd: u32,
    iova: u64,
    length: u64,
    address: u64,
}

impl Known {
    /// Where `length` bytes behind a key of a protection domain are, in the memory of this process.
    /// `None` is no refusal: [`check`](super::check::check) knows more.
    #[inline]
    pub(crate) fn find(
        &mut self,
        memory: &'static Memory,
        pd: u32,
        key: u32,
        address: u64,
        length: u64,
    ) -> Option<u64> {
        let is_known = key == self.key
            && pd == self.pd
            && self.entry.is_some_and(|entry| entry.sequence.load(Acquire) == self.sequence);
        if !is_known {
            self.learn(memory, pd, key)?;
        }
        let offset = address.wrapping_sub(self.iova);
        let fits = offset <= self.length && length <= self.length - offset;
        fits.then(|| self.address.wrapping_add(offset))
    }

    #[cold]
    #[inline(never)]
    fn learn(&mut self, memory: &'static Memory, pd: u32, key: u32) -> Option<()> {
        *self = Known::default();
        let entry = entry(memory, key)?;
        let sequence = entry.sequence.load(Acquire);
        let content = Content::read(entry)?;
        fence(Acquire);
        let is_plain = matches!(content.memory, KeyMemory::ORDINARY | KeyMemory::FILE)
            && content.access & (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND)
                == IBV_ACCESS_LOCAL_WRITE;
        if content.key != key
            || content.pd != pd
            || content.parent != 0
            || !is_plain
            // Then it may have been read in another state.
            || entry.sequence.load(Relaxed) != sequence
        {
            return None;
        }
        let Content { iova, length, address, .. } = content;
        *self = Known { entry: Some(entry), key, sequence, pd, iova, length, address };
        Some(())
    }
}
