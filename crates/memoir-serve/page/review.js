// Review: texts that wait, most valuable first. 1–9 accepts, / searches all classes, the arrow up goes to the
// broader class, S skips, U undoes.

import { get, newId, of, post } from "./api.js";
import * as csv from "./csv.js";
import { answerParts, attempt, card, make, percent, save, say, titleOf } from "./dom.js";

/** @typedef {{text: string, answers: import("./api.js").ClassAnswer[]}} Waiting */

const PART = 50;

/** @type {((event: KeyboardEvent) => void) | null} */
let onKey = null;

export function leave() {
  if (onKey) document.removeEventListener("keydown", onKey);
  onKey = null;
}

/** @param {HTMLElement} view @param {import("./main.js").Context} context */
export async function show(view, context) {
  view.append(make("h2", {}, "Review"));
  if (context.state.input !== "text") {
    view.append(make("p", {}, "This model takes vectors; only texts can be reviewed."));
    return;
  }
  if (!context.coder) say("Enter your name above, so that decisions can be told apart.");
  const review = new Review(context);
  view.append(...review.parts);
  onKey = (event) => review.key(event);
  document.addEventListener("keydown", onKey);
  await review.load();
}

class Review {
  /** @param {import("./main.js").Context} context */
  constructor(context) {
    this.context = context;
    /** @type {Waiting[]} */
    this.items = [];
    /** @type {string[]} */
    this.decided = [];
    this.count = 0;
    /** The broader classes that were gone through. @type {import("./api.js").Concept[][]} */
    this.trail = [];
    this.order = make(
      "select",
      { onchange: () => this.reload() },
      make("option", { value: "uncertain" }, "uncertain first"),
      make("option", { value: "automation" }, "most automation gained"),
      make("option", { value: "added" }, "as added"),
    );
    this.second = make("input", { type: "checkbox", onchange: () => this.reload() });
    this.progress = make("p", { class: "soft" });
    this.item = make("section", { class: "card", "aria-live": "polite" });
    this.search = make("input", {
      type: "search",
      id: "search",
      autocomplete: "off",
      oninput: () => this.find(),
    });
    this.found = make("ol", { class: "answers", id: "found", "aria-label": "Classes found" });
    this.reason = make("input", { id: "reason", list: "reasons", autocomplete: "off" });
    this.dialog = this.skipDialog();
    const file = make("input", { type: "file", id: "queue-file", accept: ".csv,.tsv,.txt,.xlsx" });
    file.addEventListener("change", () => attempt(() => this.add(file)));
    this.parts = [
      make(
        "div",
        { class: "row" },
        make("label", {}, "Order ", this.order),
        make("label", {}, this.second, " second opinion on others’ decisions"),
      ),
      this.progress,
      make(
        "div",
        { class: "columns" },
        this.item,
        make(
          "div",
          { class: "column" },
          card(
            null,
            make("label", { for: "search" }, "Another class ", make("kbd", {}, "/")),
            this.search,
            this.found,
          ),
          card(
            "Texts and decisions",
            make(
              "label",
              { for: "queue-file" },
              "Add texts: CSV, TSV or Excel with a column “text”, or one text per line ",
            ),
            file,
            make(
              "div",
              { class: "row" },
              make("button", { onclick: () => attempt(() => this.export()) }, "Download decisions"),
            ),
          ),
        ),
      ),
      this.dialog,
    ];
  }

  reload() {
    this.items = [];
    return attempt(() => this.load());
  }

  async load() {
    const query = new URLSearchParams({
      order: this.order.value,
      limit: String(PART),
      coder: this.context.coder,
    });
    if (this.second.checked) query.set("second_opinion", "true");
    const reply = await get(of(this.context.model, `queue?${query}`));
    this.items = reply.items;
    this.count = reply.count;
    const { progress } = await get(of(this.context.model, "feedback?limit=1"));
    const agreement = progress.coded_twice
      ? ` Two coders or more on ${progress.coded_twice} texts, ` +
        `agreed on ${percent(progress.agreed / progress.coded_twice)}.`
      : "";
    this.progress.textContent =
      `${this.count} waiting, ${progress.decisions} decided: ` +
      `${progress.accepted} as suggested, ${progress.skipped} skipped.${agreement}`;
    this.draw();
  }

