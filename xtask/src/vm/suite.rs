//! Upstream's own Python tests on the kernel's software RDMA device.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::library::Library;
use super::outcomes::Outcomes;
use super::plugins::OtherPlugins;
use super::{Suite, Vm, chroot, rootfs};
use crate::error::{Context, Error, Result};
use crate::paths;
use crate::sh::Cmd;

/// What runs the tests in the guest.
pub(crate) const RUNNER: &str = include_str!("../../guest/suite.py");

/// The C source of the library that answers RDMA ioctls with ENOTTY.
const NO_IOCTL: &str = include_str!("../../c/no_ioctl.c");

/// The modules of 56.1 that leave objects behind which Python destroys at exit, after their device
/// was closed. Upstream's library crashes in that, so each has a process of its own.
const LEAVERS: [&str; 2] = ["test_flow", "test_parent_domain"];

/// The arguments of upstream's run_tests.py. The GID is the one that the tests would take anyway,
/// but each of them looks through the whole table first.
const ARGUMENTS: &str = "-v --dev rxe0 --gid 0";

/// The longest that all tests may take together.
const TIMEOUT: Duration = Duration::from_secs(1800);

/// A run of the test suite to be.
#[derive(Debug)]
pub(crate) struct SuiteRun {
    suite: Suite,
    library: Library,
    no_ioctl: bool,
    plugins: Option<OtherPlugins>,
    only: Option<String>,
}

/// What came of it.
#[derive(Debug)]
struct SuiteResult {
    /// Every test's outcome.
    outcomes: Outcomes,
    /// A line for each thing that is not as it should be.
    problems: Vec<String>,
    /// The folder with `output.txt`, `outcomes.tsv` and more.
    dir: PathBuf,
    /// The time in the virtual machine, boot included.
    time: Duration,
}

impl SuiteResult {
    /// The counts, as an error if there are problems.
    fn summary(&self) -> Result<String> {
        let counts = format!("{} in {} s", self.outcomes, self.time.as_secs());
        if self.problems.is_empty() {
            return Ok(counts);
        }
        Err(Error::new(format!(
            "{counts}, {} differences from what is expected (see {}):\n    {}",
            self.problems.len(),
            self.dir.display(),
            self.problems.join("\n    ")
        )))
    }
}

impl SuiteRun {
    /// All tests of the rdma-core release in `suite`, run with `library`.
    pub(crate) fn new(suite: Suite, library: Library) -> SuiteRun {
        SuiteRun { suite, library, no_ioctl: false, plugins: None, only: None }
    }

    /// Lets no RDMA ioctl through, so that the library has to use write commands.
    pub(crate) fn no_ioctl(mut self) -> SuiteRun {
        self.no_ioctl = true;
        self
    }

    /// Takes rxe's plugin from the release in another suite, with all other plugins loaded.
    pub(crate) fn plugins_of(mut self, other: Suite) -> SuiteRun {
        self.plugins = Some(OtherPlugins { machine: self.suite, of: other });
        self
    }

    /// Runs only the tests whose full name contains `part`.
    pub(crate) fn only(mut self, part: &str) -> SuiteRun {
        self.only = Some(part.to_owned());
        self
    }

    /// Runs the tests; a summary if all went as expected, otherwise an error with each difference.
    ///
    /// With the plugins of another release some outcomes differ from those with the suite's own;
    /// each of these is in a file of its own together with the reason, and part of the summary.
    pub(crate) fn check(&self) -> Result<String> {
        let mut expected = Outcomes::read(&self.expected())?;
        let mut reasons = String::new();
        if let Some(plugins) = self.plugins {
            let file = paths::checkout().join("xtask/expected").join(plugins.differences());
            expected.replace(Outcomes::read(&file)?);
            for line in paths::read(&file)?.lines() {
                let mut fields = line.split('\t');
                let (test, why) = (fields.next().unwrap_or_default(), fields.next_back());
                reasons.push_str(&format!("\n    {test}: {}", why.unwrap_or_default()));
            }
        }
        let mut result = self.run()?;
        if let Some(part) = &self.only {
            expected = expected.matching(part);
        }
        result.problems.extend(result.outcomes.differences(&expected));
        let summary = result.summary()?;
        match self.plugins {
            Some(plugins) => Ok(format!("{summary}; {}:{reasons}", plugins.title())),
            None => Ok(summary),
        }
    }

    /// Runs the tests, and writes down the outcomes as those that are expected from now on.
    pub(crate) fn record(&self) -> Result<String> {
        if self.plugins.is_some() {
            return Err(Error::new("differences between plugins need a reason, which a run lacks"));
        }
        let result = self.run()?;
        let summary = result.summary()?;
        result.outcomes.write(&self.expected())?;
        Ok(format!("{summary}; recorded in {}", self.expected().display()))
    }

