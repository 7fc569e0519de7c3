//! What a completion belongs to: which place of a send queue, or which slot of a receive queue, is
//! free again once it has been polled.

use crate::urxe::shared::QPS;

/// `Cqe::origin`: 0 for nothing, else a place or a slot.
///
/// | bits | send queue | receive queue |
/// |---|---|---|
/// | 63 | 0 | 1 |
/// | 46 to 62, 41 to 62 | generation of the QP | generation of the queue |
/// | 32 to 45, 15 to 40 | index of the QP | offset of the queue divided by 64 |
/// | 0 to 31, 0 to 14 | position behind the request | slot |
///
/// Completions of receives are written by peers, so nothing that comes out of here is more than a
/// number to be checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Origin(pub(crate) u64);

/// An [`Origin`] taken apart. Generations have as many bits as there is room for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// No queue.
    None,
    /// All requests before a position of the send queue of the QP with this index.
    Send { index: u32, generation: u32, position: u32 },
    /// A slot of the receive queue whose record is at an offset.
    Receive { queue: u64, generation: u32, slot: u32 },
}

const RECEIVE: u64 = 1 << 63;
const SLOT_BITS: u32 = 15;
const QUEUE_BITS: u32 = 26;
/// Bits of a generation that the origin of a send has.
const SEND_GENERATION: u32 = (1 << 17) - 1;
/// Bits of a generation that the origin of a receive has.
const RECEIVE_GENERATION: u32 = (1 << RECEIVE_GENERATION_BITS) - 1;
/// How many those are.
const RECEIVE_GENERATION_BITS: u32 = 22;

const _: () = assert!(crate::urxe::limits::MAX_QP_WR <= 1 << SLOT_BITS);
const _: () = assert!(crate::urxe::shared::FILE_SIZE >> 6 <= 1 << QUEUE_BITS);

impl Origin {
    /// Nothing is freed.
    pub(crate) const NONE: Origin = Origin(0);

    /// All requests of a send queue before a position.
    pub(crate) fn send(index: u32, generation: u32, position: u32) -> Origin {
        let generation = u64::from(generation & SEND_GENERATION);
        Origin(generation << 46 | u64::from(index & (QPS - 1)) << 32 | u64::from(position))
    }

    /// A slot of a receive queue.
    pub(crate) fn receive(queue: u64, generation: u32, slot: u32) -> Origin {
        let generation = u64::from(generation & RECEIVE_GENERATION) << (SLOT_BITS + QUEUE_BITS);
        let queue = (queue >> 6) & ((1 << QUEUE_BITS) - 1);
        let slot = u64::from(slot) & ((1 << SLOT_BITS) - 1);
        Origin(RECEIVE | generation | queue << SLOT_BITS | slot)
    }

    /// What all receives of a queue have in common.
    #[inline(always)]
    pub(crate) fn without_slot(self) -> u64 {
        self.0 & !((1 << SLOT_BITS) - 1)
    }

    /// Whether it is that of a receive.
    pub(crate) fn is_receive(self) -> bool {
        self.0 & RECEIVE != 0
    }

    /// What it stands for.
    pub(crate) fn place(self) -> Place {
        let bits = self.0;
        if bits == 0 {
            Place::None
        } else if self.is_receive() {
            Place::Receive {
                queue: (bits >> SLOT_BITS & ((1 << QUEUE_BITS) - 1)) << 6,
                generation: (bits >> (SLOT_BITS + QUEUE_BITS)) as u32 & RECEIVE_GENERATION,
                slot: bits as u32 & ((1 << SLOT_BITS) - 1),
            }
        } else {
            Place::Send {
                index: (bits >> 32) as u32 & (QPS - 1),
                generation: (bits >> 46) as u32 & SEND_GENERATION,
                position: bits as u32,
            }
        }
    }
}

/// Whether the generation of an origin is this one, as far as its bits tell.
pub(crate) fn same_send_generation(of_origin: u32, generation: u32) -> bool {
    of_origin == generation & SEND_GENERATION
}

/// The same for receives.
pub(crate) fn same_receive_generation(of_origin: u32, generation: u32) -> bool {
    of_origin == generation & RECEIVE_GENERATION
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_come_apart_as_they_were_made() {
        assert_eq!(Origin::NONE.place(), Place::None);
        for (index, generation, position) in [(0, 1, 0), (16383, 0x1_ffff, u32::MAX), (5, 7, 9)] {
            let place = Origin::send(index, generation, position).place();
            assert_eq!(place, Place::Send { index, generation, position });
        }
        for (queue, generation, slot) in
            [(0, 1, 0), ((4 << 30) - 64, 0x3f_ffff, 32767), (33 << 20, 3, 12)]
        {
            let place = Origin::receive(queue, generation, slot).place();
            assert_eq!(place, Place::Receive { queue, generation, slot });
        }
        let Place::Send { generation, .. } = Origin::send(1, 0xdead_beef, 0).place() else {
            panic!()
        };
        assert!(same_send_generation(generation, 0xdead_beef));
        assert!(!same_send_generation(generation, 0xdead_bee1));
        let Place::Receive { generation, .. } = Origin::receive(64, 0xdead_beef, 0).place() else {
            panic!()
        };
        assert!(same_receive_generation(generation, 0xdead_beef));
        assert!(!same_receive_generation(generation, 0xdead_bee1));
    }
}
