//! The errors that pages list, and the tests that reach them: `abi-tests/errnos.tsv`.

use std::collections::BTreeSet;

use super::{Page, Pair, is_errno};
use crate::error::{Error, Result};
use crate::paths;

/// The tests that take function and error number from the table.
const BY_NAME: &str = "src/verbs/inline/errnos.rs";

/// The one of them in which a provider answers with the error.
const PASSED_ON: &str = "what_a_provider_answers_comes_out";

/// What the device inside the library refuses, each by a macro that names function and error.
const REFUSALS: &str = "abi-tests/urxe/refusals.c";

/// Where an error comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// The library itself.
    Library,
    /// The kernel: its command is answered so, on the way that a provider takes.
    Kernel,
    /// The device inside the library.
    Urxe,
    /// Hardware, or its provider, that no test has: a provider made for the test gives it.
    Provider,
}

impl Kind {
    fn parse(name: &str) -> Option<Kind> {
        Some(match name {
            "library" => Kind::Library,
            "kernel" => Kind::Kernel,
            "urxe" => Kind::Urxe,
            "provider" => Kind::Provider,
            _ => return None,
        })
    }
}

/// How many errors come from where, as text; what is wrong with the table, with pages whose errors it
/// does not have, and with the tests that it names.
pub(super) fn check(pages: &[Page], overviews: &[Page]) -> Result<(String, Vec<String>)> {
    let reached = reached()?;
    let mut wrong = compare_errors(pages, &reached);
    for page in pages.iter().chain(overviews) {
        let known = |pair: &Pair| reached.iter().any(|line| line.is_of(pair));
        let unknown = page.foreign.iter().filter(|pair| !known(pair));
        wrong.extend(unknown.map(|(function, errno)| {
            format!("{}: {errno} of {function} is not in the table", page.stem)
        }));
    }
    wrong.extend(overviews.iter().flat_map(|page| page.wrong.clone()));
    for line in &reached {
        wrong.extend(line.check()?);
    }
    let refused = refusals(&paths::read(&paths::checkout().join(REFUSALS))?);
    wrong.extend(unlisted_refusals(pages, &refused));
    // One error may come from several places.
    let pairs: BTreeSet<Pair> = reached.iter().map(Reached::pair).collect();
    let count = |kind| reached.iter().filter(|line| line.kind == kind).count();
    let is_only_passed_on = |pair: &&Pair| {
        let mut lines = reached.iter().filter(|line| line.is_of(pair));
        lines.all(|line| line.kind == Kind::Provider)
    };
    let passed_on = pairs.iter().filter(is_only_passed_on).count();
    if passed_on * 5 >= pairs.len() {
        wrong.push(format!("{passed_on} of {} errors are only passed on", pairs.len()));
    }
    let counts = format!(
        "{} errors; tests reach {} in the library, {} from the kernel, {} in urxe, {passed_on} only by \
         passing on what a provider gives",
        pairs.len(),
        count(Kind::Library),
        count(Kind::Kernel),
        count(Kind::Urxe),
    );
    Ok((counts, wrong))
}

/// A line of the table of errors.
#[derive(Debug, PartialEq, Eq)]
struct Reached {
    function: String,
    errno: String,
    kind: Kind,
    /// The file of the test, from the root of the checkout.
    file: String,
    /// The function in that file that is the test.
    test: String,
}

/// The table of errors and the tests that reach them.
fn reached() -> Result<Vec<Reached>> {
    let text = paths::read(&paths::checkout().join("abi-tests/errnos.tsv"))?;
    parse_table(&text)
}

fn parse_table(text: &str) -> Result<Vec<Reached>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let wrong = |what| Error::new(format!("abi-tests/errnos.tsv: {what}: {line}"));
            let [function, errno, kind, file, test] = line.split('\t').collect::<Vec<_>>()[..]
            else {
                return Err(wrong("not five columns"));
            };
            Ok(Reached {
                function: function.to_owned(),
                errno: errno.to_owned(),
                kind: Kind::parse(kind).ok_or_else(|| wrong("no such kind"))?,
                file: file.to_owned(),
                test: test.to_owned(),
            })
        })
        .collect()
}

