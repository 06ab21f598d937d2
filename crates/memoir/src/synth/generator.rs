//! Rows in blocks, made in parallel and written in order.

use std::io::{self, Write};
use std::path::Path;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::laws::class_sizes;
use super::params::{Format, SynthParams};
use super::row::{RowLaw, SIBLINGS};
use super::words::{push_class_name, push_word};
use crate::{Error, Result, Session};

/// Rows that share a random generator. Part of what a seed means: another number gives other data.
const BLOCK_ROWS: u64 = 512;

/// Two parts of the same distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Rows whose class sizes are exactly those asked for.
    Train,
    /// Further rows, whose classes are drawn in proportion to the sizes.
    Test,
}

/// Makes data of one shape and seed.
pub struct Generator {
    params: SynthParams,
    seed: u64,
    rows: RowLaw,
    /// Class of each row of the train part.
    classes: Vec<u32>,
    /// Feature numbers are `rank * factor + offset`, modulo the number of features: frequent ones lie
    /// anywhere.
    factor: u64,
    offset: u64,
}

impl Generator {
    /// A generator with the seed of `session`.
    pub fn new(params: SynthParams, session: &Session<'_>) -> Self {
        let mut random = session.random("synth");
        let mut numbers: Vec<u32> = (0..params.classes).collect();
        numbers.shuffle(&mut random);
        let sizes = class_sizes(params.rows, params.classes, params.class_exponent);
        let mut classes = Vec::with_capacity(params.rows as usize);
        for (&class, &size) in numbers.iter().zip(&sizes) {
            classes.extend(std::iter::repeat_n(class, size as usize));
        }
        classes.shuffle(&mut random);
        let features = u64::from(params.features);
        let factor = loop {
            let factor = random.random_range(1..=features);
            if greatest_common_divisor(factor, features) == 1 {
                break factor;
            }
        };
        let seed = random.random();
        Self {
            seed,
            rows: RowLaw::new(&params, seed),
            classes,
            factor,
            offset: random.random_range(0..features),
            params,
        }
    }

    /// Writes `part` to `out`; `name` is what errors call it.
    pub fn write(&self, part: Part, out: &mut impl Write, name: &Path, session: &Session<'_>) -> Result<()> {
        let failed = |reason: io::Error| Error::io(name, "cannot write", reason);
        let rows = match part {
            Part::Train => self.params.rows,
            Part::Test => self.params.test_rows,
        };
        if self.params.format == Format::Csv {
            out.write_all(b"text,label\n").map_err(failed)?;
        }
        let blocks = rows.div_ceil(BLOCK_ROWS);
        // A few blocks for each thread at a time: memory stays small, threads stay busy.
        let at_once = 4 * session.threads() as u64;
        for first in (0..blocks).step_by(at_once as usize) {
            session.check()?;
            let last = (first + at_once).min(blocks);
            let texts: Vec<Vec<u8>> = session.run(|| {
                (first..last)
                    .into_par_iter()
                    .map(|block| self.block(part, rows, block))
                    .collect()
            });
            for text in texts {
                out.write_all(&text).map_err(failed)?;
            }
            session.progress("generating", (last * BLOCK_ROWS).min(rows), rows, "rows");
        }
        out.flush().map_err(failed)
    }

    /// The text of one block of rows.
    fn block(&self, part: Part, rows: u64, block: u64) -> Vec<u8> {
        let key = block * 2 + u64::from(part == Part::Test);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(xxh3_64_with_seed(&key.to_le_bytes(), self.seed));
        let mut out = Vec::new();
        let (mut draws, mut counts) = (Vec::new(), Vec::new());
        for row in block * BLOCK_ROWS..((block + 1) * BLOCK_ROWS).min(rows) {
            let class = match part {
                Part::Train => self.classes[row as usize],
                Part::Test => self.any_class(&mut random),
            };
            let topic = if random.random::<f64>() < self.params.label_noise {
                self.any_class(&mut random)
            } else {
                class
            };
            self.rows.draw(topic, &mut random, &mut draws, &mut counts);
            match self.params.format {
                Format::Libsvm => self.push_libsvm(class, &mut counts, &mut out),
                Format::Csv => push_csv(class, &draws, &mut out),
            }
        }
        out
    }

    fn any_class(&self, random: &mut Xoshiro256PlusPlus) -> u32 {
        self.classes[random.random_range(0..self.classes.len())]
    }

    fn push_libsvm(&self, class: u32, counts: &mut [(u32, u32)], out: &mut Vec<u8>) {
        for (feature, _) in counts.iter_mut() {
            let scattered =
                (u64::from(*feature) * self.factor + self.offset) % u64::from(self.params.features);
            *feature = scattered as u32 + 1;
        }
        counts.sort_unstable();
        push_number(class + 1, out);
        for &(feature, count) in counts.iter() {
            out.push(b' ');
            push_number(feature, out);
            out.push(b':');
            push_number(count, out);
        }
        out.push(b'\n');
    }
}

fn push_csv(class: u32, draws: &[u32], out: &mut Vec<u8>) {
    for (index, &rank) in draws.iter().enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        push_word(rank, out);
    }
    out.push(b',');
    push_class_name(class, class / SIBLINGS, out);
    out.push(b'\n');
}

/// Appends `number` in decimal digits.
fn push_number(mut number: u32, out: &mut Vec<u8>) {
    let start = out.len();
    loop {
        out.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out[start..].reverse();
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}
