//! Booting a suite's kernel, running one script in it, and getting back what the script left.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Suite, initrd, rootfs};
use crate::error::{Context, Error, Result};
use crate::packages;
use crate::paths;
use crate::sh::{Cmd, tail};

/// The first process of the guest.
const INIT: &str = include_str!("../../guest/init.sh");

/// How long a boot may take, beside the time of the script: ten seconds when nothing else runs.
const BOOT_TIME: Duration = Duration::from_secs(300);

/// How often a machine boots at most whose kernel dies before the script has begun. Under emulation it
/// does now and then, while one CPU changes its code and another runs it.
const BOOTS: u32 = 3;

/// The exit status by which the guest says that it did not get as far as the script.
const NOT_READY: i32 = 125;

/// A virtual machine to be: two CPUs, `rxe0` and `rxe1` over a pair of virtual Ethernet devices.
///
/// Its root is a suite's root file system, which stays as it is: writes go to the guest's memory.
/// The share is a folder that host and guest both see, at `/share` in the guest.
#[derive(Debug)]
pub(crate) struct Vm {
    suite: Suite,
    share: Option<PathBuf>,
    hugepages: u32,
    replacement: Option<PathBuf>,
    hidden: Vec<String>,
}

/// What a script in a virtual machine left behind.
#[derive(Debug)]
pub(crate) struct VmResult {
    /// The script's exit status.
    pub(crate) exit: i32,
    /// The share, with `output.txt` (what the script printed) and the script's own files.
    pub(crate) dir: PathBuf,
    /// The time from power-on to power-off.
    pub(crate) time: Duration,
}

impl VmResult {
    /// What the script printed to standard output and standard error.
    pub(crate) fn output(&self) -> Result<String> {
        paths::read(&self.dir.join("output.txt"))
    }

    /// An error with the end of the output, unless the script succeeded.
    pub(crate) fn success(&self) -> Result<()> {
        if self.exit == 0 {
            return Ok(());
        }
        Err(Error::new(format!(
            "the script in the virtual machine ended with exit status {}; {}/output.txt ends in:\n{}",
            self.exit,
            self.dir.display(),
            tail(&self.output()?, 20)
        )))
    }
}

impl Vm {
    /// A machine with the kernel and the packages of `suite`.
    pub(crate) fn new(suite: Suite) -> Vm {
        Vm { suite, share: None, hugepages: 0, replacement: None, hidden: Vec::new() }
    }

    /// Shares the folder `dir` instead of a new one.
    pub(crate) fn share(mut self, dir: &Path) -> Vm {
        self.share = Some(dir.to_owned());
        self
    }

    /// Sets aside this many huge pages.
    pub(crate) fn hugepages(mut self, count: u32) -> Vm {
        self.hugepages = count;
        self
    }

    /// Puts the library in the file `path` in the place of the installed `libibverbs.so.1`.
    pub(crate) fn replace_library(mut self, path: &Path) -> Vm {
        self.replacement = Some(path.to_owned());
        self
    }

    /// Removes the file `path`, as the guest sees it, for this boot.
    pub(crate) fn hide(mut self, path: &str) -> Vm {
        self.hidden.push(path.to_owned());
        self
    }

