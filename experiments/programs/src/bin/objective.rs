//! Prints the objective that a method reaches on a libsvm file whose values are taken as they are:
//! `objective ovr|msvm|pd-sparse FILE [NAME=VALUE …]`, with the parameters of the algorithm, or
//! `objective liblinear FILE MODEL` for the weights in a model file of LIBLINEAR (`-s 1` or `-s 4`, cost 1,
//! no bias).

use std::num::NonZeroUsize;
use std::path::Path;

use memoir::data::{ReadOptions, Source};
use memoir::params::Parameters;
use memoir::prepare::{self, PrepOptions, WeightingChoice};
use memoir::{Dataset, Error, Result, Session};
use memoir_baselines::msvm::{Msvm, MsvmParams};
use memoir_baselines::ovr::{Ovr, OvrParams};
use memoir_baselines::pd_sparse::{PdSparse, PdSparseParams};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [method, file, rest @ ..] = arguments.as_slice() else {
        return Err(wrong("expected: METHOD FILE ..."));
    };
    let session = Session::new(NonZeroUsize::MIN)?;
    let prep = PrepOptions {
        weighting: WeightingChoice::Raw,
        ..PrepOptions::default()
    };
    let options = ReadOptions::default();
    let data = prepare::read_training(Source::new(Path::new(file)), &options, &prep, &session)?.data;
    let given = || rest.iter().filter_map(|pair| pair.split_once('='));
    let objective = match method.as_str() {
        "ovr" => Ovr::new(&OvrParams::parse(given())?).objective(&data, &session)?,
        "msvm" => Msvm::new(&MsvmParams::parse(given())?).objective(&data, &session)?,
        "pd-sparse" => PdSparse::new(&PdSparseParams::parse(given())?).objective(&data, &session)?,
        "liblinear" => {
            let model = rest.first().ok_or_else(|| wrong("expected a model file"))?;
            println!("primal {:.3}", liblinear_primal(&data, Path::new(model))?);
            return Ok(());
        }
        _ => return Err(wrong("the method must be one of ovr, msvm, pd-sparse, liblinear")),
    };
    println!("primal {:.3} dual {:.3}", objective.primal, objective.dual);
    Ok(())
}

fn wrong(message: &str) -> Error {
    Error::Parameter(message.to_owned())
}

/// The objective of the weights in a model file of LIBLINEAR, straight from its definition.
fn liblinear_primal(data: &Dataset, path: &Path) -> Result<f64> {
    let text = std::fs::read_to_string(path).map_err(|reason| Error::io(path, "cannot read", reason))?;
    let (header, numbers) = text
        .split_once("\nw\n")
        .ok_or_else(|| wrong("this is not a model file of LIBLINEAR"))?;
    let is_one_problem = header.contains("MCSVM_CS");
    // Which of our classes each column of weights belongs to.
    let columns: Vec<Option<u32>> = header
        .lines()
        .find_map(|line| line.strip_prefix("label "))
        .ok_or_else(|| wrong("the model file names no labels"))?
        .split_whitespace()
        .map(|name| data.classes.find(name))
        .collect();
    let mut weights = Vec::new();
    for number in numbers.split_whitespace() {
        weights.push(
            number
                .parse::<f64>()
                .map_err(|_| wrong("a weight is no number"))?,
        );
    }
    let mut objective = weights.iter().map(|weight| weight * weight).sum::<f64>() / 2.0;
    let mut scores = vec![0f64; columns.len()];
    for (index, row) in data.rows.iter().enumerate() {
        scores.fill(0.0);
        for (feature, value) in row.iter() {
            let start = feature as usize * columns.len();
            for (score, weight) in scores.iter_mut().zip(&weights[start..]) {
                *score += weight * f64::from(value);
            }
        }
        let labels = data.labels.row(index);
        let is_right = |column: usize| columns[column].is_some_and(|class| labels.contains(&class));
        if is_one_problem {
            let right = (0..columns.len()).filter(|&column| is_right(column));
            let right = right.map(|column| scores[column]).fold(f64::INFINITY, f64::min);
            let wrong = (0..columns.len()).filter(|&column| !is_right(column));
            let wrong = wrong
                .map(|column| scores[column])
                .fold(f64::NEG_INFINITY, f64::max);
            objective += (1.0 + wrong - right).max(0.0);
        } else {
            for (column, score) in scores.iter().enumerate() {
                let margin = if is_right(column) { *score } else { -score };
                let short = (1.0 - margin).max(0.0);
                objective += short * short;
            }
        }
    }
    Ok(objective)
}
