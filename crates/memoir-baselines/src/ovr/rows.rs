//! Rows in as little memory as one-vs-rest can have them: it goes over them again for every class, and holds little else.

use memoir::sparse::Rows;

/// Entries that are shortened at a time.
const STRIDE: usize = 1 << 15;

/// A column number, as short as the number of columns allows.
pub(super) trait Column: Copy + Default + Send + Sync {
    /// A place among the entries, which are fewer where columns are.
    type Place: Copy + Send + Sync;

    /// Whether `rows` can be held with such numbers.
    fn fits(rows: &Rows) -> bool;
    fn shorten(column: u32) -> Self;
    fn number(self) -> usize;
    fn shorten_place(place: usize) -> Self::Place;
    fn place(place: Self::Place) -> usize;
}

impl Column for u16 {
    type Place = u32;

    fn fits(rows: &Rows) -> bool {
        rows.width() <= 1 << 16 && u32::try_from(rows.entries()).is_ok()
    }

    fn shorten(column: u32) -> Self {
        column as u16
    }

    fn number(self) -> usize {
        usize::from(self)
    }

    fn shorten_place(place: usize) -> u32 {
        place as u32
    }

    fn place(place: u32) -> usize {
        place as usize
    }
}

impl Column for u32 {
    type Place = usize;

    fn fits(_: &Rows) -> bool {
        true
    }

    fn shorten(column: u32) -> Self {
        column
    }

    fn number(self) -> usize {
        self as usize
    }

    fn shorten_place(place: usize) -> usize {
        place
    }

    fn place(place: usize) -> usize {
        place
    }
}

/// Compressed rows with short column numbers.
pub(super) struct ShortRows<C: Column> {
    /// Row `n` has the entries `ends[n]..ends[n + 1]`.
    ends: Vec<C::Place>,
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
        // From the end and bit by bit, so that the memory of one array is given back as that of the other is taken.
        let mut columns = vec![C::default(); indices.len()];
        while !indices.is_empty() {
            let start = indices.len().saturating_sub(STRIDE);
            for (column, &index) in columns[start..].iter_mut().zip(&indices[start..]) {
                *column = C::shorten(index);
            }
            indices.truncate(start);
            indices.shrink_to_fit();
        }
        Self {
            ends: offsets.into_iter().map(C::shorten_place).collect(),
            columns,
            values,
            width,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// Number of columns.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn row(&self, index: usize) -> Row<'_, C> {
        let range = C::place(self.ends[index])..C::place(self.ends[index + 1]);
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
    use memoir::sparse::RowView;

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
        // One column more than 16 bits can tell apart.
        rows.push(RowView {
            indices: &[1 << 16],
            values: &[1.0],
        });
        assert!(!<u16 as Column>::fits(&rows));
        check::<u32>(&rows);
    }
}
