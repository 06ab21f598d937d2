//! `msvm` and `pd-sparse` against sub-gradient descent on the dense primal problem, against their own duals,
//! and at their edges.

use memoir::Cancel;
use memoir::catalogue::Method;
use memoir::model::{Linear, Scorer, Scratch};
use memoir::params::Parameters;
use memoir::train::TrainRequest;

use super::*;
use crate::msvm::{Msvm, MsvmParams};
use crate::pd_sparse::{PdSparse, PdSparseParams};
use crate::test_data::{dataset, random_dataset, session};

/// Both algorithms with their defaults.
fn methods() -> [Method; 2] {
    [
        Method::new(&MsvmParams::default()).unwrap(),
        Method::new(&PdSparseParams::default()).unwrap(),
    ]
}

fn scorer(method: &Method, data: &Dataset, session: &Session<'_>) -> memoir::Result<Box<dyn Scorer>> {
    let trained = method.trainer().train(TrainRequest::new(data.clone()), session)?;
    Ok(trained.scorer)
}

/// The problem with a dense table of weights, straight from its definition.
struct Dense<'a> {
    data: &'a Dataset,
    cost: f64,
    l1: f64,
}

type Table = Vec<Vec<f64>>;

impl Dense<'_> {
    fn table(&self) -> Table {
        vec![vec![0.0; self.data.rows.width()]; self.data.classes.len()]
    }

    /// The loss of a row with the right and the wrong class that make it.
    fn loss(&self, table: &Table, index: usize) -> (f64, usize, usize) {
        let row = self.data.rows.row(index);
        let score = |class: &usize| -> f64 {
            let products = row
                .iter()
                .map(|(feature, value)| table[*class][feature as usize] * f64::from(value));
            products.sum()
        };
        let labels = self.data.labels.row(index);
        let (right, wrong): (Vec<usize>, Vec<usize>) =
            (0..table.len()).partition(|class| labels.contains(&(*class as u32)));
        let weakest = right
            .into_iter()
            .min_by(|a, b| score(a).total_cmp(&score(b)))
            .unwrap();
        let strongest = wrong
            .into_iter()
            .max_by(|a, b| score(a).total_cmp(&score(b)))
            .unwrap();
        let slack = 1.0 + score(&strongest) - score(&weakest);
        (slack.max(0.0), weakest, strongest)
    }

    fn row_cost(&self, index: usize) -> f64 {
        self.cost
            * self
                .data
                .weights
                .as_ref()
                .map_or(1.0, |weights| f64::from(weights[index]))
    }

    fn objective(&self, table: &Table) -> f64 {
        let flat = table.iter().flatten();
        let size: f64 = flat.map(|w| w * w / 2.0 + self.l1 * w.abs()).sum();
        let losses = (0..self.data.len()).map(|index| self.row_cost(index) * self.loss(table, index).0);
        size + losses.sum::<f64>()
    }

    /// The lowest objective that sub-gradient descent sees.
    fn descend(&self, steps: usize) -> f64 {
        let mut table = self.table();
        let mut average = self.table();
        for step in 0..steps {
            let mut gradient = table.clone();
            for (slope, weight) in gradient.iter_mut().flatten().zip(table.iter().flatten()) {
                *slope += self.l1 * if *weight == 0.0 { 0.0 } else { weight.signum() };
            }
            for index in 0..self.data.len() {
                let (loss, right, wrong) = self.loss(&table, index);
                if loss > 0.0 {
                    for (feature, value) in self.data.rows.row(index).iter() {
                        gradient[right][feature as usize] -= self.row_cost(index) * f64::from(value);
                        gradient[wrong][feature as usize] += self.row_cost(index) * f64::from(value);
                    }
                }
            }
            // The problem is strongly convex with constant 1: these steps and weights converge at the rate
            // 1/steps.
            let size = 2.0 / (step as f64 + 2.0);
            let entries = table.iter_mut().flatten().zip(gradient.iter().flatten());
            for ((weight, slope), mean) in entries.zip(average.iter_mut().flatten()) {
                *weight -= size * slope;
                *mean += (*weight - *mean) * 2.0 / (step as f64 + 2.0);
            }
        }
        self.objective(&average)
    }

    fn of_linear(&self, linear: &Linear) -> f64 {
        let mut table = self.table();
        for (class, weights) in table.iter_mut().enumerate() {
            for (feature, weight) in linear.class_weights(class as u32).unwrap() {
                weights[feature as usize] = f64::from(weight);
            }
        }
        self.objective(&table)
    }
}

