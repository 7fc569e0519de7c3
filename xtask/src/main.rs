//! The project's tasks: `cargo xtask <demo|test|bench|vm>`.

mod abi_bench;
mod abi_plugins;
mod abi_suite;
mod bindings;
mod cache;
mod demo;
mod dropin;
mod error;
mod fuzz;
mod headers;
mod install;
mod installed;
mod man;
mod matrix;
mod models;
mod packages;
mod pair;
mod paths;
mod sanitize;
mod sh;
mod symbols;
mod test;
#[cfg(test)]
mod texts;
mod tools;
mod urxe;
mod vm;

use std::process::ExitCode;

use error::{Context, Error, Result};

/// What `cargo xtask` can do.
const USAGE: &str = "\
usage: cargo xtask TASK

  demo      build the library and run real programs on its own device, which any machine has;
            demo --vm: on a kernel's RDMA device in a virtual machine
  test      all checks of the project; `cargo xtask test --list` shows which
  fuzz [SECONDS [TARGET]]  parsers and the device under libFuzzer, each target for so long (60)
  models [NAME]   models of the lock-free structures, in all orders in which threads can run
  headers   write the C headers in include/infiniband; `cargo xtask headers help` says more
  install, uninstall  the library, headers and manual below /usr/local or another folder
  deb       a Debian package that stands in for libibverbs1 and libibverbs-dev; --check tries it
  exports   write abi-tests/EXPORTS.md, the table of exports and their tests
  symbols [FILE]  compare the library's exports with the wanted ones
  dropin [FILE]   the library in the place of Debian's: abidiff, and does all that needs it load?
  bench control   system calls, times and instructions beside those of upstream's library
  bench urxe      the device inside the library beside UCX, libfabric and the machine's limits
  bindings  crates and Python packages that bind libibverbs, with an installation of the library
  urxe      tests and programs on the device inside the library; `cargo xtask urxe` says more
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
        "demo" => demo::run(rest),
        "test" => test::run(rest),
        "headers" => headers::main(rest),
        "fuzz" => report(fuzz::run(seconds(rest)?, rest.get(1).map_or("", String::as_str), 0)),
        "bindings" => bindings::main(rest),
        "models" => report(models::run(rest.first().map(String::as_str))),
        "urxe" => urxe::main(rest),
        "vm" => vm::cli::run(rest),
        "bench" => match rest.split_first() {
            Some((what, rest)) if what == "urxe" => urxe::bench::main(rest),
            _ => abi_bench::main(rest),
        },
        "install" => install::install(rest),
        "uninstall" => install::uninstall(rest),
        "deb" => install::deb::main(rest),
        "exports" => report(matrix::generate()),
        "symbols" => report(symbols::check(&library(rest)?)),
        "dropin" => {
            let library = library(rest)?;
            report(symbols::check(&library))?;
            report(dropin::check_abidiff(&library))?;
            report(dropin::check_loading_everywhere(&library))
        }
        "help" | "-h" | "--help" => {
            print!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        other => Err(Error::new(format!("unknown task '{other}'\n\n{USAGE}"))),
    }
}

/// The library that the argument names, or the release build.
fn library(args: &[String]) -> Result<std::path::PathBuf> {
    match args {
        [] => Ok(paths::target().join("release/libibverbs.so")),
        [file] => Ok(file.into()),
        _ => Err(Error::new("one library at most")),
    }
}

/// The number of seconds that the first argument says, or 60.
fn seconds(args: &[String]) -> Result<u64> {
    match args {
        [] => Ok(60),
        [number] | [number, _] => {
            number.parse().context(|| format!("{number} is no number of seconds"))
        }
        _ => Err(Error::new("one number of seconds and one name at most")),
    }
}

/// Shows what a check found.
fn report(found: Result<String>) -> Result<ExitCode> {
    println!("{}", found?);
    Ok(ExitCode::SUCCESS)
}
