//! Send requests, and the ring that holds them until they are done.
//!
//! Ring, lists and inline bytes are allocated when the QP is created, for its largest request; the
//! data path allocates nothing. Only the owner of the QP sees them.

use crate::abi::*;
use crate::sys::errno::{Errno, Result};
use crate::urxe::device::{Buffer, Pd};
use crate::urxe::region::Bind;

/// A send request without its data.
#[derive(Clone, Copy)]
pub(crate) struct Request {
    /// `ibv_send_wr::wr_id`.
    pub(crate) wr_id: u64,
    /// What to do.
    pub(crate) opcode: ibv_wr_opcode,
    /// `ibv_send_flags`; `IBV_SEND_SIGNALED` is set for all with `sq_sig_all`.
    pub(crate) flags: u32,
    /// Immediate data (network order) or the key to invalidate.
    pub(crate) imm_or_key: u32,
    /// Number of the SRQ of the receiver; XRC_SEND.
    pub(crate) remote_srqn: u32,
    /// Bytes of the message: the sum of the list, or the inline bytes.
    pub(crate) length: u64,
    /// Whom or what it is for.
    pub(crate) target: Target,
    /// Entries of the list; the bytes if they are inline.
    count: u32,
    inline: bool,
}

/// What a send request is aimed at.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    /// The peer of the QP: sends of connected types, `IBV_WR_LOCAL_INV`.
    Peer,
    /// Memory of the peer: reads, writes and atomic writes.
    Memory { address: u64, rkey: u32 },
    /// A word in the memory of the peer. `operand` is what to compare with, or to add.
    Word { address: u64, rkey: u32, operand: u64, swap: u64 },
    /// Memory of the peer to be flushed: `ibv_placement_type` and `ibv_selectivity_level`.
    Flush { address: u64, rkey: u32, length: u64, placement: u8, level: u8 },
    /// Any QP; UD. The address handle is copied when the request is posted.
    Datagram { ah: ibv_ah_attr, qp_num: u32, qkey: u32 },
    /// A window of this process that shall be bound. `mw` is for taking the request back before it
    /// is posted; later it may be gone.
    Window { mw: *mut ibv_mw, bind: Bind },
}

/// The data of a send request.
#[derive(Clone, Copy)]
pub(crate) enum Data<'a> {
    /// In registered memory of this process: the source, or the target of reads and atomics.
    List(&'a [ibv_sge]),
    /// Copied when the request was posted; no keys. Atomic writes always are inline, with 8 bytes.
    Inline(&'a [u8]),
}

/// A send request in the ring.
#[derive(Clone, Copy)]
pub(crate) struct Wqe<'a> {
    pub(crate) request: &'a Request,
    pub(crate) data: Data<'a>,
}

impl core::ops::Deref for Wqe<'_> {
    type Target = Request;

    fn deref(&self) -> &Request {
        self.request
    }
}

impl Request {
    /// A request without data.
    pub(crate) fn new(wr_id: u64, opcode: ibv_wr_opcode, flags: u32, target: Target) -> Request {
        Request {
            wr_id,
            opcode,
            flags,
            imm_or_key: 0,
            remote_srqn: 0,
            length: 0,
            target,
            count: 0,
            inline: false,
        }
    }

    /// Whether success is written to the completion queue; failure always is.
    pub(crate) fn is_signaled(&self) -> bool {
        self.flags & IBV_SEND_SIGNALED != 0
    }

    /// Whether the receiver's completion counts as solicited.
    pub(crate) fn is_solicited(&self) -> bool {
        self.flags & IBV_SEND_SOLICITED != 0
    }

