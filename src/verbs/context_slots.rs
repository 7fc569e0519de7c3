//! The slots of a context that the library fills itself, over what the provider has set.

use core::ffi::c_int;
use core::mem::transmute;

use crate::abi::*;
use crate::provider_api::member;
use crate::verbs::{context, cq};

type Untyped = unsafe extern "C" fn();
type CreateFlow = unsafe extern "C" fn(*mut ibv_qp, *mut ibv_flow_attr) -> *mut ibv_flow;
type DestroyFlow = unsafe extern "C" fn(*mut ibv_flow) -> c_int;

/// Finishes a context that a provider's `alloc_context` or `import_context` returned: the slots of
/// which inline functions of the public header expect more than the provider's operation does.
///
/// # Safety
///
/// `context` must be a set-up context that nobody else uses yet. It may be one of an older private
/// ABI: only slots that all of them have are touched.
pub(crate) unsafe fn install(context: *mut ibv_context) {
    // SAFETY: the caller's promise. The placeholders are called only by programs built for the
    // first release with flow steering, whose inlines know the type.
    unsafe {
        member!(context, create_cq_ex).write(Some(cq::create_cq_ex));
        member!(context, query_port).write(Some(context::query_port));
        (*context).ops._compat_query_port = Some(context::ibv_query_port);
        (*context).ops._compat_query_device = Some(context::ibv_query_device);
        let create_flow = member!(context, ibv_create_flow).read();
        let destroy_flow = member!(context, ibv_destroy_flow).read();
        member!(context, ABI_placeholder1)
            .write(transmute::<Option<CreateFlow>, Option<Untyped>>(create_flow));
        member!(context, ABI_placeholder2)
            .write(transmute::<Option<DestroyFlow>, Option<Untyped>>(destroy_flow));
    }
}

#[cfg(test)]
mod tests {
    use crate::verbs::testing::Fake;

    #[test]
    fn the_slots_of_the_library_are_set() {
        let fake = Fake::new();
        // SAFETY: a live context.
        let context = unsafe { *fake.extended() };
        let address = |slot: Option<unsafe extern "C" fn()>| slot.map(|slot| slot as usize);
        assert_eq!(
            address(context.ABI_placeholder1),
            context.ibv_create_flow.map(|slot| slot as usize)
        );
        assert_eq!(
            address(context.ABI_placeholder2),
            context.ibv_destroy_flow.map(|slot| slot as usize)
        );
        assert!(context.ABI_placeholder1.is_some() && context.ABI_placeholder2.is_some());
        assert!(context.create_cq_ex.is_some());
        assert!(context.query_port.is_some());
        assert!(context.context.ops._compat_query_port.is_some());
        assert!(context.context.ops._compat_query_device.is_some());
    }
}
