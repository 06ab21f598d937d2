// Uses every view of the page by keyboard in Chromium, and looks for console errors and for what axe-core
// calls serious. Makes the screenshots of the guide.
//
//   memoir demo
//   memoir serve memoir-demo/model.memoir --held-out memoir-demo/test.csv --bind 127.0.0.1:8099
//   npm install --prefix TOOLS playwright-core axe-core
//   node crates/memoir-serve/page-tests/page.mjs TOOLS http://127.0.0.1:8099 SCREENSHOTS

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { deflateRawSync } from "node:zlib";

const [tools, address, pictures] = process.argv.slice(2);
const installed = createRequire(resolve(tools, "package.json"));
const { chromium } = installed("playwright-core");
const axe = readFileSync(installed.resolve("axe-core/axe.min.js"), "utf8");

const TEXTS = [
  "solar garden lamp with motion sensor",
  "steel kitchen ladder",
  "red clinic basket set",
  "plastic table",
  "drill for the nursery",
  "balcony lamp or garden lamp",
  "tavern stool, used",
  "museum bottle",
  "laundry rug cotton",
  "frame",
  "small hammer for the garage",
  "pool ladder",
  "bathroom table",
  "yacht drill",
  "terrace frame small",
  "office lamp",
];

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: [
    ..."--no-sandbox --disable-gpu --disable-quic --no-first-run".split(" "),
    ..."--disable-background-networking --disable-component-update --disable-sync".split(" "),
  ],
});
const problems = [];