fn compare_errors(pages: &[Page], reached: &[Reached]) -> Vec<String> {
    let listed: BTreeSet<&Pair> = pages.iter().flat_map(|page| &page.errors).collect();
    let pairs: Vec<_> = reached.iter().map(Reached::pair).collect();
    let tested: BTreeSet<_> = pairs.iter().collect();
    let untested = listed.difference(&tested);
    let unlisted = tested.difference(&listed);
    untested
        .map(|(function, errno)| format!("no line in abi-tests/errnos.tsv: {function} {errno}"))
        .chain(unlisted.map(|(function, errno)| format!("no page lists {errno} of {function}")))
        .collect()
}

/// The errors that the table says a file's tests reach.
pub(crate) fn of_file(file: &str) -> Result<BTreeSet<Pair>> {
    let lines = reached()?.into_iter().filter(|line| line.file == file);
    Ok(lines.map(|line| (line.function, line.errno)).collect())
}

impl Reached {
    fn pair(&self) -> Pair {
        (self.function.clone(), self.errno.clone())
    }

    fn is_of(&self, pair: &Pair) -> bool {
        (&self.function, &self.errno) == (&pair.0, &pair.1)
    }

    /// What is wrong with the line: its test must be there, name the error number, and be of its kind.
    fn check(&self) -> Result<Option<String>> {
        let Reached { function, errno, kind, file, test } = self;
        let wrong = |what: String| Ok(Some(format!("abi-tests/errnos.tsv: {what}")));
        let path = paths::checkout().join(file);
        if !path.exists() {
            return wrong(format!("there is no {file}"));
        }
        let text = paths::read(&path)?;
        let Some(body) = body(&text, test) else {
            return wrong(format!("{file} has no {test}"));
        };
        let is_passed_on = file == BY_NAME && test == PASSED_ON;
        if (*kind == Kind::Provider) != is_passed_on {
            return wrong(format!("{function} {errno} is of another kind"));
        }
        let says = if file == BY_NAME {
            // Those tests read the error numbers from the table, and call functions by their names.
            has_word(&text, function)
        } else if file.ends_with(".rs") {
            // A unit test may have a name of its own for the function.
            has_word(body, errno)
        } else {
            let short = function.strip_prefix("ibv_").unwrap_or(function);
            body.split(';').any(|statement| {
                has_word(statement, errno)
                    && (has_word(statement, function) || has_word(statement, short))
            })
        };
        if says {
            Ok(None)
        } else {
            wrong(format!("{test} of {file} has no {errno} of {function}"))
        }
    }
}

/// Each function with each error number that the statements `REFUSES...("function: why", ERRNO, ...`
/// of a program are about.
fn refusals(program: &str) -> BTreeSet<Pair> {
    let mut found = BTreeSet::new();
    for statement in program.split(';') {
        let Some((_, call)) = statement.split_once("REFUSES") else { continue };
        let Some((_, title)) = call.split_once('"') else { continue };
        let Some((title, rest)) = title.split_once('"') else { continue };
        let title = title.strip_prefix("child: ").unwrap_or(title);
        let name = title.split([':', ' ']).next().unwrap_or_default();
        let name = name.strip_prefix("ibv_").unwrap_or(name);
        let mut words = rest.split(|other: char| !other.is_ascii_alphanumeric());
        let Some(errno) = words.find(|word| is_errno(word)) else { continue };
        found.insert((format!("ibv_{name}"), errno.to_owned()));
    }
    found
}

/// What is refused for a reason that the page of the function does not list. Titles that do not
/// begin with the name of a function are about something else.
fn unlisted_refusals(pages: &[Page], refused: &BTreeSet<Pair>) -> Vec<String> {
    let page_of = |function: &String| pages.iter().find(|page| page.names.contains(function));
    refused
        .iter()
        .filter(|pair| page_of(&pair.0).is_some_and(|page| !page.errors.contains(pair)))
        .map(|(function, errno)| format!("{REFUSALS}: {errno} of {function} is not in its page"))
        .collect()
}

