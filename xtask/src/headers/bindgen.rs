//! What cbindgen reads from the Rust sources: constants, structs, unions and functions.

use std::path::Path;

use crate::error::{Context, Error, Result};
use crate::sh::Cmd;
use crate::{paths, tools};

/// The version of cbindgen, whose output must be the same everywhere.
const CBINDGEN: &str = "0.29.2";

/// A declaration in a source file.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Its name.
    pub(super) name: String,
    /// The source file, as [`read`] was given it.
    pub(super) source: String,
    /// Where in all the sources it stands.
    pub(super) position: usize,
    /// The documentation, line by line.
    pub(super) doc: Vec<String>,
    /// What it is.
    pub(super) kind: Kind,
}

/// A kind of declaration; types are written as C++ writes them, without `struct` and `enum`.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Another name for an integer: an enumeration if constants are of this type.
    Alias,
    /// A constant, its type and value.
    Constant { ty: String, value: String },
    /// A struct or a union.
    Record { union: bool, members: Vec<Member> },
    /// The declaration of a function, without the semicolon.
    Function { text: String },
}

/// A member of a struct or union.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// The documentation, line by line.
    pub(super) doc: Vec<String>,
    /// Type and name.
    pub(super) text: String,
}

/// All public declarations of types and constants in `types`, and of the exported functions in
/// `functions`; both are paths below `src` without the `.rs`.
pub(super) fn read(types: &[String], functions: &[String]) -> Result<Vec<Item>> {
    let mut sources = Vec::new();
    for name in types {
        sources.push((name.clone(), plain(&source(name)?)));
    }
    for name in functions {
        sources.push((name.clone(), exported(&plain(&source(name)?))));
    }
    let text = declarations(&sources)?;
    let mut items = parse(&text)?;
    for item in &mut items {
        locate(item, &sources)?;
    }
    items.sort_by_key(|item| item.position);
    Ok(items)
}

/// The text of a source file.
fn source(name: &str) -> Result<String> {
    let path = paths::checkout().join("src").join(format!("{name}.rs"));
    let text = std::fs::read_to_string(&path);
    text.context(|| format!("cannot read {}", path.display()))
}

/// A source without its tests, and without what may stand at the beginning of a file only.
fn plain(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with("//!") && !line.starts_with("#!["));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// A source whose exported functions are marked as cbindgen wants them. The library exports them
/// with a version, through the assembler, and not by their name.
fn exported(text: &str) -> String {
    const FUNCTION: &str = "extern \"C\" fn ";
    let mut marked = String::new();
    for line in text.lines() {
        // Whatever can see it.
        let visible = line.strip_prefix("pub(").and_then(|rest| rest.split_once(") "));
        let at_start = visible.map_or(line, |(_, rest)| rest).trim_start_matches("unsafe ");
        if let Some(rest) = at_start.strip_prefix(FUNCTION) {
            let name = rest.split(['(', '<']).next().unwrap_or_default();
            let is_exported = ["export!(", "export_private!("].iter().any(|export| {
                [")", " "].iter().any(|end| text.contains(&format!("{export}{name}{end}")))
            });
            if is_exported && !rest.starts_with(&format!("{name}<")) {
                marked.push_str("#[no_mangle] pub unsafe ");
                marked.push_str(at_start);
                marked.push('\n');
                continue;
            }
        }
        marked.push_str(line);
        marked.push('\n');
    }
    marked
}

/// What cbindgen says about the sources, all in one file.
fn declarations(sources: &[(String, String)]) -> Result<String> {
    let folder = paths::scratch("cbindgen")?;
    let (input, config) = (folder.join("sources.rs"), folder.join("cbindgen.toml"));
    let all: String = sources.iter().map(|(_, text)| text.as_str()).collect();
    // Types that no function mentions are left out unless they are listed.
    let listed = all.lines().filter_map(|line| {
        let rest = line.strip_prefix("pub ")?;
        let (kind, rest) = rest.split_once(' ')?;
        let is_type = matches!(kind, "struct" | "union" | "type");
        is_type.then(|| format!("{:?}", name_at(rest)))
    });
    let listed = listed.collect::<Vec<_>>().join(", ");
    let settings = paths::read(&paths::checkout().join("cbindgen.toml"))?;
    paths::write(&config, format!("{settings}\n[export]\ninclude = [{listed}]\n"))?;
    paths::write(&input, all)?;
    let output = folder.join("declarations.h");
    run(&config, &input, &output)?;
    paths::read(&output)
}

