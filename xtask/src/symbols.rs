//! The exported symbols: what the library has against what it must have, in both directions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::error::{Error, Result};
use crate::paths;
use crate::sh::Cmd;

/// What a line of the wanted list ends in if an older private version is a function of its own.
const OWN: &str = " own";

/// The wanted exports.
pub(crate) struct Wanted {
    /// `name@@version type [size]` each.
    pub(crate) exports: BTreeSet<String>,
    /// Those of older private nodes that are not the function of the newest one.
    pub(crate) own: BTreeSet<String>,
}

/// The list of the wanted exports.
pub(crate) fn wanted() -> Result<Wanted> {
    let text = paths::read(&paths::checkout().join("abi-tests/exports.txt"))?;
    let mut wanted = Wanted { exports: BTreeSet::new(), own: BTreeSet::new() };
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let export = line.strip_suffix(OWN).unwrap_or(line);
        wanted.exports.insert(export.to_owned());
        if export != line {
            wanted.own.insert(export.to_owned());
        }
    }
    Ok(wanted)
}

/// Fails unless `library` exports exactly the wanted names, with versions, types and the sizes of
/// data objects, under the right SONAME and needing nothing but the C library and libgcc_s.
pub(crate) fn check(library: &Path) -> Result<String> {
    let table = table(library)?;
    let found = table.keys().cloned().collect();
    let wanted = wanted()?;
    let mut wrong: Vec<String> = Vec::new();
    wrong.extend(wanted.exports.difference(&found).map(|symbol| format!("missing: {symbol}")));
    wrong.extend(found.difference(&wanted.exports).map(|symbol| format!("not wanted: {symbol}")));
    wrong.extend(not_the_newest(&table, &wanted.own));
    wrong.extend(check_dynamic(library)?);
    if wrong.is_empty() {
        Ok(format!("{} exports, all as wanted", found.len()))
    } else {
        Err(Error::new(wrong.join("\n")))
    }
}

/// The defined dynamic symbols of `library`, as lines of the wanted list, with their addresses.
fn table(library: &Path) -> Result<BTreeMap<String, String>> {
    let table = Cmd::new("readelf").args(["-W", "--dyn-syms"]).arg(library).quiet().output()?;
    let address = |line: &str| line.split_whitespace().nth(1).unwrap_or_default().to_owned();
    Ok(table.lines().filter_map(|line| Some((export(line)?, address(line)))).collect())
}

/// The names in each private version node of `library`.
pub(crate) fn private_names(library: &Path) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let mut nodes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for symbol in table(library)?.into_keys() {
        let Some((name, rest)) = symbol.split_once('@') else { continue };
        let node = rest.trim_start_matches('@').split(' ').next().unwrap_or_default();
        if node.starts_with("IBVERBS_PRIVATE_") {
            nodes.entry(node.to_owned()).or_default().insert(name.to_owned());
        }
    }
    Ok(nodes)
}

/// The symbols of older private nodes that ought to be those of the newest one, and are not.
fn not_the_newest(table: &BTreeMap<String, String>, own: &BTreeSet<String>) -> Vec<String> {
    let newest = |name: &str| {
        let default = |symbol: &&String| {
            symbol.strip_prefix(name).is_some_and(|rest| rest.starts_with("@@IBVERBS_PRIVATE_"))
        };
        table.keys().find(default).and_then(|symbol| table.get(symbol))
    };
    let older = table.iter().filter(|(symbol, _)| !own.contains(*symbol));
    older
        .filter_map(|(symbol, address)| {
            let (name, _) = symbol.split_once("@IBVERBS_PRIVATE_")?;
            // The default version itself has one more of the separator.
            let wrong = !name.ends_with('@') && newest(name) != Some(address);
            wrong.then(|| format!("not the function of the newest private ABI: {symbol}"))
        })
        .collect()
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
    use super::*;

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
    #[test]
    fn older_private_versions_are_the_newest_unless_said_otherwise() {
        let symbol = |name: &str, address: &str| (name.to_owned(), address.to_owned());
        let table = BTreeMap::from([
            symbol("a@@IBVERBS_PRIVATE_65 func", "10"),
            symbol("a@IBVERBS_PRIVATE_64 func", "10"),
            symbol("a@IBVERBS_PRIVATE_34 func", "20"),
            symbol("ab@@IBVERBS_PRIVATE_65 func", "20"),
            symbol("old@@IBVERBS_PRIVATE_34 func", "30"),
            symbol("v@IBVERBS_1.0 func", "40"),
        ]);
        let wrong = "not the function of the newest private ABI: a@IBVERBS_PRIVATE_34 func";
        assert_eq!(not_the_newest(&table, &BTreeSet::new()), [wrong]);
        let own = BTreeSet::from(["a@IBVERBS_PRIVATE_34 func".to_owned()]);
        assert_eq!(not_the_newest(&table, &own), [""; 0]);
    }
}
