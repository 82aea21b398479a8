// Sessions of `mustlink label --web` in Chromium: forty answers by touch on a small screen, and by keyboard alone on a
// large one, each with an undo, a conflict, every panel and the end page; a session about pictures; then two annotators on
// one server, one on each screen. axe-core must find nothing on any of them, nor on a report, nor on other pages that are
// given, such as those of the manual.
//
//   npm install -g playwright-core axe-core
//   node label/tests/browser/session.mjs target/debug/mustlink [book/book/*.html]
//
// NODE_MODULES is the folder of the two packages [default: that of `npm root -g`], CHROMIUM the browser
// [default: /usr/bin/chromium], SCREENSHOTS a folder for pictures [default: none].
import assert from "node:assert/strict";
import { execSync, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";
import url from "node:url";
import zlib from "node:zlib";

const modules = process.env.NODE_MODULES ?? execSync("npm root -g").toString().trim();
const require = createRequire(path.join(path.resolve(modules), "here.js"));
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const program = path.resolve(process.argv[2] ?? "target/debug/mustlink");
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

// An answer that is undone does not count.
const BUDGET = 40;
// To change the first answer contradicts the next three.
const pairs = [[0, 50], [1, 51], [0, 1], [50, 51]];
for (let k = 0; k < 45; k++) pairs.push([2 + k, 52 + ((k * 7) % 90)]);
const METHOD = `selector = { type = "fixed_list", pairs = ${JSON.stringify(pairs)} }\nclusterer = "pck_means"\nk = 3\n`;

const IRIS = "--data iris --method m.toml";

// One server, as it was started with these options and files, and the addresses of its pages.
async function started(options, pages, files = { "m.toml": METHOD }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "label-"));
  for (const [name, content] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), content);
  const line = "label --web --ledger l.jsonl " + options;
  const child = spawn(program, line.split(" "), { cwd: folder, stdio: ["ignore", "inherit", "pipe"] });
  // A session that failed does not outlive this script.
  process.on("exit", () => child.kill());
  const server = { folder, addresses: [], said: "", ended: new Promise((then) => child.on("close", then)) };
  const lines = readline.createInterface({ input: child.stderr });
  const listens = new Promise((then) => {
    lines.on("close", then);
    lines.on("line", (text) => {
      server.said += text + "\n";
      const address = /^answer at (\S+)/.exec(text)?.[1];
      if (address) server.addresses.push(address);
      if (server.addresses.length === pages) then();
    });
  });
  await listens;
  assert.equal(server.addresses.length, pages, server.said);
  return server;
}

const AGREEMENT = "anna and ben agree on 4 of 5 pairs that both answered; Cohen's κ is 0.62";

// What axe-core finds on a page.
async function violations(page) {
  await page.evaluate(axe);
  return page.evaluate(async () => (await axe.run()).violations.map((v) => [v.id, v.nodes.map((n) => n.html.slice(0, 300))]));
}

class Session {
  static async start(browser, name, screen) {
    const server = await started(IRIS + " --out labels.csv --budget " + BUDGET, 1);
    return Session.open(browser, name, screen, server, server.addresses[0]);
  }

  static async open(browser, name, screen, server, address) {
    const s = new Session();
    Object.assign(s, { name, server, folder: server.folder, sent: "" });
    s.context = await browser.newContext(screen);
    s.page = await s.context.newPage();
    s.page.on("pageerror", (e) => { throw e; });
    // What the page is sent never holds the guess about an open question.
    s.page.on("response", async (response) => {
      const text = /\/(state|act)\b/.test(new URL(response.url()).pathname) ? await response.text().catch(() => "") : "";
      assert(!/"says":(true|false)/.test(text), "the guess was sent before the answer");
      s.sent += text;
    });
    await s.page.goto(address);
    await s.until("state && state.open");
    return s;
  }

  async until(condition) {
    for (let k = 0; k < 1200; k++) {
      if (await this.page.evaluate(condition)) return;
      await this.page.waitForTimeout(25);
    }
    throw new Error(`${this.name}: never came: ${condition}\n${await this.page.innerText("body")}`);
  }

