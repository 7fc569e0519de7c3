//! What the functions that a plugin calls tell of its release.

use core::ops::RangeInclusive;

/// Functions that came with a release in the middle of a private ABI: a plugin that calls one is of
/// that release or a later one.
const SINCE: [(u32, &str, u32); 5] = [
    (34, "__verbs_log", 37),
    (34, "ibv_wr_opcode_str", 49),
    (34, "ibv_cmd_create_cq_ex2", 53),
    (59, "ibv_cmd_export_dmabuf_fd", 62),
    (59, "ibv_cmd_query_port_speed", 62),
];

/// Providers that call such a function in every release since: one that does not is older.
const ALWAYS: [(&str, &str); 1] = [("mlx5", "ibv_cmd_export_dmabuf_fd")];

/// The releases that a plugin may be of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub(super) releases: RangeInclusive<u32>,
    /// What says so, for people; nothing if it may be of any release.
    pub(super) why: Option<String>,
}

impl Span {
    /// That of a file of which nothing is known.
    pub(super) fn all() -> Span {
        Span { releases: 0..=u32::MAX, why: None }
    }

    /// What the functions say that the plugin of a provider calls, for a private ABI.
    pub(super) fn of(private_abi: u32, provider: &[u8], imports: &[&[u8]]) -> Span {
        if imports.is_empty() {
            return Span::all();
        }
        let calls = |function: &str| imports.contains(&function.as_bytes());
        let known = || SINCE.iter().filter(|(abi, ..)| *abi == private_abi);
        let called = known().filter(|(_, function, _)| calls(function));
        if let Some((_, function, since)) = called.max_by_key(|(.., since)| *since) {
            return Span { releases: *since..=u32::MAX, why: Some(format!("it calls {function}")) };
        }
        let missing = known().find(|(_, function, _)| {
            ALWAYS.iter().any(|(name, always)| name.as_bytes() == provider && always == function)
        });
        missing.map_or_else(Span::all, |(_, function, since)| Span {
            releases: 0..=since.saturating_sub(1),
            why: Some(format!("it does not call {function}")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_tell_the_release() {
        let span = |private_abi, provider: &str, imports: &[&str]| {
            let imports: Vec<_> = imports.iter().map(|name| name.as_bytes()).collect();
            Span::of(private_abi, provider.as_bytes(), &imports).releases
        };
        let (register, log) = ("verbs_register_driver_34", "__verbs_log");
        assert_eq!(span(34, "rxe", &[register]), 0..=u32::MAX);
        assert_eq!(span(34, "rxe", &[register, log]), 37..=u32::MAX);
        assert_eq!(span(34, "x", &["ibv_wr_opcode_str", log]), 49..=u32::MAX);
        assert_eq!(span(34, "mlx5", &["ibv_cmd_create_cq_ex2", log]), 53..=u32::MAX);
        assert_eq!(span(34, "mlx5", &[log]), 37..=u32::MAX);
        for function in ["ibv_cmd_export_dmabuf_fd", "ibv_cmd_query_port_speed"] {
            assert_eq!(span(59, "efa", &[function, log]), 62..=u32::MAX);
            assert_eq!(span(34, "efa", &[function]), 0..=u32::MAX);
        }
        assert_eq!(span(59, "mlx5", &[log]), 0..=61);
        assert_eq!(span(59, "efa", &[log]), 0..=u32::MAX);
        // Nothing was read.
        assert_eq!(span(59, "mlx5", &[]), 0..=u32::MAX);
    }
}
