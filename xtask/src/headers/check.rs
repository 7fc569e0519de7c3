//! What the headers are tested for.
//!
//! * The Rust sources say what is in them, see [`super::check_files`].
//! * Sizes, offsets and constants are those of the tables in `src/abi/check`, which the Rust types
//!   are compared with by the compiler.
//! * They compile in all dialects of C and C++ without a warning.
//! * Programs see the same as with Debian's headers: the same values and types, and inline
//!   functions that do the same.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::render::Declarations;
use super::{Generated, folder};
use crate::error::{Context, Error, Result};
use crate::paths;
use crate::sh::Cmd;
use crate::vm::{Suite, chroot};

/// The dialects of C and C++; the first of each is for headers alone, all are for them together.
const C: &[&str] = &["c99", "c11", "c17", "c2x", "gnu99", "gnu17"];
const CPP: &[&str] = &["c++11", "c++14", "c++17", "c++20", "c++2b", "gnu++17"];

/// What is not to be said of the headers.
const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];

/// The program that calls all inline functions.
const INLINES: &str = include_str!("../../c/inlines.c");

/// Compiles everything with Debian's headers and with ours, in forky; `$1` is the other folder.
const COMPARE: &str = r#"
set -e
cd /share
for which in debian ours; do
    flags="-std=gnu17 -w -O1"
    [ $which = debian ] || flags="$flags -I/share/include"
    gcc $flags -fsyntax-only layouts.c
    gcc $flags -fsyntax-only types.c
    gcc $flags -o values-$which values.c
    ./values-$which > values-$which.txt
    gcc $flags -o inlines-$which inlines.c
    ./inlines-$which > inlines-$which.txt
done
cmp values-debian.txt values-ours.txt
cmp inlines-debian.txt inlines-ours.txt
cd abi-tests
# All programs with libibverbs alone: three need libfabric or MPI.
for file in $(find . -path ./abis -prune -o -path ./no_device -prune -o -name '*fabric.c' -o -name mpi.c -o -name '*.c' -print); do
    echo "$file"
done | xargs -n1 -P2 gcc -std=gnu17 -Wall -Wextra -Werror -O1 -I. -I/share/include -fsyntax-only
echo "$(wc -l < /share/values-ours.txt) values, $(wc -l < /share/inlines-ours.txt) lines of calls"
"#;

/// Runs all checks on the headers that were generated.
pub(super) fn run(generated: &Generated) -> Result<String> {
    let share = paths::scratch("headers")?;
    let declarations = &generated.declarations;
    let layouts = layouts(declarations)?;
    paths::write(&share.join("layouts.c"), &layouts.text)?;
    paths::write(&share.join("types.c"), types(generated))?;
    paths::write(&share.join("values.c"), values(generated, &layouts))?;
    paths::write(&share.join("inlines.c"), INLINES)?;
    let count = dialects(&share, generated)?;
    let compared = compare(&share)?;
    Ok(format!("{} comparisons with Rust; {count} compilations; {compared}", layouts.count))
}

/// Compares with Debian's headers.
fn compare(share: &Path) -> Result<String> {
    paths::copy_folder(&folder(), &share.join("include/infiniband"))?;
    paths::copy_folder(&paths::checkout().join("abi-tests"), &share.join("abi-tests"))?;
    paths::write(&share.join("compare.sh"), COMPARE)?;
    let command = ["sh", "/share/compare.sh"].map(str::to_owned);
    let run = chroot::command(Suite::Forky, Some(share), &command)?;
    let output = run.timeout(Duration::from_secs(300)).output()?;
    Ok(format!("as Debian's: {}", output.lines().last().unwrap_or_default()))
}

