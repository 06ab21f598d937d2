//! Damage on purpose: files whose checksums are right and whose content is not.

use std::sync::LazyLock;

use memoir::model::{Narrow, Scratch, Wide};
use proptest::prelude::*;

use super::*;

/// Replaces `from` by `to` in the header, which must hold it.
fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    with_header(bytes, |header| {
        assert!(header.contains(from), "{from} is not in {header}");
        header.replace(from, to)
    })
}

fn entry(bytes: &[u8], name: &str) -> String {
    let header = std::str::from_utf8(&bytes[8..header_length(bytes)]).unwrap();
    let start = header.find(&format!("\"{name}\":{{")).unwrap();
    let end = start + header[start..].find('}').unwrap() + 1;
    header[start..end].to_owned()
}

#[test]
fn headers_that_lie() {
    let bench = Bench::new();
    let bytes = bench.save(&model(text(), Precision::F32));
    let shape = |name: &str, entry: &str| format!("\"{name}\":{entry}");
    let swap = |name: &str, to: &str| {
        let from = entry(&bytes, name);
        bench.complaint(&replaced(&bytes, &from, &shape(name, to)))
    };
    let huge = u64::MAX;
    for content in [
        format!("{{\"dtype\":\"U8\",\"shape\":[{huge}],\"data_offsets\":[0,{huge}]}}"),
        format!("{{\"dtype\":\"U64\",\"shape\":[{huge},{huge}],\"data_offsets\":[0,8]}}"),
        "{\"dtype\":\"U64\",\"shape\":[3],\"data_offsets\":[24,0]}".to_owned(),
        "{\"dtype\":\"U64\",\"shape\":[3],\"data_offsets\":[8,32]}".to_owned(),
        "{\"dtype\":\"U64\",\"shape\":[-3],\"data_offsets\":[0,24]}".to_owned(),
        "{\"dtype\":\"Q7\",\"shape\":[3],\"data_offsets\":[0,24]}".to_owned(),
        "{\"dtype\":\"U64\",\"shape\":[3]}".to_owned(),
        "null".to_owned(),
    ] {
        let complaint = swap("classes.ends", &content);
        assert!(complaint.starts_with("its header"), "{content}: {complaint}");
    }
    // A last array that ends near the end of all numbers must not overflow.
    let from = entry(&bytes, "checksums");
    let start = from
        .split("data_offsets\":[")
        .nth(1)
        .unwrap()
        .split(',')
        .next()
        .unwrap();
    let size = u64::MAX - 5 - start.parse::<u64>().unwrap();
    let last = format!(
        "{{\"dtype\":\"U8\",\"shape\":[{size}],\"data_offsets\":[{start},{}]}}",
        u64::MAX - 5
    );
    assert!(swap("checksums", &last).starts_with("its header"));
    // Two arrays that swap their types are found when they are used.
    let complaint = bench.complaint(&replaced(
        &bytes,
        "\"dtype\":\"U32\",\"shape\":[3]",
        "\"dtype\":\"F32\",\"shape\":[3]",
    ));
    assert_eq!(
        complaint,
        "its array `classes.counts` holds F32 where U32 is expected"
    );
    assert_eq!(
        bench.complaint(&replaced(&bytes, "text.slots", "text.sloth")),
        "it lacks the array `text.slots`"
    );
    assert_eq!(
        bench.complaint(&replaced(&bytes, "\"checksums\"", "\"checksum\"")),
        "it should end with an array `checksums` of 8 bytes for each of the 14 arrays"
    );
}

