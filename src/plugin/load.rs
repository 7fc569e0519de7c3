//! Loading a plugin: where its file may be, and what is wrong with it if it cannot be loaded.

use core::ffi::CStr;
use std::ffi::{CString, OsStr, OsString};
use std::fs::OpenOptions;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::abi::{VERBS_LOG_DEBUG, VERBS_LOG_INFO};
use crate::log::log;
use crate::plugin::elf;
use crate::plugin::known::PRIVATE_ABI;
use crate::sys::env;

/// The variable with directories in which plugins are looked for first, separated by `:`.
const PLUGIN_PATH: &CStr = c"IBVERBS_RS_PLUGIN_PATH";

/// Where distributions put plugins: Debian's place for this target, then those of others.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
const DIRECTORIES: [&str; 3] =
    ["/usr/lib/x86_64-linux-gnu/libibverbs", "/usr/lib64/libibverbs", "/usr/lib/libibverbs"];
#[cfg(target_arch = "aarch64")]
const DIRECTORIES: [&str; 3] =
    ["/usr/lib/aarch64-linux-gnu/libibverbs", "/usr/lib64/libibverbs", "/usr/lib/libibverbs"];
#[cfg(not(any(
    all(target_arch = "x86_64", target_pointer_width = "64"),
    target_arch = "aarch64"
)))]
const DIRECTORIES: [&str; 2] = ["/usr/lib64/libibverbs", "/usr/lib/libibverbs"];

/// The directories of plugins on this machine, first those of `IBVERBS_RS_PLUGIN_PATH` (ignored in
/// setuid programs).
pub(crate) fn directories() -> Vec<PathBuf> {
    let own = env::get(PLUGIN_PATH).unwrap_or_default();
    let own = own.to_bytes().split(|byte| *byte == b':').filter(|path| path.starts_with(b"/"));
    let own = own.map(|path| PathBuf::from(OsStr::from_bytes(path)));
    own.chain(DIRECTORIES.iter().map(PathBuf::from)).collect()
}

/// Why a plugin could not be loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Failure {
    /// The name that the configuration gives it.
    pub(crate) name: Vec<u8>,
    /// The file with a fault and what dlopen(3) says of it; nothing if there is no file.
    pub(crate) fault: Option<String>,
}

/// The file name of the plugin with a name, in a directory or on the library path.
fn file_name(name: &[u8]) -> OsString {
    OsString::from_vec([b"lib", name, ending().as_bytes()].concat())
}

/// `-rdmav65.so`
fn ending() -> String {
    format!("-rdmav{PRIVATE_ABI}.so")
}

/// Loads the plugin with a name, for good. Its constructor registers it.
pub(crate) fn load(name: &[u8], directories: &[PathBuf]) -> Result<(), Failure> {
    let mut fault = None;
    for path in places(name, directories) {
        match open(&path) {
            Ok(()) => {
                log!(VERBS_LOG_INFO, "loaded plugin {}", path.display());
                return Ok(());
            }
            Err(None) => log!(VERBS_LOG_DEBUG, "there is no {}", path.display()),
            // A file that is there tells more than those that are not.
            Err(Some(message)) => fault = fault.or(Some(message)),
        }
    }
    Err(Failure { name: name.to_vec(), fault })
}

/// Loads a shared object. The error is what is wrong with the file, or nothing if there is none.
fn open(path: &Path) -> Result<(), Option<String>> {
    if path.is_absolute() {
        match is_cut_off(path) {
            Ok(false) => {}
            Ok(true) => return Err(Some(format!("{}: the file is cut off", path.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(None),
            Err(error) => return Err(Some(format!("{}: {error}", path.display()))),
        }
        return dlopen(path).map_err(Some);
    }
    // On the library path only the message tells whether there is a file.
    let missing = format!("{}: cannot open shared object file", path.display());
    dlopen(path).map_err(|message| Some(message).filter(|it| !it.starts_with(&missing)))
}

/// Looks whether a file has the parts that its headers promise.
fn is_cut_off(path: &Path) -> io::Result<bool> {
    // What blocks when opened is not waited for.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let length = file.metadata()?.len();
    let mut head = [0; elf::HEAD];
    let read = file.read_at(&mut head, 0)?;
    Ok(elf::is_cut_off(head.get(..read).unwrap_or_default(), length))
}

/// The paths to try. A name that begins with a slash is a path without its ending. Others are
/// looked for in the directories of plugins and, if there is no slash inside (with one the file
/// would be looked for in the current directory), on the library path.
fn places(name: &[u8], directories: &[PathBuf]) -> Vec<PathBuf> {
    if name.starts_with(b"/") {
        let path = [name, ending().as_bytes()].concat();
        return vec![PathBuf::from(OsString::from_vec(path))];
    }
    let file = file_name(name);
    let mut places: Vec<_> =
        directories.iter().map(|directory| directory.join(Path::new(&file))).collect();
    if !name.contains(&b'/') {
        places.push(PathBuf::from(file));
    }
    places
}

/// dlopen(3), with its message.
fn dlopen(path: &Path) -> Result<(), String> {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return Err("the path has a NUL inside".to_owned());
    };
    // SAFETY: a C string; the constructors of a plugin are made to run here.
    if !unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) }.is_null() {
        return Ok(());
    }
    // SAFETY: the message is the thread's own and valid until its next dl call.
    unsafe {
        let message = libc::dlerror();
        if message.is_null() {
            return Err("dlopen failed without a reason".to_owned());
        }
        Err(CStr::from_ptr(message).to_string_lossy().into_owned())
    }
}

