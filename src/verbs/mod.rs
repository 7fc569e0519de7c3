//! The exported verbs, a file per object: check, convert, call, map the error.

mod rate;
mod strings;
