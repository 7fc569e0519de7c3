//! The plugins of rdma-core and the kernel drivers that they are for.

use core::ffi::c_uint;

use crate::uapi::*;

/// The private ABI of this library: the number in `-rdmav65.so` and in `verbs_register_driver_65`.
pub(crate) const PRIVATE_ABI: u32 = 65;

/// Kernel driver and plugin. The name of a plugin is the word in the configuration and the middle
/// of the file name: `rxe` for `librxe-rdmav65.so`.
const PLUGINS: [(c_uint, &str); 18] = [
    (RDMA_DRIVER_MLX5, "mlx5"),
    (RDMA_DRIVER_MLX4, "mlx4"),
    (RDMA_DRIVER_CXGB4, "cxgb4"),
    (RDMA_DRIVER_MTHCA, "mthca"),
    (RDMA_DRIVER_BNXT_RE, "bnxt_re"),
    (RDMA_DRIVER_OCRDMA, "ocrdma"),
    (RDMA_DRIVER_IRDMA, "irdma"),
    (RDMA_DRIVER_VMW_PVRDMA, "vmw_pvrdma"),
    (RDMA_DRIVER_QEDR, "qedr"),
    (RDMA_DRIVER_HNS, "hns"),
    (RDMA_DRIVER_RXE, "rxe"),
    (RDMA_DRIVER_HFI1, "hfi1verbs"),
    (RDMA_DRIVER_QIB, "ipathverbs"),
    (RDMA_DRIVER_EFA, "efa"),
    (RDMA_DRIVER_SIW, "siw"),
    (RDMA_DRIVER_ERDMA, "erdma"),
    (RDMA_DRIVER_MANA, "mana"),
    (RDMA_DRIVER_IONIC, "ionic"),
];

/// The plugin for a kernel driver (`enum rdma_driver_id`).
///
/// This only says which plugin to look at first; whether it takes the device is up to its own
/// table.
pub(crate) fn plugin_of(driver_id: u32) -> Option<&'static str> {
    PLUGINS.iter().find(|(id, _)| *id == driver_id).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_have_plugins() {
        assert_eq!(plugin_of(14), Some("rxe"));
        assert_eq!(plugin_of(16), Some("ipathverbs"));
        for without in [RDMA_DRIVER_UNKNOWN, RDMA_DRIVER_CXGB3, RDMA_DRIVER_USNIC, 22, u32::MAX] {
            assert_eq!(plugin_of(without), None);
        }
        for (index, (id, name)) in PLUGINS.iter().enumerate() {
            assert!(PLUGINS[..index].iter().all(|(other, known)| other != id && known != name));
        }
    }
}