    /// Runs the tests.
    fn run(&self) -> Result<SuiteResult> {
        let name = format!("suite-{}-{}", self.suite.name(), self.library.mode());
        let share = paths::scratch(&name)?;
        let root = rootfs::root(self.suite)?;
        copy_tests(&root, &share.join("tests"))?;
        paths::write(&share.join("suite.py"), RUNNER)?;
        if self.no_ioctl {
            build_no_ioctl(self.suite, &share)?;
        }
        let mut vm = self.library.install(Vm::new(self.suite).share(&share), &share)?;
        if let Some(plugins) = self.plugins {
            vm = plugins.install(vm, &share)?;
        }
        let result = vm.run_script(&self.script(&share)?, TIMEOUT)?;

        let outcomes = Outcomes::read(&share.join("outcomes.tsv"))
            .context(|| format!("no test ran; see {}/output.txt", share.display()))?;
        let mapped = paths::read(&share.join("outcomes.tsv.mapped"))?;
        let mut problems = Vec::new();
        problems.extend(self.wrong_library(&mapped));
        if let Some(plugins) = self.plugins {
            problems.extend(plugins.wrong_plugins(&mapped)?);
            problems.extend(plugins.wrong_release(&result.output()?));
        }
        let may_crash = self.is_split() && matches!(self.library, Library::Upstream);
        if result.exit != 0 && !may_crash {
            problems.push(format!("the process died: exit status {}", result.exit));
        }
        Ok(SuiteResult { outcomes, problems, dir: share, time: result.time })
    }

    /// The file with the outcomes that are expected of this run.
    fn expected(&self) -> PathBuf {
        let release = self.suite.rdma_core();
        let name = match (self.suite, self.no_ioctl) {
            (_, true) => format!("rdma-core-{release}-tests-no-ioctl.tsv"),
            (Suite::Forky, false) => format!("rdma-core-{release}-tests-on-kernel-7.2-rxe.tsv"),
            (Suite::Trixie, false) => format!("rdma-core-{release}-tests-on-kernel-6.12-rxe.tsv"),
            (Suite::Bookworm, false) => format!("rdma-core-{release}-tests-on-kernel-6.1-rxe.tsv"),
        };
        paths::checkout().join("xtask/expected").join(name)
    }

    /// Whether the tests run in several processes.
    fn is_split(&self) -> bool {
        self.suite == Suite::Trixie
    }

    /// The guest's part; it ends with exit status 0 unless the interpreter dies.
    fn script(&self, share: &Path) -> Result<String> {
        let no_ioctl = self.no_ioctl.then(|| "/share/no_ioctl.so".to_owned());
        let preload: Vec<String> = no_ioctl.into_iter().chain(self.library.preload()).collect();
        let selections = match &self.only {
            Some(part) => vec![format!("-k '{part}'")],
            None if self.is_split() => selections(&share.join("tests"))?,
            None => vec![String::new()],
        };
        let mut script = format!(
            "cp -r /share/tests /tmp/tests\ncd /tmp/tests\npreload='{}'\nstatus=0\n",
            preload.join(" ")
        );
        if let Some(plugins) = self.plugins {
            script.push_str(&plugins.environment());
        }
        for selection in selections {
            script.push_str(&format!(
                "LD_PRELOAD=$preload python3 /share/suite.py /tmp/outcomes.tsv {ARGUMENTS} \
                 {selection}\ncode=$?\n[ $code -le 1 ] || status=$code\n"
            ));
        }
        // Two lines for each test would take long on the share.
        script.push_str("cp /tmp/outcomes.tsv /tmp/outcomes.tsv.mapped /share\nexit $status\n");
        Ok(script)
    }

    /// A difference if the tests had another library than they should.
    fn wrong_library(&self, mapped: &str) -> Option<String> {
        let libraries: Vec<&str> =
            mapped.lines().filter(|path| path.contains("/libibverbs.so")).collect();
        let installed = "/usr/lib/x86_64-linux-gnu/";
        let right = |path: &&str| match self.library.preload() {
            Some(preload) => **path == preload,
            None => path.starts_with(installed),
        };
        if !libraries.is_empty() && libraries.iter().all(right) {
            return None;
        }
        Some(format!("the tests used another library: {}", libraries.join(" ")))
    }
}

/// Copies the tests that the package rdma-core installs, and unpacks those that are compressed.
pub(crate) fn copy_tests(root: &Path, to: &Path) -> Result<()> {
    paths::make_dir(to.to_owned())?;
    let mut packed = Vec::new();
    for file in paths::list(&root.join("usr/share/doc/rdma-core/tests"))? {
        let copy = to.join(file.file_name().unwrap_or_default());
        paths::copy(&file, &copy)?;
        if copy.extension().is_some_and(|ending| ending == "gz") {
            packed.push(copy);
        }
    }
    Cmd::new("gzip").arg("--decompress").args(packed).quiet().run()
}

/// The options that select the test modules in `dir`, for one process after the other: all but
/// [`LEAVERS`], then each of these.
fn selections(dir: &Path) -> Result<Vec<String>> {
    let option = |module: &str| format!("-k tests.{module}. ");
    let mut selections = vec![String::new()];
    for path in paths::list(dir)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(module) = name.strip_suffix(".py").filter(|name| name.starts_with("test_")) else {
            continue;
        };
        if !LEAVERS.contains(&module) {
            selections[0].push_str(&option(module));
        }
    }
    selections.extend(LEAVERS.map(option));
    Ok(selections)
}

/// Compiles the library without RDMA ioctls into the share, as `no_ioctl.so`.
fn build_no_ioctl(suite: Suite, share: &Path) -> Result<()> {
    paths::write(&share.join("no_ioctl.c"), NO_IOCTL)?;
    let gcc = "gcc -O2 -Wall -Werror -shared -fPIC -o /share/no_ioctl.so /share/no_ioctl.c";
    let command: Vec<String> = gcc.split(' ').map(str::to_owned).collect();
    chroot::command(suite, Some(share), &command)?
        .run()
        .map_err(|error| Error::new(format!("cannot compile no_ioctl.c: {error}")))
}
