//! Tools of valgrind that look for races in running programs.

use super::env;

/// Whether helgrind or drd looks: they are preloaded.
pub(crate) fn looks_for_races() -> bool {
    let tools: [&[u8]; 2] = [b"vgpreload_helgrind", b"vgpreload_drd"];
    env::get(c"LD_PRELOAD").is_some_and(|list| {
        tools.iter().any(|tool| list.to_bytes().windows(tool.len()).any(|name| name == *tool))
    })
}
