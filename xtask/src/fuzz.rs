//! `cargo xtask fuzz`: the parsers of foreign bytes, and the software device, under libFuzzer with the
//! address sanitizer, on the released compiler, which takes the flag of nightly ones with a variable.

use std::path::Path;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::paths;
use crate::sh::Cmd;

/// What makes LLVM count the edges that an input reaches, as libFuzzer wants it.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
     -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Zsanitizer=address";

/// The target triple, named so that build scripts are built without the flags.
pub(crate) const TRIPLE: &str = concat!(env!("XTASK_ARCH"), "-unknown-linux-gnu");

/// Runs every target whose name contains `wanted` for `seconds`, each from its seeds and what earlier
/// runs found. With a `seed` other than 0, inputs are made of these in about the same way each time.
pub(crate) fn run(seconds: u64, wanted: &str, seed: u32) -> Result<String> {
    let folder = paths::checkout().join("fuzz");
    let target_dir = paths::target().join("fuzz");
    Cmd::new("cargo")
        .args(["build", "--release", "--target", TRIPLE])
        .env("RUSTFLAGS", FLAGS)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", &target_dir)
        .dir(&folder)
        .timeout(Duration::from_secs(1200))
        .run()?;
    let mut found = Vec::new();
    for source in paths::list(&folder.join("targets"))? {
        let Some(name) = source.file_stem().and_then(|name| name.to_str()) else { continue };
        if !name.contains(wanted) {
            continue;
        }
        let program = target_dir.join(TRIPLE).join("release").join(name);
        let seeds = folder.join("seeds").join(name);
        found.push(run_target(name, &program, &seeds, seconds, seed)?);
    }
    Ok(found.join(", "))
}

/// Runs one target; an input that makes it panic, hang or eat memory is an error that names it.
fn run_target(name: &str, program: &Path, seeds: &Path, seconds: u64, seed: u32) -> Result<String> {
    let corpus = paths::make_dir(paths::target().join("fuzz/corpus").join(name))?;
    let artifacts = paths::make_dir(paths::target().join("fuzz/artifacts"))?;
    let mut command = Cmd::new(program)
        .args([format!("-max_total_time={seconds}"), format!("-seed={seed}")])
        .args(["-timeout=20", "-rss_limit_mb=1024", "-print_final_stats=1", "-verbosity=0"])
        .arg(format!("-artifact_prefix={}/{name}-", artifacts.display()))
        .arg(&corpus)
        .timeout(Duration::from_secs(seconds + 120));
    if seeds.is_dir() {
        command = command.arg(seeds);
    }
    let output = command.output()?;
    let runs = output
        .lines()
        .find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))
        .ok_or_else(|| Error::new(format!("{name}: libFuzzer did not say what it did")))?;
    Ok(format!("{name} {} inputs", runs.trim()))
}
