//! Loading a plugin: which files may be it, newest private ABI first, and what is wrong with them
//! if none can be loaded.

use core::cell::RefCell;
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
use crate::provider_api::private_abi::PRIVATE_ABIS;
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

/// Why a plugin could not be loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Failure {
    /// The name that the configuration gives it.
    pub(crate) name: Vec<u8>,
    /// What dlopen(3) says of each of its files, which names the file; empty if there is none.
    pub(crate) faults: Vec<String>,
}

/// The directories of plugins, and what is in them.
pub(crate) struct Directories {
    paths: Vec<PathBuf>,
    /// The plugins in them, as far as they had to be listed.
    listed: RefCell<Vec<File>>,
}

/// A plugin in a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct File {
    /// The middle of the file name: the name that the configuration gives it.
    pub(crate) name: Vec<u8>,
    /// The number at its end, which need not be one that the library serves.
    pub(crate) private_abi: u32,
    pub(crate) path: PathBuf,
}

/// The private ABIs that the library serves below a limit, newest first.
fn served(below: Option<u32>) -> impl Iterator<Item = u32> {
    PRIVATE_ABIS.into_iter().filter(move |it| below.is_none_or(|limit| *it < limit))
}

impl Directories {
    /// Those of this machine, first those of `IBVERBS_RS_PLUGIN_PATH` (ignored in setuid programs).
    pub(crate) fn system() -> Directories {
        let own = env::get(PLUGIN_PATH).unwrap_or_default();
        let own = own.to_bytes().split(|byte| *byte == b':').filter(|path| path.starts_with(b"/"));
        let own = own.map(|path| PathBuf::from(OsStr::from_bytes(path)));
        Directories::new(own.chain(DIRECTORIES.iter().map(PathBuf::from)).collect())
    }

    pub(crate) fn new(paths: Vec<PathBuf>) -> Directories {
        Directories { paths, listed: RefCell::default() }
    }

    /// Their paths, for people.
    pub(crate) fn display(&self) -> String {
        let paths: Vec<_> = self.paths.iter().map(|path| path.display().to_string()).collect();
        paths.join(", ")
    }

    /// Loads the plugin with a name, for good: of all its files the one of the newest private ABI
    /// (below a limit, if there is one) that can be loaded. Its constructor registers it. Gives
    /// its private ABI.
    pub(crate) fn load(&self, name: &[u8], below: Option<u32>) -> Result<u32, Failure> {
        let mut faults = Vec::new();
        let mut faulty: Vec<PathBuf> = Vec::new();
        for (private_abi, path) in self.candidates(name, below) {
            match open(&path) {
                Ok(()) => {
                    log!(VERBS_LOG_INFO, "loaded plugin {}", path.display());
                    return Ok(private_abi);
                }
                Err(None) => log!(VERBS_LOG_DEBUG, "there is no {}", path.display()),
                // A file that is there tells more than those that are not.
                Err(Some(fault)) => {
                    log!(VERBS_LOG_INFO, "{fault}");
                    // One directory can be a link to another.
                    let real = path.canonicalize().unwrap_or(path);
                    if !faulty.contains(&real) {
                        faulty.push(real);
                        faults.push(fault);
                    }
                }
            }
        }
        Err(Failure { name: name.to_vec(), faults })
    }

