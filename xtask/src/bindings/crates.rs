//! Crates of crates.io that bind libibverbs: programs and tests of ours on them, and the tests and
//! examples that they are published with.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{Place, isolated};
use crate::error::{Error, Result};
use crate::sh::Cmd;
use crate::{cache, packages, pair, paths};

/// What building them takes: `rdma-sys` asks pkg-config also for librdmacm, `ibverbs` builds the
/// rdma-core that it brings along, and all make their types with libclang.
pub(crate) const PACKAGES: &[&str] = &[
    "cmake",
    "gcc",
    "iproute2",
    "libc6-dev",
    "libclang-dev",
    "libnl-3-dev",
    "libnl-route-3-dev",
    "librdmacm-dev",
    "make",
    "pkgconf",
    "python3",
];

/// The programs that list the devices, each on another crate.
const PROGRAMS: &[&str] = &["uses-ibverbs", "uses-rdma-sys", "uses-sideway"];

/// The crates whose published tests are run, as their folders are called.
const PUBLISHED: &[(&str, &str)] = &[("ibverbs", "ibverbs-0.9.2"), ("sideway", "sideway-0.4.3")];

/// A file of sideway's tests that is left out: it compares the messages of the compiler, which are
/// others in each release of Rust.
const NOT_ABOUT_VERBS: &str = "compiletest";

/// A test of sideway that compares the GID table with a file that adapters have under /sys.
const READS_SYSFS: &str = "test_query_gid_table_fallback";

/// Tests of sideway that return at once: they are of the connection manager, of which the kernel has
/// no device here. They run in the virtual machine of the step "urxe: libfabric".
const OF_CONNECTIONS: &str = "rdmacm::";

/// Gives that test the file: this network namespace has the loopback interface only, from which both
/// GIDs are.
const SYSFS: &str = "\
ip link set lo up || exit 1
mount -t tmpfs tmpfs /sys/class || exit 1
dir=/sys/class/infiniband/urxe0/ports/1/gid_attrs/ndevs
mkdir -p $dir && echo lo >$dir/0 && echo lo >$dir/1 || exit 1
";

/// The longest that one command may take; the first time, cargo builds all crates below them.
const TIMEOUT: Duration = Duration::from_secs(1200);
/// Where the servers of examples listen, and how long a run of one may take.
const PORT: u16 = 18556;
const PATIENCE: Duration = Duration::from_secs(60);

/// Builds the programs with an installation of `library`; each has to list the device, from that
/// library alone.
pub(crate) fn devices(library: &Path) -> Result<String> {
    let place = Place::new("bindings", library)?;
    for program in PROGRAMS {
        let output = cargo(&place, "run", &ours())?.args(["--quiet", "-p", program]).output()?;
        let listed = output.lines().any(|line| {
            let gids = line.strip_prefix("device urxe0, ").and_then(|it| it.strip_suffix(" GIDs"));
            gids.is_some_and(|count| count.parse().is_ok_and(|count: u32| count > 0))
        });
        let libraries: Vec<_> =
            output.lines().filter_map(|line| line.strip_prefix("library ")).collect();
        if !listed || libraries != [place.installed.library.to_string_lossy()] {
            return Err(Error::new(format!("{program} printed:\n{output}")));
        }
    }
    Ok(format!("urxe0 listed by {}, from the installed library", PROGRAMS.join(", ")))
}

/// Runs the tests and examples; how many there were.
pub(crate) fn tests(library: &Path) -> Result<String> {
    let place = Place::new("crates", library)?;
    // One at a time, so that what they depend on is the same as for the programs, and built already.
    let mut ours_passed = 0;
    for package in ["uses-ibverbs", "uses-rdma-sys"] {
        let test = cargo(&place, "test", &ours())?.args(["-p", package]);
        ours_passed += passed(&test.output()?, &[])?;
    }
    let folder = published(&place)?;
    let manifest = folder.join("Cargo.toml");
    let ibverbs = ibverbs(&place, &manifest)?;
    let (sideway, of_connections) = sideway(&place, &folder)?;
    Ok(format!(
        "ours on ibverbs and rdma-sys {ours_passed}; ibverbs {ibverbs} and its example; sideway {sideway} \
         and 4 examples; {of_connections} of the connection manager did nothing here, \
         {NOT_ABOUT_VERBS} left out"
    ))
}

