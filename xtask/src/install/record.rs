//! The record of an installation: one path a line, `/` at the end of those that are folders.

use std::path::{Path, PathBuf};

/// What an installation made.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// Files and links.
    pub(super) files: Vec<PathBuf>,
    /// Folders that were not there before, parents first.
    pub(super) folders: Vec<PathBuf>,
}

impl Record {
    /// Reads a record; lines that are no absolute path are passed over.
    pub(super) fn parse(text: &str) -> Record {
        let mut record = Record::default();
        for line in text.lines().filter(|line| line.starts_with('/')) {
            match line.strip_suffix('/') {
                Some(folder) => record.folders.push(folder.into()),
                None => record.files.push(line.into()),
            }
        }
        record
    }

    /// The text of the record.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for folder in &self.folders {
            text.push_str(&format!("{}/\n", folder.display()));
        }
        for file in &self.files {
            text.push_str(&format!("{}\n", file.display()));
        }
        text
    }

    /// Whether the installation made this file.
    pub(super) fn has(&self, file: &Path) -> bool {
        self.files.iter().any(|it| it == file)
    }
}
