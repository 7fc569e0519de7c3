//! `cargo xtask headers`: the C headers in `include/infiniband`.
//!
//! `include/templates` has a file for each of them, with what only C can say: inline functions,
//! macros, the order. A line that begins with `@` there stands for declarations that cbindgen reads
//! from the Rust sources:
//!
//! | line | what it becomes |
//! |---|---|
//! | `@forward` | `struct x;` for all structs and unions of the header |
//! | `@types SOURCE...` | the types and constants of `src/SOURCE.rs` |
//! | `@kernel-types SOURCE...` | the same with the kernel's names of integers |
//! | `@only NAME...` | these types and constants, which are then left out elsewhere |
//! | `@functions SOURCE... -NAME...` | the exported functions of `src/SOURCE.rs`, some left out |

mod bindgen;
mod check;
mod objects;
mod render;
pub(crate) mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;

use self::render::Declarations;
use crate::error::{Context, Error, Result};
use crate::paths;

/// What `cargo xtask headers` can do.
const USAGE: &str = "\
usage: cargo xtask headers [--check | test | sources [PACKAGE]...]

  writes the headers in include/infiniband from include/templates and the Rust sources; --check
  writes nothing, and fails if one of them is not what it would become; test runs all checks;
  sources compiles perftest, qperf, ucx, libfabric and rdma-core of Debian, or the packages given,
  against the headers and the release build, and once against Debian's headers to compare with, and
  runs the programs; that takes half an hour to an hour
";

/// What the checks need.
pub(crate) const NEEDS: &[&str] = &["gcc", "g++", "clang", "libc6-dev", "linux-libc-dev"];

/// `cargo xtask headers`.
pub(crate) fn main(args: &[String]) -> Result<ExitCode> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let found = match args.as_slice() {
        [] => write()?,
        ["--check"] => check_files(&generate()?)?,
        ["test"] => check()?,
        ["sources", packages @ ..] => {
            sources::run(packages, &paths::target().join("release/libibverbs.so"))?
        }
        ["help"] => USAGE.to_owned(),
        _ => return Err(Error::new(USAGE)),
    };
    println!("{found}");
    Ok(ExitCode::SUCCESS)
}

/// All checks of the headers.
pub(crate) fn check() -> Result<String> {
    let generated = generate()?;
    let files = check_files(&generated)?;
    Ok(format!("{files}; {}", check::run(&generated)?))
}

/// The folder with the headers.
fn folder() -> PathBuf {
    paths::checkout().join("include/infiniband")
}

/// Writes all headers.
fn write() -> Result<String> {
    let headers = generate()?.headers;
    for (name, text) in &headers {
        paths::write(&paths::make_dir(folder())?.join(name), text)?;
    }
    Ok(format!("{} headers written", headers.len()))
}

/// Compares all headers with what they should be.
fn check_files(generated: &Generated) -> Result<String> {
    let headers = &generated.headers;
    for (name, text) in headers {
        let file = folder().join(name);
        if std::fs::read_to_string(&file).ok().as_ref() != Some(text) {
            return Err(Error::new(format!(
                "{} is not what the sources and its template say; run `cargo xtask headers`",
                file.display()
            )));
        }
    }
    for file in paths::list(&folder())? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !headers.contains_key(&name) {
            return Err(Error::new(format!("{} has no template", file.display())));
        }
    }
    Ok(format!("{} headers as the sources say", headers.len()))
}

/// A header to be.
struct Template {
    name: String,
    text: String,
}

impl Template {
    /// The words after each `@directive`.
    fn words<'a>(&'a self, directive: &'a str) -> impl Iterator<Item = &'a str> {
        let lines = self.text.lines().filter_map(move |line| line.strip_prefix(directive));
        let words = lines.filter(|rest| rest.starts_with(' ')).flat_map(str::split_whitespace);
        words.filter(|word| !word.starts_with('-'))
    }

    /// The macros that are defined by hand.
    fn macros(&self) -> impl Iterator<Item = &str> {
        let defined = self.text.lines().filter_map(|line| line.strip_prefix("#define "));
        defined.filter_map(|rest| rest.split([' ', '(']).next())
    }

    /// The sources of the types in this header.
    fn type_sources(&self) -> Vec<String> {
        self.words("@types").chain(self.words("@kernel-types")).map(str::to_owned).collect()
    }
}

/// What was made of the templates and the sources.
struct Generated {
    /// The text of each header.
    headers: BTreeMap<String, String>,
    /// What was read from the Rust sources.
    declarations: Declarations,
    /// The macros that are written by hand.
    macros: BTreeSet<String>,
}

