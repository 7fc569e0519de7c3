//! Keys.

#[path = "../../../src/urxe/region/check.rs"]
pub(crate) mod check;
#[path = "../../../src/urxe/region/keys.rs"]
pub(crate) mod keys;
#[path = "../../../src/urxe/region/known.rs"]
pub(crate) mod known;
pub(crate) mod model;
#[path = "../../../src/urxe/region/users.rs"]
pub(crate) mod users;

pub(crate) use check::{Place, Wanted, check};
pub(crate) use known::Known;
pub(crate) use users::{User, using};
