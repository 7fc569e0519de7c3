//! Mutations: a line of the source that is made weaker, to see that the models notice.

use core::cell::{Cell, RefCell};
use core::panic::Location;

/// What a mutation does to the atomic operation of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// It is relaxed; a fence is left out.
    Relax,
    /// It does nothing: a store is lost, a compare-and-swap believes to have succeeded.
    Skip,
}

/// A mutation of a source file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mutation {
    /// The file below `src/`.
    pub(crate) file: &'static str,
    /// Text of that line, perhaps of the next ones too, that the file has once before its tests.
    pub(crate) line: &'static str,
    pub(crate) change: Change,
}

/// [`Change::Relax`] of a line.
pub(crate) const fn relax(file: &'static str, line: &'static str) -> Mutation {
    Mutation { file, line, change: Change::Relax }
}

/// [`Change::Skip`] of a line.
pub(crate) const fn skip(file: &'static str, line: &'static str) -> Mutation {
    Mutation { file, line, change: Change::Skip }
}

std::thread_local! {
    static ACTIVE: RefCell<Option<(Mutation, u32)>> = const { RefCell::new(None) };
    static HITS: Cell<u64> = const { Cell::new(0) };
}

/// Makes a mutation take effect on this thread.
///
/// # Errors
///
/// The file cannot be read, or has no such line, or several.
pub(crate) fn activate(mutation: Mutation) -> Result<(), String> {
    let path = format!("{}/../src/{}", env!("CARGO_MANIFEST_DIR"), mutation.file);
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut places = text.match_indices(mutation.line);
    let (Some((place, _)), None) = (places.next(), places.next()) else {
        return Err(format!("{}: not one place with `{}`", mutation.file, mutation.line));
    };
    let number = 1 + text[..place].matches('\n').count() as u32;
    ACTIVE.set(Some((mutation, number)));
    HITS.set(0);
    Ok(())
}

/// How often the operation of the active mutation was reached.
pub(crate) fn hits() -> u64 {
    HITS.get()
}

/// What the active mutation does to an operation of the source.
pub(crate) fn at(place: &Location<'_>) -> Option<Change> {
    ACTIVE.with_borrow(|active| {
        let (mutation, line) = active.as_ref()?;
        if place.line() != *line || !place.file().ends_with(mutation.file) {
            return None;
        }
        HITS.set(HITS.get() + 1);
        Some(mutation.change)
    })
}
