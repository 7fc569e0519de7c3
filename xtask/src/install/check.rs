//! An installation in a folder of its own, as a user without rights makes one: the examples are
//! compiled against it and run, and nothing is left when it is removed.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::files::{self, Places};
use super::write;
use crate::error::{Context, Error, Result};
use crate::paths;
use crate::sh::Cmd;

/// What it takes beside the library.
pub(crate) const PACKAGES: &[&str] = &["gcc", "libc6-dev", "pkgconf", "python3"];

/// The port on which a server of the examples waits.
const PORT: u16 = 18555;

/// How long a server may take to get there, and a pair to its end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Installs `library`, uses it and removes it.
pub(crate) fn check(library: &Path) -> Result<String> {
    let prefix = paths::scratch("installation")?;
    let places = Places::new(prefix.clone(), None);
    let installed = files::all(&places, library)?;
    let count = write::install(&installed, Path::new("/"), &places.record())?;
    let examples = paths::checkout().join("examples");
    let program = paths::scratch("examples")?.join("rc_pingpong");
    compile(&examples.join("rc_pingpong.c"), &program, &places)?;
    let in_c = vec![program.display().to_string()];
    let in_python =
        vec!["python3".to_owned(), examples.join("rc_pingpong.py").display().to_string()];
    let mut pairs = 0;
    for server in [&in_c, &in_python] {
        for client in [&in_c, &in_python] {
            pair(server, client, &places)?;
            pairs += 1;
        }
    }
    let removed = write::uninstall(Path::new("/"), &places.record())?;
    let left = paths::list(&prefix)?;
    if removed != count || !left.is_empty() {
        return Err(Error::new(format!("{removed} of {count} files removed; left: {left:?}")));
    }
    Ok(format!("{count} files, {pairs} pairs of examples in C and Python, nothing left"))
}

/// Compiles an example as its comment says, with what pkg-config tells.
fn compile(source: &Path, program: &Path, places: &Places) -> Result<()> {
    let flags = Cmd::new("pkg-config")
        .args(["--cflags", "--libs", "libibverbs"])
        .env("PKG_CONFIG_PATH", places.devdir.join("pkgconfig"))
        .output()?;
    Cmd::new("gcc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O2", "-o"])
        .arg(program)
        .arg(source)
        .args(flags.split_whitespace())
        .run()
}

/// Runs a server and a client.
fn pair(server: &[String], client: &[String], places: &Places) -> Result<()> {
    let mut waiting = start(server, &[], places)?;
    let limit = Instant::now() + PATIENCE;
    while !listens() && Instant::now() < limit && matches!(waiting.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let calling = start(client, &["127.0.0.1"], places)?;
    for (what, child) in [("client", calling), ("server", waiting)] {
        let output = end(child)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() || !text.contains("urxe0: 1000 round trips of 4096 bytes") {
            let error = String::from_utf8_lossy(&output.stderr);
            return Err(Error::new(format!(
                "the {what} of {} and {}: {}: {text}{error}",
                server.join(" "),
                client.join(" "),
                output.status
            )));
        }
    }
    Ok(())
}

/// Whether a server waits, which connecting to it would end.
fn listens() -> bool {
    let table = paths::read(Path::new("/proc/net/tcp")).unwrap_or_default();
    // The local address with its port in hexadecimal, then the remote one and the state: 0A listens.
    let local = format!(":{PORT:04X} ");
    table.lines().any(|line| line.contains(&local) && line.contains(" 0A "))
}

/// Starts an example with GID 1 of the device inside the library.
fn start(command: &[String], arguments: &[&str], places: &Places) -> Result<Child> {
    let (program, first) = command.split_first().ok_or_else(|| Error::new("no command"))?;
    Command::new(program)
        .args(first)
        .arg("1")
        .args(arguments)
        .env("IBV_DRIVERS", "urxe")
        .env("LD_LIBRARY_PATH", &places.libdir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context(|| format!("cannot start {program}"))
}

/// Waits for a program, which is killed when it takes too long.
fn end(mut child: Child) -> Result<Output> {
    let limit = Instant::now() + PATIENCE;
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() > limit {
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().context(|| "cannot wait for an example".to_owned())
}
