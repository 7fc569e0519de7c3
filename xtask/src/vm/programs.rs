//! Real verbs programs, run with upstream's library and with another one in the same boot.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::normal::normalised;
use super::{Suite, Vm};
use crate::error::{Error, Result};
use crate::paths;

/// What runs the programs in the guest.
const RUNNER: &str = include_str!("../../guest/programs.py");

/// The longest that all programs may take together.
const TIMEOUT: Duration = Duration::from_secs(1800);

/// What came of all programs.
#[derive(Debug)]
pub(crate) struct ProgramsResult {
    /// One for each row of programs, in the order in which they ran.
    pub(crate) rows: Vec<Row>,
    /// The folder with `output.txt`, and `results` with everything that was printed.
    pub(crate) dir: PathBuf,
    /// The time in the virtual machine, boot included.
    pub(crate) time: Duration,
}

/// A program, or a server and its client, after both runs.
#[derive(Debug)]
pub(crate) struct Row {
    /// What ran.
    pub(crate) title: String,
    /// Whether every process succeeded with upstream's library.
    pub(crate) works_upstream: bool,
    /// What differs with the other library, a paragraph each; nothing if the row passed.
    pub(crate) differences: Vec<String>,
}

/// Runs the programs whose title contains `only` with the library of `suite` and with `library`.
///
/// They are those in the folder `built`, if there is one, and all others those of the suite.
pub(crate) fn run(
    suite: Suite,
    library: &Path,
    built: Option<&Path>,
    only: &str,
) -> Result<ProgramsResult> {
    let share = paths::scratch(&format!("programs-{}", suite.name()))?;
    let folder = paths::make_dir(share.join("lib"))?;
    paths::copy(library, &folder.join("libibverbs.so.1"))?;
    paths::write(&share.join("programs.py"), RUNNER)?;
    let mut script = format!("exec python3 /share/programs.py '{only}'\n");
    if let Some(built) = built {
        paths::copy_folder(built, &share.join("bin"))?;
        script.insert_str(0, "export PATH=/share/bin:$PATH\n");
    }
    let result = Vm::new(suite).share(&share).run_script(&script, TIMEOUT)?;
    result.success()?;
    let folders = paths::list(&share.join("results"))?;
    let rows = folders.iter().map(|folder| compare(folder)).collect::<Result<Vec<_>>>()?;
    Ok(ProgramsResult { rows, dir: share, time: result.time })
}

/// Compares what both runs of the row in `folder` left.
fn compare(folder: &Path) -> Result<Row> {
    let title = paths::read(&folder.join("title"))?;
    let exact = folder.join("exact").exists();
    let chance = folder.join("chance").exists();
    let upstream = folder.join("upstream");
    let mut row = Row { title, works_upstream: true, differences: Vec::new() };
    let mut works_with_ours = true;
    for file in paths::list(&upstream)? {
        let name = file.file_name().unwrap_or_default();
        let what = name.to_string_lossy().into_owned();
        let wanted = paths::read(&file)?;
        let found = paths::read(&folder.join("ours").join(name))?;
        if what.ends_with(".code") {
            row.works_upstream &= succeeded(&wanted);
            works_with_ours &= succeeded(&found);
            if found == "timeout" || (found != wanted && !chance) {
                row.differences.push(format!("{what}: {found}, with upstream's library {wanted}"));
            }
        } else if !chance {
            let show = |text: &str| if exact { text.to_owned() } else { normalised(text) };
            row.differences.extend(first_difference(&what, &show(&wanted), &show(&found)));
        }
    }
    if row.works_upstream != works_with_ours && row.differences.is_empty() {
        row.differences.push("one library works, the other does not".to_owned());
    }
    if row.works_upstream == folder.join("fails").exists() {
        let verb = if row.works_upstream { "works" } else { "fails" };
        row.differences.push(format!("{verb} with upstream's library, which is not expected"));
    }
    Ok(row)
}

/// Whether an exit status is that of success, or of a program that is meant to be ended by us.
fn succeeded(code: &str) -> bool {
    matches!(code, "0" | "-2" | "-15")
}

/// The first line in which two outputs differ.
fn first_difference(what: &str, wanted: &str, found: &str) -> Option<String> {
    if wanted == found {
        return None;
    }
    let (mut wanted, mut found) = (wanted.lines(), found.lines());
    let mut number = 0;
    loop {
        number += 1;
        let pair = (wanted.next(), found.next());
        if pair.0 != pair.1 || pair == (None, None) {
            let shown = |line: Option<&str>| line.unwrap_or("(nothing)").to_owned();
            return Some(format!(
                "{what}, line {number}:\n    upstream  {}\n    ours      {}",
                shown(pair.0),
                shown(pair.1)
            ));
        }
    }
}

impl ProgramsResult {
    /// A summary if no row differs, otherwise an error with each difference.
    pub(crate) fn check(&self) -> Result<String> {
        let working = self.rows.iter().filter(|row| row.works_upstream).count();
        let counts = format!(
            "{} programs or pairs of them in {} s, {working} of them succeed with upstream's library",
            self.rows.len(),
            self.time.as_secs()
        );
        let failed: Vec<&Row> =
            self.rows.iter().filter(|row| !row.differences.is_empty()).collect();
        if working == 0 {
            return Err(Error::new(format!("{counts}; see {}", self.dir.display())));
        }
        if failed.is_empty() {
            return Ok(counts);
        }
        let mut text = format!("{counts}; {} differ (see {}):", failed.len(), self.dir.display());
        for row in failed {
            text.push_str(&format!("\n  {}: {}", row.title, row.differences.join("\n    ")));
        }
        Err(Error::new(text))
    }
}
