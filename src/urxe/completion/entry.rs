//! A completion on its way into a queue and out of it.

use crate::sync::atomic::Ordering::Relaxed;

use crate::abi::*;
use crate::urxe::origin::Origin;
use crate::urxe::shared::{CQE_PAYLOAD, Cqe};

/// Bytes that a receive keeps for the global route header, in front of a datagram.
const GRH: u64 = 40;

/// A completion to be added to a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    /// `ibv_wc::wr_id`.
    pub(crate) wr_id: u64,
    /// `ibv_wc::status`.
    pub(crate) status: ibv_wc_status,
    /// `ibv_wc::opcode`.
    pub(crate) opcode: ibv_wc_opcode,
    /// `ibv_wc::vendor_err`.
    pub(crate) vendor_err: u32,
    /// `ibv_wc::byte_len`; with the 40 bytes for the GRH, of a datagram.
    pub(crate) byte_len: u32,
    /// Immediate data (network order) or invalidated key.
    pub(crate) imm_or_key: u32,
    /// QP to which the completion belongs.
    pub(crate) qp_num: u32,
    /// QP of the sender.
    pub(crate) src_qp: u32,
    /// `ibv_wc::wc_flags`.
    pub(crate) wc_flags: ibv_wc_flags,
    /// Service level.
    pub(crate) sl: u8,
    /// P_Key index.
    pub(crate) pkey_index: u16,
    /// LID of the sender.
    pub(crate) slid: u16,
    /// What polling gives back.
    pub(crate) origin: Origin,
    /// Whether it is a receive that the sender marked with `IBV_SEND_SOLICITED`.
    pub(crate) solicited: bool,
    /// The message, if it is short and not yet in the receiver's memory: at most [`CQE_PAYLOAD`]
    /// bytes, which the receiver's poll puts there; behind the room for the GRH if `wc_flags` say
    /// that there is one.
    pub(crate) payload: &'a [u8],
    /// `wr_id` is not known: it is that of the receive in the owner's memory, of a queue in order.
    pub(crate) wr_id_is_there: bool,
}

/// [`Cqe::status_opcode`] of an entry that polling passes over: its QP has gone.
const FORGOTTEN: u32 = u32::MAX;

impl Default for Entry<'_> {
    /// A success without anything else.
    fn default() -> Self {
        Entry {
            wr_id: 0,
            status: IBV_WC_SUCCESS,
            opcode: IBV_WC_SEND,
            vendor_err: 0,
            byte_len: 0,
            imm_or_key: 0,
            qp_num: 0,
            src_qp: 0,
            wc_flags: 0,
            sl: 0,
            pkey_index: 0,
            slid: 0,
            origin: Origin::NONE,
            solicited: false,
            payload: &[],
            wr_id_is_there: false,
        }
    }
}

/// [`Cqe::flags`]: see [`Entry::wr_id_is_there`].
pub(super) const WR_ID_IS_THERE: u32 = 1 << 31;
/// [`Cqe::flags`]: the bytes of the payload.
pub(super) const LENGTH_SHIFT: u32 = 24;
const LENGTH_MASK: u32 = 0x7f;

impl Entry<'_> {
    /// Writes all members of a completion but its sequence number; no `timestamp` if it is 0.
    #[inline]
    pub(super) fn store(&self, cqe: &Cqe, timestamp: u64) {
        let length = self.payload.len().min(CQE_PAYLOAD);
        let mut flags =
            self.wc_flags & 0xffff | u32::from(self.sl) << 16 | (length as u32) << LENGTH_SHIFT;
        if self.wr_id_is_there {
            flags |= WR_ID_IS_THERE;
        }
        cqe.wr_id.store(self.wr_id, Relaxed);
        cqe.status_opcode.store(self.status & 0xffff | self.opcode << 16, Relaxed);
        cqe.vendor_err.store(self.vendor_err, Relaxed);
        cqe.byte_len.store(self.byte_len, Relaxed);
        cqe.imm_or_key.store(self.imm_or_key, Relaxed);
        cqe.qp_num.store(self.qp_num, Relaxed);
        cqe.src_qp.store(self.src_qp, Relaxed);
        cqe.flags.store(flags, Relaxed);
        cqe.pkey_slid.store(u32::from(self.pkey_index) | u32::from(self.slid) << 16, Relaxed);
        if timestamp != 0 {
            cqe.timestamp.store(timestamp, Relaxed);
        }
        cqe.origin.store(self.origin.0, Relaxed);
        store_payload(cqe, self.payload.get(..length).unwrap_or_default());
    }

    /// Whether an event is due where those for solicited completions alone are wanted.
    pub(super) fn is_solicited(&self) -> bool {
        self.solicited || self.status != IBV_WC_SUCCESS
    }
}

