//! Damage on purpose: edits of a model file's header and arrays, with all checksums made right again, as a
//! hostile writer would.

use std::sync::LazyLock;

use arbitrary::Arbitrary;
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use crate::models::MODELS;

/// One change of a file.
#[derive(Debug, Clone, Arbitrary)]
pub enum Edit {
    /// Some bytes of an array become others.
    Bytes {
        array: u8,
        at: u16,
        bytes: [u8; 4],
        count: u8,
    },
    /// A number at a multiple of its size becomes an extreme one.
    Extreme { array: u8, at: u16, which: u8 },
    /// All of an array becomes one byte.
    Fill { array: u8, byte: u8 },
    /// An array loses or repeats elements at its end.
    Resize { array: u8, elements: i8 },
    /// An array is gone, or has the name of another.
    Rename { array: u8, to: u8 },
    /// A number in the header's texts becomes another.
    Number { text: u8, which: u8, value: i64 },
    /// A part of a text in the header is cut out.
    Cut { text: u8, at: u16, length: u8 },
}

/// The arrays and texts of a file.
#[derive(Clone)]
pub struct Parts {
    texts: Vec<(String, String)>,
    /// Name, type, content.
    arrays: Vec<(String, String, Vec<u8>)>,
}

fn size_of(element: &str) -> usize {
    match element {
        "U64" | "I64" | "F64" => 8,
        "U32" | "I32" | "F32" => 4,
        "U16" | "I16" | "F16" => 2,
        _ => 1,
    }
}

impl Parts {
    /// Takes a sound file apart.
    pub fn of(file: &[u8]) -> Option<Self> {
        let (length, rest) = file.split_first_chunk::<8>()?;
        let length = u64::from_le_bytes(*length) as usize;
        let header: Value = serde_json::from_slice(rest.get(..length)?).ok()?;
        let data = rest.get(length..)?;
        let mut parts = Self {
            texts: Vec::new(),
            arrays: Vec::new(),
        };
        let mut placed = Vec::new();
        for (name, entry) in header.as_object()? {
            if name == "__metadata__" {
                for (name, text) in entry.as_object()? {
                    parts.texts.push((name.clone(), text.as_str()?.to_owned()));
                }
                continue;
            }
            let offset = |index: usize| {
                entry["data_offsets"][index]
                    .as_u64()
                    .map(|offset| offset as usize)
            };
            let content = data.get(offset(0)?..offset(1)?)?.to_vec();
            placed.push((
                offset(0)?,
                (name.clone(), entry["dtype"].as_str()?.to_owned(), content),
            ));
        }
        placed.sort_by_key(|entry| entry.0);
        parts.arrays = placed
            .into_iter()
            .map(|entry| entry.1)
            .filter(|array| array.0 != "checksums")
            .collect();
        Some(parts)
    }

    /// The file again, with sound offsets and checksums.
    fn written(&self) -> Vec<u8> {
        let mut header = serde_json::Map::new();
        let texts = self
            .texts
            .iter()
            .map(|(name, text)| (name.clone(), Value::from(text.as_str())));
        header.insert("__metadata__".to_owned(), Value::Object(texts.collect()));
        let (mut end, mut sums) = (0, Vec::new());
        let size = 8 * (self.arrays.len() + 1);
        let sizes = self
            .arrays
            .iter()
            .map(|(name, element, content)| (name.as_str(), element.as_str(), content.len()));
        for (name, element, size) in sizes.chain([("checksums", "U8", size)]) {
            let entry = serde_json::json!({
                "dtype": element, "shape": [size / size_of(element)], "data_offsets": [end, end + size],
            });
            header.insert(name.to_owned(), entry);
            end += size;
        }
        let mut text = Value::Object(header).to_string();
        while text.len() % 8 != 0 {
            text.push(' ');
        }
        let mut file = (text.len() as u64).to_le_bytes().to_vec();
        file.extend_from_slice(text.as_bytes());
        let of_header = xxh3_64(&file);
        for (_, _, content) in &self.arrays {
            file.extend_from_slice(content);
            sums.extend_from_slice(&xxh3_64(content).to_le_bytes());
        }
        file.extend_from_slice(&sums);
        file.extend_from_slice(&of_header.to_le_bytes());
        file
    }

    fn array(&mut self, number: u8) -> Option<&mut (String, String, Vec<u8>)> {
        let arrays = self.arrays.len().max(1);
        self.arrays.get_mut(usize::from(number) % arrays)
    }

