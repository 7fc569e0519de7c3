//! The keys that a requester remembers.

// As they are private to what `fast` is.
#[allow(clippy::duplicate_mod)]
#[path = "../../../../src/urxe/transfer/fast/keys.rs"]
mod keys;
pub(crate) mod model;

/// As the library's.
#[derive(Clone, Copy)]
struct Place {
    address: usize,
    kind: keys::Kind,
}
