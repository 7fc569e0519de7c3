//! Flow rules: the chain of `ibv_flow_spec_*` behind an `ibv_flow_attr`, turned into the chain
//! behind the kernel's `ib_uverbs_flow_attr`. `ibv_create_flow(3)`
//!
//! A specification says what to match, by a value and a mask of it, or what to do, an action. In
//! either form it begins with its type and its size in bytes. Value and mask have the same members
//! in both forms and are copied as bytes; what differs is the padding around them.

use core::mem::offset_of;

use crate::abi::*;
use crate::sys::errno::{Errno, Result};
use crate::uapi::*;

/// The longest specification in kernel form.
const MAX_KERNEL_SIZE: usize = size_of::<ibv_kern_spec>();

/// The kernel's chain of the specifications behind `attr`, a multiple of 8 bytes.
///
/// EINVAL for an unknown type and for a size that does not cover the members of the type,
/// EOPNOTSUPP for a filter of a newer header that matches on more than is known here, ENOMEM.
///
/// # Safety
///
/// `attr` must point to flow attributes with `num_of_specs` specifications behind them, each as
/// long as it says, and actions in them must point to live objects.
pub(super) unsafe fn to_kernel(attr: *const ibv_flow_attr) -> Result<Vec<u8>> {
    // SAFETY: the caller's promise.
    let count = usize::from(unsafe { (*attr).num_of_specs });
    let mut kernel = Vec::new();
    kernel.try_reserve_exact(count * MAX_KERNEL_SIZE).map_err(|_| Errno::ENOMEM)?;
    let mut next = attr.wrapping_add(1).cast::<u8>();
    for _ in 0..count {
        // SAFETY: the caller's promise.
        let spec = unsafe { Spec::at(next)? };
        // SAFETY: the caller's promise.
        unsafe { spec.append_to(&mut kernel)? };
        next = next.wrapping_add(spec.bytes.len());
    }
    Ok(kernel)
}

/// A specification of a program.
struct Spec<'a> {
    type_: ibv_flow_spec_type,
    /// All of it, header included; its address need not be aligned.
    bytes: &'a [u8],
}

/// How the specifications of a type that matches something are laid out.
struct Match {
    /// Offset of the value in the program's form.
    val: usize,
    /// Bytes of a filter that mean something. Longer filters can come from newer headers if the
    /// type may grow; the kernel's may be longer by padding.
    filter: usize,
    kernel_filter: usize,
    grows: bool,
}

/// `layout!(program's struct of filter, kernel's struct of filter { members } grows)`: the layout of
/// a [`Match`], with a check that the two filters agree.
macro_rules! layout {
    ($spec:ident of $filter:ident, $kernel_spec:ident of $kernel_filter:ident {
        $($member:ident)+
    } $($grows:ident)?) => {{
        const {
            $(assert!(offset_of!($filter, $member) == offset_of!($kernel_filter, $member));)+
            assert!(offset_of!($kernel_spec, val) == size_of::<ib_uverbs_flow_spec_hdr>());
            assert!(
                size_of::<$kernel_spec>()
                    == size_of::<ib_uverbs_flow_spec_hdr>() + 2 * size_of::<$kernel_filter>()
            );
        }
        fn size_of_member<Struct, Member>(_: fn(Struct) -> Member) -> usize {
            size_of::<Member>()
        }
        let mut filter = 0;
        $(
            filter = filter.max(
                offset_of!($filter, $member) + size_of_member(|f: $filter| f.$member)
            );
        )+
        Match {
            val: offset_of!($spec, val),
            filter,
            kernel_filter: size_of::<$kernel_filter>(),
            grows: layout!(@ $($grows)?),
        }
    }};
    (@ grows) => { true };
    (@) => { false };
}