    fn apply(&mut self, edit: &Edit) {
        let arrays = self.arrays.len().max(1);
        match edit {
            Edit::Bytes {
                array: number,
                at,
                bytes,
                count,
            } => {
                if let Some((_, _, content)) = self.array(*number)
                    && !content.is_empty()
                {
                    for (step, byte) in bytes.iter().take(1 + usize::from(count % 4)).enumerate() {
                        let place = (usize::from(*at) + step) % content.len();
                        content[place] = *byte;
                    }
                }
            }
            Edit::Extreme {
                array: number,
                at,
                which,
            } => {
                if let Some((_, element, content)) = self.array(*number) {
                    let size = size_of(element);
                    let numbers = content.len() / size;
                    if numbers > 0 {
                        let bytes: [u8; 8] = match which % 6 {
                            0 => [0; 8],
                            1 => [0xff; 8],
                            2 => u64::MAX.wrapping_shr(1).to_le_bytes(),
                            3 => [0, 0, 0, 0x80, 0, 0, 0, 0x80],
                            4 => [0, 0, 0x80, 0x7f, 0, 0, 0x80, 0x7f],
                            _ => 1u64.to_le_bytes(),
                        };
                        let place = size * (usize::from(*at) % numbers);
                        content[place..place + size].copy_from_slice(&bytes[..size]);
                    }
                }
            }
            Edit::Fill { array: number, byte } => {
                if let Some((_, _, content)) = self.array(*number) {
                    content.fill(*byte);
                }
            }
            Edit::Resize {
                array: number,
                elements,
            } => {
                if let Some((_, element, content)) = self.array(*number) {
                    let change = isize::from(*elements) * size_of(element) as isize;
                    let length = content.len().saturating_add_signed(change);
                    content.resize(length, 0);
                }
            }
            Edit::Rename { array: number, to } => {
                let to = self
                    .arrays
                    .get(usize::from(*to) % arrays)
                    .map(|array| array.0.clone());
                let from = self.arrays.get_mut(usize::from(*number) % arrays);
                if let (Some(to), Some(from)) = (to, from) {
                    from.0 = format!("{to}s");
                }
            }
            Edit::Number { text, which, value } => self.change_number(*text, *which, *value),
            Edit::Cut { text, at, length } => {
                let count = self.texts.len().max(1);
                if let Some((_, text)) = self.texts.get_mut(usize::from(*text) % count) {
                    let characters: Vec<char> = text.chars().collect();
                    let start = usize::from(*at) % (characters.len() + 1);
                    let end = characters.len().min(start + usize::from(*length % 16));
                    *text = characters[..start].iter().chain(&characters[end..]).collect();
                }
            }
        }
    }

    /// Replaces one of the numbers in a text.
    fn change_number(&mut self, text: u8, which: u8, value: i64) {
        let count = self.texts.len().max(1);
        let Some((_, text)) = self.texts.get_mut(usize::from(text) % count) else {
            return;
        };
        let is_part = |byte: u8| byte.is_ascii_digit() || byte == b'.';
        let bytes = text.as_bytes();
        let starts: Vec<usize> = (0..bytes.len())
            .filter(|&at| bytes[at].is_ascii_digit() && (at == 0 || !is_part(bytes[at - 1])))
            .collect();
        let Some(&start) = starts.get(usize::from(which) % starts.len().max(1)) else {
            return;
        };
        let end = (start..bytes.len())
            .find(|&at| !is_part(bytes[at]))
            .unwrap_or(bytes.len());
        let number = match value % 8 {
            0 => value.to_string(),
            1 => "1e39".to_owned(),
            2 => "-1e39".to_owned(),
            3 => u32::MAX.to_string(),
            4 => u64::MAX.to_string(),
            5 => "0".to_owned(),
            6 => "1e-46".to_owned(),
            _ => (value % 100).to_string(),
        };
        text.replace_range(start..end, &number);
    }
}

/// The parts of all models, taken apart once.
pub static PARTS: LazyLock<Vec<Parts>> =
    LazyLock::new(|| MODELS.iter().filter_map(|file| Parts::of(file)).collect());

/// The file of these parts with all edits, and checksums that fit it.
pub fn edited(parts: &Parts, edits: &[Edit]) -> Vec<u8> {
    let mut parts = parts.clone();
    for edit in edits.iter().take(6) {
        parts.apply(edit);
    }
    // Arrays with longer elements first, so that all stay aligned.
    parts
        .arrays
        .sort_by_key(|array| std::cmp::Reverse(size_of(&array.1)));
    parts.written()
}
