//! Trains on a table, saves the model, opens it again and asks it.
//!
//! `cargo run --release --example train_from_csv`

use memoir::{Classifier, Model, Result};

const TICKETS: &str = "label,text
billing,I was charged twice this month
billing,please refund the second payment
billing,the invoice shows a wrong amount
account,I forgot my password
account,please change my email address
account,my login does not work
delivery,the parcel has not arrived
delivery,my order came to the wrong address
delivery,when will the package be delivered
";

pub(crate) fn main() -> Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [table, file] = ["tickets.csv", "tickets.memoir"].map(|name| folder.path().join(name));
    std::fs::write(&table, TICKETS).expect("a table on disk");

    Classifier::softmax().fit_file(&table)?.save(&file)?;

    let model = Model::open(&file)?;
    for question in ["charged twice", "where is my parcel?", "new password"] {
        for answer in model.predict(question, 2)? {
            println!("{question}: {} {:.2}", answer.class, answer.probability);
        }
    }
    assert_eq!(model.predict("charged twice", 1)?[0].class, "billing");
    Ok(())
}
