// Excel tables: the first sheet of an .xlsx file, which is a zip archive of XML files, as rows of texts.

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const STORED = 0,
  DEFLATED = 8;

/** @typedef {{method: number, start: number, size: number}} Entry */

/**
 * Where the files of a zip archive lie in it.
 * @param {DataView} bytes
 * @returns {Map<string, Entry>}
 */
function entries(bytes) {
  let end = bytes.byteLength - 22;
  while (end >= 0 && bytes.getUint32(end, true) !== END) end--;
  if (end < 0) throw new Error("the file is no Excel table (.xlsx)");
  const files = new Map();
  let at = bytes.getUint32(end + 16, true);
  for (let left = bytes.getUint16(end + 10, true); left > 0; left--) {
    if (bytes.getUint32(at, true) !== ENTRY) throw new Error("the file is damaged");
    const length = bytes.getUint16(at + 28, true);
    const name = new TextDecoder().decode(new Uint8Array(bytes.buffer, at + 46, length));
    const head = bytes.getUint32(at + 42, true);
    files.set(name, {
      method: bytes.getUint16(at + 10, true),
      size: bytes.getUint32(at + 20, true),
      // The head that stands before the data repeats the name, and has extras of its own.
      start: head + 30 + bytes.getUint16(head + 26, true) + bytes.getUint16(head + 28, true),
    });
    at += 46 + length + bytes.getUint16(at + 30, true) + bytes.getUint16(at + 32, true);
  }
  return files;
}

/**
 * One file of the archive as XML; none if it is not there.
 * @param {ArrayBuffer} buffer @param {Map<string, Entry>} files @param {string} name
 */
async function xml(buffer, files, name) {
  const entry = files.get(name);
  if (!entry) return null;
  if (entry.method !== STORED && entry.method !== DEFLATED)
    throw new Error("the file is packed unusually");
  const packed = new Blob([buffer.slice(entry.start, entry.start + entry.size)]);
  const stream =
    entry.method === STORED
      ? packed.stream()
      : packed.stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const text = await new Response(stream).text();
  return new DOMParser().parseFromString(text, "application/xml");
}

/** All text below an element, without the readings that Japanese tables have. @param {Element} element */
const textOf = (element) =>
  [...element.getElementsByTagNameNS("*", "t")]
    .filter((part) => part.parentElement?.localName !== "rPh")
    .map((part) => part.textContent ?? "")
    .join("");

/** The number of the column in a cell's name, such as 27 for `AB3`. @param {string} name */
function column(name) {
  let number = 0;
  for (const letter of name.replace(/\d+$/, "")) number = number * 26 + letter.charCodeAt(0) - 64;
  return number - 1;
}

/** The first sheet of the workbook. @param {ArrayBuffer} buffer @param {Map<string, Entry>} files */
async function firstSheet(buffer, files) {
  const book = await xml(buffer, files, "xl/workbook.xml");
  const links = await xml(buffer, files, "xl/_rels/workbook.xml.rels");
  const sheet = book?.getElementsByTagNameNS("*", "sheet")[0];
  const id = [...(sheet?.attributes ?? [])].find(
    ({ localName, prefix }) => prefix && localName === "id",
  );
  const link = [...(links?.getElementsByTagNameNS("*", "Relationship") ?? [])].find(
    (link) => link.getAttribute("Id") === id?.value,
  );
  const target = link?.getAttribute("Target") ?? "worksheets/sheet1.xml";
  return xml(buffer, files, target.startsWith("/") ? target.slice(1) : `xl/${target}`);
}

/** @param {ArrayBuffer} buffer @returns {Promise<string[][]>} */
export async function parse(buffer) {
  const files = entries(new DataView(buffer));
  const sheet = await firstSheet(buffer, files);
  if (!sheet) throw new Error("the file has no sheet");
  const shared = await xml(buffer, files, "xl/sharedStrings.xml");
  const strings = [...(shared?.getElementsByTagNameNS("*", "si") ?? [])].map(textOf);
  const rows = [...sheet.getElementsByTagNameNS("*", "row")].map((row) => {
    /** @type {string[]} */
    const cells = [];
    for (const cell of row.getElementsByTagNameNS("*", "c")) {
      const value = cell.getElementsByTagNameNS("*", "v")[0]?.textContent ?? "";
      const kind = cell.getAttribute("t");
      const name = cell.getAttribute("r");
      const text = kind === "s" ? strings[Number(value)] : kind === "inlineStr" ? textOf(cell) : value;
      cells[name ? column(name) : cells.length] = text ?? "";
    }
    return Array.from(cells, (cell) => cell ?? "");
  });
  return rows.filter((cells) => cells.some((cell) => cell.trim() !== ""));
}
