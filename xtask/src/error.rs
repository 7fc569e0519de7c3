//! The one error type of the tasks: a sentence for the person at the terminal.

use std::fmt;

/// What went wrong, in words, with the context that each caller added.
#[derive(Debug)]
pub(crate) struct Error(String);

/// The result of everything here that can fail.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error that says `message`.
    pub(crate) fn new(message: impl Into<String>) -> Error {
        Error(message.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Puts what was being done in front of why it failed.
pub(crate) trait Context<T> {
    /// Turns the error into ours, with `what()` in front.
    fn context<S: fmt::Display>(self, what: impl FnOnce() -> S) -> Result<T>;
}

impl<T, E: fmt::Display> Context<T> for std::result::Result<T, E> {
    fn context<S: fmt::Display>(self, what: impl FnOnce() -> S) -> Result<T> {
        self.map_err(|error| Error(format!("{}: {error}", what())))
    }
}