/// Compiles headers in all dialects; how many compilations there were.
fn dialects(share: &Path, generated: &Generated) -> Result<usize> {
    let mut script = String::new();
    let mut count = 0;
    let mut add = |compiler: &str, language: &str, dialect: &str, file: &Path| {
        let _ = writeln!(
            script,
            "{compiler} -x {language} -std={dialect} {} -I{} -fsyntax-only {}",
            WARNINGS.join(" "),
            paths::checkout().join("include").display(),
            file.display()
        );
        count += 1;
    };
    let mut together = String::new();
    let mut alone: Vec<PathBuf> = Vec::new();
    for name in generated.headers.keys() {
        let _ = writeln!(together, "#include <infiniband/{name}>");
        let file = share.join(format!("alone-{name}.c"));
        paths::write(&file, format!("#include <infiniband/{name}>\nint nothing;\n"))?;
        alone.push(file);
    }
    together.push_str(USES);
    let file = share.join("together.c");
    paths::write(&file, together)?;
    for (c, cpp) in [("gcc", "g++"), ("clang", "clang++")] {
        for file in &alone {
            add(c, "c", C[0], file);
            add(cpp, "c++", CPP[0], file);
        }
        C.iter().for_each(|dialect| add(c, "c", dialect, &file));
        CPP.iter().for_each(|dialect| add(cpp, "c++", dialect, &file));
        add(c, "c", C[1], &share.join("layouts.c"));
    }
    let list = share.join("compile");
    paths::write(&list, script)?;
    Cmd::new("sh")
        .args(["-c", "xargs -P \"$(nproc)\" -d '\\n' -n1 sh -c < \"$0\""])
        .arg(&list)
        .timeout(Duration::from_secs(300))
        .run()?;
    Ok(count)
}

/// Uses of what is a macro in programs of either language.
const USES: &str = "
int uses(struct ibv_context *context, struct ibv_pd *pd, void *memory, unsigned int access);
int uses(struct ibv_context *context, struct ibv_pd *pd, void *memory, unsigned int access)
{
\tstruct ibv_port_attr attr;
\tconst int optional = vext_field_avail(struct ibv_port_attr, flags, sizeof(attr));

\tif (!verbs_get_ctx_op(context, query_port) || !ibv_query_port(context, 1, &attr))
\t\treturn optional;
\treturn ibv_reg_mr(pd, memory, 1, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE) &&
\t       ibv_reg_mr(pd, memory, 1, access) &&
\t       ibv_reg_mr_iova(pd, memory, 1, 2, IBV_ACCESS_RELAXED_ORDERING) &&
\t       IBV_ALLOCATOR_USE_DEFAULT != memory && (access & IBV_RX_HASH_INNER) == 0;
}
";

/// The beginning of a program that sees all headers.
fn includes(generated: &Generated) -> String {
    let names = generated.headers.keys();
    names.map(|name| format!("#include <infiniband/{name}>\n")).collect()
}

/// Comparisons with the numbers in `src/abi/check`.
struct Layouts {
    text: String,
    count: usize,
    /// Expressions whose values are compared between headers.
    expressions: Vec<String>,
}

/// Writes a static assertion for each size, offset and constant that the tables have.
fn layouts(declarations: &Declarations) -> Result<Layouts> {
    let mut found = Layouts {
        text: "#include <infiniband/verbs.h>\n#include <infiniband/sa.h>\n\
               #include <infiniband/tm_types.h>\n#include <infiniband/opcode.h>\n"
            .to_owned(),
        count: 0,
        expressions: Vec::new(),
    };
    let table = |name: &str| {
        let path = paths::checkout().join("src/abi/check").join(name);
        let text = std::fs::read_to_string(&path);
        text.context(|| format!("cannot read {}", path.display()))
    };
    for line in table("public.rs")?.lines().filter_map(|line| line.strip_prefix("layout!(")) {
        let odd = || Error::new(format!("unexpected table entry: {line}"));
        let (head, members) = line.split_once(", {").ok_or_else(odd)?;
        let head: Vec<&str> = head.split(", ").collect();
        let [name, size, align] = head.as_slice() else { return Err(odd()) };
        // Types of the library alone are in the table too.
        let Some(keyword) = declarations.keyword(name) else { continue };
        found.assert(format!("sizeof({keyword} {name})"), size);
        found.assert(format!("_Alignof({keyword} {name})"), align);
        for member in members.trim_end_matches("});").split(", ").filter(|it| !it.is_empty()) {
            let (path, place) = member.split_once(" @ ").ok_or_else(odd)?;
            let (offset, length) = place.split_once(" + ").ok_or_else(odd)?;
            let Some(path) = c_path(path) else { continue };
            found.assert(format!("offsetof({keyword} {name}, {path})"), offset);
            found.assert(format!("sizeof((({keyword} {name} *)0)->{path})"), length);
        }
    }
    let constants: BTreeSet<&str> = declarations.constants().collect();
    for file in ["values_abi.rs", "values_uapi.rs"] {
        for line in table(file)?.lines() {
            let Some((name, value)) = line.trim().trim_end_matches(',').split_once(" = ") else {
                continue;
            };
            if constants.contains(name) && value.parse::<i128>().is_ok() {
                found.assert(name.to_owned(), value);
            }
        }
    }
    if found.count < 2000 {
        return Err(Error::new(format!("only {} comparisons with the tables", found.count)));
    }
    Ok(found)
}