/// The text of a function of a Rust or C file: up to the closing brace in the column in which the
/// function begins.
fn body<'a>(text: &'a str, function: &str) -> Option<&'a str> {
    let call = format!("{function}(");
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let begin = start;
        start += line.len();
        let indent = &line[..line.len() - line.trim_start().len()];
        let is_head = line.contains(&call)
            && has_word(line, function)
            && !line.trim_end().ends_with(';')
            && (line.contains("fn ") || indent.is_empty());
        if is_head {
            let end = text[begin..].find(&format!("\n{indent}}}"))?;
            return Some(&text[begin..begin + end]);
        }
    }
    None
}

/// Whether a text has a word that is not part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|other: char| !other.is_ascii_alphanumeric() && other != '_').any(|it| it == word)
}

#[cfg(test)]
mod tests {
    use super::super::tests::PAGE;
    use super::*;

    #[test]
    fn pages_and_table_have_the_same_errors() {
        let pages = [Page::parse("ibv_alloc_pd", PAGE)];
        let table = "# comment\nibv_alloc_pd\tEIO\tkernel\tf\tt\nibv_dealloc_pd\tEIO\turxe\tf\tt\n";
        let mut reached = parse_table(table).unwrap();
        let wrong = compare_errors(&pages, &reached);
        assert_eq!(wrong, ["no line in abi-tests/errnos.tsv: ibv_dealloc_pd EBUSY"]);
        let more = "ibv_dealloc_pd\tEBUSY\turxe\tf\tt\nibv_dealloc_pd\tEPERM\turxe\tf\tt\n";
        reached.extend(parse_table(more).unwrap());
        let wrong = compare_errors(&pages, &reached);
        assert_eq!(wrong, ["no page lists EPERM of ibv_dealloc_pd"]);
        assert!(parse_table("ibv_x EIO f t").is_err());
        assert!(parse_table("ibv_x\tEIO\tnobody\tf\tt").is_err());
    }

    #[test]
    fn what_is_refused_is_in_the_page() {
        let program = "
            REFUSES(\"dealloc_pd: in use\", EBUSY,
                    \"ibv_dealloc_pd: # objects; all\", ibv_dealloc_pd(pd));
            REFUSES_POINTER(\"child: ibv_alloc_pd\", ENODEV, NULL, ibv_alloc_pd(context));
            REFUSES(\"a thing\", EPERM, NULL, other());";
        let refused = refusals(program);
        let pairs: Vec<_> =
            refused.iter().map(|(function, errno)| format!("{function} {errno}")).collect();
        assert_eq!(pairs, ["ibv_a EPERM", "ibv_alloc_pd ENODEV", "ibv_dealloc_pd EBUSY"]);
        let wrong = unlisted_refusals(&[Page::parse("ibv_alloc_pd", PAGE)], &refused);
        assert_eq!(wrong.len(), 1);
        assert!(wrong[0].ends_with("ENODEV of ibv_alloc_pd is not in its page"));
    }

    #[test]
    fn a_test_ends_with_its_brace() {
        let text = "    fn other() {\n        EBUSY\n    }\n\n    fn wanted() {\n        EIO\n    }\n\
                    \n    fn last() {\n        EPERM\n    }\n";
        assert_eq!(body(text, "wanted"), Some("    fn wanted() {\n        EIO"));
        assert_eq!(body(text, "want"), None);
        let text = "static void one(void);\nstatic void one(void)\n{\n\tEIO;\n}\nEPERM\n";
        assert_eq!(body(text, "one"), Some("static void one(void)\n{\n\tEIO;"));
        assert!(has_word("(EIO)", "EIO") && !has_word("EIOX", "EIO"));
    }
}
