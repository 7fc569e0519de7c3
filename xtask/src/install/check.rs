//! An installation in a folder of its own, as a user without rights makes one: the examples are
//! compiled against it and run, and nothing is left when it is removed.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::files::{self, Places};
use super::write;
use crate::error::{Error, Result};
use crate::sh::Cmd;
use crate::{pair, paths};

/// What it takes beside the library.
pub(crate) const PACKAGES: &[&str] = &["gcc", "libc6-dev", "pkgconf", "python3"];

/// The port on which a server of the examples waits.
const PORT: u16 = 18555;

/// How long a program may take.
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
    let (first, second) = (example(server, &[], places), example(client, &["127.0.0.1"], places));
    let (first, second) = pair::run(first, second, PORT, PATIENCE)?;
    for (what, output) in [("client", second), ("server", first)] {
        let text = pair::text(&output);
        if !output.status.success() || !text.contains("urxe0: 1000 round trips of 4096 bytes") {
            return Err(Error::new(format!(
                "the {what} of {} and {}: {}: {text}",
                server.join(" "),
                client.join(" "),
                output.status
            )));
        }
    }
    Ok(())
}

/// An example with GID 1 of the device inside the library.
fn example(words: &[String], arguments: &[&str], places: &Places) -> Command {
    let mut words = words.iter();
    let mut command = Command::new(words.next().map_or("", String::as_str));
    command
        .args(words)
        .arg("1")
        .args(arguments)
        .env("IBV_DRIVERS", "urxe")
        .env("LD_LIBRARY_PATH", &places.libdir);
    command
}