  async checked(what) {
    // An animation has ended.
    await this.page.waitForTimeout(300);
    if (process.env.SCREENSHOTS) await this.page.screenshot({ path: path.join(process.env.SCREENSHOTS, `${this.name}-${what}.png`) });
    assert.deepEqual(await violations(this.page), [], `${this.name}, ${what}`);
    const wide = await this.page.evaluate("[...document.querySelectorAll('body *')].filter((e) => " +
      "e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 200))");
    assert.deepEqual(wide, [], `${this.name}, ${what}: wider than the window`);
  }

  // The answer buttons are in the lowest quarter of the window, and large.
  async reachable() {
    const { height } = this.page.viewportSize();
    for (const does of ["different", "unsure", "same"]) {
      const box = await this.page.locator(`#keys [data-does=${does}]`).boundingBox();
      assert(box.y > 0.75 * height && box.y + box.height <= height && box.height >= 60, `${this.name}: ${does} ${JSON.stringify(box)}`);
    }
  }

  // Answers, if nothing else is said, as the classes of the flowers do.
  async answer(press, most, isSame = (a, b) => Math.floor(a / 50) === Math.floor(b / 50)) {
    for (let k = 0; k < most; k++) {
      await this.until("state.open");
      const { open, turn } = await this.page.evaluate("({ open: state.open, turn: state.turn })");
      await this.reachable();
      await press(isSame(open.subject, open.reference) ? "same" : "different");
      await this.until(`state.turn > ${turn}`);
    }
  }

  count() {
    return this.page.evaluate("state.entries.length");
  }

  opened() {
    return this.page.evaluate("opened().map((d) => d.id).join()");
  }

  async end() {
    await this.page.emulateMedia({ media: "print" });
    if (process.env.SCREENSHOTS) await this.page.screenshot({ path: path.join(process.env.SCREENSHOTS, `${this.name}-print.png`), fullPage: true });
    assert(!(await this.page.isVisible("#keys")), "buttons on paper");
    await this.page.emulateMedia({ media: null });
    const text = await this.page.innerText("#end");
    const unsure = await this.page.evaluate("state.counts.unsure");
    const answers = unsure ? `${BUDGET - unsure} answers and ${unsure} “don’t know”.` : `${BUDGET} answers.`;
    for (const part of ["You gave " + answers, "The method finds 3 clusters", "hidden guess agreed with", "Typical members"]) {
      assert(text.includes(part), `${this.name}: "${part}" is not in\n${text}`);
    }
    assert.equal(await this.page.locator("#end tbody tr").count(), 3);
  }

  async saved() {
    await this.until("state.written");
    await this.checked("saved");
    const text = await this.page.innerText("#end");
    for (const part of ["l.jsonl", "labels.csv", "mustlink ledger merge l.jsonl --data iris --out pairs.csv",
      "mustlink cluster --data iris --method m.toml --oracle none --constraints pairs.csv --out clusters.csv"]) {
      assert(text.includes(part), `${this.name}: "${part}" is not in\n${text}`);
    }
    const broken = await this.page.evaluate("[...document.querySelectorAll('#end code span')].filter((word) => " +
      "word.getClientRects().length !== 1 || word.offsetHeight > 30).map((word) => word.textContent)");
    assert.deepEqual(broken, [], `${this.name}: words of the command are broken`);
    assert.equal(await this.server.ended, 0);
    assert.equal(fs.readFileSync(path.join(this.folder, "labels.csv"), "utf8").trim().split("\n").length, 151);
    await this.context.close();
    fs.rmSync(this.folder, { recursive: true });
    console.log(`${this.name}: passed`);
  }
}

