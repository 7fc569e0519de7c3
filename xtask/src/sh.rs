//! Running commands: what runs is shown, its output goes to a log, and nothing outlives its time.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::error::{Context, Error, Result};
use crate::paths;

/// How often a running command is looked at.
const TICK: Duration = Duration::from_millis(20);

/// How many of the last lines of output an error shows.
const TAIL: usize = 15;

/// A command to run, with its output in a log file.
#[derive(Debug)]
pub(crate) struct Cmd {
    command: Command,
    shown: String,
    name: String,
    timeout: Duration,
    log: Option<PathBuf>,
    quiet: bool,
}

/// How a command that could be started came to its end.
#[derive(Debug)]
pub(crate) struct Finished {
    /// The exit code as a shell counts it: 128 and the signal's number after a signal.
    pub(crate) code: i32,
    /// Whether it ran out of time, and was killed for that.
    pub(crate) timed_out: bool,
    /// The file with its standard output and standard error.
    pub(crate) log: PathBuf,
}

impl Cmd {
    /// A command without arguments, that may run for ten minutes.
    pub(crate) fn new(program: impl AsRef<Path>) -> Cmd {
        let program = program.as_ref();
        let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy();
        Cmd {
            command: Command::new(program),
            shown: program.display().to_string(),
            name: name.into_owned(),
            timeout: Duration::from_secs(600),
            log: None,
            quiet: false,
        }
    }

    /// Adds an argument.
    pub(crate) fn arg(mut self, arg: impl AsRef<std::ffi::OsStr>) -> Cmd {
        let arg = arg.as_ref();
        self.shown.push(' ');
        self.shown.push_str(&quoted(&arg.to_string_lossy()));
        self.command.arg(arg);
        self
    }

    /// Adds several arguments.
    pub(crate) fn args<A: AsRef<std::ffi::OsStr>>(self, args: impl IntoIterator<Item = A>) -> Cmd {
        args.into_iter().fold(self, Cmd::arg)
    }

    /// Sets a variable of the command's environment.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Cmd {
        let value = value.as_ref();
        self.shown.insert_str(0, &format!("{name}={} ", quoted(&value.to_string_lossy())));
        self.command.env(name, value);
        self
    }

    /// Runs the command in another folder than the current one.
    pub(crate) fn dir(mut self, dir: &Path) -> Cmd {
        self.command.current_dir(dir);
        self
    }

    /// Kills the command and all that it started after this time.
    pub(crate) fn timeout(mut self, timeout: Duration) -> Cmd {
        self.timeout = timeout;
        self
    }

    /// Writes the output to this file instead of to one named after the program.
    pub(crate) fn log(mut self, log: PathBuf) -> Cmd {
        self.log = Some(log);
        self
    }

    /// Does not show the command before it runs.
    pub(crate) fn quiet(mut self) -> Cmd {
        self.quiet = true;
        self
    }

    /// Runs the command; anything but success is an error that ends in the last lines of output.
    pub(crate) fn run(self) -> Result<()> {
        let shown = self.shown.clone();
        let finished = self.finish()?;
        finished.check(&shown)
    }

    /// Runs the command and hands back its standard output and error; it has to succeed.
    pub(crate) fn output(self) -> Result<String> {
        let shown = self.shown.clone();
        let finished = self.finish()?;
        finished.check(&shown)?;
        paths::read(&finished.log)
    }

    /// Runs the command to its end, whatever that is.
    pub(crate) fn finish(mut self) -> Result<Finished> {
        let log = match self.log.take() {
            Some(log) => log,
            None => paths::logs()?.join(format!("{}-{}.log", self.name, serial())),
        };
        if !self.quiet {
            println!("+ {}", self.shown);
        }
        let open =
            |file: &Path| File::create(file).context(|| format!("cannot write {}", file.display()));
        let stdout = open(&log)?;
        let stderr = stdout.try_clone().context(|| "cannot share the log".to_owned())?;
        let child = self
            .command
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .process_group(0)
            .spawn()
            .context(|| format!("cannot run {}", self.name))?;
        let (status, timed_out) = wait(child, self.timeout)?;
        let signal = status.signal().map_or(-1, |signal| 128 + signal);
        Ok(Finished { code: status.code().unwrap_or(signal), timed_out, log })
    }
}

impl Finished {
    /// An error unless the command succeeded.
    fn check(&self, shown: &str) -> Result<()> {
        if self.code == 0 && !self.timed_out {
            return Ok(());
        }
        let how = if self.timed_out {
            "ran out of time".into()
        } else {
            format!("exit code {}", self.code)
        };
        let output = paths::read(&self.log)?;
        Err(Error::new(format!(
            "{shown}\n  {how}; the whole output is in {}, its end:\n{}",
            self.log.display(),
            tail(&output, TAIL)
        )))
    }
}

/// The last `count` lines of `text`, indented.
pub(crate) fn tail(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(count);
    lines[from..].iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// Waits for `child`, and kills its whole process group when its time is over.
fn wait(mut child: Child, timeout: Duration) -> Result<(ExitStatus, bool)> {
    let group = child.id();
    let end = Instant::now() + timeout;
    loop {
        if let Some(status) = child.try_wait().context(|| "cannot wait for a command".to_owned())? {
            return Ok((status, false));
        }
        if Instant::now() >= end {
            break;
        }
        std::thread::sleep(TICK);
    }
    // The shell's own kill: the program of that name is not on every machine.
    let killed = Command::new("sh").arg("-c").arg(format!("kill -KILL -{group}")).status();
    killed.context(|| format!("cannot kill process group {group}"))?;
    let status = child.wait().context(|| "cannot wait for a killed command".to_owned())?;
    Ok((status, true))
}

/// A number that no other log of this process has, with the process's own in front.
fn serial() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// `text` as a shell would take it for one word.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Cmd, quoted, tail};

    fn shell(script: &str) -> Cmd {
        Cmd::new("sh").args(["-c", script]).quiet()
    }

    #[test]
    fn a_failure_shows_the_end_of_the_output() {
        let error = shell("seq 100; echo broken >&2; exit 7").run().unwrap_err().to_string();
        assert!(error.contains("exit code 7") && error.ends_with("100\n    broken"), "{error}");
        assert!(!error.contains("\n    50\n"), "{error}");
    }

    #[test]
    fn what_hangs_is_killed_with_all_that_it_started() {
        let hangs = shell("sleep 1000 & echo $!; wait").timeout(Duration::from_millis(300));
        let finished = hangs.finish().unwrap();
        assert!(finished.timed_out);
        assert_eq!(finished.code, 128 + 9);
        let child = std::fs::read_to_string(&finished.log).unwrap();
        let stat = format!("/proc/{}/stat", child.trim());
        // The killed child goes soon, or waits to be collected by the first process.
        let is_gone = || std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "));
        let went = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            is_gone()
        });
        assert!(went, "process {child} lives on");
    }

    #[test]
    fn text_for_people() {
        assert_eq!(tail("a\nb\nc\n", 2), "    b\n    c");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("a=b"), "a=b");
    }
}
