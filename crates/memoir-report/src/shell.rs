//! Commands as one would type them.

/// The words of a command on one line, quoted for a shell where they need it.
pub fn command_line<T: AsRef<str>>(words: &[T]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| quote(word.as_ref())).collect();
    quoted.join(" ")
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_need_quotes_get_them() {
        let words = [
            "memoir",
            "train",
            "my data.csv",
            "--label-separator",
            "|",
            "it's",
            "",
        ];
        assert_eq!(
            command_line(&words),
            r"memoir train 'my data.csv' --label-separator '|' 'it'\''s' ''"
        );
    }
}