async function byTouch(browser, colorScheme) {
  const screen = { viewport: { width: 400, height: 800 }, hasTouch: true, isMobile: true, colorScheme, reducedMotion: "reduce" };
  const s = await Session.start(browser, "touch-" + colorScheme, screen), { page } = s;
  const tap = (selector) => page.locator(selector).first().tap();
  const press = (does) => tap(`#keys [data-does=${does}]`);
  const open = async (does, id) => {
    await tap("#menu-button");
    await tap(`#menu [data-does=${does}]`);
    await s.until(`opened().map((d) => d.id).join() === "${id ?? does}"`);
  };
  await s.checked("question");
  assert.equal(await page.evaluate("document.getAnimations().length"), 0, "motion");
  await s.answer(press, 10);
  await tap("#last [data-does=undo]");
  await s.until("state.entries.length === 9");
  await s.answer(press, 1);
  // A finger to the left: different.
  const touch = await s.context.newCDPSession(page);
  const finger = (type, x) => touch.send("Input.dispatchTouchEvent", { type, touchPoints: x === undefined ? [] : [{ x, y: 420 }] });
  await finger("touchStart", 300);
  for (const x of [260, 200, 120, 120]) {
    await page.waitForTimeout(100);
    await finger("touchMove", x);
  }
  // A finger that still moves would start a fling, and the next tap would only stop it.
  await page.waitForTimeout(300);
  await finger("touchEnd");
  await s.until("state.entries.length === 11 && !busy");
  assert.equal(await page.evaluate("state.entries.at(-1).reply"), "cannot_link");
  await open("note", "notes");
  await page.locator("#note").fill("why");
  await tap("#notes header button");
  await press("unsure");
  await s.until("state.counts.unsure === 1");
  assert.equal(await page.evaluate("state.entries.at(-1).note"), "why");
  await open("list");
  await tap("[aria-label='change q0 to same']");
  await s.until("document.querySelectorAll('#message li').length === 3");
  await s.checked("conflict");
  await tap("#trouble header button");
  await tap("#list header button");
  assert.equal(await s.count(), 12);
  await tap("#menu-button");
  await s.checked("menu");
  await tap("#menu header button");
  for (const does of ["neighbours", "sort", "clusters", "list", "why", "help"]) {
    await open(does);
    await s.checked(does);
    await tap(`#${does} header button`);
  }
  await s.answer(press, 28);
  await s.until("state.ended && state.standing && state.standing.answers === 40");
  await s.checked("end");
  await s.end();
  await press("quit");
  await s.saved();
}