/// Makes the headers.
fn generate() -> Result<Generated> {
    let mut templates = Vec::new();
    for path in paths::list(&paths::checkout().join("include/templates"))? {
        let text = std::fs::read_to_string(&path);
        let text = text.context(|| format!("cannot read {}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        templates.push(Template { name, text });
    }
    let types: Vec<String> = templates.iter().flat_map(Template::type_sources).collect();
    let functions: Vec<String> =
        templates.iter().flat_map(|it| it.words("@functions")).map(str::to_owned).collect();
    let macros: BTreeSet<String> =
        templates.iter().flat_map(Template::macros).map(str::to_owned).collect();
    let only: BTreeSet<String> =
        templates.iter().flat_map(|it| it.words("@only")).map(str::to_owned).collect();
    let items = bindgen::read(&types, &functions)?;
    let mut declarations = Declarations::new(items, &macros);
    let mut headers = BTreeMap::new();
    for template in &templates {
        expand(template, &templates, &only, &mut declarations, &mut headers)?;
    }
    match declarations.forgotten().as_slice() {
        [] => {}
        names => return Err(Error::new(format!("in no header: {}", names.join(", ")))),
    }
    functions_present(&headers)?;
    Ok(Generated { headers, declarations, macros })
}

/// Exported functions that are for providers, and in none of these headers.
const FOR_PROVIDERS: &[&str] = &[
    "ibv_copy_ah_attr_from_kern",
    "ibv_copy_path_rec_from_kern",
    "ibv_copy_path_rec_to_kern",
    "ibv_copy_qp_attr_from_kern",
    "ibv_dofork_range",
    "ibv_dontfork_range",
    "ibv_get_sysfs_path",
    "ibv_read_sysfs_file",
];

/// Looks for each function that the library exports under a public version, and for each inline
/// function that it has as a plain symbol.
fn functions_present(headers: &BTreeMap<String, String>) -> Result<()> {
    let exports = paths::read(&paths::checkout().join("abi-tests/exports.txt"))?;
    let names = exports.lines().filter(|line| !line.contains("@@IBVERBS_PRIVATE"));
    let names = names.filter_map(|line| Some(line.split_once("@@IBVERBS_")?.0));
    let missing = names.filter(|name| {
        let declared = [format!(" {name}("), format!("*{name}(")];
        let is_there = |text: &String| declared.iter().any(|start| text.contains(start));
        !FOR_PROVIDERS.contains(name) && !headers.values().any(is_there)
    });
    match missing.collect::<Vec<_>>().as_slice() {
        [] => Ok(()),
        names => Err(Error::new(format!("declared in no header: {}", names.join(", ")))),
    }
}

/// Makes the header of a template, after those that it includes.
fn expand(
    template: &Template,
    templates: &[Template],
    only: &BTreeSet<String>,
    declarations: &mut Declarations,
    headers: &mut BTreeMap<String, String>,
) -> Result<()> {
    if headers.contains_key(&template.name) {
        return Ok(());
    }
    for name in template.words("#include") {
        let name = name.trim_start_matches("<infiniband/").trim_end_matches('>');
        if let Some(included) = templates.iter().find(|it| it.name == name) {
            expand(included, templates, only, declarations, headers)?;
        }
    }
    declarations.start(template.words("@kernel-types").next().is_some());
    let mut text = String::new();
    for line in template.text.lines() {
        let Some(directive) = line.strip_prefix('@') else {
            text.push_str(line);
            text.push('\n');
            continue;
        };
        let mut words = directive.split_whitespace();
        let name = words.next().unwrap_or_default();
        let (without, sources): (Vec<&str>, Vec<&str>) =
            words.partition(|word| word.starts_with('-'));
        let without: Vec<&str> = without.iter().map(|word| &word[1..]).collect();
        let mut expansion = String::new();
        match name {
            "forward" => expansion.push_str(&declarations.forward(&template.type_sources())),
            _ => {
                for source in sources {
                    expansion.push_str(&match name {
                        "types" | "kernel-types" => declarations.types(source, only)?,
                        "only" => declarations.named(source)?,
                        "functions" => declarations.functions(source, &without),
                        _ => return Err(Error::new(format!("what is {line}?"))),
                    });
                }
            }
        }
        text.push_str(expansion.trim_end());
        text.push('\n');
    }
    headers.insert(template.name.clone(), text);
    Ok(())
}
