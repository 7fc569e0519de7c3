//! `cargo xtask models`: the lock-free structures in all orders in which threads can run.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::paths;
use crate::sh::Cmd;

/// Runs the models whose name contains `name`, and every mutation of them, which must fail.
pub(crate) fn run(name: Option<&str>) -> Result<String> {
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
        .map(str::to_owned)
        .ok_or_else(|| Error::new("models: nothing was run".to_owned()))
}
