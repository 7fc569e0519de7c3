//! Whether providers take devices, and what they get.

use crate::sync::atomic::Ordering;
use core::result::Result;

use super::*;
use crate::plugin::tests::{
    accept, driver_id, end, entry, no_device, pattern, pci, provider, record, with_modalias,
};

unsafe extern "C" fn refuse(_: *mut verbs_sysfs_dev) -> bool {
    false
}

fn offered(ops: &verbs_device_ops, record: Record) -> Result<(), Refusal> {
    // SAFETY: a provider's record.
    match unsafe { offer(ops, record, false, || Ok(())) } {
        Ok(device) => {
            end(device);
            Ok(())
        }
        Err((_, refusal)) => Err(refusal),
    }
}

#[test]
fn tables_match_driver_name_and_modalias() {
    let table = [driver_id(14), pattern(c"rdma_device:*Nrxe*"), pci(0x15b3, 0x1017)];
    let ops = provider(c"p", &table);
    assert_eq!(offered(&ops, record(b"x", 14)), Ok(()));
    assert_eq!(offered(&ops, record(b"x", 15)), Err(Refusal::NotFor));
    assert_eq!(offered(&ops, record(b"rxe_1", 0)), Ok(()));
    let modalias = b"pci:v000015B3d00001017sv000015B3sd00000020bc02sc00i00";
    assert_eq!(offered(&ops, with_modalias(b"x", modalias)), Ok(()));
    for other in [
        &b"pci:v000015B3d00001018sv0"[..],
        b"pci:v000115B3d00001017sv0",
        b"pci:v000015b3d00001017sv0",
        b"pci:v000015B3d00001017",
        b"pci:v+00015B3d00001017sv0",
        b"pci:",
        b"",
    ] {
        let refused = offered(&ops, with_modalias(b"x", other));
        assert_eq!(refused, Err(Refusal::NotFor), "{}", other.escape_ascii());
    }
    // An entry by driver is no pattern, and 0 is no driver.
    let ops = provider(c"p", &[driver_id(0), entry(200, verbs_match_ent_u { driver_id: 1 }, 0, 0)]);
    assert_eq!(offered(&ops, record(b"x", 0)), Err(Refusal::NotFor));
    let ops = provider(c"p", &[pattern(c"vmbus:3daf*")]);
    assert_eq!(offered(&ops, with_modalias(b"x", b"vmbus:3daf2e8c")), Ok(()));
}

#[test]
fn a_function_decides_over_the_table() {
    let mut ops = provider(c"p", &[driver_id(14)]);
    ops.match_device = Some(refuse);
    assert_eq!(offered(&ops, record(b"x", 14)), Err(Refusal::NotFor));
    ops.match_device = Some(accept);
    assert_eq!(offered(&ops, record(b"x", 99)), Ok(()));
    ops.match_table = ptr::null();
    assert_eq!(offered(&ops, record(b"x", 99)), Ok(()));
    ops.match_device = None;
    assert_eq!(offered(&ops, record(b"x", 14)), Err(Refusal::NotFor));
}

#[test]
fn versions_and_failures_refuse() {
    let mut ops = provider(c"p", &[driver_id(14)]);
    for version in [0, 3, u32::MAX] {
        let mut record = record(b"x", 14);
        record.get_mut().abi_ver = version;
        assert!(
            matches!(offered(&ops, record), Err(Refusal::Unfit(text)) if text.contains("1 to 2"))
        );
    }
    // SAFETY: a provider's record.
    let unsettled = unsafe { offer(&ops, record(b"x", 14), true, || Err("why".to_owned())) };
    assert_eq!(unsettled.err().map(|it| it.1), Some(Refusal::Unfit("why".to_owned())));
    ops.alloc_device = Some(no_device);
    assert_eq!(offered(&ops, record(b"x", 14)), Err(Refusal::Failed));
    ops.alloc_device = None;
    assert_eq!(offered(&ops, record(b"x", 14)), Err(Refusal::Failed));
    ops.name = ptr::null();
    // SAFETY: a provider's record; the message is told.
    assert!(unsafe { offer(&ops, record(b"x", 14), true, || Ok(())) }.is_err());
}

#[test]
fn a_version_complaint_says_which_side_is_older() {
    let mut record = record(b"rxe0", 14);
    for (version, older) in [(0, "kernel's driver is older"), (9, "provider is older")] {
        record.get_mut().abi_ver = version;
        let text = version_complaint("rxe", &(1..=2), &record);
        assert!(text.contains("provider rxe supports versions 1 to 2"), "{text}");
        assert!(text.contains(&format!("/nowhere/class/infiniband/rxe0 has {version}")), "{text}");
        assert!(text.contains(older), "{text}");
    }
}

#[test]
fn a_device_is_filled_in() {
    let ops = provider(c"p", &[driver_id(14)]);
    let mut given = record(b"rxe0", 14);
    given.get_mut().node_type = IBV_NODE_RNIC;
    let pointer = given.as_ptr();
    // SAFETY: a provider's record.
    let device = unsafe { offer(&ops, given, false, || Ok(())) }.ok().unwrap();
    // SAFETY: a live device.
    let filled = unsafe { &*device };
    let text = crate::discovery::text;
    assert_eq!(text(&filled.device.name), c"rxe0");
    assert_eq!(text(&filled.device.dev_name), c"uverbs0");
    assert_eq!(text(&filled.device.dev_path), c"/nowhere/class/infiniband_verbs/uverbs0");
    assert_eq!(text(&filled.device.ibdev_path), c"/nowhere/class/infiniband/rxe0");
    assert_eq!(filled.device.transport_type, IBV_TRANSPORT_IWARP);
    assert_eq!(filled.refcount.load(Ordering::Relaxed), 1);
    assert_eq!((filled.sysfs, filled.ops), (pointer, &raw const ops));
    // SAFETY: the record has an entry of the table.
    assert_eq!(unsafe { (*(*pointer).match_).u.driver_id }, 14);
    end(device);
}
