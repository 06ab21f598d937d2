// Model: how good it is, what a threshold would mean, what it was seen doing, and the version before.

import { get, of, post } from "./api.js";
import { coverage, histogram, reliability } from "./charts.js";
import { attempt, make, percent, say, table } from "./dom.js";

/** @param {HTMLElement} view @param {import("./main.js").Context} context */
export async function show(view, context) {
  const [state, summary, quality] = await Promise.all([
    get(of(context.model, "").slice(0, -1)),
    get(of(context.model, "summary")),
    get(of(context.model, "quality")),
  ]);
  view.append(
    make("h2", {}, "Model"),
    facts(state, summary),
    make("div", { class: "columns" }, ...measured(quality), seen(state)),
    versions(view, context, state, quality),
  );
}

/** @param {any} state @param {any} summary */
function facts(state, summary) {
  const rows = [
    ["Version", state.version.version],
    ["Algorithm", summary.algorithm],
    ["Classes", state.classes],
    ["Training rows", summary.rows],
    ["Features", summary.features],
    ["File", `${(state.version.bytes / 1e6).toFixed(1)} MB`],
    ["Probabilities", state.calibrated ? "calibrated" : "none: this model gives scores"],
  ];
  return table(["", ""], rows, "What is in it");
}

/** @param {any} quality */
function measured(quality) {
  const parts = [];
  if (quality.held_out) {
    const { report, curve } = quality.held_out;
    const rows = [
      ["Accuracy", percent(report.accuracy)],
      ["Macro-F1", percent(report.macro_f1)],
      ["Among the first three", percent(report.recall_at_3)],
      ["Among the first five", percent(report.recall_at_5)],
      ["Calibration error", percent(report.confidence?.expected_calibration_error)],
    ];
    parts.push(
      make(
        "section",
        {},
        make("h3", {}, "On held-out rows"),
        table(["", ""], rows, `${report.rows.toLocaleString()} rows`),
        curve.length ? threshold(curve) : null,
        report.confidence
          ? make("div", {}, make("h3", {}, "Calibration"), reliability(report.confidence.reliability))
          : null,
      ),
    );
    const bands = report.by_frequency.map((/** @type {any} */ band) => [
      String(band.band),
      band.classes,
      percent(band.recall_at_1),
    ]);
    const confusions = report.confusions.map((/** @type {any} */ pair) => [
      pair.truth,
      pair.predicted,
      pair.count,
    ]);
    parts.push(
      make(
        "section",
        {},
        make("h3", {}, "The tail and the confusions"),
        table(["Classes in training", "Classes", "Found"], bands, "Frequent and rare classes"),
        table(["True", "Predicted", "Rows"], confusions, "Most frequent mistakes"),
      ),
    );
  }
  const decisions = quality.decisions;
  if (decisions.rows) {
    const confusions = decisions.confusions.map((/** @type {any} */ pair) => [
      pair.suggested,
      pair.decided,
      pair.count,
    ]);
    parts.push(
      make(
        "section",
        {},
        make("h3", {}, "Against decisions of coders"),
        make(
          "p",
          {},
          `${percent(decisions.accuracy)} of ${decisions.rows} suggestions were right. `,
          make("span", { class: "soft" }, "Texts under review are often the difficult ones."),
        ),
        decisions.curve.length > 1 ? threshold(decisions.curve) : null,
        table(["Suggested", "Decided", "Times"], confusions, "Most frequent corrections"),
      ),
    );
  }
  if (!parts.length) {
    parts.push(
      make(
        "section",
        {},
        make("h3", {}, "Quality"),
        make(
          "p",
          {},
          "Nothing measured yet. Start the service with --held-out and labelled rows, " +
            "or decide on some texts in Review.",
        ),
      ),
    );
  }
  return parts;
}

/** @param {{threshold: number, coverage: number, accuracy: number}[]} curve */
function threshold(curve) {
  const { chart, mark } = coverage(curve);
  const words = make("p", { "aria-live": "polite" });
  const slider = make("input", {
    type: "range",
    min: 0,
    max: 1,
    step: 0.01,
    value: 0.5,
    "aria-label": "Least probability",
  });
  const move = () => {
    const least = Number(slider.value);
    // Points go from the highest probability down.
    const point = curve.filter((point) => point.threshold >= least).at(-1);
    mark(point?.coverage ?? 0);
    words.textContent = point
      ? `From probability ${least.toFixed(2)}: ${percent(point.coverage)} answered, ` +
        `${percent(point.accuracy)} of them right.`
      : `From probability ${least.toFixed(2)}: nothing is answered.`;
  };
  slider.addEventListener("input", move);
  move();
  return make("div", {}, make("h3", {}, "What can be automated?"), chart, slider, words);
}

/** @param {any} state */
function seen(state) {
  const seen = state.version.seen;
  const drift =
    seen.drift == null
      ? "not enough rows yet (2,000 are needed)"
      : `${seen.drift.toFixed(3)} (${seen.drift < 0.1 ? "little" : seen.drift < 0.25 ? "some" : "much"} has changed)`;
  return make(
    "section",
    {},
    make("h3", {}, "Seen since it was opened"),
    table(
      ["", ""],
      [
        ["Rows", seen.rows],
        ["Held back", percent(seen.rows ? seen.abstained / seen.rows : null)],
        ["Unknown words", percent(seen.unknown_words)],
        ["Drift", drift],
      ],
      new Date(state.version.since * 1000).toLocaleString(),
    ),
    seen.rows && state.calibrated ? histogram(seen.confidence) : null,
  );
}

/**
 * @param {HTMLElement} view @param {import("./main.js").Context} context
 * @param {any} state @param {any} quality
 */
function versions(view, context, state, quality) {
  const act = (/** @type {string} */ what) =>
    attempt(async () => {
      await post(of(context.model, what));
      view.replaceChildren();
      await show(view, context);
      say(what === "reload" ? "The file was opened again" : "Rolled back");
    });
  const row = (/** @type {any} */ version, /** @type {any} */ measured) => [
    version.version,
    new Date(version.since * 1000).toLocaleString(),
    version.seen.rows,
    percent(measured?.report.accuracy),
    percent(measured?.report.macro_f1),
  ];
  const rows = [row(state.version, quality.held_out)];
  if (state.previous) rows.push(row(state.previous, quality.previous_held_out));
  return make(
    "section",
    {},
    make("h3", {}, "Versions"),
    table(["Version", "Opened", "Rows", "Accuracy", "Macro-F1"], rows, "The current one first"),
    make(
      "div",
      { class: "row" },
      make("button", { onclick: () => act("reload") }, "Open the file again"),
      make(
        "button",
        { onclick: () => act("rollback"), disabled: !state.previous },
        "Back to the version before",
      ),
    ),
  );
}
