//! What is compared, and what is run again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{MORE_RUNS, ProgramsResult, Row, compare, run_with};
use crate::paths;

/// How a row ended: each process of it by its exit status, with upstream's library and with ours.
const GOOD: [&str; 4] = ["0", "0", "0", "0"];
const UPSTREAM_CRASHED: [&str; 4] = ["0", "-11", "0", "0"];
const OURS_CRASHED: [&str; 4] = ["0", "0", "0", "-11"];
const BOTH_CRASHED: [&str; 4] = ["0", "-11", "0", "-11"];

/// Writes what a row leaves to `folder`, and compares it.
fn row_in(folder: &Path, title: &str, codes: [&str; 4], fails: bool) -> Row {
    for (library, codes) in [("upstream", &codes[..2]), ("ours", &codes[2..])] {
        let place = paths::make_dir(folder.join(library)).unwrap();
        for (process, code) in ["client", "server"].iter().zip(codes) {
            paths::write(&place.join(format!("{process}.code")), code).unwrap();
            paths::write(&place.join(format!("{process}.out")), "20 us\n").unwrap();
        }
    }
    paths::write(&folder.join("title"), title).unwrap();
    if fails {
        paths::write(&folder.join("fails"), "").unwrap();
    }
    compare(folder).unwrap()
}

fn row(title: &str, codes: [&str; 4], fails: bool) -> Row {
    row_in(&paths::scratch("rows").unwrap(), title, codes, fails)
}

fn result(rows: Vec<Row>) -> ProgramsResult {
    ProgramsResult { rows, dirs: vec![PathBuf::from("/d")], time: Duration::from_secs(7) }
}

/// Runs a row that is good, and "pair", which ends one time after the other as `ends` says. The
/// result, and what each boot was asked for.
fn runs(ends: &[[&str; 4]], fails: bool) -> (ProgramsResult, Vec<Option<Vec<String>>>) {
    let mut asked = Vec::new();
    let result = run_with(|titles| {
        let pair = row("pair", ends[asked.len()], fails);
        let rows =
            if titles.is_none() { vec![row("other", GOOD, false), pair] } else { vec![pair] };
        asked.push(titles.map(<[String]>::to_vec));
        Ok(result(rows))
    });
    (result.unwrap(), asked)
}

#[test]
fn what_goes_as_expected_is_run_once() {
    let (result, asked) = runs(&[GOOD], false);
    assert_eq!(asked, [None]);
    let text = result.check().unwrap();
    assert_eq!(
        text,
        "2 programs or pairs of them in 7 s, 2 of them succeed with upstream's library"
    );
    let (result, asked) = runs(&[BOTH_CRASHED], true);
    assert_eq!(asked, [None]);
    assert!(result.check().unwrap().contains(", 1 of them succeed"));
}

#[test]
fn a_crash_of_the_reference_is_run_again_and_told() {
    let pair = || Some(vec!["pair".to_owned()]);
    for first in [UPSTREAM_CRASHED, BOTH_CRASHED] {
        let (result, asked) = runs(&[first, GOOD], false);
        assert_eq!(asked, [None, pair()]);
        assert!(result.rows.iter().all(|row| row.differences.is_empty()));
        let text = result.check().unwrap();
        assert!(text.ends_with(", 1 run again: pair (upstream's: client 0 server -11)"), "{text}");
        assert!(text.contains("in 14 s, 2 of them"), "{text}");
    }
    let (result, asked) = runs(&[UPSTREAM_CRASHED, BOTH_CRASHED, GOOD], false);
    assert_eq!(asked, [None, pair(), pair()]);
    let text = result.check().unwrap();
    assert!(
        text.ends_with("pair (upstream's: client 0 server -11; client 0 server -11)"),
        "{text}"
    );
}

#[test]
fn what_should_fail_and_works_is_run_again_too() {
    let (result, asked) = runs(&[GOOD, BOTH_CRASHED], true);
    assert_eq!(asked.len(), 2);
    assert!(result.check().unwrap().contains("1 run again: pair"));
}

#[test]
fn a_reference_that_stays_odd_fails() {
    let (result, asked) = runs(&[UPSTREAM_CRASHED; MORE_RUNS + 1], false);
    assert_eq!(asked.len(), MORE_RUNS + 1);
    let error = result.check().unwrap_err().to_string();
    assert!(error.contains("fails with upstream's library, which is not expected"), "{error}");
    assert!(error.contains("1 run again") && error.contains("/d, /d, /d"), "{error}");
}

#[test]
fn a_difference_from_a_good_reference_is_never_run_again() {
    let (result, asked) = runs(&[OURS_CRASHED], false);
    assert_eq!(asked, [None]);
    let error = result.check().unwrap_err().to_string();
    assert!(error.contains("server.code: -11, with upstream's library 0"), "{error}");
    // Not even when the first reference was odd.
    let (result, asked) = runs(&[UPSTREAM_CRASHED, OURS_CRASHED], false);
    assert_eq!(asked.len(), 2);
    assert!(result.check().is_err());
}

