//! A region that is used again and again: where its bytes are, without reading all of its key anew.

use super::check::{Content, entry};
use crate::abi::*;
use crate::sync::atomic::Ordering::{Acquire, Relaxed};
use crate::sync::atomic::fence;
use crate::urxe::host::Memory;
use crate::urxe::shared::{KEY_TABLE, KeyEntry, KeyMemory};

/// A region of one slot that its owner may write, and that is sure to be mapped.
#[derive(Default)]
pub(crate) struct Known {
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
        memory: &Memory,
        pd: u32,
        key: u32,
        address: u64,
        length: u64,
    ) -> Option<u64> {
        let place = KEY_TABLE + u64::from(key >> 8) * size_of::<KeyEntry>() as u64;
        if (key, pd) != (self.key, self.pd)
            || memory.at::<KeyEntry>(place)?.sequence.load(Acquire) != self.sequence
        {
            self.learn(memory, pd, key)?;
        }
        let offset = address.wrapping_sub(self.iova);
        let fits = offset <= self.length && length <= self.length - offset;
        fits.then(|| self.address.wrapping_add(offset))
    }

    #[cold]
    fn learn(&mut self, memory: &Memory, pd: u32, key: u32) -> Option<()> {
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
        *self = Known { key, sequence, pd, iova, length, address };
        Some(())
    }
}
