//! The steps of `cargo xtask test`.

use std::time::Duration;

use super::{Class, Ctx, Step};
use crate::abi_suite::AbiRun;
use crate::error::{Context, Error, Result};
use crate::sh::Cmd;
use crate::vm::Suite;
use crate::vm::library::Library;
use crate::vm::suite::SuiteRun;
use crate::{
    abi_bench, abi_plugins, abi_suite, bindings, demo, dropin, fuzz, headers, install, installed,
    man, matrix, models, packages, paths, sanitize, symbols, tools, urxe, vm,
};

/// All steps, in the order in which they run.
pub(super) const STEPS: &[Step] = &[
    Step { name: "format", needs: &[], class: Class::Quick, run: format },
    Step { name: "clippy", needs: &[], class: Class::Quick, run: clippy },
    Step { name: "documentation", needs: &[], class: Class::Quick, run: documentation },
    Step { name: "dependencies", needs: &[], class: Class::Slow, run: dependencies },
    Step { name: "unit tests", needs: &["iproute2"], class: Class::Quick, run: unit_tests },
    Step {
        name: "address sanitizer",
        needs: sanitize::ADDRESS_NEEDS,
        class: Class::Slow,
        run: address_sanitizer,
    },
    Step { name: "memcheck", needs: sanitize::VALGRIND_NEEDS, class: Class::Slow, run: memcheck },
    Step { name: "races", needs: sanitize::VALGRIND_NEEDS, class: Class::Slow, run: races },
    Step { name: "headers", needs: headers::NEEDS, class: Class::Slow, run: headers },
    Step { name: "fuzzing", needs: &["g++"], class: Class::Quick, run: fuzzing },
    Step { name: "models", needs: &[], class: Class::Slow, run: models },
    Step {
        name: "release build",
        needs: packages::FOR_BUILD,
        class: Class::Quick,
        run: release_build,
    },
    Step { name: "size", needs: &["binutils"], class: Class::Quick, run: size },
    Step { name: "exports", needs: &["binutils"], class: Class::Quick, run: exports },
    Step { name: "exports and their tests", needs: &[], class: Class::Quick, run: exports_table },
    Step { name: "man pages", needs: &["mandoc"], class: Class::Quick, run: man_pages },
    Step {
        name: "man pages: examples",
        needs: packages::FOR_BUILD,
        class: Class::Quick,
        run: man_examples,
    },
    Step {
        name: "installation",
        needs: install::check::PACKAGES,
        class: Class::Quick,
        run: installation,
    },
    Step { name: "demo", needs: demo::PROGRAMS, class: Class::Quick, run: demo_check },
    Step { name: "without a device", needs: &[], class: Class::Quick, run: without_device },
    Step { name: "abidiff", needs: ABIDIFF, class: Class::Slow, run: abidiff },
    Step {
        name: "loading in Debian's place",
        needs: packages::FOR_VM,
        class: Class::Slow,
        run: loading,
    },
    Step {
        name: "Debian package",
        needs: install::deb::PACKAGES,
        class: Class::Slow,
        run: debian_package,
    },
    Step { name: "Debian's programs here", needs: packages::FOR_VM, class: Class::Slow, run: here },
    Step {
        name: "plugins of every private ABI",
        needs: packages::FOR_VM,
        class: Class::Slow,
        run: private_abis,
    },
    Step { name: "control path", needs: packages::FOR_VM, class: Class::Slow, run: control_path },
    Step {
        name: "urxe: counts per operation",
        needs: packages::FOR_BUILD,
        class: Class::Quick,
        run: urxe_counts,
    },
    Step {
        name: "urxe: upstream's tests",
        needs: packages::FOR_VM,
        class: Class::Slow,
        run: urxe_suite,
    },
    Step {
        name: "urxe: upstream's tests of 44.0 here",
        needs: packages::FOR_VM,
        class: Class::Slow,
        run: urxe_suite_here,
    },
    Step {
        name: "urxe: programs",
        needs: packages::FOR_VM,
        class: Class::Slow,
        run: urxe_programs,
    },
    Step {
        name: "urxe: programs here",
        needs: packages::FOR_VM,
        class: Class::Slow,
        run: urxe_programs_here,
    },
    Step {
        name: "urxe: every opcode",
        needs: packages::FOR_VM,
        class: Class::Slow,
        run: urxe_matrix,
    },
    Step { name: "urxe: soak", needs: packages::FOR_VM, class: Class::Slow, run: urxe_soak },
    Step {
        name: "urxe: refusals and errors",
        needs: packages::FOR_VM,
        class: Class::Slow,
        run: urxe_errors,
    },
    Step {
        name: "urxe: killed processes",
        needs: packages::FOR_VM,
        class: Class::Slow,
        run: urxe_kill,
    },
    Step {
        name: "perftest from source",
        needs: packages::FOR_VM,
        class: Class::Slow,
        run: perftest_from_source,
    },
    Step {
        name: "package sources",
        needs: packages::FOR_VM,
        class: Class::Slow,
        run: package_sources,
    },
    Step {
        name: "urxe: shared by threads",
        needs: packages::FOR_VM,
        class: Class::Slow,
        run: urxe_threads,
    },
    Step { name: "urxe: two users", needs: packages::FOR_VM, class: Class::Slow, run: urxe_users },
    Step { name: "urxe: clients", needs: packages::FOR_VM, class: Class::Slow, run: urxe_clients },
    Step {
        name: "language bindings",
        needs: bindings::crates::PACKAGES,
        class: Class::Slow,
        run: language_bindings,
    },
    Step {
        name: "urxe: crates",
        needs: bindings::crates::PACKAGES,
        class: Class::Slow,
        run: urxe_crates,
    },
    Step {
        name: "urxe: wheels",
        needs: bindings::wheels::PACKAGES,
        class: Class::Slow,
        run: urxe_wheels,
    },
    // The longest first, so that what runs side by side ends at about the same time.
    machine("abi-tests", abi_tests),
    machine("upstream's tests", suite_preload),
    machine("upstream's tests, file replaced", suite_replace),
    machine("upstream's tests, no ioctl", no_ioctl),
    machine("forky with the plugin of 44.0", other_plugin),
    machine("trixie: upstream's tests", trixie_suite),
    machine("bookworm: real programs", bookworm_programs),
    machine("trixie: real programs", trixie_programs),
    machine("real programs", programs),
    machine("urxe: under Yama", urxe_yama),
    machine("urxe: libfabric", urxe_libfabric),
    machine("bookworm: upstream's tests", bookworm_suite),
];

