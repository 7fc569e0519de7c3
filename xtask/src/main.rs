//! The project's tasks: `cargo xtask <demo|test|bench|vm>`.

mod cache;
mod error;
mod packages;
mod paths;
mod sh;
mod vm;

use std::process::ExitCode;

use error::{Error, Result};

/// What `cargo xtask` can do.
const USAGE: &str = "\
usage: cargo xtask TASK

  vm        RDMA devices of real Debian kernels in a virtual machine; `cargo xtask vm` says more
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the task that the first argument names.
fn dispatch(args: &[String]) -> Result<ExitCode> {
    let Some((task, rest)) = args.split_first() else {
        return Err(Error::new(format!("no task given\n\n{USAGE}")));
    };
    match task.as_str() {
        "vm" => vm::cli::run(rest),
        "help" | "-h" | "--help" => {
            print!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        other => Err(Error::new(format!("unknown task '{other}'\n\n{USAGE}"))),
    }
}