async function open(options) {
  const context = await browser.newContext({ acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("requestfailed", (request) => problems.push(`not loaded: ${request.url()}`));
  page.on("request", (request) => {
    const local = request.url().startsWith(address) || request.url().startsWith("blob:");
    if (!local) problems.push(`asks elsewhere: ${request.url()}`);
  });
  return page;
}

/** What axe-core calls serious or worse. */
async function check(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  for (const { id, impact, nodes } of violations) {
    const what = `${where}: ${id} (${impact}): ${nodes.map((node) => node.target.join(" ")).join("; ")}`;
    if (["serious", "critical"].includes(impact)) problems.push(what);
    else console.log(`minor: ${what}`);
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (wide > 0) problems.push(`${where}: ${wide} pixels too wide`);
}

async function shoot(page, name) {
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png` });
}

/** Presses Tab until what has the focus matches. */
async function tabTo(page, selector) {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
  }
  assert.fail(`no way to ${selector} by keyboard`);
}

async function go(page, view) {
  await page.keyboard.press("Home");
  await tabTo(page, `nav a[href="#${view}"]`);
  await page.keyboard.press("Enter");
  await page.waitForSelector("main h2");
}

const said = (page, words) =>
  page.waitForFunction((text) => document.getElementById("message")?.textContent?.includes(text), words);

async function ask(page) {
  await page.goto(address);
  await page.waitForSelector("#text:focus");
  await page.keyboard.type(TEXTS[0]);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".marked mark");
  assert.ok((await page.locator("ol.answers li").count()) >= 3);
  await check(page, "ask");
  await shoot(page, "ask");
  await tabTo(page, "#lines");
  for (const text of TEXTS.slice(0, 3)) {
    await page.keyboard.type(text);
    await page.keyboard.press("Enter");
  }
  const download = page.waitForEvent("download");
  await tabTo(page, "#code");
  await page.keyboard.press("Enter");
  const coded = readFileSync(await (await download).path(), "utf8");
  assert.equal(coded.trim().split("\n").length, 4, coded);
  await said(page, "3 of 3");
}

/** A zip archive as Excel writes it, as far as readers look. */
function zip(files) {
  const parts = [];
  const directory = [];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const data = deflateRawSync(text);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(at, 42);
    directory.push(entry, Buffer.from(name));
    parts.push(head, Buffer.from(name), data);
    at += 30 + name.length + data.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, ...directory, end]);
}

const EXCEL = zip({
  "xl/workbook.xml":
    '<workbook xmlns:r="r"><sheets><sheet name="S" sheetId="1" r:id="rId7"/></sheets></workbook>',
  "xl/_rels/workbook.xml.rels":
    '<Relationships><Relationship Id="rId7" Target="worksheets/first.xml"/></Relationships>',
  "xl/sharedStrings.xml":
    "<sst><si><t>text</t></si><si><r><t>plastic </t></r><r><t>table</t></r></si></sst>",
  "xl/worksheets/first.xml":
    '<worksheet><sheetData><row><c r="A1" t="inlineStr"><is><t>price</t></is></c>' +
    '<c r="C1" t="s"><v>0</v></c></row>' +
    '<row><c r="A2"><v>12.5</v></c><c r="C2" t="s"><v>1</v></c></row></sheetData></worksheet>',
});

async function askWithExcel(page) {
  await page.setInputFiles("#file", { name: "list.xlsx", mimeType: "", buffer: EXCEL });
  const download = page.waitForEvent("download");
  await page.locator("#code").press("Enter");
  const coded = readFileSync(await (await download).path(), "utf8").split("\n");
  assert.equal(coded[0], "price,,text,class,name,probability,second");
  assert.match(coded[1], /^12.5,,plastic table,\w+ table,[^,]*,0\.\d+,/);
}

async function review(page) {
  await tabTo(page, "#coder");
  await page.keyboard.type("anna");
  await go(page, "review");
  const file = { name: "texts.txt", mimeType: "text/plain", buffer: Buffer.from(TEXTS.join("\n")) };
  await page.setInputFiles("#queue-file", file);
  await page.waitForSelector("#current");
  await page.locator("#view").focus();
  await check(page, "review");
  await shoot(page, "review");
  const text = () => page.locator("#current").textContent();
  const first = await text();
  await page.keyboard.press("1");
  await said(page, "Decided");
  assert.notEqual(await text(), first);
  await page.keyboard.press("u");
  await said(page, "Taken back");
  await page.keyboard.press("ArrowUp");
  await said(page, "Broader:");
  await page.waitForSelector("#found button:focus");
  await check(page, "review, broader");
  await page.keyboard.press("ArrowDown");
  await page.waitForFunction(() => !document.querySelector("#found button"));
  await page.keyboard.press("/");
  await page.waitForSelector("#search:focus");
  await page.keyboard.type("lamp");
  await page.waitForSelector("#found button");
  await check(page, "review, searching");
  await shoot(page, "review-search");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await said(page, "Decided");
  await page.keyboard.press("s");
  await page.waitForSelector("dialog[open] input");
  await check(page, "review, skipping");
  await page.keyboard.type("two things in one text");
  await page.keyboard.press("Enter");
  await said(page, "Skipped");
  for (let left = TEXTS.length - 2; left > 0; left--) {
    const before = await text();
    await page.keyboard.press("1");
    await page.waitForFunction((old) => document.querySelector("#current")?.textContent !== old, before);
  }
  await page.waitForSelector("text=Nothing waits");
}

async function model(page) {
  await go(page, "model");
  await page.waitForSelector("input[type=range]");
  await tabTo(page, "input[type=range]");
  const words = () => page.locator("input[type=range] + p").first().textContent();
  const before = await words();
  for (let presses = 0; presses < 20; presses++) await page.keyboard.press("ArrowRight");
  assert.notEqual(await words(), before);
  await check(page, "model");
  await shoot(page, "model");
}

async function teach(page) {
  await go(page, "teach");
  await tabTo(page, "#train");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#promote:enabled", { timeout: 120_000 });
  await check(page, "teach");
  await shoot(page, "teach");
  await tabTo(page, "#promote");
  await page.keyboard.press("Enter");
  await said(page, "answers now");
  await go(page, "model");
  await tabTo(page, "#rollback");
  await page.keyboard.press("Enter");
  await said(page, "Rolled back");
}

async function documentation(page) {
  await page.goto(`${address}/docs.html`);
  await page.waitForSelector("main details");
  await tabTo(page, "main summary");
  await page.keyboard.press("Enter");
  await page.waitForSelector("main details[open] table");
  await check(page, "docs");
  await shoot(page, "docs");
}

/** The same views where they are only looked at: another colour scheme, another size. */
async function look(name, options) {
  const page = await open(options);
  await page.goto(address);
  await page.waitForSelector("#text:focus");
  await page.keyboard.type(TEXTS[0]);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".marked mark");
  await check(page, `${name} ask`);
  await shoot(page, `${name}-ask`);
  for (const view of ["review", "model", "teach"]) {
    await page.goto(`${address}/#${view}`);
    await page.waitForSelector("main h2");
    await page.waitForLoadState("networkidle");
    await check(page, `${name} ${view}`);
    await shoot(page, `${name}-${view}`);
  }
  await page.context().close();
}

try {
  const page = await open({ viewport: { width: 1100, height: 800 }, colorScheme: "light" });
  for (const view of [ask, askWithExcel, review, model, teach, documentation]) await view(page);
  await look("dark", { viewport: { width: 1100, height: 800 }, colorScheme: "dark" });
  await look("small", { viewport: { width: 360, height: 720 }, colorScheme: "light" });
  await look("large", { viewport: { width: 2200, height: 1300 }, colorScheme: "light" });
} finally {
  await browser.close();
}
for (const problem of problems) console.error(problem);
console.log(problems.length ? `${problems.length} problems` : "no problems");
process.exit(problems.length ? 1 : 0);
