//! `cargo xtask deb`: a Debian package that stands in for `libibverbs1` and `libibverbs-dev`.
//!
//! Both may stay installed, as the way back. The library is in a folder of its own, which a file in
//! /etc/ld.so.conf.d puts before the system's: no file of `libibverbs1` is touched, whatever its
//! version, and `ldconfig` has never to choose between two files of one name. What a compiler looks
//! for has fixed places, from which dpkg-divert(1) moves the files of `libibverbs-dev` for as long
//! as this package is there.
//!
//! So it provides both, in the version of rdma-core that it stands for, and what depends on them is
//! content with it alone. It has no Conflicts and no Replaces, by which dpkg would remove them: then
//! nothing would bring the originals back when it goes, and everything that needs them would go too.
//! A package that has no file in common with another, as dpkg sees it, has nothing to replace.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::files::{Content, File, PROJECT, Places};
use super::{SONAME, UPSTREAM_RELEASE, absolute, deb_check, files, write};
use crate::error::{Error, Result};
use crate::sh::Cmd;
use crate::{packages, paths, symbols};

/// What making a package takes.
pub(crate) const PACKAGES: &[&str] = &["binutils", "dpkg-dev", "gzip", "xz-utils"];

/// Debian's folder for libraries.
const DEBIAN_LIBDIR: &str = "/usr/lib/x86_64-linux-gnu";

const USAGE: &str = "usage: cargo xtask deb [--lib FILE] [--check]

Makes target/deb/libibverbs-rs_VERSION_amd64.deb; --check installs it in Debian's root file systems,
uses it there, and removes it.
";

