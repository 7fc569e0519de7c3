//! Fork support: keeping registered memory out of child processes.
