//! Real verbs programs, run with upstream's library and with another one in the same boot.
//!
//! What upstream's library gives is the measure. When a row does not end with it as the row says (a
//! program can die of a race of its own), there is nothing to measure by, and the row is run again
//! with both, and so is one in which a program says, or the place where it hung does, that it met a
//! known race of its own, with whichever library. Any other difference from a run of upstream's that
//! went as the row says is never run again.

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

/// Programs by the begin of their row's title, and what one says on its standard error when it has met a
/// race between its own threads.
///
/// rping's client closes its event channel while another thread of it waits for events there. That
/// thread ends the process if it finds the channel closed before the process has ended.
const OWN_RACES: &[(&str, &str)] = &[("rping", "rdma_get_cm_event: Bad file descriptor")];

/// Whether a process that had to be killed had met another race between its own threads, by where they
/// were.
///
/// A thread of rping's polls its event channel and asks for the event then, for which it waits if there
/// is none; the main thread destroys the connection, with which the kernel drops an event that was not
/// asked for yet, and joins that thread. Both wait for ever then: the main thread in pthread_join(3), which
/// alone waits by futex(2) as it is shared by processes, and the other in the kernel's connection manager;
/// the thread that takes completions is gone, and so are the queue pair and its queues.
fn waits_for_a_dropped_event(title: &str, stuck: &str) -> bool {
    const JOINS: &str = "syscall: 202 ";
    const WAITS_SHARED: &str = " 0x109 ";
    let calls: Vec<_> = stuck.lines().filter(|line| line.contains("syscall: ")).collect();
    let stacks: Vec<_> = stuck.lines().filter(|line| line.contains("stack: ")).collect();
    let ([main, _], [_, other]) = (calls.as_slice(), stacks.as_slice()) else { return false };
    title.starts_with("rping")
        && main.contains(JOINS)
        && main.contains(WAITS_SHARED)
        && other.contains("ucma_get_event")
}

/// How many more times a row runs that does not end with upstream's library as it should.
const MORE_RUNS: usize = 2;

/// What came of all programs.
#[derive(Debug)]
pub(crate) struct ProgramsResult {
    /// One for each row of programs, in the order in which they ran.
    pub(crate) rows: Vec<Row>,
    /// The folders with `output.txt`, and `results` with everything that was printed: one for each
    /// boot.
    pub(crate) dirs: Vec<PathBuf>,
    /// The time in the virtual machine, boots included.
    pub(crate) time: Duration,
}

/// A program, or a server and its client, after both runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// What ran.
    pub(crate) title: String,
    /// Whether every process succeeded with upstream's library.
    pub(crate) works_upstream: bool,
    /// Whether it should have.
    pub(crate) should_work: bool,
    /// Whether it met one of [`OWN_RACES`] with either library, or hung as
    /// [`waits_for_a_dropped_event`] says.
    pub(crate) raced: bool,
    /// How each earlier run ended with upstream's library, which was not as it should.
    pub(crate) earlier: Vec<String>,
    /// How each process ended with upstream's library.
    pub(crate) ends: String,
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
    run_with(|titles| boot(suite, library, built, only, titles))
}

/// Runs all rows by `boot(None)`, and what is odd again by `boot(Some(titles))`.
fn run_with(
    mut boot: impl FnMut(Option<&[String]>) -> Result<ProgramsResult>,
) -> Result<ProgramsResult> {
    let mut result = boot(None)?;
    for _ in 0..MORE_RUNS {
        let odd = result.odd();
        if odd.is_empty() {
            break;
        }
        println!(
            "run again, as upstream's library gave what is not expected, or the program met a race \
             of its own:"
        );
        for title in &odd {
            println!("    {title}");
        }
        result.replace(boot(Some(&odd))?)?;
    }
    Ok(result)
}

/// Runs the rows whose title contains `only`, or of these only those with one of `titles`, once.
fn boot(
    suite: Suite,
    library: &Path,
    built: Option<&Path>,
    only: &str,
    titles: Option<&[String]>,
) -> Result<ProgramsResult> {
    let share = paths::scratch(&format!("programs-{}", suite.name()))?;
    let folder = paths::make_dir(share.join("lib"))?;
    paths::copy(library, &folder.join("libibverbs.so.1"))?;
    paths::write(&share.join("programs.py"), RUNNER)?;
    if let Some(titles) = titles {
        paths::write(&share.join("titles"), titles.join("\n"))?;
    }
    let mut script = format!("exec python3 /share/programs.py '{only}'\n");
    if let Some(built) = built {
        paths::copy_folder(built, &share.join("bin"))?;
        script.insert_str(0, "export PATH=/share/bin:$PATH\n");
    }
    let result = Vm::new(suite).share(&share).run_script(&script, TIMEOUT)?;
    result.success()?;
    let folders = paths::list(&share.join("results"))?;
    let rows = folders.iter().map(|folder| compare(folder)).collect::<Result<Vec<_>>>()?;
    Ok(ProgramsResult { rows, dirs: vec![share], time: result.time })
}

