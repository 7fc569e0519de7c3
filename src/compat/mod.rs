//! The `IBVERBS_1.0` interface: wrapper objects around those of today.
