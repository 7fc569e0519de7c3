//! What RDMA netlink answers (`rdma/rdma_netlink.h`). Pure functions on foreign bytes.

use crate::sys::netlink::parse::Attributes;
use crate::uapi::*;

/// A device in the answer to `RDMA_NLDEV_CMD_GET`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Device<'a> {
    /// Number of the device, never used again by another one while the kernel runs.
    pub(crate) index: u32,
    /// Name, as `rxe0`.
    pub(crate) name: &'a [u8],
    /// Number of ports.
    pub(crate) ports: u32,
    /// Node GUID as a number.
    pub(crate) node_guid: u64,
    /// The kernel's node type (`enum rdma_node_type`), as `node_type` in sysfs.
    pub(crate) node_type: u8,
}

impl<'a> Device<'a> {
    /// Reads the attributes of an answer; nothing if one of them is missing or too short.
    pub(crate) fn parse(attributes: &Attributes<'a>) -> Option<Device<'a>> {
        let find = |kind| attributes.find_kind(kind);
        Some(Device {
            index: find(RDMA_NLDEV_ATTR_DEV_INDEX)?.u32()?,
            name: find(RDMA_NLDEV_ATTR_DEV_NAME)?.text()?,
            ports: find(RDMA_NLDEV_ATTR_PORT_INDEX)?.u32()?,
            node_guid: find(RDMA_NLDEV_ATTR_NODE_GUID)?.u64()?,
            node_type: find(RDMA_NLDEV_ATTR_DEV_NODE_TYPE)?.u8()?,
        })
    }
}

/// A device file in the answer to `RDMA_NLDEV_CMD_GET_CHARDEV`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct DeviceFile<'a> {
    /// Name, as `uverbs0`.
    pub(crate) name: &'a [u8],
    /// Device number.
    pub(crate) number: libc::dev_t,
    /// Version of the driver's interface to its provider.
    pub(crate) abi_version: u32,
    /// `enum rdma_driver_id`, if the kernel says.
    pub(crate) driver_id: Option<u32>,
}

impl<'a> DeviceFile<'a> {
    /// Reads the attributes of an answer; nothing if one of them is missing or too short.
    pub(crate) fn parse(attributes: &Attributes<'a>) -> Option<DeviceFile<'a>> {
        let find = |kind| attributes.find_kind(kind);
        Some(DeviceFile {
            name: find(RDMA_NLDEV_ATTR_CHARDEV_NAME)?.text()?,
            number: device_number(find(RDMA_NLDEV_ATTR_CHARDEV)?.u64()?),
            // The attribute has 64 bits for a number of 32.
            abi_version: find(RDMA_NLDEV_ATTR_CHARDEV_ABI)?.u64()? as u32,
            driver_id: match find(RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID) {
                Some(driver_id) => Some(driver_id.u32()?),
                None => None,
            },
        })
    }
}

/// The C library's device number for the kernel's form on interfaces: the major number in bits 8
/// to 19, the minor one around it.
fn device_number(encoded: u64) -> libc::dev_t {
    let major = encoded >> 8 & 0xfff;
    let minor = encoded & 0xff | encoded >> 12 & 0xfff00;
    // Both were cut to few bits.
    libc::makedev(major as libc::c_uint, minor as libc::c_uint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::netlink::parse::Request;

    /// The attributes of a request are those of an answer.
    fn attributes(request: Request, check: impl FnOnce(&Attributes<'_>)) {
        let mut request = request;
        check(&Attributes::new(&request.finish(1).unwrap()[16..]));
    }

    fn device() -> Vec<(u16, Vec<u8>)> {
        vec![
            (RDMA_NLDEV_ATTR_DEV_INDEX, 5u32.to_ne_bytes().to_vec()),
            (RDMA_NLDEV_ATTR_DEV_NAME, b"rxe0\0".to_vec()),
            (RDMA_NLDEV_ATTR_PORT_INDEX, 255u32.to_ne_bytes().to_vec()),
            (200, vec![1; 3]),
            (RDMA_NLDEV_ATTR_NODE_GUID, 0x5054_00ff_fe12_3456u64.to_ne_bytes().to_vec()),
            (RDMA_NLDEV_ATTR_DEV_NODE_TYPE, vec![1]),
        ]
    }

    fn request(list: &[(u16, Vec<u8>)]) -> Request {
        list.iter()
            .fold(Request::new(1, 0), |request, (kind, value)| request.attribute(*kind, value))
    }

    #[test]
    fn a_device_needs_every_attribute() {
        let whole = device();
        attributes(request(&whole), |attributes| {
            let expected = Device {
                index: 5,
                name: b"rxe0",
                ports: 255,
                node_guid: 0x5054_00ff_fe12_3456,
                node_type: 1,
            };
            assert_eq!(Device::parse(attributes), Some(expected));
        });
        for left_out in 0..whole.len() {
            let mut list = whole.clone();
            let (kind, _) = list.remove(left_out);
            attributes(request(&list), |attributes| {
                assert_eq!(Device::parse(attributes).is_some(), kind == 200);
            });
            let mut list = whole.clone();
            list[left_out].1.pop();
            attributes(request(&list), |attributes| {
                assert_eq!(Device::parse(attributes).is_some(), kind == 200);
            });
        }
    }

    #[test]
    fn a_device_file_may_lack_the_driver() {
        let file = [
            (RDMA_NLDEV_ATTR_CHARDEV, 0x0001_e7c1u64.to_ne_bytes().to_vec()),
            (RDMA_NLDEV_ATTR_CHARDEV_ABI, 0x1_0000_0002u64.to_ne_bytes().to_vec()),
            (RDMA_NLDEV_ATTR_CHARDEV_NAME, b"uverbs1\0".to_vec()),
        ];
        let expected = DeviceFile {
            name: b"uverbs1",
            number: libc::makedev(0x1e7, 0xc1),
            abi_version: 2,
            driver_id: None,
        };
        attributes(request(&file), |attributes| {
            assert_eq!(DeviceFile::parse(attributes), Some(expected.clone()));
        });
        attributes(request(&file).attribute_u32(RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, 14), |all| {
            assert_eq!(DeviceFile::parse(all).map(|file| file.driver_id), Some(Some(14)));
        });
        attributes(request(&file[..2]), |attributes| {
            assert_eq!(DeviceFile::parse(attributes), None);
        });
    }

    #[test]
    fn device_numbers_are_decoded() {
        assert_eq!(device_number(0xe7c0), libc::makedev(231, 192));
        assert_eq!(device_number(0x1234_5678), libc::makedev(0x456, 0x12378));
        assert_eq!(device_number(u64::MAX), libc::makedev(0xfff, 0xf_ffff));
    }
}
