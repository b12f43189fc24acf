// Findings: the picture of them by chip, what they are narrowed down by, and one in full.

const LEVELS = ["error", "warning", "note"];
const findings = (report.findings || []).map((finding, index) => ({
  ...finding,
  index,
  concerned: beside.concerned[index],
  cause: beside.causes[index],
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
  fix: { title: "Fix", of: (finding) => [finding.fixable], values: ["safe fix", "unsafe fix", "no fix"] },
  verdict: { title: "Verdict", of: (finding) => [finding.outcome] },
  trace: { title: "By the trace", of: (finding) => [finding.sighting] },
  folder: { title: "Folder", of: (finding) => [folderOf(finding.path)] },
  file: { title: "File", of: (finding) => [finding.path] },
};

/** The names in a message by which it differs from that of another finding of its cause. */
function differing(finding, other) {
  const names = (text) => text.match(/`[^`]*`/g) || [];
  return names(finding.message).filter((name) => !names(other.message).includes(name)).join(" ");
}

const ORDERS = {
  cause: { of: (finding) => finding.cause, compare: (one, other) => one.cause - other.cause || one.index - other.index, also: differing },
  file: { of: (finding) => finding.path, compare: (one, other) => one.index - other.index },
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
    h("span", { class: "what" }, h("span", { class: "told" }, h("span", { class: "rule" }, finding.ruleName), " ", prose(finding.message)), " ", pathOf(finding), " ", h("span", { class: "differs" })),
    h("span", { class: "where" }, h("span", { title: "chips that it is about" }, finding.concerned.join(" ")), finding.fix && h("span", { class: `fixable ${finding.fix.applicability}` }, finding.fixable), finding.verdict && h("span", { class: `verdict ${finding.outcome}` }, finding.outcome), sightingOf(finding)),
  ],
  detail: detailOf,
};

const findingsView = () => listView(FINDINGS, null, suppressedSection());

/** Where a finding is; its folder is less loud than its file. */
function pathOf(finding) {
  const name = finding.path.lastIndexOf("/") + 1;
  const place = placeOf(finding.path, isWholeFile(finding) ? finding : { ...finding, column: 0 });
  return h("code", { class: "at" }, h("span", { class: "quiet" }, place.slice(0, name)), place.slice(name));
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
  const columns = chipColumns([...new Set([...CHIPS, ...named])], (chip) => named.has(chip) || raises.has(chip));
  const body = rows.map(([title, cell]) => h("tr", null, h("th", { scope: "row" }, title), chipCells(columns, (chip) => truthCell(cell(chip)))));
  return chipTable(`truth table of ${placeOf(finding.path, finding)}`, "truth", columns, h("td"), h("tbody", null, body));
}

const truthCell = ([word, sign, told = word]) => h("td", { class: word, title: told }, h("span", { "aria-hidden": "true" }, sign), h("span", { class: "unseen" }, told || "no"));

function fixOf(finding) {
  const { fix } = finding;
  const { proof } = fix;
  const files = beside.patches[finding.index];
  const set = (chips) => (chips.length ? chips.join(" ") : "none");
  return h(
    "section",
    { class: `fix ${fix.applicability}`, "aria-label": `fix of ${placeOf(finding.path, finding)}` },
    h("p", null, h("strong", { class: `fixable ${fix.applicability}` }, `${fix.applicability} fix`), ": ", prose(fix.title), " ", isWhole(files) && copyButton("Copy patch", () => patchOf(files))),
    diffOf(fix, files),
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
      if (!rows.has(value)) rows.set(value, new Map(CHIPS.map((chip) => [chip, 0])));
      const counts = rows.get(value);
      for (const chip of finding.concerned) counts.set(chip, (counts.get(chip) || 0) + 1);
    }
  const mostOf = (name) => Math.max(...rows.get(name).values());
  const names = sortedValues(FACETS[by], new Map([...rows.keys()].map((name) => [name, mostOf(name)])));
  const most = Math.max(...names.map(mostOf));
  const columns = chipColumns(CHIPS, (chip) => names.some((name) => rows.get(name).get(chip)));
  const row = (name) => h("tr", null, h("th", { scope: "row" }, h("bdi", null, name)), chipCells(columns, (chip) => pictureCell(by, name, chip, rows.get(name).get(chip), most)));
  const body = h("tbody");
  const more = firstOf(names, row, 20, body, "rows");
  return [chipTable(`Findings by ${by} and chip`, "picture", columns, h("td"), body), more];
}

function pictureCell(by, name, chip, count, most) {
  if (!count) return h("td", null, h("span", { class: "unseen" }, "0"));
  const said = `${name}, ${chip}: ${counted(count, "finding")}`;
  const button = h("button", { type: "button", "aria-label": said, title: said, click: () => narrow({ [by]: name, chip }) }, count.toLocaleString("en"));
  return shaded(h("td", null, button), (0.6 * Math.log(count + 1)) / Math.log(most + 1));
}

function pictureSection() {
  if (!findings.length) return null;
  const holder = h("div");
  const draw = (by) => holder.replaceChildren(...picture(by).filter(Boolean));
  const kinds = ["feature", "rule", "folder", "file"];
  const by = h("select", { id: "by", change: () => (keep({ rows: [by.value === kinds[0] ? "" : by.value] }), draw(by.value)) }, kinds.map((name) => h("option", null, name)));
  by.value = kinds.find((name) => name === address().get("rows")) || kinds[0];
  draw(by.value);
  return h(
    "details",
    { class: "picture", open: true },
    h("summary", null, "Chips"),
    h("p", { class: "legend" }, h("label", { for: "by" }, "Rows by "), by, " Number: findings about the chip. Underlined: chips that were asked about."),
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
