//! Every refusal, error completion and asynchronous event of the device inside the library, through
//! its public functions, and the lines in the log that explain them.

use std::path::Path;
use std::time::Duration;

use super::{run, share};
use crate::error::{Error, Result};
use crate::paths;

/// The longest that the programs may take together.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Builds and runs the programs, the last one in a network of its own, and one that mostly waits
/// beside them.
const SCRIPT: &str = r"
export VERBS_LOG_LEVEL=2 VERBS_LOG_FILE=/share/log.txt
cd /share
for name in refusals errors starved stopped; do
    LD_PRELOAD= gcc -O2 -Wall -Wextra -Werror -rdynamic -o $name $name.c -libverbs || exit 1
done
VERBS_LOG_FILE=/share/stopped-log.txt ./stopped >stopped.txt 2>&1 &
./refusals && URXE_CONFIDENTIAL=1 ./refusals confidential &&
    URXE_LINK_LAYER=infiniband ./refusals infiniband && ./errors &&
    ./starved memory && ./starved descriptors && ./starved threads &&
    URXE_CONFIDENTIAL=1 ./starved buffers || exit 1
wait
cat stopped.txt
cat stopped-log.txt >>log.txt
if LD_PRELOAD= unshare --net true; then
    unshare --net sh -c 'LD_PRELOAD= ip link set lo up; exec ./errors interface'
else
    echo 'events of the interface	SKIPPED: no network namespace can be made here'
fi
";

/// Explanations that no program here gets, and why; the begin of each.
const NOT_PROVOKED: &[(&str, &str)] = &[
    ("ibv_query_device_ex: mask", "checked by the function in verbs.h"),
    ("urxe: no events of ports and GIDs", "the system is out of threads or descriptors"),
    ("urxe: cannot look for events of an object", "the directory was taken away"),
    ("the peer has begun and does not get done", "it is stopped between two steps of a request"),
    ("window {window:#x} is gone", "a request that waits while its window is freed"),
    ("window {window:#x}: {}", "the system is out of threads"),
];

/// Runs the programs; how many rows there are, or those that failed.
pub(crate) fn check(library: &Path) -> Result<String> {
    let share = share("errors", library)?;
    for name in ["errors.h", "errors.c", "refusals.c", "starved.c", "stopped.c"] {
        paths::copy(&paths::checkout().join("abi-tests/urxe").join(name), &share.join(name))?;
    }
    let output = run(&share, SCRIPT, TIMEOUT)?;
    let found = rows(&output)?;
    let explanations = explanations(&paths::checkout().join("src/urxe"))?;
    let log = paths::read(&share.join("log.txt"))?;
    let missing = not_in_log(&explanations, &log)?;
    if !missing.is_empty() {
        return Err(Error::new(format!(
            "no row has got these explanations (see {}/log.txt):\n    {}",
            share.display(),
            missing.join("\n    ")
        )));
    }
    let provoked = explanations.len() - NOT_PROVOKED.len();
    Ok(format!("{found}; {provoked} of {} explanations seen", explanations.len()))
}

/// Looks at the rows that a program has printed: a title, a tab, and "ok" or what was wrong.
pub(super) fn rows(output: &str) -> Result<String> {
    let rows: Vec<_> = output.lines().filter_map(|line| line.split_once('\t')).collect();
    let skipped: Vec<_> = rows.iter().filter(|row| row.1.starts_with("SKIPPED")).collect();
    let failed: Vec<_> =
        rows.iter().filter(|row| row.1 != "ok" && !row.1.starts_with("SKIPPED")).collect();
    let list = |rows: &[&(&str, &str)]| {
        let lines: Vec<_> = rows.iter().map(|(title, what)| format!("{title}: {what}")).collect();
        lines.join("\n    ")
    };
    if !failed.is_empty() || rows.is_empty() {
        return Err(Error::new(format!(
            "{} of {} rows failed:\n    {}",
            failed.len(),
            rows.len(),
            list(&failed)
        )));
    }
    let mut found = format!("{} rows", rows.len());
    if !skipped.is_empty() {
        found.push_str(&format!(", {} of them skipped:\n    {}", skipped.len(), list(&skipped)));
    }
    Ok(found)
}

/// The explanations of the log that no line has; an error if one that is known not to be provoked is
/// not in the source, or is in the log.
fn not_in_log(explanations: &[Explanation], log: &str) -> Result<Vec<String>> {
    let lines: Vec<_> = log.lines().filter_map(|line| line.strip_prefix("libibverbs: ")).collect();
    let mut missing = Vec::new();
    let mut excused = 0;
    for explanation in explanations {
        let is_seen = lines.iter().any(|line| explanation.is_in(line));
        let excuse = NOT_PROVOKED.iter().find(|(begin, _)| explanation.text.starts_with(begin));
        excused += usize::from(excuse.is_some());
        if is_seen == excuse.is_some() {
            let place = &explanation.place;
            let what = if is_seen { "is seen after all" } else { "is not seen" };
            missing.push(format!("{place}: \"{}\" {what}", explanation.text));
        }
    }
    if excused != NOT_PROVOKED.len() {
        return Err(Error::new("the list of explanations that are not provoked is out of date"));
    }
    Ok(missing)
}

