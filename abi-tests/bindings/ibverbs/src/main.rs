//! Lists the devices through the crate `ibverbs`.

#[path = "../../mapped.rs"]
mod mapped;

fn main() -> std::io::Result<()> {
    for device in &ibverbs::devices()? {
        let name = device.name().unwrap_or_default().to_string_lossy();
        let gids = device.open()?.gid_table().len();
        println!("device {name}, {gids} GIDs");
    }
    for file in mapped::libraries() {
        println!("library {file}");
    }
    Ok(())
}
