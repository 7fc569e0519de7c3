//! The programs of abi-tests, run on upstream's library and on ours in one boot of a virtual
//! machine, and compared.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use crate::error::{Context, Error, Result};
use crate::sh::Cmd;
use crate::vm::{Suite, Vm, chroot};
use crate::{abi_plugins, paths};

/// What `cargo xtask vm abi` can do.
const USAGE: &str = "\
usage: cargo xtask vm abi [--lib FILE | --upstream] [--sets SET,...] [--only PART]...

  compiles abi-tests/ against Debian's headers of rdma-core 65 and runs it with Debian's library
  and with FILE (the release build): set diff compares what both print, ours runs what only this
  library is to do, life runs it under valgrind; by default all three. Only the programs whose
  name contains PART. --upstream compares Debian's library with itself.
";

/// All sets of programs, in the order in which they run.
const SETS: &str = "diff,ours,life";

/// The longest that all programs may take together.
const TIMEOUT: Duration = Duration::from_secs(2400);

/// Compiles every program, two at a time; plugins are shared objects.
const COMPILE: &str = r#"
cd /share/abi-tests
mkdir -p /share/programs
compile() {
    flags="-std=gnu17 -Wall -Wextra -Werror -O1 -g -I."
    name=$(basename "$1" .c)
    case $1 in
    ours/plugins/*) gcc $flags -shared -fPIC -o "/share/programs/$name.so" "$1" ;;
    no_device/*) gcc $flags -o "/share/programs/$name" "$1" -ldl -lpthread ;;
    *) gcc $flags -o "/share/programs/$name" "$1" -libverbs -lpthread -ldl ;;
    esac
}
if [ -n "$1" ]; then
    compile "$1"
else
    find . \( -path ./abis -o -path ./urxe -o -path ./bench/urxe \) -prune -o -name '*.c' -printf '%P\0' |
        xargs -0 -n1 -P2 sh "$0"
fi
"#;

/// A run of the suite to be.
#[derive(Debug)]
pub(crate) struct AbiRun {
    library: Option<PathBuf>,
    sets: String,
    only: Vec<String>,
}

impl AbiRun {
    /// All programs, with the library in the file `library`.
    pub(crate) fn new(library: &Path) -> AbiRun {
        AbiRun { library: Some(library.to_owned()), sets: SETS.to_owned(), only: Vec::new() }
    }

    /// Compiles, boots, runs and reports: how many passed, or an error that names what failed.
    pub(crate) fn run(&self) -> Result<String> {
        let share = paths::scratch("abi")?;
        compile(&share)?;
        if self.library.is_some() {
            abi_plugins::compile(&share)?;
        }
        let mut command = "python3 /share/abi-tests/run.py /share/programs /share/results".into();
        match &self.library {
            Some(library) => {
                let folder = paths::make_dir(share.join("ours"))?;
                paths::copy(library, &folder.join("libibverbs.so.1"))?;
                command = format!("{command} /share/ours --sets {}", self.sets);
            }
            None => command = format!("{command} '' --sets diff"),
        }
        for part in &self.only {
            command = format!("{command} --only '{part}'");
        }
        let vm = Vm::new(Suite::Forky).share(&share).hugepages(64);
        let result = vm.run_script(&format!("exec {command}\n"), TIMEOUT)?;
        let output = result.output()?;
        let last = output.lines().last().unwrap_or_default();
        let summary =
            format!("{last} in {} s; see {}/results", result.time.as_secs(), share.display());
        if result.exit == 0 {
            return Ok(summary);
        }
        Err(Error::new(format!("{summary}\n{output}")))
    }
}

/// Compiles the programs that need neither a device nor headers with this machine's compiler, and
/// runs them with `library`: how many passed, or an error with what they printed.
pub(crate) fn without_device(library: &Path) -> Result<String> {
    let folder = paths::scratch("no-device")?;
    let mut count = 0;
    for source in paths::list(&paths::checkout().join("abi-tests/no_device"))? {
        if source.extension().is_none_or(|ending| ending != "c") {
            continue;
        }
        let program = folder.join(source.file_stem().unwrap_or_default());
        Cmd::new("cc")
            .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-o"])
            .args([&program, &source])
            .args(["-ldl", "-lpthread"])
            .quiet()
            .run()?;
        Cmd::new(program).arg(library).timeout(Duration::from_secs(60)).run()?;
        count += 1;
    }
    Ok(format!("{count} programs without a device"))
}

/// `cargo xtask vm abi`.
pub(crate) fn main(args: &[String]) -> Result<ExitCode> {
    let mut run = AbiRun::new(&paths::target().join("release/libibverbs.so"));
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--upstream" => {
                run.library = None;
                continue;
            }
            "--help" => {
                print!("{USAGE}");
                return Ok(ExitCode::SUCCESS);
            }
            _ => {}
        }
        let value =
            args.next().ok_or_else(|| Error::new(format!("{arg} needs a value\n\n{USAGE}")))?;
        match arg.as_str() {
            "--lib" => run.library = Some(value.into()),
            "--sets" => run.sets = value.clone(),
            "--only" => run.only.push(value.clone()),
            _ => return Err(Error::new(format!("unknown option '{arg}'\n\n{USAGE}"))),
        }
    }
    println!("{}", run.run()?);
    Ok(ExitCode::SUCCESS)
}

/// Copies the sources to `share` and compiles them there, with the tools and headers of forky.
pub(crate) fn compile(share: &Path) -> Result<()> {
    paths::copy_folder(&paths::checkout().join("abi-tests"), &share.join("abi-tests"))?;
    paths::write(&share.join("compile"), COMPILE)?;
    chroot::command(Suite::Forky, Some(share), &["sh".to_owned(), "/share/compile".to_owned()])?
        .timeout(Duration::from_secs(300))
        .run()
        .context(|| "cannot compile abi-tests".to_owned())
}