#[test]
fn headers_that_are_not_what_json_should_be() {
    let bench = Bench::new();
    let bytes = bench.save(&model(vectors(), Precision::F32));
    let complaint = |text: String| bench.complaint(&with_header(&bytes, |_| text));
    let understood = "its header cannot be understood";
    let deep = "[".repeat(1 << 16);
    assert!(complaint(format!("{{\"a\":{deep}")).starts_with(understood));
    assert!(complaint("{".to_owned()).starts_with(understood));
    assert!(complaint("{}".to_owned()).starts_with("it is a safetensors file, but"));
    assert!(complaint("{\"__metadata__\":{\"format\":3}}".to_owned()).starts_with(understood));
    let only = "{\"__metadata__\":{\"format\":\"memoir\",\"version\":\"1\"}}";
    assert!(complaint(only.to_owned()).starts_with("its header declares"));
    let mut invalid = bytes.clone();
    invalid[20] = 0xff;
    assert_eq!(bench.complaint(&invalid), "its header is not UTF-8 text");
    let huge = [&u64::MAX.to_le_bytes(), &bytes[8..]].concat();
    assert!(bench.complaint(&huge).starts_with("it does not start like one"));
    // No arrays at all: nothing follows the header.
    let mut empty = (only.len() as u64).to_le_bytes().to_vec();
    empty.extend_from_slice(only.as_bytes());
    assert_eq!(bench.complaint(&empty), "its header lacks `classes`");
    let counted = only.replace("\"1\"}", "\"1\",\"classes\":\"0\",\"features\":\"0\"}");
    let mut empty = (counted.len() as u64).to_le_bytes().to_vec();
    empty.extend_from_slice(counted.as_bytes());
    assert!(
        bench
            .complaint(&empty)
            .starts_with("it should end with an array `checksums`")
    );
}

#[test]
fn counts_that_do_not_fit_the_arrays() {
    let bench = Bench::new();
    let bytes = bench.save(&model(vectors(), Precision::F32));
    let complaint = |from: &str, to: &str| bench.complaint(&replaced(&bytes, from, to));
    assert_eq!(
        complaint("\"classes\":\"3\"", "\"classes\":\"4\""),
        "`classes.ends` has 3 elements for 4 classes"
    );
    assert_eq!(
        complaint("\"classes\":\"3\"", "\"classes\":\"99999999999\""),
        "it declares 99999999999 classes, more than there can be"
    );
    assert_eq!(
        complaint("\"features\":\"4\"", "\"features\":\"5\""),
        "`weights.offsets` has 5 elements where 5 features need one more than that"
    );
    assert_eq!(
        complaint("\\\"features\\\":4", "\\\"features\\\":5"),
        "`weighting.feature_weights` has 4 elements for 5 features"
    );
    assert!(
        complaint("\\\"kind\\\":\\\"vectors\\\"", "\\\"kind\\\":\\\"images\\\"")
            .starts_with("`preprocessing` in its header cannot be understood: unknown variant `images`")
    );
}

#[test]
fn arrays_that_lie() {
    let bench = Bench::new();
    let bytes = bench.save(&model(vectors(), Precision::F32));
    let complaint = |name: &str, change: fn(&mut [u8])| bench.complaint(&with_array(&bytes, name, change));
    assert_eq!(
        complaint("weights.offsets", |offsets| offsets[8] = 200),
        "`weights.offsets` must never decrease"
    );
    assert_eq!(
        complaint("weights.offsets", |offsets| offsets[32..].fill(0xff)),
        "`weights.offsets` must start at 0 and end at 6, the number of weights"
    );
    assert_eq!(
        complaint("classes.ends", |ends| ends[0] = 200),
        "the name of class 0 does not lie in `classes.names`"
    );
    assert_eq!(
        complaint("classes.ends", |ends| ends[0] = 2),
        "the name of class 0 does not lie in `classes.names`",
        "a name that ends inside a character"
    );
    assert_eq!(
        complaint("classes.ends", |ends| ends[16] = 1),
        "`classes.ends` does not end where `classes.names` does"
    );
    assert_eq!(
        complaint("classes.names", |names| names[0] = 0xff),
        "`classes.names` is not UTF-8 text"
    );
    assert_eq!(
        complaint("classes.ends", |ends| {
            ends[0] = 0;
            ends[8] = 0;
        }),
        "two of its classes are called ``"
    );
}

/// Uses a model in every way there is.
pub(crate) fn use_everything(model: &Model) {
    let mut best = Vec::new();
    for row in rows().iter() {
        for k in [0, 1, 3, 100] {
            model.scorer().top_k(row, k, &mut Scratch::default(), &mut best);
            assert_eq!(best.len(), k.min(model.classes().len()));
            assert!(
                best.iter()
                    .all(|scored| (scored.class as usize) < model.classes().len())
            );
        }
        let _ = model.explain_row(row);
    }
    for class in 0..4 {
        let _ = model.class_features(class, 10, &session(1));
        let _ = model.nearest_classes(class, 10, &session(1));
    }
    model.summary().unwrap();
}

