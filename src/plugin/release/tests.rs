//! The decision, on folders with the files that distributions install.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::decide::{Decision, Subject, Unserved};
use crate::plugin::elf;
use crate::provider_api::private_abi::{PRIVATE_ABIS, layouts_of};
use crate::sys::tests::Folder;

/// An installed rdma-core.
struct Installed {
    system: &'static str,
    /// Where its libraries are; plugins are below, in `libibverbs`.
    directory: &'static str,
    private_abi: u32,
    /// Its version, as in file names.
    version: &'static str,
    /// The libraries of which plugins are links, with their own versions.
    providers: Versions,
    /// The version of libibverbs.
    verbs: &'static str,
    /// The releases of the layout; nothing if it is not served.
    layout: Option<(u32, u32)>,
}

const DEBIAN: &str = "usr/lib/x86_64-linux-gnu";
const RED_HAT: &str = "usr/lib64";
const OTHERS: &str = "usr/lib";

type Versions = &'static [(&'static str, &'static str)];

const SINCE_36: Versions = &[("mlx5", "1.22"), ("efa", "1.1"), ("mlx4", "1.0")];
const SINCE_41: Versions = &[("mlx5", "1.23"), ("efa", "1.2"), ("mlx4", "1.0")];
const SINCE_44: Versions = &[("mlx5", "1.24"), ("efa", "1.2"), ("mlx4", "1.0"), ("mana", "1.0")];
const SINCE_51: Versions =
    &[("mlx5", "1.25"), ("efa", "1.3"), ("mlx4", "1.0"), ("mana", "1.0"), ("hns", "1.0")];
const SINCE_61: Versions = &[
    ("mlx5", "1.25"),
    ("efa", "1.5"),
    ("mlx4", "1.0"),
    ("mana", "1.0"),
    ("hns", "1.0"),
    ("ionic", "1.0"),
];

/// The last column but one says how the row is known: from the `package` itself; from file `names`
/// in public lists and logs; the `release` that the distribution has, with the place and the names
/// of others of its time. The libraries' own minor versions, which nothing depends on, are exact in
/// the first two kinds only.
const SYSTEMS: [Installed; 23] = [
    installed("Debian 12", DEBIAN, 34, "44.0", SINCE_44, "1.14", "package", Some((44, 44))),
    installed("Debian 13", DEBIAN, 34, "56.1", SINCE_51, "1.14", "package", Some((54, 56))),
    installed("Ubuntu 22.04", DEBIAN, 34, "39.0", SINCE_36, "1.14", "names", Some((36, 43))),
    installed("Ubuntu 24.04", DEBIAN, 34, "50.0", SINCE_44, "1.14", "names", Some((49, 53))),
    installed("Ubuntu 25.10", DEBIAN, 57, "57.0", SINCE_51, "1.14", "release", Some((57, 58))),
    installed("Ubuntu 26.04", DEBIAN, 59, "61.0", SINCE_61, "1.15", "names", Some((59, 61))),
    installed("RHEL 9.1", RED_HAT, 34, "41.0", SINCE_41, "1.14", "release", Some((36, 43))),
    installed("RHEL 9.2", RED_HAT, 34, "44.0", SINCE_44, "1.14", "release", Some((44, 44))),
    installed("RHEL 9.3", RED_HAT, 34, "46.0", SINCE_44, "1.14", "release", Some((45, 48))),
    installed("RHEL 9.4", RED_HAT, 34, "48.0", SINCE_44, "1.14", "names", Some((45, 48))),
    installed("RHEL 9.5", RED_HAT, 34, "51.0", SINCE_51, "1.14", "names", Some((49, 53))),
    installed("RHEL 9.6, 10.0", RED_HAT, 34, "54.0", SINCE_51, "1.14", "names", Some((54, 56))),
    installed("RHEL 9.7, 10.1", RED_HAT, 57, "57.0", SINCE_51, "1.14", "names", Some((57, 58))),
    installed("Fedora 43", RED_HAT, 59, "59.0", SINCE_51, "1.15", "release", Some((59, 61))),
    installed(
        "openSUSE Leap 15.6",
        RED_HAT,
        34,
        "49.1",
        SINCE_44,
        "1.14",
        "release",
        Some((49, 53)),
    ),
    installed(
        "openSUSE Tumbleweed",
        RED_HAT,
        59,
        "62.0",
        SINCE_61,
        "1.16",
        "release",
        Some((62, 63)),
    ),
    installed("Arch Linux, 2022", OTHERS, 34, "41.0", SINCE_41, "1.14", "names", Some((36, 43))),
    installed("Alpine 3.20", OTHERS, 34, "51.0", SINCE_51, "1.14", "release", Some((49, 53))),
    installed("Alpine 3.22", OTHERS, 57, "57.0", SINCE_51, "1.14", "release", Some((57, 58))),
    installed("Alpine 3.23", OTHERS, 59, "60.0", SINCE_51, "1.15", "release", Some((59, 61))),
    installed("conda-forge", "lib", 59, "63.0", SINCE_61, "1.16", "names", Some((62, 63))),
    installed("RHEL 8.5", RED_HAT, 34, "35.0", &[("mlx5", "1.19")], "1.14", "names", None),
    installed("a release 34", OTHERS, 34, "34.1", SINCE_36, "1.12", "release", None),
];

