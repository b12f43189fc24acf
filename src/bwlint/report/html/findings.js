// Findings: the picture of them by chip, what they are narrowed down by, and one in full.

const LEVELS = ["error", "warning", "note"];
const findings = (report.findings || []).map((finding, index) => ({
  ...finding,
  index,
  concerned: (beside.concerned || [])[index] || [],
  feature: finding.category,
  ruleName: `${finding.rule} ${finding.name}`,
  fixable: finding.fix ? `${finding.fix.applicability} fix` : "no fix",
  outcome: finding.verdict ? finding.verdict.outcome : "untested",
  sighting: finding.trace ? finding.trace.sighting : "about no kernel",
}));

const folderOf = (path) => path.slice(0, Math.max(0, path.lastIndexOf("/"))) || ".";

/** What findings are narrowed down by: what a finding has of each. */
const FACETS = {
  severity: { title: "Severity", of: (finding) => [finding.severity], values: LEVELS },
  rule: { title: "Rule", of: (finding) => [finding.ruleName], byName: true, told: (value) => (beside.rules || {})[value.split(" ")[0]] },
  feature: { title: "Feature", of: (finding) => [finding.feature] },
  chip: { title: "Chip", of: (finding) => finding.concerned, values: CHIPS, first: CHIPS.length, told: chipTitle },
  fix: { title: "Fix", of: (finding) => [finding.fixable] },
  verdict: { title: "Verdict", of: (finding) => [finding.outcome] },
  trace: { title: "By the trace", of: (finding) => [finding.sighting] },
  folder: { title: "Folder", of: (finding) => [folderOf(finding.path)] },
  file: { title: "File", of: (finding) => [finding.path] },
};

const ORDERS = {
  file: { of: (finding) => finding.path, compare: (one, other) => one.index - other.index },
  severity: { of: (finding) => finding.severity, compare: (one, other) => LEVELS.indexOf(one.severity) - LEVELS.indexOf(other.severity) || one.index - other.index },
  rule: { of: (finding) => finding.ruleName, compare: (one, other) => (one.rule < other.rule ? -1 : one.rule > other.rule ? 1 : one.index - other.index) },
};

const FINDINGS = {
  all: findings,
  one: "finding",
  facets: FACETS,
  orders: ORDERS,
  text: (finding) => [finding.ruleName, finding.category, finding.severity, finding.path, finding.message, finding.label, finding.advice, ...finding.related.map((each) => `${each.path} ${each.message}`)],
  name: (finding) => `finding ${finding.severity}`,
  head: (finding) => [
    h("span", { class: `level ${finding.severity}` }, finding.severity),
    h("span", { class: "what" }, h("span", { class: "rule" }, finding.ruleName), " ", prose(finding.message)),
    strip(finding),
    h("span", { class: "where" }, isWholeFile(finding) ? finding.path : `line ${finding.line}`, finding.fix && h("span", { class: "has-fix" }, `${finding.fix.applicability} fix`), finding.verdict && h("span", { class: `verdict ${finding.outcome}` }, finding.outcome), sightingOf(finding)),
  ],
  detail: detailOf,
};

const findingsView = () => listView(FINDINGS, null, suppressedSection());

/** Sixteen squares: which chips the gate lets in, and which the finding is about. */
function strip(finding) {
  const known = finding.admitted.length || !beside.gateless.includes(finding.category);
  const at = (chips) => CHIPS.flatMap((chip, place) => (chips.includes(chip) ? [place] : []));
  const squares = (places) => places.map((place) => `M${place * 7 + 0.5} .5h5v8h-5z`).join("");
  const drawn = svg("svg", { class: "strip", viewBox: "0 0 112 13", width: "112", height: "13", "aria-hidden": "true", focusable: "false" });
  drawn.append(svg("path", { class: "out", d: squares(CHIPS.map((_, place) => place)) }));
  if (known) drawn.append(svg("path", { class: "in", d: squares(at(finding.admitted)) }));
  drawn.append(svg("path", { class: "about", d: at(finding.concerned).map((place) => `M${place * 7} 10.5h6v2h-6z`).join("") }));
  return drawn;
}

// One in full

