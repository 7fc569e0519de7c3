//! The demonstration, run as root and as an ordinary user.

use std::time::{Duration, Instant};

use crate::error::{Context, Error, Result};
use crate::sh::Cmd;
use crate::{packages, paths};

/// What runs a command as an ordinary user.
const AS_USER: &str = include_str!("../../guest/as_user.sh");

/// The longest that the demonstration may take, all built.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs the demonstration as the user of this process, and as an ordinary one if that is root.
pub(crate) fn check() -> Result<String> {
    let program = std::env::current_exe().context(|| "where is this program?".to_owned())?;
    let is_root = packages::is_root()?;
    let who = if is_root { "as root" } else { "as an ordinary user" };
    let mut found = vec![run(who, Cmd::new(&program).arg("demo"))?];
    if is_root {
        let share = paths::scratch("demo-as-user")?;
        let script = share.join("as_user.sh");
        paths::write(&script, AS_USER)?;
        let as_user = Cmd::new("unshare")
            .args(["--mount", "--propagation", "private", "sh"])
            .args([&script, &paths::target(), &paths::make_dir(share.join("target"))?, &program])
            .arg("demo");
        found.push(run("as an ordinary user", as_user)?);
        paths::remove(&share)?;
    }
    Ok(found.join(", "))
}

/// Runs it in one way; who ran it and how long it took.
fn run(who: &str, command: Cmd) -> Result<String> {
    let start = Instant::now();
    let output = command.timeout(LIMIT).output()?;
    if output.lines().last().is_some_and(|line| line.starts_with("everything worked")) {
        return Ok(format!("{who} in {:.1} s", start.elapsed().as_secs_f64()));
    }
    Err(Error::new(format!("{who}: the summary is missing:\n{output}")))
}
