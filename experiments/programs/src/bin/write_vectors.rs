//! Writes the rows that training sees (weighted, unit length) as libsvm files, so that other programs learn
//! from the very same vectors: `write_vectors TRAIN TEST OUT_TRAIN OUT_TEST`. Classes get the numbers 1, 2,
//! … in the order of training; test rows of unknown classes get numbers behind those.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::Path;

use memoir::data::{ReadOptions, Source};
use memoir::model::write_beside;
use memoir::prepare::{self, PrepOptions};
use memoir::{Dataset, Error, Result, Session};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [train, test, out_train, out_test] = arguments.as_slice() else {
        return Err(Error::Parameter(
            "expected: TRAIN TEST OUT_TRAIN OUT_TEST".to_owned(),
        ));
    };
    let session = Session::new(NonZeroUsize::MIN)?;
    let options = ReadOptions::default();
    let prep = PrepOptions::default();
    let training = prepare::read_training(Source::new(Path::new(train)), &options, &prep, &session)?;
    write(&training.data, Path::new(out_train))?;
    let (preprocessing, classes) = (&training.preprocessing, &training.data.classes);
    let (rows, _) = prepare::read_with(
        Source::new(Path::new(test)),
        &options,
        preprocessing,
        classes,
        &session,
    )?;
    write(&rows, Path::new(out_test))
}

fn write(data: &Dataset, path: &Path) -> Result<()> {
    write_beside(path, |out| {
        for (index, row) in data.rows.iter().enumerate() {
            let Some(class) = data.labels.row(index).first() else {
                continue;
            };
            let mut line = (class + 1).to_string();
            for (feature, value) in row.iter() {
                let _ = write!(line, " {}:{value}", feature + 1);
            }
            line.push('\n');
            out.write_all(line.as_bytes())
                .map_err(|reason| Error::io(path, "cannot write", reason))?;
        }
        Ok(())
    })
}
