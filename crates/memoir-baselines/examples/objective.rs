//! Prints the objective that `ovr` reaches on a libsvm file, its values taken as they are:
//! `objective FILE [NAME=VALUE …]`, with the parameters of the algorithm.

use std::num::NonZeroUsize;
use std::path::Path;

use memoir::data::{self, PrepOptions, ReadOptions, Source, WeightingChoice};
use memoir::params::Values;
use memoir::{Error, Result, Session};
use memoir_baselines::ovr::{OVR, Ovr};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments
        .next()
        .ok_or_else(|| Error::Parameter("expected: FILE [NAME=VALUE ...]".to_owned()))?;
    let given: Vec<String> = arguments.collect();
    let given = given.iter().filter_map(|pair| pair.split_once('='));
    let ovr = Ovr::new(&Values::check(OVR.params, given)?);
    let session = Session::new(NonZeroUsize::MIN)?;
    let prep = PrepOptions {
        weighting: WeightingChoice::Raw,
        ..PrepOptions::default()
    };
    let training = data::read_training(
        Source::new(Path::new(&file)),
        &ReadOptions::default(),
        &prep,
        &session,
    )?;
    let objective = ovr.objective(&training.data, &session)?;
    println!("primal {:.3} dual {:.3}", objective.primal, objective.dual);
    Ok(())
}
