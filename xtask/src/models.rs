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
    let output = cargo("run")
        .args(["--release", "--quiet", "--"])
        .args(name)
        .timeout(Duration::from_secs(1200))
        .output()?;
    output
        .lines()
        .last()
        .map(|last| format!("{last}; {table}"))
        .ok_or_else(|| Error::new("models: nothing was run".to_owned()))
}

/// Clippy has nothing to say of the models.
pub(crate) fn clippy() -> Result<()> {
    cargo("clippy").args(["--release", "--", "-D", "warnings"]).run()
}

/// A command of cargo for the models, which are a workspace of their own.
fn cargo(command: &str) -> Cmd {
    Cmd::new("cargo")
        .arg(command)
        .env("CARGO_TARGET_DIR", paths::target().join("models"))
        .dir(&paths::checkout().join("models"))
}
