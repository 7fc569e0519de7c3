//! The declarations in C.

use std::collections::{BTreeMap, BTreeSet};

use super::bindgen::{Item, Kind, Member};
use crate::error::{Error, Result};

/// Records that have no name in C: they are written where the member of that type stands.
const NESTED: &[&str] = &[
    "ibv_async_event_element",
    "ibv_flow_spec_hdr",
    "ibv_gid_global",
    "ibv_odp_caps_per_transport_caps",
    "ibv_ops_wr_tm",
    "ibv_ops_wr_tm_add",
    "ibv_send_wr_bind_mw",
    "ibv_send_wr_op",
    "ibv_send_wr_qp_type",
    "ibv_send_wr_qp_type_xrc",
    "ibv_send_wr_tso",
    "ibv_send_wr_wr",
    "ibv_send_wr_wr_atomic",
    "ibv_send_wr_wr_rdma",
    "ibv_send_wr_wr_ud",
    "ibv_wc_imm",
    "ibv_wr_imm",
];

/// Those of them whose member has no name either.
const ANONYMOUS: &[&str] = &["ibv_send_wr_op", "ibv_wc_imm", "ibv_wr_imm"];

/// Unions that are a struct with a union without a name in it.
const WRAPPED: &[&str] = &["ibv_flow_spec"];

/// Records that are declared and not defined.
const OPAQUE: &[&str] = &["_compat_ibv_port_attr", "ibv_buf"];

/// Structs that other headers define.
const ELSEWHERE: &[&str] = &["ib_uverbs_query_port_resp", "timespec", "verbs_ex_private"];

/// Constants of integer types that are enumerators in C, all others are macros.
const ENUMERATORS: &[&str] = &[
    "IBV_CREATE_CQ_SUP_WC_FLAGS",
    "IBV_LINK_LAYER_",
    "IBV_OPCODE_",
    "IBV_SYSFS_",
    "IBV_WC_IP_CSUM_OK_SHIFT",
    "IBV_WC_STANDARD_FLAGS",
];

/// Pointers that the kernel's interface has as numbers of 64 bits: member and type.
const USER_POINTERS: &[(&str, &str)] = &[
    ("ib_uverbs_flow_action_esp_encap.val_ptr", "void *"),
    ("ib_uverbs_flow_action_esp_encap.next_ptr", "struct ib_uverbs_flow_action_esp_encap *"),
];

/// Functions whose result depends on nothing but their argument.
const CONSTANT_FUNCTIONS: &[&str] =
    &["ibv_rate_to_mult", "mult_to_ibv_rate", "ibv_rate_to_mbps", "mbps_to_ibv_rate"];

/// The longest line.
const WIDTH: usize = 100;

/// Columns of a tab.
const TAB: usize = 8;

/// All declarations, and which of them have been written.
pub(super) struct Declarations {
    items: Vec<Item>,
    by_name: BTreeMap<String, usize>,
    /// The enumerators of each item that stands for an enumeration, first the item itself.
    enumerations: BTreeMap<usize, Vec<usize>>,
    /// For each constant the item that stands for its enumeration.
    enumeration_of: BTreeMap<usize, usize>,
    written: BTreeSet<usize>,
    /// Whether the kernel's names for integers are to be used.
    kernel: bool,
}

impl Declarations {
    /// Makes ready to write `items`, except the constants in `macros`, which are written by hand.
    pub(super) fn new(items: Vec<Item>, macros: &BTreeSet<String>) -> Declarations {
        let mut all = Declarations {
            by_name: items.iter().enumerate().map(|(i, item)| (item.name.clone(), i)).collect(),
            items,
            enumerations: BTreeMap::new(),
            enumeration_of: BTreeMap::new(),
            written: BTreeSet::new(),
            kernel: false,
        };
        let mut open = None;
        for (i, item) in all.items.iter().enumerate() {
            let Kind::Constant { ty, .. } = &item.kind else {
                open = None;
                continue;
            };
            if macros.contains(&item.name) {
                all.written.insert(i);
                continue;
            }
            let alias = all.by_name.get(ty).copied();
            let head = match alias.filter(|&at| matches!(all.items[at].kind, Kind::Alias)) {
                Some(alias) => alias,
                None if !ENUMERATORS.iter().any(|start| item.name.starts_with(start)) => continue,
                None => match open {
                    Some(first) if same_group(&all.items[first], item) => first,
                    _ => i,
                },
            };
            open = Some(head);
            all.enumerations.entry(head).or_default().push(i);
            all.enumeration_of.insert(i, head);
        }
        all
    }

