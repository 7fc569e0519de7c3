//! The table of `models/README.md`: which source files use atomics, and which models run them.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::{Context, Error, Result};

/// What the table, the sources and the list of models say.
#[derive(Default)]
struct Facts {
    /// Rows of the table: the files, and the last cell.
    rows: Vec<(Vec<String>, String)>,
    /// Files below `src/` that use atomics.
    users: BTreeSet<String>,
    /// Those of them that do not take them from `crate::sync`.
    strangers: Vec<String>,
    /// Names of models.
    models: BTreeSet<String>,
}

/// Compares the table with the sources below `checkout`; how much there is.
///
/// # Errors
///
/// Each file or model that one side lacks.
pub(crate) fn check(checkout: &Path) -> Result<String> {
    let table = checkout.join("models/README.md");
    let text = std::fs::read_to_string(&table).context(|| table.display())?;
    let mut facts = Facts { rows: rows(&text), ..Facts::default() };
    for_each_source(&checkout.join("src"), &mut |name, text| {
        let text = code(text);
        if is_only_for_tests(name) || !uses_atomics(&text) {
            return;
        }
        facts.users.insert(name.to_owned());
        if name != "sync.rs" && takes_them_from_elsewhere(&text) {
            facts.strangers.push(name.to_owned());
        }
    })?;
    for_each_source(&checkout.join("models/src"), &mut |_, text| {
        facts.models.extend(text.lines().filter_map(name_of_model).map(str::to_owned));
    })?;
    let faults = faults(&facts);
    if !faults.is_empty() {
        return Err(Error::new(format!("models/README.md: {}", faults.join("\n    "))));
    }
    let (files, models) = (facts.users.len(), facts.models.len());
    Ok(format!("{files} source files with atomics, {models} models in the table"))
}

/// What is wrong with the table.
fn faults(facts: &Facts) -> Vec<String> {
    let mut faults = Vec::new();
    let (mut named, mut mentioned) = (BTreeSet::new(), BTreeSet::new());
    for (files, cell) in &facts.rows {
        named.extend(files.iter().cloned());
        let models = quoted(cell);
        let reason = cell.split_once("none:").map_or("", |(_, reason)| reason.trim());
        if files.is_empty() {
            faults.push(format!("a row without files: {cell}"));
        }
        if models.is_empty() && reason.len() < 20 {
            faults.push(format!("neither models nor a reason for {}", files.join(", ")));
        }
        mentioned.extend(models);
    }
    let missing = |from: &BTreeSet<String>, of: &BTreeSet<String>, what: &str| -> Vec<String> {
        of.difference(from).map(|name| format!("{name} {what}")).collect()
    };
    faults.extend(missing(&named, &facts.users, "uses atomics and is not in the table"));
    faults.extend(missing(&facts.users, &named, "is in the table and uses no atomics"));
    faults.extend(missing(&mentioned, &facts.models, "is a model and not in the table"));
    faults.extend(missing(&facts.models, &mentioned, "is in the table and no model"));
    faults.extend(
        facts.strangers.iter().map(|name| format!("{name} takes atomics from elsewhere than sync")),
    );
    faults
}

/// The rows of the table of a text.
fn rows(text: &str) -> Vec<(Vec<String>, String)> {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let rows = text.lines().filter(|line| line.starts_with("| ")).map(cells).skip(1);
    rows.filter_map(|row| Some((quoted(row.get(1)?), row.get(2)?.clone()))).collect()
}

/// What stands between backquotes.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The code of a source file, without comments, and without the module of tests at its end.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_inline = |next: &&str| next.contains("mod ") && next.ends_with('{');
        if line == "#[cfg(test)]" && lines.peek().is_some_and(is_inline) {
            break;
        }
        code.push_str(line.split("//").next().unwrap_or_default());
        code.push('\n');
    }
    code
}

fn uses_atomics(code: &str) -> bool {
    let once = ["Once", "OnceLock", "LazyLock", "OnceCell"];
    let is_once = |word: &str| once.contains(&word);
    code.contains("sync::atomic")
        || code.split(|c: char| !c.is_alphanumeric() && c != '_').any(is_once)
}

