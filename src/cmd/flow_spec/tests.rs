use core::ptr;

use super::*;

/// Flow attributes with specifications behind them.
struct Rule {
    bytes: Vec<u8>,
    count: u8,
}

impl Rule {
    fn new() -> Rule {
        let mut attr = ibv_flow_attr::zeroed();
        attr.size = 0xdead;
        Rule { bytes: bytes_of(&attr).to_vec(), count: 0 }
    }

    /// Appends a specification and, if `size` is given, says that it has that size.
    fn with<Spec>(mut self, spec: &Spec, size: Option<u16>) -> Rule {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes_of(spec));
        if let Some(size) = size {
            self.bytes[start + 4..start + 6].copy_from_slice(&size.to_ne_bytes());
        }
        self.count += 1;
        self
    }

    fn to_kernel(&self) -> Result<Vec<u8>> {
        // An odd address: a program may pack its structs.
        let mut memory = vec![0_u64; self.bytes.len() / 8 + 2];
        let place = memory.as_mut_ptr().cast::<u8>().wrapping_add(4);
        // SAFETY: there is room for all bytes; the attributes need an alignment of four.
        unsafe {
            place.copy_from_nonoverlapping(self.bytes.as_ptr(), self.bytes.len());
            let attr = place.cast::<ibv_flow_attr>();
            (*attr).num_of_specs = self.count;
            to_kernel(attr)
        }
    }
}

fn bytes_of<T>(value: &T) -> &[u8] {
    // SAFETY: the tests make their structs from zeroed ones.
    unsafe { core::slice::from_raw_parts((&raw const *value).cast(), size_of::<T>()) }
}

/// Bytes `first`, `first + 1`, ... in a filter of any type.
fn filter<Filter: Plain>(first: u8) -> Filter {
    let mut filter = Filter::zeroed();
    for i in 0..size_of::<Filter>() {
        // SAFETY: the byte is inside the struct, and any bytes make one.
        unsafe { (&raw mut filter).cast::<u8>().add(i).write(first + i as u8) };
    }
    filter
}

/// The kernel's specification: header, then value and mask of `known` counted bytes, each padded.
fn kernel_match(type_: u32, known: u8, padding: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&type_.to_ne_bytes());
    bytes.extend_from_slice(&(8 + 2 * (u16::from(known) + padding as u16)).to_ne_bytes());
    bytes.extend_from_slice(&[0, 0]);
    for first in [1, 0x81] {
        bytes.extend(first..first + known);
        bytes.resize(bytes.len() + padding, 0);
    }
    bytes
}

/// A specification with counted bytes as its value and mask.
macro_rules! counted {
    ($spec:ident, $type:expr) => {{
        let mut spec = $spec::zeroed();
        spec.type_ = $type;
        spec.size = size_of::<$spec>() as u16;
        spec.val = filter(1);
        spec.mask = filter(0x81);
        spec
    }};
}

#[test]
fn filters_are_copied_inner_and_outer() {
    for inner in [0, IBV_FLOW_SPEC_INNER] {
        macro_rules! check {
            ($spec:ident, $type:ident, $kernel_type:ident, $known:literal) => {
                let spec = counted!($spec, $type | inner);
                let kernel = Rule::new().with(&spec, None).to_kernel().unwrap();
                assert_eq!(
                    kernel,
                    kernel_match($kernel_type | inner, $known, 0),
                    stringify!($type)
                );
            };
        }
        check!(ibv_flow_spec_eth, IBV_FLOW_SPEC_ETH, IBV_FLOW_SPEC_ETH, 16);
        check!(ibv_flow_spec_ipv4, IBV_FLOW_SPEC_IPV4, IBV_FLOW_SPEC_IPV4, 8);
        check!(ibv_flow_spec_ipv4_ext, IBV_FLOW_SPEC_IPV4_EXT, IBV_FLOW_SPEC_IPV4, 12);
        check!(ibv_flow_spec_esp, IBV_FLOW_SPEC_ESP, IBV_FLOW_SPEC_ESP, 8);
        check!(ibv_flow_spec_tcp_udp, IBV_FLOW_SPEC_TCP, IBV_FLOW_SPEC_TCP, 4);
        check!(ibv_flow_spec_tcp_udp, IBV_FLOW_SPEC_UDP, IBV_FLOW_SPEC_UDP, 4);
        check!(ibv_flow_spec_mpls, IBV_FLOW_SPEC_MPLS, IBV_FLOW_SPEC_MPLS, 4);
        if inner == 0 {
            check!(ibv_flow_spec_gre, IBV_FLOW_SPEC_GRE, IBV_FLOW_SPEC_GRE, 8);
            check!(ibv_flow_spec_tunnel, IBV_FLOW_SPEC_VXLAN_TUNNEL, IBV_FLOW_SPEC_VXLAN_TUNNEL, 4);
        }
    }
}

