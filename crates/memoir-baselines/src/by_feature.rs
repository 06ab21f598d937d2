//! From the weights of each class to the weights of each feature, which is how a scorer keeps them.

use memoir::model::{Linear, LinearBuilder, Precision};
use memoir::{Result, Session};

/// Weights of one class: features in increasing order.
pub(crate) type ClassWeights = Vec<(u32, f32)>;

/// Weights that are brought together at a time.
const PANEL: usize = 1 << 16;

/// Puts the weights of all classes together, feature by feature.
pub(crate) fn linear(classes: &[ClassWeights], features: usize, session: &Session<'_>) -> Result<Linear> {
    let mut counts = vec![0usize; features];
    for &(feature, _) in classes.iter().flatten() {
        counts[feature as usize] += 1;
    }
    let mut builder = LinearBuilder::new(classes.len());
    builder.reserve(counts.iter().sum());
    let mut cursors = vec![0usize; classes.len()];
    let mut panel = Vec::new();
    let mut slots = Vec::new();
    let mut first = 0;
    while first < features {
        session.check()?;
        let mut end = first;
        let mut size = 0;
        slots.clear();
        while end < features && (size == 0 || size + counts[end] <= PANEL) {
            slots.push(size);
            size += counts[end];
            end += 1;
        }
        panel.clear();
        panel.resize(size, (0u32, 0f32));
        for (class, (weights, cursor)) in classes.iter().zip(&mut cursors).enumerate() {
            while let Some(&(feature, weight)) = weights.get(*cursor)
                && (feature as usize) < end
            {
                let slot = &mut slots[feature as usize - first];
                panel[*slot] = (class as u32, weight);
                *slot += 1;
                *cursor += 1;
            }
        }
        let mut start = 0;
        for &slot in &slots {
            builder.push_feature(panel[start..slot].iter().copied());
            start = slot;
        }
        first = end;
    }
    Ok(builder.finish(Precision::F32))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use memoir::model::Scorer;

    use super::*;

    #[test]
    fn every_weight_arrives_at_its_place() {
        let features = 700;
        let classes: Vec<ClassWeights> = (0..900u32)
            .map(|class| {
                let owned = (0..features as u32).filter(|feature| (feature * 7 + class) % 3 != 0);
                owned
                    .map(|feature| (feature, (feature * 1000 + class + 1) as f32))
                    .collect()
            })
            .collect();
        assert!(classes.iter().map(Vec::len).sum::<usize>() > PANEL);
        let session = Session::new(NonZeroUsize::MIN).unwrap();
        let linear = linear(&classes, features, &session).unwrap();
        assert_eq!((linear.classes(), linear.features()), (900, features));
        for (class, weights) in classes.iter().enumerate().step_by(53) {
            assert_eq!(&linear.class_weights(class as u32).unwrap(), weights);
        }
    }

    #[test]
    fn no_weights_at_all() {
        let session = Session::new(NonZeroUsize::MIN).unwrap();
        let linear = linear(&[Vec::new(), Vec::new()], 3, &session).unwrap();
        assert_eq!(
            (linear.classes(), linear.features(), linear.stored_weights()),
            (2, 3, 0)
        );
    }
}