/// Runs `cargo xtask deb`.
pub(crate) fn main(args: &[String]) -> Result<ExitCode> {
    let (mut library, mut check) = (None, false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--check" => check = true,
            "--lib" => {
                let file = args.next().ok_or_else(|| Error::new("--lib needs a value"))?;
                library = Some(absolute(Path::new(file))?);
            }
            _ => return Err(Error::new(USAGE)),
        }
    }
    let library = match library {
        Some(file) => file,
        None => super::build()?,
    };
    if check {
        println!("{}", deb_check::check(&library)?);
    } else {
        println!("{}", make(&library)?.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// The version of the package: the project's.
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The folder with the library.
fn private_libdir() -> PathBuf {
    Path::new(DEBIAN_LIBDIR).join(PROJECT)
}

/// Makes the package of `library`; its file.
pub(super) fn make(library: &Path) -> Result<PathBuf> {
    packages::ensure(PACKAGES)?;
    let folder = paths::make_dir(paths::target().join("deb"))?;
    let root = folder.join("root");
    if root.exists() {
        paths::remove(&root)?;
    }
    let stripped = folder.join(SONAME);
    Cmd::new("strip").args(["--strip-unneeded", "-o"]).arg(&stripped).arg(library).run()?;
    let files = contents(&stripped)?;
    write::lay_out(&files, &root)?;
    for page in files.iter().filter(|file| is_manual(&file.path)) {
        Cmd::new("gzip").arg("-9n").arg(write::below(&root, &page.path)).quiet().run()?;
    }
    let diverted = diverted(&files);
    let control = paths::make_dir(root.join("DEBIAN"))?;
    paths::write(&control.join("control"), control_file(&stripped, &root)?)?;
    paths::write(&control.join("md5sums"), sums(&root)?)?;
    paths::write(&control.join("triggers"), "activate-noawait ldconfig\n")?;
    paths::write(&control.join("shlibs"), format!("libibverbs 1 libibverbs1 (>= {RELEASE})\n"))?;
    paths::write(&control.join("symbols"), symbols_file()?)?;
    for (name, body) in [("preinst", PREINST), ("postinst", POSTINST), ("postrm", POSTRM)] {
        let script = control.join(name);
        paths::write(&script, script_text(body, &diverted))?;
        Cmd::new("chmod").arg("0755").arg(&script).quiet().run()?;
    }
    let package = folder.join(format!("{PROJECT}_{}_amd64.deb", version()));
    let build = Cmd::new("dpkg-deb").args(["--root-owner-group", "-Zxz", "--build"]);
    build.arg(&root).arg(&package).run()?;
    Ok(package)
}

/// The release as Debian's versions have it.
const RELEASE: &str = "65";

/// What is in the package.
fn contents(library: &Path) -> Result<Vec<File>> {
    let mut places = Places::new("/usr".into(), Some(private_libdir()));
    places.devdir = DEBIAN_LIBDIR.into();
    let mut contents = files::all(&places, library)?;
    let text =
        |path: String, text: String| File { path: path.into(), content: Content::Text(text) };
    // Folders named first are searched first.
    contents.push(text(
        format!("/etc/ld.so.conf.d/00-{PROJECT}.conf"),
        format!("{}\n", private_libdir().display()),
    ));
    contents.push(text(format!("/usr/share/doc/{PROJECT}/copyright"), COPYRIGHT.to_owned()));
    Ok(contents)
}

const COPYRIGHT: &str = "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: libibverbs-rs

Files: *
Copyright: the authors of libibverbs-rs
License: MIT or Apache-2.0
 The texts of both licenses are beside this file: LICENSE-MIT and LICENSE-APACHE.
";

/// Whether a file is a page of the manual.
fn is_manual(path: &Path) -> bool {
    path.starts_with("/usr/share/man")
}

/// The files that `libibverbs-dev` has as well, or may have one day.
fn diverted(files: &[File]) -> Vec<String> {
    let is_shared = |path: &Path| {
        let own = [private_libdir().as_path(), &Path::new("/usr/share/doc").join(PROJECT)]
            .iter()
            .any(|dir| path.starts_with(dir));
        path.starts_with("/usr") && !own && !path.starts_with("/usr/share/man/man7")
    };
    let paths = files.iter().map(|file| &file.path).filter(|path| is_shared(path));
    paths
        .map(|path| {
            let packed = if is_manual(path) { ".gz" } else { "" };
            format!("{}{packed}", path.display())
        })
        .collect()
}

/// The control file. `root` is the laid out package.
fn control_file(library: &Path, root: &Path) -> Result<String> {
    let size = Cmd::new("du").args(["-sk"]).arg(root).quiet().output()?;
    let size = size.split_whitespace().next().unwrap_or("0").to_owned();
    Ok(format!(
        "\
Package: {PROJECT}
Version: {version}
Architecture: amd64
Maintainer: the authors of libibverbs-rs <libibverbs-rs@localhost>
Installed-Size: {size}
Depends: libc6 (>= {libc}), libgcc-s1 (>= 4.2)
Recommends: ibverbs-providers
Provides: libibverbs1 (= {UPSTREAM_RELEASE}), libibverbs-dev (= {UPSTREAM_RELEASE})
Section: libs
Priority: optional
Description: RDMA verbs library in Rust, in place of rdma-core's
 libibverbs.so.1 as rdma-core {UPSTREAM_RELEASE} has it, its headers, pkg-config file and manual, with
 a software device for machines without RDMA hardware. Programs that use the library of
 libibverbs1 use this one while the package is installed. libibverbs1 and
 libibverbs-dev may be installed as well and take over again when it is removed.
",
        version = version(),
        libc = libc_version(library)?,
    ))
}

/// The oldest C library that the library can be loaded with.
fn libc_version(library: &Path) -> Result<String> {
    let needs = Cmd::new("readelf").args(["-W", "--version-info"]).arg(library).quiet().output()?;
    let versions = needs.split(|it: char| it.is_whitespace()).filter_map(|word| {
        let numbers: Vec<u32> =
            word.strip_prefix("GLIBC_")?.split('.').filter_map(|it| it.parse().ok()).collect();
        Some(numbers)
    });
    let newest = versions.max().ok_or_else(|| Error::new("the library names no glibc version"))?;
    Ok(newest.iter().map(u32::to_string).collect::<Vec<_>>().join("."))
}

/// The checksums of all files, as dpkg wants them.
fn sums(root: &Path) -> Result<String> {
    let script =
        "find . -path ./DEBIAN -prune -o -type f -printf '%P\\0' | sort -z | xargs -0 md5sum";
    Cmd::new("sh").args(["-c", script]).dir(root).quiet().output()
}

/// The first release of rdma-core with a version node.
fn release_of(node: &str) -> Option<&str> {
    Some(match node {
        "IBVERBS_1.0" | "IBVERBS_1.1" => "1.1.6",
        "IBVERBS_1.5" => "20",
        "IBVERBS_1.6" => "24",
        "IBVERBS_1.7" => "25",
        "IBVERBS_1.8" => "28",
        "IBVERBS_1.9" => "30",
        "IBVERBS_1.10" => "31",
        "IBVERBS_1.11" => "32",
        "IBVERBS_1.12" => "34",
        "IBVERBS_1.13" => "35",
        "IBVERBS_1.14" => "36",
        "IBVERBS_1.15" => "59",
        "IBVERBS_1.16" => "62",
        "IBVERBS_1.17" => "64",
        "IBVERBS_1.18" => "65",
        _ => return node.strip_prefix("IBVERBS_PRIVATE_"),
    })
}

/// The symbols file: what uses only names of rdma-core depends on `libibverbs1` of the release that
/// has them, as if built with it; what uses names of this project depends on this package.
fn symbols_file() -> Result<String> {
    let mut nodes = std::collections::BTreeSet::new();
    let mut lines = Vec::new();
    for export in symbols::wanted()?.exports {
        // `name@@node type`; the node is a symbol as well.
        let symbol = export.split(' ').next().unwrap_or_default().replace("@@", "@");
        let Some((_, node)) = symbol.split_once('@') else { continue };
        nodes.insert(node.to_owned());
        lines.push(symbol);
    }
    lines.extend(nodes.iter().map(|node| format!("{node}@{node}")));
    lines.sort();
    lines.dedup();
    let mut text = format!(
        "{SONAME} libibverbs1 #MINVER#\n| {PROJECT} #MINVER#\n* Build-Depends-Package: {PROJECT}\n"
    );
    for symbol in lines {
        let node = symbol.rsplit('@').next().unwrap_or_default();
        match release_of(node) {
            Some(release) => text.push_str(&format!(" {symbol} {release}\n")),
            None => text.push_str(&format!(" {symbol} {} 1\n", version())),
        }
    }
    Ok(text)
}

/// A maintainer script: the list of diverted files, then what it does.
fn script_text(body: &str, diverted: &[String]) -> String {
    format!(
        "#!/bin/sh\nset -e\noriginals={}/originals\ndiverted='\n{}\n'\n{body}",
        private_libdir().display(),
        diverted.join("\n")
    )
}

/// Before files are unpacked: files of others go aside.
const PREINST: &str = r#"
case $1 in install | upgrade)
    for file in $diverted; do
        mkdir -p "$originals${file%/*}"
        dpkg-divert --quiet --package libibverbs-rs --rename --divert "$originals$file" --add "$file"
    done
esac
"#;

/// After that: what an earlier version had diverted and this one has not comes back.
const POSTINST: &str = r#"
if [ "$1" = configure ]; then
    dpkg-divert --list '*' | sed -n 's/^diversion of \(.*\) to .* by libibverbs-rs$/\1/p' |
    while read -r file; do
        case $diverted in *"
$file
"*) ;; *) dpkg-divert --quiet --package libibverbs-rs --rename --remove "$file" ;; esac
    done
fi
"#;

/// After removal: files of others come back.
const POSTRM: &str = r#"
case $1 in remove | abort-install | disappear)
    for file in $diverted; do
        dpkg-divert --quiet --package libibverbs-rs --rename --remove "$file"
    done
    if [ -d "$originals" ]; then
        find "$originals" -depth -type d -empty -delete
    fi
    rmdir "${originals%/*}" 2>/dev/null || :
    ldconfig
