//! Keys.

#[path = "../../../src/urxe/region/check.rs"]
pub(crate) mod check;
#[path = "../../../src/urxe/region/keys.rs"]
pub(crate) mod keys;
#[path = "../../../src/urxe/region/users.rs"]
pub(crate) mod users;
pub(crate) mod model;

pub(crate) use check::{Place, Wanted, check};
pub(crate) use users::using;
