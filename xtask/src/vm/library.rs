//! Which libibverbs the programs in a virtual machine use.

use std::path::{Path, PathBuf};

use super::Vm;
use crate::error::{Error, Result};
use crate::paths;

/// The name under which a library to preload is in the share.
const SHARED_NAME: &str = "libibverbs.so.1";

/// A libibverbs, and the way in which programs get it.
#[derive(Clone, Debug)]
pub(crate) enum Library {
    /// The distribution's own.
    Upstream,
    /// The one in this file, by `LD_PRELOAD`.
    Preload(PathBuf),
    /// The one in this file, put where the distribution's was.
    Replace(PathBuf),
}

impl Library {
    /// What `--lib FILE` and `--mode MODE` on a command line say.
    pub(crate) fn parse(file: Option<PathBuf>, mode: Option<&str>) -> Result<Library> {
        match (file, mode) {
            (None, None | Some("upstream")) => Ok(Library::Upstream),
            (Some(file), Some("preload")) => Ok(Library::Preload(file)),
            (Some(file), Some("replace")) => Ok(Library::Replace(file)),
            _ => {
                Err(Error::new("--mode is upstream, or with --lib FILE one of preload and replace"))
            }
        }
    }

    /// A word for it.
    pub(crate) fn mode(&self) -> &'static str {
        match self {
            Library::Upstream => "upstream",
            Library::Preload(_) => "preload",
            Library::Replace(_) => "replace",
        }
    }

    /// Puts the library where `vm` and its programs find it.
    pub(super) fn install(&self, vm: Vm, share: &Path) -> Result<Vm> {
        match self {
            Library::Upstream => Ok(vm),
            Library::Preload(file) => paths::copy(file, &share.join(SHARED_NAME)).map(|()| vm),
            Library::Replace(file) => Ok(vm.replace_library(file)),
        }
    }

    /// The file that `LD_PRELOAD` names in the guest, if any.
    pub(super) fn preload(&self) -> Option<String> {
        match self {
            Library::Preload(_) => Some(format!("/share/{SHARED_NAME}")),
            Library::Upstream | Library::Replace(_) => None,
        }
    }
}
