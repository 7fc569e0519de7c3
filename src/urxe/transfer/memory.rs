//! Requests on the memory of the peer: reads, writes, atomics, flushes.

use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use crate::sync::atomic::{AtomicU64, fence};

use super::Operation;
use super::bytes::{Local, Remote};
use super::message::Arrival;
use super::responder::Connection;
use super::stop::{Reason, Stop};
use crate::abi::*;
use crate::sys::errno::Errno;
use crate::urxe::host::agent::{self, Word};
use crate::urxe::host::copy::Direction;
use crate::urxe::pair::{Data, Target};
use crate::urxe::region::check::{Place, Wanted, check_of};
use crate::urxe::shared::KeyMemory;

/// Bytes of what an atomic works on.
const WORD: u64 = 8;

/// Memory of the peer that a request is about.
#[derive(Clone, Copy)]
struct Range {
    address: u64,
    length: u64,
    rkey: u32,
}

/// Counts what a request did to the memory of the peer, or that the peer refused it.
fn count(
    connection: &Connection<'_>,
    operation: ibv_qp_attach_comp_cntr_op,
    range: Range,
    result: Result<(), Stop>,
) -> Result<(), Stop> {
    match result {
        Ok(()) => connection.responder.count(operation, Some(range.length)),
        Err(Stop::Remote(..)) => connection.responder.count(operation, None),
        // Nothing has happened, so far.
        Err(_) => {}
    }
    result
}

