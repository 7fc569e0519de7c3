//! `cargo xtask demo`: builds the library and shows it doing its main job, real verbs programs on
//! an RDMA device of a real kernel.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::sh::Cmd;
use crate::vm::{Suite, Vm};
use crate::{packages, paths};

/// What runs in the guest.
const SCRIPT: &str = include_str!("../guest/demo.sh");

/// Runs the demonstration and prints what the programs print.
pub(crate) fn run() -> Result<ExitCode> {
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
