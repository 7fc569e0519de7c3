//! What a requester does.

pub(crate) mod model;
#[path = "../../../../src/urxe/transfer/multicast.rs"]
mod multicast;

mod responder {
    use crate::sync::atomic::AtomicU64;
    use crate::sync::atomic::Ordering::Relaxed;

    /// As the library's.
    pub(super) fn gid(words: &[AtomicU64; 2]) -> [u8; 16] {
        let mut bytes = [0; 16];
        for (part, word) in bytes.chunks_exact_mut(8).zip(words) {
            part.copy_from_slice(&word.load(Relaxed).to_ne_bytes());
        }
        bytes
    }
}