    /// `ibv_wc::opcode` of the completion.
    pub(crate) fn completion(&self) -> ibv_wc_opcode {
        match self.opcode {
            IBV_WR_RDMA_WRITE | IBV_WR_RDMA_WRITE_WITH_IMM => IBV_WC_RDMA_WRITE,
            IBV_WR_RDMA_READ => IBV_WC_RDMA_READ,
            IBV_WR_ATOMIC_CMP_AND_SWP => IBV_WC_COMP_SWAP,
            IBV_WR_ATOMIC_FETCH_AND_ADD => IBV_WC_FETCH_ADD,
            IBV_WR_LOCAL_INV => IBV_WC_LOCAL_INV,
            IBV_WR_BIND_MW => IBV_WC_BIND_MW,
            IBV_WR_FLUSH => IBV_WC_FLUSH,
            IBV_WR_ATOMIC_WRITE => IBV_WC_ATOMIC_WRITE,
            _ => IBV_WC_SEND,
        }
    }
}

/// The ring of a send queue. Positions count requests and wrap around.
///
/// A request is *posted* at `tail`, is carried out at `head`, and its place may be used again once
/// it is *freed*: when the completion of it, or of a later one, has been polled.
pub(crate) struct Ring {
    requests: Box<[Request]>,
    /// Lists and inline bytes of all places, one place after the other.
    data: Memory,
    /// Most requests that may be in the ring.
    limit: u32,
    max_sge: u32,
    max_inline: u32,
    /// Next to carry out.
    pub(crate) head: u32,
    /// Next to post.
    pub(crate) tail: u32,
    /// Requests before this position have been freed, as was seen last.
    seen_freed: u32,
}

/// Inline bytes that every place has, for an atomic write.
const WORD: u32 = 8;
/// What the allocator of a parent domain is told that the memory is for.
const RESOURCE: u32 = 2;

/// Memory for the data of the requests, aligned for a list.
enum Memory {
    Heap(Box<[u128]>),
    Domain(Buffer),
}

impl Memory {
    fn base(&mut self) -> *mut u8 {
        match self {
            Memory::Heap(words) => words.as_mut_ptr().cast(),
            Memory::Domain(buffer) => buffer.as_ptr(),
        }
    }

    fn base_const(&self) -> *const u8 {
        match self {
            Memory::Heap(words) => words.as_ptr().cast(),
            Memory::Domain(buffer) => buffer.as_ptr(),
        }
    }
}

impl Ring {
    /// A ring for `limit` requests with up to `max_sge` entries or `max_inline` bytes. The memory is
    /// that of a parent domain, if there is one. ENOMEM.
    pub(crate) fn new(
        limit: u32,
        max_sge: u32,
        max_inline: u32,
        domain: Option<&Pd>,
    ) -> Result<Ring> {
        let places = limit.max(1).next_power_of_two() as usize;
        let nothing = Request::new(0, IBV_WR_SEND, 0, Target::Peer);
        let length = places.checked_mul(Self::stride(max_sge, max_inline)).ok_or(Errno::ENOMEM)?;
        let data = match domain {
            Some(domain) => Memory::Domain(domain.allocate(length, RESOURCE)?),
            None => Memory::Heap(boxed(length.div_ceil(size_of::<u128>()), 0)?),
        };
        let requests = boxed(places, nothing)?;
        Ok(Ring { requests, data, limit, max_sge, max_inline, head: 0, tail: 0, seen_freed: 0 })
    }

    /// Bytes of the data of a place, a multiple of 16.
    const fn stride(max_sge: u32, max_inline: u32) -> usize {
        let inline = if max_inline < WORD { WORD } else { max_inline };
        max_sge as usize * size_of::<ibv_sge>() + (inline as usize).next_multiple_of(16)
    }

    /// Most requests, entries and inline bytes.
    pub(crate) fn caps(&self) -> (u32, u32, u32) {
        (self.limit, self.max_sge, self.max_inline)
    }

    /// Forgets all requests.
    pub(crate) fn clear(&mut self) {
        self.head = self.tail;
    }

