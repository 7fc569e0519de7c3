//! Lists the devices through the crate `sideway`, and with it through `rdma-mummy-sys`.

use std::error::Error;

use sideway::ibverbs::device::{DeviceInfo, DeviceList};

#[path = "../../mapped.rs"]
mod mapped;

fn main() -> Result<(), Box<dyn Error>> {
    for device in &DeviceList::new()? {
        let gids = device.open()?.query_gid_table()?.len();
        println!("device {}, {gids} GIDs", device.name());
    }
    for file in mapped::libraries() {
        println!("library {file}");
    }
    Ok(())
}
