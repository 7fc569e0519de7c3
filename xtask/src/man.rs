//! The manual pages: that they are well-formed, that each public name has exactly one, and that
//! each error that they list is reached by a test.
//!
//! A page describes the names of its NAME section. After installation each of them has a file of its
//! own, which [`links`] makes for those that are not the page's.
//!
//! An item of an ERRORS section is `.TP`, then the error number (or several, with commas) and, if it is
//! not one of all names of the page, those that it is of: `.BR EBUSY " (" ibv_dealloc_pd )`. `abi-tests/errnos.tsv` has a
//! line for each of these pairs with the test that reaches it, see [`errors`].
//!
//! Elsewhere a page may name only errors that its ERRORS section has. One of other functions is told
//! by a comment in the line before: `.\" EINVAL: ibv_create_flow`, whose pairs the table must have.

pub(crate) mod errors;

pub(crate) mod examples;

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::paths;
use crate::sh::Cmd;

/// Pages named for a family of functions, of which none has the name.
const FAMILIES: &[&str] = &["ibv_wc_read", "ibv_wr_post"];

/// A function, and the name of an error number.
type Pair = (String, String);

/// A page of section 3.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    /// The name of its file without `.3`.
    stem: String,
    /// What its NAME section names.
    names: Vec<String>,
    /// Each function with each error number that the ERRORS section gives it.
    errors: BTreeSet<Pair>,
    /// Errors of other functions that it speaks of.
    foreign: BTreeSet<Pair>,
    /// What is wrong with it.
    wrong: Vec<String>,
}

impl Page {
    fn parse(stem: &str, text: &str) -> Page {
        let mut names = section(text, "NAME").collect::<Vec<_>>().join(" ");
        names.truncate(names.find(" \\- ").unwrap_or(0));
        let names: Vec<String> = list(&names).collect();
        let mut page = Page {
            stem: stem.to_owned(),
            names,
            errors: BTreeSet::new(),
            foreign: BTreeSet::new(),
            wrong: Vec::new(),
        };
        if page.names.first().is_none_or(|first| first != stem) {
            page.wrong.push(format!("{stem}.3: NAME does not begin with {stem}"));
        }
        let mut lines = section(text, "ERRORS");
        while let Some(line) = lines.next() {
            if line == ".TP" {
                page.add_error(lines.next().unwrap_or_default());
            }
        }
        page.check_text(text);
        page
    }

    /// Looks for errors that the text names and that are told nowhere: a text beside the items of the
    /// ERRORS section names none, any other only those that are items.
    fn check_text(&mut self, text: &str) {
        let listed: BTreeSet<String> = self.errors.iter().map(|pair| pair.1.clone()).collect();
        let (mut comment, mut before, mut is_in_errors) = ("", "", false);
        for line in text.lines() {
            if let Some(heading) = line.strip_prefix(".SH ") {
                is_in_errors = heading == "ERRORS";
            }
            let is_item = is_in_errors && std::mem::replace(&mut before, line) == ".TP";
            if let Some(of) = line.strip_prefix(".\\\" ") {
                comment = of;
                continue;
            }
            let (about, functions) = comment.split_once(": ").unwrap_or_default();
            let words = line.split(|other: char| !other.is_ascii_alphanumeric());
            for errno in words.filter(|word| is_errno(word) && !is_item) {
                if about.split(", ").any(|it| it == errno) {
                    self.foreign.extend(list(functions).map(|it| (it, errno.to_owned())));
                } else if is_in_errors || !listed.contains(errno) {
                    self.wrong.push(format!("{}: {errno} is not in ERRORS: {line}", self.stem));
                }
            }
            comment = "";
        }
    }

    /// Takes over the head of an item of the ERRORS section.
    fn add_error(&mut self, head: &str) {
        let plain = plain(head);
        let (errnos, of) = plain.split_once(" (").unwrap_or((&plain, ""));
        let errnos: Vec<String> = list(errnos).collect();
        let is_whole = plain.contains(" (") == of.ends_with(')');
        if errnos.is_empty() || !errnos.iter().all(|errno| is_errno(errno)) || !is_whole {
            self.wrong.push(format!("{}.3: not an error number: {head}", self.stem));
            return;
        }
        let of: Vec<String> = if of.is_empty() {
            let names = self.names.iter().filter(|name| !FAMILIES.contains(&name.as_str()));
            names.cloned().collect()
        } else {
            list(of.trim_end_matches(')')).collect()
        };
        for function in of {
            if !self.names.contains(&function) {
                self.wrong.push(format!("{}.3: {head} is of {function}, not in NAME", self.stem));
            }
            let pairs = errnos.iter().map(|errno| (function.clone(), errno.clone()));
            self.errors.extend(pairs);
        }
    }
}

