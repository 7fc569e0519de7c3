//! Where plugins come from: the environment, the configuration, the files.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::abi::{VERBS_LOG_DEBUG, VERBS_LOG_INFO};
use crate::log::{self, log};
use crate::plugin::config::{self, Line};
use crate::plugin::load::{Directories, Failure, File};
use crate::plugin::release;
use crate::provider_api::registry::{self, Driver};
use crate::sys::env;

/// The directory of configuration files.
const CONFIGURATION: &str = "/etc/libibverbs.d";
/// How much of a configuration file is read, in bytes.
const LONGEST_FILE: u64 = 1024 * 1024;

/// What the decisions about plugins need to know and do; replaced in tests.
pub(crate) trait Source {
    /// The providers that are registered, in the order in which they were.
    fn drivers(&self) -> Vec<Driver>;
    /// The plugins that the environment names.
    fn in_environment(&self) -> Vec<Vec<u8>>;
    /// Whether the configuration file that goes by the name of a plugin names it.
    fn in_own_file(&self, name: &str) -> bool;
    /// All plugins that the configuration names, in the order in which they are loaded.
    fn in_configuration(&self) -> Vec<Vec<u8>>;
    /// Whether there is a configuration at all, and where.
    fn configuration(&self) -> (bool, &Path);
    /// Loads the file of a plugin with the newest private ABI (below a limit, if there is one) that
    /// can be loaded; gives that private ABI.
    fn load(&self, name: &[u8], below: Option<u32>) -> Result<u32, Failure>;
    /// A file of this plugin that is for a private ABI that the library does not serve.
    fn unserved(&self, name: &[u8]) -> Option<File>;
    /// Where plugins are looked for, for people.
    fn directories(&self) -> String;
    /// Finds out which layout of its private ABI a provider has, unless that is known. The error
    /// says why the library cannot work with it.
    fn settle(&self, driver: &Driver) -> Result<(), String>;
    /// Whether devices without a provider are warned of.
    fn show_warnings(&self) -> bool;
}

/// The source of plugins of this machine.
pub(crate) struct System {
    configuration: PathBuf,
    directories: Directories,
}

impl System {
    pub(crate) fn new() -> System {
        System { configuration: PathBuf::from(CONFIGURATION), directories: Directories::system() }
    }

    /// The text of a configuration file; nothing for what is not a regular file.
    fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
        // A pipe is not waited for.
        let mut file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Ok(None);
        }
        // With one byte more than the file has, one call reads all and sees the end.
        let mut text = vec![0; about.len().saturating_add(1).clamp(64, LONGEST_FILE) as usize];
        let length = file.read(&mut text)?;
        text.truncate(length);
        if length as u64 == LONGEST_FILE {
            log::warning(format_args!(
                "configuration file {} is read up to {LONGEST_FILE} bytes only",
                path.display(),
            ));
            // The last line is not whole.
            text.truncate(text.iter().rposition(|byte| *byte == b'\n').unwrap_or(0));
        }
        Ok(Some(text))
    }
}

impl Source for System {
    fn drivers(&self) -> Vec<Driver> {
        registry::drivers()
    }

    fn in_environment(&self) -> Vec<Vec<u8>> {
        let value = env::get(c"RDMAV_DRIVERS").or_else(|| env::get(c"IBV_DRIVERS"));
        value.map_or_else(Vec::new, |value| {
            config::list(value.to_bytes()).map(<[u8]>::to_vec).collect()
        })
    }

    fn in_own_file(&self, name: &str) -> bool {
        let path = self.configuration.join(format!("{name}.driver"));
        let text = match Self::read(&path) {
            Ok(Some(text)) => text,
            Ok(None) => return false,
            Err(error) => {
                log!(VERBS_LOG_DEBUG, "{}: {error}", path.display());
                return false;
            }
        };
        let named = config::drivers(&text).any(|driver| driver == name.as_bytes());
        let how = if named { "names" } else { "does not name" };
        log!(VERBS_LOG_INFO, "{} {how} plugin {name}", path.display());
        named
    }

