//! Where the processes run, and what else keeps these CPUs busy.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Error, Result};
use crate::paths;

/// The two CPUs of the processes.
#[derive(Debug)]
pub(super) struct Cpus {
    /// Of the requester or client, and of the responder or server.
    pub(super) numbers: [usize; 2],
    /// Whether this user may give a process a fixed priority, above all ordinary ones.
    pub(super) is_fixed: bool,
    /// Whether both are threads of one core.
    is_one_core: bool,
}

/// Times of the two CPUs together, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    /// Spent on any process, on interrupts, or taken by the host.
    busy: u64,
    /// All.
    all: u64,
    /// Spent by this process and what it has waited for.
    own: u64,
}

impl Cpus {
    /// Two CPUs that this process may use, of different cores if there are such.
    pub(super) fn choose() -> Result<Cpus> {
        let status = paths::read(Path::new("/proc/self/status"))?;
        let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let allowed = list(allowed.unwrap_or_default());
        let first = *allowed.first().ok_or_else(|| Error::new("which CPUs may be used?"))?;
        let path = format!("/sys/devices/system/cpu/cpu{first}/topology/thread_siblings_list");
        let siblings = paths::read(Path::new(&path)).map(|text| list(&text)).unwrap_or_default();
        let others = || allowed.iter().copied().filter(|number| *number != first);
        let second = others()
            .find(|number| !siblings.contains(number))
            .or_else(|| others().next())
            .ok_or_else(|| Error::new("two processes that wait for each other need two CPUs"))?;
        Ok(Cpus {
            numbers: [first, second],
            is_fixed: may_be_fixed(),
            is_one_core: siblings.contains(&second),
        })
    }

    /// One line about them.
    pub(super) fn describe(&self) -> String {
        format!(
            "CPUs {} and {}{}, {}",
            self.numbers[0],
            self.numbers[1],
            if self.is_one_core { " (threads of one core)" } else { "" },
            if self.is_fixed { "SCHED_RR" } else { "ordinary priority: not permitted otherwise" }
        )
    }

    /// What a command begins with, to have the priority.
    pub(super) fn prefix(&self) -> &'static [&'static str] {
        if self.is_fixed { &["chrt", "-r", "1"] } else { &["env"] }
    }

    /// Runs `measure`; what it returned, and the part of the two CPUs' time that went elsewhere.
    pub(super) fn watch<T>(&self, measure: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
        let before = self.ticks()?;
        let value = measure()?;
        Ok((value, foreign(before, self.ticks()?)))
    }

    fn ticks(&self) -> Result<Ticks> {
        let mut ticks = stat(&paths::read(Path::new("/proc/stat"))?, self.numbers);
        ticks.own = own(&paths::read(Path::new("/proc/self/stat"))?);
        Ok(ticks)
    }
}

/// Whether `chrt` may do what it is asked.
fn may_be_fixed() -> bool {
    let mut chrt = Command::new("chrt");
    chrt.args(["-r", "1", "true"]).stdout(Stdio::null()).stderr(Stdio::null());
    chrt.status().is_ok_and(|status| status.success())
}

/// The numbers in a list such as `0-3,8`.
fn list(text: &str) -> Vec<usize> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(from), Ok(to)) = (from.parse::<usize>(), to.parse::<usize>()) {
            numbers.extend(from..=to);
        }
    }
    numbers
}

/// The times of two CPUs in the text of `/proc/stat`: user, nice, system, idle, iowait, irq,
/// softirq, steal.
fn stat(text: &str, numbers: [usize; 2]) -> Ticks {
    let names = numbers.map(|number| format!("cpu{number}"));
    let mut ticks = Ticks::default();
    for line in text.lines() {
        let mut fields = line.split_whitespace();
        if !fields.next().is_some_and(|name| names.iter().any(|wanted| wanted == name)) {
            continue;
        }
        for (place, value) in fields.take(8).enumerate() {
            let value = value.parse::<u64>().unwrap_or_default();
            ticks.all += value;
            ticks.busy += if place == 3 || place == 4 { 0 } else { value };
        }
    }
    ticks
}

/// The times in the text of `/proc/self/stat`: of this process, and of its children.
fn own(text: &str) -> u64 {
    // The name of the program, which comes before, may contain blanks.
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// The part of all time that was neither idle nor ours.
fn foreign(before: Ticks, after: Ticks) -> f64 {
    let busy = after.busy.saturating_sub(before.busy);
    let own = after.own.saturating_sub(before.own);
    busy.saturating_sub(own) as f64 / after.all.saturating_sub(before.all).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::{Ticks, foreign, list, own, stat};

    #[test]
    fn lists_of_cpus() {
        assert_eq!(list("0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(list("7"), [7]);
        assert!(list("").is_empty());
    }

    #[test]
    fn busy_is_all_but_idle() {
        let text = "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 10 1 2 100 50 3 4 5 9 9\ncpu1 1 1 1 1 1 1 1 1\n\
                    cpu10 7 7 7 7 7 7 7 7\n";
        assert_eq!(stat(text, [0, 10]), Ticks { busy: 25 + 42, all: 175 + 56, own: 0 });
    }

    #[test]
    fn own_time_with_that_of_children() {
        assert_eq!(own("12 (a) b) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4000 20 0"), 4123);
    }

    #[test]
    fn what_is_not_ours_is_foreign() {
        let before = Ticks { busy: 100, all: 1000, own: 10 };
        let after = Ticks { busy: 160, all: 1100, own: 60 };
        assert!((foreign(before, after) - 0.1).abs() < 1e-9);
        assert_eq!(foreign(before, before), 0.0);
    }
}
