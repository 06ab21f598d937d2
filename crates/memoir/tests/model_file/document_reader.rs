//! An independent reader that follows `docs/model-file.md` and nothing else, to keep the document honest.

use std::collections::BTreeMap;

use memoir::maths;

use super::*;

/// A model file as the document describes it.
pub(super) struct Reader {
    pub(super) texts: BTreeMap<String, String>,
    arrays: BTreeMap<String, (String, Vec<u8>)>,
}

impl Reader {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let header_size = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        assert_eq!((8 + header_size) % 8, 0);
        let data = &bytes[8 + header_size..];
        let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + header_size]).unwrap();
        let mut texts = BTreeMap::new();
        let mut entries = Vec::new();
        for (name, value) in header.as_object().unwrap() {
            if name == "__metadata__" {
                for (key, text) in value.as_object().unwrap() {
                    texts.insert(key.clone(), text.as_str().unwrap().to_owned());
                }
            } else {
                let number = |value: &serde_json::Value| value.as_u64().unwrap() as usize;
                let range = number(&value["data_offsets"][0])..number(&value["data_offsets"][1]);
                let dtype = value["dtype"].as_str().unwrap().to_owned();
                let length = number(&value["shape"][0]);
                entries.push((range, name.clone(), dtype, length));
            }
        }
        entries.sort_by_key(|(range, ..)| (range.start, range.end));
        let mut expected_start = 0;
        let mut last_size = 8;
        let mut sums = Vec::new();
        let mut arrays = BTreeMap::new();
        for (range, name, dtype, length) in entries {
            let size = match dtype.as_str() {
                "U64" => 8,
                "U32" | "F32" => 4,
                "U16" | "I16" | "F16" => 2,
                "U8" => 1,
                other => panic!("the document does not know {other}"),
            };
            assert_eq!(range.start, expected_start);
            assert_eq!(range.len(), size * length);
            assert!(size <= last_size, "long elements come first");
            assert_eq!(
                (8 + header_size + range.start) % size,
                0,
                "every array is aligned"
            );
            expected_start = range.end;
            last_size = size;
            sums.push(xxh3_64(&data[range.clone()]));
            arrays.insert(name, (dtype, data[range].to_vec()));
        }
        assert_eq!(expected_start, data.len());
        let (dtype, checksums) = arrays.remove("checksums").unwrap();
        assert_eq!(dtype, "U8");
        assert_eq!(&data[data.len() - checksums.len()..], checksums);
        *sums.last_mut().unwrap() = xxh3_64(&bytes[..8 + header_size]);
        let stored: Vec<u64> = checksums
            .chunks(8)
            .map(|sum| u64::from_le_bytes(sum.try_into().unwrap()))
            .collect();
        assert_eq!(stored, sums);
        Self { texts, arrays }
    }

    fn bytes(&self, name: &str, dtype: &str) -> &[u8] {
        let (found, bytes) = &self.arrays[name];
        assert_eq!(found, dtype);
        bytes
    }

    fn u64(&self, name: &str) -> Vec<u64> {
        let chunks = self.bytes(name, "U64").chunks(8);
        chunks
            .map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()))
            .collect()
    }

    pub(super) fn u32(&self, name: &str) -> Vec<u32> {
        let chunks = self.bytes(name, "U32").chunks(4);
        chunks
            .map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
            .collect()
    }

    fn f32(&self, name: &str) -> Vec<f32> {
        let chunks = self.bytes(name, "F32").chunks(4);
        chunks
            .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
            .collect()
    }

    pub(super) fn names(&self, names: &str, ends: &str) -> Vec<String> {
        let text = std::str::from_utf8(self.bytes(names, "U8")).unwrap();
        let ends = self.u64(ends);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts
            .zip(&ends)
            .map(|(start, &end)| text[start as usize..end as usize].to_owned())
            .collect()
    }

    pub(super) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.texts[name]).unwrap()
    }

    /// The words of a text model in a text of words that the document's rules leave as they are.
    pub(super) fn counts(&self, text: &str) -> BTreeMap<usize, f32> {
        let names = self.names("text.names", "text.ends");
        let slots = self.u32("text.slots");
        let mut counts = BTreeMap::new();
        for word in text.split(' ') {
            let mut slot = xxh3_64(word.as_bytes()) as usize % slots.len();
            while slots[slot] != u32::MAX {
                let feature = slots[slot] as usize;
                if names[feature] == word {
                    *counts.entry(feature).or_insert(0.0) += 1.0;
                    break;
                }
                slot = (slot + 1) % slots.len();
            }
        }
        counts
    }

    /// The weighted row of a row of counts.
    fn weighted(&self, counts: &BTreeMap<usize, f32>) -> Vec<(usize, f32)> {
        let preprocessing = self.json("preprocessing");
        assert_eq!(preprocessing["weighting"], "log-tf-idf");
        let weights = self.f32("weighting.feature_weights");
        let mut row: Vec<(usize, f32)> = counts
            .iter()
            .map(|(&feature, count)| (feature, (1.0 + maths::ln(*count)) * weights[feature]))
            .collect();
        let squares = row.iter().map(|(_, value)| f64::from(*value) * f64::from(*value));
        let norm = squares.sum::<f64>().sqrt();
        let power = preprocessing["length_power"].as_f64().unwrap();
        let mean = preprocessing["mean_length"].as_f64().unwrap();
        let divisor = maths::powf(norm, power) * maths::powf(mean, 1.0 - power);
        for (_, value) in &mut row {
            *value = (f64::from(*value) / divisor) as f32;
        }
        row
    }

    /// Scores of all classes for a row of counts, by fixed-point weights.
    pub(super) fn fixed_scores(&self, counts: &BTreeMap<usize, f32>) -> Vec<f32> {
        let row = self.weighted(counts);
        let sum: f64 = row.iter().map(|(_, value)| f64::from(value.abs())).sum();
        let largest = row
            .iter()
            .fold(0f32, |largest, (_, value)| largest.max(value.abs()));
        let room = 65_500.0 - row.len() as f64 / 2.0;
        let scale = (32_767.0 / f64::from(largest)).min(room / sum) as f32;
        let offsets = self.u64("weights.offsets");
        let narrow = self.arrays["weights.postings"].0 == "U32";
        let postings: Vec<(usize, i32)> = if narrow {
            let words = self.u32("weights.postings").into_iter();
            words
                .map(|word| ((word >> 16) as usize, i32::from(word as i16)))
                .collect()
        } else {
            let halves = self.bytes("weights.postings", "U16").chunks(2);
            let halves: Vec<u16> = halves
                .map(|half| u16::from_le_bytes(half.try_into().unwrap()))
                .collect();
            let postings = halves.chunks(3);
            postings
                .map(|p| {
                    (
                        usize::from(p[1]) | usize::from(p[2]) << 16,
                        i32::from(p[0] as i16),
                    )
                })
                .collect()
        };
        let mut sums = vec![0i32; self.texts["classes"].parse().unwrap()];
        for (feature, value) in row {
            let value = (value * scale).round() as i32;
            for (class, weight) in &postings[offsets[feature] as usize..offsets[feature + 1] as usize] {
                sums[*class] += value * weight;
            }
        }
        let unit = 1.0 / (scale * 1024.0);
        sums.into_iter().map(|sum| sum as f32 * unit).collect()
    }

    /// Scores of all classes for a row of counts, by dense weights of reduced rows.
    pub(super) fn reduced_scores(&self, counts: &BTreeMap<usize, f32>) -> Vec<f32> {
        let dimensions = self.u32("reduction.dimensions")[0] as usize;
        let factors = self.f32("reduction.factors");
        let whole: Vec<i16> = self
            .bytes("reduction.values", "I16")
            .chunks(2)
            .map(|value| i16::from_le_bytes(value.try_into().unwrap()))
            .collect();
        let mut reduced = vec![0f32; dimensions];
        for (feature, value) in self.weighted(counts) {
            let factor = value * factors[feature];
            for (sum, &whole) in reduced.iter_mut().zip(&whole[feature * dimensions..]) {
                *sum += factor * f32::from(whole);
            }
        }
        let weights = self.f32("weights.values");
        let score = |weights: &[f32]| {
            let mut lanes = [0f32; 16];
            for (dimension, (value, weight)) in reduced.iter().zip(weights).enumerate() {
                lanes[dimension % 16] += weight * value;
            }
            for half in [8, 4, 2, 1] {
                for lane in 0..half {
                    lanes[lane] += lanes[lane + half];
                }
            }
            lanes[0]
        };
        weights.chunks(dimensions).map(score).collect()
    }

    /// The postings of a feature in packed form: classes with their weights.
    fn packed_row(&self, feature: usize) -> Vec<(usize, i32)> {
        let offsets = self.u32("packed.offsets");
        let bits = self.bytes("packed.bits", "U8")[0];
        let all = self.bytes("packed.postings", "U8");
        let mut bytes = all[offsets[feature] as usize..offsets[feature + 1] as usize]
            .iter()
            .copied();
        let number = |bytes: &mut dyn Iterator<Item = u8>| -> Option<usize> {
            let first = usize::from(bytes.next()?);
            if first < 0x80 {
                return Some(first);
            }
            let second = usize::from(bytes.next()?);
            if first == 0xff && second == 0xff {
                let four: Vec<u8> = bytes.take(4).collect();
                return Some(u32::from_le_bytes(four.try_into().unwrap()) as usize);
            }
            Some((first & 0x7f) << 8 | second)
        };
        let factor = if bits == 8 {
            number(&mut bytes).unwrap_or(0) as i32
        } else {
            1
        };
        let (mut postings, mut next) = (Vec::new(), 0);
        while let Some(passed) = number(&mut bytes) {
            let weight = if bits == 8 {
                i32::from(bytes.next().unwrap() as i8) * factor
            } else {
                i32::from(i16::from_le_bytes([bytes.next().unwrap(), bytes.next().unwrap()]))
            };
            postings.push((next + passed, weight.clamp(-32_767, 32_767)));
            next += passed + 1;
        }
        postings
    }

    /// Scores of all classes for a row of counts, by packed weights.
    pub(super) fn packed_scores(&self, counts: &BTreeMap<usize, f32>) -> Vec<f32> {
        let row = self.weighted(counts);
        let sum: f64 = row.iter().map(|(_, value)| f64::from(value.abs())).sum();
        let largest = row
            .iter()
            .fold(0f32, |largest, (_, value)| largest.max(value.abs()));
        let scale = (32_767.0 / f64::from(largest)).min((65_500.0 - row.len() as f64 / 2.0) / sum) as f32;
        let mut sums = vec![0i32; self.texts["classes"].parse().unwrap()];
        for (feature, value) in row {
            for (class, weight) in self.packed_row(feature) {
                sums[class] += (value * scale).round() as i32 * weight;
            }
        }
        let unit = 1.0 / (scale * self.f32("packed.units")[0]);
        sums.into_iter().map(|sum| sum as f32 * unit).collect()
    }

    /// Scores of all classes for a row of counts, by linear weights.
    pub(super) fn linear_scores(&self, counts: &BTreeMap<usize, f32>) -> Vec<f32> {
        let row = self.weighted(counts);
        let offsets = self.u64("weights.offsets");
        let ids: Vec<usize> = self
            .bytes("weights.classes", "U16")
            .chunks(2)
            .map(|id| usize::from(u16::from_le_bytes(id.try_into().unwrap())))
            .collect();
        let values: Vec<f32> = match self.arrays["weights.values"].0.as_str() {
            "F32" => self.f32("weights.values"),
            _ => self
                .bytes("weights.values", "F16")
                .chunks(2)
                .map(|value| half::f16::from_le_bytes(value.try_into().unwrap()).to_f32())
                .collect(),
        };
        let mut scores = self.f32("weights.bias");
        for (feature, value) in row {
            for posting in offsets[feature] as usize..offsets[feature + 1] as usize {
                scores[ids[posting]] += value * values[posting];
            }
        }
        scores
    }
}
