//! Address handles from work completions, and Ethernet addresses of GIDs.

mod kern;
