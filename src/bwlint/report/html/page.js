"use strict";
// What every page shares. Texts of a report become nodes of text here and markup nowhere.

const blockOf = (id) => JSON.parse(document.getElementById(id).textContent);
const beside = blockOf("beside");
const report = blockOf("report");
const CHIPS = beside.chips.map((chip) => chip.name);
const ASKED = report.asked || report.targets || [];

/** An element. `given` are attributes, `class` among them, and listeners as functions; children are nodes or texts. */
function h(tag, given, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given || {})) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false).map(asNode));
  return made;
}

const asNode = (child) => (child instanceof Node ? child : shown(String(child)));

// As `model/escape.py`: what a reader cannot see, or what turns text around.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

/** A text as nodes, what is hidden in it written as escapes. */
function shown(text) {
  if (text.search(HIDDEN) < 0) return document.createTextNode(text);
  const made = document.createDocumentFragment();
  let from = 0;
  for (const found of text.matchAll(HIDDEN)) {
    const code = found[0].codePointAt(0).toString(16);
    const written = code.length > 2 ? `\\u${code.length > 4 ? `{${code}}` : code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
    const escape = document.createElement("span");
    escape.className = "escape";
    escape.textContent = written;
    made.append(text.slice(from, found.index), escape);
    from = found.index + found[0].length;
  }
  made.append(text.slice(from));
  return made;
}

/** An element of SVG, which is drawn beside words and says nothing of its own. */
function svg(tag, given, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(given)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A text in which what stands between backquotes is code, as in messages. */
function prose(text) {
  const parts = text.split(/`([^`]+)`/);
  return parts.map((part, at) => (at % 2 ? h("code", null, part) : part)).filter((part) => part !== "");
}

const counted = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : word.endsWith("x") ? "es" : "s"}`;

function chipTitle(name) {
  const chip = beside.chips.find((each) => each.name === name);
  if (!chip) return name;
  return [name, chip.generation, chip.products.slice(0, 4).join(", ")].filter(Boolean).join(" · ");
}

const chipHead = (name) => h("th", { scope: "col", class: ASKED.includes(name) ? "chip asked" : "chip", title: chipTitle(name) }, name);

/** What scrolls by itself where it is larger than the page. */
const wide = (label, inner) => h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": label }, inner);

/** Chips as columns: the asked ones first; those in which nothing stands (`tells`) are last, and folded. */
function chipColumns(chips, tells) {
  const rank = (chip) => (ASKED.includes(chip) ? 0 : tells(chip) ? 1 : 2);
  return [...chips].sort((one, other) => rank(one) - rank(other)).map((chip) => ({ chip, isFolded: rank(chip) === 2 }));
}

/** What `make` makes of the chip of each column. */
function chipCells(columns, make) {
  return columns.map(({ chip, isFolded }) => {
    const cell = make(chip);
    cell.classList.toggle("fold", isFolded);
    return cell;
  });
}

/** A cell that is the darker, the larger the share. */
function shaded(cell, share) {
  cell.style.setProperty("--share", `${100 * share}%`);
  return cell;
}

function chipTable(label, kind, columns, lead, bodies) {
  const table = h("table", { class: `${kind} folded` }, h("caption", { class: "unseen" }, label));
  const folded = columns.filter((each) => each.isFolded).map((each) => each.chip);
  const unfold = (event) => event.currentTarget.setAttribute("aria-expanded", String(!table.classList.toggle("folded")));
  const more = h("button", { type: "button", class: "more", "aria-expanded": "false", title: `nothing stands there: ${folded.join(", ")}`, click: unfold }, counted(folded.length, "more chip"));
  const head = h("tr", null, lead, chipCells(columns, chipHead), folded.length > 0 && h("td", null, more));
  table.append(h("thead", null, head), ...[bodies].flat());
  return wide(label, table);
}

/** Text of `element` to the clipboard; `button` says what came of it. */
async function copy(text, button) {
  const words = button.textContent;
  button.textContent = (await copied(text)) ? "Copied" : "Not copied: the browser refuses";
  setTimeout(() => (button.textContent = words), 1500);
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Where a page from disk may not, a selection still may.
    const field = h("textarea", { "aria-hidden": "true", class: "unseen" });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

const copyButton = (words, text) => h("button", { type: "button", class: "copy", click: (event) => copy(text(), event.currentTarget) }, words);

// A page from disk may have no storage, or what others wrote there: then what is chosen lasts as long as the page.
function stored(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

function store(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

const THEMES = ["auto", "light", "dark"];

function themeButton() {
  const button = h("button", { type: "button", click: () => show(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]) });
  function show(theme) {
    document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
    store("bwlint-theme", theme);
  }
  show(THEMES.find((theme) => theme === stored("bwlint-theme")) || THEMES[0]);
  return button;
}

/** The bar on top: what this is, what else belongs there, and the theme. */
function pageHead(title, told, ...tools) {
  return h("header", { class: "top" }, h("h1", null, "bwlint ", h("span", null, title)), h("p", { class: "told" }, told), ...tools, themeButton());
}

// What is chosen stands in the address, so that a link opens the same view.
const address = () => new URLSearchParams(location.hash.slice(1));

function keep(values) {
  const given = address();
  for (const [name, each] of Object.entries(values)) {
    given.delete(name);
    for (const value of each) if (value) given.append(name, value);
  }
  if (String(given) !== String(address())) history.replaceState(null, "", `#${given}`);
}

const searchField = (words, heard) => {
  const field = h("input", { type: "search", id: "search", placeholder: words, "aria-label": words, autocomplete: "off", spellcheck: "false" });
  let waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => heard(field.value), 60);
  });
  return field;
};

const words = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
const holdsAll = (text, wanted) => wanted.every((word) => text.includes(word));

/** Rows of `all` in `into`, some now and the rest when the browser has nothing else to do; returns what ends it. */
function inTurn(all, make, into, first = 60, chunk = 120) {
  let at = 0;
  let waiting = 0;
  // A page that is never idle gets its rows all the same.
  const later = window.requestIdleCallback ? (next) => requestIdleCallback(next, { timeout: 200 }) : (next) => setTimeout(next, 16);
  const cancel = window.cancelIdleCallback || clearTimeout;
  function some(count) {
    const end = Math.min(all.length, at + count);
    const made = document.createDocumentFragment();
    for (; at < end; at++) made.append(...[make(all[at], at)].flat());
    into.append(made);
    waiting = at < all.length ? later(() => some(chunk)) : 0;
  }
  some(first);
  return {
    stop: () => cancel(waiting),
    finish: () => {
      cancel(waiting);
      some(all.length);
    },
  };
}

/** What `make` makes of the first in `into`; returns the button that puts the others there. */
function firstOf(all, make, count, into, word) {
  into.append(...all.slice(0, count).map(make));
  const rest = all.slice(count);
  return rest.length > 0 && h("button", { type: "button", class: "more", click: (event) => (into.append(...rest.map(make)), event.currentTarget.remove()) }, `${rest.length} more ${word}`);
}

function skippedSection() {
  if (!(report.skipped || []).length) return null;
  const rows = report.skipped.map((each) => h("li", null, h("code", null, each.path), `: ${each.reason}`));
  return h("details", { class: "aside" }, h("summary", null, `${counted(report.skipped.length, "file")} not read`), h("ul", null, rows));
}

const footer = () => h("footer", null, `bwlint ${report.tool.version}`);
