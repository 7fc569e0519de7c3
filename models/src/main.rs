//! Models of the lock-free structures of the library: its very source files, run in all orders in
//! which threads can run and stores can be seen.
//!
//! ```text
//! models            every model, and every mutation of it, which must fail
//! models NAME       those whose name contains NAME
//! ```

#![allow(dead_code, unused_imports, unused_macros)]
// Of the library's files, whose types are others here.
#![allow(clippy::drop_non_drop, clippy::explicit_auto_deref)]

#[path = "../../src/abi/mod.rs"]
mod abi;
#[path = "../../src/uapi/mod.rs"]
mod uapi;

mod death;
mod discovery;
mod fork;
#[path = "../../src/in_use.rs"]
mod in_use;
mod in_use_model;
mod log;
mod models;
mod mutation;
mod provider_api;
mod runner;
mod sync;
mod verbs;

mod sys;
mod urxe;

fn main() {
    std::process::exit(runner::main());
}
