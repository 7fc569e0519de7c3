//! Directories and processes for tests.

use crate::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::path::{Path, PathBuf};

use super::Host;
use super::directory::Directory;
use crate::sys::tests::keep;

/// A directory of a test, removed in the end.
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    pub(crate) fn new() -> Scratch {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = format!("/dev/shm/urxe-test-{}-{number}", std::process::id());
        std::fs::create_dir_all(&path).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .unwrap();
        Scratch { path: path.into() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn directory(&self) -> Directory {
        let path = std::ffi::CString::new(self.path.to_str().unwrap()).unwrap();
        // SAFETY: cannot fail.
        Directory::open_at(&path, unsafe { libc::geteuid() }).unwrap()
    }

    /// A host in this directory, not that of the process.
    pub(crate) fn host(&self) -> &'static Host {
        keep(Host::new(self.directory()).unwrap())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Set in a forked process of a test.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// Lets panics of children be seen: what the test harness captures there nobody would show. This is
/// done before there are any, as another thread may be about a panic of its own when a child begins.
fn prepare_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !IS_CHILD.load(Ordering::Relaxed) {
                return usual(info);
            }
            let text = format!("child: {info}\n");
            // SAFETY: the text is valid for its length.
            unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
        }));
    });
}

/// A forked process of a test. It runs a closure and ends; a panic in it fails the test.
pub(crate) struct Child {
    pid: i32,
    status: Option<i32>,
}

impl Child {
    /// Forks. Other threads of the test process do not exist in the child; what they held stays
    /// held, so the closure keeps to what it made itself.
    pub(crate) fn start(body: impl FnOnce()) -> Child {
        prepare_panics();
        // SAFETY: the child runs the closure and ends without clean-up.
        match unsafe { libc::fork() } {
            0 => {
                IS_CHILD.store(true, Ordering::Relaxed);
                // A test that is killed leaves no process behind, however long that would have run.
                // SAFETY: numbers alone.
                unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
                let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
                // SAFETY: ends the process.
                unsafe { libc::_exit(i32::from(outcome.is_err())) }
            }
            pid => {
                assert!(pid > 0, "fork");
                Child { pid, status: None }
            }
        }
    }

    /// As [`start`](Self::start); waits until the child has said a number, and returns that too.
    pub(crate) fn start_and_say(body: impl FnOnce(&dyn Fn(u32))) -> (Child, u32) {
        let mut pipe = [0; 2];
        // SAFETY: room for two descriptors.
        assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
        let child = Child::start(|| {
            body(&|number: u32| {
                let bytes = number.to_ne_bytes();
                // SAFETY: four bytes.
                unsafe { libc::write(pipe[1], bytes.as_ptr().cast(), bytes.len()) };
            });
        });
        let mut number = [0; 4];
        // SAFETY: room for four bytes; the descriptors are ours.
        let got = unsafe {
            libc::close(pipe[1]);
            let got = libc::read(pipe[0], number.as_mut_ptr().cast(), number.len());
            libc::close(pipe[0]);
            got
        };
        assert_eq!(got, 4, "the child has said nothing");
        (child, u32::from_ne_bytes(number))
    }

    /// Process number.
    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// Stops the process, and waits until it is.
    pub(crate) fn stop(&self) {
        // SAFETY: a child that was not waited for; nobody asks for the status.
        unsafe {
            libc::kill(self.pid, libc::SIGSTOP);
            libc::waitpid(self.pid, core::ptr::null_mut(), libc::WUNTRACED);
        }
    }

    /// Lets a process go on that was stopped.
    pub(crate) fn go_on(&self) {
        // SAFETY: as above.
        unsafe { libc::kill(self.pid, libc::SIGCONT) };
    }

    /// Kills the process, and waits until it is gone.
    pub(crate) fn kill(&mut self) {
        // SAFETY: a child that was not waited for.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
        self.wait();
    }

    /// Waits for the end of the process, which must be a good one.
    #[track_caller]
    pub(crate) fn join(&mut self) {
        assert_eq!(self.wait(), 0, "the child failed");
    }

    fn wait(&mut self) -> i32 {
        *self.status.get_or_insert_with(|| {
            let mut status = 0;
            // SAFETY: room for the status.
            while unsafe { libc::waitpid(self.pid, &raw mut status, 0) } < 0 {
                assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EINTR));
            }
            status
        })
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.kill();
        }
    }
}
