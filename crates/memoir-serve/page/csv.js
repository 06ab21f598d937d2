// Tables as text: CSV, TSV, or one text per line. Excel tables are read as well.

import * as xlsx from "./xlsx.js";

/**
 * Reads a table. Quoted fields may hold separators, quotes (doubled) and line breaks.
 * @param {string} text
 * @returns {string[][]}
 */
export function parse(text) {
  const firstLine = text.split("\n", 1)[0];
  const separator = firstLine.includes("\t")
    ? "\t"
    : firstLine.includes(";") && !firstLine.includes(",")
      ? ";"
      : ",";
  /** @type {string[][]} */
  const rows = [];
  let row = [],
    field = "",
    quoted = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (quoted) {
      if (letter !== '"') field += letter;
      else if (text[at + 1] === '"') {
        field += '"';
        at++;
      } else quoted = false;
    } else if (letter === '"' && field === "") quoted = true;
    else if (letter === separator) {
      row.push(field);
      field = "";
    } else if (letter === "\n" || letter === "\r") {
      if (letter === "\r" && text[at + 1] === "\n") at++;
      row.push(field);
      rows.push(row);
      row = [];
      field = "";
    } else field += letter;
  }
  if (field !== "" || row.length) {
    row.push(field);
    rows.push(row);
  }
  return rows.filter((cells) => cells.some((cell) => cell.trim() !== ""));
}

/** @param {(string | number)[][]} rows */
export function write(rows) {
  const cell = (/** @type {string | number} */ value) => {
    const text = String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

/**
 * A file as rows with the column that holds the text. A file without a header `text` is one text per line.
 * @param {File} file
 * @returns {Promise<{head: string[], rows: string[][], column: number}>}
 */
export async function readFile(file) {
  const isExcel = /\.xlsx$/i.test(file.name);
  const text = isExcel ? "" : (await file.text()).replace(/^\uFEFF/, "");
  if (isExcel || /\.(csv|tsv)$/i.test(file.name)) {
    const [head = [], ...rows] = isExcel ? await xlsx.parse(await file.arrayBuffer()) : parse(text);
    const column = head.findIndex((name) => name.trim().toLowerCase() === "text");
    if (column < 0)
      throw new Error(`${file.name}: expected a column called “text”, found ${head.join(", ")}.`);
    return { head, rows, column };
  }
  const rows = text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "")
    .map((line) => [line]);
  return { head: ["text"], rows, column: 0 };
}
