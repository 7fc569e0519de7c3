//! The memory of the own slot behind the tables: who has which part of it.
//!
//! What is handed out has its memory (fallocate(2)), so touching it cannot fail; large parts give
//! it back when they are free. The book-keeping is this process' own.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use super::memory::Memory;
use super::slot::{allocate, release};
use crate::sys::errno::{Errno, Result};
use crate::urxe::shared::{ARENA, FILE_SIZE};

/// Memory comes from the file system in pieces of this size.
const CHUNK: u64 = 64 << 10;
/// Free space of this length goes back to the file system.
const RETURNED: u64 = 1 << 20;
/// All parts begin and end at multiples of this, so no two share a cache line.
const UNIT: u64 = 64;

/// Kinds of records that are reused for their own kind only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Qp,
    Queue,
    Cq,
    Counter,
}

/// Number of [`Kind`]s.
const KINDS: usize = 4;

/// What of the slot file is in use.
pub(super) struct Arena {
    /// Free parts: offset and length; neighbours are joined.
    free: BTreeMap<u64, u64>,
    /// Which chunks have their memory, a bit each.
    backed: Vec<u64>,
    /// Free records.
    records: [Vec<u64>; KINDS],
}

impl Arena {
    pub(super) fn new() -> Arena {
        Arena {
            free: BTreeMap::from([(ARENA, FILE_SIZE - ARENA)]),
            backed: vec![0; (FILE_SIZE / CHUNK / 64) as usize],
            records: [const { Vec::new() }; KINDS],
        }
    }

    /// A part of `length` bytes that read as zero. ENOMEM if there is no room or no memory; EINVAL
    /// if `align` is no power of two.
    pub(super) fn alloc(
        &mut self,
        file: &OwnedFd,
        memory: &Memory,
        length: u64,
        align: u64,
    ) -> Result<u64> {
        if !align.is_power_of_two() {
            return Err(Errno::EINVAL);
        }
        let align = align.max(UNIT);
        let length = round_up(length.max(1)).ok_or(Errno::ENOMEM)?;
        let (part, offset) = self.find(length, align).ok_or(Errno::ENOMEM)?;
        self.back(file, memory, offset, length)?;
        let Some(whole) = self.free.remove(&part) else { return Err(Errno::ENOMEM) };
        let (before, end) = (offset - part, offset + length);
        let behind = part + whole - end;
        if before > 0 {
            self.free.insert(part, before);
        }
        if behind > 0 {
            self.free.insert(end, behind);
        }
        Ok(offset)
    }

    /// The first free part with room, and the offset in it.
    fn find(&self, length: u64, align: u64) -> Option<(u64, u64)> {
        self.free.iter().find_map(|(&part, &whole)| {
            let offset = part.checked_next_multiple_of(align)?;
            (offset.checked_add(length)? <= part + whole).then_some((part, offset))
        })
    }

    /// Gives the chunks of a range their memory, and clears what had it before.
    pub(super) fn back(
        &mut self,
        file: &OwnedFd,
        memory: &Memory,
        offset: u64,
        length: u64,
    ) -> Result<()> {
        let end = offset + length;
        let mut at = offset;
        while at < end {
            // A run of chunks that are alike.
            let has = self.is_backed(at / CHUNK);
            let mut chunk = at / CHUNK;
            while chunk * CHUNK < end && self.is_backed(chunk) == has {
                chunk += 1;
            }
            let next = (chunk * CHUNK).min(end);
            if has {
                memory.clear(at, next - at);
            } else {
                let first = at / CHUNK;
                allocate(file, first * CHUNK, (chunk - first) * CHUNK)?;
                for chunk in first..chunk {
                    self.set_backed(chunk, true);
                }
            }
            at = next;
        }
        Ok(())
    }

    /// As [`back`](Self::back), for a table: what had its memory before stays as it is.
    pub(super) fn back_table(&mut self, file: &OwnedFd, offset: u64, length: u64) -> Result<()> {
        let end = offset + length;
        for chunk in offset / CHUNK..end.div_ceil(CHUNK) {
            if !self.is_backed(chunk) {
                allocate(file, chunk * CHUNK, CHUNK)?;
                self.set_backed(chunk, true);
            }
        }
        Ok(())
    }

    /// Takes a part back that [`alloc`](Self::alloc) gave.
    pub(super) fn free(&mut self, file: &OwnedFd, offset: u64, length: u64) {
        let Some(length) = round_up(length.max(1)) else { return };
        let (mut first, mut end) = (offset, offset + length);
        if let Some((&before, &size)) = self.free.range(..first).next_back()
            && before + size == first
        {
            self.free.remove(&before);
            first = before;
        }
        if let Some(size) = self.free.remove(&end) {
            end += size;
        }
        self.free.insert(first, end - first);
        self.give_back(file, offset, length, first, end);
    }

    /// Returns the memory of the chunks around a freed range, if much of it is free now: those of
    /// the free part from `first` to `end`.
    fn give_back(&mut self, file: &OwnedFd, offset: u64, length: u64, first: u64, end: u64) {
        if end - first < RETURNED || length < CHUNK {
            return;
        }
        let low = first.max(offset.saturating_sub(CHUNK)).div_ceil(CHUNK);
        let high = end.min(offset + length + CHUNK) / CHUNK;
        if low < high && release(file, low * CHUNK, (high - low) * CHUNK).is_ok() {
            for chunk in low..high {
                self.set_backed(chunk, false);
            }
        }
    }

    /// A record of a kind: zero when it is new, as it was left when it had been in use.
    pub(super) fn new_record(
        &mut self,
        file: &OwnedFd,
        memory: &Memory,
        kind: Kind,
        length: u64,
    ) -> Result<u64> {
        match self.records[kind as usize].pop() {
            Some(offset) => Ok(offset),
            None => self.alloc(file, memory, length, UNIT),
        }
    }

    /// Takes a record back.
    pub(super) fn free_record(&mut self, kind: Kind, offset: u64) {
        self.records[kind as usize].push(offset);
    }

    fn is_backed(&self, chunk: u64) -> bool {
        self.backed.get((chunk / 64) as usize).is_some_and(|bits| bits >> (chunk % 64) & 1 != 0)
    }

    fn set_backed(&mut self, chunk: u64, value: bool) {
        if let Some(bits) = self.backed.get_mut((chunk / 64) as usize) {
            let bit = 1 << (chunk % 64);
            *bits = if value { *bits | bit } else { *bits & !bit };
        }
    }
}

fn round_up(length: u64) -> Option<u64> {
    length.checked_next_multiple_of(UNIT)
}

#[cfg(test)]
mod tests;