/// An IPv6 specification whose filters have no garbage in their padding.
fn ipv6() -> ibv_flow_spec_ipv6 {
    let mut spec = counted!(ibv_flow_spec_ipv6, IBV_FLOW_SPEC_IPV6);
    let size = size_of::<ibv_flow_ipv6_filter>();
    for filter in [&raw mut spec.val, &raw mut spec.mask] {
        // SAFETY: the last byte of the filter is padding.
        unsafe { filter.cast::<u8>().add(size - 1).write(0) };
    }
    spec
}

#[test]
fn ipv6_filters_get_the_padding_of_the_kernel() {
    let kernel = Rule::new().with(&ipv6(), None).to_kernel().unwrap();
    assert_eq!(kernel, kernel_match(IBV_FLOW_SPEC_IPV6, 39, 1));
    assert_eq!(kernel.len(), 88);
    // A program may leave the padding out.
    let mut packed = bytes_of(&ipv6()).to_vec();
    packed.remove(87);
    packed.remove(47);
    let packed: [u8; 86] = packed.try_into().unwrap();
    let kernel = Rule::new().with(&packed, Some(86)).to_kernel().unwrap();
    assert_eq!(kernel, kernel_match(IBV_FLOW_SPEC_IPV6, 39, 1));
}

/// The header, then value and mask of so many bytes each.
fn grown(type_: u32, filter: usize, mask_of_rest: u8, known: usize) -> (Vec<u8>, u16) {
    let size = 8 + 2 * filter;
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&type_.to_ne_bytes());
    bytes.extend_from_slice(&(size as u16).to_ne_bytes());
    bytes.extend_from_slice(&[0xff, 0xff]);
    bytes.extend((1_u8..).take(known));
    bytes.resize(8 + filter, 0x55);
    bytes.extend((0x81_u8..).take(known));
    bytes.resize(size, mask_of_rest);
    (bytes, size as u16)
}

fn convert(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut rule = Rule::new();
    rule.bytes.extend_from_slice(bytes);
    rule.count = 1;
    rule.to_kernel()
}

#[test]
fn filters_of_newer_headers_are_taken_if_they_match_on_nothing_new() {
    for (type_, kernel_type, known, padding) in [
        (IBV_FLOW_SPEC_IPV4_EXT, IBV_FLOW_SPEC_IPV4, 12, 0),
        (
            IBV_FLOW_SPEC_IPV4_EXT | IBV_FLOW_SPEC_INNER,
            IBV_FLOW_SPEC_IPV4 | IBV_FLOW_SPEC_INNER,
            12,
            0,
        ),
        (IBV_FLOW_SPEC_IPV6, IBV_FLOW_SPEC_IPV6, 39, 1),
        (IBV_FLOW_SPEC_VXLAN_TUNNEL, IBV_FLOW_SPEC_VXLAN_TUNNEL, 4, 0),
    ] {
        let wanted = kernel_match(kernel_type, known, padding);
        let known = usize::from(known);
        for filter in [known, known + 1, known + 8, known + 100] {
            let (bytes, _) = grown(type_, filter, 0, known);
            assert_eq!(convert(&bytes).as_ref(), Ok(&wanted), "{type_:#x} of {filter}");
        }
        let (bytes, _) = grown(type_, known + 4, 1, known);
        assert_eq!(convert(&bytes), Err(Errno::EOPNOTSUPP), "{type_:#x} with an unknown mask");
        for filter in [0, known - 1] {
            let (bytes, _) = grown(type_, filter, 0, filter);
            assert_eq!(convert(&bytes), Err(Errno::EINVAL), "{type_:#x} of {filter}");
        }
    }
}

#[test]
fn actions_become_numbers() {
    let mut tag = ibv_flow_spec_action_tag::zeroed();
    (tag.type_, tag.size, tag.tag_id) = (IBV_FLOW_SPEC_ACTION_TAG, 12, 0x1234_5678);
    let mut drop = ibv_flow_spec_action_drop::zeroed();
    (drop.type_, drop.size) = (IBV_FLOW_SPEC_ACTION_DROP, 8);
    let mut action = verbs_flow_action::zeroed();
    action.handle = 0x77;
    let mut handle = ibv_flow_spec_action_handle::zeroed();
    (handle.type_, handle.size) = (IBV_FLOW_SPEC_ACTION_HANDLE, 16);
    handle.action = (&raw const action).cast();
    let mut counters = verbs_counters::zeroed();
    counters.handle = 0x88;
    let mut count = ibv_flow_spec_counter_action::zeroed();
    (count.type_, count.size) = (IBV_FLOW_SPEC_ACTION_COUNT, 16);
    count.counters = (&raw mut counters).cast();

    let rule = Rule::new().with(&tag, None).with(&drop, None).with(&handle, None);
    let kernel = rule.with(&count, None).to_kernel().unwrap();
    let words: Vec<u32> =
        kernel.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect();
    #[rustfmt::skip]
    assert_eq!(words, [
        IBV_FLOW_SPEC_ACTION_TAG, 16, 0x1234_5678, 0,
        IBV_FLOW_SPEC_ACTION_DROP, 8,
        IBV_FLOW_SPEC_ACTION_HANDLE, 16, 0x77, 0,
        IBV_FLOW_SPEC_ACTION_COUNT, 16, 0x88, 0,
    ]);
}

