//! Upstream's own Python tests on the device inside the library.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{run_in, share};
use crate::error::{Context, Error, Result};
use crate::paths;
use crate::vm::Suite;
use crate::vm::outcomes::Outcomes;
use crate::vm::rootfs;
use crate::vm::suite::{RUNNER, copy_tests};

/// The longest that all tests may take together.
const TIMEOUT: Duration = Duration::from_secs(900);

/// The tests look at files and ask a program about what only the kernel's devices have: here they
/// find the same about the device inside the library. The partition key is in a copy of the folder
/// in sysfs; rdma(8) tells which network interface the device is on. Some need huge pages.
const STAND_INS: &str = r#"
mkdir -p $SHARE/class/infiniband/urxe0/ports/1/pkeys $SHARE/bin
echo 0xffff > $SHARE/class/infiniband/urxe0/ports/1/pkeys/0
mount -t overlay -o lowerdir=$SHARE/class:/sys/class overlay /sys/class
cat > $SHARE/bin/rdma <<'END'
#!/bin/sh
echo '[{"ifindex":0,"ifname":"urxe0","port":1,"state":"ACTIVE","netdev":"lo"}]'
END
chmod +x $SHARE/bin/rdma
export PATH=$SHARE/bin:$PATH URXE_NETDEV=lo
pages=/proc/sys/vm/nr_hugepages
before=$(cat $pages)
[ $before -ge 32 ] || echo 32 > $pages
trap 'echo $before > $pages; rm -rf $URXE_DIR' EXIT
cd $SHARE/tests
"#;

/// Modules of tests that need the kernel's connection manager.
const WITHOUT: &[&str] = &["test_rdmacm"];

/// How the device is set up.
#[derive(Clone, Copy, Debug)]
enum Mode {
    /// As it is.
    Plain,
    /// As in a confidential guest; the tests of buffers.
    Confidential,
}

impl Mode {
    /// Those that the tests of a suite run in.
    fn all(suite: Suite) -> &'static [Mode] {
        match suite {
            Suite::Forky => &[Mode::Plain, Mode::Confidential],
            // There was no such mode.
            Suite::Trixie | Suite::Bookworm => &[Mode::Plain],
        }
    }

    /// What the script sets.
    fn environment(self) -> &'static str {
        match self {
            Mode::Plain => "",
            Mode::Confidential => "export URXE_CONFIDENTIAL=1\n",
        }
    }

    /// The file with the outcomes that are expected.
    fn expected_file(self, suite: Suite) -> PathBuf {
        let mode = match self {
            Mode::Plain => "",
            Mode::Confidential => "-confidential",
        };
        let name = format!("rdma-core-{}-tests-on-urxe{mode}.tsv", suite.rdma_core());
        paths::checkout().join("xtask/expected").join(name)
    }

    /// Whether a module of tests is run.
    fn runs(self, module: &str) -> bool {
        match self {
            Mode::Plain => module.starts_with("test_") && !WITHOUT.contains(&module),
            Mode::Confidential => module == "test_buf",
        }
    }
}

/// Runs the tests; a summary if all went as expected, otherwise an error with each difference.
pub(crate) fn check(library: &Path, suite: Suite, only: Option<&str>) -> Result<String> {
    let mut found = Vec::new();
    for &mode in Mode::all(suite) {
        let expected = Outcomes::read(&mode.expected_file(suite))?;
        let expected = match only {
            Some(part) => expected.matching(part),
            None => expected,
        };
        if expected.count("ok") == 0 {
            continue;
        }
        let (outcomes, share) = outcomes(library, suite, mode, only)?;
        let differences = outcomes.differences(&expected);
        if !differences.is_empty() {
            return Err(Error::new(format!(
                "{mode:?}: {outcomes}, {} differences from what is expected (see {}):\n    {}",
                differences.len(),
                share.display(),
                differences.join("\n    ")
            )));
        }
        found.push(outcomes.to_string());
    }
    Ok(found.join("; as in a confidential guest "))
}

/// Runs the tests, and writes down the outcomes as those that are expected from now on.
pub(crate) fn record(library: &Path, suite: Suite) -> Result<String> {
    let mut found = Vec::new();
    for &mode in Mode::all(suite) {
        let (outcomes, _) = outcomes(library, suite, mode, None)?;
        outcomes.write(&mode.expected_file(suite))?;
        found.push(format!("{outcomes}; recorded in {}", mode.expected_file(suite).display()));
    }
    Ok(found.join("\n"))
}

/// The outcome of each test, and the folder with all that was printed.
fn outcomes(
    library: &Path,
    suite: Suite,
    mode: Mode,
    only: Option<&str>,
) -> Result<(Outcomes, PathBuf)> {
    let share = share("suite", library)?;
    let tests = share.join("tests");
    copy_tests(&rootfs::root(suite)?, &tests)?;
    paths::write(&share.join("suite.py"), RUNNER)?;
    let selection = match only {
        Some(part) => format!("-k '{part}'"),
        None => selection(&tests, mode)?,
    };
    let script = format!(
        "{STAND_INS}{}/usr/bin/python3 $SHARE/suite.py $SHARE/outcomes.tsv -v --dev urxe0 {selection} \
         >$SHARE/output.txt 2>&1\n\
         [ $? -le 1 ]\n",
        mode.environment()
    );
    let result = run_in(suite, &share, &script, TIMEOUT);
    let outcomes = Outcomes::read(&share.join("outcomes.tsv"))
        .context(|| format!("no test ran; see {}/output.txt", share.display()))?;
    result.map_err(|error| {
        Error::new(format!("{outcomes}; the process died (see {}): {error}", share.display()))
    })?;
    Ok((outcomes, share))
}

/// The options that select the modules of tests that are run.
fn selection(tests: &Path, mode: Mode) -> Result<String> {
    let mut options = Vec::new();
    for path in paths::list(tests)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let module = name.strip_suffix(".py").filter(|module| mode.runs(module));
        options.extend(module.map(|module| format!("-k tests.{module}.")));
    }
    Ok(options.join(" "))
}
