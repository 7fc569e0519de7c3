//! The device: its interfaces, attributes and GIDs, contexts, protection domains, address handles,
//! completion channels and events.
//!
//! In the order in which a program meets them: [`provider`] makes a record per network
//! [`interface`] and a device of each record; [`context`] opens it; [`attributes`] and [`port`]
//! answer queries; [`pd`] and [`ah`] are the objects that need nothing else; [`events`] brings what
//! happens to the program.

mod ah;
mod attributes;
mod context;
pub(crate) mod events;
mod import;
mod interface;
mod ops;
mod pd;
mod port;
mod provider;
mod settings;
#[cfg(any(test, fuzzing))]
mod testing;
mod watch;

pub(crate) use ah::{Ah, check_address};
pub(crate) use context::{Context, is_ours};
pub(crate) use import::device_of;
#[cfg(test)]
pub(crate) use ops::OPS;
pub(crate) use pd::{Buffer, Pd};
pub(crate) use port::{gid_entry, pkey};
pub(crate) use provider::{BUILT_IN, is_device};
pub(crate) use settings::is_confidential;
#[cfg(any(test, fuzzing))]
pub(crate) use testing::Opened;
#[cfg(fuzzing)]
pub(crate) use watch::read_away as changes_read_away;