function detailOf(finding) {
  return [
    wayOf(finding),
    truthTable(finding),
    finding.advice && h("p", null, h("strong", null, "Instead: "), prose(finding.advice)),
    finding.fix && fixOf(finding),
    finding.fix_refused && h("p", null, h("strong", null, "No fix: "), prose(finding.fix_refused)),
    receiptOf(finding),
    finding.trace && h("p", null, sightingOf(finding), " ", prose(finding.trace.reason)),
    claimsOf(finding),
    h("p", { class: "quiet" }, `${finding.confidence} confidence`, (beside.rules || {})[finding.rule] && ` · ${finding.rule}: ${beside.rules[finding.rule]}`, finding.fingerprint && ` · ${finding.fingerprint}`),
  ];
}

/** Which chips the gate lets in, and where what is behind it works, as a table that can be read aloud. */
function truthTable(finding) {
  if (!finding.admitted.length && !finding.legal && beside.gateless.includes(finding.category)) return null;
  const named = new Set([...finding.admitted, ...finding.certain, ...(finding.legal || []), ...finding.concerned]);
  const columns = [...CHIPS, ...[...named].filter((name) => !CHIPS.includes(name))];
  const isServed = beside.served.includes(finding.category);
  const raises = new Set(finding.claims.flatMap((claim) => claim.raises));
  const gate = (chip) => {
    if (raises.has(chip)) return ["raises", "!"];
    if (finding.certain.includes(chip)) return ["yes", "■"];
    return finding.admitted.includes(chip) ? ["maybe", "◧"] : ["no", "□"];
  };
  const works = (chip) => (finding.legal.includes(chip) ? ["yes", "■"] : ["no", "□"]);
  const rows = [
    [isServed ? "served" : "gate lets in", gate],
    finding.legal && ["works behind it", works],
    ["finding is about", (chip) => (finding.concerned.includes(chip) ? ["about", "▲"] : ["", ""])],
  ].filter(Boolean);
  const head = h("tr", null, h("td"), columns.map(chipHead));
  const body = rows.map(([title, cell]) => h("tr", null, h("th", { scope: "row" }, title), columns.map((chip) => truthCell(cell(chip)))));
  return h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": `truth table of ${placeOf(finding.path, finding)}` }, h("table", { class: "truth" }, h("caption", { class: "unseen" }, "By chip"), h("thead", null, head), h("tbody", null, body)));
}

const truthCell = ([word, sign, told = word]) => h("td", { class: word, title: told }, h("span", { "aria-hidden": "true" }, sign), h("span", { class: "unseen" }, told || "no"));

function fixOf(finding) {
  const { fix } = finding;
  const { proof } = fix;
  const set = (chips) => (chips.length ? chips.join(" ") : "none");
  return h(
    "section",
    { class: "fix", "aria-label": `fix of ${placeOf(finding.path, finding)}` },
    h("p", null, h("strong", null, "Fix"), ` (${fix.applicability}): `, prose(fix.title), " ", isWhole(fix) && copyButton("Copy patch", () => patchOf(fix))),
    diffOf(fix),
    h("dl", { class: "proof" }, h("dt", null, "may pass before"), h("dd", null, set(proof.before_may)), h("dt", null, "and after"), h("dd", null, set(proof.after_may)), h("dt", null, "evidence"), h("dd", null, prose(proof.evidence))),
  );
}

function claimsOf(finding) {
  const claims = finding.claims.map((claim) => h("li", null, prose(claim.says)));
  return claims.length ? h("details", null, h("summary", null, `What it rests on: ${counted(claims.length, "claim")}`), h("ul", null, claims)) : null;
}

function receiptOf(finding) {
  if (!finding.verdict) return null;
  const tried = ((beside.receipts || [])[finding.index] || []).map((each) => h("li", null, prose(each.claim.says), ": ", h("span", { class: `verdict ${each.outcome}` }, each.outcome), ` ${each.reason}`, rungs(each)));
  return h("section", { "aria-label": `receipt of ${placeOf(finding.path, finding)}` }, h("p", null, h("span", { class: `verdict ${finding.outcome}` }, finding.outcome), " ", prose(finding.verdict.reason)), tried.length > 0 && h("ul", null, tried));
}

const sightingOf = (finding) => finding.trace && h("span", { class: `verdict ${finding.sighting}` }, finding.sighting);