    /// The files to try, with their private ABIs. A name that begins with a slash is a path without
    /// its ending. Others are looked for in the directories and, if there is no slash inside (with
    /// one the file would be looked for in the current directory), on the library path.
    fn candidates<'a>(
        &'a self,
        name: &'a [u8],
        below: Option<u32>,
    ) -> impl Iterator<Item = (u32, PathBuf)> + 'a {
        let is_path = name.starts_with(b"/");
        let is_plain = !name.contains(&b'/');
        let path =
            move |abi| (abi, PathBuf::from(OsString::from_vec([name, &ending(abi)].concat())));
        let in_directories = move |abi| {
            self.paths.iter().map(move |directory| (abi, directory.join(file_name(name, abi))))
        };
        let given = is_path.then(|| served(below).map(path));
        let nested = (!is_path && !is_plain).then(|| served(below).flat_map(in_directories));
        // What is there in most cases is opened without a look into the directories.
        let newest = (is_plain && below.is_none()).then(|| in_directories(PRIVATE_ABIS[0]));
        let rest = below.unwrap_or(PRIVATE_ABIS[0]);
        let listed = is_plain.then(|| {
            let files = core::iter::once_with(|| self.files(name)).flatten();
            let files =
                files.filter(move |file| served(Some(rest)).any(|it| it == file.private_abi));
            files.map(|file| (file.private_abi, file.path))
        });
        let on_library_path =
            is_plain.then(|| served(below).map(|abi| (abi, PathBuf::from(file_name(name, abi)))));
        let in_places = given.into_iter().flatten().chain(nested.into_iter().flatten());
        let in_places = in_places.chain(newest.into_iter().flatten());
        let in_places = in_places.chain(listed.into_iter().flatten());
        in_places.chain(on_library_path.into_iter().flatten())
    }

    /// The files in the directories that are the plugin with a name, newest private ABI first.
    fn files(&self, name: &[u8]) -> Vec<File> {
        let of_name = |files: &[File]| -> Vec<File> {
            files.iter().filter(|file| file.name == name).cloned().collect()
        };
        let known = of_name(&self.listed.borrow());
        if !known.is_empty() {
            return known;
        }
        let files = self.list();
        let found = of_name(&files);
        *self.listed.borrow_mut() = files;
        found
    }

    /// All plugins in the directories, newest private ABI first.
    fn list(&self) -> Vec<File> {
        let directories = self.paths.iter().filter_map(|path| std::fs::read_dir(path).ok());
        let entries = directories.flat_map(|directory| directory.flatten());
        let mut files: Vec<_> = entries
            .filter_map(|entry| {
                let file = entry.file_name();
                let (name, private_abi) = parse_file_name(file.as_bytes())?;
                Some(File { name: name.to_vec(), private_abi, path: entry.path() })
            })
            .collect();
        files.sort_by_key(|file| core::cmp::Reverse(file.private_abi));
        files
    }

    /// A file in the directories that is the plugin with a name, but for a private ABI that the
    /// library does not serve.
    pub(crate) fn unserved(&self, name: &[u8]) -> Option<File> {
        self.files(name).into_iter().find(|file| !PRIVATE_ABIS.contains(&file.private_abi))
    }
}

/// The file name of the plugin with a name, in a directory or on the library path.
fn file_name(name: &[u8], private_abi: u32) -> OsString {
    OsString::from_vec([b"lib", name, &ending(private_abi)].concat())
}

/// `-rdmav65.so`
fn ending(private_abi: u32) -> Vec<u8> {
    format!("-rdmav{private_abi}.so").into_bytes()
}