#[allow(clippy::too_many_arguments)]
const fn installed(
    system: &'static str,
    directory: &'static str,
    private_abi: u32,
    version: &'static str,
    providers: Versions,
    verbs: &'static str,
    _known: &'static str,
    layout: Option<(u32, u32)>,
) -> Installed {
    Installed { system, directory, private_abi, version, providers, verbs, layout }
}

/// Makes a link, and the directories to it, as a package does: over what was there.
fn link(folder: &Folder, target: &str, name: &str) {
    let path = folder.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = std::fs::remove_file(&path);
    symlink(target, path).unwrap();
}

impl Installed {
    /// Writes its files.
    fn install(&self, folder: &Folder) {
        let (directory, abi, version) = (self.directory, self.private_abi, self.version);
        for (name, own) in self.providers {
            let library = format!("lib{name}.so.{own}.{version}");
            folder.write(&format!("{directory}/{library}"), b"");
            link(folder, &library, &format!("{directory}/lib{name}.so.1"));
            let plugin = format!("{directory}/libibverbs/lib{name}-rdmav{abi}.so");
            link(folder, &format!("../{library}"), &plugin);
        }
        for plugin in ["rxe", "siw", "bnxt_re", "irdma"] {
            folder.write(&self.plugin(plugin), b"");
        }
        for (name, major, own) in
            [("ibverbs", 1, self.verbs), ("rdmacm", 1, "1.3"), ("ibumad", 3, "3.2")]
        {
            let library = format!("lib{name}.so.{own}.{version}");
            folder.write(&format!("{directory}/{library}"), b"");
            link(folder, &library, &format!("{directory}/lib{name}.so.{major}"));
        }
        // What else is there.
        for other in ["libc.so.6", "libz.so.1.2.13", "libnl-3.so.200.26.0", "liblzma.so.5.4.50.0"] {
            folder.write(&format!("{directory}/{other}"), b"");
        }
    }

    fn plugin(&self, name: &str) -> String {
        format!("{}/libibverbs/lib{name}-rdmav{}.so", self.directory, self.private_abi)
    }
}

fn decide(file: &Path, private_abi: u32, told: Option<&str>) -> Result<Decision, Unserved> {
    let name = file.file_name().unwrap().to_str().unwrap();
    let name = name.trim_start_matches("lib").split(['-', '.']).next().unwrap();
    let subject = Subject { provider: name.as_bytes(), private_abi, file: Some(file) };
    subject.decide(told.map(str::as_bytes))
}

/// The releases of the layout; nothing if they are not served.
fn releases(decision: Result<Decision, Unserved>) -> Option<(u32, u32)> {
    let releases = &decision.ok()?.layout.releases;
    Some((*releases.start(), *releases.end()))
}

#[test]
fn distributions() {
    for system in SYSTEMS {
        let folder = Folder::new("distribution");
        system.install(&folder);
        let linked = format!("{}/libmlx5.so.1", system.directory);
        for file in [system.plugin("mlx5"), system.plugin("rxe"), linked] {
            let decision = decide(&folder.path().join(&file), system.private_abi, None);
            if let Ok(Decision { is_guess, misfit, .. }) = &decision {
                assert_eq!((*is_guess, misfit), (false, &None), "{}: {file}", system.system);
            }
            assert_eq!(releases(decision), system.layout, "{}: {file}", system.system);
        }
    }
}

/// Installs a system's files without the links between plugins and libraries.
fn without_plugin_links(folder: &Folder, system: &Installed) {
    system.install(folder);
    for (name, _) in system.providers {
        std::fs::remove_file(folder.path().join(system.plugin(name))).unwrap();
    }
}