/// A step in a virtual machine.
const fn machine(name: &'static str, run: fn(&Ctx) -> Result<String>) -> Step {
    Step { name, needs: packages::FOR_VM, class: Class::Machine, run }
}

/// What comparing with Debian's library takes.
const ABIDIFF: &[&str] = &["abigail-tools", "mmdebstrap"];

/// Cargo with a subcommand, in the checkout.
fn cargo(subcommand: &str) -> Cmd {
    Cmd::new("cargo").arg(subcommand).dir(paths::checkout()).timeout(Duration::from_secs(1800))
}

fn format(_: &Ctx) -> Result<String> {
    cargo("fmt").args(["--all", "--check"]).run()?;
    Ok("formatted".to_owned())
}

fn clippy(_: &Ctx) -> Result<String> {
    cargo("clippy").args(["--workspace", "--all-targets", "--", "-D", "warnings"]).run()?;
    models::clippy()?;
    Ok("no warnings".to_owned())
}

fn documentation(_: &Ctx) -> Result<String> {
    cargo("doc")
        .args(["--workspace", "--no-deps", "--document-private-items"])
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()?;
    Ok("no warnings".to_owned())
}

fn dependencies(_: &Ctx) -> Result<String> {
    let deny = tools::ensure("cargo-deny", "0.20.2")?;
    // The advisory database is not asked: this has to work without a network.
    Cmd::new(deny)
        .args(["--offline", "check", "licenses", "bans", "sources"])
        .dir(paths::checkout())
        .run()?;
    Ok("licences, bans and sources".to_owned())
}

