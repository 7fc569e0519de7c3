//! What a QP remembers of the way to its peer, so that a request need not look it up: the process of
//! the destination, and the files of it that are mapped here.

use core::cell::RefCell;
use core::ffi::c_void;
use std::sync::Arc;

use super::datagram::MULTICAST;
use crate::abi::*;
use crate::sys::errno::{Errno, Result};
use crate::urxe::host::{Host, MappedFile, Peer};
use crate::urxe::pair::{Target, Wqe};
use crate::urxe::region::check::Place;
use crate::urxe::shared::QPS;

/// The way to the last destination.
#[derive(Default)]
pub(crate) struct Route {
    peer: Option<Arc<Peer>>,
    files: Files,
}

/// Number of the QP that a request is for; `None` if it is for none, or for many.
#[inline]
pub(super) fn destination(attr: &ibv_qp_attr, wqe: &Wqe<'_>) -> Option<u32> {
    match (&wqe.target, wqe.opcode) {
        (&Target::Datagram { qp_num, .. }, _) => (qp_num != MULTICAST).then_some(qp_num),
        (_, IBV_WR_LOCAL_INV | IBV_WR_BIND_MW) => None,
        _ => Some(attr.dest_qp_num),
    }
}

impl Route {
    /// The process that has a QP, by the number of that, and files that are mapped. The process was
    /// alive some 10 ms ago.
    #[inline]
    pub(super) fn to(&mut self, host: &Host, number: Option<u32>) -> (Option<&Peer>, &Files) {
        if let Some(number) = number {
            self.peer(host, number);
        }
        (self.peer.as_deref(), &self.files)
    }

    /// The process that has a QP, by the number of that.
    #[inline]
    pub(super) fn peer(&mut self, host: &Host, number: u32) -> Option<&Arc<Peer>> {
        let slot = number / QPS;
        let is_known = |peer: &Arc<Peer>| peer.slot() == slot && peer.is_alive();
        if !self.peer.as_ref().is_some_and(is_known) {
            *self = Route { peer: host.peer(slot).ok(), files: Files::default() };
        }
        self.peer.as_ref()
    }
}

/// Files of peers that are mapped here: those of the last request that used any.
#[derive(Default)]
pub(super) struct Files(RefCell<Vec<File>>);

struct File {
    slot: u32,
    epoch: u64,
    number: u32,
    mapped: Arc<MappedFile>,
}

impl Files {
    /// The address in this process of `length` bytes at a place in a file of a peer. The mapping
    /// stays until another file is wanted as the `first` of a request.
    ///
    /// # Errors
    ///
    /// EFAULT if the bytes are not all in the file; what [`Peer::file`] says.
    pub(super) fn find(
        &self,
        peer: &Peer,
        place: &Place,
        length: u64,
        is_first: bool,
    ) -> Result<*mut c_void> {
        let mut files = self.0.borrow_mut();
        let is_wanted = |file: &File| {
            (file.number, file.slot, file.epoch) == (place.file, peer.slot(), peer.epoch())
        };
        let file = match files.iter().position(is_wanted) {
            Some(found) => files.get(found),
            None => {
                if is_first {
                    files.clear();
                }
                let mapped = peer.file(place.file)?;
                let (slot, epoch) = (peer.slot(), peer.epoch());
                files.push(File { slot, epoch, number: place.file, mapped });
                files.last()
            }
        };
        file.and_then(|file| file.mapped.range(place.file_offset, length)).ok_or(Errno::EFAULT)
    }
}