/// A fence for the compiler is none for the processor.
fn takes_them_from_elsewhere(code: &str) -> bool {
    code.lines().any(|line| {
        (line.contains("core::sync::atomic") || line.contains("std::sync::atomic"))
            && !line.contains("compiler_fence")
    })
}

fn is_only_for_tests(name: &str) -> bool {
    name.split('/')
        .any(|part| matches!(part, "tests" | "tests.rs" | "testing.rs" | "fuzz" | "watched.rs"))
}

/// The name in a line `name: "...",` of a model.
fn name_of_model(line: &str) -> Option<&str> {
    line.trim().strip_prefix("name: \"")?.strip_suffix("\",")
}

/// Calls a function with the name, below `folder`, and the text of each Rust file.
fn for_each_source(folder: &Path, action: &mut impl FnMut(&str, &str)) -> Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).context(|| next.display())? {
            let path = entry.context(|| next.display())?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).context(|| path.display())?;
                let name = path.strip_prefix(folder).unwrap_or(&path);
                action(&name.to_string_lossy(), &text);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths;

    #[test]
    fn the_table_is_true() {
        check(paths::checkout()).unwrap();
    }

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn facts(table: &str, users: &[&str], models: &[&str]) -> Facts {
        let (rows, users, models) = (rows(table), set(users), set(models));
        Facts { rows, users, models, strangers: Vec::new() }
    }

    const TABLE: &str = "text\n\n| structure | files | models |\n|---|---|---|\n\
        | one | `a.rs`, `b/c.rs` | `m, 1`; `m, 2` |\n| two | `d.rs` | none: it is nothing but one word |\n";

    #[test]
    fn whatever_one_side_lacks_is_a_fault() {
        let all = ["a.rs", "b/c.rs", "d.rs"];
        assert_eq!(faults(&facts(TABLE, &all, &["m, 1", "m, 2"])), [""; 0]);
        let fault = |users: &[&str], models: &[&str]| faults(&facts(TABLE, users, models));
        assert_eq!(
            fault(&["a.rs", "b/c.rs", "d.rs", "e.rs"], &["m, 1", "m, 2"]),
            ["e.rs uses atomics and is not in the table"]
        );
        assert_eq!(
            fault(&all[..2], &["m, 1", "m, 2"]),
            ["d.rs is in the table and uses no atomics"]
        );
        assert_eq!(
            fault(&all, &["m, 2", "m, 3"]),
            ["m, 3 is a model and not in the table", "m, 1 is in the table and no model"]
        );
        let bare = TABLE.replace("it is nothing but one word", "no");
        assert_eq!(
            faults(&facts(&bare, &all, &["m, 1", "m, 2"])),
            ["neither models nor a reason for d.rs"]
        );
        let strange =
            Facts { strangers: vec!["a.rs".to_owned()], ..facts(TABLE, &all, &["m, 1", "m, 2"]) };
        assert_eq!(faults(&strange), ["a.rs takes atomics from elsewhere than sync"]);
    }

    #[test]
    fn tests_and_comments_do_not_count() {
        for (text, uses) in [
            ("use crate::sync::atomic::AtomicU32;\n", true),
            ("use std::sync::OnceLock;\n", true),
            ("// crate::sync::atomic\nfn once_more() {}\n", false),
            (
                "fn f() {}\n#[cfg(test)]\npub(super) mod tests {\n use core::sync::atomic::X;\n",
                false,
            ),
            ("#[cfg(test)]\nmod tests;\nuse crate::sync::atomic::AtomicU32;\n", true),
        ] {
            assert_eq!(uses_atomics(&code(text)), uses, "{text}");
        }
        assert!(takes_them_from_elsewhere("use core::sync::atomic::AtomicU32;"));
        assert!(!takes_them_from_elsewhere("use core::sync::atomic::compiler_fence;"));
        assert!(is_only_for_tests("a/tests/b.rs") && is_only_for_tests("a/testing.rs"));
        assert_eq!(name_of_model("    name: \"a, b\","), Some("a, b"));
    }
}
