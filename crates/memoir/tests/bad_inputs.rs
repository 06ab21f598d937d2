//! Every way in which rows can be bad, and the exact line that the user gets to read.

#[path = "common/bad_case.rs"]
mod bad_case;
mod common;

use bad_case::{case, check};
use memoir::data::Format;

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
            "a.svm:1:5: expected a number that a 32-bit float can hold as the value of feature 1, found `1e39`",
        ),
        case(
            "repeats that add up to infinity",
            "a.svm",
            "y 3:3e38 1:1 3:3e38\n",
            "a.svm:1:1: the values of feature 3, which is repeated, add up to more than a 32-bit float can hold",
        ),
        case(
            "index 0",
            "a.svm",
            "y 0:1\n",
            "a.svm:1:3: expected indices that count from 1, found 0; if yours count from 0, say `--zero-based`",
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
            "a label list with blanks",
            "a.svm",
            "a, b 1:1\n",
            "a.svm:1:3: expected a label, found nothing between separators",
        ),
        case(
            "a label in other bytes than UTF-8",
            "a.svm",
            b"caf\xe9 1:1\n",
            "a.svm:1:4: expected UTF-8 text, found the byte 0xe9",
        ),
        case(
            "a bad weight",
            "a.svm",
            "a 1:1 # weight=-2\n",
            "a.svm:1:16: expected a positive number as the weight, found `-2`",
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

#[test]
fn bad_text() {
    check(vec![
        case(
            "a fastText label without a name",
            "a.ft",
            "__label__a tea\n__label__ tea\n",
            "a.ft:2:10: expected a label after `__label__`, found nothing",
        ),
        case(
            "Latin-1",
            "a.ft",
            b"__label__a th\xe9\n",
            "a.ft:1:14: expected UTF-8 text, found the byte 0xe9",
        ),
        case(
            "too few columns",
            "a.csv",
            "id,text,label\n1,tea,a\n2,tea\n",
            "a.csv:3:1: expected 3 columns, as in the header, found 2",
        ),
        case(
            "too many columns",
            "a.csv",
            "text,label\ntea, hot,a\n",
            "a.csv:2:10: expected 2 columns, as in the header, found 3",
        ),
        case(
            "too many columns behind a quoted line end",
            "a.csv",
            "text,label\n\"tea\nhot\",a,b\n",
            "a.csv:3:8: expected 2 columns, as in the header, found 3",
        ),
        case(
            "an unknown text column",
            "a.csv",
            "id,title,label\n1,tea,a\n",
            "a.csv:1:1: expected a column `text`, found `id`, `title`, `label`; say `--text-column`",
        ),
        case(
            "an unknown label column",
            "a.csv",
            "id,text,code\n1,tea,a\n",
            "a.csv:1:1: expected a column `label` or `labels`, found `id`, `text`, `code`; say `--label-column`",
        ),
        case(
            "a column that was asked for",
            "a.tsv",
            "text\tlabel\ntea\ta\n",
            "a.tsv:1:1: expected a column `Title` for the text, found `text`, `label`",
        )
        .with(|options| options.text_column = Some("Title".to_owned())),
        case(
            "the same column twice in the header",
            "a.csv",
            "text,label,text\n",
            "a.csv:1:1: expected different columns, found `text` twice",
        ),
        case(
            "the same column for text and labels",
            "a.csv",
            "text,label\ntea,a\n",
            "a.csv:1:1: expected text and labels in different columns, found both in `text`",
        )
        .with(|options| options.label_column = Some("text".to_owned())),
        case(
            "a quote that never ends",
            "a.csv",
            "text,label\ntea,a\nhot,\"tea\nmore,b\n",
            "a.csv:3:5: expected a closing quote that ends the field, found none",
        ),
        case(
            "text behind a quote",
            "a.csv",
            "text,label\n\"green \"hot\" tea\",a\n",
            "a.csv:2:9: expected a comma or the line's end behind a closing quote, found text; a quote in a quoted \
             field is written twice",
        ),
        case(
            "an empty label among others",
            "a.csv",
            "text,label\ntea,a||b\n",
            "a.csv:2:5: expected labels separated by `|`, found an empty one in `a||b`",
        ),
        case(
            "a weight that is none",
            "a.csv",
            "text,label,n\ntea,a,many\n",
            "a.csv:2:7: expected a positive number as the weight, found `many`",
        )
        .with(|options| options.weight_column = Some("n".to_owned())),
        case(
            "other bytes in a field",
            "a.csv",
            b"text,label\ntea,\xff\n",
            "a.csv:2:5: expected UTF-8 text, found the byte 0xff",
        ),
        case(
            "a header only",
            "a.csv",
            "text,label\n",
            "a.csv: has no rows; expected at least one",
        ),
        case(
            "lines to train on",
            "a.txt",
            "tea\n",
            "a.txt: raw lines have no labels; expected a format with labels, such as csv",
        )
        .with(|options| options.format = Some(Format::Lines)),
    ]);
}

#[test]
fn bad_json() {
    check(vec![
        case(
            "no JSON",
            "a.jsonl",
            "{\"text\": \"tea\", \"label\": \"a\"}\n{\"text\": tea}\n",
            "a.jsonl:2:11: expected a JSON object, found bad JSON: expected ident",
        ),
        case(
            "an object cut off",
            "a.jsonl",
            "{\"text\": \"tea\"\n",
            "a.jsonl:1:14: expected a JSON object, found bad JSON: EOF while parsing an object",
        ),
        case(
            "an array",
            "a.jsonl",
            "[1]\n",
            "a.jsonl:1:1: invalid type: sequence, expected a JSON object",
        ),
        case(
            "two objects in a line",
            "a.jsonl",
            "{\"text\": \"tea\", \"label\": \"a\"} {}\n",
            "a.jsonl:1:31: expected a JSON object, found bad JSON: trailing characters",
        ),
        case(
            "no text",
            "a.jsonl",
            "{\"title\": \"tea\", \"label\": \"a\"}\n",
            "a.jsonl:1:1: expected a key `text`, found `label`, `title`; say `--text-column`",
        ),
        case(
            "no label",
            "a.jsonl",
            "{\"text\": \"tea\"}\n",
            "a.jsonl:1:1: expected a key `label` or `labels`, found `text`; say `--label-column`",
        ),
        case(
            "a number as text",
            "a.jsonl",
            "{\"text\": 5, \"label\": \"a\"}\n",
            "a.jsonl:1:10: invalid type: integer `5`, expected a string as the text",
        ),
        case(
            "a fraction as label",
            "a.jsonl",
            "{\"text\": \"tea\", \"label\": 1.5}\n",
            "a.jsonl:1:28: invalid type: floating point `1.5`, expected a label: a string, a whole number, or an array \
             of these",
        ),
        case(
            "labels inside labels",
            "a.jsonl",
            "{\"text\": \"tea\", \"label\": [[\"a\", \"b\"]]}\n",
            "a.jsonl:1:37: expected a label in the array, found an array or null",
        ),
        case(
            "an empty label",
            "a.jsonl",
            "{\"text\": \"tea\", \"label\": [\"\"]}\n",
            "a.jsonl:1:1: expected labels, found an empty one",
        ),
    ]);
}