impl Operation<'_> {
    /// `IBV_WR_RDMA_WRITE`, also with immediate data.
    pub(super) fn write(&self) -> Result<u32, Stop> {
        self.check_length()?;
        let mut source = Local::new();
        self.source(&mut source)?;
        let range = self.range(source.length())?;
        self.with_connection(|connection| {
            let result = self.write_to(connection, range, &source);
            let operation = IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE;
            count(connection, operation, range, result)
        })?;
        Ok(self.byte_len())
    }

    fn write_to(
        &self,
        connection: &Connection<'_>,
        range: Range,
        source: &Local,
    ) -> Result<(), Stop> {
        self.allowed(connection, IBV_ACCESS_REMOTE_WRITE)?;
        let with_imm = self.wqe.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
        if with_imm {
            // First of all, as nothing is written without a receive.
            self.with_receive(connection)?;
        }
        if let Some(place) = self.remote(connection, range, IBV_ACCESS_REMOTE_WRITE)? {
            self.transfer(connection, &place, range, Direction::Write, source)?;
        }
        if !with_imm {
            return Ok(());
        }
        let arrival = Arrival {
            opcode: IBV_WC_RECV_RDMA_WITH_IMM,
            wc_flags: self.wc_flags(),
            data: None,
            room: 0,
            byte_len: self.byte_len(),
            sl: self.attr.ah_attr.sl,
        };
        self.deliver(connection, &arrival)
    }

    /// `IBV_WR_RDMA_READ`
    pub(super) fn read(&self) -> Result<u32, Stop> {
        self.check_depth()?;
        self.check_length()?;
        let mut target = Local::new();
        self.target(&mut target)?;
        let range = self.range(target.length())?;
        self.with_connection(|connection| {
            let result = self.read_from(connection, range, &target);
            let operation = IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ;
            count(connection, operation, range, result)
        })?;
        Ok(self.byte_len())
    }

    fn read_from(
        &self,
        connection: &Connection<'_>,
        range: Range,
        target: &Local,
    ) -> Result<(), Stop> {
        self.allowed(connection, IBV_ACCESS_REMOTE_READ)?;
        self.has_room_for_read(connection)?;
        match self.remote(connection, range, IBV_ACCESS_REMOTE_READ)? {
            Some(place) => self.transfer(connection, &place, range, Direction::Read, target),
            None => Ok(()),
        }
    }

    /// `IBV_WR_ATOMIC_CMP_AND_SWP` and `IBV_WR_ATOMIC_FETCH_AND_ADD`
    pub(super) fn atomic(&self) -> Result<u32, Stop> {
        let Target::Word { address, rkey, operand, swap } = self.wqe.target else {
            return Err(Stop::local(IBV_WC_LOC_QP_OP_ERR, Reason::Opcode));
        };
        self.check_depth()?;
        let mut target = Local::new();
        self.target(&mut target)?;
        if target.length() != WORD {
            self.explain(format_args!("{} bytes for the result of an atomic", target.length()));
            return Err(Stop::local(IBV_WC_LOC_LEN_ERR, Reason::WordLength));
        }
        let range = Range { address, length: WORD, rkey };
        let word = match self.wqe.opcode {
            IBV_WR_ATOMIC_CMP_AND_SWP => Word::CompareSwap { compare: operand, swap },
            _ => Word::FetchAdd { add: operand },
        };
        let mut before = self.with_connection(|connection| {
            self.allowed(connection, IBV_ACCESS_REMOTE_ATOMIC)?;
            self.has_room_for_read(connection)?;
            self.aligned(connection, range)?;
            let place = self.remote(connection, range, IBV_ACCESS_REMOTE_ATOMIC)?;
            self.on_word(connection, place.as_ref(), range, word)
        })?;
        let mut result = Local::new();
        let stored = result
            .add_address((&raw mut before).cast(), WORD as usize)
            .and_then(|()| target.fill_from(&result));
        match stored {
            Ok(()) => Ok(WORD as u32),
            Err(_) => Err(Stop::local(IBV_WC_LOC_PROT_ERR, Reason::LocalFault)),
        }
    }

    /// `IBV_WR_ATOMIC_WRITE`
    pub(super) fn atomic_write(&self) -> Result<u32, Stop> {
        let bytes = match self.wqe.data {
            Data::Inline(bytes) => bytes.try_into().ok(),
            Data::List(_) => None,
        };
        let Some(bytes) = bytes else {
            return Err(Stop::local(IBV_WC_LOC_LEN_ERR, Reason::WordLength));
        };
        let word = Word::Store { value: u64::from_ne_bytes(bytes) };
        let range = self.range(WORD)?;
        self.with_connection(|connection| {
            self.allowed(connection, IBV_ACCESS_REMOTE_WRITE)?;
            self.aligned(connection, range)?;
            let place = self.remote(connection, range, IBV_ACCESS_REMOTE_WRITE)?;
            self.on_word(connection, place.as_ref(), range, word)
        })?;
        Ok(WORD as u32)
    }

    /// `IBV_WR_FLUSH`: all stores are visible to all, and memory is what it is, so that only the
    /// checks are left.
    pub(super) fn flush(&self) -> Result<u32, Stop> {
        let Target::Flush { address, rkey, length, placement, level } = self.wqe.target else {
            return Err(Stop::local(IBV_WC_LOC_QP_OP_ERR, Reason::Opcode));
        };
        let placement = u32::from(placement);
        let access = [
            (IBV_FLUSH_GLOBAL, IBV_ACCESS_FLUSH_GLOBAL),
            (IBV_FLUSH_PERSISTENT, IBV_ACCESS_FLUSH_PERSISTENT),
        ]
        .iter()
        .filter(|(kind, _)| placement & kind != 0)
        .fold(0, |all, (_, access)| all | access);
        // A whole region has the range that it has.
        let whole = u32::from(level) == IBV_FLUSH_MR;
        let range = Range { address, length: if whole { 0 } else { length }, rkey };
        self.with_connection(|connection| {
            self.allowed(connection, access)?;
            if whole || length > 0 {
                self.place(connection, range, access)?;
            }
            fence(SeqCst);
            Ok(())
        })?;
        Ok(0)
    }

    /// The responder refuses such a request without resources for any. `max_dest_rd_atomic`; IBTA
    /// volume 1, section 9.7.4.1.
    fn has_room_for_read(&self, connection: &Connection<'_>) -> Result<(), Stop> {
        let responder = &connection.responder;
        if responder.shared.reads.load(Relaxed) > 0 {
            return Ok(());
        }
        let number = responder.number;
        self.explain(format_args!("max_dest_rd_atomic of QP {number:#x} is 0"));
        Err(self.refuse(connection, IBV_EVENT_QP_REQ_ERR, IBV_WC_REM_INV_REQ_ERR, Reason::Reads))
    }

    /// The memory that the request names.
    fn range(&self, length: u64) -> Result<Range, Stop> {
        match self.wqe.target {
            Target::Memory { address, rkey } => Ok(Range { address, length, rkey }),
            _ => Err(Stop::local(IBV_WC_LOC_QP_OP_ERR, Reason::Opcode)),
        }
    }

    /// Whether the peer lets its QP be used so.
    fn allowed(&self, connection: &Connection<'_>, access: u32) -> Result<(), Stop> {
        let responder = &connection.responder;
        let has = responder.shared.access.load(Relaxed);
        if access & !has == 0 {
            return Ok(());
        }
        self.explain(format_args!(
            "QP {:#x} allows {has:#x} and lacks access {:#x}",
            responder.number,
            access & !has,
        ));
        Err(self.refuse(connection, IBV_EVENT_QP_REQ_ERR, IBV_WC_REM_INV_REQ_ERR, Reason::QpAccess))
    }

    /// The place behind a remote key; none for no bytes, for which no key is looked at.
    fn remote(
        &self,
        connection: &Connection<'_>,
        range: Range,
        access: u32,
    ) -> Result<Option<Place>, Stop> {
        if range.length == 0 {
            return Ok(None);
        }
        self.place(connection, range, access).map(Some)
    }

    fn place(&self, connection: &Connection<'_>, range: Range, access: u32) -> Result<Place, Stop> {
        let number = connection.responder.number;
        let Range { address, length, rkey } = range;
        let wanted = Wanted { pd: connection.pd, access, address, length, qp_num: number };
        check_of(connection.site, rkey, &wanted).map_err(|denied| {
            self.explain(format_args!("at QP {number:#x}: {denied}"));
            self.no_access(connection, Reason::RemoteKey)
        })
    }

    fn aligned(&self, connection: &Connection<'_>, range: Range) -> Result<(), Stop> {
        if range.address.is_multiple_of(WORD) {
            Ok(())
        } else {
            Err(self.no_word(connection, range))
        }
    }

    fn no_word(&self, connection: &Connection<'_>, range: Range) -> Stop {
        self.explain(format_args!("{:#x} is not the address of a word", range.address));
        let (event, status) = (IBV_EVENT_QP_REQ_ERR, IBV_WC_REM_INV_REQ_ERR);
        self.refuse(connection, event, status, Reason::Alignment)
    }

    /// The responder refuses access to its memory.
    fn no_access(&self, connection: &Connection<'_>, reason: Reason) -> Stop {
        self.refuse(connection, IBV_EVENT_QP_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR, reason)
    }

    /// The responder refuses the request, and a reliable connection ends. Others drop it.
    fn refuse(
        &self,
        connection: &Connection<'_>,
        event: ibv_event_type,
        status: ibv_wc_status,
        reason: Reason,
    ) -> Stop {
        if connection.reliable {
            connection.responder.fail(Some(event));
        }
        Stop::remote(status, reason)
    }

    /// Moves the bytes of a read or a write.
    fn transfer(
        &self,
        connection: &Connection<'_>,
        place: &Place,
        range: Range,
        direction: Direction,
        local: &Local,
    ) -> Result<(), Stop> {
        let mut remote = Remote::new(self, connection.site);
        let writes = direction == Direction::Write;
        let result = match remote.add(place, range.length as usize, writes) {
            Ok(()) => remote.transfer(direction, local),
            Err(_) => Err(Stop::remote(IBV_WC_REM_ACCESS_ERR, Reason::RemoteFault)),
        };
        result.map_err(|stop| match stop {
            Stop::Remote(_, reason) => {
                self.explain_fault(connection, range);
                if self.wqe.opcode == IBV_WR_RDMA_WRITE_WITH_IMM && connection.reliable {
                    let stop = Stop::remote(IBV_WC_REM_ACCESS_ERR, reason);
                    return self.spoil_first(connection, stop).unwrap_or_else(|other| other);
                }
                self.no_access(connection, reason)
            }
            other => other,
        })
    }

    fn explain_fault(&self, connection: &Connection<'_>, range: Range) {
        self.explain(format_args!(
            "memory of key {:#x} of QP {:#x} is not mapped",
            range.rkey, connection.responder.number,
        ));
    }

    /// Whether the QP may have a read or an atomic under way.
    fn check_depth(&self) -> Result<(), Stop> {
        if self.attr.max_rd_atomic > 0 {
            return Ok(());
        }
        self.explain(format_args!("a read or an atomic, and max_rd_atomic is 0"));
        Err(Stop::local(IBV_WC_LOC_QP_OP_ERR, Reason::Opcode))
    }

    /// Does something to a word of the peer, at once for all who look; what it was before.
    fn on_word(
        &self,
        connection: &Connection<'_>,
        place: Option<&Place>,
        range: Range,
        word: Word,
    ) -> Result<u64, Stop> {
        let Some(place) = place.filter(|place| place.memory != KeyMemory::NULL) else {
            return Ok(0);
        };
        let site = connection.site;
        let mut remote = Remote::new(self, site);
        let fault = || {
            self.explain_fault(connection, range);
            self.no_access(connection, Reason::RemoteFault)
        };
        remote.add(place, range.length as usize, true).map_err(|_| fault())?;
        let address = remote.first().ok_or_else(fault)?;
        if !address.addr().is_multiple_of(align_of::<AtomicU64>()) {
            return Err(self.no_word(connection, range));
        }
        if remote.is_here() {
            if !remote.is_mapped() {
                return Err(fault());
            }
            // SAFETY: aligned memory that was registered for this, and is mapped in this process.
            return Ok(unsafe { word.apply(address.cast()) });
        }
        match agent::on_word(self.host, site, address.addr() as u64, word, self.patience) {
            Ok(before) => Ok(before),
            Err(Errno::EFAULT) => Err(fault()),
            Err(errno) => Err(Stop::of_server(errno)),
        }
    }
}