/// Compares what both runs of the row in `folder` left.
fn compare(folder: &Path) -> Result<Row> {
    let exact = folder.join("exact").exists();
    let chance = folder.join("chance").exists();
    let upstream = folder.join("upstream");
    let mut row = Row {
        title: paths::read(&folder.join("title"))?,
        works_upstream: true,
        should_work: !folder.join("fails").exists(),
        raced: false,
        earlier: Vec::new(),
        ends: String::new(),
        differences: Vec::new(),
    };
    let mut works_with_ours = true;
    for file in paths::list(&upstream)? {
        let name = file.file_name().unwrap_or_default();
        let what = name.to_string_lossy().into_owned();
        let wanted = paths::read(&file)?;
        // A client is not started if its server never listened.
        let found = folder.join("ours").join(name);
        let found = if found.exists() { paths::read(&found)? } else { "no such file".to_owned() };
        if what.ends_with(".err") {
            row.raced |=
                tells_of_a_race(&row.title, &wanted) || tells_of_a_race(&row.title, &found);
        }
        if what.ends_with(".stuck") {
            continue;
        }
        if let Some(process) = what.strip_suffix(".code") {
            row.works_upstream &= succeeded(&wanted);
            works_with_ours &= succeeded(&found);
            row.ends.push_str(&format!(" {process} {wanted}"));
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
    for stuck in paths::list(&folder.join("ours"))? {
        if stuck.extension().is_some_and(|extension| extension == "stuck") {
            let text = paths::read(&stuck)?;
            row.raced |= waits_for_a_dropped_event(&row.title, &text);
            row.differences.push(format!("{}:\n{text}", stuck.display()));
        }
    }
    if row.raced {
        row.ends.push_str(" and a race of the program's own");
    }
    if row.is_unexpected() {
        let verb = if row.works_upstream { "works" } else { "fails" };
        row.differences.push(format!("{verb} with upstream's library, which is not expected"));
    }
    Ok(row)
}

/// Whether a program of the row says that it met one of [`OWN_RACES`].
fn tells_of_a_race(title: &str, error: &str) -> bool {
    OWN_RACES
        .iter()
        .any(|(begin, line)| title.starts_with(begin) && error.lines().any(|l| l == *line))
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

impl Row {
    /// Whether upstream's library gave what is not expected of it.
    fn is_unexpected(&self) -> bool {
        self.works_upstream != self.should_work
    }

    /// Whether it says nothing about the libraries.
    fn is_odd(&self) -> bool {
        self.is_unexpected() || self.raced
    }
}

impl ProgramsResult {
    /// The titles of the rows that are to run again.
    fn odd(&self) -> Vec<String> {
        self.rows.iter().filter(|row| row.is_odd()).map(|row| row.title.clone()).collect()
    }

    /// Puts the rows that ran again, `later`, in place of what they were: of all that were odd, one
    /// each, and of no other.
    fn replace(&mut self, later: ProgramsResult) -> Result<()> {
        self.dirs.extend(later.dirs);
        self.time += later.time;
        let (odd, ran): (Vec<String>, Vec<String>) =
            (self.odd(), later.rows.iter().map(|row| row.title.clone()).collect());
        if odd != ran {
            return Err(Error::new(format!("run again: {ran:?}, and not {odd:?}")));
        }
        let mut later = later.rows.into_iter();
        for row in self.rows.iter_mut().filter(|row| row.is_odd()) {
            let Some(mut new) = later.next() else { break };
            new.earlier = std::mem::take(&mut row.earlier);
            new.earlier.push(std::mem::take(&mut row.ends));
            *row = new;
        }
        Ok(())
    }

    /// A summary if no row differs, otherwise an error with each difference. Both name the rows that
    /// ran again.
    pub(crate) fn check(&self) -> Result<String> {
        let working = self.rows.iter().filter(|row| row.works_upstream).count();
        let mut counts = format!(
            "{} programs or pairs of them in {} s, {working} of them succeed with upstream's library",
            self.rows.len(),
            self.time.as_secs()
        );
        let again: Vec<&Row> = self.rows.iter().filter(|row| !row.earlier.is_empty()).collect();
        if !again.is_empty() {
            let ends = |row: &&Row| format!("{} (upstream's:{})", row.title, row.earlier.join(";"));
            let shown: Vec<String> = again.iter().map(ends).collect();
            counts.push_str(&format!(", {} run again: {}", again.len(), shown.join(", ")));
        }
        let places: Vec<String> = self.dirs.iter().map(|dir| dir.display().to_string()).collect();
        let places = places.join(", ");
        let failed: Vec<&Row> =
            self.rows.iter().filter(|row| !row.differences.is_empty()).collect();
        if working == 0 {
            return Err(Error::new(format!("{counts}; see {places}")));
        }
        if failed.is_empty() {
            return Ok(counts);
        }
        let mut text = format!("{counts}; {} differ (see {places}):", failed.len());
        for row in failed {
            text.push_str(&format!("\n  {}: {}", row.title, row.differences.join("\n    ")));
        }
        Err(Error::new(text))
    }
}

#[cfg(test)]
mod tests;