impl Layouts {
    /// Asserts that `expression` has this value.
    fn assert(&mut self, expression: String, value: &str) {
        let suffix = if value.starts_with('-') { "" } else { "U" };
        let number =
            if value.len() > 9 { format!("{value}ULL") } else { format!("{value}{suffix}") };
        let text = format!("_Static_assert({expression} == {number}, \"{expression}\");\n");
        // A constant of an enumeration and 0xffffffff are of different types in C.
        let text = if suffix.is_empty() { text.replace(&number, value) } else { text };
        self.text.push_str(&text);
        self.expressions.push(expression);
        self.count += 1;
    }
}

/// The path of a member as C has it, or nothing for a member without a name there.
fn c_path(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('.').collect();
    let parts = match parts.as_slice() {
        ["imm" | "op"] => return None,
        ["imm" | "op", rest @ ..] => rest,
        all => all,
    };
    let parts: Vec<&str> = parts.iter().map(|it| it.strip_suffix('_').unwrap_or(it)).collect();
    Some(parts.join("."))
}

/// A program that prints all values, and which kind of number each constant is.
fn values(generated: &Generated, layouts: &Layouts) -> String {
    let mut text = includes(generated);
    text.push_str(
        "#include <stdio.h>\n#define KIND(x) _Generic((x), int: \"int\", unsigned int: \"unsigned\", \
         long: \"long\", unsigned long: \"unsigned long\", long long: \"long long\", \
         unsigned long long: \"unsigned long long\", default: \"other\")\n\
         #define SHOW(x) printf(\"%s %s %lld\\n\", #x, KIND(x), (long long)(x))\n\
         int main(void)\n{\n",
    );
    for expression in &layouts.expressions {
        let _ = writeln!(
            text,
            "\tprintf(\"%s %lld\\n\", \"{expression}\", (long long)({expression}));"
        );
    }
    let declarations = &generated.declarations;
    let macros = ["IBV_ALLOCATOR_USE_DEFAULT", "__VERBS_ABI_IS_EXTENDED"].map(str::to_owned);
    let pointers: BTreeSet<String> = macros.into();
    let handwritten = generated.macros.iter().filter(|name| {
        name.starts_with("IBV_") && name.as_str() != "IBV_OPCODE" && !pointers.contains(*name)
    });
    let constants: BTreeSet<&str> =
        declarations.constants().chain(handwritten.map(String::as_str)).collect();
    for name in constants {
        let _ = writeln!(text, "#ifdef {name}\n\tprintf(\"macro \");\n#endif\n\tSHOW({name});");
    }
    for name in pointers {
        let _ = writeln!(text, "\tprintf(\"{name} %p\\n\", {name});");
    }
    text.push_str(
        "\tprintf(\"%d\\n\", (int)vext_field_avail(struct ibv_wc, sl, 44) + \
         (int)vext_field_avail(struct ibv_wc, sl, 45));\n\treturn 0;\n}\n",
    );
    text
}

/// A program that declares everything once more as our headers do: what differs does not compile.
fn types(generated: &Generated) -> String {
    let mut text = includes(generated);
    text.push_str("#undef ibv_query_port\n#undef ibv_reg_mr\n#undef ibv_reg_mr_iova\n");
    text.push_str(&generated.declarations.declared_again());
    for header in generated.headers.values() {
        // The first lines of inline functions, which may be long ones.
        let mut lines = header.lines().peekable();
        while let Some(line) = lines.next() {
            let Some(at) = line.find("static inline ") else { continue };
            let mut first = line[at..].to_owned();
            while lines.peek().is_some_and(|next| *next != "{") {
                first.push_str(lines.next().unwrap_or_default());
            }
            let _ = writeln!(text, "{first};");
        }
    }
    text
}