async function byKeyboard(browser, colorScheme) {
  const s = await Session.start(browser, "keyboard-" + colorScheme, { viewport: { width: 1400, height: 900 }, colorScheme }), { page } = s;
  const keys = { same: "y", different: "n", unsure: "Space", undo: "Backspace" };
  const press = (does) => page.keyboard.press(keys[does] ?? does);
  const enter = async () => press("Enter");
  // Enter never means yes, wherever the focus is.
  await enter();
  while (await page.evaluate("document.activeElement.dataset.does !== 'same'")) await press("Tab");
  await enter();
  assert.equal(await s.count(), 0);
  await s.checked("question");
  const compared = (a, b) => page.evaluate(`[...compared(...${JSON.stringify([a, b])}.map((cell) => ({ name: "x", shown: ` +
    '{ text: null, cells: [["size", cell]] } }))).querySelectorAll("td")].map((td) => [td.textContent, td.className])');
  assert.deepEqual(await compared("4.3", "7.9"), [["4.3", "far"], ["7.9", "far"], ["", ""]]);
  assert.deepEqual(await compared("", "7.9"), [["missing", "quiet"], ["7.9", ""], ["", ""]]);
  await s.answer(press, 10);
  // Question and last answer are announced, and announced once.
  const live = await page.evaluate("['ask', 'said', 'advice'].map((id) => $(id).role)");
  assert.deepEqual(live, ["status", "status", "status"]);
  const texts = await page.evaluate("(draw(), counts(), [$('ask').firstChild, $('said').firstChild])" +
    ".every((text) => (draw(), text.isConnected))");
  assert(texts);
  await press("undo");
  await s.until("state.entries.length === 9 && !busy");
  await s.answer(press, 2);
  await page.evaluate("document.activeElement.blur()");
  for (const key of ["m", "w", "h", "y", "Enter", "Space"]) await press(key);
  await s.until("state.counts.unsure === 1 && !busy");
  assert.equal(await page.evaluate("state.entries.at(-1).note"), "why");
  for (const [key, id] of [["b", "neighbours"], ["g", "sort"], ["c", "clusters"], ["l", "list"], ["w", "why"], ["?", "help"]]) {
    await press(key);
    assert.equal(await s.opened(), id);
    await s.checked(id);
    // The focus stays inside, and what is under the panel is not answered.
    for (let k = 0; k < 12; k++) {
      await press(k % 2 ? "Shift+Tab" : "Tab");
      if (k % 3 === 0) await press("Tab");
      const inside = await page.evaluate(`document.activeElement === document.body || $("${id}").contains(document.activeElement)`);
      assert(inside, `the focus left ${id}`);
    }
    await page.evaluate("document.activeElement.blur()");
    await press("different");
    await press("Escape");
    assert.equal(await s.opened(), "");
  }
  assert.equal(await s.count(), 12);
  // A change of an answer redraws the list, and the focus stays in it.
  await press("l");
  const last = await page.evaluate("state.entries.at(-1).id");
  while (await page.evaluate(`document.activeElement.ariaLabel !== 'change q${last} to different'`)) await press("Tab");
  await enter();
  await s.until("state.counts.unsure === 0 && !busy");
  assert(await page.evaluate("$('list').contains(document.activeElement)"));
  assert.equal(await s.opened(), "list");
  while (await page.evaluate("document.activeElement.ariaLabel !== 'change q0 to same'")) await press("Tab");
  await enter();
  await s.until("document.querySelectorAll('#message li').length === 3");
  await s.checked("conflict");
  for (const left of ["list", ""]) {
    await press("Escape");
    assert.equal(await s.opened(), left);
  }
  // The menu by keys alone gives the focus back.
  while (await page.evaluate("document.activeElement.id !== 'menu-button'")) await press("Tab");
  await enter();
  await s.checked("menu");
  await press("Escape");
  assert.equal(await page.evaluate("document.activeElement.id"), "menu-button");
  await s.answer(press, 28);
  await s.until("state.ended && state.standing && state.standing.answers === 40");
  await s.checked("end");
  assert.equal(await page.evaluate("document.activeElement.id"), "end");
  await s.end();
  await press("q");
  await s.saved();
}

// A picture of 8 × 8 grey pixels.
function png(grey) {
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]), ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0);
    ends.writeUInt32BE(crc(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  };
  const row = Buffer.alloc(9, grey), head = Buffer.from([0, 0, 0, 8, 0, 0, 0, 8, 8, 0, 0, 0, 0]);
  row[0] = 0;
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", head),
    chunk("IDAT", zlib.deflateSync(Buffer.concat(Array(8).fill(row)))), chunk("IEND", Buffer.alloc(0))]);
}

function crc(bytes) {
  let c = 0xffffffff;
  for (const byte of bytes) {
    c ^= byte;
    for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  }
  return ~c >>> 0;
}

