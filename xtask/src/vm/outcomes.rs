//! Outcomes of upstream's tests, one line per test, and how two lists of them differ.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use crate::error::{Error, Result};
use crate::paths;

/// How one test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// `ok`, `skipped`, `FAIL`, `ERROR`, or `started` when the process died in the test. What is
    /// expected can be one of several, as in `ok|ERROR` for a test that is a matter of timing.
    pub(crate) word: String,
    /// Why it was skipped, if it was.
    pub(crate) reason: String,
}

/// The outcomes of a run, by the full name of the test.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcomes(BTreeMap<String, Outcome>);

impl Outcome {
    /// Whether this is what `wanted` allows.
    fn is(&self, wanted: &Outcome) -> bool {
        self.reason == wanted.reason && wanted.word.split('|').any(|word| word == self.word)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.reason.is_empty() {
            return f.write_str(&self.word);
        }
        write!(f, "{} ({})", self.word, self.reason)
    }
}

impl Outcomes {
    /// Reads a file of lines `TEST outcome reason`, separated by tabs.
    ///
    /// Of several lines for a test the last holds, but a failure stays one.
    pub(crate) fn read(path: &Path) -> Result<Outcomes> {
        let mut outcomes = Outcomes::default();
        for line in paths::read(path)?.lines() {
            let mut fields = line.split('\t');
            let (Some(test), Some(word)) = (fields.next(), fields.next()) else {
                return Err(Error::new(format!("{}: not an outcome: {line}", path.display())));
            };
            let reason = fields.next().unwrap_or_default().to_owned();
            let outcome = Outcome { word: word.to_owned(), reason };
            let entry = outcomes.0.entry(test.to_owned());
            entry
                .and_modify(|old| {
                    if !matches!(old.word.as_str(), "FAIL" | "ERROR") {
                        *old = outcome.clone();
                    }
                })
                .or_insert(outcome);
        }
        Ok(outcomes)
    }

    /// Writes the file that [`Outcomes::read`] reads.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let lines = self
            .0
            .iter()
            .map(|(test, Outcome { word, reason })| format!("{test}\t{word}\t{reason}\n"));
        paths::write(path, lines.collect::<String>())
    }

    /// How many tests have the outcome `word`.
    pub(crate) fn count(&self, word: &str) -> usize {
        self.0.values().filter(|outcome| outcome.word == word).count()
    }

    /// Only the tests whose name contains `part`.
    pub(crate) fn matching(mut self, part: &str) -> Outcomes {
        self.0.retain(|test, _| test.contains(part));
        self
    }

    /// Takes the outcomes of `others` instead of those of the same tests here.
    pub(crate) fn replace(&mut self, others: Outcomes) {
        self.0.extend(others.0);
    }

    /// A line for each test that is not as in `expected`.
    pub(crate) fn differences(&self, expected: &Outcomes) -> Vec<String> {
        let mut lines = Vec::new();
        for (test, wanted) in &expected.0 {
            match self.0.get(test) {
                None => lines.push(format!("{test}: did not run, expected {wanted}")),
                Some(found) if found.word == "started" => {
                    lines.push(format!("{test}: the process died in it, expected {wanted}"));
                }
                Some(found) if !found.is(wanted) => {
                    lines.push(format!("{test}: {found}, expected {wanted}"));
                }
                Some(_) => {}
            }
        }
        for (test, found) in &self.0 {
            if !expected.0.contains_key(test) {
                lines.push(format!("{test}: {found}, not expected at all"));
            }
        }
        lines
    }
}

impl fmt::Display for Outcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = self.0.len() - self.count("ok") - self.count("skipped");
        let (ok, skipped) = (self.count("ok"), self.count("skipped"));
        write!(f, "{} tests: {ok} ok, {skipped} skipped, {failed} failed", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Outcomes};

    fn outcomes(lines: &[(&str, &str)]) -> Outcomes {
        let outcome = |word: &str| Outcome { word: word.to_owned(), reason: String::new() };
        Outcomes(lines.iter().map(|(test, word)| ((*test).to_owned(), outcome(word))).collect())
    }

    #[test]
    fn every_kind_of_difference_is_told() {
        let expected = outcomes(&[("a", "ok"), ("b", "ok"), ("c", "ok"), ("d", "ok|ERROR")]);
        let found = outcomes(&[("a", "ok"), ("b", "started"), ("d", "ERROR"), ("e", "FAIL")]);
        assert_eq!(
            found.differences(&expected),
            [
                "b: the process died in it, expected ok",
                "c: did not run, expected ok",
                "e: FAIL, not expected at all",
            ]
        );
        assert_eq!(outcomes(&[]).differences(&expected).len(), 4);
    }
}
