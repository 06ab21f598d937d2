// Which view is shown, for which model, and who looks at it.

import { get, key, setKey } from "./api.js";
import { attempt, make, say } from "./dom.js";
import * as ask from "./ask.js";
import * as model from "./model.js";
import * as review from "./review.js";
import * as teach from "./teach.js";

/** @typedef {{model: string, coder: string, state: any}} Context */
/** @typedef {(view: HTMLElement, context: Context) => void | Promise<void>} Show */
/** @typedef {{show: Show, leave?: () => void}} View */

/** @type {Record<string, View>} */
const views = { ask, review, model, teach };
const CODER = "memoir.coder";

/** @param {string} id @returns {any} */
const byId = (id) => document.getElementById(id);

/** @type {any[]} */
let models = [];
/** @type {View | null} */
let shown = null;

function viewName() {
  const name = location.hash.slice(1);
  return name in views ? name : "ask";
}

async function show() {
  const name = viewName();
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  shown?.leave?.();
  shown = views[name];
  const view = byId("view");
  view.replaceChildren();
  document.title = `${name[0].toUpperCase()}${name.slice(1)} – memoir`;
  const state = models.find((state) => state.name === byId("models").value);
  if (!state) return;
  say("");
  await attempt(async () =>
    shown?.show(view, { model: state.name, coder: byId("coder").value.trim(), state }),
  );
}

async function loadModels() {
  await attempt(async () => {
    models = (await get("v1/models")).models;
    const chosen = byId("models").value;
    byId("models").replaceChildren(
      ...models.map(({ name }) => make("option", { selected: name === chosen }, name)),
    );
  });
  await show();
}

byId("coder").value = localStorage.getItem(CODER) ?? "";
byId("coder").addEventListener("change", () => {
  localStorage.setItem(CODER, byId("coder").value.trim());
  show();
});
byId("key").value = key();
byId("key").addEventListener("change", () => {
  setKey(byId("key").value);
  loadModels();
});
byId("models").addEventListener("change", show);
window.addEventListener("hashchange", async () => {
  await show();
  byId("view").focus();
});
loadModels();
