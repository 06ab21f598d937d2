//! Codes of signs: their distances, and tables of the classes that share a part of a code.

/// Packs signs into 64-bit words, the first into the lowest bit of the first.
pub(super) fn pack(signs: impl Iterator<Item = bool>, code: &mut Vec<u64>) {
    code.clear();
    for (bit, sign) in signs.enumerate() {
        if bit % 64 == 0 {
            code.push(0);
        }
        if let Some(word) = code.last_mut() {
            *word |= u64::from(sign) << (bit % 64);
        }
    }
}

/// `count` bits of a code from bit `start` on.
fn part(code: &[u64], start: usize, count: usize) -> usize {
    let (word, shift) = (start / 64, start % 64);
    let low = code[word] >> shift;
    let high = if shift + count > 64 {
        code[word + 1] << (64 - shift)
    } else {
        0
    };
    ((low | high) & ((1 << count) - 1)) as usize
}

/// The code of each class; classes may be absent.
#[derive(Debug, Clone, Default)]
pub(super) struct Codes {
    words: usize,
    all: Vec<u64>,
    is_present: Vec<bool>,
    spare: Vec<u64>,
}

impl Codes {
    pub(super) fn new(classes: usize, bits: usize) -> Self {
        let words = bits.div_ceil(64);
        Self {
            words,
            all: vec![0; classes * words],
            is_present: vec![false; classes],
            spare: Vec::new(),
        }
    }

    pub(super) fn classes(&self) -> usize {
        self.is_present.len()
    }

    pub(super) fn of(&self, class: u32) -> Option<&[u64]> {
        let start = class as usize * self.words;
        self.is_present[class as usize].then(|| &self.all[start..start + self.words])
    }

    pub(super) fn set(&mut self, class: u32, is_present: bool, signs: impl Iterator<Item = bool>) {
        let mut spare = std::mem::take(&mut self.spare);
        pack(signs, &mut spare);
        let start = class as usize * self.words;
        self.all[start..start + self.words].copy_from_slice(&spare);
        self.is_present[class as usize] = is_present;
        self.spare = spare;
    }

    /// Appends the `count` classes whose codes differ from `code` in the fewest bits; of equals, the lower numbers.
    pub(super) fn nearest(&self, code: &[u64], count: usize, distances: &mut Vec<u16>, out: &mut Vec<u32>) {
        const ABSENT: u16 = u16::MAX;
        let mut histogram = vec![0usize; 64 * self.words + 1];
        distances.clear();
        for (class, is_present) in self.is_present.iter().enumerate() {
            let own = &self.all[class * self.words..(class + 1) * self.words];
            let differing: u32 = own.iter().zip(code).map(|(a, b)| (a ^ b).count_ones()).sum();
            distances.push(if *is_present { differing as u16 } else { ABSENT });
            histogram[differing as usize] += usize::from(*is_present);
        }
        let (mut nearer, mut cut) = (0, 0);
        while cut + 1 < histogram.len() && nearer + histogram[cut] < count {
            nearer += histogram[cut];
            cut += 1;
        }
        let mut at_cut = count.saturating_sub(nearer);
        for (class, &distance) in distances.iter().enumerate() {
            let is_taken = match usize::from(distance).cmp(&cut) {
                std::cmp::Ordering::Less => true,
                std::cmp::Ordering::Equal if at_cut > 0 => {
                    at_cut -= 1;
                    true
                }
                _ => false,
            };
            if is_taken && distance != ABSENT {
                out.push(class as u32);
            }
        }
    }
}

/// For each part of the codes, the classes by the value of that part.
#[derive(Debug, Clone, Default)]
pub(super) struct Tables {
    key_bits: usize,
    /// Buckets of the first table, then of the next.
    buckets: Vec<Vec<u32>>,
}

impl Tables {
    pub(super) fn new(bits: usize, key_bits: usize) -> Self {
        let key_bits = key_bits.clamp(1, bits);
        Self {
            key_bits,
            buckets: vec![Vec::new(); (bits / key_bits) << key_bits],
        }
    }

    fn tables(&self) -> usize {
        self.buckets.len() >> self.key_bits
    }

    fn bucket(&self, table: usize, code: &[u64]) -> usize {
        (table << self.key_bits) + part(code, table * self.key_bits, self.key_bits)
    }

    pub(super) fn remove(&mut self, class: u32, codes: &Codes) {
        if let Some(code) = codes.of(class) {
            for table in 0..self.tables() {
                let bucket = self.bucket(table, code);
                self.buckets[bucket].retain(|&other| other != class);
            }
        }
    }

    pub(super) fn insert(&mut self, class: u32, codes: &Codes) {
        if let Some(code) = codes.of(class) {
            for table in 0..self.tables() {
                let bucket = self.bucket(table, code);
                self.buckets[bucket].push(class);
            }
        }
    }

    /// Appends, sorted, the classes that share a part with `code`, as it is or with one of its `probes` signs flipped
    /// that are least certain: whose `components` are nearest to 0.
    pub(super) fn near(&self, code: &[u64], components: &[f32], probes: usize, out: &mut Vec<u32>) {
        let mut uncertain: Vec<usize> = Vec::with_capacity(self.key_bits);
        for table in 0..self.tables() {
            let bucket = self.bucket(table, code);
            out.extend_from_slice(&self.buckets[bucket]);
            let along = &components[table * self.key_bits..(table + 1) * self.key_bits];
            uncertain.clear();
            uncertain.extend(0..self.key_bits);
            uncertain.sort_by(|&a, &b| along[a].abs().total_cmp(&along[b].abs()));
            for &bit in uncertain.iter().take(probes) {
                out.extend_from_slice(&self.buckets[bucket ^ (1 << bit)]);
            }
        }
        out.sort_unstable();
        out.dedup();
    }
}
