//! A study of growth: made-up data sets that differ from a base in one size each, exponents fitted to
//! the costs, and what they say of data sets too large to be measured here. `write!` to a `String`
//! cannot fail.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use memoir::maths;
use serde::Deserialize;

use crate::experiment::DataSet;
use crate::summary::{Measure, Table};

/// The `[scale]` section of an experiment.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Scale {
    base: Sizes,
    /// What each size is multiplied with, the others being those of the base.
    factors: Vec<f64>,
    /// Rows of the test part.
    test_rows: u64,
    /// Data sets to extrapolate to.
    #[serde(default)]
    target: Vec<Target>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Sizes {
    rows: f64,
    classes: f64,
    features: f64,
    row_length: f64,
}

/// A data set that is not here, with the seconds that others have measured on it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Target {
    name: String,
    sizes: Sizes,
    /// Seconds to train, by method.
    #[serde(default)]
    published: BTreeMap<String, f64>,
}

const DIMENSIONS: [&str; 4] = ["rows", "classes", "features", "row-length"];
const BASE: &str = "base";

impl Sizes {
    fn values(self) -> [f64; 4] {
        [self.rows, self.classes, self.features, self.row_length]
    }
}

impl Scale {
    /// The data sets: the base, and one for every size and factor.
    pub(crate) fn data_sets(&self) -> Vec<DataSet> {
        let make = |name: String, sizes: [f64; 4]| {
            let mut synth: BTreeMap<String, toml::Value> = DIMENSIONS
                .iter()
                .zip(sizes)
                .map(|(&dimension, size)| {
                    let value = match dimension {
                        "row-length" => toml::Value::Float(size),
                        _ => toml::Value::Integer(size.round() as i64),
                    };
                    (dimension.to_owned(), value)
                })
                .collect();
            synth.insert(
                "test-rows".to_owned(),
                toml::Value::Integer(self.test_rows as i64),
            );
            DataSet {
                name,
                synth,
                ..DataSet::default()
            }
        };
        let mut sets = vec![make(BASE.to_owned(), self.base.values())];
        for (index, dimension) in DIMENSIONS.iter().enumerate() {
            for &factor in self.factors.iter().filter(|&&factor| factor != 1.0) {
                let mut sizes = self.base.values();
                sizes[index] *= factor;
                sets.push(make(name(dimension, factor), sizes));
            }
        }
        sets
    }

    /// The tables of exponents and of extrapolated costs.
    pub(crate) fn tables(&self, tables: &[Table]) -> String {
        let methods: Vec<_> = tables.first().map_or(Vec::new(), |table| {
            table.rows.iter().map(|row| row.method.clone()).collect()
        });
        let factors: Vec<_> = self.factors.iter().map(ToString::to_string).collect();
        let mut text = format!(
            "Base: {} rows, {} classes, {} features, {} features a row; one size at a time multiplied by {}. \
             An exponent is the slope of the line through the logarithms of cost and size: 1 is proportional, 0 does \
             not depend. Fixed costs of a process bend exponents down.\n",
            self.base.rows,
            self.base.classes,
            self.base.features,
            self.base.row_length,
            factors.join(", ")
        );
        for measure in [Measure::TrainCpu, Measure::TrainMemory] {
            let _ = writeln!(text, "\n## Exponents of {}\n", measure.name());
            let _ = writeln!(
                text,
                "| method | base | {} |\n|---|---|---|---|---|---|",
                DIMENSIONS.join(" | ")
            );
            for method in &methods {
                let fitted = DIMENSIONS.map(|dimension| {
                    let slope = self.exponent(tables, method, dimension, measure);
                    slope.map_or("–".to_owned(), |slope| format!("{slope:.2}"))
                });
                let base =
                    value(tables, BASE, method, measure).map_or("–".to_owned(), |base| measure.show(base));
                let _ = writeln!(text, "| {method} | {base} | {} |", fitted.join(" | "));
            }
        }
        if !self.target.is_empty() {
            self.extrapolation(&mut text, tables, &methods);
        }
        text
    }

    /// Slope of log cost over log size; none with fewer than two points.
    fn exponent(&self, tables: &[Table], method: &str, dimension: &str, measure: Measure) -> Option<f64> {
        let points: Vec<_> = self
            .factors
            .iter()
            .filter_map(|&factor| {
                Some((
                    maths::ln(factor),
                    maths::ln(value(tables, &name(dimension, factor), method, measure)?),
                ))
            })
            .collect();
        slope(&points)
    }

