//! Link arguments of the shared library: its SONAME and its version map.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/libibverbs.map");
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    for argument in [
        // rustc passes a version script of its own; lld accepts a second one, GNU ld does not.
        "-fuse-ld=lld".to_owned(),
        "-Wl,-soname,libibverbs.so.1".to_owned(),
        format!("-Wl,--version-script={root}/src/libibverbs.map"),
        "-Wl,--undefined-version".to_owned(),
        "-Wl,-z,defs".to_owned(),
    ] {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
}
