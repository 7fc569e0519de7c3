//! The manual pages: that they are well-formed, that each public name has exactly one, and that
//! each error that they list is reached by a test.
//!
//! A page describes the names of its NAME section. After installation each of them has a file of its
//! own, which [`links`] makes for those that are not the page's.
//!
//! An item of an ERRORS section is `.TP`, then the error number and, if it is not one of all names of
//! the page, those that it is of: `.BR EBUSY " (" ibv_dealloc_pd )`. `abi-tests/errnos.tsv` has a
//! line for each of these pairs with the test that reaches it.

pub(crate) mod examples;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::error::{Error, Result};
use crate::paths;
use crate::sh::Cmd;

/// Pages named for a family of functions, of which none has the name.
const FAMILIES: &[&str] = &["ibv_wc_read", "ibv_wr_post"];

/// The test that passes each error number of its lines in the table through the function.
const PASSED_ON: &str = "src/verbs/inline/errnos.rs";

/// What the device inside the library refuses, each by a macro that names function and error.
const REFUSALS: &str = "abi-tests/urxe/refusals.c";

/// A page of section 3.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    /// The name of its file without `.3`.
    stem: String,
    /// What its NAME section names.
    names: Vec<String>,
    /// Each function with each error number that the ERRORS section gives it.
    errors: BTreeSet<(String, String)>,
    /// What is wrong with it.
    wrong: Vec<String>,
}

impl Page {
    fn parse(stem: &str, text: &str) -> Page {
        let mut names = section(text, "NAME").collect::<Vec<_>>().join(" ");
        names.truncate(names.find(" \\- ").unwrap_or(0));
        let names: Vec<String> = list(&names).collect();
        let mut page =
            Page { stem: stem.to_owned(), names, errors: BTreeSet::new(), wrong: Vec::new() };
        if page.names.first().is_none_or(|first| first != stem) {
            page.wrong.push(format!("{stem}.3: NAME does not begin with {stem}"));
        }
        let mut lines = section(text, "ERRORS");
        while let Some(line) = lines.next() {
            if line == ".TP" {
                page.add_error(lines.next().unwrap_or_default());
            }
        }
        page
    }

    /// Takes over the head of an item of the ERRORS section.
    fn add_error(&mut self, head: &str) {
        let plain = plain(head);
        let (errno, of) = plain.split_once(" (").unwrap_or((&plain, ""));
        if !is_errno(errno) || (errno.len() != plain.len() && !of.ends_with(')')) {
            self.wrong.push(format!("{}.3: not an error number: {head}", self.stem));
            return;
        }
        let of: Vec<String> = if of.is_empty() {
            self.names.clone()
        } else {
            list(of.trim_end_matches(')')).collect()
        };
        for function in of {
            if !self.names.contains(&function) {
                self.wrong.push(format!("{}.3: {errno} of {function}, not in NAME", self.stem));
            }
            self.errors.insert((function, errno.to_owned()));
        }
    }
}

/// Whether a word is the name of an error number.
fn is_errno(word: &str) -> bool {
    word.starts_with('E') && word.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit())
}

/// The lines of a section of a page.
fn section<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let heading = format!(".SH {name}");
    text.lines()
        .skip_while(move |line| *line != heading)
        .skip(1)
        .take_while(|line| !line.starts_with(".SH "))
}

/// What a font macro's arguments say: those of `.BR` and its like joined, that of `.B` as it is.
fn plain(line: &str) -> String {
    let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
    if name == ".B" {
        return rest.to_owned();
    }
    let mut text = String::new();
    for (number, part) in rest.split('"').enumerate() {
        if number % 2 == 1 {
            text.push_str(part);
        } else {
            text.extend(part.split(' '));
        }
    }
    text
}

/// The verbs that a page refers to, as `.BR ibv_alloc_pd (3)`.
fn references(text: &str) -> std::vec::IntoIter<String> {
    let mut found = Vec::new();
    for line in text.lines().filter(|line| line.starts_with(".BR ") || line.starts_with(".RB ")) {
        let plain = plain(line);
        if let Some((before, _)) = plain.split_once("(3)") {
            let name = before.rsplit(|it: char| !it.is_ascii_alphanumeric() && it != '_').next();
            found.extend(name.filter(|name| name.starts_with("ibv_")).map(str::to_owned));
        }
    }
    found.into_iter()
}