    /// Whether all requests have been carried out.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.head == self.tail
    }

    /// Whether a request can be posted behind `ahead` others that are not yet part of the ring, when
    /// those before `freed` have been freed.
    #[inline]
    pub(crate) fn has_room(&self, ahead: u32, freed: u32) -> bool {
        self.tail.wrapping_add(ahead).wrapping_sub(freed) < self.limit
    }

    /// Requests that can be posted, when those before `freed` have been freed.
    pub(crate) fn room(&self, freed: u32) -> u32 {
        self.limit.saturating_sub(self.tail.wrapping_sub(freed))
    }

    /// Whether a request can be posted; `freed` is looked at only if it matters.
    #[inline(always)]
    pub(crate) fn has_room_now(&mut self, freed: impl FnOnce() -> u32) -> bool {
        if self.has_room(0, self.seen_freed) {
            return true;
        }
        self.seen_freed = freed();
        self.has_room(0, self.seen_freed)
    }

    /// The slot of a position, and where its data begins.
    #[inline]
    fn slot(&self, position: u32) -> (usize, usize) {
        // The number of places is a power of two, so this is inside.
        let slot = position as usize & (self.requests.len() - 1);
        (slot, slot * Self::stride(self.max_sge, self.max_inline))
    }

    /// The place at a position, for a new request.
    #[inline]
    pub(crate) fn place(&mut self, position: u32) -> Place<'_> {
        let (slot, offset) = self.slot(position);
        let sges = self.max_sge as usize;
        let bytes = self.max_inline.max(WORD) as usize;
        let data = self.data.base().wrapping_add(offset);
        let behind = data.wrapping_add(sges * size_of::<ibv_sge>());
        // SAFETY: the memory has a stride for each place: the list, and the inline bytes behind it.
        // It was zero at first, which both are; it is aligned to 16, as the stride is. The place
        // borrows the ring, so nobody else has a reference to it.
        let (list, inline) = unsafe {
            (
                core::slice::from_raw_parts_mut(data.cast::<ibv_sge>(), sges),
                core::slice::from_raw_parts_mut(behind, bytes),
            )
        };
        let max_inline = self.max_inline as usize;
        Place { request: &mut self.requests[slot], list, inline, max_inline }
    }

    /// The request at a position.
    #[inline]
    pub(crate) fn wqe(&self, position: u32) -> Wqe<'_> {
        let (slot, offset) = self.slot(position);
        let request = &self.requests[slot];
        let count = request.count as usize;
        let data = self.data.base_const().wrapping_add(offset);
        let behind = data.wrapping_add(self.max_sge as usize * size_of::<ibv_sge>());
        // SAFETY: as in `place`, which has stored so many entries or bytes there; a shared borrow.
        let data = unsafe {
            if request.inline {
                Data::Inline(core::slice::from_raw_parts(behind, count))
            } else {
                Data::List(core::slice::from_raw_parts(data.cast::<ibv_sge>(), count))
            }
        };
        Wqe { request, data }
    }
}

fn boxed<T: Copy>(count: usize, value: T) -> Result<Box<[T]>> {
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| Errno::ENOMEM)?;
    values.resize(count, value);
    Ok(values.into_boxed_slice())
}

/// A place of the ring that is being filled.
pub(crate) struct Place<'a> {
    request: &'a mut Request,
    list: &'a mut [ibv_sge],
    inline: &'a mut [u8],
    max_inline: usize,
}

