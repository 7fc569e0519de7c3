//! What the texts for people say of the checkout is true: files and folders that they name are there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::paths::checkout;

/// The texts.
const TEXTS: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "include/README.md",
    "models/README.md",
];

/// Names of what is not in the checkout: files of the system, and those that stand for others.
const ELSEWHERE: &[&str] = &[
    "fuzz/seeds/TARGET",
    "linux/types.h",
    "man/ibv_foo.3",
    "mlx5dv.h",
    "private_abi/v66.rs",
    "rdma/ib_user_verbs.h",
];

/// Endings of names of files.
const ENDINGS: &[&str] =
    &[".rs", ".c", ".h", ".py", ".md", ".toml", ".tsv", ".txt", ".map", ".supp", ".3", ".7"];

/// All files and folders below one, from the checkout on.
fn all(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder of the checkout") {
        let path = entry.expect("an entry").path();
        let name = path.strip_prefix(checkout()).expect("below it").display().to_string();
        // Not what tools keep there.
        if name.starts_with('.') || name.ends_with("target") {
            continue;
        }
        if path.is_dir() && !path.is_symlink() {
            all(&path, found);
        }
        found.insert(name);
    }
}

/// The names in a text: between backticks, and of links.
fn names(text: &str) -> BTreeSet<String> {
    let is_name = |word: &&str| {
        let is_file = ENDINGS.iter().any(|ending| word.ends_with(ending));
        let good = |c: char| c.is_ascii_alphanumeric() || "_./-*".contains(c);
        let place = word.starts_with(['/', '.', '-']) || word.starts_with("target/");
        (is_file || word.contains('/')) && word.chars().all(good) && !place
    };
    let is_code = |line: &&str| line.starts_with("    ") || line.starts_with("```");
    let mut found = BTreeSet::new();
    for line in text.lines().filter(|line| !is_code(line)) {
        let quoted = line.split('`').skip(1).step_by(2);
        let linked = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        found.extend(
            quoted.chain(linked).filter(is_name).map(|name| name.trim_end_matches('/').to_owned()),
        );
    }
    found
}

/// Whether a name, in which one star stands for anything but a folder, is that of a path, or of its
/// last parts.
fn is_of(name: &str, path: &str) -> bool {
    let Some((begin, end)) = name.split_once('*') else {
        return path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    };
    let middle = path.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
    middle.is_some_and(|middle| !middle.contains('/'))
}

#[test]
fn what_the_texts_name_is_there() {
    let mut paths = BTreeSet::new();
    all(checkout(), &mut paths);
    let mut missing = Vec::new();
    let mut count = 0;
    for text in TEXTS {
        let content = fs::read_to_string(checkout().join(text)).expect("a text");
        for name in names(&content) {
            count += 1;
            let is_there = paths.iter().any(|path| is_of(&name, path));
            // One that is there after all is no exception any more.
            if is_there == ELSEWHERE.contains(&name.as_str()) {
                missing.push(format!("{text}: {name}"));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new(), "of {count}");
    assert!(count > 100, "only {count} names were found");
}

#[test]
fn names_are_recognized() {
    let text = "`src/a.rs`, [b](man/b.7), `cargo xtask x`, `a_b`, `/dev/x`, `c.tsv`, `src/d/`\n";
    assert_eq!(
        names(text).into_iter().collect::<Vec<_>>(),
        ["c.tsv", "man/b.7", "src/a.rs", "src/d"]
    );
    assert!(is_of("d/e.rs", "src/d/e.rs") && !is_of("d/e.rs", "src/dd/e.rs"));
    assert!(is_of("man/*.3", "man/a.3") && !is_of("man/*.3", "man/b/a.3"));
}