function rungs(tried) {
  const rows = ["requested", "eligible", "executed"].map((name) => (tried[name].length ? `${name} ${tried[name].join(", ")}` : `${name} nothing`));
  return h("span", { class: "quiet" }, ` (${rows.join("; ")})`);
}

function suppressedSection() {
  const all = report.suppressed || [];
  if (!all.length) return null;
  const rows = all.map(({ finding, reason }) => h("li", null, h("code", null, placeOf(finding.path, finding)), ` ${finding.rule} ${finding.name}: `, prose(finding.message), reason ? ` (${reason})` : ""));
  return h("details", { class: "aside" }, h("summary", null, `${all.length.toLocaleString("en")} suppressed by comments`), h("ul", null, rows));
}

// The picture

/** Findings by what `by` names down, chips across. */
function picture(by) {
  const rows = new Map();
  for (const finding of findings)
    for (const value of FACETS[by].of(finding)) {
      if (!rows.has(value)) rows.set(value, CHIPS.map(() => ({ about: 0, in: 0, gates: 0 })));
      count(rows.get(value), finding);
    }
  const names = sortedValues(FACETS[by], new Map([...rows].map(([name, cells]) => [name, Math.max(...cells.map((cell) => cell.about))])));
  const most = Math.max(1, ...[...rows.values()].flat().map((cell) => cell.about));
  const head = h("thead", null, h("tr", null, h("td"), CHIPS.map(chipHead)));
  const body = h("tbody");
  const row = (name) => h("tr", null, h("th", { scope: "row" }, h("bdi", null, name)), rows.get(name).map((cell, at) => pictureCell(by, name, CHIPS[at], cell, most)));
  body.append(...names.slice(0, 20).map(row));
  const rest = names.slice(20);
  const more = rest.length > 0 && h("button", { type: "button", class: "more", click: (event) => (body.append(...rest.map(row)), event.currentTarget.remove()) }, `${rest.length} more rows`);
  return [h("table", { class: "picture" }, h("caption", { class: "unseen" }, `Findings by ${by} and chip`), head, body), more];
}

function count(cells, finding) {
  const isGate = finding.admitted.length || !beside.gateless.includes(finding.category);
  CHIPS.forEach((chip, at) => {
    if (finding.concerned.includes(chip)) cells[at].about++;
    if (!isGate) return;
    cells[at].gates++;
    if (finding.admitted.includes(chip)) cells[at].in++;
  });
}

function pictureCell(by, name, chip, cell, most) {
  const share = cell.gates ? cell.in / cell.gates : 0;
  const said = `${name}, ${chip}: ${counted(cell.about, "finding")}; ${cell.in} of ${cell.gates} gates let it in`;
  const bar = h("span", { class: "bar" });
  bar.style.setProperty("--share", share);
  const heat = cell.about ? 1 + Math.min(4, Math.floor((5 * Math.log(cell.about)) / Math.log(most + 1))) : 0;
  if (!cell.about) return h("td", { class: "heat-0", title: said }, h("span", { class: "unseen" }, "0"), bar);
  const button = h("button", { type: "button", "aria-label": said, title: said, click: () => narrow({ [by]: name, chip }) }, cell.about.toLocaleString("en"), bar);
  return h("td", { class: `heat-${heat}` }, button);
}

function pictureSection() {
  if (!findings.length) return null;
  const holder = h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "findings by chip" });
  const draw = (by) => holder.replaceChildren(...picture(by).filter(Boolean));
  const by = h("select", { id: "by", change: (event) => draw(event.target.value) }, ["feature", "rule", "folder", "file"].map((name) => h("option", null, name)));
  draw("feature");
  return h(
    "details",
    { class: "picture", open: true },
    h("summary", null, "Chips"),
    h("p", { class: "legend" }, h("label", { for: "by" }, "Rows by "), by, " Number: findings about the chip. Bar: how many of their gates let it in. Underlined: chips that were asked about."),
    holder,
  );
}

function copyPatch(finding) {
  if (!finding) return;
  toggle(finding.index, true);
  entryOf(finding).querySelector("button.copy")?.click();
}

/** The bar on top of a page with findings, which are listed by then. */
const findingsHead = (title, told) => listHead(title, told, [["c", "copy its patch", copyPatch]]);
