//! Messages that take a receive: sends, and writes with immediate data.

use crate::sync::atomic::Ordering::Relaxed;

use super::Operation;
use super::bytes::{Local, Remote};
use super::datagram::GRH;
use super::responder::{Connection, Responder};
use super::stop::{Reason, Stop};
use crate::abi::*;
use crate::urxe::completion::{self, Added, Entry};
use crate::urxe::device::events;
use crate::urxe::explain;
use crate::urxe::host::copy::Direction;
use crate::urxe::origin::Origin;
use crate::urxe::pair::Qp;
use crate::urxe::queue::{Queue, Receive};
use crate::urxe::region;
use crate::urxe::region::check::{Wanted, check_of};
use crate::urxe::shared::CQE_PAYLOAD;

/// What arrives at a receive queue.
pub(super) struct Arrival<'a> {
    /// `ibv_wc::opcode`.
    pub(super) opcode: ibv_wc_opcode,
    /// `ibv_wc::wc_flags`.
    pub(super) wc_flags: ibv_wc_flags,
    /// Bytes for the receive; none for a write, whose bytes went elsewhere.
    pub(super) data: Option<&'a Local>,
    /// Bytes at the begin of the receive that stay as they are: the room for a GRH that there is
    /// not.
    pub(super) room: u64,
    /// `ibv_wc::byte_len`.
    pub(super) byte_len: u32,
    /// Service level of the packets.
    pub(super) sl: u8,
}

