//! The Debian suites whose kernels and packages tests run on.

use crate::error::{Error, Result};

/// A Debian suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suite {
    /// Linux 7.2 and rdma-core 65.0, the release that this project replaces.
    Forky,
    /// Debian 13: Linux 6.12 and rdma-core 56.1.
    Trixie,
    /// Debian 12: Linux 6.1 and rdma-core 44.0.
    Bookworm,
}

/// What the root file system of every suite has beside the smallest set.
const COMMON: &[&str] = &[
    "busybox-static",
    "gcc",
    "ibverbs-providers",
    "ibverbs-utils",
    "iproute2",
    "kmod",
    "libc6-dev",
    "libibverbs-dev",
    "libibverbs1",
    "librdmacm-dev",
    "linux-image-amd64",
    "perftest",
    "procps",
    "python3",
    "python3-pyverbs",
    "qperf",
    "rdma-core",
    "rdmacm-utils",
    "strace",
    "udev",
];

impl Suite {
    /// All suites, the newest first.
    pub(crate) const ALL: [Suite; 3] = [Suite::Forky, Suite::Trixie, Suite::Bookworm];

    /// The suite with this name.
    pub(crate) fn parse(name: &str) -> Result<Suite> {
        Suite::ALL.into_iter().find(|suite| suite.name() == name).ok_or_else(|| {
            let names = Suite::ALL.map(Suite::name).join(", ");
            Error::new(format!("unknown suite '{name}': it is one of {names}"))
        })
    }

    /// Debian's name for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Suite::Forky => "forky",
            Suite::Trixie => "trixie",
            Suite::Bookworm => "bookworm",
        }
    }

    /// The rdma-core release in it.
    pub(crate) fn rdma_core(self) -> &'static str {
        match self {
            Suite::Forky => "65.0",
            Suite::Trixie => "56.1",
            Suite::Bookworm => "44.0",
        }
    }

    /// The private ABI of that release: the number in the file names of its plugins.
    pub(super) fn private_abi(self) -> u32 {
        match self {
            Suite::Forky => 65,
            Suite::Trixie | Suite::Bookworm => 34,
        }
    }

    /// The packages in its root file system, beside those that they need.
    pub(super) fn packages(self) -> Vec<&'static str> {
        let own: &[&str] = match self {
            Suite::Forky => &["librdmacm1t64", "valgrind"],
            Suite::Trixie => &["libfabric-bin", "librdmacm1t64", "ucx-utils"],
            Suite::Bookworm => &[
                "libfabric-bin",
                "libfabric-dev",
                "libopenmpi-dev",
                "librdmacm1",
                "openmpi-bin",
                "ucx-utils",
            ],
        };
        COMMON.iter().chain(own).copied().collect()
    }
}
