//! Tools of valgrind that look for races in running programs.

use super::env;

/// Whether helgrind or drd looks: they are preloaded.
pub(crate) fn looks_for_races() -> bool {
    let tools: [&[u8]; 2] = [b"vgpreload_helgrind", b"vgpreload_drd"];
    env::get(c"LD_PRELOAD").is_some_and(|list| {
        tools.iter().any(|tool| list.to_bytes().windows(tool.len()).any(|name| name == *tool))
    })
}

/// What the calling thread has done comes before what others do after they have said
/// [`happens_after`] of the same address.
#[cfg(watched)]
pub(crate) fn happens_before(address: usize) {
    request(0x4847_0121, address);
}

/// Takes note of what threads have said with [`happens_before`] of the address.
#[cfg(watched)]
pub(crate) fn happens_after(address: usize) {
    request(0x4847_0122, address);
}

/// A request to drd or helgrind (`ANNOTATE_HAPPENS_BEFORE` and its like in valgrind/drd.h); nothing on
/// the processor itself.
#[cfg(watched)]
fn request(code: usize, argument: usize) {
    let arguments: [usize; 6] = [code, argument, 0, 0, 0, 0];
    // SAFETY: the registers end up as they were, and valgrind reads the arguments alone.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") 0_usize => _,
            options(nostack),
        );
    }
}
