// Requests to the service. Nothing else on this page talks to it.

/** @typedef {{class: string, name?: string, notation?: string}} Concept */
/** @typedef {Concept & {probability?: number, score?: number}} ClassAnswer */

const KEY = "memoir.key";

/** @returns {string} */
export function key() {
  return sessionStorage.getItem(KEY) ?? "";
}

/** @param {string} value */
export function setKey(value) {
  sessionStorage.setItem(KEY, value.trim());
}

/** A request that was refused, in the words of the service. */
export class Refused extends Error {
  /** @param {number} status @param {string} detail */
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>}
 */
async function send(method, path, body) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (key()) headers.authorization = `Bearer ${key()}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const options = { method, headers, body: body === undefined ? undefined : JSON.stringify(body) };
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Refused(0, "The service cannot be reached.");
  }
  if (response.ok) return response.status === 204 ? null : response.json();
  const problem = await response.json().catch(() => ({ detail: response.statusText }));
  throw new Refused(response.status, problem.detail ?? response.statusText);
}

/** @param {string} path */
export const get = (path) => send("GET", path);
/** @param {string} path @param {unknown} [body] */
export const post = (path, body) => send("POST", path, body);
/** @param {string} path */
export const remove = (path) => send("DELETE", path);

/** An id that nobody else has. `crypto.randomUUID` is missing where pages come without TLS. */
export const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

/**
 * The address of something of a model.
 * @param {string} model @param {string} what
 */
export const of = (model, what) => `v1/models/${encodeURIComponent(model)}/${what}`;

/**
 * The answers for texts, however many, asked for in parts that the service takes.
 * @param {string} model @param {string[]} texts @param {number} count
 * @param {(done: number) => void} progress
 * @returns {Promise<ClassAnswer[][]>}
 */
export async function predictAll(model, texts, count, progress) {
  const part = 500;
  /** @type {ClassAnswer[][]} */
  const all = [];
  for (let start = 0; start < texts.length; start += part) {
    const body = { texts: texts.slice(start, start + part), top_k: count };
    const reply = await post(of(model, "predict"), body);
    for (const row of reply.rows) all.push(row.answers);
    progress(all.length);
  }
  return all;
}