    /// Boots, runs `script` with `sh` as root in `/share`, and waits for the machine to switch off.
    pub(crate) fn run_script(self, script: &str, timeout: Duration) -> Result<VmResult> {
        packages::ensure(packages::FOR_VM)?;
        let root = rootfs::root(self.suite)?;
        let release = rootfs::kernel_release(&root)?;
        let work = paths::scratch(&format!("boot-{}", self.suite.name()))?;
        let share = match &self.share {
            Some(dir) => paths::make_dir(dir.clone())?,
            None => paths::scratch(&format!("share-{}", self.suite.name()))?,
        };
        self.fill_share(&share, script)?;
        let initrd = initrd::build(&root, &release, &work)?;
        let console = work.join("console.log");
        println!("+ boot Linux {release} ({})", self.suite.name());
        let mut boots = 1;
        let (finished, time) = loop {
            let qemu = qemu(&root, &release, &initrd, &share, &console);
            let start = Instant::now();
            let finished =
                qemu.log(work.join("qemu.log")).timeout(timeout + BOOT_TIME).quiet().finish()?;
            let time = start.elapsed();
            let has_begun = share.join("output.txt").exists();
            if has_begun || finished.timed_out || boots == BOOTS || !has_panicked(&console) {
                break (finished, time);
            }
            boots += 1;
            println!("+ the kernel died before the script began: boot {boots} of {BOOTS} at most");
        };

        let status = std::fs::read_to_string(share.join("status"));
        let exit = status.ok().and_then(|status| status.trim().parse().ok());
        match exit {
            Some(exit) if exit != NOT_READY => Ok(VmResult { exit, dir: share, time }),
            _ => {
                let how = if finished.timed_out { "ran out of time" } else { "stopped" };
                Err(Error::new(format!(
                    "the virtual machine {how} after {} s; its console ({}), QEMU's messages and \
                     the script's output end in:\n{}\n{}\n{}",
                    time.as_secs(),
                    console.display(),
                    end_of(&console),
                    end_of(&finished.log),
                    end_of(&share.join("output.txt")),
                )))
            }
        }
    }

    /// Writes what the guest's first process reads, and removes what an earlier one left.
    fn fill_share(&self, share: &Path, script: &str) -> Result<()> {
        for file in ["status", "output.txt"] {
            let file = share.join(file);
            if file.exists() {
                std::fs::remove_file(&file)
                    .context(|| format!("cannot remove {}", file.display()))?;
            }
        }
        let mut settings =
            format!("HUGEPAGES={}\nREPLACE=\nHIDE='{}'\n", self.hugepages, self.hidden.join(" "));
        if let Some(library) = &self.replacement {
            paths::copy(library, &share.join("replacement.so"))?;
            settings.push_str("REPLACE=/share/replacement.so\n");
        }
        paths::write(&share.join("settings"), settings)?;
        paths::write(&share.join("init"), INIT)?;
        paths::write(&share.join("script"), script)
    }
}

/// Whether the kernel says so on its console.
fn has_panicked(console: &Path) -> bool {
    std::fs::read(console)
        .is_ok_and(|text| String::from_utf8_lossy(&text).contains("Kernel panic - not syncing"))
}

/// QEMU with all its arguments.
fn qemu(root: &Path, release: &str, initrd: &Path, share: &Path, console: &Path) -> Cmd {
    let folder = |tag: &str, path: &Path, more: &str| {
        let path = path.display();
        [
            "-fsdev".to_owned(),
            format!("local,id={tag},path={path},security_model=none,multidevs=remap{more}"),
            "-device".to_owned(),
            format!("virtio-9p-pci,fsdev={tag},mount_tag={tag}"),
        ]
    };
    // The machine dies with this process, however that ends. Hardware help is not asked for: a
    // stock kernel hangs under some nested hypervisors. The emulator is slow at `rep movsb`, so
    // the guest is told not to prefer it. On a busy host the timer's first interrupts can come too
    // late for the kernel's test of them, which would be the end of the boot: it is left out.
    Cmd::new("setpriv")
        .args(["--pdeathsig", "KILL", "qemu-system-x86_64"])
        .args(["-accel", "tcg,thread=multi", "-cpu", "max,-erms,-fsrm"])
        .args(["-smp", "2", "-m", "2048"])
        .args(["-nodefaults", "-display", "none", "-no-reboot"])
        .arg("-serial")
        .arg(format!("file:{}", console.display()))
        .arg("-kernel")
        .arg(root.join(format!("boot/vmlinuz-{release}")))
        .arg("-initrd")
        .arg(initrd)
        .args(["-append", "console=ttyS0 loglevel=4 panic=-1 no_timer_check"])
        .args(folder("root", root, ",readonly=on"))
        .args(folder("share", share, ""))
}

/// The end of a log, or why there is none.
fn end_of(log: &Path) -> String {
    paths::read(log).map_or_else(|error| format!("    {error}"), |text| tail(&text, 15))
}
