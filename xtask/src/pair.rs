//! A server and its client on this machine.

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::error::{Context, Result};

/// How often processes are looked at.
const TICK: Duration = Duration::from_millis(10);

/// How long a server may take until it listens.
const START: Duration = Duration::from_secs(60);

/// Runs `client` as soon as `server` listens on the TCP port; the output of both. Either is killed
/// when it takes longer than `patience`. What they print has to fit into a pipe.
pub(crate) fn run(
    server: Command,
    client: Command,
    port: u16,
    patience: Duration,
) -> Result<(Output, Output)> {
    let mut server = start(server)?;
    let limit = Instant::now() + START;
    while !listens(port) && Instant::now() < limit && matches!(server.try_wait(), Ok(None)) {
        std::thread::sleep(TICK);
    }
    let client = start(client).map(|client| end(client, patience));
    let server = end(server, patience)?;
    Ok((server, client??))
}

fn start(mut command: Command) -> Result<Child> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let program = command.get_program().to_string_lossy().into_owned();
    command.spawn().context(|| format!("cannot start {program}"))
}

/// The output of a program, which is killed if it takes too long.
fn end(mut child: Child, patience: Duration) -> Result<Output> {
    let limit = Instant::now() + patience;
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() > limit {
            let _ = child.kill();
        }
        std::thread::sleep(TICK);
    }
    child.wait_with_output().context(|| "cannot wait for a program".to_owned())
}

/// Whether a process listens on a TCP port.
pub(crate) fn listens(port: u16) -> bool {
    /// `TCP_LISTEN`, as /proc shows it.
    const LISTEN: &str = "0A";
    let port = format!(":{port:04X}");
    ["/proc/net/tcp", "/proc/net/tcp6"].iter().any(|table| {
        let Ok(text) = std::fs::read_to_string(table) else { return false };
        text.lines().any(|line| {
            let mut fields = line.split_whitespace().skip(1);
            let is_it = fields.next().is_some_and(|address| address.ends_with(&port));
            is_it && fields.nth(1) == Some(LISTEN)
        })
    })
}

/// All that a program printed.
pub(crate) fn text(output: &Output) -> String {
    let bytes = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&bytes).into_owned()
}
