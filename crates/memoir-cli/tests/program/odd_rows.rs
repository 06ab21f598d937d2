//! Headers, rows and labels as people have them, each with what must come of it.

use crate::odd_files::{PREDICT, Prints, PrintsAndSays, Refuses, Works, case, check};

#[test]
fn headers_are_not_guessed() {
    const TEXTS: &str = "green tea\nshoe\n";
    check(vec![
        case(
            "a header",
            "a.csv",
            "text\ngreen tea\nshoe\n",
            PREDICT,
            Prints("hot\nwear\n"),
        ),
        case(
            "none",
            "a.csv",
            TEXTS,
            PREDICT,
            Refuses("a.csv:1:1: expected a header with a column `text`, found `green tea`"),
        ),
        case(
            "its ways out",
            "a.csv",
            TEXTS,
            PREDICT,
            Refuses("give `--text-column`, and if it is a text, `--format` with lines"),
        ),
        case(
            "lines",
            "a.csv",
            TEXTS,
            "predict m FILE --format lines",
            Prints("hot\nwear\n"),
        ),
        case(
            "no header",
            "a.csv",
            TEXTS,
            "predict m FILE --no-header",
            Prints("hot\nwear\n"),
        ),
        case(
            "a name of its own",
            "a.csv",
            "title\ngreen tea\n",
            "predict m FILE --text-column title",
            Prints("hot\n"),
        ),
        case(
            "numbered columns",
            "a.csv",
            "1;green tea\n2;shoe\n",
            "predict m FILE --no-header --text-column 2",
            Prints("hot\nwear\n"),
        ),
        case(
            "to train",
            "a.csv",
            "tea,a\ncoffee,b\nmilk,b\n",
            "train FILE --model t",
            Refuses("expected a column `text`, found `tea`, `a`"),
        ),
        case(
            "to train by number",
            "a.csv",
            "tea,a\ncoffee,b\nmilk,b\n",
            "train FILE --model t --quiet --no-header --text-column 1 --label-column 2",
            Works,
        ),
        case(
            "capital letters",
            "a.csv",
            "ID;TEXT\n1;tea\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "blanks",
            "a.csv",
            " text ; id \ntea;1\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "two that fit",
            "a.csv",
            "Text,TEXT,id\ntea,shoe,1\n",
            PREDICT,
            Refuses("expected one column `text`, found `Text` and `TEXT`"),
        ),
        case(
            "one that fits exactly",
            "a.csv",
            "TEXT,text,id\ntea,shoe,1\n",
            PREDICT,
            Prints("wear\n"),
        ),
        case(
            "several columns",
            "a.csv",
            "title,body\nnew,green tea\nshoe,x\n",
            "predict m FILE --text-column title,Body",
            Prints("hot\nwear\n"),
        ),
        case(
            "one of them missing",
            "a.csv",
            "title,body\nnew,tea\n",
            "predict m FILE --text-column title,abstract",
            Refuses("expected a column `abstract` for the text"),
        ),
        case(
            "several keys",
            "a.jsonl",
            "{\"title\": \"new\", \"body\": \"tea\"}\n{\"title\": \"shoe\", \"body\": null}\n",
            "predict m FILE --text-column title,body",
            Prints("hot\nwear\n"),
        ),
        case(
            "a key in capitals",
            "a.jsonl",
            "{\"TEXT\": \"tea\"}\n",
            PREDICT,
            Prints("hot\n"),
        ),
        case(
            "two keys that fit",
            "a.jsonl",
            "{\"TEXT\": \"tea\", \"Text\": \"shoe\"}\n",
            PREDICT,
            Refuses("expected one key `text`"),
        ),
        case(
            "a key that fits exactly",
            "a.jsonl",
            "{\"TEXT\": \"tea\", \"text\": \"shoe\"}\n",
            PREDICT,
            Prints("wear\n"),
        ),
    ]);
}

#[test]
fn rows_without_a_known_word_get_no_answer() {
    const TEXTS: &str = "text\ngreen tea\nxylophone\n\"\"\nshoe\n";
    check(vec![
        case(
            "text",
            "a.csv",
            TEXTS,
            PREDICT,
            PrintsAndSays(
                "hot\n\n\nwear\n",
                "a.csv: 2 rows have no known word and so no answer",
            ),
        ),
        case(
            "quiet",
            "a.csv",
            TEXTS,
            "predict m FILE --quiet",
            Prints("hot\n\n\nwear\n"),
        ),
        case(
            "several answers",
            "a.csv",
            "text\nxylophone\n",
            "predict m FILE -k 3 --scores",
            Prints("\n"),
        ),
        case(
            "JSON",
            "a.csv",
            "text\nxylophone\n",
            "predict m FILE --output jsonl",
            Prints("{\"classes\":[]}\n"),
        ),
        case(
            "CSV",
            "a.csv",
            TEXTS,
            "predict m FILE --output csv",
            Prints("row,rank,class\n1,1,hot\n4,1,wear\n"),
        ),
        case(
            "explain",
            "-",
            "",
            "explain m --text xylophone",
            Prints("no answer: nothing in it is known to the model\n"),
        ),
        case(
            "explain rows",
            "a.csv",
            "text\nxylophone\n",
            "explain m --data FILE",
            PrintsAndSays(
                "line 2\ntext       xylophone\nno answer: nothing in it is known to the model\n",
                "1 row has no known word",
            ),
        ),
        case(
            "explain as JSON",
            "a.csv",
            "text\nxylophone\n",
            "explain m --data FILE --json",
            Prints(concat!(
                r#"{"line":2,"text":"xylophone","labels":[],"answer":null,"runner_up":null,"features":[]}"#,
                "\n"
            )),
        ),
    ]);
}

#[test]
fn what_cannot_be_learned_is_refused() {
    check(vec![
        case(
            "numbers of rows",
            "a.csv",
            "id,text\n1,tea\n2,coffee\n3,black tea\n",
            "train FILE --model t",
            Refuses("every row has a label of its own in `id`"),
        ),
        case(
            "its way out",
            "a.csv",
            "id,text\n1,tea\n2,coffee\n",
            "train FILE --model t",
            Refuses("give `--label-column` with the column of the labels, or with `id` if that is meant"),
        ),
        case(
            "when meant",
            "a.csv",
            "id,text\n1,tea\n2,coffee\n",
            "train FILE --model t --quiet --label-column id",
            Works,
        ),
        case(
            "few classes",
            "a.csv",
            "text,label\ntea,a\ncoffee,b\n",
            "train FILE --model t --quiet",
            Works,
        ),
        case(
            "many labels, all different",
            "a.csv",
            "text,label\na,1\nb,2\nc,3\nd,4\ne,5\nf,6\ng,7\nh,8\ni,9\nj,10\nk,11\nl,12\nm,13\nn,14\no,15\np,16\nq,17\nr,18\ns,19\nt,20\n",
            "train FILE --model t",
            Refuses("every row has a label of its own in `label`"),
        ),
        case(
            "no first weights",
            "-",
            "",
            "train train.csv --model t --initial-scale 0",
            Refuses("--initial-scale"),
        ),
    ]);
}