    /// Starts a new header; `kernel` says whether integers have the kernel's names in it.
    pub(super) fn start(&mut self, kernel: bool) {
        self.kernel = kernel;
    }

    /// Declares the structs and unions that those of `sources` point to.
    pub(super) fn forward(&self, sources: &[String]) -> String {
        let mut names = BTreeSet::new();
        for item in self.items.iter().filter(|item| sources.contains(&item.source)) {
            let texts: Vec<&str> = match &item.kind {
                Kind::Record { members, .. } => members.iter().map(|it| it.text.as_str()).collect(),
                Kind::Function { text } => vec![text.as_str()],
                _ => Vec::new(),
            };
            let pointing = texts.into_iter().filter(|text| text.contains(['*', '(']));
            names.extend(pointing.flat_map(words).map(|(_, word)| word));
        }
        let declare = |name| match self.keyword(name)? {
            "enum" => None,
            keyword => Some(format!("{keyword} {name};\n")),
        };
        names.into_iter().filter_map(declare).collect()
    }

    /// All types and constants of `source` that have not been written and are not in `except`.
    pub(super) fn types(&mut self, source: &str, except: &BTreeSet<String>) -> Result<String> {
        let mut text = String::new();
        for i in 0..self.items.len() {
            let item = &self.items[i];
            let is_type = !matches!(item.kind, Kind::Function { .. });
            if item.source == source && is_type && !except.contains(&item.name) {
                self.write(i, &mut text)?;
            }
        }
        Ok(text)
    }

    /// The type or constant `name`.
    pub(super) fn named(&mut self, name: &str) -> Result<String> {
        let missing = || Error::new(format!("there is no {name} in the sources"));
        let i = *self.by_name.get(name).ok_or_else(missing)?;
        let mut text = String::new();
        self.write(i, &mut text)?;
        Ok(text)
    }

    /// The functions of `source`, except those in `except`.
    pub(super) fn functions(&mut self, source: &str, except: &[&str]) -> String {
        let mut out = String::new();
        for (i, item) in self.items.iter().enumerate() {
            let Kind::Function { text } = &item.kind else { continue };
            if item.source != source || except.contains(&item.name.as_str()) {
                continue;
            }
            self.written.insert(i);
            let mut text = self.c(text);
            if CONSTANT_FUNCTIONS.contains(&item.name.as_str()) {
                text.push_str(" __attribute_const");
            }
            out.push_str(&comment(&item.doc, 0));
            out.push_str(&prototype(&text));
            out.push('\n');
        }
        out
    }

    /// The names of all constants.
    pub(super) fn constants(&self) -> impl Iterator<Item = &str> {
        let constants = self.items.iter().filter(|it| matches!(it.kind, Kind::Constant { .. }));
        constants.map(|item| item.name.as_str())
    }

    /// All functions and all members of structs declared again, where a difference to the header
    /// that is compiled does not compile.
    pub(super) fn declared_again(&self) -> String {
        let mut out = String::new();
        for (i, item) in self.items.iter().enumerate() {
            match &item.kind {
                Kind::Function { text } if self.written.contains(&i) => {
                    out.push_str(&format!("{};\n", self.c(text)));
                }
                Kind::Record { members, .. } if self.written.contains(&i) => {
                    self.members_again(item, members, &mut out);
                }
                _ => {}
            }
        }
        out
    }

