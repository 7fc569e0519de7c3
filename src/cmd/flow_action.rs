//! ESP (IPsec) actions of flows.

use core::ffi::c_int;

use crate::abi::export::export_private;
use crate::abi::*;
use crate::cmd::{Blocks, Command, Kernel, destroy_by_ioctl, method};
use crate::sys::errno::ReturnNumber;
use crate::uapi::*;

/// Creates an ESP action: fills in `context`, `type` and `handle`. `driver` are the provider's
/// attributes, may be NULL. `ibv_flow_action_esp(3)`, `driver.h: ibv_cmd_create_flow_action_esp`
pub(super) unsafe extern "C" fn ibv_cmd_create_flow_action_esp(
    ctx: *mut ibv_context,
    attr: *mut ibv_flow_action_esp_attr,
    flow_action: *mut verbs_flow_action,
    driver: *mut ibv_command_buffer,
) -> c_int {
    let mut handle = 0;
    let method = method!(UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_CREATE);
    let mut cmd = Command::new(method);
    cmd.new_object(UVERBS_ATTR_CREATE_FLOW_ACTION_ESP_HANDLE, &mut handle);
    // SAFETY: the provider passes its context, its new action and its blocks, the program the
    // attributes.
    unsafe {
        describe(&mut cmd, &*attr);
        cmd.link(Blocks::new(driver)).execute(Kernel::of(ctx)).map(|()| {
            (*flow_action).action.context = ctx;
            (*flow_action).type_ = IBV_FLOW_ACTION_ESP;
            (*flow_action).handle = handle;
        })
    }
    .or_number()
}
export_private!(ibv_cmd_create_flow_action_esp);

/// Changes an ESP action. `driver` are the provider's attributes, may be NULL.
/// `ibv_flow_action_esp(3)`, `driver.h: ibv_cmd_modify_flow_action_esp`
pub(super) unsafe extern "C" fn ibv_cmd_modify_flow_action_esp(
    flow_action: *mut verbs_flow_action,
    attr: *mut ibv_flow_action_esp_attr,
    driver: *mut ibv_command_buffer,
) -> c_int {
    let method = method!(UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_MODIFY);
    let mut cmd = Command::new(method);
    // SAFETY: the provider passes its action and its blocks, the program the attributes.
    unsafe {
        cmd.object(UVERBS_ATTR_MODIFY_FLOW_ACTION_ESP_HANDLE, (*flow_action).handle);
        describe(&mut cmd, &*attr);
        cmd.link(Blocks::new(driver)).execute(Kernel::of((*flow_action).action.context))
    }
    .or_number()
}
export_private!(ibv_cmd_modify_flow_action_esp);

/// The attributes of an action, those that are given.
///
/// # Safety
///
/// The pointers in `attr` must be NULL or valid for `'a`.
unsafe fn describe<'a>(cmd: &mut Command<'a>, attr: &'a ibv_flow_action_esp_attr) {
    if attr.comp_mask & IBV_FLOW_ACTION_ESP_MASK_ESN != 0 {
        cmd.u32(UVERBS_ATTR_FLOW_ACTION_ESP_ESN, attr.esn);
    }
    // SAFETY: the caller's promise, for all of them.
    unsafe {
        if !attr.keymat_ptr.is_null() {
            let (proto, len) = (attr.keymat_proto as u8, usize::from(attr.keymat_len));
            cmd.enumerated(UVERBS_ATTR_FLOW_ACTION_ESP_KEYMAT, proto, attr.keymat_ptr, len);
        }
        if !attr.replay_ptr.is_null() {
            let (proto, len) = (attr.replay_proto as u8, usize::from(attr.replay_len));
            cmd.enumerated(UVERBS_ATTR_FLOW_ACTION_ESP_REPLAY, proto, attr.replay_ptr, len);
        }
        if let Some(encap) = attr.esp_encap.as_ref() {
            cmd.input_ref(UVERBS_ATTR_FLOW_ACTION_ESP_ENCAP, encap);
        }
        if let Some(esp) = attr.esp_attr.as_ref() {
            cmd.input_ref(UVERBS_ATTR_FLOW_ACTION_ESP_ATTRS, esp);
        }
    }
}

/// Destroys an action. `ibv_flow_action_esp(3)`, `driver.h: ibv_cmd_destroy_flow_action`
pub(super) unsafe extern "C" fn ibv_cmd_destroy_flow_action(
    action: *mut verbs_flow_action,
) -> c_int {
    // SAFETY: the provider passes its action.
    let (kernel, handle) = unsafe { (Kernel::of((*action).action.context), (*action).handle) };
    let method = method!(UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_DESTROY);
    destroy_by_ioctl(kernel, method, UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, handle).or_number()
}
export_private!(ibv_cmd_destroy_flow_action);

#[cfg(test)]
mod tests {
    use core::ptr;

    use super::*;
    use crate::cmd::fake::{self, Call, Form, Reply, TestContext};

    #[test]
    fn an_action_is_described_by_what_is_given() {
        let context = TestContext::new(Form::Write);
        fake::answer(|call| {
            let Call::Ioctl(ioctl) = call else { panic!("not an ioctl") };
            let method = ioctl.method;
            if method == UVERBS_METHOD_FLOW_ACTION_ESP_CREATE {
                ioctl.set_data(UVERBS_ATTR_CREATE_FLOW_ACTION_ESP_HANDLE, 12);
            }
            if let Some(esn) = ioctl.input(UVERBS_ATTR_FLOW_ACTION_ESP_ESN) {
                assert_eq!(esn, 9_u32.to_ne_bytes());
            }
            if let Some(replay) = ioctl.input(UVERBS_ATTR_FLOW_ACTION_ESP_REPLAY) {
                assert_eq!(replay, 64_u32.to_ne_bytes());
            }
            Reply::Done
        });
        let mut esp = ib_uverbs_flow_action_esp::zeroed();
        let mut encap = ib_uverbs_flow_action_esp_encap::zeroed();
        let mut window = ib_uverbs_flow_action_esp_replay_bmp { size: 64 };
        let mut attr = ibv_flow_action_esp_attr::zeroed();
        attr.esn = 9;
        let mut action = verbs_flow_action::zeroed();
        let null = ptr::null_mut();
        // SAFETY: all objects are valid.
        unsafe {
            let create = ibv_cmd_create_flow_action_esp;
            assert_eq!(create(context.get(), &mut attr, &mut action, null), 0);
            assert_eq!(fake::calls(), ["ioctl 13.0: 0(len0)"]);
            assert_eq!((action.handle, action.type_), (12, IBV_FLOW_ACTION_ESP));
            assert_eq!(action.action.context, context.get());

            attr.comp_mask = IBV_FLOW_ACTION_ESP_MASK_ESN;
            attr.replay_proto = IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP;
            attr.replay_ptr = (&raw mut window).cast();
            attr.replay_len = 4;
            attr.esp_encap = &mut encap;
            attr.esp_attr = &mut esp;
            assert_eq!(ibv_cmd_modify_flow_action_esp(&mut action, &mut attr, null), 0);
        }
        let modify = "ioctl 13.2: 0(len0) 2(len4) 4(len4,elem) 5(len24) 1(len24)";
        assert_eq!(fake::calls(), [modify]);
    }
}