/// The error numbers of Linux, but for those of terminals, streams and keys.
const ERRNOS: &str = "E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EAFNOSUPPORT EAGAIN EALREADY EBADF \
    EBADFD EBADMSG EBUSY ECANCELED ECHILD ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK \
    EDESTADDRREQ EDOM EDQUOT EEXIST EFAULT EFBIG EHOSTDOWN EHOSTUNREACH EIDRM EILSEQ EINPROGRESS \
    EINTR EINVAL EIO EISCONN EISDIR ELOOP EMFILE EMLINK EMSGSIZE ENAMETOOLONG ENETDOWN ENETRESET \
    ENETUNREACH ENFILE ENOBUFS ENODATA ENODEV ENOENT ENOEXEC ENOLCK ENOLINK ENOMEM ENOMSG ENONET \
    ENOPROTOOPT ENOSPC ENOSYS ENOTBLK ENOTCONN ENOTDIR ENOTEMPTY ENOTRECOVERABLE ENOTSOCK ENOTSUP \
    ENOTTY ENXIO EOPNOTSUPP EOVERFLOW EOWNERDEAD EPERM EPIPE EPROTO EPROTONOSUPPORT EPROTOTYPE \
    ERANGE EREMOTEIO EROFS ESHUTDOWN ESOCKTNOSUPPORT ESPIPE ESRCH ESTALE ETIME ETIMEDOUT ETXTBSY \
    EWOULDBLOCK EXDEV";

/// Whether a word is the name of an error number.
fn is_errno(word: &str) -> bool {
    word.starts_with('E') && ERRNOS.split_ascii_whitespace().any(|errno| errno == word)
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

/// The pages of section 7, for the errors that they name.
fn overviews() -> Result<Vec<Page>> {
    let mut pages = Vec::new();
    for path in paths::list(&paths::checkout().join("man"))? {
        if path.extension().is_some_and(|section| section == "7") {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            let mut page = Page::parse(&file, &paths::read(&path)?);
            // Its name is not that of a function.
            page.wrong.retain(|wrong| !wrong.contains("NAME does not begin"));
            pages.push(page);
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
    let (errors, wrong_errors) = errors::check(&pages, &overviews()?)?;
    wrong.extend(wrong_errors);
    if !wrong.is_empty() {
        return Err(Error::new(wrong.join("\n")));
    }
    Ok(format!("{} pages for {} names, {errors}", pages.len(), public.len()))
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

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const PAGE: &str = "\
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
.\\\" EPERM, EAGAIN: ibv_other
Others fail with EPERM.
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
        let foreign = ("ibv_other".to_owned(), "EPERM".to_owned());
        assert_eq!(page.foreign.iter().collect::<Vec<_>>(), [&foreign]);
        let link = ("ibv_dealloc_pd.3".to_owned(), ".so man3/ibv_alloc_pd.3\n".to_owned());
        assert_eq!(links_to(&page).collect::<Vec<_>>(), [link]);
    }

    #[test]
    fn a_bad_page_is_told() {
        assert_eq!(Page::parse("ibv_x", PAGE).wrong, ["ibv_x.3: NAME does not begin with ibv_x"]);
        for (head, reason) in [
            (".BR EBUSY \" (\" ibv_x )", "is of ibv_x, not in NAME"),
            (".BR EBUSY \" (\" ibv_dealloc_pd", "not an error number"),
            (".B Otherwise", "not an error number"),
        ] {
            let page = Page::parse("ibv_alloc_pd", &PAGE.replace(".B EIO", head));
            assert!(page.wrong[0].contains(reason), "{:?}", page.wrong);
        }
    }

    #[test]
    fn an_error_that_stands_in_the_text_alone_is_told() {
        let page = Page::parse("ibv_alloc_pd", &PAGE.replace(".\\\" EPERM", ".\\\" EPIPE"));
        let line = "Others fail with EPERM.";
        assert_eq!(page.wrong, [format!("ibv_alloc_pd: EPERM is not in ERRORS: {line}")]);
        let page = Page::parse("ibv_alloc_pd", &PAGE.replace("Others", "EIO EXAMPLE Others"));
        assert_eq!(page.wrong, [""; 0]);
        let page = Page::parse("ibv_alloc_pd", &PAGE.replace("Gone.", "Or EBUSY."));
        assert_eq!(page.wrong, ["ibv_alloc_pd: EBUSY is not in ERRORS: Or EBUSY."]);
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
}