#[test]
fn libraries_tell_without_links_between_plugins_and_libraries() {
    for system in SYSTEMS {
        let folder = Folder::new("libraries");
        without_plugin_links(&folder, &system);
        let rxe = folder.path().join(system.plugin("rxe"));
        let directory = folder.path().join(system.directory);
        let decide = || releases(decide(&rxe, system.private_abi, None));
        assert_eq!(decide(), system.layout, "{}: links", system.system);
        for entry in std::fs::read_dir(&directory).unwrap().flatten() {
            if entry.file_type().unwrap().is_symlink() {
                std::fs::remove_file(entry.path()).unwrap();
            }
        }
        assert_eq!(decide(), system.layout, "{}: names", system.system);
    }
}

fn system(name: &str) -> &'static Installed {
    static ALL: [Installed; 23] = SYSTEMS;
    ALL.iter().find(|it| it.system == name).unwrap()
}

#[test]
fn releases_in_one_directory_keep_apart() {
    let folder = Folder::new("apart");
    let (old, new) = (system("Debian 12"), system("Ubuntu 26.04"));
    old.install(&folder);
    let rxe = folder.path().join(old.plugin("rxe"));
    // The libraries of the newer release take the links over.
    new.install(&folder);
    assert_eq!(releases(decide(&rxe, 34, None)), Some((44, 44)));
    let rxe_59 = folder.path().join(new.plugin("rxe"));
    assert_eq!(releases(decide(&rxe_59, 59, None)), Some((59, 61)));
    // Without the links of the plugins, the names of the libraries are left.
    for (name, _) in old.providers {
        std::fs::remove_file(folder.path().join(old.plugin(name))).unwrap();
    }
    assert_eq!(releases(decide(&rxe, 34, None)), Some((44, 44)));
    // This library's own file says nothing.
    folder.write(&format!("{DEBIAN}/libibverbs.so.1.18.65.0"), b"");
    assert_eq!(releases(decide(&rxe, 34, None)), Some((44, 44)));
}

#[test]
fn a_directory_of_plugins_alone() {
    // A container with the host's plugins, whose links lead nowhere, and libraries of its own.
    let folder = Folder::new("container");
    let (host, own) = (system("Ubuntu 22.04"), system("Debian 12"));
    without_plugin_links(&folder, own);
    let directory = folder.path().join(DEBIAN).join("libibverbs");
    for (name, version) in host.providers {
        let target = format!("../lib{name}.so.{version}.{}", host.version);
        symlink(target, directory.join(format!("lib{name}-rdmav34.so"))).unwrap();
    }
    assert_eq!(releases(decide(&directory.join("librxe-rdmav34.so"), 34, None)), Some((36, 43)));
}

#[test]
fn plugins_that_are_links_from_elsewhere() {
    let folder = Folder::new("elsewhere");
    let system = system("RHEL 9.4");
    system.install(&folder);
    let rxe = folder.path().join(system.plugin("rxe"));
    std::fs::create_dir(folder.path().join("plugins")).unwrap();
    let plugin = folder.path().join("plugins/librxe-rdmav34.so");
    symlink(&rxe, &plugin).unwrap();
    assert_eq!(releases(decide(&plugin, 34, None)), Some((45, 48)));
    // A directory that is one.
    let directory = folder.path().join("directory");
    symlink(rxe.parent().unwrap(), &directory).unwrap();
    for (name, _) in system.providers {
        std::fs::remove_file(folder.path().join(system.plugin(name))).unwrap();
    }
    let plugin = directory.join("librxe-rdmav34.so");
    assert_eq!(releases(decide(&plugin, 34, None)), Some((45, 48)));
}