    /// The members of a record as variables, once of the type that the header says, and once of
    /// that which we say.
    fn members_again(&self, item: &Item, members: &[Member], out: &mut String) {
        let of = item.name.as_str();
        let kernel = item.source.starts_with("uapi/");
        let keyword = self.keyword(of).unwrap_or("struct");
        for member in members {
            let text = &member.text;
            if words(text).first().is_some_and(|(_, word)| NESTED.contains(word)) {
                continue;
            }
            // The name is the last word, that behind "(*" in a pointer to a function.
            let name = match text.split_once("(*") {
                Some((_, rest)) => words(rest).first().map(|(_, word)| *word),
                None => words(text.split('[').next().unwrap_or(text)).last().map(|(_, word)| *word),
            };
            let Some(name) = name else { continue };
            let c_name = name.strip_suffix('_').unwrap_or(name);
            if USER_POINTERS.iter().any(|(path, _)| *path == format!("{of}.{name}")) {
                continue;
            }
            let variable = format!("again_{of}_{c_name}");
            let text = self.c_with(text, kernel);
            let at = words(&text).into_iter().filter(|(_, word)| *word == c_name);
            // In a pointer to a function the first of that name, otherwise the last.
            let at = if text.contains("(*") { at.min() } else { at.max() };
            let Some((at, _)) = at else { continue };
            let ours = format!("{}{variable}{}", &text[..at], &text[at + c_name.len()..]);
            out.push_str(&format!(
                "extern __typeof__((({keyword} {of} *)0)->{c_name}) {variable};\nextern {ours};\n"
            ));
        }
    }

    /// Names that should be in a header and are in none.
    pub(super) fn forgotten(&self) -> Vec<&str> {
        let forgotten = self.items.iter().enumerate().filter(|(i, item)| match &item.kind {
            Kind::Function { .. } => false,
            Kind::Alias => self.enumerations.contains_key(i) && !self.written.contains(i),
            _ => {
                let name = item.name.as_str();
                !NESTED.contains(&name) && !OPAQUE.contains(&name) && !self.written.contains(i)
            }
        });
        forgotten.map(|(_, item)| item.name.as_str()).collect()
    }

    /// Writes an item, after those that it needs.
    fn write(&mut self, i: usize, out: &mut String) -> Result<()> {
        let i = self.enumeration_of.get(&i).copied().unwrap_or(i);
        let name = self.items[i].name.clone();
        let left_out = NESTED.contains(&name.as_str()) || OPAQUE.contains(&name.as_str());
        let is_plain_alias =
            matches!(self.items[i].kind, Kind::Alias) && !self.enumerations.contains_key(&i);
        if left_out || is_plain_alias || !self.written.insert(i) {
            return Ok(());
        }
        if let Some(enumerators) = self.enumerations.get(&i).cloned() {
            for &constant in &enumerators {
                self.written.insert(constant);
                self.write_needed_by_value(constant, out)?;
            }
            out.push_str(&self.enumeration(i, &enumerators));
            return Ok(());
        }
        match self.items[i].kind.clone() {
            Kind::Constant { ty, value } => {
                self.write_needed_by_value(i, out)?;
                // The value's type is the one that the operand on the left has.
                let value = match ty.as_str() {
                    "uint64_t" => value.replacen("(1 <<", "(1ULL <<", 1),
                    _ => value,
                };
                out.push_str(&comment(&self.items[i].doc, 0));
                out.push_str(&format!("#define {name} {value}\n\n"));
            }
            Kind::Record { union, members } => {
                self.write_needed_by_members(&members, out)?;
                out.push_str(&comment(&self.items[i].doc, 0));
                out.push_str(&self.record(&name, union, &members)?);
            }
            Kind::Alias | Kind::Function { .. } => {}
        }
        Ok(())
    }

    /// Writes the constants in the value of a constant.
    fn write_needed_by_value(&mut self, constant: usize, out: &mut String) -> Result<()> {
        let Kind::Constant { value, .. } = self.items[constant].kind.clone() else {
            return Ok(());
        };
        for (_, word) in words(&value) {
            if let Some(&needed) = self.by_name.get(word) {
                self.write(needed, out)?;
            }
        }
        Ok(())
    }

