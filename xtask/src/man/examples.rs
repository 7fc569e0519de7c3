//! The examples of the manual: compiled with the headers, and run on the device inside the library.
//!
//! What stands between `.nf` and `.fi` in the EXAMPLE section of `man/NAME.3` becomes `NAME.inc`,
//! which `xtask/c/man_examples.c` includes in a function of its own.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::section;
use crate::error::{Error, Result};
use crate::paths;
use crate::sh::Cmd;

/// The program that has all examples.
const PROGRAM: &str = "xtask/c/man_examples.c";

/// How they are compiled: as C11 and what POSIX adds.
const FLAGS: &[&str] =
    &["-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1"];

/// The longest that the program may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What examples print of what they see.
const PRINTED: &[&str] = &[
    "\nrequest 1: remote access error (vendor error ",
    "\nurxe0 ",
    "\nactive, MTU ",
    "\n1 at ",
    "\nlast WQE reached\n",
];

/// Compiles and runs the examples with `library`.
pub(crate) fn check(library: &Path) -> Result<String> {
    let dir = paths::scratch("man-examples")?;
    let examples = examples()?;
    let program = paths::checkout().join(PROGRAM);
    included(&examples, &paths::read(&program)?)?;
    for (name, text) in &examples {
        paths::write(&dir.join(format!("{name}.inc")), text)?;
    }
    let (copy, binary) = (dir.join("libibverbs.so.1"), dir.join("man_examples"));
    paths::copy(library, &copy)?;
    Cmd::new("gcc")
        .args(FLAGS)
        .arg(format!("-I{}", paths::checkout().join("include").display()))
        .arg(format!("-I{}", dir.display()))
        .arg("-o")
        .arg(&binary)
        .arg(&program)
        .arg(&copy)
        .arg(format!("-Wl,-rpath,{}", dir.display()))
        .run()?;
    let output = Cmd::new(&binary).env("IBV_DRIVERS", "urxe").timeout(PATIENCE).output()?;
    let output = format!("\n{output}");
    if let Some(lacking) = PRINTED.iter().find(|text| !output.contains(*text)) {
        return Err(Error::new(format!("no example printed {lacking:?}, but:{output}")));
    }
    let count = examples.len();
    if !output.ends_with(&format!("\n{count} examples\n")) {
        return Err(Error::new(format!("not all of {count} examples ran:{output}")));
    }
    Ok(format!("{count} examples compiled without a warning, and run on urxe"))
}

/// The lines of the examples, by the name of the page.
fn examples() -> Result<BTreeMap<String, String>> {
    let mut examples = BTreeMap::new();
    for path in paths::list(&paths::checkout().join("man"))? {
        if path.extension().is_some_and(|section| section == "3") {
            let code = code(&paths::read(&path)?);
            if !code.is_empty() {
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                examples.insert(name.into_owned(), code);
            }
        }
    }
    Ok(examples)
}

/// The lines of C in the example of a page.
fn code(page: &str) -> String {
    let mut code = String::new();
    let mut inside = false;
    for line in section(page, "EXAMPLE").chain(section(page, "EXAMPLES")) {
        match line {
            ".nf" => inside = true,
            ".fi" => inside = false,
            _ if inside => {
                let plain = line.replace("\\&", "").replace("\\-", "-").replace("\\e", "\\");
                code.push_str(&plain);
                code.push('\n');
            }
            _ => {}
        }
    }
    code
}

/// Fails unless the program has each example once, and nothing that is none.
fn included(examples: &BTreeMap<String, String>, program: &str) -> Result<()> {
    let mut lacking: Vec<&str> = examples.keys().map(String::as_str).collect();
    for line in program.lines() {
        let Some(name) = line.strip_prefix("#include \"").and_then(|it| it.strip_suffix(".inc\""))
        else {
            continue;
        };
        let Some(at) = lacking.iter().position(|it| *it == name) else {
            return Err(Error::new(format!("{PROGRAM}: no example, or twice: {name}")));
        };
        lacking.remove(at);
    }
    match lacking.as_slice() {
        [] => Ok(()),
        names => Err(Error::new(format!("{PROGRAM} lacks the example of {}", names.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::{code, included};

    #[test]
    fn an_example_is_what_its_page_shows() {
        let page = ".SH NAME\na\n.nf\nno\n.fi\n.SH EXAMPLE\nText:\n.nf\nint a;\n\\&\n\
                    b\\->c(\"\\en\");\n.fi\n.SH NOTES\n.nf\nno\n.fi\n";
        assert_eq!(code(page), "int a;\n\nb->c(\"\\n\");\n");
        assert_eq!(code(".SH EXAMPLE\nSee\n.BR x (3).\n"), "");
    }

    #[test]
    fn every_example_is_in_the_program_once() {
        let examples = [("a".to_owned(), String::new())].into();
        assert!(included(&examples, "{\n#include \"a.inc\"\n}").is_ok());
        for wrong in ["", "#include \"a.inc\"\n#include \"a.inc\"", "#include \"b.inc\""] {
            assert!(included(&examples, wrong).is_err(), "{wrong}");
        }
    }
}
