//! Memory that is given back while something is taken over from its end.

/// What is left unused at most, as a part of what is used.
pub(crate) const SLACK_SHARE: usize = 32;

/// Frees the memory behind the end of `values` if it is [`SLACK_SHARE`] of what is used or more, but not
/// little: whoever takes values off one by one does not pay for each.
pub(crate) fn give_back<T>(values: &mut Vec<T>) {
    const LITTLE: usize = 1 << 18;
    let spare = (values.capacity() - values.len()) * size_of::<T>();
    if spare >= (size_of_val(&values[..]) / SLACK_SHARE).max(LITTLE) {
        values.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_off_is_freed_and_the_rest_stays() {
        let mut values: Vec<u32> = (0..1 << 20).collect();
        let all = values.capacity();
        values.truncate(all - 100);
        give_back(&mut values);
        assert_eq!(values.capacity(), all, "little is not worth it");
        let mut most_spare = 0;
        while values.len() > 1 << 18 {
            values.truncate(values.len() - 1000);
            give_back(&mut values);
            most_spare = most_spare.max(values.capacity() - values.len());
        }
        assert!(most_spare <= all / SLACK_SHARE + (1 << 16), "{most_spare}");
        assert!(values.iter().copied().eq(0..values.len() as u32));
    }
}