    /// Writes the types that members are of; what they only point to is declared already.
    fn write_needed_by_members(&mut self, members: &[Member], out: &mut String) -> Result<()> {
        for member in members {
            let by_value = !member.text.contains(['*', '(']);
            for (_, word) in words(&member.text) {
                let Some(&needed) = self.by_name.get(word) else { continue };
                match self.items[needed].kind.clone() {
                    Kind::Record { members, .. } if by_value && NESTED.contains(&word) => {
                        self.write_needed_by_members(&members, out)?;
                    }
                    Kind::Record { .. } if by_value => self.write(needed, out)?,
                    Kind::Alias => self.write(needed, out)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// An enumeration; one without a name if `head` is its first constant.
    fn enumeration(&self, head: usize, enumerators: &[usize]) -> String {
        let head = &self.items[head];
        let named = matches!(head.kind, Kind::Alias);
        let (doc, name) = if named {
            (comment(&head.doc, 0), format!("{} ", head.name))
        } else {
            Default::default()
        };
        let (mut lines, mut extension) = (String::new(), "");
        for &i in enumerators {
            let item = &self.items[i];
            let Kind::Constant { value, .. } = &item.kind else { continue };
            let mut value = bare(value).to_owned();
            if !named && value.contains('|') && !item.name.starts_with("IBV_OPCODE_") {
                // Of several enumerations, which C++ does not like to mix.
                value = value
                    .split(" | ")
                    .map(|it| format!("(int){it}"))
                    .collect::<Vec<_>>()
                    .join(" | ");
            }
            if value == "1 << 31" {
                // More than an int, which ISO C before C23 wants enumerators to be.
                value = "1U << 31".to_owned();
                extension = "__extension__ ";
            }
            lines.push_str(&comment(&item.doc, 1));
            lines.push_str(&format!("\t{} = {value},\n", item.name));
        }
        format!("{doc}{extension}enum {name}{{\n{lines}}};\n\n")
    }

    /// A struct or a union.
    fn record(&self, name: &str, union: bool, members: &[Member]) -> Result<String> {
        if WRAPPED.contains(&name) {
            let members = self.members(name, members, 2)?;
            return Ok(format!(
                "__extension__ struct {name} {{\n\tunion {{\n{members}\t}};\n}};\n\n"
            ));
        }
        let keyword = if union { "union" } else { "struct" };
        Ok(format!("{keyword} {name} {{\n{}}};\n\n", self.members(name, members, 1)?))
    }

    /// The members of the record `of`, a line each after its comment.
    fn members(&self, of: &str, members: &[Member], depth: usize) -> Result<String> {
        let tabs = "\t".repeat(depth);
        let mut text = String::new();
        for member in members {
            let (ty, name) = member.text.rsplit_once(' ').unwrap_or(("", &member.text));
            let path = format!("{of}.{}", name.trim_start_matches('*'));
            let pointer = USER_POINTERS.iter().find(|(member, _)| *member == path);
            text.push_str(&comment(&member.doc, depth));
            if let Some((_, pointer)) = pointer {
                let name = name.trim_start_matches('*');
                text.push_str(&format!("{tabs}RDMA_UAPI_PTR({pointer}, {name});\n"));
            } else if NESTED.contains(&ty) {
                let nested = self.by_name.get(ty).map(|&i| &self.items[i].kind);
                let Some(Kind::Record { union, members }) = nested else {
                    return Err(Error::new(format!("there is no {ty} in the sources")));
                };
                let keyword = if *union { "union" } else { "struct" };
                let inner = self.members(ty, members, depth + 1)?;
                let (extension, name) = match ANONYMOUS.contains(&ty) {
                    true => ("__extension__ ", String::new()),
                    false => ("", format!(" {name}")),
                };
                text.push_str(&format!("{tabs}{extension}{keyword} {{\n{inner}{tabs}}}{name};\n"));
            } else {
                let line = self.c(&member.text);
                text.push_str(&wrapped(&format!("{line};"), depth));
            }
        }
        Ok(text)
    }

    /// `struct`, `union` or `enum` for the name of a type.
    pub(super) fn keyword(&self, name: &str) -> Option<&'static str> {
        if ELSEWHERE.contains(&name) || OPAQUE.contains(&name) || WRAPPED.contains(&name) {
            return Some("struct");
        }
        let i = self.by_name.get(name)?;
        match self.items[*i].kind {
            Kind::Record { union: true, .. } => Some("union"),
            Kind::Record { union: false, .. } => Some("struct"),
            Kind::Alias if self.enumerations.contains_key(i) => Some("enum"),
            _ => None,
        }
    }

    /// A declaration as C has it: with keywords in front of types, and with the names that are
    /// keywords of Rust.
    fn c(&self, text: &str) -> String {
        self.c_with(text, self.kernel)
    }

    /// The same, with the kernel's names of integers or not.
    fn c_with(&self, text: &str, kernel: bool) -> String {
        let mut out = String::new();
        let mut end = 0;
        for (at, word) in words(text) {
            out.push_str(&text[end..at]);
            end = at + word.len();
            if let Some(keyword) = self.keyword(word) {
                out.push_str(keyword);
                out.push(' ');
                out.push_str(word);
                continue;
            }
            out.push_str(match word {
                "intptr_t" | "ptrdiff_t" => "ssize_t",
                "uint8_t" if kernel => "__u8",
                "uint16_t" if kernel => "__u16",
                "uint32_t" if kernel => "__u32",
                "int32_t" if kernel => "__s32",
                "uint64_t" if kernel => "__aligned_u64",
                _ => word.strip_suffix('_').unwrap_or(word),
            });
        }
        out.push_str(&text[end..]);
        out.replace("()", "(void)")
    }
}

/// Whether two constants without a type of their own belong to one enumeration.
fn same_group(first: &Item, next: &Item) -> bool {
    let start = |name: &str| ENUMERATORS.iter().position(|start| name.starts_with(start));
    first.source == next.source && start(&first.name) == start(&next.name)
}

/// The identifiers in `text` and where they are.
fn words(text: &str) -> Vec<(usize, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(skip) = text[at..].find(is_part) {
        at += skip;
        let length = text[at..].find(|c| !is_part(c)).unwrap_or(text.len() - at);
        if !text[at..].starts_with(|c: char| c.is_ascii_digit()) {
            found.push((at, &text[at..at + length]));
        }
        at += length;
    }
    found
}

/// A value without parentheses around all of it.
fn bare(value: &str) -> &str {
    let inner = value.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    inner.filter(|inner| !inner.contains(['(', ')'])).unwrap_or(value)
}

/// Documentation as a comment, at a depth in tabs.
fn comment(doc: &[String], depth: usize) -> String {
    let tabs = "\t".repeat(depth);
    let text = doc.join(" ").replace(['`', '[', ']'], "").replace("::", ".");
    let width = WIDTH - depth * TAB;
    if text.is_empty() {
        String::new()
    } else if text.len() + 6 <= width {
        format!("{tabs}/* {text} */\n")
    } else {
        let lines = fold(&text, width - 3);
        let lines = lines.iter().map(|line| format!("{tabs} * {line}\n")).collect::<String>();
        format!("{tabs}/*\n{lines}{tabs} */\n")
    }
}

/// `text` in lines of at most `width` columns.
fn fold(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The declaration of a function in lines that are not too long.
fn prototype(text: &str) -> String {
    wrapped(&format!("{text};"), 0)
}

/// A line at a depth, with further ones two tabs deeper if it is too long.
fn wrapped(text: &str, depth: usize) -> String {
    let tabs = "\t".repeat(depth);
    let lines = fold(text, WIDTH - (depth + 2) * TAB);
    if text.len() + depth * TAB <= WIDTH {
        return format!("{tabs}{text}\n");
    }
    let mut out = String::new();
    for (i, line) in lines.iter().enumerate() {
        let more = if i == 0 { "" } else { "\t\t" };
        out.push_str(&format!("{tabs}{more}{line}\n"));
    }
    out
}
