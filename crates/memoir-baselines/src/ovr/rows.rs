//! Rows in as little memory as one-vs-rest can have them: it goes over them again for every class, and holds
//! little else.

use memoir::Rows;

/// Entries that are shortened at a time.
const STRIDE: usize = 1 << 15;

/// Rows whose positions among the entries are counted from the same base.
const BLOCK: usize = 64;

/// A column number, as short as the number of columns allows; or a number of entries before a row in its
/// block.
pub(super) trait Column: Copy + Default + Send + Sync {
    /// Whether `rows` can be held with such numbers.
    fn fits(rows: &Rows) -> bool;
    fn shorten(number: usize) -> Self;
    fn number(self) -> usize;
}

impl Column for u16 {
    fn fits(rows: &Rows) -> bool {
        let most = usize::from(Self::MAX);
        let (offsets, last) = (rows.offsets(), rows.len());
        let mut blocks = (0..last).step_by(BLOCK);
        rows.width() <= most + 1
            && blocks.all(|first| offsets[last.min(first + BLOCK)] - offsets[first] <= most)
    }

    fn shorten(number: usize) -> Self {
        number as Self
    }

    fn number(self) -> usize {
        usize::from(self)
    }
}

impl Column for u32 {
    fn fits(_: &Rows) -> bool {
        true
    }

    fn shorten(number: usize) -> Self {
        number as Self
    }

    fn number(self) -> usize {
        self as usize
    }
}

/// Compressed rows with short column numbers.
pub(super) struct ShortRows<C: Column> {
    /// Entries before each block of rows.
    bases: Vec<usize>,
    /// Entries of a row's block before the row, and after each block's last row the entries of the block.
    starts: Vec<C>,
    len: usize,
    columns: Vec<C>,
    values: Vec<f32>,
    width: usize,
}

/// One of them.
#[derive(Clone, Copy)]
pub(super) struct Row<'a, C> {
    columns: &'a [C],
    values: &'a [f32],
}

impl<C: Column> ShortRows<C> {
    /// `rows`, which [`Column::fits`] is true of.
    pub(super) fn new(rows: Rows) -> Self {
        assert!(C::fits(&rows), "columns and entries are counted before");
        let width = rows.width();
        let (offsets, mut indices, values) = rows.into_parts();
        // From the end and bit by bit, so that the memory of one array is given back as that of the other is
        // taken.
        let mut columns = vec![C::default(); indices.len()];
        while !indices.is_empty() {
            let start = indices.len().saturating_sub(STRIDE);
            for (column, &index) in columns[start..].iter_mut().zip(&indices[start..]) {
                *column = C::shorten(index as usize);
            }
            indices.truncate(start);
            indices.shrink_to_fit();
        }
        let len = offsets.len() - 1;
        let bases: Vec<usize> = offsets[..len].iter().copied().step_by(BLOCK).collect();
        let mut starts = Vec::with_capacity(len + bases.len());
        for (first, &base) in (0..len).step_by(BLOCK).zip(&bases) {
            let last = len.min(first + BLOCK);
            starts.extend(
                offsets[first..=last]
                    .iter()
                    .map(|offset| C::shorten(offset - base)),
            );
        }
        Self {
            bases,
            starts,
            len,
            columns,
            values,
            width,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Number of columns.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn row(&self, index: usize) -> Row<'_, C> {
        let block = index / BLOCK;
        let base = self.bases[block];
        // Each block before has one start more than rows.
        let starts = &self.starts[index + block..][..2];
        let range = base + starts[0].number()..base + starts[1].number();
        Row {
            columns: &self.columns[range.clone()],
            values: &self.values[range],
        }
    }
}

impl<'a, C: Column> Row<'a, C> {
    /// Column numbers with their values.
    pub(super) fn iter(self) -> impl Iterator<Item = (usize, f32)> + 'a {
        let columns = self.columns.iter().map(|&column| column.number());
        columns.zip(self.values.iter().copied())
    }

    pub(super) fn squared_norm(self) -> f32 {
        self.values.iter().map(|value| value * value).sum()
    }
}

#[cfg(test)]
mod tests {
    use memoir::RowView;

    use super::*;

    fn check<C: Column>(rows: &Rows) {
        let short = ShortRows::<C>::new(rows.clone());
        assert_eq!((short.len(), short.width()), (rows.len(), rows.width()));
        for (index, row) in rows.iter().enumerate() {
            let expected = row.iter().map(|(column, value)| (column as usize, value));
            assert!(short.row(index).iter().eq(expected), "row {index}");
            assert_eq!(short.row(index).squared_norm(), row.squared_norm());
        }
    }

    #[test]
    fn rows_stay_what_they_were() {
        let mut rows = Rows::new();
        for row in 0..STRIDE as u32 {
            let columns: Vec<u32> = (0..row % 5)
                .map(|n| (row * 31 + n * 13) % 1000 + n * 16_000)
                .collect();
            let values: Vec<f32> = columns.iter().map(|&column| column as f32 + 0.5).collect();
            rows.push(RowView {
                indices: &columns,
                values: &values,
            });
        }
        assert!(rows.entries() > STRIDE && <u16 as Column>::fits(&rows));
        check::<u16>(&rows);
        check::<u32>(&rows);
        // More entries in a block than 16 bits can count.
        let columns: Vec<u32> = (0..60_000).collect();
        let mut long = rows.clone();
        for _ in 0..2 {
            long.push(RowView {
                indices: &columns,
                values: &vec![0.5; columns.len()],
            });
        }
        assert!(!<u16 as Column>::fits(&long));
        check::<u32>(&long);
        // One column more than 16 bits can tell apart.
        rows.push(RowView {
            indices: &[1 << 16],
            values: &[1.0],
        });
        assert!(!<u16 as Column>::fits(&rows));
        check::<u32>(&rows);
    }
}