#[test]
fn another_row_than_the_odd_one_cannot_take_its_place() {
    let mut first = result(vec![row("pair", UPSTREAM_CRASHED, false)]);
    assert!(first.replace(result(vec![row("other", GOOD, false)])).is_err());
    assert!(first.replace(result(Vec::new())).is_err());
}

#[test]
fn a_client_that_was_not_started_is_a_difference() {
    let folder = paths::scratch("rows").unwrap();
    row_in(&folder, "pair", GOOD, false);
    for file in ["client.code", "client.out"] {
        std::fs::remove_file(folder.join("ours").join(file)).unwrap();
    }
    paths::write(&folder.join("ours/server.code"), "never listened").unwrap();
    let row = compare(&folder).unwrap();
    assert!(row.works_upstream && !row.is_odd());
    assert_eq!(row.differences[0], "client.code: no such file, with upstream's library 0");
    assert!(row.differences.iter().any(|text| text.starts_with("server.code: never listened,")));
}

/// What a row leaves whose client ends with `codes`, saying `error` with ours.
fn row_that_says(title: &str, codes: [&str; 4], error: &str) -> Row {
    let folder = paths::scratch("rows").unwrap();
    for (library, text) in [("upstream", ""), ("ours", error)] {
        let place = paths::make_dir(folder.join(library)).unwrap();
        paths::write(&place.join("client.err"), text).unwrap();
    }
    row_in(&folder, title, codes, false)
}

#[test]
fn a_race_of_the_program_itself_is_run_again_and_nothing_else_that_it_says() {
    const RACED: [&str; 4] = ["0", "0", "255", "0"];
    let line = "rdma_get_cm_event: Bad file descriptor\n";
    assert!(row_that_says("rping", RACED, line).is_odd());
    assert!(!row_that_says("rping", RACED, "rdma_get_cm_event: No such device\n").is_odd());
    assert!(!row_that_says("rping", RACED, "").is_odd());
    assert!(!row_that_says("ucmatose", RACED, line).is_odd());
    // If it comes each time, it is a failure in the end.
    let always = run_with(|_| Ok(result(vec![row_that_says("rping", RACED, line)]))).unwrap();
    assert!(always.check().is_err());
    let mut boots = 0;
    let once = run_with(|_| {
        boots += 1;
        let raced = row_that_says("rping", RACED, line);
        let good = row_that_says("rping", GOOD, "");
        Ok(result(vec![if boots == 1 { raced } else { good }]))
    });
    let text = once.unwrap().check().unwrap();
    assert!(
        text.contains("1 run again: rping") && text.contains("a race of the program's own"),
        "{text}"
    );
}

#[test]
fn a_wait_for_an_event_that_was_dropped_is_run_again_and_no_other_hang() {
    const HUNG: [&str; 4] = ["0", "0", "timeout", "0"];
    const MAIN: &str = "thread 7 comm: rping\n\
                        thread 7 syscall: 202 0x7f9667a3bce8 0x109 0x2 0x0 0x0 0xffffffff 0x7f 0x7e\n\
                        thread 7 stack: [<0>] futex_do_wait+0x4e/0x80; [<0>] do_futex+0x11d/0x1f0\n";
    const OTHER: &str = "thread 8 syscall: 1 0x4 0x7f9667a3ab00 0x10 0x0 0x0 0x0 0x7f 0x7e\n\
                         thread 8 stack: [<0>] ucma_get_event+0xfb/0x290; [<0>] ucma_write+0xce/0x1b0\n";
    let hung = |title: &str, stuck: &str| {
        let folder = paths::scratch("rows").unwrap();
        paths::make_dir(folder.join("ours")).unwrap();
        paths::write(&folder.join("ours/client.stuck"), stuck).unwrap();
        row_in(&folder, title, HUNG, false)
    };
    let both = format!("{MAIN}{OTHER}");
    assert!(hung("rping", &both).is_odd());
    assert!(!hung("rdma_server", &both).is_odd());
    // A mutex or a condition of its own; the connection manager by the main thread; a thread that
    // waits for completions.
    assert!(!hung("rping", &both.replace("0x109", "0x189")).is_odd());
    assert!(!hung("rping", &format!("{OTHER}{MAIN}")).is_odd());
    let third = "thread 9 syscall: 0\nthread 9 stack: [<0>] ib_uverbs_event_read+0x1/0x2\n";
    assert!(!hung("rping", &format!("{both}{third}")).is_odd());
    // What it was is told if it counts.
    let text = result(vec![hung("rping", MAIN)]).check().unwrap_err().to_string();
    assert!(text.contains("client.stuck:\nthread 7 comm: rping"), "{text}");
    let always = run_with(|_| Ok(result(vec![hung("rping", &both)]))).unwrap();
    assert!(always.check().is_err());
}