/// The items of a list with commas.
fn list(text: &str) -> impl Iterator<Item = String> {
    text.split(',').map(|item| item.trim().to_owned()).filter(|item| !item.is_empty())
}

/// The pages of section 3.
fn pages() -> Result<Vec<Page>> {
    let mut pages = Vec::new();
    for path in paths::list(&paths::checkout().join("man"))? {
        if path.extension().is_some_and(|section| section == "3") {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            pages.push(Page::parse(&stem, &paths::read(&path)?));
        }
    }
    Ok(pages)
}

/// Files that lead from further names of pages to the pages: their names in section 3 of the manual,
/// `ibv_dealloc_pd.3`, and their contents.
pub(crate) fn links() -> Result<Vec<(String, String)>> {
    Ok(pages()?.iter().flat_map(links_to).collect())
}

fn links_to(page: &Page) -> impl Iterator<Item = (String, String)> {
    let names = page.names.iter().filter(|name| **name != page.stem);
    names.map(|name| (format!("{name}.3"), format!(".so man3/{}.3\n", page.stem)))
}

/// All checks of the pages.
pub(crate) fn check() -> Result<String> {
    let pages = pages()?;
    lint()?;
    let public = public_names()?;
    let mut wrong: Vec<String> = pages.iter().flat_map(|page| page.wrong.clone()).collect();
    wrong.extend(compare_names(&pages, &public));
    for path in paths::list(&paths::checkout().join("man"))? {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let known = |name: &str| public.contains(name) || FAMILIES.contains(&name);
        let unknown = references(&paths::read(&path)?).filter(|name| !known(name));
        wrong.extend(unknown.map(|name| format!("{file}: there is no {name}(3)")));
    }
    let reached = reached()?;
    wrong.extend(compare_errors(&pages, &reached));
    for line in &reached {
        wrong.extend(line.check()?);
    }
    let refused = refusals(&paths::read(&paths::checkout().join(REFUSALS))?);
    wrong.extend(unlisted_refusals(&pages, &refused));
    if !wrong.is_empty() {
        return Err(Error::new(wrong.join("\n")));
    }
    Ok(format!("{} pages for {} names, {} errors", pages.len(), public.len(), reached.len()))
}

/// Fails on anything that mandoc warns of.
fn lint() -> Result<()> {
    let man = paths::checkout().join("man");
    let pages = paths::list(&man)?;
    let pages = pages.iter().filter(|path| path.extension().is_some());
    Cmd::new("mandoc").args(["-T", "lint", "-W", "warning"]).args(pages).quiet().run()
}

/// The names that programs may use: exports of public version nodes, and inline functions and macros
/// of the header.
fn public_names() -> Result<BTreeSet<String>> {
    let read = |file| paths::read(&paths::checkout().join("abi-tests").join(file));
    let mut names = exported_names(&read("exports.txt")?);
    let inlines = inline_names(&read("inlines.txt")?);
    let header = paths::checkout().join("include/infiniband/verbs.h");
    if header.exists() {
        let unknown = unknown_inlines(&paths::read(&header)?, &inlines);
        if !unknown.is_empty() {
            let names = unknown.join(", ");
            return Err(Error::new(format!("abi-tests/inlines.txt lacks {names} of verbs.h")));
        }
    }
    names.extend(inlines);
    Ok(names)
}

fn exported_names(exports: &str) -> BTreeSet<String> {
    let public = exports.lines().filter(|line| !line.starts_with('#'));
    let public = public.filter(|line| !line.contains("@IBVERBS_PRIVATE_"));
    public.filter_map(|line| Some(line.split_once('@')?.0.to_owned())).collect()
}

