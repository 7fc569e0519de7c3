//! What a requester remembers.

#[path = "../../../../src/urxe/transfer/fast/keys.rs"]
mod keys;
pub(crate) mod keys_model;

/// As the library's.
#[derive(Clone, Copy)]
struct Place {
    address: usize,
    kind: keys::Kind,
}
