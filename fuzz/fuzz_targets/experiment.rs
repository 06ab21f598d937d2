//! Any text as an experiment of `memoir compare`: refused, or commands that could be run. None is run.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use memoir_compare::Request;

fuzz_target!(|text: &str| {
    let folder = memoir_fuzz::FOLDER.path();
    // What an experiment includes or names as data could be any file of this machine.
    if text.contains("include") || text.contains('/') {
        return;
    }
    let path = folder.join("experiment.toml");
    std::fs::write(&path, text).expect("a file");
    for name in ["a.svm", "b.svm"].map(|name| folder.join(name)) {
        if !name.exists() {
            std::fs::write(name, "1 1:1\n").expect("a file");
        }
    }
    let request = Request {
        experiment: &path,
        out: &folder.join("out"),
        data_folder: None,
        again: &[],
        program: Path::new("memoir"),
        catalogue: &memoir_fuzz::CATALOGUE,
    };
    if let Ok(commands) = memoir_compare::plan(&request) {
        assert!(commands.iter().all(|command| !command.is_empty()));
    }
});
