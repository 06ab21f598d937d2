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

/**
 * The inside of an answer: name, bar, figure.
 * @param {import("./api.js").ClassAnswer} answer @param {number} [rank]
 */
export function answerParts(answer, rank) {
  const fill = make("span");
  // Set by script: the content policy of the page allows no inline styles.
  fill.style.width = `${Math.max(0, Math.min(1, answer.probability ?? 0)) * 100}%`;
  const number = rank ? make("kbd", {}, String(rank)) : null;
  const name = make("span", {}, number, rank ? " " : "", answer.class);
  const bar = make("span", { class: "bar", "aria-hidden": "true" }, fill);
  return [name, bar, make("span", {}, strength(answer))];
}

/** @param {string[]} head @param {(string | number)[][]} rows @param {string} caption */
export function table(head, rows, caption) {
  const isNumber = (/** @type {string | number} */ value) => typeof value === "number";
  const cell = (/** @type {string | number} */ value) =>
    make(
      "td",
      { class: isNumber(value) ? "number" : null },
      isNumber(value) ? value.toLocaleString() : value,
    );
  return make(
    "div",
    { class: "scroll" },
    make(
      "table",
      {},
      make("caption", { class: "soft" }, caption),
      make("thead", {}, make("tr", {}, ...head.map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell)))),
    ),
  );
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
