// Excerpts of sources with their spans and the way between them, and what fixes make of them.

const linesOf = (path) => (beside.excerpts || {})[path] || {};

/** A line of an excerpt without its end: its text, and how many units of it are left out in front. */
function lineAt(path, number) {
  const line = linesOf(path)[number];
  if (line === undefined) return null;
  const [skipped, text] = typeof line === "string" ? [0, line] : line;
  return { skipped, text: text.replace(/[\r\n]+$/, ""), isCut: typeof line !== "string" };
}

// Of some places only the lines are known.
const placeOf = (path, region) => (isWholeFile(region) ? path : `${path}:${region.line}${region.column ? `:${region.column}` : ""}`);
const isWholeFile = (region) => region.line === 1 && region.column === 1 && region.end_line === 1 && region.end_column === 1;

/** The places of a finding by file, its own first; numbered along the way. */
function stepsOf(finding) {
  const own = { path: finding.path, region: finding, label: finding.label, primary: true, number: 1 };
  const others = finding.related.map((each, at) => ({ path: each.path, region: each, label: each.message, primary: false, number: at + 2 }));
  const files = new Map();
  for (const step of [own, ...others]) files.set(step.path, [...(files.get(step.path) || []), step]);
  return files;
}

/** The sources of a finding, one block a file. */
function wayOf(finding) {
  const files = [...stepsOf(finding)];
  const count = finding.related.length + 1;
  return h("ol", { class: "way" }, files.map(([path, steps]) => h("li", null, fileBlock(path, steps, count > 1))));
}

function fileBlock(path, steps, isNumbered) {
  const drawn = steps.filter((step) => !isWholeFile(step.region) && lineAt(path, step.region.line) && lineAt(path, step.region.end_line));
  const heads = steps.map((step) =>
    h("p", { class: "place" }, isNumbered && badge(step), h("code", null, placeOf(path, step.region)), step.label && drawn.length === 0 ? [" ", ...prose(step.label)] : null),
  );
  if (!drawn.length) return h("div", null, heads, h("p", { class: "quiet" }, "no source at hand"));
  const rest = steps.filter((step) => !drawn.includes(step));
  const title = h("p", { class: "place" }, h("code", null, placeOf(path, steps[0].region)));
  const others = rest.map((step) => h("p", { class: "place" }, badge(step), h("code", null, placeOf(path, step.region)), " ", ...prose(step.label || "")));
  return h("div", null, title, excerpt(path, drawn, isNumbered), others);
}

const badge = (step) => h("span", { class: step.primary ? "step first" : "step" }, String(step.number));

const NEAR = 2;
const HEAD = 6;
const TAIL = 2;

function numbersOf(path, steps) {
  const wanted = new Set();
  for (const { region } of steps) {
    const isLong = region.end_line - region.line > HEAD + TAIL;
    for (let number = region.line - NEAR; number <= region.end_line + NEAR; number++) {
      if (isLong && number > region.line + HEAD && number < region.end_line - TAIL) continue;
      if (lineAt(path, number)) wanted.add(number);
    }
  }
  return [...wanted].sort((one, other) => one - other);
}

function excerpt(path, steps, isNumbered) {
  const numbers = numbersOf(path, steps);
  const [from, to] = [Math.min(...steps.map((step) => step.region.line)), Math.max(...steps.map((step) => step.region.end_line))];
  const width = String(numbers[numbers.length - 1]).length;
  const rows = [];
  numbers.forEach((number, at) => {
    if (at && number > numbers[at - 1] + 1) rows.push(h("div", { class: number <= to ? "row gap on-way" : "row gap" }, h("span", { class: "number" }, "⋯".padStart(width))));
    rows.push(sourceRow(path, number, steps, number >= from && number <= to, width));
    for (const step of steps.filter((each) => labelledAt(each) === number && (each.label || isNumbered)))
      rows.push(h("div", { class: number < to ? "row note on-way" : "row note" }, h("span", { class: "number" }, " ".repeat(width)), h("span", { class: step.primary ? "says first" : "says" }, isNumbered && badge(step), ...prose(step.label || ""))));
  });
  return h("div", { class: steps.length > 1 ? "source linked" : "source", tabindex: "0", role: "region", "aria-label": `source of ${placeOf(path, steps[0].region)}` }, rows);
}

const labelledAt = (step) => (step.region.end_line - step.region.line > HEAD + TAIL ? step.region.line : step.region.end_line);

function sourceRow(path, number, steps, isOnWay, width) {
  const line = lineAt(path, number);
  const isHit = steps.some((step) => step.region.line <= number && number <= step.region.end_line);
  const cut = line.isCut ? h("span", { class: "quiet" }, "…") : null;
  const made = [line.skipped ? cut : null, ...marked(line, number, steps), line.isCut ? cut.cloneNode(true) : null];
  return h("div", { class: `row${isOnWay ? " on-way" : ""}${isHit ? " hit" : ""}` }, h("span", { class: "number" }, String(number).padStart(width)), h("code", null, made));
}

/** The text of a line, in marks where a step has it. */
function marked(line, number, steps) {
  const text = line.text;
  const spans = steps.flatMap((step) => {
    const { region } = step;
    if (number < region.line || number > region.end_line) return [];
    const start = number === region.line && region.column ? region.column - 1 - line.skipped : text.search(/\S|$/);
    const end = number === region.end_line && region.end_column ? region.end_column - 1 - line.skipped : text.length;
    return [{ start: clamp(start, text.length), end: clamp(end, text.length), primary: step.primary }];
  });
  const edges = [...new Set([0, text.length, ...spans.flatMap((span) => [span.start, span.end])])].sort((one, other) => one - other);
  return edges.slice(1).map((end, at) => {
    const start = edges[at];
    const over = spans.filter((span) => span.start <= start && end <= span.end);
    if (!over.length) return text.slice(start, end);
    return h("mark", { class: over.some((span) => span.primary) ? "first" : "second" }, text.slice(start, end));
  });
}

const clamp = (value, most) => Math.max(0, Math.min(value, most));

const fileName = (path) => path.replace(/^\/+/, "");

/** A unified diff that `git apply` and `patch -p1` take. */
const patchOf = (files) => files.map(([path, hunks]) => `--- a/${fileName(path)}\n+++ b/${fileName(path)}\n${hunks}`).join("");

/** Whether every file is at hand, without ends of lines that a clipboard changes. */
const isWhole = (files) => files.every(([, hunks]) => hunks && !/\r(?!\n)/.test(hunks));

/** What a fix changes, file by file. */
function diffOf(fix, files) {
  return files.map(([path, hunks]) => {
    if (!hunks) {
      const told = fix.edits.filter((edit) => edit.path === path).map((edit) => h("p", null, h("code", null, placeOf(path, edit)), edit.text ? [" becomes ", h("code", null, edit.text)] : " goes"));
      return h("div", null, told);
    }
    const rows = hunks.replace(/\n$/, "").split("\n").map(diffRow);
    return h("div", null, h("p", { class: "place" }, h("code", null, path)), h("div", { class: "source diff", tabindex: "0", role: "region", "aria-label": `change of ${path} ${hunks.split("\n", 1)}` }, rows));
  });
}

const SIGNS = { "+": "added", "-": "removed", " ": "kept", "@": "at", "\\": "at" };

function diffRow(row) {
  const said = "+-".includes(row[0]) && h("span", { class: "unseen" }, SIGNS[row[0]]);
  return h("div", { class: `row ${SIGNS[row[0]]}` }, said, h("code", null, row.replace(/\r$/, "")));
}