    fn extrapolation(&self, text: &mut String, tables: &[Table], methods: &[String]) {
        let names: Vec<_> = self.target.iter().map(|target| target.name.as_str()).collect();
        let _ = writeln!(
            text,
            "\n## Training time extrapolated to the paper's data sets\n\n\
             Hours of CPU that the exponents above predict, one thread here; in parentheses the hours of wall time that the paper \
             measured on up to 16 cores. Made-up rows are not theirs, and the sizes lie far outside what was measured: \
             read orders of magnitude.\n\n| method | {} |",
            names.join(" | ")
        );
        let _ = writeln!(text, "|---|{}", "---|".repeat(names.len()));
        for method in methods {
            let cells: Vec<_> = self
                .target
                .iter()
                .map(|target| {
                    let predicted = self.predicted(tables, method, target).map(hours);
                    let published = target
                        .published
                        .get(method)
                        .map(|&seconds| format!(" ({})", hours(seconds)));
                    predicted.unwrap_or("–".to_owned()) + &published.unwrap_or_default()
                })
                .collect();
            let _ = writeln!(text, "| {method} | {} |", cells.join(" | "));
        }
    }

    /// Cost of the base, multiplied by each size's ratio to the power of its exponent.
    fn predicted(&self, tables: &[Table], method: &str, target: &Target) -> Option<f64> {
        let mut cost = value(tables, BASE, method, Measure::TrainCpu)?;
        for ((dimension, size), base) in DIMENSIONS
            .iter()
            .zip(target.sizes.values())
            .zip(self.base.values())
        {
            cost *= maths::powf(
                size / base,
                self.exponent(tables, method, dimension, Measure::TrainCpu)?,
            );
        }
        Some(cost)
    }
}

fn hours(seconds: f64) -> String {
    let hours = seconds / 3600.0;
    if hours < 9.95 {
        format!("{hours:.2}")
    } else {
        format!("{hours:.0}")
    }
}

fn name(dimension: &str, factor: f64) -> String {
    if factor == 1.0 {
        BASE.to_owned()
    } else {
        format!("{dimension} x {factor}")
    }
}

fn value(tables: &[Table], data: &str, method: &str, measure: Measure) -> Option<f64> {
    let table = tables.iter().find(|table| table.data == data)?;
    let row = table.rows.iter().find(|row| row.method == method)?;
    Some(row.get(measure)?.mean)
}

/// Least squares.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() < 2 {
        return None;
    }
    let count = points.len() as f64;
    let mean = |part: fn(&(f64, f64)) -> f64| points.iter().map(part).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let spread: f64 = points.iter().map(|point| maths::square(point.0 - x)).sum();
    let common: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    (spread > 0.0).then(|| common / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_of_powers_are_their_exponents() {
        let of_power = |exponent: f64| -> Vec<_> {
            [1.0, 2.0, 4.0, 8.0]
                .iter()
                .map(|&x| (maths::ln(x), maths::ln(3.0 * maths::powf(x, exponent))))
                .collect()
        };
        for exponent in [0.0, 0.5, 1.0, 2.0] {
            let found = slope(&of_power(exponent)).unwrap();
            assert!((found - exponent).abs() < 1e-12, "{found}");
        }
        assert_eq!(slope(&[(0.0, 1.0)]), None);
        assert_eq!(slope(&[(1.0, 1.0), (1.0, 2.0)]), None);
    }

    #[test]
    fn every_size_grows_alone() {
        let scale: Scale = toml::from_str(
            "base = { rows = 100, classes = 10, features = 50, row-length = 4 }\nfactors = [1, 2]\ntest-rows = 20",
        )
        .unwrap();
        let sets = scale.data_sets();
        let names: Vec<_> = sets.iter().map(|set| set.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "base",
                "rows x 2",
                "classes x 2",
                "features x 2",
                "row-length x 2"
            ]
        );
        assert_eq!(sets[2].synth["classes"].as_integer(), Some(20));
        assert_eq!(sets[2].synth["rows"].as_integer(), Some(100));
        assert_eq!(sets[4].synth["row-length"].as_float(), Some(8.0));
    }
}
