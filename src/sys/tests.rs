//! What tests share: reproducible random bytes for parsers, and values that stay.

use crate::sync::atomic::{AtomicUsize, Ordering};

/// A value that stays as long as the process, where leak checkers find it. Takes no lock, so that a
/// forked child can keep something too.
pub(crate) fn keep<T>(value: T) -> &'static mut T {
    /// Begin of a chain.
    static LAST: AtomicUsize = AtomicUsize::new(0);
    let kept = Box::leak(Box::new((value, 0)));
    kept.1 = LAST.swap((&raw mut *kept).expose_provenance(), Ordering::Relaxed);
    &mut kept.0
}

/// How many mutated inputs a parser test tries; about a tenth of a second each.
pub(crate) const ROUNDS: usize = 20_000;

/// A small random number generator (xorshift64*), seeded so that failures can be repeated.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `bound` (at least 1).
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// Changes some bytes, cuts, repeats or inserts: what a fuzzer does.
    pub(crate) fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..1 + self.below(4) {
            let at = self.below(bytes.len());
            match self.below(5) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at.min(bytes.len()), self.next() as u8),
                2 => {
                    let tail = bytes.get(at..).unwrap_or_default().to_vec();
                    bytes.extend(tail);
                }
                3 => {
                    let interesting = [0, 1, 3, 4, 0x7f, 0x80, 0xff, b'\n', b' ', b'#'];
                    let value = interesting[self.below(interesting.len())];
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = value;
                    }
                }
                _ => {
                    let bit = self.below(8);
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= 1 << bit;
                    }
                }
            }
        }
    }
}

/// A folder for the files of a test, removed when dropped.
pub(crate) struct Folder(std::path::PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        use crate::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = format!("libibverbs-rs-{}-{count}-{name}", std::process::id());
        let path = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&path).expect("the folder for temporary files is writable");
        Folder(path)
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        &self.0
    }

    /// Writes a file and the directories to it.
    pub(crate) fn write(&self, file: &str, content: &[u8]) {
        let path = self.0.join(file);
        let directory = path.parent().expect("the file is below the folder");
        std::fs::create_dir_all(directory).expect("the folder is ours");
        std::fs::write(path, content).expect("the folder is ours");
    }

    /// The path of a file as a C string.
    pub(crate) fn c_path(&self, file: &str) -> std::ffi::CString {
        use std::os::unix::ffi::OsStrExt;
        std::ffi::CString::new(self.0.join(file).as_os_str().as_bytes()).expect("no NUL inside")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
