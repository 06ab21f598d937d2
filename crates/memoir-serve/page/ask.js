// Ask: one text with its answers and the words behind them; or a whole list, given back coded.

import { get, of, post, predictAll } from "./api.js";
import * as csv from "./csv.js";
import { answerParts, attempt, card, make, percent, save, say, titleOf } from "./dom.js";

/** @param {HTMLElement} view @param {import("./main.js").Context} context */
export function show(view, context) {
  if (context.state.input !== "text") {
    view.append(
      make("h2", {}, "Ask"),
      make("p", {}, "This model takes vectors. Ask it through the API."),
    );
    return;
  }
  const text = make("textarea", { id: "text", placeholder: "Type or paste a text" });
  const result = make("div", { class: "column", "aria-live": "polite" });
  const send = () => attempt(() => explain(context, text.value, result));
  text.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    }
  });
  const question = card(
    null,
    make(
      "label",
      { for: "text" },
      "Which of ",
      context.state.classes.toLocaleString(),
      " classes fits?",
    ),
    text,
    make(
      "div",
      { class: "row" },
      make("button", { class: "primary", onclick: send }, "Ask"),
      make(
        "span",
        { class: "soft" },
        make("kbd", {}, "Enter"),
        " asks, ",
        make("kbd", {}, "Shift Enter"),
        " breaks the line",
      ),
    ),
  );
  view.append(
    make("h2", {}, "Ask"),
    make("div", { class: "columns" }, make("div", { class: "column" }, question, result), list(context)),
  );
  text.focus();
}

/** @param {import("./main.js").Context} context @param {string} text @param {HTMLElement} result */
async function explain(context, text, result) {
  if (!text.trim()) return;
  const reply = await post(of(context.model, "explain"), { text, features: 12 });
  const strongest = Math.max(
    1e-9,
    ...reply.parts.map((/** @type {any} */ part) => Math.abs(part.decides)),
  );
  const marked = reply.parts.map((/** @type {any} */ part) => {
    if (Math.abs(part.decides) < 0.02 * strongest) return part.text;
    const kind = part.decides > 0 ? "for" : "against";
    const strong = Math.abs(part.decides) > 0.5 * strongest ? " strong" : "";
    return make(
      "mark",
      { class: kind + strong, title: `${kind} the answer: ${part.decides.toFixed(2)}` },
      part.text,
    );
  });
  const answers = reply.answers.map((/** @type {any} */ answer) =>
    make("li", { class: "answer" }, ...answerParts(answer)),
  );
  const second = reply.explanation.runner_up?.class;
  const named = reply.answers.find((/** @type {any} */ answer) => answer.class === second);
  const runnerUp = named ? titleOf(named) : second;
  result.replaceChildren(
    card("Answers", make("ol", { class: "answers" }, ...answers)),
    card(
      "Why",
      make("p", { class: "marked" }, ...marked),
      make(
        "p",
        { class: "soft" },
        "Underlined words speak for the answer",
        runnerUp ? `, words underlined with dashes for “${runnerUp}”.` : ".",
      ),
    ),
  );
  const best = reply.answers[0];
  say(`Answer: ${best ? titleOf(best) : "none"}`);
  if (best) result.append(await nearest(context, best));
}

/**
 * The classes most like one.
 * @param {import("./main.js").Context} context @param {import("./api.js").Concept} best
 */
async function nearest(context, best) {
  const query = new URLSearchParams({ like: best.class, limit: "8" });
  const { classes } = await get(of(context.model, `classes?${query}`));
  const names = classes.map(titleOf).join(", ");
  return card(
    `Classes like “${titleOf(best)}”`,
    make("p", {}, names || "None has words in common with it."),
  );
}

/** @param {import("./main.js").Context} context */
function list(context) {
  const lines = make("textarea", { id: "lines", placeholder: "One text per line" });
  const file = make("input", { type: "file", id: "file", accept: ".csv,.tsv,.txt,.xlsx" });
  const threshold = make("input", {
    type: "number",
    id: "least",
    min: 0,
    max: 1,
    step: 0.05,
    value: 0,
    size: 5,
  });
  const run = (/** @type {File | null} */ given) =>
    attempt(async () => {
      const table = given
        ? await csv.readFile(given)
        : {
            head: ["text"],
            rows: lines.value
              .split("\n")
              .filter((/** @type {string} */ line) => line.trim())
              .map((/** @type {string} */ line) => [line]),
            column: 0,
          };
      await code(context, table, Number(threshold.value), given?.name ?? "list");
    });
  const drop = make(
    "section",
    { class: "card drop" },
    make("h3", {}, "Code a list"),
    make(
      "p",
      { class: "soft" },
      "The table comes back with a class, its probability and the second best class.",
    ),
    make("label", { for: "lines" }, "Paste a list"),
    lines,
    make(
      "div",
      { class: "row" },
      make(
        "label",
        { for: "file" },
        "or choose or drop a file: CSV, TSV or Excel with a column “text”, or one text per line",
      ),
      file,
    ),
    make(
      "div",
      { class: "row" },
      make("label", {}, "Leave empty below probability ", threshold),
      make("button", { id: "code", onclick: () => run(file.files?.[0] ?? null) }, "Code the list"),
    ),
  );
  drop.addEventListener("dragover", (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const dropped = event.dataTransfer?.files[0];
    if (dropped) run(dropped);
  });
  return drop;
}

/**
 * @param {import("./main.js").Context} context
 * @param {{head: string[], rows: string[][], column: number}} table
 * @param {number} least @param {string} name
 */
async function code(context, table, least, name) {
  const texts = table.rows.map((row) => row[table.column] ?? "");
  if (!texts.length) return;
  const answers = await predictAll(context.model, texts, 2, (done) =>
    say(`${done} of ${texts.length} coded`),
  );
  let coded = 0;
  const rows = table.rows.map((row, index) => {
    const [best, second] = answers[index];
    const sure = best && (best.probability ?? 1) >= least;
    coded += sure ? 1 : 0;
    const figure = best?.probability ?? best?.score ?? "";
    return [
      ...table.head.map((_, column) => row[column] ?? ""),
      sure ? best.class : "",
      sure ? (best.name ?? "") : "",
      figure,
      second?.class ?? "",
    ];
  });
  save(
    `${name.replace(/\.\w+$/, "")}.coded.csv`,
    csv.write([[...table.head, "class", "name", "probability", "second"], ...rows]),
  );
  say(
    `${coded} of ${texts.length} rows coded (${percent(coded / texts.length)}). ` +
      "The table is in your downloads.",
  );
}
