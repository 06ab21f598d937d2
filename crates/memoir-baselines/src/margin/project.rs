//! The nearest legal dual variables of one row: a small quadratic problem, solved exactly.

/// Steps that always suffice: each ends in another linear piece, and there are no more pieces than
/// variables.
const STEPS: usize = 1000;

/// Moves both lists to the nearest point at which no number is negative and both have the same sum, at most
/// `limit`.
///
/// With multipliers `m` (equal sums) and `s >= 0` (the limit) the solution is `max(0, negative - m - s)` and
/// `max(0, positive + m)`; the sums are monotone in them and linear between kinks, so Newton's method ends
/// exactly.
pub(super) fn project(negatives: &mut [f64], positives: &mut [f64], limit: f64) {
    let highest_negative = largest(negatives);
    let highest_positive = largest(positives);
    if highest_negative + highest_positive <= 0.0 || limit <= 0.0 {
        negatives.fill(0.0);
        positives.fill(0.0);
        return;
    }
    let shift = balance(negatives, positives, -highest_positive, highest_negative);
    let (sum, _) = excess(negatives, shift);
    if sum <= limit {
        cut(negatives, shift);
        cut(positives, -shift);
    } else {
        cut(negatives, shift_to_sum(negatives, highest_negative, limit));
        cut(positives, shift_to_sum(positives, highest_positive, limit));
    }
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn cut(numbers: &mut [f64], shift: f64) {
    for number in numbers {
        *number = (*number - shift).max(0.0);
    }
}

/// The sum of what lies above `shift`, and how many numbers do.
fn excess(numbers: &[f64], shift: f64) -> (f64, f64) {
    let mut sum = 0.0;
    let mut count = 0.0;
    for &number in numbers {
        if number > shift {
            sum += number - shift;
            count += 1.0;
        }
    }
    (sum, count)
}

/// Where negatives shifted down and positives shifted up have the same sum; it lies between `low` and
/// `high`.
fn balance(negatives: &[f64], positives: &[f64], mut low: f64, mut high: f64) -> f64 {
    let mut shift = f64::midpoint(low, high);
    for _ in 0..STEPS {
        let (down, above) = excess(negatives, shift);
        let (up, below) = excess(positives, -shift);
        let difference = down - up;
        if difference > 0.0 {
            low = shift;
        } else {
            high = shift;
        }
        let newton = shift + difference / (above + below).max(1.0);
        let next = if newton >= low && newton <= high {
            newton
        } else {
            f64::midpoint(low, high)
        };
        if (next - shift).abs() <= 1e-14 * (1.0 + shift.abs()) {
            return next;
        }
        shift = next;
    }
    shift
}

/// Where what lies above it sums up to `sum`, from below: the sum is convex in the shift, so steps never go
/// too far.
fn shift_to_sum(numbers: &[f64], highest: f64, sum: f64) -> f64 {
    let mut shift = highest - sum;
    for _ in 0..STEPS {
        let (reached, count) = excess(numbers, shift);
        let step = (reached - sum) / count.max(1.0);
        shift += step;
        if step <= 1e-14 * (1.0 + shift.abs()) {
            break;
        }
    }
    shift
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn distance(from: &[f64], to: &[f64]) -> f64 {
        from.iter().zip(to).map(|(a, b)| (a - b) * (a - b)).sum()
    }

    proptest! {
        #[test]
        fn the_result_is_legal_and_nothing_legal_is_nearer(
            negatives in proptest::collection::vec(-2.0..3f64, 1..7),
            positives in proptest::collection::vec(-2.0..3f64, 1..4),
            limit in 0.01..3f64,
            others in proptest::collection::vec(
                (proptest::collection::vec(0.0..1f64, 7), proptest::collection::vec(0.0..1f64, 4), 0.0..1f64), 50),
        ) {
            let (mut a, mut b) = (negatives.clone(), positives.clone());
            project(&mut a, &mut b, limit);
            let (sum_a, sum_b) = (a.iter().sum::<f64>(), b.iter().sum::<f64>());
            prop_assert!(a.iter().chain(&b).all(|&number| number >= 0.0));
            prop_assert!((sum_a - sum_b).abs() < 1e-9 && sum_a <= limit + 1e-9);
            // Of a convex set, the nearest point makes an obtuse angle with the way to every other point.
            for (other_a, other_b, share) in others {
                let total = share * limit;
                let (mut slope, scale_a, scale_b) = (
                    0.0,
                    total / other_a[..a.len()].iter().sum::<f64>().max(1e-9),
                    total / other_b[..b.len()].iter().sum::<f64>().max(1e-9),
                );
                for index in 0..a.len() {
                    slope += (negatives[index] - a[index]) * (other_a[index] * scale_a - a[index]);
                }
                for index in 0..b.len() {
                    slope += (positives[index] - b[index]) * (other_b[index] * scale_b - b[index]);
                }
                prop_assert!(slope < 1e-7, "a nearer point exists: {slope}");
            }
            let (mut again_a, mut again_b) = (a.clone(), b.clone());
            project(&mut again_a, &mut again_b, limit);
            prop_assert!(distance(&a, &again_a) + distance(&b, &again_b) < 1e-18);
        }
    }

    #[test]
    fn known_points() {
        let (mut a, mut b) = (vec![1.0, 0.2], vec![0.0]);
        project(&mut a, &mut b, 10.0);
        assert_eq!((a, b), (vec![0.5, 0.0], vec![0.5]));
        let (mut a, mut b) = (vec![5.0, 5.0], vec![1.0]);
        project(&mut a, &mut b, 1.0);
        assert_eq!((a, b), (vec![0.5, 0.5], vec![1.0]));
        let (mut a, mut b) = (vec![-1.0], vec![0.5]);
        project(&mut a, &mut b, 1.0);
        assert_eq!((a, b), (vec![0.0], vec![0.0]));
    }
}
