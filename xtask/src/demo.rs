//! `cargo xtask demo`: builds the library and shows it doing its main job: real verbs programs on
//! the device inside the library, on any machine; with `--vm` on an RDMA device of a real kernel.

pub(crate) mod check;

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use crate::error::{Context, Error, Result};
use crate::sh::Cmd;
use crate::vm::{Suite, Vm};
use crate::{packages, pair, paths};

/// What runs in the guest.
const SCRIPT: &str = include_str!("../guest/demo.sh");
/// The programs that are shown.
pub(crate) const PROGRAMS: &[&str] = &["ibverbs-utils", "perftest"];
/// The longest that a program may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the demonstration that `args` name.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    match args {
        [] => inside(),
        [option] if option == "--vm" => in_machine(),
        _ => Err(Error::new("usage: cargo xtask demo [--vm]")),
    }
}

/// Two programs that talk to each other, and the line of their output that is shown.
struct Pair {
    command: &'static str,
    what: &'static str,
    /// Finds the result in what the client prints.
    result: fn(&str) -> Option<String>,
}

const PAIRS: &[Pair] = &[
    Pair {
        command: "ibv_rc_pingpong -d urxe0 -g 1 -n 1000 -s 4096 -p",
        what: "messages of 4 KiB, to and fro",
        result: |output| {
            let line = output.lines().find(|line| line.contains("usec/iter"))?;
            Some(format!("{} µs", line.rsplit(' ').nth(1)?))
        },
    },
    Pair {
        command: "ib_write_bw -d urxe0 -x 1 -F -n 2000 -s 65536 -p",
        what: "RDMA writes of 64 KiB",
        result: |output| Some(format!("{} MB/s", last_row(output)?.get(3)?)),
    },
    Pair {
        command: "ib_send_lat -d urxe0 -x 1 -F -n 1000 -s 8 -p",
        what: "messages of 8 bytes, one way",
        result: |output| Some(format!("{} µs", last_row(output)?.get(4)?)),
    },
];

/// The fields of the last row of numbers that perftest prints.
pub(crate) fn last_row(output: &str) -> Option<Vec<&str>> {
    let mut rows = output.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let is_number = |text: &&str| text.parse::<f64>().is_ok();
    rows.rfind(|row| row.len() > 4 && row.iter().all(is_number))
}

/// On the device inside the library.
fn inside() -> Result<ExitCode> {
    let start = Instant::now();
    println!("[1/3] packages: {}", PROGRAMS.join(" "));
    packages::ensure(PROGRAMS)?;
    packages::ensure(packages::FOR_BUILD)?;
    println!("[2/3] the library");
    Cmd::new("cargo").args(["build", "--release"]).dir(paths::checkout()).run()?;
    let library = paths::target().join("release/libibverbs.so");
    println!(
        "[3/3] Debian's programs, two processes each, on the device inside the library: no RDMA in \
         this machine or its kernel is needed. To try it yourself:\n\n    \
         export LD_PRELOAD={} IBV_DRIVERS=urxe\n",
        library.display()
    );
    let built = start.elapsed();
    let info = program(&library, "ibv_devinfo").output().context(|| "ibv_devinfo".to_owned())?;
    let text = String::from_utf8_lossy(&info.stdout);
    print!("$ ibv_devinfo\n{text}");
    let mut rows = vec![("ibv_devinfo", "the device", device_line(&text))];
    for (pair, port) in PAIRS.iter().zip(18700..) {
        let command = format!("{} {port}", pair.command);
        println!("$ {command} & {command} 127.0.0.1");
        let found = pair.run(&library, &command, port);
        rows.push((pair.command.split(' ').next().unwrap_or_default(), pair.what, found));
    }
    println!();
    for (program, what, found) in &rows {
        let found = found.as_ref().map_or_else(|error| format!("FAILED: {error}"), String::clone);
        println!("{program:16} {what:32} {found}");
    }
    let failed = rows.iter().filter(|(_, _, found)| found.is_err()).count();
    let outcome = if failed == 0 { "everything worked" } else { "something failed" };
    println!(
        "\n{outcome}; {:.1} s, and {:.1} s for packages and build",
        (start.elapsed() - built).as_secs_f64(),
        built.as_secs_f64()
    );
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The first device that `ibv_devinfo` shows, and the state of its port.
fn device_line(text: &str) -> Result<String> {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(name))?;
        line.split_whitespace().next()
    };
    match (field("hca_id:"), field("state:"), field("link_layer:")) {
        (Some(device), Some(state), Some(link)) => Ok(format!("{device}, {state}, {link}")),
        _ => Err(Error::new("it shows no device")),
    }
}

/// A program of Debian with our library and its device.
fn program(library: &Path, command: &str) -> Command {
    let mut words = command.split(' ');
    let mut program = Command::new(words.next().unwrap_or_default());
    program.args(words).env("LD_PRELOAD", library).env("IBV_DRIVERS", "urxe").stdin(Stdio::null());
    program
}

impl Pair {
    /// Runs both programs; the result, or what the client printed last.
    fn run(&self, library: &Path, command: &str, port: u16) -> Result<String> {
        let client = program(library, &format!("{command} 127.0.0.1"));
        let (server, client) = pair::run(program(library, command), client, port, PATIENCE)?;
        let found = (self.result)(&pair::text(&client));
        match found {
            Some(found) if client.status.success() && server.status.success() => Ok(found),
            _ => Err(Error::new(format!(
                "client {}: {}; server {}: {}",
                client.status,
                crate::sh::tail(&pair::text(&client), 3),
                server.status,
                crate::sh::tail(&pair::text(&server), 3)
            ))),
        }
    }
}

/// On a device of a real kernel.
fn in_machine() -> Result<ExitCode> {
    let start = Instant::now();
    println!("[1/3] packages: {}", packages::FOR_VM.join(" "));
    packages::ensure(packages::FOR_VM)?;
    packages::ensure(packages::FOR_BUILD)?;
    println!("[2/3] the library");
    Cmd::new("cargo").args(["build", "--release"]).dir(paths::checkout()).run()?;
    println!(
        "[3/3] Debian's programs on Linux 7.2 with two soft-RoCE devices, in a virtual machine \
         (the first time its root file system is made, which takes minutes)"
    );
    let share = paths::scratch("demo")?;
    let library = paths::make_dir(share.join("lib"))?.join("libibverbs.so.1");
    paths::copy(&paths::target().join("release/libibverbs.so"), &library)?;
    let result =
        Vm::new(Suite::Forky).share(&share).run_script(SCRIPT, Duration::from_secs(300))?;
    print!("{}", result.output()?);
    let outcome = if result.exit == 0 { "everything worked" } else { "something failed" };
    println!("\nvirtual machine  {:>4} s", result.time.as_secs());
    println!("in all           {:>4} s", start.elapsed().as_secs());
    println!("{outcome}");
    Ok(if result.exit == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
