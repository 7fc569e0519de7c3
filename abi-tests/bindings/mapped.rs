//! Which libraries of that name a process has in its memory.

/// The files named `libibverbs.so...` that are mapped here, each once.
pub fn libraries() -> Vec<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("/proc is there");
    let mut files: Vec<String> = maps
        .lines()
        .filter_map(|line| line.split_whitespace().nth(5))
        .filter(|file| {
            file.rsplit('/').next().is_some_and(|name| name.starts_with("libibverbs.so"))
        })
        .map(str::to_owned)
        .collect();
    files.dedup();
    files
}