// Pictures of the last page are there when the program has ended.
async function byPictures(browser) {
  const files = { "data.csv": "name,x,file\n" };
  for (let k = 0; k < 80; k++) {
    files["data.csv"] += `no. ${k},${k % 8}.5,${k}.png\n`;
    files[k + ".png"] = png(3 * k);
  }
  const server = await started("--data data.csv --id name --image file --selector random_pairs --clusterer pck_means --k 8", 1, files);
  const s = await Session.open(browser, "pictures", { viewport: { width: 1400, height: 900 } }, server, server.addresses[0]);
  await s.until("state.standing && document.images.length === 2");
  await s.checked("question");
  await s.answer((does) => s.page.keyboard.press(does === "same" ? "y" : "n"), 3, (a, b) => a % 8 === b % 8);
  // The clusters show the guess: they are not sent again for the question after an answer that they helped to give.
  await s.until("state.open && state.standing.answers === 3");
  const looks = [];
  s.page.on("request", (request) => { if (/"clusters"/.test(request.postData() ?? "")) looks.push(request.url()); });
  await s.page.keyboard.press("c");
  await s.page.locator("#found button", { hasText: "Merge with" }).first().click();
  await s.until("state.open && state.standing.answers === 4");
  assert.equal(await s.opened(), "");
  assert.equal(await s.page.innerHTML("#found"), "");
  assert.equal(looks.length, 1);
  await s.page.keyboard.press("Backspace");
  await s.until("state.open && state.standing.answers === 3");
  await s.page.keyboard.press("q");
  await s.until("state.written");
  assert.equal(await server.ended, 0);
  await s.checked("saved");
  const loaded = await s.page.evaluate("[...document.images].filter((image) => image.complete && image.naturalWidth === 8).length");
  assert.equal(loaded, 32);
  await s.context.close();
  fs.rmSync(server.folder, { recursive: true });
  console.log("pictures: passed");
}

// A study with figures of each kind, tables that are wider than a phone, and a method that fails on one data set.
const STUDY = `
[experiment]
name = "looks"
title = "How a report looks"
[split]
type = "holdout"
test_fraction = 0.5
repeats = 3
[curve]
points = [0, 20, 40]
[scoring]
metrics = ["ari", "nmi_arith"]
scope = "test"
[plot]
baseline = "kmeans"
labels = { ari = "adjusted Rand index" }
[[dataset]]
id = "iris"
[[dataset]]
id = "wdbc"
[[dataset]]
id = "wdbc-200"
source = "wdbc"
class_sizes = { benign = 100, malignant = 100 }
[[method]]
id = "kmeans"
clusterer = "kmeans"
${["pck_means", "mpck_means", "cop_kmeans", "seeded_kmeans", "lcvqe"].map((name) => `[[method]]
id = "${name}"
clusterer = "${name}"
selector = "random_pairs"
`).join("")}[[method]]
id = "large clusters"
clusterer = { type = "size_constrained_kmeans", min_size = 60 }
`;

async function byReport(browser) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "report-"));
  fs.writeFileSync(path.join(folder, "looks.toml"), STUDY);
  const ran = spawnSync(program, ["run", "looks.toml", "--out", "out", "--quiet"], { cwd: folder, encoding: "utf8" });
  assert.equal(ran.status, 1, ran.stderr);
  const file = path.join(folder, "out", "report.html"), page = fs.readFileSync(file, "utf8");
  for (const part of ["Failed", "large clusters (iris)", "Which features make which cluster"]) assert(page.includes(part), part);
  await byFile(browser, file, true);
  fs.rmSync(folder, { recursive: true });
}

// The values of the marks of all figures, reached with the keyboard: how many are shown, and those outside the window.
const VALUES = `(() => {
  const tip = document.querySelector(".tip"), found = { shown: 0, outside: [] };
  for (const figure of tip ? document.querySelectorAll("figure[tabindex]") : []) {
    figure.scrollIntoView({ block: "center" });
    for (let k = 0; k < 30; k++) {
      figure.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
      const { left, top, right, bottom, width } = tip.getBoundingClientRect();
      if (width) found.shown++;
      if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) found.outside.push(tip.textContent);
    }
  }
  return found;
})()`;

// Columns of the matrix of pairs that are whole on the screen.
const COLUMNS = `(() => {
  const cells = [...document.querySelectorAll("figure[data-files^=pairs-] g > g > rect")];
  const ends = cells.map((cell) => Math.round(cell.getBoundingClientRect().right));
  return new Set(ends.filter((end) => end <= innerWidth)).size;
})()`;

