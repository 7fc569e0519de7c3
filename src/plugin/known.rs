//! The plugins of rdma-core and the devices that they are for. This only says which plugin to look
//! at first; whether it takes the device is up to its own table.

use core::ffi::c_uint;

use crate::uapi::*;

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

/// PCI vendor and plugins, for kernels that do not tell the driver of a device.
const VENDORS: [(u16, &[&str]); 12] = [
    (0x15b3, &["mlx5", "mlx4", "mthca"]),
    (0x14e4, &["bnxt_re"]),
    (0x1425, &["cxgb4"]),
    (0x1d0f, &["efa"]),
    (0x1ded, &["erdma"]),
    (0x8086, &["irdma", "hfi1verbs"]),
    (0x19e5, &["hns"]),
    (0x1077, &["qedr", "ipathverbs"]),
    (0x1fc1, &["ipathverbs"]),
    (0x1867, &["mthca"]),
    (0x10df, &["ocrdma"]),
    (0x15ad, &["vmw_pvrdma"]),
];

/// The plugin for a kernel driver (`enum rdma_driver_id`).
pub(crate) fn plugin_of(driver_id: u32) -> Option<&'static str> {
    PLUGINS.iter().find(|(id, _)| *id == driver_id).map(|(_, name)| *name)
}

/// Whether this is a plugin of rdma-core, which takes devices of its own kernel driver only.
pub(crate) fn is_known(name: &[u8]) -> bool {
    PLUGINS.iter().any(|(_, known)| known.as_bytes() == name)
}

/// The plugins to look at first for a device whose driver the kernel does not tell: by its name,
/// which decides for software devices, else by its PCI vendor.
pub(crate) fn plugins_by_look(name: &[u8], vendor: Option<u16>) -> &'static [&'static str] {
    if name.starts_with(b"rxe") {
        return &["rxe"];
    }
    VENDORS.iter().find(|(id, _)| Some(*id) == vendor).map_or(&[], |(_, names)| *names)
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

    #[test]
    fn devices_look_like_plugins() {
        assert_eq!(plugins_by_look(b"rxe_eth0", Some(0x15b3)), ["rxe"]);
        assert_eq!(plugins_by_look(b"mlx5_0", Some(0x15b3)), ["mlx5", "mlx4", "mthca"]);
        assert!(plugins_by_look(b"mlx5_0", None).is_empty());
        assert!(plugins_by_look(b"x", Some(0x1234)).is_empty());
        for name in VENDORS.iter().flat_map(|(_, names)| *names) {
            assert!(is_known(name.as_bytes()), "{name}");
        }
    }
}
