// Model: how good it is, what a threshold would mean, what it was seen doing, and the version before.

import { get, of, post } from "./api.js";
import { coverage, histogram, reliability } from "./charts.js";
import { attempt, card, facts, make, percent, say, table } from "./dom.js";

/** @param {HTMLElement} view @param {import("./main.js").Context} context */
export async function show(view, context) {
  const [state, summary, quality] = await Promise.all([
    get(of(context.model, "").slice(0, -1)),
    get(of(context.model, "summary")),
    get(of(context.model, "quality")),
  ]);
  view.append(
    make("h2", {}, "Model"),
    make(
      "div",
      { class: "column" },
      contents(state, summary),
      charts(quality, state),
      versions(view, context, state, quality),
    ),
  );
}

/** @param {any} state @param {any} summary */
const contents = (state, summary) =>
  card(
    null,
    facts([
      ["Classes", state.classes],
      ["Training rows", summary.rows],
      ["Features", summary.features],
      ["Algorithm", summary.algorithm],
      ["Probabilities", state.calibrated ? "calibrated" : "none, only scores"],
      ["File", `${(state.version.bytes / 1e6).toFixed(1)} MB`],
      ["Version", state.version.version],
    ]),
  );

/** @param {any} quality @param {any} state */
function charts(quality, state) {
  const parts = quality.held_out ? onHeldOut(quality.held_out) : [];
  if (quality.decisions.rows) parts.push(onDecisions(quality.decisions));
  if (!parts.length) {
    const words =
      "Nothing measured yet. Start the service with --held-out and labelled rows, " +
      "or decide on some texts in Review.";
    parts.push(card("Quality", make("p", {}, words)));
  }
  return make("div", { class: "columns" }, ...parts, seen(state));
}

/** @param {any} held_out */
function onHeldOut({ report, curve }) {
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
  const parts = [
    card(
      `On ${report.rows.toLocaleString()} held-out rows`,
      facts([
        ["Accuracy", percent(report.accuracy)],
        ["Macro-F1", percent(report.macro_f1)],
        ["Among the first three", percent(report.recall_at_3)],
        ["Among the first five", percent(report.recall_at_5)],
        ["Calibration error", percent(report.confidence?.expected_calibration_error)],
      ]),
      make("hr"),
      table(["Training rows", "Classes", "Right"], bands, "Frequent and rare classes"),
    ),
  ];
  if (curve.length) parts.push(threshold(curve));
  if (report.confidence)
    parts.push(card("Are the probabilities right?", reliability(report.confidence.reliability)));
  parts.push(
    card("Confusions", table(["True", "Predicted", "Rows"], confusions, "Most frequent mistakes")),
  );
  return parts;
}

/** @param {any} decisions */
function onDecisions(decisions) {
  const confusions = decisions.confusions.map((/** @type {any} */ pair) => [
    pair.suggested,
    pair.decided,
    pair.count,
  ]);
  return card(
    "Against decisions of coders",
    make(
      "p",
      {},
      `${percent(decisions.accuracy)} of ${decisions.rows} suggestions were right. `,
      make("span", { class: "soft" }, "Texts under review are often the difficult ones."),
    ),
    confusions.length
      ? table(["Suggested", "Decided", "Times"], confusions, "Most frequent corrections")
      : null,
  );
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
  return card("What can be automated?", chart, slider, words);
}

/** @param {any} state */
function seen(state) {
  const seen = state.version.seen;
  const drift =
    seen.drift == null
      ? "needs 2,000 rows"
      : `${seen.drift.toFixed(3)} (${seen.drift < 0.1 ? "little" : seen.drift < 0.25 ? "some" : "much"})`;
  return card(
    `Seen since ${new Date(state.version.since * 1000).toLocaleString()}`,
    facts([
      ["Rows", seen.rows],
      ["Held back", percent(seen.rows ? seen.abstained / seen.rows : null)],
      ["Unknown words", percent(seen.unknown_words)],
      ["Drift", drift],
    ]),
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
  return card(
    "Versions",
    table(["Version", "Opened", "Rows", "Accuracy", "Macro-F1"], rows, "The current one first"),
    make(
      "div",
      { class: "row" },
      make("button", { onclick: () => act("reload") }, "Open the file again"),
      make(
        "button",
        { id: "rollback", onclick: () => act("rollback"), disabled: !state.previous },
        "Back to the version before",
      ),
    ),
  );
}
