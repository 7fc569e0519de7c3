//! The layouts against what was measured of each release, and what the library does to the objects
//! of older providers.

use super::*;

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
        assert_eq!(OPS - layout.absent_ops.len(), ops, "release {release}");
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
