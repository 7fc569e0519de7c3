//! The situations of the loopback tests that the repository of the crate `ibverbs` has, on the crate
//! `rdma-sys`. Those tests are in no published version, and stop where soft-RoCE cannot do something;
//! these compare what comes out. `cargo xtask bindings crates --ibverbs-checkout DIR` runs the others.
//!
//! | situation | test, of the same name |
//! |---|---|
//! | send and receive; a message of several packets; gather and scatter; many outstanding | `transfers` |
//! | write; write with immediate data; read; atomics; memory of the program's own | `transfers` |
//! | an unreliable connection; datagrams; a shared receive queue | `transfers` |
//! | lists of requests; lists of receives; flags; inline data of one buffer, and of several | `posting` |
//! | waiting, and being woken, by a channel; a channel of two queues | `completions` |
//! | time stamps; fields of completions | `completions` |
//! | GIDs; devices and ports, plainly and extended; their names and versions; raw handles | `objects` |
//! | changing and asking queue pairs; by hand; on a port; towards nobody; advice | `objects` |

mod completions;
mod device;
mod objects;
mod posting;
mod queue;
mod transfers;
