//! Cargo tools that are built once and kept in the cache folder.

use std::path::PathBuf;
use std::time::Duration;

use crate::cache;
use crate::error::Result;
use crate::sh::Cmd;

/// The program of the crate `name` in exactly this version, built if it is not in the cache.
pub(crate) fn ensure(name: &str, version: &str) -> Result<PathBuf> {
    let root = cache::dir()?.join("tools").join(format!("{name}-{version}"));
    let program = root.join("bin").join(name);
    if !program.is_file() {
        println!("building {name} {version}, which takes some minutes the first time");
        Cmd::new("cargo")
            .args(["install", "--locked", "--version", version, "--root"])
            .arg(&root)
            .arg(name)
            .timeout(Duration::from_secs(1800))
            .run()?;
    }
    Ok(program)
}