/// The name and the private ABI of a plugin from its file name, `libNAME-rdmavNN.so`.
pub(crate) fn parse_file_name(file: &[u8]) -> Option<(&[u8], u32)> {
    const MIDDLE: &[u8] = b"-rdmav";
    let inner = file.strip_prefix(b"lib")?.strip_suffix(b".so")?;
    let at = inner.windows(MIDDLE.len()).rposition(|bytes| bytes == MIDDLE)?;
    let (name, number) = inner.split_at(at);
    let number = number.strip_prefix(MIDDLE)?;
    let is_number = number.iter().all(u8::is_ascii_digit) && !number.starts_with(b"0");
    let number = is_number.then(|| core::str::from_utf8(number).ok()?.parse().ok())??;
    (!name.is_empty()).then_some((name, number))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::tests::Folder;

    fn tried(directories: &Directories, name: &str, below: Option<u32>) -> Vec<String> {
        let candidates = directories.candidates(name.as_bytes(), below);
        candidates.map(|(_, path)| path.display().to_string()).collect()
    }

    #[test]
    fn names_become_paths() {
        let directories = Directories::new(vec![PathBuf::from("/a"), PathBuf::from("/b")]);
        let list = |name| tried(&directories, name, None);
        let on_library_path = [
            "librxe-rdmav65.so",
            "librxe-rdmav64.so",
            "librxe-rdmav59.so",
            "librxe-rdmav57.so",
            "librxe-rdmav34.so",
        ];
        let first = ["/a/librxe-rdmav65.so", "/b/librxe-rdmav65.so"];
        assert_eq!(list("rxe"), [&first[..], &on_library_path].concat());
        assert_eq!(tried(&directories, "rxe", Some(59)), on_library_path[3..]);
        let paths = list("/opt/libx");
        assert_eq!((paths.len(), paths[0].as_str()), (5, "/opt/libx-rdmav65.so"));
        assert_eq!(paths[4], "/opt/libx-rdmav34.so");
        // Nothing is loaded from the current directory.
        let paths = list("x/y");
        assert_eq!(paths.len(), 10);
        assert_eq!(paths[..2], ["/a/libx/y-rdmav65.so", "/b/libx/y-rdmav65.so"]);
    }

    #[test]
    fn the_newest_private_abi_of_all_directories_is_first() {
        let (first, second) = (Folder::new("first"), Folder::new("second"));
        for file in
            ["librxe-rdmav34.so", "librxe-rdmav59.so", "librxe-rdmav66.so", "x", "librxe.so"]
        {
            first.write(file, b"");
        }
        for file in
            ["librxe-rdmav34.so", "librxe-rdmav64.so", "librxe-rdmav65.so", "libsiw-rdmav33.so"]
        {
            second.write(file, b"");
        }
        let paths = [first.path(), Path::new("/nowhere"), second.path()].map(Path::to_owned);
        let directories = Directories::new(paths.to_vec());
        let of = |folder: &Folder, abi| {
            folder.path().join(format!("librxe-rdmav{abi}.so")).display().to_string()
        };
        let expected = [of(&second, 64), of(&first, 59), of(&first, 34), of(&second, 34)];
        let all = tried(&directories, "rxe", None);
        assert_eq!(all[3..7], expected);
        assert_eq!(all[7], "librxe-rdmav65.so");
        assert_eq!(tried(&directories, "rxe", Some(64))[..3], expected[1..]);
        let unserved = |name: &str| directories.unserved(name.as_bytes()).map(|it| it.private_abi);
        assert_eq!(unserved("rxe"), Some(66));
        // As in Debian 11.
        assert_eq!(unserved("siw"), Some(33));
        assert_eq!(unserved("mlx5"), None);
        // What came later is seen.
        second.write("libmlx5-rdmav57.so", b"");
        let path = second.path().join("libmlx5-rdmav57.so").display().to_string();
        assert_eq!(tried(&directories, "mlx5", None)[3], path);
    }

    #[test]
    fn file_names_of_plugins() {
        assert_eq!(parse_file_name(b"librxe-rdmav34.so"), Some((&b"rxe"[..], 34)));
        assert_eq!(parse_file_name(b"liba-rdmav1-rdmav100.so"), Some((&b"a-rdmav1"[..], 100)));
        for other in [
            "librxe-rdmav.so",
            "librxe-rdmav+5.so",
            "librxe-rdmav065.so",
            "librxe-rdmav4294967296.so",
            "librxe-rdmav65.so.1",
            "librxe.so",
            "lib-rdmav65.so",
            "rxe-rdmav65.so",
            "",
        ] {
            assert_eq!(parse_file_name(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn files_that_are_no_plugins() {
        let folder = Folder::new("load");
        std::os::unix::fs::symlink(".", folder.path().join("again")).unwrap();
        let directories =
            Directories::new(vec![folder.path().to_owned(), folder.path().join("again")]);
        let load = |name: &[u8]| directories.load(name, None);
        let missing = load(b"none").unwrap_err();
        assert_eq!(missing, Failure { name: b"none".to_vec(), faults: Vec::new() });
        assert!(load(b"/none/x").is_err());
        assert!(load(&[b'x'; 5000]).is_err());
        // Empty, text, an executable cut off, a directory.
        folder.write("libempty-rdmav65.so", b"");
        folder.write("libtext-rdmav59.so", &b"not an ELF file\n".repeat(100));
        let executable = std::fs::read("/proc/self/exe").unwrap();
        folder.write("libcut-rdmav34.so", &executable[..5000]);
        std::fs::create_dir(folder.path().join("libdir-rdmav65.so")).unwrap();
        folder.write("libdir-rdmav57.so", b"");
        for (name, files) in [
            ("empty", &["libempty-rdmav65.so"][..]),
            ("text", &["libtext-rdmav59.so"]),
            ("cut", &["libcut-rdmav34.so"]),
            ("dir", &["libdir-rdmav65.so", "libdir-rdmav57.so"]),
        ] {
            let failure = load(name.as_bytes()).unwrap_err();
            assert_eq!(failure.faults.len(), files.len(), "{:?}", failure.faults);
            for (fault, file) in failure.faults.iter().zip(files) {
                assert!(fault.contains(file), "{fault}");
            }
        }
    }
}
