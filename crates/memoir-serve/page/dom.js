// Small helpers to build the page. Texts become text nodes, never markup.

/**
 * @param {string} name
 * @param {Record<string, any>} [properties] attributes; `on…` are listeners
 * @param {...(Node | string | null | undefined)} children
 * @returns {any}
 */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [property, value] of Object.entries(properties)) {
    if (property.startsWith("on")) element.addEventListener(property.slice(2), value);
    else if (value === true) element.setAttribute(property, "");
    else if (value !== false && value != null) element.setAttribute(property, String(value));
  }
  for (const child of children) if (child != null) element.append(child);
  return element;
}

/** @param {string} name @param {Record<string, any>} properties @param {...(Node | string)} children */
export function draw(name, properties, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [property, value] of Object.entries(properties))
    element.setAttribute(property, String(value));
  element.append(...children);
  return element;
}

/** @param {string} text @param {boolean} [isProblem] */
export function say(text, isProblem = false) {
  const message = document.getElementById("message");
  if (!message) return;
  message.textContent = text;
  message.classList.toggle("problem", isProblem);
}

/** Runs `work` and says what went wrong, if anything did. @param {() => Promise<void>} work */
export async function attempt(work) {
  try {
    await work();
  } catch (error) {
    const status = /** @type {{status?: number}} */ (error).status;
    const access = document.getElementById("access");
    if (status === 401 && access instanceof HTMLDetailsElement) access.open = true;
    say(error instanceof Error ? error.message : String(error), true);
  }
}

/** @param {number | undefined | null} share */
export const percent = (share) => (share == null ? "–" : `${(100 * share).toFixed(1)}%`);

/** @param {import("./api.js").ClassAnswer} answer */
export const strength = (answer) =>
  answer.probability == null ? (answer.score ?? 0).toFixed(2) : percent(answer.probability);

/** What a class is called, with its code if that says more. @param {import("./api.js").Concept} concept */
export function titleOf(concept) {
  const code = concept.notation ?? concept.class;
  return concept.name && concept.name !== code ? `${concept.name} (${code})` : code;
}

/**
 * The inside of an answer: name, bar, figure.
 * @param {import("./api.js").ClassAnswer} answer @param {number} [rank]
 */
export function answerParts(answer, rank) {
  const fill = make("span");
  // Set by script: the content policy of the page allows no inline styles.
  fill.style.width = `${Math.max(0, Math.min(1, answer.probability ?? 0)) * 100}%`;
  const number = rank ? make("kbd", {}, String(rank)) : null;
  const name = make("span", {}, number, rank ? " " : "", titleOf(answer));
  const bar = make("span", { class: "bar", "aria-hidden": "true" }, fill);
  return [name, bar, make("span", {}, strength(answer))];
}

/**
 * A part of a view on a background of its own.
 * @param {string | null} title @param {...(Node | string | null | undefined)} children
 */
export const card = (title, ...children) =>
  make("section", { class: "card" }, title ? make("h3", {}, title) : null, ...children);

/** Names and values. @param {[string, string | number][]} rows */
export const facts = (rows) =>
  make(
    "dl",
    {},
    ...rows.map(([name, value]) =>
      make(
        "div",
        {},
        make("dt", {}, name),
        make("dd", {}, typeof value === "number" ? value.toLocaleString() : value),
      ),
    ),
  );

/** Whether a cell is set as a number: one, a share, or a difference. @param {string | number} value */
const isFigure = (value) => typeof value === "number" || /^([+−]?[\d.]+(%| points)|–)$/.test(value);

/** @param {string[]} head @param {(string | number)[][]} rows @param {string} caption */
export function table(head, rows, caption) {
  const figures = head.map((_, column) => rows.length > 0 && rows.every((row) => isFigure(row[column])));
  const kind = (/** @type {number} */ column) => (figures[column] ? "number" : null);
  const title = (/** @type {string} */ name, /** @type {number} */ column) =>
    make("th", { scope: "col", class: kind(column) }, name);
  const cell = (/** @type {string | number} */ value, /** @type {number} */ column) =>
    make("td", { class: kind(column) }, typeof value === "number" ? value.toLocaleString() : value);
  const frame = make(
    "div",
    { class: "scroll" },
    make(
      "table",
      {},
      make("caption", { class: "soft" }, caption),
      make("thead", {}, make("tr", {}, ...head.map(title))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell)))),
    ),
  );
  // Only a table that is too wide is a stop of the Tab key: there the arrow keys scroll it.
  new ResizeObserver(() => {
    const scrolls = frame.scrollWidth > frame.clientWidth;
    for (const [name, value] of [
      ["tabindex", "0"],
      ["role", "region"],
      ["aria-label", caption],
    ]) {
      if (scrolls) frame.setAttribute(name, value);
      else frame.removeAttribute(name);
    }
  }).observe(frame);
  return frame;
}

/** Lets the reader save a text as a file. @param {string} name @param {string} text */
export function save(name, text) {
  const link = make("a", {
    href: URL.createObjectURL(new Blob([text], { type: "text/csv" })),
    download: name,
  });
  link.click();
  URL.revokeObjectURL(link.href);
}