fn inline_names(list: &str) -> BTreeSet<String> {
    list.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

/// Inline functions and macros with arguments that a header defines and `known` does not have.
fn unknown_inlines(header: &str, known: &BTreeSet<String>) -> Vec<String> {
    let mut defined = BTreeSet::new();
    for line in header.lines() {
        let name = if let Some(rest) = line.strip_prefix("#define ") {
            // A macro with arguments has the parenthesis at its name.
            rest.split_once('(').map_or("", |(name, _)| name)
        } else if let Some(rest) = line.strip_prefix("static inline ") {
            let before = rest.split_once('(').map_or("", |(before, _)| before);
            before.rsplit([' ', '*']).next().unwrap_or_default()
        } else {
            ""
        };
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        // Names that begin with an underscore and a capital letter are the header's own.
        let is_own = name.starts_with('_') && !name.starts_with("__");
        if !name.is_empty() && name.bytes().all(is_name) && !is_own {
            defined.insert(name.to_owned());
        }
    }
    defined.difference(known).cloned().collect()
}

fn compare_names(pages: &[Page], public: &BTreeSet<String>) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for page in pages {
        for name in &page.names {
            if let Some(other) = seen.insert(name, &page.stem) {
                wrong.push(format!("{name} is in two pages, {other}.3 and {}.3", page.stem));
            }
            let is_family = *name == page.stem && FAMILIES.contains(&name.as_str());
            if !is_family && !public.contains(name) {
                wrong.push(format!("{}.3: {name} is not a public name", page.stem));
            }
        }
    }
    let lacking = public.iter().filter(|name| !seen.contains_key(name.as_str()));
    wrong.extend(lacking.map(|name| format!("{name} has no page")));
    wrong
}

/// A line of the table of errors.
#[derive(Debug, PartialEq, Eq)]
struct Reached {
    function: String,
    errno: String,
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
        .map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
            [function, errno, file, test] => Ok(Reached {
                function: function.to_owned(),
                errno: errno.to_owned(),
                file: file.to_owned(),
                test: test.to_owned(),
            }),
            _ => Err(Error::new(format!("abi-tests/errnos.tsv: not four columns: {line}"))),
        })
        .collect()
}

fn compare_errors(pages: &[Page], reached: &[Reached]) -> Vec<String> {
    let listed: BTreeSet<&(String, String)> = pages.iter().flat_map(|page| &page.errors).collect();
    let pairs: Vec<_> =
        reached.iter().map(|line| (line.function.clone(), line.errno.clone())).collect();
    let tested: BTreeSet<_> = pairs.iter().collect();
    let untested = listed.difference(&tested);
    let unlisted = tested.difference(&listed);
    untested
        .map(|(function, errno)| format!("no line in abi-tests/errnos.tsv: {function} {errno}"))
        .chain(unlisted.map(|(function, errno)| format!("no page lists {errno} of {function}")))
        .collect()
}

impl Reached {
    /// What is wrong with the line: its test must be there, and name the error number.
    fn check(&self) -> Result<Option<String>> {
        let Reached { function, errno, file, test } = self;
        let path = paths::checkout().join(file);
        if !Path::new(&path).exists() {
            return Ok(Some(format!("abi-tests/errnos.tsv: there is no {file}")));
        }
        let text = paths::read(&path)?;
        let Some(body) = body(&text, test) else {
            return Ok(Some(format!("abi-tests/errnos.tsv: {file} has no {test}")));
        };
        // That test reads the error numbers from the table, and calls the function by its name.
        let (place, wanted) = if file == PASSED_ON { (&*text, function) } else { (body, errno) };
        // A program of C calls functions by their names; a unit test may have a name of its own.
        let short = function.strip_prefix("ibv_").unwrap_or(function);
        let calls = file.ends_with(".rs") || has_word(body, function) || has_word(body, short);
        if has_word(place, wanted) && calls {
            return Ok(None);
        }
        let what = if calls { wanted } else { function };
        Ok(Some(format!("abi-tests/errnos.tsv: {test} of {file} says nothing of {what}")))
    }
}