  draw() {
    const current = this.items[0];
    if (!current) {
      this.item.replaceChildren(
        make("p", {}, "Nothing waits. Add texts below, or ask for a second opinion."),
      );
      return;
    }
    const answers = current.answers.map((answer, index) =>
      make(
        "li",
        {},
        make(
          "button",
          { class: "answer", onclick: () => this.decide(answer) },
          ...answerParts(answer, index + 1),
        ),
      ),
    );
    this.item.replaceChildren(
      make("p", { class: "marked", id: "current" }, current.text),
      make("ol", { class: "answers" }, ...answers),
      make(
        "div",
        { class: "row" },
        make("button", { onclick: () => this.skip() }, "Skip ", make("kbd", {}, "S")),
        make(
          "button",
          { onclick: () => this.undo(), disabled: !this.decided.length },
          "Undo ",
          make("kbd", {}, "U"),
        ),
      ),
    );
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.dialog.open) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (this.arrow(target, event.key === "ArrowUp")) event.preventDefault();
      return;
    }
    if (event.key === "Escape" && target === this.search) {
      this.search.value = "";
      this.found.replaceChildren();
      this.search.blur();
      return;
    }
    if (event.key === "Enter" && target === this.search) {
      this.found.querySelector("button")?.click();
      return;
    }
    if (/^(input|select|textarea)$/i.test(target.tagName)) return;
    const number = Number(event.key);
    if (number >= 1 && number <= 9) {
      const answer = this.items[0]?.answers[number - 1];
      if (answer) this.decide(answer);
    } else if (event.key === "/") this.search.focus();
    else if (event.key.toLowerCase() === "s") this.skip();
    else if (event.key.toLowerCase() === "u") this.undo();
    else return;
    event.preventDefault();
  }

  find() {
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () =>
        attempt(async () => {
          const words = this.search.value.trim();
          if (!words) return this.found.replaceChildren();
          const query = new URLSearchParams({ search: words, limit: "9" });
          const reply = await get(of(this.context.model, `classes?${query}`));
          if (words !== this.search.value.trim()) return;
          this.trail = [];
          this.offer(reply.classes);
          say(`${reply.count} classes found`);
        }),
      80,
    );
  }

  /** Shows classes to choose from. @param {import("./api.js").Concept[]} concepts */
  offer(concepts) {
    this.found.replaceChildren(
      ...concepts.map((concept) =>
        make("li", {}, make("button", { onclick: () => this.decide(concept) }, titleOf(concept))),
      ),
    );
  }

  /** Whether an arrow key has a meaning here. @param {HTMLElement} from @param {boolean} isUp */
  arrow(from, isUp) {
    if (this.moveInFound(from, isUp ? -1 : 1)) return true;
    if (!this.context.state.hierarchy || /^(input|select|textarea)$/i.test(from.tagName)) return false;
    attempt(() => (isUp ? this.broader() : this.narrower()));
    return true;
  }

  /** Goes from the best suggestion, or from the broader class shown, to what is broader. */
  async broader() {
    const from = this.trail.at(-1)?.[0] ?? this.items[0]?.answers[0];
    if (!from) return;
    const query = new URLSearchParams({ broader_of: from.class });
    const { classes } = await get(of(this.context.model, `classes?${query}`));
    if (!classes.length) return say(`Nothing is broader than ${titleOf(from)}`);
    this.trail.push(classes);
    await this.showTrail();
  }

  async narrower() {
    this.trail.pop();
    await this.showTrail();
  }

  async showTrail() {
    const shown = this.trail.at(-1) ?? [];
    this.offer(shown);
    this.found.querySelector("button")?.focus();
    say(shown.length ? `Broader: ${shown.map(titleOf).join(", ")}` : "");
  }

  /**
   * Arrow keys go through the search field and what it has found.
   * @param {HTMLElement} from @param {number} step
   */
  moveInFound(from, step) {
    if (this.trail.length) return false;
    const places = [this.search, ...this.found.querySelectorAll("button")];
    const at = places.indexOf(from);
    const next = places[at + step];
    if (at < 0 || !next) return false;
    next.focus();
    return true;
  }

  skip() {
    if (!this.items.length) return;
    this.reason.value = "";
    this.dialog.showModal();
  }

  skipDialog() {
    const reasons = ["unclear", "more than one thing", "no class fits", "not a text to code"];
    const close = make("button", { type: "button", onclick: () => this.dialog.close() }, "Cancel");
    const form = make(
      "form",
      { method: "dialog" },
      make("label", { for: "reason" }, "Why is this text skipped?"),
      this.reason,
      make("datalist", { id: "reasons" }, ...reasons.map((reason) => make("option", { value: reason }))),
      make("div", { class: "row" }, make("button", { class: "primary" }, "Skip"), close),
    );
    form.addEventListener("submit", () => this.decide(null, this.reason.value.trim() || undefined));
    return make("dialog", { "aria-label": "Skip" }, form);
  }

  /** @param {import("./api.js").Concept | null} concept none to skip @param {string} [reason] */
  decide(concept, reason) {
    const current = this.items[0];
    if (!current) return;
    const labels = concept ? [concept.class] : [];
    return attempt(async () => {
      // Made before sending: if the answer gets lost, sending again does not count twice.
      const id = newId();
      const item = { id, text: current.text, labels, coder: this.context.coder || undefined, reason };
      await post(of(this.context.model, "feedback"), { items: [item] });
      this.decided.push(id);
      this.items.shift();
      this.count--;
      this.search.value = "";
      this.trail = [];
      this.offer([]);
      say(concept ? `Decided: ${titleOf(concept)}` : "Skipped");
      if (this.items.length) this.draw();
      else await this.load();
      this.search.blur();
    });
  }

  undo() {
    const id = this.decided.pop();
    if (!id) return;
    return attempt(async () => {
      await post(of(this.context.model, "feedback"), { items: [{ id: newId(), undo: id }] });
      await this.load();
      say("Taken back");
    });
  }

  /** @param {any} file */
  async add(file) {
    const { rows, column } = await csv.readFile(file.files[0]);
    const texts = rows.map((row) => row[column] ?? "");
    let added = 0;
    for (let start = 0; start < texts.length; start += 1000) {
      const reply = await post(of(this.context.model, "queue"), {
        texts: texts.slice(start, start + 1000),
      });
      added += reply.added;
    }
    file.value = "";
    await this.load();
    say(`${added} texts added`);
  }

  async export() {
    const all = [["id", "coder", "text", "label", "suggested", "reason", "undone"]];
    for (let offset = 0; ; offset += 1000) {
      const { items } = await get(of(this.context.model, `feedback?limit=1000&offset=${offset}`));
      for (const item of items) {
        all.push([
          item.id,
          item.coder,
          item.text,
          item.labels.join("|"),
          item.suggested ?? "",
          item.reason ?? "",
          String(item.undone),
        ]);
      }
      if (items.length < 1000) break;
    }
    save(`${this.context.model}.feedback.csv`, csv.write(all));
  }
}
