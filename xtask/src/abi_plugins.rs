//! Plugins of every private ABI, which are made for this, below a program that calls every verb.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Context, Error, Result};
use crate::man::errors;
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
    for name in ["65-failing.txt", "65-failing-plain.txt"] {
        check_refused(&results(&share).join(name))?;
    }
    let last = output.lines().last().unwrap_or_default();
    Ok(format!("{last}; transcripts in {}", results(&share).display()))
}

/// The program in which the kernel refuses every command.
const REFUSED: &str = "abi-tests/abis/program/errnos.c";

/// Compares the errors that it has reached, a line "reached FUNCTION ERROR" each, with the table.
fn check_refused(transcript: &Path) -> Result<()> {
    let text = paths::read(transcript)?;
    let lines = text.lines().filter_map(|line| line.strip_prefix("reached ")?.split_once(' '));
    let reached: Vec<_> =
        lines.map(|(function, errno)| (function.to_owned(), errno.to_owned())).collect();
    let missing: Vec<_> = errors::of_file(REFUSED)?
        .into_iter()
        .filter(|pair| !reached.contains(pair))
        .map(|(function, errno)| format!("{function} {errno}"))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::new(format!("{REFUSED} does not reach {}", missing.join(", "))))
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
