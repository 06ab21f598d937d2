//! Rows are what was put in, cut, joined and changed.

use super::*;

fn sample() -> Rows {
    let mut rows = Rows::new();
    rows.push_unsorted(&mut vec![(1, 1.0), (4, 2.0)]);
    rows.push_unsorted(&mut vec![]);
    rows.push_unsorted(&mut vec![(0, 3.0), (2, 4.0), (5, 5.0)]);
    rows
}

#[test]
fn columns_are_dropped_from_the_end() {
    let mut rows = sample();
    rows.truncate_columns(4);
    assert_eq!(rows.offsets(), [0, 1, 1, 3]);
    assert_eq!(
        (rows.indices(), rows.values()),
        ([1, 0, 2].as_slice(), [1.0, 3.0, 4.0].as_slice())
    );
    assert_eq!(rows.width(), 4);
}

#[test]
fn unsorted_entries_are_sorted_and_repeats_added() {
    let mut rows = Rows::new();
    rows.push_unsorted(&mut vec![(5, 1.0), (2, 3.0), (5, 0.5)]);
    rows.push_unsorted(&mut vec![(5, 7.0)]);
    rows.push_unsorted(&mut vec![]);
    assert_eq!(
        rows.row(0),
        RowView {
            indices: &[2, 5],
            values: &[3.0, 1.5]
        }
    );
    assert_eq!(
        rows.row(1),
        RowView {
            indices: &[5],
            values: &[7.0]
        }
    );
    assert!(rows.row(2).is_empty());
    assert_eq!((rows.len(), rows.width(), rows.entries()), (3, 6, 3));
}

#[test]
fn entries_appended_to_every_row() {
    let mut all = Rows::new();
    let mut single = Rows::new();
    for row in [vec![(1, 2.0), (4, 1.0)], vec![], vec![(0, 3.0)], vec![]] {
        all.push_unsorted(&mut row.clone());
        single.push_unsorted(&mut row.clone());
        single.extend_last(9, 0.5);
    }
    all.extend_all(9, 0.5);
    assert_eq!(all, single);
    assert_eq!(all.row(0).indices, [1, 4, 9]);
    assert_eq!(all.row(3).values, [0.5]);
    assert_eq!(all.width(), 10);
}

#[test]
fn every_row_is_visited_once() {
    let mut rows = Rows::new();
    for row in 0..2000u32 {
        rows.push_unsorted(&mut (0..row % 4).map(|i| (row + i, 1.0)).collect());
    }
    let entries = rows.entries();
    rows.par_for_each_mut(|indices, values| {
        for (value, &index) in values.iter_mut().zip(indices) {
            *value += index as f32;
        }
    });
    assert_eq!(rows.entries(), entries);
    assert!(
        rows.iter()
            .flat_map(RowView::iter)
            .all(|(index, value)| value == 1.0 + index as f32)
    );
}

#[test]
fn append_shifts_offsets() {
    let mut a = Rows::new();
    a.push(RowView {
        indices: &[1],
        values: &[1.0],
    });
    let mut b = Rows::new();
    b.push(RowView {
        indices: &[0, 9],
        values: &[2.0, 3.0],
    });
    a.append(&b);
    assert_eq!(a.row(1), b.row(0));
    assert_eq!(a.width(), 10);
}