/// Each function with each error number that the statements `REFUSES...("function: why", ERRNO, ...`
/// of a program are about.
fn refusals(program: &str) -> BTreeSet<(String, String)> {
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
fn unlisted_refusals(pages: &[Page], refused: &BTreeSet<(String, String)>) -> Vec<String> {
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
    use super::*;

    const PAGE: &str = "\
.TH IBV_ALLOC_PD 3
.SH NAME
ibv_alloc_pd,
ibv_dealloc_pd \\- protection domains
.SH ERRORS
.TP
.B EIO
Gone.
.TP
.BR EBUSY \" (\" ibv_dealloc_pd )
Used.
.SH NOTES
.TP
.B EPERM
Not an error.
";

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_page_says_what_it_is_of_and_what_can_fail() {
        let page = Page::parse("ibv_alloc_pd", PAGE);
        assert_eq!(page.names, ["ibv_alloc_pd", "ibv_dealloc_pd"]);
        let errors: Vec<_> =
            page.errors.iter().map(|(function, errno)| format!("{function} {errno}")).collect();
        assert_eq!(errors, ["ibv_alloc_pd EIO", "ibv_dealloc_pd EBUSY", "ibv_dealloc_pd EIO"]);
        assert!(page.wrong.is_empty());
        let link = ("ibv_dealloc_pd.3".to_owned(), ".so man3/ibv_alloc_pd.3\n".to_owned());
        assert_eq!(links_to(&page).collect::<Vec<_>>(), [link]);
    }

    #[test]
    fn a_bad_page_is_told() {
        assert_eq!(Page::parse("ibv_x", PAGE).wrong, ["ibv_x.3: NAME does not begin with ibv_x"]);
        for (head, reason) in [
            (".BR EBUSY \" (\" ibv_x )", "EBUSY of ibv_x, not in NAME"),
            (".BR EBUSY \" (\" ibv_dealloc_pd", "not an error number"),
            (".B Otherwise", "not an error number"),
        ] {
            let page = Page::parse("ibv_alloc_pd", &PAGE.replace(".B EIO", head));
            assert!(page.wrong[0].contains(reason), "{:?}", page.wrong);
        }
    }

    #[test]
    fn a_page_refers_to_others() {
        let text = ".BR ibv_a (3),\n.RB ( ibv_b (3))\n.BR poll (2)\nibv_c (3)\n.B ibv_d\n";
        assert_eq!(references(text).collect::<Vec<_>>(), ["ibv_a", "ibv_b"]);
    }

    #[test]
    fn each_public_name_has_one_page() {
        let pages = [Page::parse("ibv_alloc_pd", PAGE)];
        let both = names(&["ibv_alloc_pd", "ibv_dealloc_pd"]);
        assert!(compare_names(&pages, &both).is_empty());
        let more = names(&["ibv_alloc_pd", "ibv_dealloc_pd", "ibv_x"]);
        assert_eq!(compare_names(&pages, &more), ["ibv_x has no page"]);
        let wrong = compare_names(&pages, &names(&["ibv_alloc_pd"]));
        assert_eq!(wrong, ["ibv_alloc_pd.3: ibv_dealloc_pd is not a public name"]);
        let twice = [Page::parse("ibv_alloc_pd", PAGE), Page::parse("ibv_alloc_pd", PAGE)];
        assert_eq!(compare_names(&twice, &both).len(), 2);
    }

    #[test]
    fn public_names_are_those_of_public_nodes() {
        let exports = "# a@@b\nibv_a@@IBVERBS_1.1 func\nibv_a@IBVERBS_1.0 func\n\
                       ibv_cmd@@IBVERBS_PRIVATE_65 func\nibv_b@@IBVERBS_RS_1.0 func\n";
        assert_eq!(exported_names(exports), names(&["ibv_a", "ibv_b"]));
    }

    #[test]
    fn what_a_header_defines_is_found() {
        let header = "#define IBV_X 5\n#define ibv_m(a, b) \\\n#define IBV_Y (1)\n\
                      static inline int ibv_f(int a)\nstatic inline struct x *ibv_g(void)\n\
                      #define _OWN(x) x\n#define __ibv_h(x) x\n";
        let unknown = unknown_inlines(header, &names(&["ibv_g"]));
        assert_eq!(unknown, ["__ibv_h", "ibv_f", "ibv_m"]);
    }

    #[test]
    fn pages_and_table_have_the_same_errors() {
        let pages = [Page::parse("ibv_alloc_pd", PAGE)];
        let table = "# comment\nibv_alloc_pd\tEIO\tf\tt\nibv_dealloc_pd\tEIO\tf\tt\n";
        let mut reached = parse_table(table).unwrap();
        let wrong = compare_errors(&pages, &reached);
        assert_eq!(wrong, ["no line in abi-tests/errnos.tsv: ibv_dealloc_pd EBUSY"]);
        let more = "ibv_dealloc_pd\tEBUSY\tf\tt\nibv_dealloc_pd\tEPERM\tf\tt\n";
        reached.extend(parse_table(more).unwrap());
        let wrong = compare_errors(&pages, &reached);
        assert_eq!(wrong, ["no page lists EPERM of ibv_dealloc_pd"]);
        assert!(parse_table("ibv_x EIO f t").is_err());
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
