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

const splitLines = (text) => text.match(/[^\n]*\n|[^\n]+$/g) || [];
const before = (one, other) => one.line - other.line || one.column - other.column;

/** What a fix changes: by path its hunks, or null where the source is not at hand. */
function hunksOf(fix) {
  const files = new Map();
  for (const edit of [...fix.edits].sort(before)) files.set(edit.path, [...(files.get(edit.path) || []), edit]);
  return [...files].map(([path, edits]) => [path, hunks(linesOf(path), edits)]);
}

function hunks(lines, edits) {
  const blocks = [];
  for (const edit of edits) {
    const last = blocks[blocks.length - 1];
    if (last && edit.line <= last.end) {
      last.edits.push(edit);
      last.end = Math.max(last.end, edit.end_line);
    } else blocks.push({ start: edit.line, end: edit.end_line, edits: [edit] });
  }
  const changes = blocks.map((block) => change(lines, block));
  if (changes.includes(null)) return null;
  const made = [];
  for (const each of changes.filter((one) => one.old.length || one.now.length)) {
    const last = made[made.length - 1];
    if (last && each.start - last.end <= 6) {
      last.changes.push(each);
      last.end = each.end;
    } else made.push({ start: each.start, end: each.end, changes: [each] });
  }
  let moved = 0;
  return made.map((hunk) => {
    const rows = rowsOf(hunk, lines);
    const [old, now] = [" -", " +"].map((signs) => rows.filter((row) => signs.includes(row.sign)).length);
    const from = Math.min(hunk.start, rows.from);
    const head = `@@ -${old ? from : from - 1},${old} +${now ? from + moved : from + moved - 1},${now} @@`;
    moved += now - old;
    return { head, rows };
  });
}

/** The lines from `start` up to `end` (exclusive) that a block replaces, and those it puts there. */
function change(lines, block) {
  let old = [];
  for (let number = block.start; number <= block.end; number++) {
    const line = lines[number];
    // An edit may end where the line behind the last one would begin.
    if (line === undefined && lines[number - 1] === undefined) return null;
    if (line !== undefined && typeof line !== "string") return null;
    old.push(line === undefined ? "" : line);
  }
  const starts = old.map((_, at) => old.slice(0, at).join("").length);
  let text = old.join("");
  for (const edit of [...block.edits].reverse()) {
    const from = starts[edit.line - block.start] + edit.column - 1;
    const to = starts[edit.end_line - block.start] + edit.end_column - 1;
    text = text.slice(0, from) + edit.text + text.slice(to);
  }
  old = old.filter((line) => line !== "");
  let now = splitLines(text);
  let start = block.start;
  while (old.length && now.length && old[0] === now[0]) {
    [old, now] = [old.slice(1), now.slice(1)];
    start++;
  }
  while (old.length && now.length && old[old.length - 1] === now[now.length - 1]) [old, now] = [old.slice(0, -1), now.slice(0, -1)];
  return { start, end: start + old.length, old, now };
}

/** Whether a line is at hand and is none that is cut, nor what is behind the last end of a line. */
const isWholeLine = (line) => typeof line === "string" && line !== "";

function rowsOf(hunk, lines) {
  const rows = [];
  const kept = (from, to) => {
    for (let number = from; number < to; number++) if (isWholeLine(lines[number])) rows.push({ sign: " ", text: lines[number] });
  };
  let at = Math.max(1, hunk.start - 3);
  while (at < hunk.start && !isWholeLine(lines[at])) at++;
  rows.from = at;
  for (const each of hunk.changes) {
    kept(at, each.start);
    rows.push(...each.old.map((text) => ({ sign: "-", text })), ...each.now.map((text) => ({ sign: "+", text })));
    at = each.end;
  }
  let end = at;
  while (end < at + 3 && isWholeLine(lines[end])) end++;
  kept(at, end);
  return rows;
}

/** A unified diff that `git apply` and `patch -p1` take. */
function patchOf(fix) {
  return hunksOf(fix)
    .map(([path, found]) => {
      const name = path.replace(/^\/+/, "");
      const body = found.map(({ head, rows }) => `${head}\n${rows.map((row) => row.sign + (row.text.endsWith("\n") ? row.text : `${row.text}\n\\ No newline at end of file\n`)).join("")}`);
      return `--- a/${name}\n+++ b/${name}\n${body.join("")}`;
    })
    .join("");
}

function diffOf(fix) {
  return hunksOf(fix).map(([path, found]) => {
    if (!found) {
      const told = fix.edits.filter((edit) => edit.path === path).map((edit) => h("p", null, h("code", null, placeOf(path, edit)), edit.text ? [" becomes ", h("code", null, edit.text)] : " goes"));
      return h("div", null, told);
    }
    const rows = found.flatMap(({ head, rows: all }) => [h("div", { class: "row at" }, head), ...all.map(diffRow)]);
    return h("div", null, h("p", { class: "place" }, h("code", null, path)), h("div", { class: "source diff", tabindex: "0", role: "region", "aria-label": `change of ${path} at ${found.map(({ head }) => head).join()}` }, rows));
  });
}

const SIGNS = { "+": "added", "-": "removed", " ": "kept" };

function diffRow(row) {
  const said = row.sign === " " ? null : h("span", { class: "unseen" }, SIGNS[row.sign]);
  return h("div", { class: `row ${SIGNS[row.sign]}` }, said, h("code", null, row.sign, row.text.replace(/[\r\n]+$/, "")));
}

const isWhole = (fix) => hunksOf(fix).every(([, found]) => found && found.every(({ rows }) => rows.every((row) => !/\r(?!\n)/.test(row.text))));