/// Stores a short message, of which nothing beyond [`CQE_PAYLOAD`] has room.
#[inline(always)]
pub(super) fn store_payload(cqe: &Cqe, bytes: &[u8]) {
    if let Ok(word) = <[u8; 8]>::try_from(bytes) {
        return cqe.payload[0].store(u64::from_ne_bytes(word), Relaxed);
    }
    let (words, rest) = bytes.as_chunks::<8>();
    for (place, &word) in cqe.payload.iter().zip(words) {
        place.store(u64::from_ne_bytes(word), Relaxed);
    }
    if let Some(place) = cqe.payload.get(words.len())
        && !rest.is_empty()
    {
        let mut word = [0; 8];
        word.iter_mut().zip(rest).for_each(|(to, &from)| *to = from);
        place.store(u64::from_ne_bytes(word), Relaxed);
    }
}

/// The short message of a completion.
pub(crate) struct Payload {
    bytes: [u8; CQE_PAYLOAD],
    length: usize,
    /// First byte of the receive that it goes to.
    pub(crate) offset: u64,
}

impl Payload {
    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

impl Cqe {
    /// `ibv_wc::status`.
    pub(super) fn status(&self) -> ibv_wc_status {
        self.status_opcode.load(Relaxed) & 0xffff
    }

    /// `ibv_wc::opcode`.
    pub(super) fn opcode(&self) -> ibv_wc_opcode {
        self.status_opcode.load(Relaxed) >> 16
    }

    /// `ibv_wc::wc_flags`.
    pub(super) fn wc_flags(&self) -> ibv_wc_flags {
        self.flags.load(Relaxed) & 0xffff
    }

    /// Service level.
    pub(super) fn sl(&self) -> u8 {
        (self.flags.load(Relaxed) >> 16) as u8
    }

    /// LID of the sender.
    pub(super) fn slid(&self) -> u16 {
        (self.pkey_slid.load(Relaxed) >> 16) as u16
    }

    /// What polling it gives back.
    pub(super) fn origin(&self) -> Origin {
        Origin(self.origin.load(Relaxed))
    }

    /// Whether the owner has to look at the receive before it can be told.
    #[inline]
    pub(super) fn needs_receive(&self) -> bool {
        self.flags.load(Relaxed) >> LENGTH_SHIFT != 0
    }

    /// Whether `wr_id` is that of the receive.
    #[inline]
    pub(super) fn wr_id_is_there(&self) -> bool {
        self.flags.load(Relaxed) & WR_ID_IS_THERE != 0
    }

    /// Bytes of the short message; 0 if there is none.
    #[inline]
    pub(super) fn payload_length(&self) -> u32 {
        let length = self.flags.load(Relaxed) >> LENGTH_SHIFT & LENGTH_MASK;
        if length as usize <= CQE_PAYLOAD { length } else { 0 }
    }

    /// Whether there is room for a GRH in front of the message.
    #[inline]
    pub(super) fn has_grh(&self) -> bool {
        self.flags.load(Relaxed) & IBV_WC_GRH != 0
    }

    /// Copies so many bytes of the short message to an address.
    ///
    /// # Safety
    ///
    /// They must fit in there.
    #[inline]
    pub(super) unsafe fn copy_payload(&self, length: u32, address: u64) {
        let mut to = core::ptr::with_exposed_provenance_mut::<u8>(address as usize);
        let mut left = length as usize;
        for word in &self.payload {
            let word = word.load(Relaxed);
            // SAFETY: the caller's promise.
            unsafe {
                if left < 8 {
                    let bytes = word.to_ne_bytes();
                    bytes
                        .iter()
                        .take(left)
                        .enumerate()
                        .for_each(|(n, &byte)| to.add(n).write(byte));
                    return;
                }
                to.cast::<u64>().write_unaligned(word);
                to = to.add(8);
            }
            left -= 8;
        }
    }

    /// The short message, if there is one.
    #[inline]
    pub(super) fn payload(&self) -> Option<Payload> {
        let flags = self.flags.load(Relaxed);
        let length = self.payload_length() as usize;
        if length == 0 {
            return None;
        }
        let mut bytes = [0; CQE_PAYLOAD];
        // Only the words of the message: those of a short one are on the first cache line.
        for (to, from) in bytes.chunks_exact_mut(8).zip(&self.payload).take(length.div_ceil(8)) {
            to.copy_from_slice(&from.load(Relaxed).to_ne_bytes());
        }
        let offset = if flags & IBV_WC_GRH != 0 { GRH } else { 0 };
        Some(Payload { bytes, length, offset })
    }

    /// As `ibv_poll_cq(3)` tells it.
    #[inline]
    pub(super) fn to_wc(&self) -> ibv_wc {
        ibv_wc {
            wr_id: self.wr_id.load(Relaxed),
            status: self.status(),
            opcode: self.opcode(),
            vendor_err: self.vendor_err.load(Relaxed),
            byte_len: self.byte_len.load(Relaxed),
            imm: ibv_wc_imm { imm_data: self.imm_or_key.load(Relaxed) },
            qp_num: self.qp_num.load(Relaxed),
            src_qp: self.src_qp.load(Relaxed),
            wc_flags: self.wc_flags(),
            pkey_index: self.pkey_slid.load(Relaxed) as u16,
            slid: self.slid(),
            sl: self.sl(),
            dlid_path_bits: 0,
        }
    }