esac
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_of_rdma_core_and_ours() {
        let text = symbols_file().expect("the list of exports is in the checkout");
        assert!(text.contains("\n ibv_open_device@IBVERBS_1.1 1.1.6\n"), "{text}");
        assert!(text.contains("\n IBVERBS_PRIVATE_34@IBVERBS_PRIVATE_34 34\n"), "{text}");
        assert!(text.contains(&format!("\n ibv_post_send@IBVERBS_RS_1.0 {} 1\n", version())));
        assert!(!text.contains("@@"));
    }

    #[test]
    fn only_what_others_have_is_diverted() {
        let file = |path: &str| File { path: path.into(), content: Content::Folder };
        let files = [
            file("/usr/include/infiniband/verbs.h"),
            file("/usr/share/man/man3/ibv_open_device.3"),
            file("/usr/share/man/man7/urxe.7"),
            file("/usr/lib/x86_64-linux-gnu/libibverbs-rs/libibverbs.so.1"),
            file("/usr/share/doc/libibverbs-rs/README.md"),
            file("/etc/ld.so.conf.d/00-libibverbs-rs.conf"),
        ];
        let expected =
            ["/usr/include/infiniband/verbs.h", "/usr/share/man/man3/ibv_open_device.3.gz"];
        assert_eq!(diverted(&files), expected);
    }
}