    fn in_configuration(&self) -> Vec<Vec<u8>> {
        let directory = match std::fs::read_dir(&self.configuration) {
            Ok(directory) => directory,
            Err(error) => {
                log!(VERBS_LOG_INFO, "{}: {error}", self.configuration.display());
                return Vec::new();
            }
        };
        let mut names = Vec::new();
        for entry in directory.flatten() {
            let path = entry.path();
            match Self::read(&path) {
                Ok(Some(text)) => {
                    names.extend(config::drivers(&text).map(<[u8]>::to_vec));
                    tell_unknown(&path, &text);
                }
                Ok(None) => {}
                Err(error) => log::warning(format_args!(
                    "configuration file {} cannot be read: {error}",
                    path.display(),
                )),
            }
        }
        names.reverse();
        names
    }

    fn configuration(&self) -> (bool, &Path) {
        (self.configuration.is_dir(), &self.configuration)
    }

    fn load(&self, name: &[u8], below: Option<u32>) -> Result<u32, Failure> {
        self.directories.load(name, below)
    }

    fn unserved(&self, name: &[u8]) -> Option<File> {
        self.directories.unserved(name)
    }

    fn directories(&self) -> String {
        self.directories.display()
    }

    fn settle(&self, driver: &Driver) -> Result<(), String> {
        release::settle(driver)
    }

    fn show_warnings(&self) -> bool {
        env::switch(c"IBV_SHOW_WARNINGS")
    }
}

/// One warning about the lines of a file that are none.
fn tell_unknown(path: &Path, text: &[u8]) {
    let mut unknown = config::lines(text).filter_map(|(number, line)| match line {
        Line::Unknown(word) => Some((number, word)),
        Line::Driver(_) => None,
    });
    let Some((number, word)) = unknown.next() else { return };
    let word = word.get(..40).unwrap_or(word);
    let others = match unknown.count() {
        0 => String::new(),
        count => format!(", and {count} more"),
    };
    log::warning(format_args!(
        "configuration file {}: line {number} is ignored{others}: '{}' where 'driver NAME' is \
         expected",
        path.display(),
        word.escape_ascii(),
    ));
}

/// A name for people.
pub(crate) fn display(name: &[u8]) -> String {
    OsStr::from_bytes(name).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::tests::Folder;

    fn system(folder: &Folder) -> System {
        System {
            configuration: folder.path().to_owned(),
            directories: Directories::new(Vec::new()),
        }
    }

    #[test]
    fn the_file_of_a_plugin_must_name_it() {
        let folder = Folder::new("own-file");
        folder.write("rxe.driver", b"driver rxe\n");
        folder.write("mlx5.driver", b"driver /opt/lib/libmlx5\n");
        folder.write("efa.driver/x", b"driver efa\n");
        let system = system(&folder);
        assert!(system.in_own_file("rxe"));
        for other in ["mlx5", "efa", "mlx4"] {
            assert!(!system.in_own_file(other), "{other}");
        }
    }

    #[test]
    fn every_regular_file_is_configuration() {
        let folder = Folder::new("configuration");
        folder.write("any-name", b"driver a\nnonsense\ndriver b\n");
        folder.write(".hidden", b"# driver hidden\n");
        folder.write("directory/file", b"driver below\n");
        folder.write("empty", b"");
        folder.write("binary", &[0xff; 3000]);
        std::os::unix::fs::symlink("nowhere", folder.path().join("dangling")).unwrap();
        // SAFETY: a C string. A pipe without a writer would block who opens it.
        assert_eq!(unsafe { libc::mkfifo(folder.c_path("pipe").as_ptr(), 0o600) }, 0);
        assert_eq!(system(&folder).in_configuration(), [b"b".to_vec(), b"a".to_vec()]);
        std::os::unix::fs::symlink("any-name", folder.path().join("link")).unwrap();
        assert_eq!(system(&folder).in_configuration().len(), 4);
        assert!(system(&folder).configuration().0);
    }

    #[test]
    fn files_are_read_up_to_a_limit() {
        let folder = Folder::new("huge");
        let text = [b"driver first\n".to_vec(), b"#\n".repeat(600_000), b"driver last\n".to_vec()];
        folder.write("huge", &text.concat());
        assert_eq!(system(&folder).in_configuration(), [b"first".to_vec()]);
    }

    #[test]
    fn no_configuration() {
        let folder = Folder::new("none");
        let mut system = system(&folder);
        system.configuration.push("missing");
        assert!(system.in_configuration().is_empty());
        assert!(!system.in_own_file("rxe"));
        assert!(!system.configuration().0);
    }
}
