//! The requester's own memory: the list of a request, checked.

use super::Operation;
use super::bytes::Local;
use super::stop::{Reason, Stop};
use crate::abi::*;
use crate::urxe::explain;
use crate::urxe::pair::Data;
use crate::urxe::region::check::{Wanted, check_of};

impl Operation<'_> {
    /// Adds the pieces that a request reads from.
    #[inline]
    pub(super) fn source(&self, local: &mut Local) -> Result<(), Stop> {
        self.local(local, 0)
    }

    /// Adds the pieces that a request writes to: the results of reads and atomics.
    pub(super) fn target(&self, local: &mut Local) -> Result<(), Stop> {
        self.local(local, IBV_ACCESS_LOCAL_WRITE)
    }

    fn local(&self, local: &mut Local, access: u32) -> Result<(), Stop> {
        let damaged = |_| Stop::local(IBV_WC_LOC_QP_OP_ERR, Reason::Damaged);
        match self.wqe.data {
            // Bytes that are only read.
            Data::Inline(bytes) => {
                local.add_address(bytes.as_ptr().cast_mut(), bytes.len()).map_err(damaged)?;
            }
            Data::List(list) => {
                for sge in list.iter().filter(|sge| sge.length > 0) {
                    let wanted = Wanted::local(self.qp.pd, access, sge);
                    let place = check_of(self.host.own(), sge.lkey, &wanted).map_err(|denied| {
                        explain!(
                            "urxe: QP {:#x}, wr_id {:#x}: local {denied}",
                            self.qp.number,
                            self.wqe.wr_id
                        );
                        Stop::local(IBV_WC_LOC_PROT_ERR, Reason::LocalKey)
                    })?;
                    let writes = access & IBV_ACCESS_LOCAL_WRITE != 0;
                    local.add(&place, sge.length as usize, writes).map_err(damaged)?;
                }
            }
        }
        Ok(())
    }
}