fn data_sets() -> [Dataset; 3] {
    let mut weighted = random_dataset(5, 40, 9, 4, 3);
    weighted.weights = Some((0..40).map(|row| 0.5 + (row % 3) as f32 * 0.5).collect());
    [
        random_dataset(3, 60, 8, 5, usize::MAX),
        random_dataset(4, 50, 8, 6, 3),
        weighted,
    ]
}

#[test]
fn msvm_reaches_the_minimum() {
    for data in data_sets() {
        let exact = MsvmParams::default()
            .tolerance(1e-5)
            .max_passes(20_000)
            .min_weight(0.0);
        let msvm = Msvm::new(&exact);
        let objective = msvm.objective(&data, &session(1)).unwrap();
        let dense = Dense {
            data: &data,
            cost: 1.0,
            l1: 0.0,
        };
        let primal = dense.of_linear(&msvm.fit(&data, &session(1)).unwrap());
        assert!(
            (objective.primal / primal - 1.0).abs() < 1e-5,
            "{objective:?} {primal}"
        );
        assert!(
            objective.dual <= primal && primal < objective.dual * 1.0005,
            "{objective:?} {primal}"
        );
        let descended = dense.descend(6000);
        assert!(
            descended > primal * 0.9995 && descended < primal * 1.02,
            "{descended} {primal}"
        );
    }
}

#[test]
fn pd_sparse_reaches_the_minimum_with_an_elastic_net() {
    for data in data_sets() {
        for (l1, rivals) in [("0.1", "1"), ("0.3", "4")] {
            let given = [
                ("l1", l1),
                ("rivals", rivals),
                ("tolerance", "1e-5"),
                ("max-passes", "20000"),
            ];
            let pd_sparse = PdSparse::new(&PdSparseParams::parse(given).unwrap());
            let objective = pd_sparse.objective(&data, &session(1)).unwrap();
            let l1 = l1.parse().unwrap();
            let dense = Dense {
                data: &data,
                cost: 1.0,
                l1,
            };
            let linear = pd_sparse.fit(&data, &session(1)).unwrap();
            let primal = dense.of_linear(&linear);
            assert!(
                objective.dual <= primal && primal < objective.dual * 1.001,
                "{objective:?} {primal}"
            );
            let descended = dense.descend(6000);
            assert!(
                descended > primal * 0.999 && descended < primal * 1.03,
                "{descended} {primal}"
            );
            assert!(linear.stored_weights() < data.rows.width() * data.classes.len());
        }
    }
}

#[test]
fn the_dual_never_falls_and_stays_below_the_primal() {
    let data = random_dataset(7, 300, 40, 15, 4);
    for settings in [
        Settings {
            cost: 1.0,
            l1: 0.0,
            rivals: 8,
            tolerance: 1e-3,
            max_passes: 1,
        },
        Settings {
            cost: 2.0,
            l1: 0.2,
            rivals: 1,
            tolerance: 1e-3,
            max_passes: 1,
        },
    ] {
        let mut solver = Solver::new(&data, &settings).unwrap();
        let mut last = 0.0;
        for pass in 0..12 {
            for row in 0..data.len() {
                solver.step(row);
            }
            let now = solver.objective();
            assert!(
                now.dual >= last - 1e-4 && now.dual <= now.primal,
                "pass {pass}: {now:?}, before {last}"
            );
            last = now.dual;
        }
        assert!(last > 0.0);
    }
}

