//! Every way in which vectors can be bad, and the exact line that the user gets to read.

#[path = "common/bad_case.rs"]
mod bad_case;
mod common;

use bad_case::{case, check};

#[test]
fn bad_libsvm() {
    check(vec![
        case(
            "no colon",
            "a.svm",
            "x 1:1\ny 1:1 foo\n",
            "a.svm:2:7: expected `index:value`, found `foo`",
        ),
        case(
            "a word as index",
            "a.svm",
            "y foo:1\n",
            "a.svm:1:3: expected `index:value`, found `foo:1`",
        ),
        case(
            "a negative index",
            "a.svm",
            "y -1:1\n",
            "a.svm:1:3: expected `index:value`, found `-1:1`",
        ),
        case(
            "a control character is shown as such",
            "a.svm",
            "y \u{1b}[31m\n",
            "a.svm:1:3: expected `index:value`, found `\\u{1b}[31m`",
        ),
        case(
            "a long token is cut",
            "a.svm",
            format!("y {}\n", "z".repeat(100)),
            "a.svm:1:3: expected `index:value`, found `zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz…`",
        ),
        case(
            "a bad number",
            "a.svm",
            "y 1:1 22:1,5\n",
            "a.svm:1:10: expected a number as the value of feature 22, found `1,5`",
        ),
        case(
            "a missing value",
            "a.svm",
            "y 1: 2:1\n",
            "a.svm:1:5: expected a number as the value of feature 1, found nothing",
        ),
        case(
            "not a number",
            "a.svm",
            "y 1:NaN\n",
            "a.svm:1:5: expected a finite number as the value of feature 1, found `NaN`",
        ),
        case(
            "infinity",
            "a.svm",
            "y 1:-inf\n",
            "a.svm:1:5: expected a finite number as the value of feature 1, found `-inf`",
        ),
        case(
            "too large a value",
            "a.svm",
            "y 1:1e39\n",
            "a.svm:1:5: expected a number between -1e16 and 1e16 as the value of feature 1, found `1e39`",
        ),
        case(
            "index 0",
            "a.svm",
            "y 0:1\n",
            "a.svm:1:3: expected indices that count from 1, found 0; if yours count from 0, give the parameter `zero-based`",
        ),
        case(
            "an index beyond the limit",
            "a.svm",
            "y 4000000000:1\n",
            "a.svm:1:3: expected an index of at most 67108864, the largest supported, found 4000000000",
        ),
        case(
            "an index beyond every integer",
            "a.svm",
            "y 99999999999999999999999999:1\n",
            "a.svm:1:3: expected an index of at most 67108864, the largest supported, found 18446744073709551615",
        ),
        case(
            "query ids",
            "a.svm",
            "1 qid:7 1:1\n",
            "a.svm:1:3: found `qid:7`: query ids are for ranking and not supported; remove them",
        ),
        case(
            "an empty label",
            "a.svm",
            "a,,b 1:1\n",
            "a.svm:1:3: expected a label, found nothing between separators",
        ),
        case(
            "a label list that ends with a separator",
            "a.svm",
            "a, 1:1\n",
            "a.svm:1:3: expected a label, found nothing between separators",
        ),
        case(
            "a label in other bytes than UTF-8",
            "a.svm",
            b"th\xc3\xa9 1:1\ncaf\xe9 1:1\n",
            "a.svm:2:4: expected UTF-8 text, found the byte 0xe9",
        ),
        case(
            "a weight beyond reason",
            "a.svm",
            "a 1:1 # weight=1e9\n",
            "a.svm:1:16: expected a number from 0.000001 to 1000000 as the weight, found `1e9`",
        ),
        case(
            "a bad weight",
            "a.svm",
            "a 1:1 # weight=-2\n",
            "a.svm:1:16: expected a number from 0.000001 to 1000000 as the weight, found `-2`",
        ),
        case(
            "the place counts blank lines",
            "a.svm",
            "\r\n# c\n\na 1:x",
            "a.svm:4:5: expected a number as the value of feature 1, found `x`",
        ),
        case(
            "an xmc header read as libsvm",
            "a.svm",
            "2 10 3\n0 1:1\n",
            "a.svm:1:3: expected `index:value`, found `10`",
        ),
        case(
            "binary data",
            "a.svm",
            b"\0\0\0\0",
            "a.svm: holds zero bytes in its first line, so it is no text, or in another encoding; save it as UTF-8",
        ),
        case(
            "text by the name of vectors",
            "a.txt",
            "# tickets\n\nprinter out of toner\n",
            "a.txt: raw lines have no labels; give the parameter `format` if this is another format, such as csv",
        ),
        case(
            "text among bad rows",
            "a.txt",
            "printer out of toner\n",
            "a.txt: has no good rows; the first of 1 bad ones: a.txt:1:9: expected `index:value`, found `out`",
        )
        .with(|options| options.skip_bad_rows = true),
        case(
            "no features at all",
            "a.svm",
            "a\nb\n",
            "a.svm: no row has a feature; expected rows such as `label 3:1 17:0.5`",
        ),
        case(
            "no labels at all",
            "a.svm",
            "1:1\n 2:1\n",
            "a.svm: no row has a label; expected some to learn from",
        ),
    ]);
}

#[test]
fn bad_xmc() {
    check(vec![
        case(
            "no header",
            "a.xmc",
            "0 1:1\n",
            "a.xmc:1:1: expected a header of three whole numbers (rows, features, classes), found `0 1:1`",
        ),
        case(
            "a bad header behind comments",
            "a.xmc",
            "# c\n\n0 1:1 # d\n",
            "a.xmc:3:1: expected a header of three whole numbers (rows, features, classes), found `0 1:1`",
        ),
        case(
            "a header of two",
            "a.xmc",
            "2 3\n",
            "a.xmc:1:1: expected a header of three whole numbers (rows, features, classes), found `2 3`",
        ),
        case(
            "a header of four",
            "a.xmc",
            "2 3 4 5\n",
            "a.xmc:1:1: expected a header of three whole numbers (rows, features, classes), found `2 3 4 5`",
        ),
        case(
            "too many features promised",
            "a.xmc",
            "2 4000000000 4\n",
            "a.xmc:1:1: the header says 4000000000 features; at most 67108864 are supported",
        ),
        case(
            "too few rows",
            "a.xmc",
            "3 9 4\n0 1:1\n1 1:1\n",
            "a.xmc:1:1: the header says 3 rows, found 2",
        ),
        case(
            "too many rows",
            "a.txt",
            "1 9 4\n0 1:1\n1 1:1\n",
            "a.txt:1:1: the header says 1 rows, found 2",
        ),
        case(
            "a feature beyond the header",
            "a.xmc",
            "1 9 4\n0 8:1 9:1\n",
            "a.xmc:2:7: expected an index below 9, the header's number of features, found 9",
        ),
        case(
            "a class beyond the header",
            "a.xmc",
            "1 9 4\n3,4 8:1\n",
            "a.xmc:2:3: expected a label below 4, the header's number of classes, found `4`",
        ),
        case(
            "a class that is no number",
            "a.xmc",
            "1 9 4\nx 8:1\n",
            "a.xmc:2:1: expected a label below 4, the header's number of classes, found `x`",
        ),
        case(
            "a header only",
            "a.xmc",
            "0 9 4\n",
            "a.xmc: has no rows; expected at least one",
        ),
    ]);
}
