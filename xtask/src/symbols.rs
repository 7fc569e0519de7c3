//! The exported symbols: what the library has against what it must have, in both directions.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::{Error, Result};
use crate::paths;
use crate::sh::Cmd;

/// The wanted exports, `name@@version type [size]` per line.
pub(crate) fn wanted() -> Result<BTreeSet<String>> {
    let text = paths::read(&paths::checkout().join("abi-tests/exports.txt"))?;
    Ok(text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect())
}

/// Fails unless `library` exports exactly the wanted names, with versions, types and the sizes of
/// data objects, under the right SONAME and needing nothing but the C library and libgcc_s.
pub(crate) fn check(library: &Path) -> Result<String> {
    let found = exports(library)?;
    let wanted = wanted()?;
    let mut wrong: Vec<String> = Vec::new();
    wrong.extend(wanted.difference(&found).map(|symbol| format!("missing: {symbol}")));
    wrong.extend(found.difference(&wanted).map(|symbol| format!("not wanted: {symbol}")));
    wrong.extend(check_dynamic(library)?);
    if wrong.is_empty() {
        Ok(format!("{} exports, all as wanted", found.len()))
    } else {
        Err(Error::new(wrong.join("\n")))
    }
}

/// The defined dynamic symbols of `library`, as lines of the wanted list.
pub(crate) fn exports(library: &Path) -> Result<BTreeSet<String>> {
    let table = Cmd::new("readelf").args(["-W", "--dyn-syms"]).arg(library).quiet().output()?;
    Ok(table.lines().filter_map(export).collect())
}

/// A line of readelf's symbol table as a line of the wanted list; nothing for other lines, for
/// undefined symbols, and for the absolute ones that name a version node.
fn export(line: &str) -> Option<String> {
    let mut columns = line.split_whitespace();
    columns.next()?.strip_suffix(':')?.parse::<u32>().ok()?;
    let (_value, size, kind, bind, _visibility, section, name) = (
        columns.next()?,
        columns.next()?,
        columns.next()?,
        columns.next()?,
        columns.next()?,
        columns.next()?,
        columns.next()?,
    );
    if section == "UND" || section == "ABS" || bind == "LOCAL" {
        return None;
    }
    Some(match kind {
        "OBJECT" => format!("{name} object {size}"),
        kind => format!("{name} {}", kind.to_lowercase()),
    })
}

/// What is wrong with the dynamic section.
fn check_dynamic(library: &Path) -> Result<Vec<String>> {
    let table = Cmd::new("readelf").args(["-W", "-d"]).arg(library).quiet().output()?;
    let value = |line: &str| line.split(['[', ']']).nth(1).unwrap_or_default().to_owned();
    let mut wrong = Vec::new();
    let sonames: Vec<String> =
        table.lines().filter(|line| line.contains("(SONAME)")).map(value).collect();
    if sonames != ["libibverbs.so.1"] {
        wrong.push(format!("SONAME is {sonames:?}"));
    }
    for needed in table.lines().filter(|line| line.contains("(NEEDED)")).map(value) {
        let known = ["libc.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"];
        if !known.contains(&needed.as_str()) {
            wrong.push(format!("needs {needed}"));
        }
    }
    Ok(wrong)
}

#[cfg(test)]
mod tests {
    use super::export;

    #[test]
    fn symbol_lines_become_lines_of_the_wanted_list() {
        let function =
            "    57: 000000000000f770  2121 FUNC    GLOBAL DEFAULT   16 ibv_x@@IBVERBS_1.1";
        assert_eq!(export(function).as_deref(), Some("ibv_x@@IBVERBS_1.1 func"));
        let object =
            "    58: 000000000000f770     1 OBJECT  GLOBAL DEFAULT   22 b@@IBVERBS_PRIVATE_65";
        assert_eq!(export(object).as_deref(), Some("b@@IBVERBS_PRIVATE_65 object 1"));
        let undefined =
            "     5: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND calloc@GLIBC_2.2.5";
        assert_eq!(export(undefined), None);
        let header = "   Num:    Value          Size Type    Bind   Vis      Ndx Name";
        assert_eq!(export(header), None);
        assert_eq!(export("Symbol table '.dynsym' contains 62 entries:"), None);
    }
}
