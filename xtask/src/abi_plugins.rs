//! Plugins of every private ABI, which are made for this, below a program that calls every verb.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Context, Result};
use crate::paths;
use crate::vm::{Suite, chroot};

/// The longest that compiling or running all of them may take.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Compiles the plugins and the program into `/share/programs/abis`, with the tools and headers of
/// forky; the sources are in the share already.
pub(crate) fn compile(share: &Path) -> Result<()> {
    in_root(share, &["compile", "/share/programs/abis"])
        .context(|| "cannot compile abi-tests/abis".to_owned())
        .map(drop)
}

/// Runs all of them with `library` and without a kernel that has RDMA: how many passed, or an error
/// with the lines of their transcripts that are not as they should be.
pub(crate) fn check(library: &Path) -> Result<String> {
    let share = paths::scratch("abi-plugins")?;
    paths::copy_folder(&paths::checkout().join("abi-tests"), &share.join("abi-tests"))?;
    let ours = paths::make_dir(share.join("ours"))?;
    paths::copy(library, &ours.join("libibverbs.so.1"))?;
    compile(&share)?;
    let output = in_root(
        &share,
        &["fake", "/share/programs/abis", "/share/ours", "--keep", "/share/results"],
    )?;
    let last = output.lines().last().unwrap_or_default();
    Ok(format!("{last}; transcripts in {}", results(&share).display()))
}

/// Where the transcripts are afterwards.
fn results(share: &Path) -> PathBuf {
    share.join("results")
}

/// Runs the script of abi-tests/abis in the root file system of forky: what it printed.
fn in_root(share: &Path, args: &[&str]) -> Result<String> {
    let mut command = vec!["python3", "/share/abi-tests/abis/abis.py"];
    command.extend(args);
    let command: Vec<String> = command.into_iter().map(str::to_owned).collect();
    chroot::command(Suite::Forky, Some(share), &command)?.timeout(TIMEOUT).output()
}
