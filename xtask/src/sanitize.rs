//! The unit tests in other surroundings: with the address sanitizer.

use std::path::PathBuf;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::fuzz::TRIPLE;
use crate::paths;
use crate::sh::Cmd;

/// What the step needs beside Rust.
pub(crate) const ADDRESS_NEEDS: &[&str] = &["gcc", "libc6-dev", "iproute2"];

/// What the address sanitizer is told: some tests ask for more memory than there is, and expect
/// NULL.
const ADDRESS_OPTIONS: &str =
    "detect_leaks=1:detect_stack_use_after_return=1:allocator_may_return_null=1";

/// All unit tests with the address sanitizer and its leak checker, in the processes that tests start
/// as well. The standard library is not instrumented, its allocations are known.
pub(crate) fn address() -> Result<String> {
    let program = build_for_address()?;
    let output = Cmd::new(&program)
        .env("ASAN_OPTIONS", ADDRESS_OPTIONS)
        .env("RUST_BACKTRACE", "0")
        .dir(paths::checkout())
        .timeout(Duration::from_secs(900))
        .output()?;
    // A process that a test started may have had its own to say, which the test did not see.
    if let Some(error) = output.lines().find(|line| line.contains("ERROR: ")) {
        return Err(Error::new(format!("a process of a test: {error}")));
    }
    Ok(format!("{} tests, none left out", passed(&output)?))
}

/// The test program, built with the address sanitizer.
///
/// The flag is one of nightly compilers; a released one takes it with this variable, and what rustup
/// installs has the sanitizer's runtime for it.
fn build_for_address() -> Result<PathBuf> {
    let folder = Cmd::new("rustc").args(["--print", "target-libdir"]).quiet().output()?;
    let runtimes = paths::list(folder.trim().as_ref())?;
    if !runtimes.iter().any(|file| file.to_string_lossy().ends_with("_rt.asan.a")) {
        return Err(Error::new(format!(
            "the compiler has no runtime of the address sanitizer in {}; those that rustup \
             installs have",
            folder.trim()
        )));
    }
    let build = Cmd::new("cargo")
        .args(["test", "--lib", "--no-run", "--target", TRIPLE])
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .env("CARGO_TARGET_DIR", paths::target().join("address"));
    program(build)
}

/// The test program that a build of cargo names.
fn program(build: Cmd) -> Result<PathBuf> {
    let output = build.dir(paths::checkout()).timeout(Duration::from_secs(1200)).output()?;
    let named = output.lines().find_map(|line| line.trim().strip_prefix("Executable unittests "));
    let path = named.and_then(|line| line.split_once('(')?.1.strip_suffix(')'));
    path.map(|path| paths::checkout().join(path))
        .ok_or_else(|| Error::new("cargo did not say where the tests are"))
}

/// The number of tests that have passed.
fn passed(output: &str) -> Result<u32> {
    let line = output.lines().find_map(|line| line.strip_prefix("test result: ok. "));
    line.and_then(|line| line.split(' ').next()?.parse().ok())
        .ok_or_else(|| Error::new("the tests did not say how many passed"))
}
