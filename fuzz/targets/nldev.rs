//! RDMA netlink answers: any attributes are a device or a device file, or are refused.
#![no_main]
#![allow(dead_code)]

#[path = "../../src/sys/netlink/parse.rs"]
mod parse;
/// The parser under its name in the library.
mod sys {
    pub(crate) mod netlink {
        pub(crate) use crate::parse;
    }
}
#[path = "../../src/uapi/netlink.rs"]
mod uapi;
#[path = "../../src/discovery/nldev/answer.rs"]
mod answer;

use libfuzzer_sys::fuzz_target;
use parse::Attributes;

fuzz_target!(|bytes: &[u8]| {
    let attributes = Attributes::new(bytes);
    if let Some(device) = answer::Device::parse(&attributes) {
        assert!(!device.name.contains(&0) && device.name.len() < bytes.len());
    }
    if let Some(file) = answer::DeviceFile::parse(&attributes) {
        assert!(!file.name.contains(&0) && file.name.len() < bytes.len());
        assert!(libc::major(file.number) < 1 << 12 && libc::minor(file.number) < 1 << 20);
    }
});
