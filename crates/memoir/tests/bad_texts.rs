//! Every way in which rows of text can be bad, and the exact line that the user gets to read.

#[path = "common/bad_case.rs"]
mod bad_case;
mod common;

use bad_case::{case, check};
use memoir::data::Format;

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
            b"__label__a th\xc3\xa9\n__label__a th\xe9\n",
            "a.ft:2:14: expected UTF-8 text, found the byte 0xe9",
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
            "a.csv:1:1: expected a column `text`, found `id`, `title`, `label`; give the parameter `text-column`",
        ),
        case(
            "an unknown label column",
            "a.csv",
            "id,text,code\n1,tea,a\n",
            "a.csv:1:1: expected a column `label` or `labels`, found `id`, `text`, `code`; give the parameter `label-column`",
        ),
        case(
            "an unknown column behind comments and blank lines",
            "a.csv",
            "# tickets\n\nid,title,label\n1,tea,a\n",
            "a.csv:3:1: expected a column `text`, found `id`, `title`, `label`; give the parameter `text-column`",
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
            "a.csv:2:9: expected `,` or the line's end behind a closing quote, found text; a quote in a quoted \
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
            "a.csv:2:7: expected a number from 0.000001 to 1000000 as the weight, found `many`",
        )
        .with(|options| options.weight_column = Some("n".to_owned())),
        case(
            "Latin-1 behind a line end in a quoted field",
            "a.csv",
            b"text,label\n\xc3\xa9,a\n\"green\n\"\"th\xe9\"\"\",a\n",
            "a.csv:4:5: expected UTF-8 text, found the byte 0xe9",
        ),
        case(
            "Latin-1 in the header",
            "a.csv",
            b"text,label,\xc3\xa9,caf\xe9\n",
            "a.csv:1:18: expected UTF-8 text, found the byte 0xe9",
        ),
        case(
            "two possible delimiters",
            "a.csv",
            "id,title;code\n1,tea;a\n",
            "a.csv: cannot tell whether `,` or `;` separates the columns; give the parameter `delimiter`",
        ),
        case(
            "numbers of rows as labels",
            "a.csv",
            "id,text\n1,tea\n2,coffee\n",
            "a.csv: every row has a label of its own in `id`, so there is nothing to learn; give the parameter \
             `label-column` with the column of the labels, or with `id` if that is meant",
        ),
        case(
            "the place counts comments",
            "a.csv",
            "# tickets\ntext,label\n# of April\ntea,a\ntea\n",
            "a.csv:5:1: expected 2 columns, as in the header, found 1",
        ),
        case(
            "other bytes in a field",
            "a.csv",
            b"text,label\nth\xc3\xa9,a\ntea,\xff\n",
            "a.csv:3:5: expected UTF-8 text, found the byte 0xff",
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
            "a.txt: raw lines have no labels; give the parameter `format` if this is another format, such as csv",
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
            "a.jsonl:1:1: expected a JSON object, found an array",
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
            "a.jsonl:1:1: expected a key `text`, found `label`, `title`; give the parameter `text-column`",
        ),
        case(
            "no label",
            "a.jsonl",
            "{\"text\": \"tea\"}\n",
            "a.jsonl:1:1: expected a key `label` or `labels`, found `text`; give the parameter `label-column`",
        ),
        case(
            "a number as text",
            "a.jsonl",
            "{\"text\": 5, \"label\": \"a\"}\n",
            "a.jsonl:1:10: expected a string as the text, found integer `5`",
        ),
        case(
            "a fraction as label",
            "a.jsonl",
            "{\"text\": \"tea\", \"label\": 1.5}\n",
            "a.jsonl:1:26: expected a label: a string, a whole number, or an array of these, found floating point `1.5`",
        ),
        case(
            "labels inside labels",
            "a.jsonl",
            "{\"text\": \"tea\", \"label\": [[\"a\"]]}\n",
            "a.jsonl:1:26: expected a label in the array: a string or a whole number, found an array",
        ),
        case(
            "an empty label",
            "a.jsonl",
            "{\"text\": \"tea\", \"label\": [\"\"]}\n",
            "a.jsonl:1:26: expected labels, found an empty one",
        ),
        case(
            "an array as text",
            "a.jsonl",
            "{\"label\": \"a\", \"text\": [\"tea\"]}\n",
            "a.jsonl:1:24: expected a string as the text, found an array",
        ),
        case(
            "a negative weight",
            "a.jsonl",
            "{\"label\": \"a\", \"text\": \"tea\", \"n\": -1}\n",
            "a.jsonl:1:36: expected a number from 0.000001 to 1000000 as the weight, found `-1`",
        )
        .with(|options| options.weight_column = Some("n".to_owned())),
        case(
            "a weight in quotes",
            "a.jsonl",
            "{\"label\": \"a\", \"text\": \"tea\", \"n\": \"2\"}\n",
            "a.jsonl:1:36: expected a number as the weight, found string \"2\"",
        )
        .with(|options| options.weight_column = Some("n".to_owned())),
    ]);
}