/// Runs the loopback tests of a checkout of the repository of `ibverbs`, all that want a device; how
/// many there were. It makes its types from the installed headers.
pub(crate) fn checkout(library: &Path, checkout: &Path) -> Result<String> {
    let place = Place::new("checkout", library)?;
    let prefix = place.installed.libdir.parent().unwrap_or(Path::new("/"));
    let include = prefix.join("include");
    let cargo =
        Cmd::new("cargo").args(["test", "--manifest-path"]).arg(checkout.join("Cargo.toml"));
    let output = place
        .command(cargo)
        .args(["-p", "ibverbs", "--test", "loopback", "--", "--include-ignored", "--nocapture"])
        .env("CARGO_TARGET_DIR", cache::dir()?.join("bindings/checkout"))
        .env("RDMA_CORE_INCLUDE_DIR", &include)
        .env("RDMA_CORE_LIB_DIR", &place.installed.libdir)
        .env("IBVERBS_HEADER_DIR", include.join("infiniband"))
        .env("IBVERBS_TEST_DEVICE", "urxe0")
        .timeout(TIMEOUT)
        .output()?;
    let skips = output.lines().filter(|line| line.contains("; skipping")).count();
    Ok(format!("{} loopback tests of {}, {skips} skips", passed(&output, &[])?, checkout.display()))
}

/// Our workspace of crates that use the published ones.
fn ours() -> PathBuf {
    paths::checkout().join("abi-tests/bindings/Cargo.toml")
}

/// The build folder, which outlives a checkout.
fn target() -> Result<PathBuf> {
    Ok(cache::dir()?.join("bindings/target"))
}

/// Cargo with a subcommand in a workspace of its own.
fn cargo(place: &Place, subcommand: &str, manifest: &Path) -> Result<Cmd> {
    let cargo = Cmd::new("cargo").args([subcommand, "--locked", "--manifest-path"]).arg(manifest);
    Ok(place.command(cargo).env("CARGO_TARGET_DIR", target()?).timeout(TIMEOUT))
}

/// The published crates with their tests, in a workspace of their own that is kept in the cache: cargo
/// has downloaded and checked them for ours.
fn published(place: &Place) -> Result<PathBuf> {
    let source = paths::checkout().join("abi-tests/bindings/published");
    let read = |name| paths::read(&source.join(name));
    let stamp = read("Cargo.toml")? + &read("Cargo.lock")?;
    let metadata = cargo(place, "metadata", &ours())?.args(["--format-version", "1"]).output()?;
    cache::entry("published-crates", &stamp, |folder| {
        for file in ["Cargo.toml", "Cargo.lock"] {
            paths::copy(&source.join(file), &folder.join(file))?;
        }
        for (name, versioned) in PUBLISHED {
            let end = format!("/{versioned}/Cargo.toml");
            let manifests = metadata.split("\"manifest_path\":\"").skip(1);
            let manifest = manifests
                .filter_map(|rest| rest.split('"').next())
                .find(|path| path.ends_with(&end))
                .ok_or_else(|| Error::new(format!("cargo does not say where {versioned} is")))?;
            let from = Path::new(manifest).parent().unwrap_or(Path::new("/"));
            paths::copy_folder(from, &folder.join(name))?;
        }
        Ok(())
    })
}

/// The unit tests of the crate `ibverbs`, and its example, which sends itself a message by GID 1; how
/// many tests there were.
fn ibverbs(place: &Place, manifest: &Path) -> Result<usize> {
    let tests = cargo(place, "test", manifest)?.args(["-p", "ibverbs", "--lib"]).output()?;
    let run = cargo(place, "run", manifest)?;
    let output = run.args(["--quiet", "-p", "ibverbs", "--example", "loopback"]).output()?;
    for word in ["sent", "received"] {
        if !output.lines().any(|line| line == word) {
            return Err(Error::new(format!("the example loopback of ibverbs printed:\n{output}")));
        }
    }
    passed(&tests, &[])
}