impl Operation<'_> {
    /// `IBV_WR_SEND` and its kin.
    pub(super) fn send(&self) -> Result<u32, Stop> {
        if self.qp.kind == IBV_QPT_UD {
            return self.send_datagram();
        }
        self.check_length()?;
        let mut source = Local::new();
        self.source(&mut source)?;
        self.with_connection(|connection| {
            let arrival = Arrival {
                opcode: IBV_WC_RECV,
                wc_flags: self.wc_flags(),
                data: Some(&source),
                room: 0,
                byte_len: self.byte_len(),
                sl: self.attr.ah_attr.sl,
            };
            self.deliver(connection, &arrival)
        })?;
        Ok(self.byte_len())
    }

    /// `ibv_wc::wc_flags` that this request causes at the receiver.
    pub(super) fn wc_flags(&self) -> ibv_wc_flags {
        match self.wqe.opcode {
            IBV_WR_SEND_WITH_IMM | IBV_WR_RDMA_WRITE_WITH_IMM => IBV_WC_WITH_IMM,
            IBV_WR_SEND_WITH_INV => IBV_WC_WITH_INV,
            _ => 0,
        }
    }

    /// Gives a message to the first receive of the queue, and adds its completion.
    pub(super) fn deliver(
        &self,
        connection: &Connection<'_>,
        arrival: &Arrival<'_>,
    ) -> Result<(), Stop> {
        let queue = self.with_receive(connection)?;
        let _guard = self.lock_queue(connection, &queue)?;
        let receive = self.first(connection, &queue)?;
        self.fill(connection, arrival, &queue, &receive)
    }

    /// The first receive of a queue, with its lock held. That there is one and it cannot be found
    /// means that what the peer has written there is nonsense.
    fn first<'a>(
        &self,
        connection: &Connection<'_>,
        queue: &Queue<'a>,
    ) -> Result<Receive<'a>, Stop> {
        if let Some(receive) = queue.first() {
            return Ok(receive);
        }
        if queue.waiting() == 0 {
            return Err(self.no_receive(connection));
        }
        let responder = &connection.responder;
        self.explain(format_args!("the receive queue of QP {:#x} is damaged", responder.number));
        if queue.shared.srq_num.load(Relaxed) != 0 {
            let handle = queue.shared.user_handle.load(Relaxed);
            let number = queue.shared.events.load(Relaxed);
            events::send(connection.site, number, IBV_EVENT_SRQ_ERR, handle);
        }
        responder.fail(Some(IBV_EVENT_QP_FATAL));
        Err(Stop::remote(IBV_WC_BAD_RESP_ERR, Reason::Damaged))
    }

    /// The memory that a write with immediate data goes to is not there: its receive fails, and the
    /// connection with it.
    pub(super) fn spoil_first(
        &self,
        connection: &Connection<'_>,
        stop: Stop,
    ) -> Result<Stop, Stop> {
        let queue = self.with_receive(connection)?;
        let _guard = self.lock_queue(connection, &queue)?;
        let receive = self.first(connection, &queue)?;
        Ok(self.spoil(connection, &queue, &receive, IBV_WC_LOC_ACCESS_ERR, stop))
    }

    /// The receive queue, of which it is known that it is not empty.
    pub(super) fn with_receive<'a>(&self, connection: &Connection<'a>) -> Result<Queue<'a>, Stop> {
        let empty = || self.no_receive(connection);
        let queue = connection.queue.ok_or_else(empty)?;
        if queue.is_torn() {
            let _guard = self.lock_queue(connection, &queue)?;
            if queue.is_torn() {
                completion::restore(self.host, connection.site, &queue, self.patience)
                    .map_err(|_| Stop::Busy)?;
            }
        }
        // The owner rings when it posts; what it has posted meanwhile is there.
        if queue.is_empty() && !(connection.reliable && queue.wait(self.host.slot())) {
            return Err(empty());
        }
        Ok(queue)
    }

    fn no_receive(&self, connection: &Connection<'_>) -> Stop {
        Stop::NoReceive { timer: connection.responder.shared.min_rnr_timer.load(Relaxed) }
    }

    /// Puts a message into a receive.
    fn fill(
        &self,
        connection: &Connection<'_>,
        arrival: &Arrival<'_>,
        queue: &Queue<'_>,
        receive: &Receive<'_>,
    ) -> Result<(), Stop> {
        if let Err((stop, status)) = self.invalidate(connection) {
            return Err(self.spoil(connection, queue, receive, status, stop));
        }
        let result = self.fill_valid(connection, arrival, queue, receive);
        if let Err(Stop::Busy | Stop::Silence) = result
            && self.wqe.opcode == IBV_WR_SEND_WITH_INV
        {
            // It is tried again.
            region::window::restore(connection.site.memory(), self.wqe.imm_or_key);
        }
        result
    }

    fn fill_valid(
        &self,
        connection: &Connection<'_>,
        arrival: &Arrival<'_>,
        queue: &Queue<'_>,
        receive: &Receive<'_>,
    ) -> Result<(), Stop> {
        let mut short = [0; CQE_PAYLOAD];
        let mut payload: &[u8] = &[];
        if let Some(data) = arrival.data {
            let pieces = match self.pieces(connection, arrival, receive, data.length()) {
                Ok(pieces) => pieces,
                Err((stop, status)) => {
                    return Err(self.spoil(connection, queue, receive, status, stop));
                }
            };
            if let Some(bytes) = self.short(connection, arrival, &pieces, data, &mut short) {
                payload = bytes;
            } else if let Err(stop) = pieces.transfer(Direction::Write, data) {
                return Err(match stop {
                    Stop::Remote(..) => {
                        self.explain(format_args!(
                            "memory of the receive (wr_id {:#x}) of QP {:#x} is not mapped",
                            receive.wr_id, connection.responder.number,
                        ));
                        self.spoil(connection, queue, receive, IBV_WC_LOC_PROT_ERR, stop)
                    }
                    // Nothing has happened to the receiver.
                    other => other,
                });
            }
        }
        let lid = self.own_device().map_or(0, |device| device.lid.load(Relaxed));
        let entry = Entry {
            wr_id: receive.wr_id,
            opcode: arrival.opcode,
            byte_len: arrival.byte_len,
            imm_or_key: self.wqe.imm_or_key,
            qp_num: connection.responder.number,
            src_qp: self.qp.number,
            wc_flags: arrival.wc_flags,
            sl: arrival.sl,
            slid: lid as u16,
            origin: Origin::receive(queue.offset, queue.generation(), receive.slot),
            solicited: self.wqe.is_solicited(),
            payload,
            ..Entry::default()
        };
        self.complete(connection, queue, &entry)
    }

    /// The memory of a receive for the bytes of a message; or what happens to the receive, and to
    /// the request.
    fn pieces<'a>(
        &'a self,
        connection: &Connection<'a>,
        arrival: &Arrival<'_>,
        receive: &Receive<'_>,
        length: u64,
    ) -> Result<Remote<'a>, (Stop, ibv_wc_status)> {
        let mut pieces = Remote::new(self, connection.site);
        let (mut skip, mut left) = (arrival.room, length);
        for sge in receive.list {
            let size = u64::from(sge.length.load(Relaxed));
            let begin = skip.min(size);
            let part = (size - begin).min(left);
            skip -= begin;
            if part == 0 {
                continue;
            }
            let wanted = Wanted {
                pd: connection.pd,
                access: IBV_ACCESS_LOCAL_WRITE,
                address: sge.addr.load(Relaxed).wrapping_add(begin),
                length: part,
                qp_num: 0,
            };
            let place = check_of(connection.site, sge.lkey.load(Relaxed), &wanted);
            let place = place.map_err(|denied| {
                self.explain(format_args!(
                    "receive (wr_id {:#x}) of QP {:#x}: {denied}",
                    receive.wr_id, connection.responder.number,
                ));
                protection()
            })?;
            pieces.add(&place, part as usize, true).map_err(|_| protection())?;
            left -= part;
        }
        if left > 0 || skip > 0 {
            self.explain(format_args!(
                "a message of {} bytes is {} bytes longer than the receive (wr_id {:#x}) of QP {:#x}",
                length + arrival.room,
                left + skip,
                receive.wr_id,
                connection.responder.number,
            ));
            let stop = Stop::remote(IBV_WC_REM_INV_REQ_ERR, Reason::ReceiveLength);
            return Err((stop, IBV_WC_LOC_LEN_ERR));
        }
        Ok(pieces)
    }

    /// The bytes of a message that is short enough to travel in the completion, where that saves a
    /// system call.
    fn short<'a>(
        &self,
        connection: &Connection<'_>,
        arrival: &Arrival<'_>,
        pieces: &Remote<'_>,
        data: &Local,
        room: &'a mut [u8; CQE_PAYLOAD],
    ) -> Option<&'a [u8]> {
        // A completion has no room for a GRH.
        let has_grh = arrival.room > 0 || arrival.wc_flags & IBV_WC_GRH != 0;
        // Who looks at a counter finds the message where it belongs, and need not poll.
        let counted = connection.responder.shared.counted.load(Relaxed) != 0;
        let useless = connection.site.is_own() || has_grh || pieces.is_here() || counted;
        if useless || data.length() == 0 {
            return None;
        }
        data.gather(room)
    }

    /// Invalidates the window that the request names.
    fn invalidate(&self, connection: &Connection<'_>) -> Result<(), (Stop, ibv_wc_status)> {
        if self.wqe.opcode != IBV_WR_SEND_WITH_INV {
            return Ok(());
        }
        let (memory, number) = (connection.site.memory(), connection.responder.number);
        let key = self.wqe.imm_or_key;
        region::window::invalidate(memory, key, connection.pd, number).map_err(|denied| {
            self.explain(format_args!("invalidation at QP {number:#x}: {denied}"));
            let stop = Stop::remote(IBV_WC_REM_ACCESS_ERR, Reason::Invalidate);
            (stop, IBV_WC_MW_BIND_ERR)
        })
    }

    /// Completes a receive in error, after which the QP is in error.
    fn spoil(
        &self,
        connection: &Connection<'_>,
        queue: &Queue<'_>,
        receive: &Receive<'_>,
        status: ibv_wc_status,
        stop: Stop,
    ) -> Stop {
        let reason = match stop {
            Stop::Local(_, reason) | Stop::Remote(_, reason) => reason as u32,
            Stop::NoReceive { .. } | Stop::Silence | Stop::Busy | Stop::Lost => 0,
        };
        let entry = Entry {
            wr_id: receive.wr_id,
            status,
            opcode: IBV_WC_RECV,
            vendor_err: reason,
            qp_num: connection.responder.number,
            src_qp: self.qp.number,
            origin: Origin::receive(queue.offset, queue.generation(), receive.slot),
            ..Entry::default()
        };
        if self.complete(connection, queue, &entry).is_err() {
            return Stop::Busy;
        }
        connection.responder.fail(None);
        stop
    }

    /// Takes the receive out of the queue and adds its completion. Nothing happens if somebody keeps
    /// the completion queue.
    fn complete(
        &self,
        connection: &Connection<'_>,
        queue: &Queue<'_>,
        entry: &Entry<'_>,
    ) -> Result<(), Stop> {
        let responder = &connection.responder;
        let (site, cq) = (connection.site, connection.cq);
        let added = completion::receive(self.host, site, queue, cq, entry, self.patience);
        if added == Added::Busy {
            return Err(Stop::Busy);
        }
        responder.shared.msn.fetch_add(1, Relaxed);
        if queue.shared.srq_num.load(Relaxed) != 0 && queue.passed_limit() {
            let handle = queue.shared.user_handle.load(Relaxed);
            let number = queue.shared.events.load(Relaxed);
            events::send(connection.site, number, IBV_EVENT_SRQ_LIMIT_REACHED, handle);
        }
        if added != Added::Done {
            no_room(responder, self.qp, self.wqe.wr_id, entry.wr_id);
        }
        let header = if self.qp.kind == IBV_QPT_UD { GRH as u32 } else { 0 };
        let bytes = u64::from(entry.byte_len.saturating_sub(header));
        let result = (entry.status == IBV_WC_SUCCESS).then_some(bytes);
        responder.count(IBV_QP_ATTACH_COMP_CNTR_OP_RECV, result);
        queue.fetch_next();
        Ok(())
    }
}

/// The receive CQ of the responder, whose lock is held, has no room for the completion of a receive:
/// its QP fails.
#[cold]
#[inline(never)]
pub(super) fn no_room(responder: &Responder<'_>, qp: &Qp, wr_id: u64, receive: u64) {
    explain!(
        "urxe: QP {:#x}, wr_id {wr_id:#x}: the receive CQ of QP {:#x} has no room for wr_id \
         {receive:#x}",
        qp.number,
        responder.number,
    );
    responder.fail(Some(IBV_EVENT_QP_FATAL));
}

/// A receive whose memory its key does not open.
fn protection() -> (Stop, ibv_wc_status) {
    (Stop::remote(IBV_WC_REM_OP_ERR, Reason::ReceiveKey), IBV_WC_LOC_PROT_ERR)
}