/// A file of the plugin with this name, but for another private ABI: its path and that ABI.
pub(crate) fn other_abi(name: &[u8], directories: &[PathBuf]) -> Option<(PathBuf, u32)> {
    directories.iter().find_map(|directory| {
        let found = std::fs::read_dir(directory).ok()?.flatten().filter_map(|entry| {
            let abi = abi_of(entry.file_name().as_bytes(), name)?;
            (abi != PRIVATE_ABI).then(|| (entry.path(), abi))
        });
        found.max_by_key(|(_, abi)| *abi)
    })
}

/// The private ABI in the file name of the plugin with this name.
fn abi_of(file: &[u8], name: &[u8]) -> Option<u32> {
    let number = file.strip_prefix(b"lib")?.strip_prefix(name)?.strip_prefix(b"-rdmav")?;
    core::str::from_utf8(number.strip_suffix(b".so")?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::tests::Folder;

    #[test]
    fn names_become_paths() {
        let directories = [PathBuf::from("/a"), PathBuf::from("/b")];
        let list = |name: &str| -> Vec<String> {
            places(name.as_bytes(), &directories).iter().map(|p| p.display().to_string()).collect()
        };
        assert_eq!(
            list("rxe"),
            ["/a/librxe-rdmav65.so", "/b/librxe-rdmav65.so", "librxe-rdmav65.so"]
        );
        assert_eq!(list("/opt/libx"), ["/opt/libx-rdmav65.so"]);
        // Nothing is loaded from the current directory.
        assert_eq!(list("x/y"), ["/a/libx/y-rdmav65.so", "/b/libx/y-rdmav65.so"]);
    }

    #[test]
    fn files_that_are_no_plugins() {
        let folder = Folder::new("load");
        let directories = [folder.path().to_owned()];
        let missing = load(b"none", &directories).unwrap_err();
        assert_eq!(missing, Failure { name: b"none".to_vec(), fault: None });
        assert!(load(b"/none/x", &directories).is_err());
        assert!(load(&[b'x'; 5000], &directories).is_err());
        // Empty, text, an executable cut off, a directory.
        folder.write("libempty-rdmav65.so", b"");
        folder.write("libtext-rdmav65.so", &b"not an ELF file\n".repeat(100));
        let executable = std::fs::read("/proc/self/exe").unwrap();
        folder.write("libcut-rdmav65.so", &executable[..5000]);
        std::fs::create_dir(folder.path().join("libdir-rdmav65.so")).unwrap();
        for name in ["empty", "text", "cut", "dir"] {
            let failure = load(name.as_bytes(), &directories).unwrap_err();
            let fault = failure.fault.expect("the file is there");
            assert!(fault.contains(&format!("lib{name}-rdmav65.so")), "{fault}");
        }
    }

    #[test]
    fn plugins_of_other_releases_are_seen() {
        let folder = Folder::new("other");
        let directories = [PathBuf::from("/nowhere"), folder.path().to_owned()];
        assert_eq!(other_abi(b"mlx5", &directories), None);
        for file in
            ["libmlx5-rdmav34.so", "libmlx5-rdmav57.so", "libmlx5-rdmav65.so", "libmlx5-x.so"]
        {
            folder.write(file, b"");
        }
        let path = folder.path().join("libmlx5-rdmav57.so");
        assert_eq!(other_abi(b"mlx5", &directories), Some((path, 57)));
        assert_eq!(other_abi(b"mlx", &directories), None);
    }
}