/// The restricted problem from its definition: no gap between its value from above and from below.
#[test]
fn solving_again_reaches_the_minimum_over_what_is_left() {
    for data in data_sets() {
        let settings = Settings {
            cost: 1.0,
            l1: 0.3,
            rivals: 1,
            tolerance: 1e-6,
            max_passes: 5000,
        };
        let mut solver = Solver::new(&data, &settings).unwrap();
        solver.run(&session(1)).unwrap();
        let dense = Dense {
            data: &data,
            cost: 1.0,
            l1: 0.0,
        };
        let table = |weights: &GrowingWeights| {
            let linear = weights.clone().into_linear(0.0);
            let mut table = dense.table();
            for (class, row) in table.iter_mut().enumerate() {
                for (feature, weight) in linear.class_weights(class as u32).unwrap() {
                    row[feature as usize] = f64::from(weight);
                }
            }
            table
        };
        let stored = |solver: &Solver<'_>| match &solver.weights {
            Weights::Stored(weights) => table(weights),
            Weights::Summed(_) => panic!("with l1 weights are stored"),
        };
        let before = stored(&solver);
        let active = solver.duals.clone();
        solver.solve_again(5000, &session(1)).unwrap();
        let after = stored(&solver);
        let mut grown = 0;
        for (before, after) in before.iter().flatten().zip(after.iter().flatten()) {
            assert!(*before != 0.0 || *after == 0.0, "a weight that was not there");
            grown += usize::from(after.abs() > before.abs());
        }
        assert!(grown > 0);
        let squares: f64 = after.iter().flatten().map(|weight| weight * weight).sum();
        let (mut primal, mut dual) = (squares / 2.0, -squares / 2.0);
        for (index, active) in active.iter().enumerate() {
            let labels = data.labels.row(index);
            let score = |class: u32| -> f64 {
                let products = data.rows.row(index).iter();
                products
                    .map(|(feature, value)| after[class as usize][feature as usize] * f64::from(value))
                    .sum()
            };
            let wrong = active.iter().filter(|dual| !labels.contains(&dual.0));
            let strongest = wrong.map(|dual| score(dual.0)).fold(f64::NEG_INFINITY, f64::max);
            let weakest = labels
                .iter()
                .map(|&class| score(class))
                .fold(f64::INFINITY, f64::min);
            primal += dense.row_cost(index) * (1.0 + strongest - weakest).max(0.0);
            let negatives = solver.duals[index].iter().filter(|dual| dual.1 < 0.0);
            dual += negatives.map(|dual| -f64::from(dual.1)).sum::<f64>();
        }
        assert!(
            dual <= primal + 1e-4 && primal < dual * 1.001 + 1e-4,
            "{primal}, {dual}"
        );
    }
}

#[test]
fn default_tolerances_are_near_the_minimum() {
    let data = random_dataset(8, 400, 60, 12, 7);
    let near = Msvm::new(&MsvmParams::default())
        .objective(&data, &session(1))
        .unwrap();
    assert!(near.primal < near.dual * 1.02, "{near:?}");
}

fn bits(method: &Method, data: &Dataset, threads: usize) -> Vec<Vec<(u32, f32)>> {
    let scorer = self::scorer(method, data, &session(threads)).unwrap();
    (0..data.classes.len() as u32)
        .map(|class| scorer.class_weights(class).unwrap())
        .collect()
}

#[test]
fn the_same_weights_at_any_number_of_threads() {
    let data = random_dataset(1, 300, 50, 40, 9);
    for method in methods() {
        let one = bits(&method, &data, 1);
        assert!(one.iter().any(|weights| !weights.is_empty()));
        assert_eq!(one, bits(&method, &data, 2));
        assert_eq!(one, bits(&method, &data, 4));
    }
}

fn best(scorer: &dyn Scorer, row: RowView<'_>) -> u32 {
    let mut out = Vec::new();
    scorer.top_k(row, 1, &mut Scratch::default(), &mut out);
    out[0].class
}

#[test]
fn one_class_one_row_and_empty_rows_are_learned_from() {
    let rows = [
        (vec![], vec![0]),
        (vec![(1, 1.0)], vec![1]),
        (vec![(2, 1.0)], vec![]),
        (vec![(0, 1.0)], vec![0]),
        (vec![(2, 1.0)], vec![0, 1, 2]),
    ];
    for method in methods() {
        let one = dataset(&[(vec![(0, 1.0)], vec![0])], 1);
        let scorer = self::scorer(&method, &one, &session(1)).unwrap();
        assert_eq!(best(&*scorer, one.rows.row(0)), 0);
        let data = dataset(&rows, 3);
        let scorer = self::scorer(&method, &data, &session(1)).unwrap();
        assert_eq!(best(&*scorer, data.rows.row(1)), 1);
        assert_eq!(best(&*scorer, data.rows.row(3)), 0);
    }
}

#[test]
fn nothing_to_learn_from_and_cancelling_are_errors() {
    for method in methods() {
        let unlabelled = dataset(&[(vec![(0, 1.0)], vec![])], 1);
        let Err(error) = scorer(&method, &unlabelled, &session(1)) else {
            panic!("nothing to learn from");
        };
        assert_eq!(
            error.to_string(),
            "there is nothing to learn from: no row has a label"
        );
        let cancel = Cancel::default();
        cancel.raise();
        let cancelled = session(2).with_cancel(cancel);
        let outcome = scorer(&method, &random_dataset(1, 50, 9, 3, 9), &cancelled);
        assert!(matches!(outcome, Err(Error::Cancelled)));
    }
}
