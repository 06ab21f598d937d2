//! What scorers of this crate share: lists of best classes made complete, and checks of offsets in model
//! files.

use memoir::Scored;

/// Appends classes to `ranked`, lowest number first, until there are `k` or all `classes`: those that a
/// scorer has nothing to say about, all with the same `score`, which is below all there.
pub(crate) fn complete(ranked: &mut Vec<Scored>, k: usize, classes: usize, score: f32) {
    let missing = k.min(classes).saturating_sub(ranked.len());
    if missing == 0 {
        return;
    }
    let known = ranked.len();
    let mut taken: Vec<u32> = ranked.iter().map(|scored| scored.class).collect();
    taken.sort_unstable();
    let mut taken = taken.into_iter().peekable();
    for class in 0..classes as u32 {
        if taken.next_if_eq(&class).is_some() {
            continue;
        }
        ranked.push(Scored { class, score });
        if ranked.len() == known + missing {
            break;
        }
    }
}

/// Whether `offsets` cut an array of `length` elements into one part for each of `parts` owners.
pub(crate) fn check_offsets(
    (name, offsets): (&str, &[u64]),
    parts: usize,
    (array, length): (&str, usize),
) -> Result<(), String> {
    if Some(offsets.len()) != parts.checked_add(1) {
        return Err(format!(
            "`{name}` has {} elements where {parts} parts need one more than that",
            offsets.len()
        ));
    }
    if offsets.first() != Some(&0) || offsets.last() != Some(&(length as u64)) {
        return Err(format!(
            "`{name}` must start at 0 and end at {length}, the length of `{array}`"
        ));
    }
    if !offsets.is_sorted() {
        return Err(format!("`{name}` must never decrease"));
    }
    Ok(())
}

/// Whether every class number in `array` is below `classes`.
pub(crate) fn check_classes((name, array): (&str, &[u32]), classes: usize) -> Result<(), String> {
    match array.iter().find(|&&class| class as usize >= classes) {
        Some(class) => Err(format!(
            "`{name}` names class {class}, but there are {classes} classes"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_classes_follow_in_order() {
        let scored = |class, score| Scored { class, score };
        let mut ranked = vec![scored(1, 0.9), scored(0, 0.5)];
        complete(&mut ranked, 1, 5, 0.0);
        assert_eq!(ranked.len(), 2);
        complete(&mut ranked, 4, 5, 0.0);
        assert_eq!(ranked[2..], [scored(2, 0.0), scored(3, 0.0)]);
        complete(&mut ranked, 99, 5, 0.0);
        assert_eq!(ranked[4..], [scored(4, 0.0)]);
    }

    #[test]
    fn offsets_must_cut_the_whole_array() {
        let check = |offsets: &[u64]| check_offsets(("o", offsets), 2, ("a", 5));
        assert_eq!(check(&[0, 3, 5]), Ok(()));
        assert!(check(&[0, 5]).unwrap_err().contains("2 elements"));
        assert!(check(&[0, 3, 4]).unwrap_err().contains("end at 5"));
        assert!(check(&[0, 9, 5]).unwrap_err().contains("never decrease"));
    }
}
