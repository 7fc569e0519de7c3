//! The library in the place of Debian's: does everything that is linked to it still load?

use std::path::Path;

use crate::error::{Error, Result};
use crate::paths;
use crate::sh::Cmd;
use crate::vm::{Suite, chroot, rootfs};

/// Goes through every ELF file of the root that needs libibverbs.so.1. `ldd -r` reports names that
/// nobody defines; Python's dlopen with RTLD_NOW binds all of them for real.
const SCRIPT: &str = r#"
set -u
for real in /usr/lib/x86_64-linux-gnu/libibverbs.so.1.*; do
    cp /share/libibverbs.so.1 "$real"
done
files=0 bad=0
for file in $(find /usr/bin /usr/sbin /usr/lib -type f \( -perm /111 -o -name '*.so*' \)); do
    case $file in */libibverbs.so.1*) continue;; esac
    head -c 4 "$file" | grep -q ELF || continue
    readelf -W -d "$file" 2>/dev/null | grep -q 'NEEDED.*libibverbs.so.1\]' || continue
    files=$((files + 1))
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
echo "files $files bad $bad"
test "$bad" = 0 && test "$files" -ge 40
"#;

/// Loads all that needs libibverbs in Debian's root of `suite`, with `library` in place.
pub(crate) fn check_loading(suite: Suite, library: &Path) -> Result<String> {
    let share = paths::scratch("dropin")?;
    paths::copy(library, &share.join("libibverbs.so.1"))?;
    paths::write(&share.join("check.sh"), SCRIPT)?;
    let command = ["sh".to_owned(), "/share/check.sh".to_owned()];
    let output = chroot::command(suite, Some(&share), &command)?.output()?;
    Ok(output.lines().last().unwrap_or_default().to_owned())
}

/// Compares Debian's library with ours by abidiff: nothing may be removed or changed.
///
/// abidiff's exit code is a set of bits: 1 and 2 errors, 4 a change, 8 an incompatible one. New
/// names are a change, which is why they are hidden.
pub(crate) fn check_abidiff(library: &Path) -> Result<String> {
    let root = rootfs::root(Suite::Forky)?;
    let theirs = paths::list(&root.join("usr/lib/x86_64-linux-gnu"))?
        .into_iter()
        .find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with("libibverbs.so.1.") && !path.is_symlink()
        })
        .ok_or_else(|| Error::new("no libibverbs in the forky root"))?;
    Cmd::new("abidiff").arg("--no-added-syms").arg(theirs).arg(library).run()?;
    Ok("nothing removed or changed".to_owned())
}
