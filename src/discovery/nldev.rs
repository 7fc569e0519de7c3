//! RDMA netlink about devices (`rdma/rdma_netlink.h`): what the kernel says of a device, of its
//! device file, of itself.

pub(crate) mod answer;

use core::ffi::CStr;

use crate::sys::errno::{Errno, Result};
use crate::sys::netlink::Socket;
use crate::sys::netlink::parse::Request;
use crate::uapi::*;
pub(crate) use answer::{Device, DeviceFile};

/// The message type of an nldev command: the client in the upper bits.
const fn message_type(command: u16) -> u16 {
    RDMA_NL_NLDEV << 10 | command
}

/// A connection to RDMA netlink.
pub(crate) struct Nldev {
    socket: Socket,
}

impl Nldev {
    /// Fails with EPROTONOSUPPORT when the kernel has no RDMA subsystem or an old one.
    pub(crate) fn open() -> Result<Nldev> {
        Ok(Nldev { socket: Socket::open(libc::NETLINK_RDMA)? })
    }

    /// Hands every device of this network namespace to `each`, in the kernel's order. Devices about
    /// which an attribute is missing are left out.
    pub(crate) fn devices(&mut self, mut each: impl FnMut(Device<'_>)) -> Result<()> {
        let request = Request::new(message_type(RDMA_NLDEV_CMD_GET), libc::NLM_F_DUMP as u16);
        let replies = self.socket.query(request)?;
        for message in replies.messages() {
            if let Some(device) = Device::parse(&message.attributes(0)) {
                each(device);
            }
        }
        Ok(())
    }

    /// Hands the device file of a kind (`uverbs`) of a device to `take` and gives its result.
    /// EPROTO if the answer lacks something.
    pub(crate) fn device_file<T>(
        &mut self,
        index: u32,
        kind: &CStr,
        take: impl FnOnce(DeviceFile<'_>) -> T,
    ) -> Result<T> {
        let request = Request::new(message_type(RDMA_NLDEV_CMD_GET_CHARDEV), 0)
            .attribute_u32(RDMA_NLDEV_ATTR_DEV_INDEX, index)
            .attribute_text(RDMA_NLDEV_ATTR_CHARDEV_TYPE, kind);
        let replies = self.socket.query(request)?;
        let file = replies.first().and_then(|message| DeviceFile::parse(&message.attributes(0)));
        file.map(take).ok_or(Errno(libc::EPROTO))
    }

    /// Whether the kernel copies pinned pages on fork (`RDMA_NLDEV_CMD_SYS_GET`).
    pub(crate) fn copy_on_fork(&mut self) -> Result<bool> {
        let replies = self.socket.query(Request::new(message_type(RDMA_NLDEV_CMD_SYS_GET), 0))?;
        let first = replies.first().ok_or(Errno(libc::EPROTO))?;
        let attribute = first.attributes(0).find_kind(RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK);
        Ok(attribute.and_then(|attribute| attribute.u8()).is_some_and(|value| value != 0))
    }
}

/// Whether the kernel copies pinned pages on fork, so that nothing has to be done about them; false
/// if it does not say.
pub(crate) fn copy_on_fork() -> bool {
    Nldev::open().and_then(|mut nldev| nldev.copy_on_fork()).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_rdma_nothing_is_copied_on_fork() {
        let answer = crate::discovery::copy_on_fork();
        assert!(!answer || Nldev::open().is_ok());
    }

    #[test]
    fn commands_have_the_type_of_their_client() {
        assert_eq!(message_type(RDMA_NLDEV_CMD_GET), 0x1401);
    }
}
