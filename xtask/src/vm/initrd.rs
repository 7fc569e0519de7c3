//! The first, small file system of the virtual machine: busybox and what it takes to mount the root.

use std::collections::HashSet;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::error::{Context, Error, Result};
use crate::paths;
use crate::sh::Cmd;

/// The modules without which there is no root; those built into a kernel are left out.
const MODULES: [&str; 4] = ["virtio_pci", "9pnet_virtio", "9p", "overlay"];

/// The commands that the initrd's script calls.
const APPLETS: [&str; 7] = ["sh", "mount", "umount", "insmod", "mkdir", "poweroff", "switch_root"];

/// The script that the kernel starts.
const INIT: &str = include_str!("../../guest/initrd-init.sh");

/// Makes the initrd for kernel `release` of `root` inside `work`.
pub(super) fn build(root: &Path, release: &str, work: &Path) -> Result<PathBuf> {
    let tree = work.join("initrd");
    for dir in ["bin", "dev", "lower", "modules", "proc", "root", "upper"] {
        paths::make_dir(tree.join(dir))?;
    }
    paths::copy(&root.join("usr/bin/busybox"), &tree.join("bin/busybox"))?;
    for applet in APPLETS {
        symlink("busybox", tree.join("bin").join(applet))
            .context(|| format!("cannot link {applet}"))?;
    }
    let init = tree.join("init");
    paths::write(&init, INIT)?;
    std::fs::set_permissions(&init, std::fs::Permissions::from_mode(0o755))
        .context(|| "cannot make init executable")?;

    let modules_dir = root.join("usr/lib/modules").join(release);
    let mut order = String::new();
    for module in load_order(&modules_dir)? {
        let name = unpack_module(&modules_dir.join(module), &tree.join("modules"))?;
        order.push_str(&name);
        order.push('\n');
    }
    paths::write(&tree.join("modules/order"), order)?;

    let archive = work.join("initrd.img");
    Cmd::new("sh")
        .args(["-c", r#"find . | cpio --quiet --create --format=newc > "$1""#, "initrd"])
        .arg(&archive)
        .dir(&tree)
        .quiet()
        .run()
        .context(|| "cannot pack the initrd")?;
    Ok(archive)
}

/// The module files to load, each after those that it needs, relative to `modules_dir`.
fn load_order(modules_dir: &Path) -> Result<Vec<String>> {
    let dependencies = paths::read(&modules_dir.join("modules.dep"))?;
    let builtin = paths::read(&modules_dir.join("modules.builtin"))?;
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    for module in MODULES {
        if builtin.lines().any(|path| module_name(path) == module) {
            continue;
        }
        let line = dependencies
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(path, _)| module_name(path) == module);
        let Some((path, needs)) = line else {
            return Err(Error::new(format!("{} has no module {module}", modules_dir.display())));
        };
        // depmod lists what a module needs with the last first.
        for file in needs.split_whitespace().rev().chain([path]) {
            if seen.insert(file.to_owned()) {
                order.push(file.to_owned());
            }
        }
    }
    Ok(order)
}

/// The name of the module in the file `path`, as `modprobe` takes it.
fn module_name(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.split(".ko").next().unwrap_or(file).replace('-', "_")
}

/// Copies a module into `dir`, decompressed, and says under which name.
fn unpack_module(file: &Path, dir: &Path) -> Result<String> {
    let name = format!("{}.ko", module_name(&file.to_string_lossy()));
    let to = dir.join(&name);
    if file.extension().is_some_and(|ending| ending == "xz") {
        let script = r#"xz --decompress --stdout "$1" > "$2""#;
        Cmd::new("sh").args(["-c", script, "unpack"]).arg(file).arg(&to).quiet().run()?;
    } else {
        paths::copy(file, &to)?;
    }
    Ok(name)
}
