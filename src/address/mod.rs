//! Address handles from work completions, and Ethernet addresses of GIDs.

mod from_wc;
mod gid;
mod header;
mod kern;
mod neighbour;
mod resolve;
mod rtnetlink;
