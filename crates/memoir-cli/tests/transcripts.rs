//! Runs the transcripts in `tests/cmd`: documentation that is checked.

#[test]
fn transcripts() {
    trycmd::TestCases::new().case("tests/cmd/*.md");
}