/// Runs cbindgen.
fn run(config: &Path, input: &Path, output: &Path) -> Result<()> {
    Cmd::new(tools::ensure("cbindgen", CBINDGEN)?)
        .args(["--quiet", "--config"])
        .arg(config)
        .arg("--output")
        .arg(output)
        .arg(input)
        .quiet()
        .run()
}

/// The identifier at the beginning of `text`.
fn name_at(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// Finds out where an item was declared.
fn locate(item: &mut Item, sources: &[(String, String)]) -> Result<()> {
    let before = match item.kind {
        Kind::Alias => "pub type ",
        Kind::Constant { .. } => "pub const ",
        Kind::Record { union: false, .. } => "pub struct ",
        Kind::Record { union: true, .. } => "pub union ",
        Kind::Function { .. } => "extern \"C\" fn ",
    };
    let mut start = 0;
    for (name, text) in sources {
        let declared = text
            .match_indices(before)
            .find(|(at, _)| name_at(&text[at + before.len()..]) == item.name);
        if let Some((at, _)) = declared {
            item.source.clone_from(name);
            item.position = start + at;
            return Ok(());
        }
        start += text.len();
    }
    Err(Error::new(format!("cbindgen declares {}, which no source does", item.name)))
}

/// Takes cbindgen's output apart. With the settings that it has, a declaration is one line, and
/// documentation a comment of several in front of it.
fn parse(text: &str) -> Result<Vec<Item>> {
    let mut items = Vec::new();
    let mut doc = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = line.trim_end();
        if line == "/*" {
            doc = comment(&mut lines);
            continue;
        }
        let (name, kind) = if let Some(rest) = line.strip_prefix("constexpr static const ") {
            let (left, value) = split(rest.trim_end_matches(';'), " = ")?;
            let (ty, name) = left.rsplit_once(' ').ok_or_else(|| odd(line))?;
            (name.to_owned(), Kind::Constant { ty: ty.to_owned(), value })
        } else if let Some(rest) = line.strip_prefix("using ") {
            (split(rest, " = ")?.0, Kind::Alias)
        } else if let Some((word, rest)) =
            line.split_once(' ').filter(|(word, _)| matches!(*word, "struct" | "union"))
        {
            let members = members(&mut lines, rest)?;
            (name_at(rest).to_owned(), Kind::Record { union: word == "union", members })
        } else if line.ends_with(");") && line.contains('(') {
            let text = line.trim_end_matches(';').to_owned();
            let left = text.split('(').next().unwrap_or_default();
            let name = left.rsplit([' ', '*']).next().unwrap_or_default().to_owned();
            (name, Kind::Function { text })
        } else if line.is_empty() || line.contains("extern \"C\"") {
            continue;
        } else {
            return Err(odd(line));
        };
        let doc = std::mem::take(&mut doc);
        items.push(Item { name, source: String::new(), position: 0, doc, kind });
    }
    Ok(items)
}

/// The members of the struct or union of which the rest of the first line is `first`.
fn members<'a>(lines: &mut impl Iterator<Item = &'a str>, first: &str) -> Result<Vec<Member>> {
    let mut members = Vec::new();
    if first.ends_with("};") || first.ends_with(';') {
        return Ok(members);
    }
    let mut doc = Vec::new();
    while let Some(line) = lines.next().map(str::trim) {
        match line {
            "};" => return Ok(members),
            "/*" => doc = comment(lines),
            "" => {}
            _ => {
                let text = line.strip_suffix(';').ok_or_else(|| odd(line))?.to_owned();
                members.push(Member { doc: std::mem::take(&mut doc), text });
            }
        }
    }
    Err(odd(first))
}

/// The lines of a comment.
fn comment<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Vec<String> {
    lines.map(str::trim).take_while(|line| *line != "*/").map(str::to_owned).collect()
}

/// Both sides of the first `at` in `text`.
fn split(text: &str, at: &str) -> Result<(String, String)> {
    let (left, right) = text.split_once(at).ok_or_else(|| odd(text))?;
    Ok((left.to_owned(), right.to_owned()))
}

/// What cannot be understood.
fn odd(line: &str) -> Error {
    Error::new(format!("cbindgen wrote something unexpected: {line}"))
}
