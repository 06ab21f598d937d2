//! Finds relations that lead back to where they began.

/// Removes from `broader` (the broader concepts of each concept) one relation of each cycle, so that none is
/// left. Returns the removed ones as (narrower, broader). Concepts and relations are looked at in their
/// order, so the same ones go every time.
pub(super) fn remove_cycles(broader: &mut [Vec<u32>]) -> Vec<(u32, u32)> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        OnPath,
        Done,
    }
    let mut states = vec![State::New; broader.len()];
    let mut removed = Vec::new();
    // Own stack: a chain of a million concepts must not overflow the thread's.
    let mut path: Vec<(u32, usize)> = Vec::new();
    for root in 0..broader.len() as u32 {
        if states[root as usize] != State::New {
            continue;
        }
        states[root as usize] = State::OnPath;
        path.push((root, 0));
        while let Some((concept, next)) = path.last_mut() {
            let of_concept = &mut broader[*concept as usize];
            let Some(&parent) = of_concept.get(*next) else {
                states[*concept as usize] = State::Done;
                path.pop();
                continue;
            };
            match states[parent as usize] {
                State::OnPath => {
                    removed.push((*concept, parent));
                    of_concept.remove(*next);
                }
                State::Done => *next += 1,
                State::New => {
                    *next += 1;
                    states[parent as usize] = State::OnPath;
                    path.push((parent, 0));
                }
            }
        }
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_relation_of_each_cycle_goes() {
        // 0 -> 1 -> 2 -> 0, 3 -> 3, 4 -> 1.
        let mut broader = vec![vec![1], vec![2], vec![0], vec![3], vec![1]];
        assert_eq!(remove_cycles(&mut broader), [(2, 0), (3, 3)]);
        assert_eq!(broader, [vec![1], vec![2], vec![], vec![], vec![1]]);
        assert!(remove_cycles(&mut broader).is_empty());
    }

    #[test]
    fn long_chains_do_not_overflow_the_stack() {
        let mut broader: Vec<Vec<u32>> = (1..=300_000).map(|next| vec![next % 300_000]).collect();
        assert_eq!(remove_cycles(&mut broader), [(299_999, 0)]);
    }
}