// Other pages: axe-core finds nothing, folded or not, and the page does not scroll sideways.
async function byFile(browser, file, isReport = false) {
  for (const [width, height] of [[400, 800], [1400, 900]]) {
    for (const colorScheme of ["light", "dark"]) {
      const context = await browser.newContext({ viewport: { width, height }, colorScheme });
      const page = await context.newPage();
      await page.goto(url.pathToFileURL(path.resolve(file)).href);
      assert.deepEqual(await violations(page), [], `${file}, ${width}, ${colorScheme}`);
      await page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })");
      await page.waitForTimeout(100);
      assert.deepEqual(await violations(page), [], `${file}, ${width}, ${colorScheme}, unfolded`);
      assert(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), `${file}, ${width}: scrolls sideways`);
      const { shown, outside } = await page.evaluate(VALUES), columns = await page.evaluate(COLUMNS);
      assert.deepEqual(outside, [], `${file}, ${width}: values outside the window`);
      if (isReport) assert(shown > 100 && columns >= 4, `${file}, ${width}: ${shown} values, ${columns} columns of pairs`);
      await context.close();
    }
  }
  console.log(file + ": passed");
}

// Anna on the small screen by touch, ben on the large one by keyboard. They answer alike, but for one pair.
async function byTwo(browser, colorScheme) {
  const server = await started(IRIS + " --annotators anna,ben --budget 20", 2), { addresses: [ofAnna, ofBen] } = server;
  const small = { viewport: { width: 400, height: 800 }, hasTouch: true, isMobile: true, colorScheme };
  const anna = await Session.open(browser, "anna-" + colorScheme, small, server, ofAnna);
  const ben = await Session.open(browser, "ben-" + colorScheme, { viewport: { width: 1400, height: 900 }, colorScheme }, server, ofBen);
  assert.equal(await anna.page.title(), "anna – mustlink label");
  const tap = (does) => anna.page.locator(`#keys [data-does=${does}]`).tap();
  const key = (does) => ben.page.keyboard.press(does === "same" ? "y" : "n");
  const even = (a, b) => Math.min(a, b) % 2 === 0;
  await Promise.all([anna.answer(tap, 20, even), ben.answer(key, 10, (a, b) => even(a, b) !== (Math.min(a, b) === 12))]);
  await anna.until("state.ended");
  await tap("quit");
  await anna.until("state.ended === 'saved'");
  await anna.checked("waiting");
  assert.match(await anna.page.innerText("#end"), /How well you agree is shown when all have finished: you and ben\./);
  await ben.answer(key, 10, (a, b) => even(a, b) !== (Math.min(a, b) === 12));
  await ben.until("state.ended");
  await ben.page.keyboard.press("?");
  await ben.checked("help");
  assert.match(await ben.page.innerText("#help"), /You answer as ben\. Every fourth question is also asked of anna\./);
  await ben.page.keyboard.press("Escape");
  for (const { sent, name } of [anna, ben]) assert(!/κ|"agreement":\[/.test(sent), `${name}: the agreement was sent before the end`);
  await ben.page.keyboard.press("q");
  for (const s of [anna, ben]) {
    await s.until("state.written");
    const text = await s.page.innerText("#end");
    for (const part of [AGREEMENT + ".", "l-anna.jsonl", "l-ben.jsonl", "mustlink ledger merge l-anna.jsonl l-ben.jsonl --data iris --out pairs.csv"]) {
      assert(text.includes(part), `${s.name}: "${part}" is not in\n${text}`);
    }
  }
  assert.equal(await server.ended, 0);
  assert(server.said.includes(AGREEMENT + "\n"), server.said);
  for (const s of [anna, ben]) {
    await s.checked("agreement");
    await s.context.close();
  }
  fs.rmSync(server.folder, { recursive: true });
  console.log(`two annotators, ${colorScheme}: passed`);
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags });
try {
  for (const scheme of ["light", "dark"]) {
    await byTouch(browser, scheme);
    await byKeyboard(browser, scheme);
    await byTwo(browser, scheme);
  }
  await byPictures(browser);
  await byReport(browser);
  for (const file of process.argv.slice(3)) await byFile(browser, file);
} finally {
  await browser.close();
}