#[test]
fn actions_on_no_object_are_refused() {
    let mut handle = ibv_flow_spec_action_handle::zeroed();
    (handle.type_, handle.size, handle.action) = (IBV_FLOW_SPEC_ACTION_HANDLE, 16, ptr::null());
    assert_eq!(Rule::new().with(&handle, None).to_kernel(), Err(Errno::EINVAL));
    handle.type_ = IBV_FLOW_SPEC_ACTION_COUNT;
    assert_eq!(Rule::new().with(&handle, None).to_kernel(), Err(Errno::EINVAL));
}

#[test]
fn sizes_must_cover_the_members() {
    let eth = counted!(ibv_flow_spec_eth, IBV_FLOW_SPEC_ETH);
    // 38 bytes are all members without the padding at the end.
    for (size, wanted) in [(0, false), (5, false), (6, false), (37, false), (38, true), (40, true)]
    {
        let kernel = Rule::new().with(&eth, Some(size)).to_kernel();
        assert_eq!(kernel.is_ok(), wanted, "size {size}");
        if !wanted {
            assert_eq!(kernel, Err(Errno::EINVAL));
        }
    }
    let ipv4 = counted!(ibv_flow_spec_ipv4, IBV_FLOW_SPEC_IPV4);
    assert_eq!(Rule::new().with(&ipv4, Some(23)).to_kernel(), Err(Errno::EINVAL));
    let mut tag = ibv_flow_spec_action_tag::zeroed();
    tag.type_ = IBV_FLOW_SPEC_ACTION_TAG;
    for size in [7, 8, 11] {
        assert_eq!(Rule::new().with(&tag, Some(size)).to_kernel(), Err(Errno::EINVAL));
    }
    for type_ in [IBV_FLOW_SPEC_ACTION_HANDLE, IBV_FLOW_SPEC_ACTION_COUNT] {
        let mut handle = ibv_flow_spec_action_handle::zeroed();
        handle.type_ = type_;
        handle.action = ptr::without_provenance(0x1000);
        for size in [7, 8, 15] {
            assert_eq!(Rule::new().with(&handle, Some(size)).to_kernel(), Err(Errno::EINVAL));
        }
    }
}

#[test]
fn unknown_types_are_refused() {
    let mut spec = counted!(ibv_flow_spec_eth, IBV_FLOW_SPEC_ETH);
    for type_ in [
        0,
        0x21,
        0xffff_ffff,
        IBV_FLOW_SPEC_ACTION_COUNT + 1,
        // What has no inner form.
        IBV_FLOW_SPEC_VXLAN_TUNNEL | IBV_FLOW_SPEC_INNER,
        IBV_FLOW_SPEC_GRE | IBV_FLOW_SPEC_INNER,
        IBV_FLOW_SPEC_ACTION_TAG | IBV_FLOW_SPEC_INNER,
        IBV_FLOW_SPEC_ACTION_DROP | IBV_FLOW_SPEC_INNER,
        IBV_FLOW_SPEC_ACTION_HANDLE | IBV_FLOW_SPEC_INNER,
        IBV_FLOW_SPEC_ACTION_COUNT | IBV_FLOW_SPEC_INNER,
    ] {
        spec.type_ = type_;
        assert_eq!(Rule::new().with(&spec, None).to_kernel(), Err(Errno::EINVAL), "{type_:#x}");
    }
}

#[test]
fn chains_of_all_lengths() {
    assert_eq!(Rule::new().to_kernel(), Ok(Vec::new()));
    let mut rule = Rule::new();
    for _ in 0..255 {
        rule = rule.with(&ipv6(), None);
    }
    let kernel = rule.to_kernel().unwrap();
    assert_eq!(kernel.len(), 255 * 88);
    assert!(kernel.chunks_exact(88).all(|spec| spec == kernel_match(IBV_FLOW_SPEC_IPV6, 39, 1)));
    // One bad specification spoils the rule.
    rule = Rule::new().with(&ipv6(), None).with(&ipv6(), Some(6));
    assert_eq!(rule.to_kernel(), Err(Errno::EINVAL));
}
