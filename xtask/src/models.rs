//! `cargo xtask models`: the lock-free structures in all orders in which threads can run.

mod inventory;

use std::time::Duration;

use crate::error::{Error, Result};
use crate::paths;
use crate::sh::Cmd;

/// Runs the models whose name contains `name`, and every mutation of them, which must fail.
///
/// Before that, the table of what is modelled is compared with the sources.
pub(crate) fn run(name: Option<&str>) -> Result<String> {
    let table = inventory::check(paths::checkout())?;
    let folder = paths::checkout().join("models");
    let output = Cmd::new("cargo")
        .args(["run", "--release", "--quiet", "--"])
        .args(name)
        .env("CARGO_TARGET_DIR", paths::target().join("models"))
        .dir(&folder)
        .timeout(Duration::from_secs(1200))
        .output()?;
    output
        .lines()
        .last()
        .map(|last| format!("{last}; {table}"))
        .ok_or_else(|| Error::new("models: nothing was run".to_owned()))
}
