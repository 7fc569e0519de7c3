//! Address handles.

use core::ffi::c_int;

use crate::abi::*;
use crate::address::is_multicast;
use crate::sys::errno::{Errno, Result, ReturnPointer};
use crate::sys::heap;
use crate::urxe::device::port::{PORT, Port};
use crate::urxe::device::{Context, Pd};
use crate::urxe::explain;
use crate::urxe::transfer::somebody_answers;

/// An address handle: where a datagram goes.
#[repr(C)]
pub(crate) struct Ah {
    ah: ibv_ah,
    attr: ibv_ah_attr,
}

impl Ah {
    /// The handle behind a C pointer.
    ///
    /// # Safety
    ///
    /// `ah` must be a live handle of this device.
    pub(crate) unsafe fn of<'a>(ah: *mut ibv_ah) -> &'a Ah {
        // SAFETY: the caller's promise; the public part comes first.
        unsafe { &*ah.cast::<Ah>() }
    }

    /// What it was made of, checked.
    pub(crate) fn attr(&self) -> &ibv_ah_attr {
        &self.attr
    }
}

/// Checks an address: that of an address handle, or of a connected QP. Returns the GID of the
/// sender; zero without a global route.
///
/// # Errors
///
/// EINVAL for another port, an empty entry of the GID table, a missing global route on Ethernet, a
/// destination that is none.
pub(crate) fn check_address(
    context: &Context,
    attr: &ibv_ah_attr,
    caller: &str,
) -> Result<ibv_gid> {
    if attr.port_num != PORT {
        explain!("{caller}: port {} of a device that has port {PORT} only", attr.port_num);
        return Err(Errno::EINVAL);
    }
    if attr.sl > 15 {
        explain!("{caller}: service level {} is above 15", attr.sl);
        return Err(Errno::EINVAL);
    }
    let port = context.port();
    if attr.is_global == 0 {
        return without_global_route(port, attr, caller);
    }
    let index = u32::from(attr.grh.sgid_index);
    let entry = match port.gid(index) {
        Some(entry) if !is_zero(&entry.gid) => entry,
        _ => {
            explain!("{caller}: there is no GID with index {index}");
            return Err(Errno::EINVAL);
        }
    };
    if is_zero(&attr.grh.dgid) {
        explain!("{caller}: the destination GID is zero");
        return Err(Errno::EINVAL);
    }
    Ok(entry.gid)
}

fn without_global_route(port: &Port, attr: &ibv_ah_attr, caller: &str) -> Result<ibv_gid> {
    if port.is_ethernet() {
        explain!("{caller}: an address without global route (is_global) on an Ethernet port");
        return Err(Errno::EINVAL);
    }
    if attr.dlid == 0 {
        explain!("{caller}: the destination LID is 0");
        return Err(Errno::EINVAL);
    }
    Ok(ibv_gid { raw: [0; 16] })
}

fn is_zero(gid: &ibv_gid) -> bool {
    // SAFETY: a GID is 16 bytes in each of its forms.
    unsafe { gid.raw == [0; 16] }
}

/// `ibv_create_ah(3)`
///
/// # Errors
///
/// Those of [`check_address`]; ETIMEDOUT for a destination on Ethernet that no process has; ENOMEM.
pub(super) unsafe extern "C" fn create_ah(pd: *mut ibv_pd, attr: *mut ibv_ah_attr) -> *mut ibv_ah {
    // SAFETY: the caller passes a PD and an address.
    unsafe { create(pd, &*attr) }.or_null()
}

unsafe fn create(pd: *mut ibv_pd, attr: &ibv_ah_attr) -> Result<*mut ibv_ah> {
    // SAFETY: the caller's promise.
    let (context, domain) = unsafe { (Context::of((*pd).context), Pd::of(pd)) };
    check_address(context, attr, "ibv_create_ah")?;
    // As the kernel does for all devices: on Ethernet the address of the destination is looked up now,
    // but for groups, which need not; on InfiniBand packets get lost. What a child inherited is good
    // for nothing there.
    let host = context.host();
    let is_looked_up =
        context.port().is_ethernet() && !is_multicast(&attr.grh.dgid) && host.is_current();
    if is_looked_up && !somebody_answers(host, attr, None) {
        explain!("ibv_create_ah: nobody answers for the destination GID");
        return Err(Errno::ETIMEDOUT);
    }
    heap::enough()?;
    domain.hold();
    let ah = ibv_ah { context: context.public(), pd, handle: 0 };
    Ok(Box::into_raw(Box::new(Ah { ah, attr: *attr })).cast())
}

/// `ibv_destroy_ah(3)`
pub(super) unsafe extern "C" fn destroy_ah(ah: *mut ibv_ah) -> c_int {
    // SAFETY: the caller passes a handle, whose PD still exists, and uses it no more.
    unsafe {
        Pd::of((*ah).pd).release();
        drop(Box::from_raw(ah.cast::<Ah>()));
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::urxe::device::Opened;
    use crate::urxe::device::ops::OPS;

    #[test]
    fn on_ethernet_somebody_must_have_the_destination() {
        let opened = Opened::new();
        // SAFETY: a live context, and a PD in it.
        unsafe {
            let pd = OPS.alloc_pd.unwrap()(opened.get());
            let port = Context::of(opened.get()).port();
            let create = |raw: [u8; 16]| {
                let grh = ibv_global_route { dgid: ibv_gid { raw }, ..ibv_global_route::zeroed() };
                let mut attr =
                    ibv_ah_attr { grh, is_global: 1, port_num: 1, ..ibv_ah_attr::zeroed() };
                let ah = create_ah(pd, &mut attr);
                if ah.is_null() { Err(Errno::last()) } else { Ok(destroy_ah(ah)) }
            };
            let [own, other] = [0, 1].map(|index| port.gid(index).unwrap().gid.raw);
            let mut nobody = own;
            nobody[15] ^= 1;
            assert_eq!(create(own), Ok(0));
            assert_eq!(create(other), Ok(0));
            assert_eq!(create(nobody), Err(Errno::ETIMEDOUT));
            // Groups, of IPv6 and of IPv4.
            assert_eq!(create([0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9]), Ok(0));
            assert_eq!(create([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 224, 0, 0, 9]), Ok(0));
            assert_eq!(OPS.dealloc_pd.unwrap()(pd), 0);
        }
    }
}
