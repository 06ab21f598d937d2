//! Defaults, texts, ranges, groups.

use super::*;

crate::choices! {
    /// Ways.
    enum Mode {
        /// One.
        First = "a",
        /// Another.
        Second = "b",
    }
}

crate::parameters! {
    /// Some parameters.
    struct Params {
        /// Number of
        /// things
        k: usize = "10" in Kind::Integer(1, u64::MAX);
        /// Length
        step: Option<f64> = "auto" in Kind::Number(0.0, 100.0);
        /// Way
        mode: Mode = "a";
        /// Whether to talk
        talk_much: bool = "off";
    }
}

crate::parameters! {
    /// A set with another one in it.
    struct Outer {
        /// Width
        width: u32 = "3";
        ..inner: Params, with "mode" = "b";
    }
}

#[test]
fn defaults_fill_what_is_not_given() {
    let params = Params::parse([("mode", "b"), ("talk-much", "on")]).unwrap();
    let expected = Params {
        k: 10,
        step: None,
        mode: Mode::Second,
        talk_much: true,
    };
    assert_eq!(params, expected);
    assert_eq!(params, Params::default().mode(Mode::Second).talk_much(true));
}

#[test]
fn the_table_has_names_and_help() {
    let names: Vec<_> = Params::SPECS.iter().map(|spec| spec.name).collect();
    assert_eq!(names, ["k", "step", "mode", "talk-much"]);
    assert_eq!(Params::SPECS[0].help, "Number of things");
    assert_eq!(Params::SPECS[3].kind, Kind::Choice(&["off", "on"]));
}

#[test]
fn messages_name_parameter_range_and_finding() {
    let message = |name, text| Params::parse([(name, text)]).unwrap_err().to_string();
    assert_eq!(
        message("k", "0"),
        "`k` must be a whole number of at least 1, but is `0`"
    );
    assert_eq!(
        message("step", "nan"),
        "`step` must be `auto` or a number from 0 to 100, but is `nan`"
    );
    assert_eq!(message("mode", "c"), "`mode` must be one of a, b, but is `c`");
    assert_eq!(
        message("x", "1"),
        "there is no parameter `x` here; there are: k, step, mode, talk-much"
    );
}

#[test]
fn values_that_setters_set_are_checked() {
    assert!(Params::default().k(3).step(7.5).check().is_ok());
    let message = |params: Params| params.check().unwrap_err().to_string();
    assert_eq!(
        message(Params::default().k(0)),
        "`k` must be a whole number of at least 1, but is `0`"
    );
    assert_eq!(
        message(Params::default().step(f64::INFINITY)),
        "`step` must be `auto` or a number from 0 to 100, but is `inf`"
    );
}

#[test]
fn values_can_be_set_again() {
    let params = Params::parse([("k", "3"), ("step", "0.5"), ("mode", "b")]).unwrap();
    let values = params.values();
    let texts: Vec<(&str, String)> = values
        .iter()
        .map(|(name, value)| (*name, value.to_string()))
        .collect();
    let again = Params::parse(texts.iter().map(|(name, text)| (*name, text.as_str())));
    assert_eq!(again.unwrap(), params);
    assert_eq!(Params::default().values()[1], ("step", Value::Auto));
}

#[test]
fn a_group_has_its_parameters_in_the_same_table() {
    let names: Vec<_> = Outer::SPECS.iter().map(|spec| spec.name).collect();
    assert_eq!(names, ["width", "k", "step", "mode", "talk-much"]);
    assert_eq!(Outer::SPECS[3].default, "b");
    assert_eq!(Outer::default().inner.mode, Mode::Second);
    let params = Outer::parse([("k", "4"), ("width", "9")]).unwrap();
    assert_eq!((params.width, params.inner.k), (9, 4));
    assert_eq!(params.values().len(), 5);
    assert!(params.width(1).inner(Params::default().k(0)).check().is_err());
}

#[test]
fn ranges_are_told_in_plain_numbers() {
    let spec = |kind| Spec {
        name: "x",
        kind,
        default: "1",
        help: "",
    };
    assert_eq!(
        spec(Kind::Integer(0, 1_000_000_000)).legal(),
        "a whole number from 0 to 1,000,000,000"
    );
    assert_eq!(
        spec(Kind::Number(-1e4, 1e6)).legal(),
        "a number from -10,000 to 1,000,000"
    );
    assert_eq!(
        spec(Kind::Number(0.000_001, 999.5)).legal(),
        "a number from 0.000001 to 999.5"
    );
}

#[test]
fn values_of_later_versions_are_kept_as_text() {
    let read = |json: &str| serde_json::from_str::<Value>(json).unwrap();
    for (json, value) in [
        ("3", Value::Integer(3)),
        ("0.1", Value::Number(0.1)),
        ("-2", Value::Number(-2.0)),
        ("\"exact\"", Value::Word("exact".to_owned())),
        ("null", Value::Auto),
        ("true", Value::Word("true".to_owned())),
        ("[1, 2]", Value::Word("[1,2]".to_owned())),
        ("{\"a\": 1}", Value::Word("{\"a\":1}".to_owned())),
    ] {
        assert_eq!(read(json), value, "{json}");
    }
    for value in [Value::Integer(3), Value::Number(0.1), Value::Auto] {
        assert_eq!(read(&serde_json::to_string(&value).unwrap()), value);
    }
}
