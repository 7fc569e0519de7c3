//! Lists of pieces of memory, as the library's.

use core::ffi::c_void;

use libc::iovec;

use crate::sys::errno::Result;

pub(super) const PIECES: usize = 4;

pub(super) struct List(Vec<iovec>);

impl List {
    pub(super) fn new() -> List {
        List(Vec::new())
    }

    pub(super) fn add(&mut self, address: *mut c_void, length: usize) -> Result<()> {
        self.0.push(iovec { iov_base: address, iov_len: length });
        Ok(())
    }

    pub(super) fn as_slice(&self) -> &[iovec] {
        &self.0
    }

    pub(super) fn gather<'a>(&self, _: &'a mut [u8]) -> Option<&'a [u8]> {
        None
    }

    pub(super) fn set_tail_apart(&mut self) -> Result<()> {
        Ok(())
    }
}