/// A line of the log as the source has it.
struct Explanation {
    /// The file.
    place: String,
    /// The format string.
    text: String,
    /// It stands at the begin of a line.
    is_first: bool,
    /// It stands at the end of a line.
    is_last: bool,
}

impl Explanation {
    /// Whether a line is made of it.
    fn is_in(&self, line: &str) -> bool {
        let mut rest = line;
        let mut parts = literal_parts(&self.text).into_iter().peekable();
        let mut is_first = true;
        while let Some(part) = parts.next() {
            let at_begin = is_first && self.is_first;
            let at_end = parts.peek().is_none() && self.is_last;
            let found = match (at_begin, at_end) {
                (true, _) => rest.starts_with(&part).then_some(0),
                (false, true) => rest.ends_with(&part).then(|| rest.len() - part.len()),
                (false, false) => rest.find(&part),
            };
            let Some(place) = found else { return false };
            rest = &rest[place + part.len()..];
            is_first = false;
        }
        true
    }
}

/// What stands between the values of a format string.
fn literal_parts(format: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut is_value = false;
    for letter in format.chars() {
        match letter {
            '{' => {
                is_value = true;
                parts.push(String::new());
            }
            '}' => is_value = false,
            _ if is_value => {}
            _ => parts.last_mut().into_iter().for_each(|part| part.push(letter)),
        }
    }
    parts
}

/// All explanations in the source files below a folder, those of tests left out.
fn explanations(dir: &Path) -> Result<Vec<Explanation>> {
    let mut found = Vec::new();
    for path in paths::list(dir)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "tests" {
                found.extend(explanations(&path)?);
            }
            continue;
        }
        if name.contains("test") || name == "explain.rs" {
            continue;
        }
        let source = paths::read(&path)?;
        let place = path.strip_prefix(paths::checkout()).unwrap_or(&path).display().to_string();
        // Reasons are written into other lines.
        for (begin, is_first) in
            [("explain!(", true), ("explain(format_args!(", false), ("write!(", false)]
        {
            if begin.starts_with("write") && !place.contains("/region/") {
                continue;
            }
            for text in literals_behind(&source, begin) {
                let is_last = !begin.starts_with("write");
                found.push(Explanation { place: place.clone(), text, is_first, is_last });
            }
        }
    }
    Ok(found)
}

/// The string literals that directly follow `begin`, however the line is broken.
fn literals_behind(source: &str, begin: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = source;
    while let Some(place) = rest.find(begin) {
        rest = &rest[place + begin.len()..];
        let argument = rest.trim_start();
        let argument = argument.strip_prefix("f,").unwrap_or(argument);
        if let Some(literal) = argument.trim_start().strip_prefix('"') {
            texts.push(unescape(literal));
        }
    }
    texts
}

/// A string literal up to its end.
fn unescape(literal: &str) -> String {
    let mut text = String::new();
    let mut letters = literal.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' if letters.next_if_eq(&'\n').is_some() => {
                while letters.next_if(|letter| letter.is_whitespace()).is_some() {}
            }
            '\\' => text.extend(letters.next()),
            _ => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explanations_are_found_in_source_and_log() {
        let source = "explain!(\n    \"urxe: QP {:#x} of \\\n     type {kind}\",\n    1\n);";
        let texts = literals_behind(source, "explain!(");
        assert_eq!(texts, ["urxe: QP {:#x} of type {kind}"]);
        let of = |text: &str, is_first| Explanation {
            place: String::new(),
            text: text.to_owned(),
            is_first,
            is_last: true,
        };
        assert!(of(&texts[0], true).is_in("urxe: QP 0x4000 of type 2"));
        assert!(!of(&texts[0], true).is_in("a urxe: QP 0x4000 of type 2"));
        assert!(!of(&texts[0], true).is_in("urxe: QP 0x4000"));
        assert!(of("is gone", false).is_in("urxe: QP 0x1: it is gone"));
        assert!(!of("is gone", false).is_in("urxe: QP 0x1: it is gone now"));
    }

    #[test]
    fn rows_are_counted() {
        assert_eq!(rows("a\tok\nb\tok\n").unwrap(), "2 rows");
        assert!(rows("a\tok\nb\tSKIPPED: why\n").unwrap().contains("1 of them skipped"));
        assert!(rows("a\tno\n").is_err() && rows("").is_err());
    }
}
