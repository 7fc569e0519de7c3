//! The library in the place of Debian's: does everything that is linked to it still load?

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::sh::Cmd;
use crate::vm::{Suite, chroot, rootfs};
use crate::{paths, symbols};

/// Goes through every ELF file of the root that needs libibverbs.so.1. `ldd -r` reports names and
/// versions that nobody defines; Python's dlopen with RTLD_NOW binds all of them for real. Each
/// package in the arguments has to have such a file.
const SCRIPT: &str = r#"
set -u
for real in /usr/lib/x86_64-linux-gnu/libibverbs.so.1.*; do
    cp /share/libibverbs.so.1 "$real"
done
bad=0
for file in $(find /usr/bin /usr/sbin /usr/lib -type f \( -perm /111 -o -name '*.so*' \)); do
    # The second are parts of a program, whose symbols they take.
    case $file in */libibverbs.so.1* | */libmca_*) continue;; esac
    head -c 4 "$file" | grep -q ELF || continue
    readelf -W -d "$file" 2>/dev/null | grep -q 'NEEDED.*libibverbs.so.1\]' || continue
    echo "$file" >> /share/files
    if ldd -r "$file" 2>&1 | grep -E 'undefined symbol|not found|no version information'; then
        echo "BAD ldd -r $file"; bad=$((bad + 1))
    fi
    case $file in
    *.so*)
        # pyverbs modules take the Python symbols from the interpreter, where this runs too.
        python3 - "$file" <<'EOF' || { echo "BAD dlopen $file"; bad=$((bad + 1)); }
import ctypes, os, sys
ctypes.CDLL(sys.argv[1], mode=os.RTLD_NOW)
EOF
        ;;
    esac
done
counts=
for package in "$@"; do
    count=$(dpkg -L "$package" | grep -cFxf /share/files)
    [ "$count" -gt 0 ] || { echo "BAD $package: no file that needs libibverbs"; bad=$((bad + 1)); }
    counts="$counts, $package $count"
done
echo "$(wc -l < /share/files) files, $bad bad$counts"
test "$bad" = 0
"#;

/// The packages of every suite of which something needs libibverbs.
const PACKAGES: &[&str] =
    &["ibverbs-providers", "ibverbs-utils", "perftest", "python3-pyverbs", "qperf", "rdmacm-utils"];

/// Loads all that needs libibverbs in Debian's root of `suite`, with `library` in place.
pub(crate) fn check_loading(suite: Suite, library: &Path) -> Result<String> {
    let share = paths::scratch(&format!("dropin-{}", suite.name()))?;
    paths::copy(library, &share.join("libibverbs.so.1"))?;
    paths::write(&share.join("check.sh"), SCRIPT)?;
    let more: &[&str] = match suite {
        Suite::Forky => &["librdmacm1t64"],
        Suite::Trixie => &["libfabric1", "librdmacm1t64", "libucx0"],
        Suite::Bookworm => &["libfabric1", "librdmacm1", "libucx0"],
    };
    let words = ["sh", "/share/check.sh"].iter().chain(PACKAGES).chain(more);
    let command: Vec<String> = words.map(|word| (*word).to_owned()).collect();
    let check = chroot::command(suite, Some(&share), &command)?.timeout(Duration::from_secs(300));
    let output = check.output()?;
    Ok(output.lines().last().unwrap_or_default().to_owned())
}

/// The same for every suite.
pub(crate) fn check_loading_everywhere(library: &Path) -> Result<String> {
    let (mut found, mut bad) = (Vec::new(), false);
    for suite in Suite::ALL {
        let result = check_loading(suite, library);
        bad |= result.is_err();
        let text = result.unwrap_or_else(|error| error.to_string());
        found.push(format!("{}: {text}", suite.name()));
    }
    let found = found.join("; ");
    if bad { Err(Error::new(found)) } else { Ok(found) }
}

/// Compares the library of each Debian release with ours by abidiff: nothing may be removed or
/// changed. The private names of the releases that have all of their node's must be ours as well.
///
/// abidiff's exit code is a set of bits: 1 and 2 errors, 4 a change, 8 an incompatible one. New
/// names are a change, which is why they are hidden.
pub(crate) fn check_abidiff(library: &Path) -> Result<String> {
    let mut private = Vec::new();
    for suite in Suite::ALL {
        let theirs = original(suite)?;
        Cmd::new("abidiff").arg("--no-added-syms").arg(&theirs).arg(library).run()?;
        // Release 44 has the node 34 of which 56 is the last release, and fewer names in it.
        if suite == Suite::Bookworm {
            continue;
        }
        let names = symbols::private_names(&theirs)?;
        let node = names.keys().next().cloned().unwrap_or_default();
        if names.len() != 1 || symbols::private_names(library)?.get(&node) != names.get(&node) {
            return Err(Error::new(format!(
                "the names of {node} are not those of rdma-core {}",
                suite.rdma_core()
            )));
        }
        private.push(node);
    }
    Ok(format!("nothing removed or changed; the same names in {}", private.join(", ")))
}

/// Debian's own library in the root of `suite`.
fn original(suite: Suite) -> Result<PathBuf> {
    let root = rootfs::root(suite)?;
    paths::list(&root.join("usr/lib/x86_64-linux-gnu"))?
        .into_iter()
        .find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with("libibverbs.so.1.") && !path.is_symlink()
        })
        .ok_or_else(|| Error::new(format!("no libibverbs in the root of {}", suite.name())))
}