#[test]
fn class_numbers_out_of_range_do_no_harm() {
    let bench = Bench::new();
    for precision in [Precision::F32, Precision::F16] {
        let bytes = bench.save(&model(vectors(), precision));
        let hostile = with_array(&bytes, "weights.classes", |ids| ids.fill(0xff));
        use_everything(&bench.load(&hostile).unwrap());
    }
    for original in [fixed_model::<Narrow>(), fixed_model::<Wide>()] {
        let bytes = bench.save(&original);
        let hostile = with_array(&bytes, "weights.postings", |postings| postings.fill(0xff));
        let loaded = bench.load(&hostile).unwrap();
        use_everything(&loaded);
        loaded.with_precision(Precision::F16).unwrap();
        let from = entry(&bytes, "weights.postings");
        let complaint = bench.complaint(&replaced(&bytes, &from, &from.replace("\"U", "\"I")));
        assert!(
            complaint.starts_with("its array `weights.postings` holds I"),
            "{complaint}"
        );
    }
}

#[test]
fn reductions_that_lie() {
    let bench = Bench::new();
    for precision in [Precision::F32, Precision::F16] {
        let bytes = bench.save(&reduced_model(precision));
        use_everything(&bench.load(&bytes).unwrap());
        let dimensions = |number: u32| {
            bench.complaint(&with_array(&bytes, "reduction.dimensions", |array| {
                array.copy_from_slice(&number.to_le_bytes());
            }))
        };
        for wrong in [0, 1, 3, u32::MAX] {
            let expected = format!("`reduction.values` has 8 elements where 4 features need {wrong} each");
            assert_eq!(dimensions(wrong), expected);
        }
        assert_eq!(
            bench.complaint(&replaced(&bytes, "\"features\":\"4\"", "\"features\":\"5\"")),
            "`reduction.factors` has 4 elements for 5 features"
        );
        for name in [
            "reduction.values",
            "reduction.factors",
            "reduction.dimensions",
            "weights.values",
        ] {
            let renamed = replaced(&bytes, name, &name.replace('s', "z"));
            assert_eq!(bench.complaint(&renamed), format!("it lacks the array `{name}`"));
        }
        // Any numbers in the arrays, huge ones among them, give some answer.
        for name in ["reduction.values", "reduction.factors", "weights.values"] {
            let hostile = with_array(&bytes, name, |array| array.fill(0x7b));
            use_everything(&bench.load(&hostile).unwrap());
        }
    }
}

/// A file with nothing wrong.
static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| Bench::new().save(&model(text(), Precision::F32)));

proptest! {
    #[test]
    fn no_content_of_an_array_causes_a_panic(
        name in prop::sample::select(vec![
            "classes.counts", "classes.ends", "classes.names", "text.ends", "text.names", "text.slots",
            "weighting.document_frequency", "weighting.feature_weights",
            "weights.bias", "weights.classes", "weights.offsets", "weights.values",
        ]),
        noise in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let bench = Bench::new();
        let hostile = with_array(&WHOLE, name, |array| {
            for (index, byte) in &noise {
                array[index.index(array.len())] = *byte;
            }
        });
        if let Ok(model) = bench.load(&hostile) {
            use_everything(&model);
            model.predictor().text("smoke on the wåter", 2).unwrap();
        }
    }

    #[test]
    fn no_header_causes_a_panic(start in 0usize..2000, cut in 0usize..40, insert in "[\\[\\]{}\":,0-9a-z\\\\]{0,12}") {
        let bench = Bench::new();
        let hostile = with_header(&WHOLE, |header| {
            let start = start % header.len();
            let end = (start + cut).min(header.len());
            match (header.get(..start), header.get(end..)) {
                (Some(before), Some(after)) => format!("{before}{insert}{after}"),
                _ => insert,
            }
        });
        if let Ok(model) = bench.load(&hostile) {
            use_everything(&model);
        }
    }

    #[test]
    fn random_bytes_are_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..300), header: bool) {
        if header && bytes.len() > 9 {
            let length = bytes[0] as u64 % bytes.len() as u64;
            bytes[..8].copy_from_slice(&length.to_le_bytes());
            bytes[8] = b'{';
        }
        Bench::new().complaint(&bytes);
    }
}
