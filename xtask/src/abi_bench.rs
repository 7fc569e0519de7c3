//! `cargo xtask bench control`: the control path of upstream's library and of ours.
//!
//! System calls and times on rxe in one boot of a virtual machine; instructions, which repeat
//! exactly, under callgrind in the same root file system on this machine's kernel, where there is
//! no device; and the sizes of the files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use crate::abi_suite;
use crate::error::{Context, Error, Result};
use crate::paths;
use crate::vm::{Suite, Vm, chroot};

/// What `cargo xtask bench` can do.
const USAGE: &str = "\
usage: cargo xtask bench control [--lib FILE] [--rounds N] [--turns N] [--no-vm]
       cargo xtask bench urxe ..., the device inside the library

  compares Debian's libibverbs 65 with FILE (the release build): instructions of dlopen and of the
  first list without a device, sizes, and on rxe in a virtual machine system calls and times of
  each operation (N rounds of each, 100; both libraries in turn, 5 times); --no-vm leaves that out
";

/// Where the root file system has upstream's library.
const UPSTREAM: &str = "/usr/lib/x86_64-linux-gnu/libibverbs.so.1";

/// Where it has ours.
const OURS: &str = "/share/ours/libibverbs.so.1";

/// The part of upstream's instructions that loading and listing without a device may take.
const INSTRUCTIONS: f64 = 0.35;

/// Prints the instructions of each library and part; then the bytes of the stripped files.
const COUNT: &str = r#"
set -e
for library in "$@"; do
    for part in none load list; do
        valgrind --tool=callgrind --callgrind-out-file=/dev/null \
            /share/programs/control "$library" $part 2>&1 |
            sed -n 's/.*Collected : //p'
    done
done
for library in "$@" /usr/lib/x86_64-linux-gnu/libnl-route-3.so.200 \
    /usr/lib/x86_64-linux-gnu/libnl-3.so.200; do
    strip -o /tmp/stripped "$library"
    stat -c %s /tmp/stripped
done
"#;

/// The longest that all measuring in the virtual machine may take.
const TIMEOUT: Duration = Duration::from_secs(1800);

/// `cargo xtask bench`.
pub(crate) fn main(args: &[String]) -> Result<ExitCode> {
    let mut args = args.iter();
    if args.next().map(String::as_str) != Some("control") {
        return Err(Error::new(format!("what to measure?\n\n{USAGE}")));
    }
    let mut library = paths::target().join("release/libibverbs.so");
    let (mut rounds, mut turns, mut in_vm) = ("100".to_owned(), "5".to_owned(), true);
    while let Some(arg) = args.next() {
        if arg == "--no-vm" {
            in_vm = false;
            continue;
        }
        let value =
            args.next().ok_or_else(|| Error::new(format!("{arg} needs a value\n\n{USAGE}")))?;
        match arg.as_str() {
            "--lib" => library = value.into(),
            "--rounds" => rounds.clone_from(value),
            "--turns" => turns.clone_from(value),
            _ => return Err(Error::new(format!("unknown option '{arg}'\n\n{USAGE}"))),
        }
    }
    let share = prepare(&library)?;
    println!("{}", instructions(&share)?);
    if in_vm {
        println!("{}", control(&share, &rounds, &turns)?);
    }
    Ok(ExitCode::SUCCESS)
}

/// A share with the compiled programs and with the library under test.
pub(crate) fn prepare(library: &Path) -> Result<PathBuf> {
    let share = paths::scratch("bench")?;
    abi_suite::compile(&share)?;
    let folder = paths::make_dir(share.join("ours"))?;
    paths::copy(library, &folder.join("libibverbs.so.1"))?;
    Ok(share)
}

/// Instructions and sizes as a text, or an error if they are over the limits.
pub(crate) fn instructions(share: &Path) -> Result<String> {
    paths::write(&share.join("count"), COUNT)?;
    let command = ["sh", "/share/count", UPSTREAM, OURS].map(str::to_owned);
    let output = chroot::command(Suite::Forky, Some(share), &command)?.output()?;
    let numbers: Vec<u64> = output
        .lines()
        .map(|line| line.trim().parse().context(|| format!("no number: {line}")))
        .collect::<Result<_>>()?;
    let [none, load, list, our_none, our_load, our_list, size, our_size, route, nl] =
        numbers.as_slice()
    else {
        return Err(Error::new(format!("callgrind printed {} numbers", numbers.len())));
    };
    let row = |what: &str, theirs: u64, ours: u64| {
        let ratio = ours as f64 / theirs.max(1) as f64;
        (format!("{what:40} {theirs:10} {ours:10} {ratio:6.2}\n"), ratio)
    };
    let minus = |a: &u64, b: &u64| a.saturating_sub(*b);
    let mut text = format!("{:40} {:>10} {:>10} {:>6}\n", "", "upstream", "ours", "ratio");
    let (line, _) = row("dlopen, instructions", minus(load, none), minus(our_load, our_none));
    text.push_str(&line);
    let (line, ratio) =
        row("dlopen and list, instructions", minus(list, none), minus(our_list, our_none));
    text.push_str(&line);
    text.push_str(&row("file, bytes stripped", *size, *our_size).0);
    let (line, size_ratio) =
        row("file, with the libnl files it needs", size + route + nl, *our_size);
    text.push_str(&line);
    if ratio > INSTRUCTIONS || size_ratio >= 1.0 {
        return Err(Error::new(format!(
            "{text}at most {INSTRUCTIONS} of upstream's instructions and fewer bytes are wanted"
        )));
    }
    Ok(text)
}

/// System calls and times on rxe as a text, or an error if an operation takes more system calls
/// than upstream's.
pub(crate) fn control(share: &Path, rounds: &str, turns: &str) -> Result<String> {
    let script = format!(
        "exec python3 /share/abi-tests/bench/control.py /share/programs/control {UPSTREAM} {OURS} \
         {rounds} {turns}\n"
    );
    let result = Vm::new(Suite::Forky).share(share).run_script(&script, TIMEOUT)?;
    let output = result.output()?;
    if result.exit == 0 { Ok(output) } else { Err(Error::new(output)) }
}
