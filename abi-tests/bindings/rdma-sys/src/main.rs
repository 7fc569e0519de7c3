//! Lists the devices through the crate `rdma-sys`, whose types are made from the installed headers.

use std::ffi::CStr;
use std::io::Error;
use std::mem::MaybeUninit;

use rdma_sys::{
    ___ibv_query_port, ibv_close_device, ibv_free_device_list, ibv_get_device_list,
    ibv_get_device_name, ibv_open_device,
};

#[path = "../../mapped.rs"]
mod mapped;

fn main() -> Result<(), Error> {
    let mut count = 0;
    // SAFETY: the list holds `count` devices until it is freed, after their last use; the names are
    // strings of C; a context is closed once.
    unsafe {
        let list = ibv_get_device_list(&mut count);
        if list.is_null() {
            return Err(Error::last_os_error());
        }
        for &device in std::slice::from_raw_parts(list, count as usize) {
            let name = CStr::from_ptr(ibv_get_device_name(device)).to_string_lossy();
            let context = ibv_open_device(device);
            if context.is_null() {
                return Err(Error::last_os_error());
            }
            let mut port = MaybeUninit::zeroed();
            if ___ibv_query_port(context, 1, port.as_mut_ptr()) != 0 {
                return Err(Error::last_os_error());
            }
            println!("device {name}, {} GIDs", port.assume_init().gid_tbl_len);
            ibv_close_device(context);
        }
        ibv_free_device_list(list);
    }
    for file in mapped::libraries() {
        println!("library {file}");
    }
    Ok(())
}
