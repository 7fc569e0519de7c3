//! The tables by which peers find objects: a number names an entry, and that the record.
//!
//! An entry is one word. Who has found a record takes its lock and looks whether it is what was
//! wanted: it may be of another object by then, but is of the same kind.

use crate::sync::atomic::{AtomicU64, Ordering};

use super::Memory;
use crate::sys::errno::{Errno, Result};
use crate::sys::mutex::Mutex;
use crate::urxe::shared::{QP_TABLE, QPS, SRQ_TABLE, SRQS};

/// The tables of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Table {
    Qp,
    Srq,
}

impl Table {
    fn place(self) -> (u64, u32) {
        match self {
            Table::Qp => (QP_TABLE, QPS),
            Table::Srq => (SRQ_TABLE, SRQS),
        }
    }

    /// Offset of the object with a number in the slot of the process that has it; `None` if there is
    /// none. Not checked: any process may have stored it.
    pub(crate) fn find(self, memory: &Memory, number: u32) -> Option<u64> {
        let (place, count) = self.place();
        let entry = memory.at::<AtomicU64>(place + u64::from(number & (count - 1)) * 8)?;
        Some(entry.load(Ordering::Acquire)).filter(|offset| *offset != 0)
    }
}

/// Where the search for a free entry of a table goes on, and how many were ever in use.
#[derive(Clone, Copy, Default)]
struct State {
    next: u32,
    used: u32,
}

/// What this process knows of its tables.
pub(super) struct Tables(Mutex<[State; 2]>);

impl Tables {
    pub(super) fn new() -> Tables {
        Tables(Mutex::new([State::default(); 2]))
    }

    /// How many of the first entries of a table were ever in use.
    pub(super) fn used(&self, table: Table) -> u32 {
        self.0.lock()[table as usize].used
    }

    /// See [`Host::table_insert`](super::Host::table_insert).
    pub(super) fn insert(&self, memory: &Memory, table: Table, offset: u64) -> Result<u32> {
        let (place, length) = table.place();
        let entries: &[AtomicU64] = memory.slice(place, length as usize).ok_or(Errno::EIO)?;
        let mut states = self.0.lock();
        let state = &mut states[table as usize];
        for step in 0..length {
            let index = (state.next + step) % length;
            let Some(entry) = entries.get(index as usize) else { break };
            if entry.load(Ordering::Relaxed) == 0 {
                entry.store(offset, Ordering::Release);
                state.next = (index + 1) % length;
                state.used = state.used.max(index + 1);
                return Ok(index);
            }
        }
        Err(Errno::ENOMEM)
    }

    /// See [`Host::table_remove`](super::Host::table_remove).
    pub(super) fn remove(&self, memory: &Memory, table: Table, index: u32) {
        let (place, length) = table.place();
        if index < length
            && let Some(entry) = memory.at::<AtomicU64>(place + u64::from(index) * 8)
        {
            let _states = self.0.lock();
            entry.store(0, Ordering::Release);
        }
    }
}
