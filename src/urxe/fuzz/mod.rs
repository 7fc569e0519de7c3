//! The device under bytes that nobody chose: what the fuzzer runs. It is no part of the unit tests, as
//! it damages what all of a process has in common.
//!
//! Each target makes a short life of its bytes and panics when something is not as it must be. What
//! the targets are told apart by is where the bytes come in: the [calls](states) of a program, the
//! [memory of a peer](peer), the [events](events) of a context, the [files](files) of the directory.

mod events;
mod files;
mod input;
mod peer;
mod states;

use input::Input;

/// Runs a target with bytes.
///
/// # Panics
///
/// When something is not as it must be, or there is no such target.
pub(crate) fn run(target: &str, bytes: &[u8]) {
    let input = &mut Input::new(bytes);
    match target {
        "states" => states::run(input),
        "peer" => peer::run(input),
        "events" => events::run(input),
        "files" => files::run(input),
        _ => panic!("there is no target {target}"),
    }
}