/// The tests of sideway and its examples; how many tests there were, and how many of the connection
/// manager.
fn sideway(place: &Place, folder: &Path) -> Result<(usize, usize)> {
    let manifest = folder.join("Cargo.toml");
    let test = || Ok(cargo(place, "test", &manifest)?.args(["-p", "sideway", "--lib"]));
    let mut most: Cmd = test()?;
    for file in paths::list(&folder.join("sideway/tests"))? {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if file.extension().is_some_and(|it| it == "rs") && name != NOT_ABOUT_VERBS {
            most = most.args(["--test", &name]);
        }
    }
    let output = most.args(["--", "--skip", READS_SYSFS]).output()?;
    let of_connections = connections(&output);

    let script = paths::scratch("sideway")?.join("sysfs.sh");
    let command = format!(
        "{SYSFS}exec cargo test --offline --locked --manifest-path '{}' -p sideway --lib {READS_SYSFS}\n",
        manifest.display()
    );
    paths::write(&script, command)?;
    let alone = place.command(isolated(&script)?).env("CARGO_TARGET_DIR", target()?);
    let alone = passed(&alone.timeout(TIMEOUT).output()?, &[READS_SYSFS])?;

    cargo(place, "build", &manifest)?.args(["-p", "sideway", "--examples"]).run()?;
    for name in ["ibv_devinfo", "show_gids"] {
        let output = place.command(Cmd::new(example(name)?)).output()?;
        if !output.contains("urxe0") {
            return Err(Error::new(format!("the example {name} of sideway printed:\n{output}")));
        }
    }
    for name in ["rc_pingpong", "rc_pingpong_split"] {
        play(place, name)?;
    }
    Ok((passed(&output, &[])? + alone, of_connections))
}

/// How many tests of the connection manager have passed.
pub(crate) fn connections(output: &str) -> usize {
    let tests = output.lines().filter(|line| line.starts_with("test ") && line.ends_with(" ok"));
    tests.filter(|line| line.contains(OF_CONNECTIONS)).count()
}

/// The program of sideway's unit tests, which finds its libraries when it runs.
pub(crate) fn sideway_tests(library: &Path) -> Result<PathBuf> {
    packages::ensure(PACKAGES)?;
    let place = Place::new("sideway-tests", library)?;
    let manifest = published(&place)?.join("Cargo.toml");
    let build = cargo(&place, "test", &manifest)?.args(["-p", "sideway", "--lib", "--no-run"]);
    let output = build.args(["--message-format", "json"]).output()?;
    let program =
        output.lines().filter_map(|line| line.split("\"executable\":\"").nth(1)).next_back();
    let program = program.and_then(|rest| rest.split('"').next()).map(PathBuf::from);
    program.ok_or_else(|| Error::new("cargo does not say where the tests of sideway are"))
}

/// An example of sideway that sends messages to and fro: a server and its client. Both post while they
/// poll, in one session of `ibv_start_poll`.
fn play(place: &Place, name: &str) -> Result<()> {
    let start = |host: &[&str]| {
        let mut command = Command::new(example(name)?);
        command.envs(place.environment()).args(["-d", "urxe0", "-g", "1", "-n", "2000"]);
        command.args(["-p", &PORT.to_string()]).args(host);
        Ok::<_, Error>(command)
    };
    let (server, client) = pair::run(start(&[])?, start(&["127.0.0.1"])?, PORT, PATIENCE)?;
    for output in [server, client] {
        let text = pair::text(&output);
        if !output.status.success() || !text.contains("2000 iters") {
            return Err(Error::new(format!("the example {name} of sideway printed:\n{text}")));
        }
    }
    Ok(())
}

/// The program of an example.
fn example(name: &str) -> Result<PathBuf> {
    Ok(target()?.join("debug/examples").join(name))
}

/// How many tests passed; an error if there were none, or not the `wanted` ones.
fn passed(output: &str, wanted: &[&str]) -> Result<usize> {
    let counts = output.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
    let numbers = counts.filter_map(|line| line.split(' ').next()?.parse::<usize>().ok());
    let count = numbers.sum();
    let ran = |name: &&&str| {
        output
            .lines()
            .any(|line| line.starts_with("test ") && line.ends_with(&format!("{name} ... ok")))
    };
    if count == 0 || wanted.iter().filter(ran).count() < wanted.len() {
        return Err(Error::new(format!("{count} tests ran:\n{output}")));
    }
    Ok(count)
}