impl Place<'_> {
    /// Begins a request; it has no data yet.
    pub(crate) fn begin(&mut self, request: Request) {
        *self.request = request;
        (self.request.length, self.request.count, self.request.inline) = (0, 0, false);
    }

    /// The request.
    pub(crate) fn request(&mut self) -> &mut Request {
        self.request
    }

    /// Adds a piece of registered memory; false if there are too many.
    #[must_use]
    pub(crate) fn add(&mut self, sge: ibv_sge) -> bool {
        let Some(entry) = self.list.get_mut(self.request.count as usize) else { return false };
        *entry = sge;
        self.request.count += 1;
        self.request.length += u64::from(sge.length);
        true
    }

    /// Room for `length` more inline bytes, up to the largest inline size; `None` if they are too
    /// many.
    pub(crate) fn inline(&mut self, length: usize) -> Option<&mut [u8]> {
        self.bytes(length, self.max_inline)
    }

    /// Stores the word of an atomic write.
    pub(crate) fn word(&mut self, word: [u8; WORD as usize]) {
        self.drop_data();
        if let Some(room) = self.bytes(word.len(), word.len()) {
            room.copy_from_slice(&word);
        }
    }

    fn bytes(&mut self, length: usize, most: usize) -> Option<&mut [u8]> {
        let begin = self.request.length as usize;
        let end = begin.checked_add(length).filter(|&end| end <= most)?;
        self.request.inline = true;
        self.request.count = end as u32;
        self.request.length = end as u64;
        self.inline.get_mut(begin..end)
    }

    /// Takes the data out of the request again.
    pub(crate) fn drop_data(&mut self) {
        (self.request.length, self.request.count, self.request.inline) = (0, 0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sge(addr: u64, length: u32) -> ibv_sge {
        ibv_sge { addr, length, lkey: 7 }
    }

    fn send(wr_id: u64) -> Request {
        Request::new(wr_id, IBV_WR_SEND, 0, Target::Peer)
    }

    #[test]
    fn requests_keep_their_data() {
        let mut ring = Ring::new(3, 2, 16, None).unwrap();
        ring.tail = u32::MAX - 1;
        for (ahead, wr_id) in [(0, 10), (1, 11), (2, 12)] {
            let mut place = ring.place(ring.tail.wrapping_add(ahead));
            place.begin(send(wr_id));
            match wr_id {
                10 => {
                    assert!(place.add(sge(1, u32::MAX)) && place.add(sge(2, u32::MAX)));
                    assert!(!place.add(sge(3, 1)));
                }
                11 => {
                    place.inline(10).unwrap().fill(b'a');
                    place.inline(0).unwrap();
                    place.inline(6).unwrap().fill(b'b');
                    assert!(place.inline(1).is_none() && place.inline(usize::MAX).is_none());
                }
                _ => {}
            }
        }
        let first = ring.wqe(u32::MAX - 1);
        let Data::List(list) = first.data else { panic!() };
        assert_eq!((first.wr_id, first.length), (10, 2 * u64::from(u32::MAX)));
        assert_eq!(list.iter().map(|sge| sge.addr).collect::<Vec<_>>(), [1, 2]);
        let second = ring.wqe(u32::MAX);
        let Data::Inline(bytes) = second.data else { panic!() };
        assert_eq!((second.wr_id, second.length), (11, 16));
        assert_eq!(bytes, b"aaaaaaaaaabbbbbb");
        let third = ring.wqe(0);
        assert!(matches!(third.data, Data::List([])));
        assert_eq!((third.wr_id, third.length), (12, 0));
    }

    #[test]
    fn a_used_place_forgets_its_last_request() {
        let mut ring = Ring::new(1, 1, 0, None).unwrap();
        let mut place = ring.place(0);
        place.begin(send(1));
        place.word(*b"12345678");
        assert!(matches!(ring.wqe(0).data, Data::Inline(b"12345678")));
        let mut place = ring.place(1);
        place.begin(send(2));
        assert!(place.inline(1).is_none());
        assert!(place.add(sge(5, 6)));
        assert!(matches!(ring.wqe(1).data, Data::List([ibv_sge { addr: 5, length: 6, lkey: 7 }])));
        ring.place(1).drop_data();
        assert_eq!(ring.wqe(1).length, 0);
    }

    #[test]
    fn room_is_counted_across_the_wrap() {
        let mut ring = Ring::new(3, 0, 0, None).unwrap();
        ring.tail = 1;
        for (ahead, freed, room) in [
            (0, 1, true),
            (2, 1, true),
            (3, 1, false),
            (0, u32::MAX, true),
            (1, u32::MAX, false),
            (0, u32::MAX - 1, false),
        ] {
            assert_eq!(ring.has_room(ahead, freed), room, "{ahead} {freed}");
        }
        assert!(!Ring::new(0, 1, 1, None).unwrap().has_room(0, 0));
        assert_eq!(ring.caps(), (3, 0, 0));
    }
}