    /// Makes polling pass over it.
    pub(super) fn forget(&self) {
        self.status_opcode.store(FORGOTTEN, Relaxed);
    }

    /// Whether polling passes over it.
    pub(super) fn is_forgotten(&self) -> bool {
        self.status_opcode.load(Relaxed) == FORGOTTEN
    }

    /// Copies all members but the sequence number.
    pub(super) fn copy_to(&self, to: &Cqe) {
        to.wr_id.store(self.wr_id.load(Relaxed), Relaxed);
        to.timestamp.store(self.timestamp.load(Relaxed), Relaxed);
        to.origin.store(self.origin.load(Relaxed), Relaxed);
        for (to, from) in [
            (&to.status_opcode, &self.status_opcode),
            (&to.vendor_err, &self.vendor_err),
            (&to.byte_len, &self.byte_len),
            (&to.imm_or_key, &self.imm_or_key),
            (&to.qp_num, &self.qp_num),
            (&to.src_qp, &self.src_qp),
            (&to.flags, &self.flags),
            (&to.pkey_slid, &self.pkey_slid),
        ] {
            to.store(from.load(Relaxed), Relaxed);
        }
        for (to, from) in to.payload.iter().zip(&self.payload) {
            to.store(from.load(Relaxed), Relaxed);
        }
    }
}

#[cfg(test)]
pub(super) fn empty_cqe() -> Cqe {
    // SAFETY: atomics, for which zero is a value.
    unsafe { core::mem::zeroed() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_completion_comes_out_as_it_went_in() {
        let cqe = empty_cqe();
        let entry = Entry {
            wr_id: u64::MAX - 1,
            status: IBV_WC_SUCCESS,
            opcode: IBV_WC_RECV_RDMA_WITH_IMM,
            vendor_err: 0x1234_5678,
            byte_len: u32::MAX,
            imm_or_key: 0xdead_beef,
            qp_num: 0xff_fff1,
            src_qp: 0xff_fff2,
            wc_flags: IBV_WC_WITH_IMM | IBV_WC_GRH,
            sl: 15,
            pkey_index: 0xfffe,
            slid: 0xbfff,
            origin: Origin::receive(128, 1, 2),
            solicited: false,
            payload: b"0123456789a",
            wr_id_is_there: false,
        };
        entry.store(&cqe, 99);
        let wc = cqe.to_wc();
        assert_eq!((wc.wr_id, wc.status, wc.opcode), (u64::MAX - 1, 0, 129));
        assert_eq!((wc.vendor_err, wc.byte_len), (0x1234_5678, u32::MAX));
        // SAFETY: both members are plain numbers.
        assert_eq!(unsafe { wc.imm.invalidated_rkey }, 0xdead_beef);
        assert_eq!((wc.qp_num, wc.src_qp), (0xff_fff1, 0xff_fff2));
        assert_eq!((wc.wc_flags, wc.pkey_index), (3, 0xfffe));
        assert_eq!((wc.slid, wc.sl, wc.dlid_path_bits), (0xbfff, 15, 0));
        assert_eq!(cqe.origin(), entry.origin);
        assert_eq!(cqe.timestamp.load(Relaxed), 99);
        let payload = cqe.payload().unwrap();
        assert_eq!((payload.bytes(), payload.offset), (&b"0123456789a"[..], 40));

        let copy = empty_cqe();
        cqe.copy_to(&copy);
        assert_eq!(copy.payload().unwrap().bytes(), b"0123456789a");
        assert_eq!(copy.to_wc().wr_id, wc.wr_id);
        assert!(!copy.is_forgotten());
        copy.forget();
        assert!(copy.is_forgotten());
    }

    #[test]
    fn payloads_have_at_most_64_bytes() {
        let cqe = empty_cqe();
        let long = [7; CQE_PAYLOAD + 1];
        Entry { payload: &long, ..Entry::default() }.store(&cqe, 0);
        assert_eq!(cqe.payload().unwrap().bytes(), [7; CQE_PAYLOAD]);
        Entry::default().store(&cqe, 0);
        assert!(cqe.payload().is_none());
        // What a damaged length says is not believed.
        cqe.flags.store(0xff << 24, Relaxed);
        assert!(cqe.payload().is_none());
    }

    #[test]
    fn failures_count_as_solicited() {
        let success = Entry::default();
        assert!(!success.is_solicited());
        assert!(Entry { solicited: true, ..success }.is_solicited());
        assert!(Entry { status: IBV_WC_WR_FLUSH_ERR, ..success }.is_solicited());
    }
}
