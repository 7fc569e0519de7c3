//! Installations in a folder of the tests.

use std::fs;
use std::path::{Path, PathBuf};

use super::files::{Content, File, Places};
use super::record::Record;
use super::write;

/// A folder that goes away with the test.
struct Destdir(PathBuf);

impl Destdir {
    fn new(name: &str) -> Destdir {
        let dir = std::env::temp_dir().join(format!("install-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("a folder for the test");
        Destdir(dir)
    }

    /// All that is in it, with what it contains or leads to.
    fn state(&self) -> Vec<String> {
        fn add(dir: &Path, root: &Path, state: &mut Vec<String>) {
            for entry in fs::read_dir(dir).expect("the folder can be read") {
                let path = entry.expect("an entry").path();
                let name = path.strip_prefix(root).expect("below the root").display().to_string();
                if let Ok(target) = fs::read_link(&path) {
                    state.push(format!("{name} -> {}", target.display()));
                } else if path.is_dir() {
                    state.push(format!("{name}/"));
                    add(&path, root, state);
                } else {
                    state.push(format!("{name}: {}", fs::read_to_string(&path).expect("text")));
                }
            }
        }
        let mut state = Vec::new();
        add(&self.0, &self.0, &mut state);
        state.sort();
        state
    }
}

impl Drop for Destdir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(path: &str, text: &str) -> File {
    File { path: path.into(), content: Content::Text(text.to_owned()) }
}

fn link(path: &str, target: &str) -> File {
    File { path: path.into(), content: Content::Link(target.into()) }
}

fn places() -> Places {
    Places::new("/opt/verbs".into(), None)
}

#[test]
fn what_is_installed_goes_away_and_the_rest_stays() {
    let dir = Destdir::new("roundtrip");
    fs::create_dir_all(dir.0.join("opt/verbs/lib")).expect("a folder");
    fs::write(dir.0.join("opt/verbs/lib/other.so"), "other").expect("a file of somebody else");
    let before = dir.state();
    let files = [
        text("/opt/verbs/lib/lib.so.1.0", "library"),
        link("/opt/verbs/lib/lib.so.1", "lib.so.1.0"),
        File { path: "/etc/lib.d".into(), content: Content::Folder },
    ];
    let record = places().record();
    assert_eq!(write::install(&files, &dir.0, &record).expect("installed"), 2);
    let installed = dir.state();
    assert!(installed.contains(&"opt/verbs/lib/lib.so.1 -> lib.so.1.0".to_owned()));
    assert!(installed.contains(&"etc/lib.d/".to_owned()));
    // Again over itself: nothing changes.
    assert_eq!(write::install(&files, &dir.0, &record).expect("installed again"), 2);
    assert_eq!(dir.state(), installed);
    assert_eq!(write::uninstall(&dir.0, &record).expect("removed"), 2);
    assert_eq!(dir.state(), before);
    let error = write::uninstall(&dir.0, &record).expect_err("nothing is installed");
    assert!(error.to_string().contains("nothing is installed"), "{error}");
}

#[test]
fn a_newer_installation_removes_what_it_no_longer_has() {
    let dir = Destdir::new("upgrade");
    let record = places().record();
    let before = dir.state();
    let old = [text("/opt/verbs/a", "1"), text("/opt/verbs/sub/b", "1")];
    write::install(&old, &dir.0, &record).expect("installed");
    let new = [text("/opt/verbs/a", "2"), text("/opt/verbs/c", "2")];
    write::install(&new, &dir.0, &record).expect("upgraded");
    let state = dir.state();
    assert!(state.contains(&"opt/verbs/a: 2".to_owned()), "{state:?}");
    assert!(!state.iter().any(|line| line.starts_with("opt/verbs/sub/b")), "{state:?}");
    write::uninstall(&dir.0, &record).expect("removed");
    assert_eq!(dir.state(), before);
}

#[test]
fn a_file_of_somebody_else_stops_the_whole_installation() {
    let dir = Destdir::new("foreign");
    fs::create_dir_all(dir.0.join("opt/verbs")).expect("a folder");
    // A link to nowhere is somebody's too.
    std::os::unix::fs::symlink("nowhere", dir.0.join("opt/verbs/b")).expect("a link");
    let before = dir.state();
    let files = [text("/opt/verbs/a", "new"), text("/opt/verbs/b", "new")];
    let error = write::install(&files, &dir.0, &places().record()).expect_err("refused");
    assert!(error.to_string().contains("/opt/verbs/b"), "{error}");
    assert_eq!(dir.state(), before);
}

#[test]
fn a_folder_that_others_use_by_now_stays() {
    let dir = Destdir::new("shared");
    let record = places().record();
    write::install(&[text("/opt/verbs/sub/a", "")], &dir.0, &record).expect("installed");
    fs::write(dir.0.join("opt/verbs/sub/theirs"), "theirs").expect("a file of somebody else");
    write::uninstall(&dir.0, &record).expect("removed");
    assert_eq!(
        dir.state(),
        ["opt/", "opt/verbs/", "opt/verbs/sub/", "opt/verbs/sub/theirs: theirs"]
    );
}

#[test]
fn a_record_is_read_as_it_was_written() {
    let record = Record {
        files: vec!["/usr/local/lib/x".into(), "/usr/local/a b".into()],
        folders: vec!["/usr/local/share/doc".into()],
    };
    assert_eq!(Record::parse(&record.text()), record);
    assert_eq!(Record::parse("relative\n\n# text\n"), Record::default());
}

#[test]
fn folders_of_libraries() {
    let libdir = |prefix: &str, libdir: Option<&str>| {
        Places::new(prefix.into(), libdir.map(PathBuf::from)).libdir
    };
    assert_eq!(libdir("/usr/local", None), Path::new("/usr/local/lib"));
    assert_eq!(libdir("/usr", None), Path::new("/usr/lib/x86_64-linux-gnu"));
    assert_eq!(libdir("/opt", Some("lib64")), Path::new("/opt/lib64"));
    assert_eq!(libdir("/opt", Some("/lib")), Path::new("/lib"));
}

#[test]
fn only_folders_of_the_dynamic_linker_are_worth_telling_it() {
    let dir = Destdir::new("linker");
    let (folder, name) = (dir.0.join("lib"), dir.0.join("lib64"));
    fs::create_dir(&folder).expect("a folder");
    std::os::unix::fs::symlink("lib", &name).expect("another name of it");
    let listing = format!(
        "/sbin/ldconfig: Path `/lib' given more than once\n\
         {}: (from /etc/ld.so.conf.d/a.conf:1)\n\tlibx.so.1 -> libx.so.1.2\n/lib: (from <builtin>:0)\n",
        name.display()
    );
    assert!(super::lists(&listing, &name) && super::lists(&listing, &folder));
    assert!(!super::lists(&listing, &dir.0) && !super::lists(&listing, &dir.0.join("lib/x")));
    assert!(super::lists("/usr/lib/none:\n", Path::new("/usr/lib/none")));
    let options = |places| super::Options { places, destdir: "/".into(), library: None };
    let at = |libdir: PathBuf| options(Places::new(dir.0.clone(), Some(libdir)));
    assert!(super::is_searched(&at("/lib".into())).expect("there is a dynamic linker"));
    assert!(!super::is_searched(&at(folder)).expect("there is a dynamic linker"));
}