fn unit_tests(_: &Ctx) -> Result<String> {
    let output = cargo("test").args(["--workspace", "--", "--show-output"]).output()?;
    let counts = output.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
    let passed = counts.filter_map(|line| line.split(' ').next()?.parse::<u32>().ok());
    let mut found = format!("{} tests", passed.sum::<u32>());
    // A test that this machine cannot run says so.
    let skipped: Vec<&str> = output.lines().filter(|line| line.starts_with("SKIPPED")).collect();
    if !skipped.is_empty() {
        found.push_str(&format!(", {} of them skipped: {}", skipped.len(), skipped.join("; ")));
    }
    Ok(found)
}

fn headers(_: &Ctx) -> Result<String> {
    headers::check()
}

fn fuzzing(_: &Ctx) -> Result<String> {
    fuzz::run(5, "", 1)
}

fn models(_: &Ctx) -> Result<String> {
    models::run(None)
}

fn installation(ctx: &Ctx) -> Result<String> {
    install::check::check(&ctx.library)
}

fn debian_package(ctx: &Ctx) -> Result<String> {
    install::deb_check::check(&ctx.library)
}

fn release_build(ctx: &Ctx) -> Result<String> {
    cargo("build").arg("--release").run()?;
    Ok(ctx.library.display().to_string())
}

/// The library must be smaller than what it replaces: rdma-core's libibverbs and the two libnl
/// files that it no longer needs, in bytes.
const SIZE_LIMIT: u64 = 150_272 + 648_760 + 145_536;

fn size(ctx: &Ctx) -> Result<String> {
    let stripped = paths::scratch("size")?.join("libibverbs.so");
    Cmd::new("strip").arg("-o").arg(&stripped).arg(&ctx.library).run()?;
    let size = std::fs::metadata(&stripped).context(|| "cannot read the size".to_owned())?.len();
    let found = format!("{size} bytes stripped, {SIZE_LIMIT} allowed");
    if size < SIZE_LIMIT { Ok(found) } else { Err(Error::new(found)) }
}

fn exports(ctx: &Ctx) -> Result<String> {
    symbols::check(&ctx.library)
}

fn exports_table(_: &Ctx) -> Result<String> {
    matrix::check()
}

fn demo_check(_: &Ctx) -> Result<String> {
    demo::check::check()
}

fn abidiff(ctx: &Ctx) -> Result<String> {
    dropin::check_abidiff(&ctx.library)
}

fn loading(ctx: &Ctx) -> Result<String> {
    dropin::check_loading_everywhere(&ctx.library)
}

fn urxe_counts(ctx: &Ctx) -> Result<String> {
    urxe::bench::counts::check(&ctx.library)
}

fn urxe_suite(ctx: &Ctx) -> Result<String> {
    urxe::suite::check(&ctx.library, Suite::Forky, None)
}

fn urxe_suite_here(ctx: &Ctx) -> Result<String> {
    urxe::suite::check(&ctx.library, Suite::Bookworm, None)
}

fn urxe_programs(ctx: &Ctx) -> Result<String> {
    urxe::programs::check(&ctx.library, Suite::Forky, None, "")
}

fn urxe_programs_here(ctx: &Ctx) -> Result<String> {
    urxe::programs::check(&ctx.library, Suite::Bookworm, None, "")
}

fn perftest_from_source(ctx: &Ctx) -> Result<String> {
    headers::sources::check_perftest(&ctx.library)
}

fn package_sources(ctx: &Ctx) -> Result<String> {
    headers::sources::check_quick(&ctx.library)
}

fn urxe_matrix(ctx: &Ctx) -> Result<String> {
    urxe::matrix::check(&ctx.library, "")
}

fn urxe_soak(ctx: &Ctx) -> Result<String> {
    urxe::soak::check(&ctx.library, urxe::soak::SECONDS, None)
}

fn urxe_errors(ctx: &Ctx) -> Result<String> {
    urxe::errors::check(&ctx.library)
}

