//! What users may set.

use crate::params::{Kind, Spec};

/// Parameters with their defaults and ranges.
pub(super) const PARAMS: &[Spec] = &[
    Spec {
        name: "passes",
        kind: Kind::Integer(1, 1000),
        default: "auto",
        help: "Passes over the rows: the first finds each row's rivals by a scan, the others use these again",
    },
    Spec {
        name: "rescan",
        kind: Kind::Choice(&["no", "yes"]),
        default: "auto",
        help: "Whether later passes look for each row's rivals anew instead of scoring those of the first pass again",
    },
    Spec {
        name: "rivals",
        kind: Kind::Integer(1, 10_000),
        default: "auto",
        help: "Strongest wrong classes that each row is told apart from",
    },
    Spec {
        name: "search",
        kind: Kind::Choice(&["rough", "exact"]),
        default: "rough",
        help: "How scores are added up to find rivals: rough, in 16 bits, which is faster, or exact, in 32 bits; answers are always exact",
    },
    Spec {
        name: "tail",
        kind: Kind::Number(0.0, 1000.0),
        default: "auto",
        help: "What all classes but the rivals weigh together beside these, in weights of the weakest rival",
    },
    Spec {
        name: "step-size",
        kind: Kind::Number(0.0, 1000.0),
        default: "auto",
        help: "Length of the first step along the gradient",
    },
    Spec {
        name: "last-step-size",
        kind: Kind::Number(0.0, 1000.0),
        default: "auto",
        help: "Length of the last step; steps shrink evenly from the first to the last",
    },
    Spec {
        name: "rare-power",
        kind: Kind::Number(0.0, 1.0),
        default: "auto",
        help: "Power of a feature's rareness with which its steps grow: 0 for steps alike, 0.5 for much longer ones of rare features",
    },
    Spec {
        name: "start-scale",
        kind: Kind::Number(0.0, 30.0),
        default: "auto",
        help: "Length of each class's weight vector before the first step (a class centroid)",
    },
    Spec {
        name: "size-power",
        kind: Kind::Number(-1.0, 1.0),
        default: "auto",
        help: "Power of the class size with which first weights grow",
    },
    Spec {
        name: "least-start",
        kind: Kind::Number(0.0, 30.0),
        default: "auto",
        help: "Pairs of feature and class whose first weight is smaller than this never get a weight",
    },
    Spec {
        name: "batch",
        kind: Kind::Integer(1, 100_000_000),
        default: "auto",
        help: "Rows scored against the same weights before these move (auto: more where rivals are remembered)",
    },
    Spec {
        name: "class-balance",
        kind: Kind::Number(0.0, 1.0),
        default: "auto",
        help: "From rows as they come (0) to every class alike (1): how much more rows of small classes count",
    },
    Spec {
        name: "trim",
        kind: Kind::Number(0.0, 0.9),
        default: "auto",
        help: "Share of a training row's squared length that may be left out, smallest values first",
    },
    Spec {
        name: "answer-trim",
        kind: Kind::Number(0.0, 0.9),
        default: "auto",
        help: "The same share for the rows that the finished model answers",
    },
    Spec {
        name: "least-slope",
        kind: Kind::Number(0.0, 1.0),
        default: "0.02",
        help: "Labels and rivals that a row would move by less than this share of a step are not moved",
    },
    Spec {
        name: "hopeless",
        kind: Kind::Number(0.0, 1.0),
        default: "auto",
        help: "Rows whose labels hold less than this share against their rivals in the first pass are left out of the others",
    },
    Spec {
        name: "settled",
        kind: Kind::Number(0.0, 1.0),
        default: "auto",
        help: "Rows whose labels hold more than this share against their rivals in the first pass are left out of the others",
    },
    Spec {
        name: "least-weight",
        kind: Kind::Number(0.0, 30.0),
        default: "auto",
        help: "Weights smaller than this are dropped at the end",
    },
    Spec {
        name: "keep-rows",
        kind: Kind::Integer(0, 1_000_000_000),
        default: "auto",
        help: "Training rows kept in the model file, to be repeated by `--from`, which then forgets less (auto: none, or as many as the earlier model)",
    },
    Spec {
        name: "report-rivals",
        kind: Kind::Choice(&["off", "on"]),
        default: "off",
        help: "Say at the end how many of the strongest rivals, by an exact scan, a rough one finds and the memory of the first pass holds",
    },
];
