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

/// Appends in how many bits each of the codes in `all` differs from `code`.
fn differences(all: &[u64], code: &[u64], out: &mut Vec<u16>) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("popcnt") {
        #[allow(unsafe_code)]
        // SAFETY: the function needs nothing but the instruction that was detected.
        return unsafe { differences_popcnt(all, code, out) };
    }
    differences_plain(all, code, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn differences_popcnt(all: &[u64], code: &[u64], out: &mut Vec<u16>) {
    differences_plain(all, code, out);
}

// A plain function must become part of its caller to be compiled for the same machine.
#[allow(clippy::inline_always)]
#[inline(always)]
fn differences_plain(all: &[u64], code: &[u64], out: &mut Vec<u16>) {
    if let [code] = code {
        out.extend(all.iter().map(|own| (own ^ code).count_ones() as u16));
    } else {
        out.extend(all.chunks_exact(code.len().max(1)).map(|own| {
            let differing = own.iter().zip(code).map(|(a, b)| (a ^ b).count_ones() as u16);
            differing.sum::<u16>()
        }));
    }
}

/// The code of each class; classes may be absent.
#[derive(Debug, Clone, Default)]
pub(super) struct Codes {
    words: usize,
    all: Vec<u64>,
    is_present: Vec<bool>,
    absent: usize,
    spare: Vec<u64>,
}

impl Codes {
    pub(super) fn new(classes: usize, bits: usize) -> Self {
        let words = bits.div_ceil(64);
        Self {
            words,
            all: vec![0; classes * words],
            is_present: vec![false; classes],
            absent: classes,
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
        let was_present = std::mem::replace(&mut self.is_present[class as usize], is_present);
        self.absent = self.absent + usize::from(was_present) - usize::from(is_present);
        self.spare = spare;
    }

    /// Appends the `count` classes whose codes differ from `code` in the fewest bits; of equals, the lower
    /// numbers.
    pub(super) fn nearest(&self, code: &[u64], count: usize, distances: &mut Vec<u16>, out: &mut Vec<u32>) {
        const ABSENT: u16 = u16::MAX;
        distances.clear();
        differences(&self.all, code, distances);
        if self.absent > 0 {
            for (distance, is_present) in distances.iter_mut().zip(&self.is_present) {
                if !is_present {
                    *distance = ABSENT;
                }
            }
        }
        let mut histogram = vec![0usize; 64 * self.words + 1];
        for &distance in distances.iter() {
            if let Some(classes) = histogram.get_mut(usize::from(distance)) {
                *classes += 1;
            }
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

    /// Appends, sorted, the classes that share a part with `code`, as it is or with one of its `probes`
    /// signs flipped that are least certain: whose `components` are nearest to 0.
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
