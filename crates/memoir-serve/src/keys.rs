//! Who may do what: keys for reading and for teaching, compared in constant time.

use std::fmt;

use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

/// Longest key. Keys are compared as arrays of this length, so that time says nothing of their own.
const LONGEST: usize = 128;

/// Shortest key: what is shorter can be guessed.
const SHORTEST: usize = 16;

/// What a key allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// Predict, explain, search, read metrics.
    Read,
    /// Also give feedback, train, reload and roll back.
    Teach,
}

#[derive(Clone)]
struct Key {
    role: Role,
    name: String,
    padded: [u8; LONGEST],
}

/// Whom a key belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) role: Role,
    pub(crate) name: String,
}

/// The keys of a service.
#[derive(Clone)]
pub struct Keys(Vec<Key>);

impl fmt::Debug for Keys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} keys", self.0.len())
    }
}

impl Keys {
    /// Reads the text of a key file: a line `read NAME KEY` or `teach NAME KEY` for each key; empty lines
    /// and lines that start with `#` are left out.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut keys: Vec<Key> = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            let words: Vec<&str> = line.split_whitespace().collect();
            if words.is_empty() || line.trim_start().starts_with('#') {
                continue;
            }
            let [role, name, key] = words[..] else {
                return Err(format!(
                    "line {number}: expected `read NAME KEY` or `teach NAME KEY`, found {} words",
                    words.len()
                ));
            };
            let role = match role {
                "read" => Role::Read,
                "teach" => Role::Teach,
                other => {
                    return Err(format!(
                        "line {number}: expected `read` or `teach`, found `{other}`"
                    ));
                }
            };
            if !(SHORTEST..=LONGEST).contains(&key.len()) {
                return Err(format!(
                    "line {number}: a key has {SHORTEST} to {LONGEST} bytes, but this one has {}",
                    key.len()
                ));
            }
            let padded = pad(key.as_bytes());
            if keys.iter().any(|other| other.padded == padded) {
                return Err(format!("line {number}: this key is given twice"));
            }
            keys.push(Key {
                role,
                name: name.to_owned(),
                padded,
            });
        }
        if keys.is_empty() {
            return Err(
                "there is no key in it: expected lines `read NAME KEY` or `teach NAME KEY`".to_owned(),
            );
        }
        Ok(Self(keys))
    }

    /// Whom `key` belongs to, if anybody. Takes the same time whichever key it is, or nearly is.
    pub(crate) fn find(&self, key: &[u8]) -> Option<Holder> {
        let given = pad(key);
        let fits = Choice::from(u8::from(key.len() <= LONGEST));
        let mut found = u32::MAX;
        for (key, index) in self.0.iter().zip(0u32..) {
            found.conditional_assign(&index, key.padded.ct_eq(&given) & fits);
        }
        self.0.get(found as usize).map(|key| Holder {
            role: key.role,
            name: key.name.clone(),
        })
    }
}

/// Keys hold no blanks or zeros, so that padding makes no two alike.
fn pad(key: &[u8]) -> [u8; LONGEST] {
    let mut padded = [0; LONGEST];
    let length = key.len().min(LONGEST);
    padded[..length].copy_from_slice(&key[..length]);
    padded
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# who\nread page 0123456789abcdef\n\nteach anna fedcba9876543210\n";

    #[test]
    fn keys_are_found_whole_only() {
        let keys = Keys::parse(FILE).unwrap();
        let anna = keys.find(b"fedcba9876543210").unwrap();
        assert_eq!((anna.role, anna.name.as_str()), (Role::Teach, "anna"));
        assert_eq!(keys.find(b"0123456789abcdef").unwrap().role, Role::Read);
        for wrong in [&b""[..], b"0123456789abcde", b"0123456789abcdefg", &[b'0'; 500]] {
            assert_eq!(keys.find(wrong), None);
        }
    }

    #[test]
    fn bad_files_are_refused_with_the_line() {
        for (file, message) in [
            ("", "no key"),
            ("write x 0123456789abcdef", "line 1: expected `read` or `teach`"),
            ("\nread 0123456789abcdef", "line 2: expected `read NAME KEY`"),
            (
                "read x short",
                "line 1: a key has 16 to 128 bytes, but this one has 5",
            ),
            (
                "read x 0123456789abcdef\nread y 0123456789abcdef",
                "line 2: this key is given twice",
            ),
        ] {
            let error = Keys::parse(file).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn keys_are_not_printed() {
        assert!(!format!("{:?}", Keys::parse(FILE).unwrap()).contains("0123"));
    }
}