fn urxe_kill(ctx: &Ctx) -> Result<String> {
    urxe::kill::check(&ctx.library, urxe::kill::ROUNDS, None)
}

fn urxe_yama(ctx: &Ctx) -> Result<String> {
    urxe::yama::check(&ctx.library)
}

fn urxe_threads(ctx: &Ctx) -> Result<String> {
    urxe::threads::check(&ctx.library)
}

fn urxe_users(ctx: &Ctx) -> Result<String> {
    urxe::users::check(&ctx.library)
}

fn urxe_clients(ctx: &Ctx) -> Result<String> {
    urxe::clients::check(&ctx.library, "")
}

fn urxe_libfabric(ctx: &Ctx) -> Result<String> {
    urxe::clients::libfabric::check_in_machine(&ctx.library)
}

fn language_bindings(ctx: &Ctx) -> Result<String> {
    bindings::crates::devices(&ctx.library)
}

fn urxe_crates(ctx: &Ctx) -> Result<String> {
    bindings::crates::tests(&ctx.library)
}

fn urxe_wheels(ctx: &Ctx) -> Result<String> {
    bindings::wheels::check(&ctx.library)
}

fn abi_tests(ctx: &Ctx) -> Result<String> {
    AbiRun::new(&ctx.library).run()
}

/// Upstream's tests of `suite` with the library preloaded.
fn preloaded(suite: Suite, ctx: &Ctx) -> SuiteRun {
    SuiteRun::new(suite, Library::Preload(ctx.library.clone()))
}

fn suite_preload(ctx: &Ctx) -> Result<String> {
    preloaded(Suite::Forky, ctx).check()
}

fn suite_replace(ctx: &Ctx) -> Result<String> {
    SuiteRun::new(Suite::Forky, Library::Replace(ctx.library.clone())).check()
}

fn no_ioctl(ctx: &Ctx) -> Result<String> {
    SuiteRun::new(Suite::Forky, Library::Replace(ctx.library.clone())).no_ioctl().check()
}

fn other_plugin(ctx: &Ctx) -> Result<String> {
    preloaded(Suite::Forky, ctx).plugins_of(Suite::Bookworm).check()
}

fn trixie_suite(ctx: &Ctx) -> Result<String> {
    preloaded(Suite::Trixie, ctx).check()
}

fn bookworm_suite(ctx: &Ctx) -> Result<String> {
    preloaded(Suite::Bookworm, ctx).check()
}

fn man_pages(_: &Ctx) -> Result<String> {
    man::check()
}

fn man_examples(ctx: &Ctx) -> Result<String> {
    man::examples::check(&ctx.library)
}

fn without_device(ctx: &Ctx) -> Result<String> {
    abi_suite::without_device(&ctx.library)
}

fn private_abis(ctx: &Ctx) -> Result<String> {
    abi_plugins::check(&ctx.library)
}

fn control_path(ctx: &Ctx) -> Result<String> {
    let share = abi_bench::prepare(&ctx.library)?;
    println!("{}", abi_bench::instructions(&share)?);
    println!("{}", abi_bench::control(&share, "30", "3")?);
    Ok("no more system calls than upstream's, few instructions; times above".to_owned())
}

fn here(ctx: &Ctx) -> Result<String> {
    installed::check(&ctx.library)
}

fn programs(ctx: &Ctx) -> Result<String> {
    vm::programs::run(Suite::Forky, &ctx.library, None, "")?.check()
}

fn trixie_programs(ctx: &Ctx) -> Result<String> {
    vm::programs::run(Suite::Trixie, &ctx.library, None, "")?.check()
}

fn bookworm_programs(ctx: &Ctx) -> Result<String> {
    vm::programs::run(Suite::Bookworm, &ctx.library, None, "")?.check()
}

fn memcheck(_: &Ctx) -> Result<String> {
    sanitize::memcheck()
}

fn races(_: &Ctx) -> Result<String> {
    sanitize::races()
}

fn address_sanitizer(_: &Ctx) -> Result<String> {
    sanitize::address()
}
