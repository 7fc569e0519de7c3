//! Objects that were compiled from libibverbs' headers, and what they take from elsewhere.
//!
//! Macros and inline functions of a header decide which function a call in the source becomes. That
//! a source gives the same objects with the same undefined symbols, with one set of headers and with
//! another, shows that both decide alike.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::error::Result;
use crate::paths;

/// The objects of one package.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Objects {
    /// The undefined symbols of each object, by its path in the tree.
    symbols: BTreeMap<String, BTreeSet<String>>,
    /// The lines that configuring the package has written.
    configuration: Vec<String>,
}

impl Objects {
    /// Reads what was noted in `folder` when `package` was compiled.
    pub(super) fn read(folder: &Path, package: &str) -> Result<Objects> {
        let objects = paths::read(&folder.join(package))?;
        let configuration = paths::read(&folder.join(format!("{package}.config")))?;
        Ok(Objects::parse(&objects, &configuration))
    }

    /// A line of `objects` is the object's path, and its symbols behind it.
    fn parse(objects: &str, configuration: &str) -> Objects {
        let object = |line: &str| {
            let mut words = line.split(' ').map(str::to_owned);
            words.next().map(|path| (path, words.collect()))
        };
        Objects {
            symbols: objects.lines().filter_map(object).collect(),
            configuration: configuration.lines().map(str::to_owned).collect(),
        }
    }

    /// A line for each thing that differs from what there is with Debian's headers, or one that says
    /// that there is nothing to compare.
    pub(super) fn differences(&self, debian: &Objects) -> Vec<String> {
        let mut lines = Vec::new();
        if debian.symbols.is_empty() {
            lines.push("no object includes libibverbs' headers".to_owned());
        }
        for (object, theirs) in &debian.symbols {
            let Some(ours) = self.symbols.get(object) else {
                lines.push(format!("{object}: only with Debian's headers"));
                continue;
            };
            let names = |names: &BTreeSet<String>, others: &BTreeSet<String>| {
                names.difference(others).cloned().collect::<Vec<_>>().join(" ")
            };
            let (more, fewer) = (names(ours, theirs), names(theirs, ours));
            if more != fewer {
                lines.push(format!("{object}: takes [{more}], with Debian's headers [{fewer}]"));
            }
        }
        for object in self.symbols.keys().filter(|object| !debian.symbols.contains_key(*object)) {
            lines.push(format!("{object}: only with ours"));
        }
        let pairs = self.configuration.iter().zip(&debian.configuration);
        if let Some((ours, theirs)) = pairs.into_iter().find(|(ours, theirs)| ours != theirs) {
            lines.push(format!("configured otherwise: {ours}, with Debian's headers {theirs}"));
        } else if self.configuration.len() != debian.configuration.len() {
            lines.push("configured otherwise: other lines at the end".to_owned());
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::Objects;

    const DEBIAN: &str =
        "a.o ibv_open_device __ibv_reg_mr_iova\nb.o memset ___ibv_query_port\nc.o\n";

    fn differences(ours: &str, configuration: &str) -> Vec<String> {
        let debian = Objects::parse(DEBIAN, "#define HAVE_IB 1\n");
        Objects::parse(ours, configuration).differences(&debian)
    }

    #[test]
    fn the_same_in_another_order() {
        let ours = "c.o\nb.o ___ibv_query_port memset\na.o ibv_open_device __ibv_reg_mr_iova\n";
        assert_eq!(differences(ours, "#define HAVE_IB 1\n"), [""; 0]);
    }

    #[test]
    fn another_symbol_another_object_another_configuration() {
        let ours = "a.o ibv_open_device ibv_reg_mr\nb.o memset\nd.o\n";
        assert_eq!(
            differences(ours, "#undef HAVE_IB\n"),
            [
                "a.o: takes [ibv_reg_mr], with Debian's headers [__ibv_reg_mr_iova]",
                "b.o: takes [], with Debian's headers [___ibv_query_port]",
                "c.o: only with Debian's headers",
                "d.o: only with ours",
                "configured otherwise: #undef HAVE_IB, with Debian's headers #define HAVE_IB 1",
            ]
        );
        let more = "#define HAVE_IB 1\n#define HAVE_MLX5_DV 1\n";
        assert_eq!(differences(DEBIAN, more), ["configured otherwise: other lines at the end"]);
    }

    #[test]
    fn nothing_is_not_equal_to_nothing() {
        let none = Objects::default();
        assert_eq!(none.differences(&none), ["no object includes libibverbs' headers"]);
    }
}
