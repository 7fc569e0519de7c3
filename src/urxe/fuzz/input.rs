//! Decisions made of bytes.

/// Bytes that are used up one after the other; zeros follow.
pub(super) struct Input<'a> {
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Input<'a> {
        Input { bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Up to so many bytes.
    pub(super) fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (first, rest) = self.bytes.split_at(count.min(self.bytes.len()));
        self.bytes = rest;
        first
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or(0)
    }

    pub(super) fn word(&mut self) -> u32 {
        let mut word = [0; 4];
        let bytes = self.bytes(4);
        word[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(word)
    }

    /// A number with few bits, many bits, or near a power of two: those are where things break.
    pub(super) fn number(&mut self) -> u64 {
        match self.byte() {
            0 => 0,
            kind @ 1..=64 => {
                (1_u64 << (kind - 1)).wrapping_add_signed(i64::from(self.byte() as i8))
            }
            65..=96 => u64::MAX - u64::from(self.byte()),
            97..=160 => u64::from(self.byte()),
            161..=200 => u64::from(self.word()),
            _ => u64::from(self.word()) << 32 | u64::from(self.word()),
        }
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound.max(1)
    }

    pub(super) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    pub(super) fn flag(&mut self) -> bool {
        self.byte() & 1 != 0
    }
}
