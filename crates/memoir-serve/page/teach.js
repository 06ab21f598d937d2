// Teach: what coders have decided becomes a candidate, which is compared, then promoted or discarded.

import { get, of, post, remove } from "./api.js";
import { attempt, card, make, percent, say, table } from "./dom.js";

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

export function leave() {
  clearTimeout(timer);
}

/** @param {HTMLElement} view @param {import("./main.js").Context} context */
export async function show(view, context) {
  clearTimeout(timer);
  const [feedback, candidate] = await Promise.all([
    get(of(context.model, "feedback?limit=20")),
    get(of(context.model, "candidate")),
  ]);
  const again = () => show(view, context);
  const act = (/** @type {() => Promise<any>} */ what, /** @type {string} */ words) =>
    attempt(async () => {
      await what();
      await again();
      say(words);
    });
  const { progress } = feedback;
  const training = candidate.state === "training";
  const button = (
    /** @type {string} */ id,
    /** @type {string} */ label,
    /** @type {boolean} */ enabled,
    /** @type {() => Promise<any>} */ what,
    /** @type {string} */ words,
  ) =>
    make(
      "button",
      {
        id,
        class: id === "train" ? "primary" : null,
        disabled: !enabled,
        onclick: () => act(what, words),
      },
      label,
    );
  const place = of(context.model, "candidate");
  // The view is drawn anew while training goes on; whoever uses the keyboard stays where they are.
  const focused = document.activeElement?.id;
  view.replaceChildren(
    make("h2", {}, "Teach"),
    make(
      "div",
      { class: "column" },
      card(
        "Candidate",
        make(
          "p",
          {},
          `${counted(progress.labelled, "text")} with a class, ` +
            `from ${counted(Object.keys(progress.coders).length, "coder")}. `,
          make("span", { class: "soft" }, "A fifth of them is never learned from: it is the exam."),
        ),
        state(candidate),
        make(
          "div",
          { class: "row" },
          button("train", "Train a candidate", !training, () => post(place), "Training has started"),
          button(
            "promote",
            "Promote",
            candidate.state === "ready",
            () => post(`${place}/promote`),
            "The candidate answers now",
          ),
          button(
            "discard",
            training ? "Stop training" : "Discard",
            candidate.state !== "none",
            () => remove(place),
            "Discarded",
          ),
        ),
      ),
      card(
        "Latest decisions",
        table(
          ["Text", "Class", "Suggested", "Coder", "When"],
          feedback.items.map((/** @type {any} */ item) => [
            item.text,
            (item.undone ? "(taken back) " : "") +
              (item.labels.join(", ") || `skipped: ${item.reason ?? "no reason given"}`),
            item.suggested ?? "",
            item.coder,
            new Date(item.at * 1000).toLocaleString(),
          ]),
          feedback.items.length ? "The latest first" : "None yet: decide on some texts in Review",
        ),
      ),
    ),
  );
  if (focused) document.getElementById(focused)?.focus();
  if (training) timer = setTimeout(() => attempt(again), 1000);
}

/** @param {number} count @param {string} thing */
const counted = (count, thing) => `${count.toLocaleString()} ${thing}${count === 1 ? "" : "s"}`;

/** @param {any} candidate */
function state(candidate) {
  if (candidate.state === "none") return make("p", {}, "There is no candidate.");
  if (candidate.state === "training")
    return make("p", { role: "status" }, `Learning from ${candidate.learned} texts …`);
  if (candidate.state === "failed") return make("p", {}, `Training failed: ${candidate.detail}`);
  const { comparison } = candidate;
  const rows = [];
  for (const [name, pair] of [
    ["Exam", comparison.exam],
    ["Held-out rows", comparison.held_out],
  ]) {
    if (!pair) continue;
    for (const [measure, words] of [
      ["accuracy", "accuracy"],
      ["macro_f1", "macro-F1"],
      ["recall_at_5", "among the first five"],
    ]) {
      const before = pair.current.report[measure],
        after = pair.candidate.report[measure];
      const change = `${after >= before ? "+" : "−"}${(100 * Math.abs(after - before)).toFixed(1)} points`;
      rows.push([
        `${name} (${pair.current.report.rows} rows), ${words}`,
        percent(before),
        percent(after),
        change,
      ]);
    }
  }
  const caption = `Learned from ${candidate.learned} texts`;
  return rows.length
    ? table(
        [
          "Measure",
          `Current ${comparison.current.slice(0, 8)}`,
          `Candidate ${comparison.candidate.slice(0, 8)}`,
          "Change",
        ],
        rows,
        caption,
      )
    : make("p", {}, `${caption}. Nothing to compare on yet: no decided text fell into the exam.`);
}