#[test]
fn functions_narrow_it_down() {
    let folder = Folder::new("functions");
    let decide = |private_abi, name: &str, imports: &[&str]| {
        let file = format!("plugins/lib{name}-rdmav{private_abi}.so");
        folder.write(&file, &elf::tests::with_imports(imports));
        let decision = decide(&folder.path().join(file), private_abi, None).unwrap();
        ((*decision.layout.releases.start(), *decision.layout.releases.end()), decision.is_guess)
    };
    assert_eq!(decide(59, "efa", &["ibv_cmd_query_port_speed"]), ((62, 63), false));
    assert_eq!(decide(59, "mlx5", &["__verbs_log"]), ((59, 61), false));
    assert_eq!(decide(59, "rxe", &["__verbs_log"]), ((59, 61), true));
    assert_eq!(decide(34, "mlx5", &["ibv_cmd_create_cq_ex2"]), ((49, 53), true));
    assert_eq!(decide(34, "rxe", &["__verbs_log"]), ((49, 53), true));
    // What is beside has to agree.
    folder.write("librdmacm.so.1.3.44.0", b"");
    assert_eq!(decide(34, "rxe", &["__verbs_log"]), ((44, 44), false));
    assert_eq!(decide(34, "x", &["ibv_wr_opcode_str"]), ((49, 53), true));
    folder.write("libibumad.so.3.2.54.0", b"");
    assert_eq!(decide(34, "x", &["ibv_wr_opcode_str"]), ((54, 56), false));
    // Two of a kind that do not are a guess.
    folder.write("librdmacm.so.1.3.50.0", b"");
    assert_eq!(decide(34, "rxe", &["__verbs_log"]), ((49, 53), true));
    folder.write("libmlx5.so.1.24.46.0", b"");
    assert_eq!(decide(34, "rxe", &["__verbs_log"]), ((45, 48), false));
}

#[test]
fn the_user_has_the_last_word() {
    let folder = Folder::new("told");
    let system = system("Debian 12");
    system.install(&folder);
    let of = |name: &str, told| decide(&folder.path().join(system.plugin(name)), 34, Some(told));
    assert_eq!(releases(of("rxe", "50")), Some((49, 53)));
    assert_eq!(releases(of("mlx5", "rxe=50")), Some((44, 44)));
    assert_eq!(releases(of("mlx5", "rxe=50,mlx5=39.0")), Some((36, 43)));
    let misfit = of("rxe", "rxe=60").unwrap();
    assert_eq!(misfit.misfit.as_deref(), Some("60"));
    assert_eq!(releases(Ok(misfit)), Some((44, 44)));
    assert_eq!(of("rxe", "\u{1b}x").unwrap().misfit.as_deref(), Some("\\x1bx"));
    assert_eq!(of("rxe", "35").unwrap_err().release, 35);
    // What the provider calls itself may be another name than that of its file.
    let file = folder.path().join(system.plugin("bnxt_re"));
    let subject = Subject { provider: b"other", private_abi: 34, file: Some(&file) };
    for told in ["other=50", "bnxt_re=50"] {
        assert_eq!(releases(subject.decide(Some(told.as_bytes()))), Some((49, 53)), "{told}");
    }
    assert_eq!(releases(subject.decide(Some(b"bnxt=50"))), Some((44, 44)));
}

#[test]
fn nothing_to_see() {
    let odd = [
        Some(PathBuf::from("/nowhere/librxe-rdmav34.so")),
        Some(PathBuf::from("/")),
        Some(PathBuf::from("relative")),
        Some(PathBuf::from("/proc/self/mem")),
        None,
    ];
    for file in &odd {
        for private_abi in PRIVATE_ABIS {
            let subject = Subject { provider: b"rxe", private_abi, file: file.as_deref() };
            let decision = subject.decide(None).unwrap();
            assert_eq!(decision.layout.private_abi, private_abi);
            assert!(decision.is_guess && decision.misfit.is_none());
        }
    }
    // Links that go round, and a file that may not be read.
    let folder = Folder::new("odd");
    symlink("b", folder.path().join("a")).unwrap();
    symlink("a", folder.path().join("b")).unwrap();
    assert!(decide(&folder.path().join("a"), 34, None).unwrap().is_guess);
    folder.write("librxe-rdmav34.so", b"");
    let denied = std::os::unix::fs::PermissionsExt::from_mode(0o000);
    std::fs::set_permissions(folder.path().join("librxe-rdmav34.so"), denied).unwrap();
    assert!(decide(&folder.path().join("librxe-rdmav34.so"), 34, None).unwrap().is_guess);
    // No private ABI that there is.
    let subject = Subject { provider: b"rxe", private_abi: 66, file: None };
    assert_eq!(subject.decide(None).unwrap_err().release, 66);
    assert_eq!(layouts_of(66).count(), 0);
}

#[test]
fn the_file_of_a_provider() {
    static IN_A_FILE: u32 = 0;
    let file = super::file_of((&raw const IN_A_FILE).cast()).unwrap();
    assert_eq!(file.canonicalize().unwrap(), std::env::current_exe().unwrap());
    let in_none = Box::new(0u64);
    assert_eq!(super::file_of((&raw const *in_none).cast()), None);
    assert_eq!(super::file_of(core::ptr::null()), None);
}
