//! The layouts against what was measured of each release, and what the library does to the objects
//! of older providers.

mod adapters;
mod contexts;

use super::*;
use crate::cmd;
use crate::provider_api::ops::with_ops;

/// The lines of a table, without those of its head.
fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .skip(1)
        .map(|line| line.split('\t').collect())
}

#[test]
fn layouts_are_as_measured() {
    let mut releases = 0;
    for row in rows(include_str!("releases.tsv")) {
        let row: Vec<usize> = row.iter().map(|cell| cell.parse().unwrap()).collect();
        let [release, private_abi, ops, context_size, context, qp_size, qp_tail, port_attr, dmabuf] =
            row[..]
        else {
            panic!("{row:?}");
        };
        let layout = layout(private_abi as u32, release as u32).unwrap();
        assert_eq!(layout.private_abi as usize, private_abi);
        assert_eq!((0..OPS).filter(|op| layout.has_op(*op)).count(), ops, "release {release}");
        assert_eq!((layout.context_offset, layout.context_size()), (context, context_size));
        assert_eq!((layout.qp_tail, layout.qp_tail + 16), (qp_tail, qp_size));
        assert_eq!(layout.port_attr_size, port_attr);
        assert_eq!(layout.dmabuf_mr_has_driver, dmabuf == 8);
        releases += 1;
    }
    let served = PRIVATE_ABIS.into_iter().flat_map(layouts_of);
    assert_eq!(served.map(|layout| layout.releases.clone().count()).sum::<usize>(), releases);
    for unknown in [(34, 35), (34, 57), (57, 56), (59, 64), (66, 66), (0, 0)] {
        assert!(layout(unknown.0, unknown.1).is_none(), "{unknown:?}");
    }
}

/// Every operation of the newest table with its index.
fn operations() -> Vec<(&'static str, usize)> {
    macro_rules! list {
        ($($op:ident => $place:ident $($slot:ident)?;)*) => {
            vec![$((stringify!($op), crate::provider_api::op_index!($op).get())),*]
        };
    }
    with_ops!(list)
}

/// The table of operations of a layout in which each has a number: what `number` says to its name.
fn table(layout: &Layout, number: impl Fn(&str) -> usize) -> Vec<usize> {
    let first = *layout.releases.start();
    let mut rows = rows(include_str!("ops.tsv"));
    let columns: Vec<u32> = ["36", "57", "59", "62", "64", "65"]
        .iter()
        .map(|release| release.parse().unwrap())
        .collect();
    let column = 1 + columns.iter().rposition(|release| *release <= first).unwrap();
    let mut table: Vec<(usize, usize)> =
        rows.by_ref().filter_map(|row| Some((row[column].parse().ok()?, number(row[0])))).collect();
    table.sort_unstable();
    assert!(table.iter().enumerate().all(|(index, (measured, _))| index == *measured));
    table.into_iter().map(|(_, number)| number).collect()
}

#[test]
fn operations_are_found_by_name_in_the_table_of_each_release() {
    let operations = operations();
    assert_eq!(operations.len(), OPS);
    let number = |name: &str| {
        let known = operations.iter().find(|(other, _)| *other == name);
        0x1000 + known.unwrap_or_else(|| panic!("{name} is unknown")).1
    };
    for layout in PRIVATE_ABIS.into_iter().flat_map(layouts_of) {
        let table = table(layout, number);
        // SAFETY: a table of this layout; nobody calls what is in it.
        let newest = unsafe {
            transmute::<verbs_context_ops, Ops>(layout.newest_ops(table.as_ptr().cast()))
        };
        for (name, index) in &operations {
            let found = newest[*index].map(|op| op as usize);
            let wanted = layout.has_op(*index).then(|| number(name));
            assert_eq!(found, wanted, "{name} of {:?}", layout.releases);
        }
    }
}