impl<'a> Spec<'a> {
    /// EINVAL if it is shorter than its header.
    ///
    /// # Safety
    ///
    /// A specification must be at `address`, as long as it says.
    unsafe fn at(address: *const u8) -> Result<Spec<'a>> {
        let header = address.cast::<ibv_flow_spec_hdr>();
        // SAFETY: the caller's promise.
        let (type_, size) = unsafe {
            (
                (&raw const (*header).type_).read_unaligned(),
                usize::from((&raw const (*header).size).read_unaligned()),
            )
        };
        if size < offset_of!(ibv_flow_spec_hdr, size) + size_of::<u16>() {
            return Err(Errno::EINVAL);
        }
        // SAFETY: the caller's promise.
        Ok(Spec { type_, bytes: unsafe { core::slice::from_raw_parts(address, size) } })
    }

    /// Appends the kernel's form.
    ///
    /// # Safety
    ///
    /// An object that the specification points to must be a live one.
    unsafe fn append_to(&self, kernel: &mut Vec<u8>) -> Result<()> {
        if let Some((type_, layout)) = self.as_match() {
            return self.append_match(kernel, type_, &layout);
        }
        match self.type_ {
            IBV_FLOW_SPEC_ACTION_TAG => {
                let tag = self.number(offset_of!(ibv_flow_spec_action_tag, tag_id))?;
                self.append_action(kernel, Some(tag));
            }
            IBV_FLOW_SPEC_ACTION_DROP => self.append_action(kernel, None),
            IBV_FLOW_SPEC_ACTION_HANDLE => {
                let action = self.pointer(offset_of!(ibv_flow_spec_action_handle, action))?;
                // SAFETY: a live action, whose public struct begins the provider API's.
                let handle = unsafe { (*action.cast::<verbs_flow_action>()).handle };
                self.append_action(kernel, Some(handle));
            }
            IBV_FLOW_SPEC_ACTION_COUNT => {
                let counters = self.pointer(offset_of!(ibv_flow_spec_counter_action, counters))?;
                // SAFETY: live counters, whose public struct begins the provider API's.
                let handle = unsafe { (*counters.cast::<verbs_counters>()).handle };
                self.append_action(kernel, Some(handle));
            }
            _ => return Err(Errno::EINVAL),
        }
        Ok(())
    }

    /// The kernel's type and the layout of a type that matches something.
    fn as_match(&self) -> Option<(u32, Match)> {
        let inner = self.type_ & IBV_FLOW_SPEC_INNER;
        // The kernel tells the two forms of an IPv4 filter apart by their size.
        let mut type_ = self.type_;
        let layout = match self.type_ & !IBV_FLOW_SPEC_INNER {
            IBV_FLOW_SPEC_ETH => layout!(
                ibv_flow_spec_eth of ibv_flow_eth_filter,
                ib_uverbs_flow_spec_eth of ib_uverbs_flow_eth_filter {
                    dst_mac src_mac ether_type vlan_tag
                }
            ),
            IBV_FLOW_SPEC_IPV4 => layout!(
                ibv_flow_spec_ipv4 of ibv_flow_ipv4_filter,
                ibv_kern_spec_ipv4 of ibv_kern_ipv4_filter { src_ip dst_ip }
            ),
            IBV_FLOW_SPEC_IPV4_EXT => {
                type_ = IBV_FLOW_SPEC_IPV4 | inner;
                layout!(
                    ibv_flow_spec_ipv4_ext of ibv_flow_ipv4_ext_filter,
                    ib_uverbs_flow_spec_ipv4 of ib_uverbs_flow_ipv4_filter {
                        src_ip dst_ip proto tos ttl flags
                    } grows
                )
            }
            IBV_FLOW_SPEC_IPV6 => layout!(
                ibv_flow_spec_ipv6 of ibv_flow_ipv6_filter,
                ib_uverbs_flow_spec_ipv6 of ib_uverbs_flow_ipv6_filter {
                    src_ip dst_ip flow_label next_hdr traffic_class hop_limit
                } grows
            ),
            IBV_FLOW_SPEC_ESP => layout!(
                ibv_flow_spec_esp of ibv_flow_esp_filter,
                ib_uverbs_flow_spec_esp of ib_uverbs_flow_spec_esp_filter { spi seq }
            ),
            IBV_FLOW_SPEC_TCP | IBV_FLOW_SPEC_UDP => layout!(
                ibv_flow_spec_tcp_udp of ibv_flow_tcp_udp_filter,
                ib_uverbs_flow_spec_tcp_udp of ib_uverbs_flow_tcp_udp_filter { dst_port src_port }
            ),
            IBV_FLOW_SPEC_MPLS => layout!(
                ibv_flow_spec_mpls of ibv_flow_mpls_filter,
                ib_uverbs_flow_spec_mpls of ib_uverbs_flow_mpls_filter { label }
            ),
            // The outer headers of a tunnel are not inside another one.
            IBV_FLOW_SPEC_VXLAN_TUNNEL if inner == 0 => layout!(
                ibv_flow_spec_tunnel of ibv_flow_tunnel_filter,
                ib_uverbs_flow_spec_tunnel of ib_uverbs_flow_tunnel_filter { tunnel_id } grows
            ),
            IBV_FLOW_SPEC_GRE if inner == 0 => layout!(
                ibv_flow_spec_gre of ibv_flow_gre_filter,
                ib_uverbs_flow_spec_gre of ib_uverbs_flow_gre_filter { c_ks_res0_ver protocol key }
            ),
            _ => return None,
        };
        Some((type_, layout))
    }

    fn append_match(&self, kernel: &mut Vec<u8>, type_: u32, layout: &Match) -> Result<()> {
        let filters = self.bytes.get(layout.val..).ok_or(Errno::EINVAL)?;
        // A type that may grow has value and mask at half of the room each.
        let length = if layout.grows { filters.len() / 2 } else { layout.filter };
        let (val, rest) = filters.split_at_checked(length).ok_or(Errno::EINVAL)?;
        let mask = rest.get(..length).ok_or(Errno::EINVAL)?;
        let val = val.get(..layout.filter).ok_or(Errno::EINVAL)?;
        let (mask, unknown) = mask.split_at_checked(layout.filter).ok_or(Errno::EINVAL)?;
        if unknown.iter().any(|&byte| byte != 0) {
            return Err(Errno::EOPNOTSUPP);
        }
        let size = size_of::<ib_uverbs_flow_spec_hdr>() + 2 * layout.kernel_filter;
        append_header(kernel, type_, size);
        for filter in [val, mask] {
            kernel.extend_from_slice(filter);
            kernel.resize(kernel.len() + layout.kernel_filter - layout.filter, 0);
        }
        Ok(())
    }

    /// Appends an action with its parameter: a tag, or the handle of an object.
    fn append_action(&self, kernel: &mut Vec<u8>, parameter: Option<u32>) {
        const { assert!(offset_of!(ib_uverbs_flow_spec_action_tag, tag_id) == 8) };
        const { assert!(offset_of!(ib_uverbs_flow_spec_action_handle, handle) == 8) };
        const { assert!(offset_of!(ib_uverbs_flow_spec_action_count, handle) == 8) };
        let Some(parameter) = parameter else {
            append_header(kernel, self.type_, size_of::<ib_uverbs_flow_spec_action_drop>());
            return;
        };
        append_header(kernel, self.type_, size_of::<ib_uverbs_flow_spec_action_handle>());
        kernel.extend_from_slice(&parameter.to_ne_bytes());
        kernel.extend_from_slice(&[0; 4]);
    }

    /// A number at that offset; EINVAL if the size does not cover it.
    fn number(&self, offset: usize) -> Result<u32> {
        let bytes = self.bytes.get(offset..).and_then(<[u8]>::first_chunk).ok_or(Errno::EINVAL)?;
        Ok(u32::from_ne_bytes(*bytes))
    }

    /// A pointer at that offset; EINVAL if the size does not cover it or if it is NULL.
    fn pointer(&self, offset: usize) -> Result<*const u8> {
        let bytes = self.bytes.get(offset..).ok_or(Errno::EINVAL)?;
        if bytes.len() < size_of::<*const u8>() {
            return Err(Errno::EINVAL);
        }
        // SAFETY: the bytes are there.
        let pointer = unsafe { bytes.as_ptr().cast::<*const u8>().read_unaligned() };
        if pointer.is_null() { Err(Errno::EINVAL) } else { Ok(pointer) }
    }
}

/// Appends the header of a kernel specification, `struct ib_uverbs_flow_spec_hdr`.
fn append_header(kernel: &mut Vec<u8>, type_: u32, size: usize) {
    debug_assert!(size <= MAX_KERNEL_SIZE && size.is_multiple_of(8));
    kernel.extend_from_slice(&type_.to_ne_bytes());
    kernel.extend_from_slice(&(size as u16).to_ne_bytes());
    kernel.extend_from_slice(&[0; 2]);
}

#[cfg(test)]
mod tests;
