//! Packages of PyPI that use libibverbs, as pip installs them: two processes each, which compare what
//! they move.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Place, isolated};
use crate::error::{Error, Result};
use crate::sh::Cmd;
use crate::{cache, paths};

/// What installing and running them takes.
pub(crate) const PACKAGES: &[&str] =
    &["iproute2", "libcurl4", "libnuma1", "python3", "python3-pip"];

/// Which packages of which versions.
const REQUIREMENTS: &str = include_str!("../../guest/wheels/requirements.txt");

/// What the scripts have in common.
const PAIR: &str = include_str!("../../guest/wheels/pair.py");

/// The scripts.
const SCRIPTS: &[(&str, &str)] = &[
    ("rc_pair.py", include_str!("../../guest/wheels/rc_pair.py")),
    ("mooncake_pair.py", include_str!("../../guest/wheels/mooncake_pair.py")),
];

/// Tells Mooncake which device to use; otherwise it looks for devices under /sys.
const TOPOLOGY: &str = r#"{"cpu:0": [["urxe0"], []]}"#;

/// The longest that one script may take.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Runs the scripts with an installation of `library`, in a network namespace whose only interface is
/// loopback; how many tests there were.
pub(crate) fn check(library: &Path) -> Result<String> {
    let (wheels, place) = (wheels()?, Place::new("wheels", library)?);
    let folder = paths::scratch("wheels-run")?;
    paths::write(&folder.join("pair.py"), PAIR)?;
    paths::write(&folder.join("topology.json"), TOPOLOGY)?;
    let (mut count, mut failed) = (0, Vec::new());
    for (name, text) in SCRIPTS {
        paths::write(&folder.join(name), text)?;
        let script = folder.join(name).with_extension("sh");
        let command = format!(
            "ip link set lo up || exit 1\ncd '{}' || exit 1\nexec /usr/bin/python3 {name} '{}'\n",
            folder.display(),
            place.installed.library.display()
        );
        paths::write(&script, command)?;
        let output = place
            .command(isolated(&script)?)
            .env("PYTHONPATH", &wheels)
            .env("MC_CUSTOM_TOPO_JSON", folder.join("topology.json"))
            .timeout(TIMEOUT)
            .output()?;
        let rows: Vec<_> = output.lines().filter_map(|line| line.split_once('\t')).collect();
        if rows.is_empty() {
            failed.push(format!("{name} printed:\n{output}"));
        }
        count += rows.len();
        let wrong = rows.iter().filter(|(_, outcome)| *outcome != "ok");
        failed.extend(wrong.map(|(title, outcome)| format!("{title}: {outcome}")));
    }
    if failed.is_empty() {
        return Ok(format!("{count} tests of {}", REQUIREMENTS.trim().replace('\n', " and ")));
    }
    Err(Error::new(format!("of {count} tests failed:\n    {}", failed.join("\n    "))))
}

/// The folder with the packages, without what they depend on: that is for other parts of them.
fn wheels() -> Result<PathBuf> {
    let python = Cmd::new("/usr/bin/python3").arg("--version").quiet().output()?;
    cache::entry("wheels", &format!("{python}{REQUIREMENTS}"), |folder| {
        let list = folder.join("requirements.txt");
        paths::write(&list, REQUIREMENTS)?;
        Cmd::new("/usr/bin/python3")
            .args(["-m", "pip", "install", "--no-deps", "--only-binary", ":all:", "--target"])
            .arg(folder)
            .arg("--requirement")
            .arg(&list)
            .run()
    })
}
