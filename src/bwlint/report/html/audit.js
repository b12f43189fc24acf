// Questions that a tree asks the chip: what is known of each, and what somebody decides about it.

const ROW_KINDS = { fail: "a finding of check", review: "a checked chip gets another answer than a neighbour, and nothing proves that right or wrong", open: "bwlint could not evaluate it, or does not know the code behind it", pass: "it cannot matter, or it is proved right" };
const ANSWERS = { yes: ["■", "yes"], no: ["□", "no"], may: ["◧", "depends on more than the chip"], error: ["!", "error"], "-": ["–", "the chip does not get here"], "?": ["?", "bwlint does not know"], else: ["0", "else"] };
const SAID = ["fine", "broken", "later"];
const UNDECIDED = "undecided";
const SHOWN_PLACES = 5;

const questions = beside.kind === "audit" ? report.rows.map((row, index) => ({ ...row, index, place: row.places[0] })) : [];

function auditView() {
  const kinds = Object.keys(ROW_KINDS);
  const verdicts = report.targets.map((chip) => [`on-${chip}`, { title: `Verdict for ${chip}`, of: (row) => [row.verdicts[chip] || "not asked"], values: kinds, told: (kind) => ROW_KINDS[kind] }]);
  const byRank = (one, other) => one.index - other.index;
  const by = (of) => ({ of, compare: (one, other) => (of(one) < of(other) ? -1 : of(one) > of(other) ? 1 : byRank(one, other)) });
  const given = {
    all: questions,
    one: "question",
    facets: {
      kind: { title: "Kind", of: (row) => [row.kind], values: kinds, told: (kind) => ROW_KINDS[kind] },
      ...Object.fromEntries(verdicts),
      decision: { title: "Decision", of: (row) => [saidOf(row)], values: [UNDECIDED, ...SAID] },
      form: { title: "Form", of: (row) => [row.form], told: (form) => beside.forms[form] },
      group: { title: "Whose code", of: (row) => [row.group], values: ["own", "unbuilt", "generated", "vendored"] },
      subject: { title: "Subject", of: (row) => [row.subject] },
      file: { title: "File", of: (row) => [...new Set(row.places.map((place) => place.path))] },
    },
    orders: { rank: { of: () => null, compare: byRank }, file: by((row) => row.place.path), subject: by((row) => row.subject), kind: { of: (row) => row.kind, compare: (one, other) => kinds.indexOf(one.kind) - kinds.indexOf(other.kind) || byRank(one, other) } },
    text: (row) => [row.kind, row.form, row.group, row.subject, row.question, row.behind, row.why, row.fingerprint, ...row.ways.map((way) => way.does), ...row.parts.map((part) => part.name), ...row.places.map((place) => place.path)],
    name: (row) => `question ${row.kind}`,
    head: questionHead,
    detail: questionDetail,
  };
  const tools = h(
    "div",
    { class: "line", role: "group", "aria-label": "decisions" },
    h("p", { id: "decided", role: "status" }),
    h("button", { type: "button", class: "copy", click: () => download("bwlint-audit.toml", decisionsToml()) }, "Download bwlint-audit.toml"),
    copyButton("Copy decisions", decisionsToml),
  );
  const view = listView(given, tools);
  const keys = [...SAID.map((said, at) => [String(at + 1), `decide: ${said}; again: undecided`, (row) => row && decide(row, said)]), ["r", "write the reason", (row) => row && reasonOf(row).focus()]];
  const legend = h("p", { class: "legend" }, Object.entries(ROW_KINDS).map(([kind, told], at) => [at ? "; " : null, h("span", { class: `level ${kind}` }, kind), `: ${told}`]), ". ", Object.values(ANSWERS).map(([sign, told]) => `${sign} ${told}`).join("; "), "; a number: branch of the chain.");
  const main = h("main", null, legend, view, staleSection(), skippedSection());
  return [...listHead("audit", auditTold(), keys), main];
}

function auditTold() {
  const counts = report.targets.map((chip) => {
    const some = Object.keys(ROW_KINDS).map((kind) => [kind, questions.filter((row) => row.verdicts[chip] === kind).length]);
    return `${chip}: ${some.filter(([, number]) => number).map(([kind, number]) => `${number.toLocaleString("en")} ${kind}`).join(", ")}`;
  });
  return [counted(questions.length, "question"), ...counts].join(" · ");
}

function staleSection() {
  if (!report.stale_decisions.length) return null;
  const rows = report.stale_decisions.map((each) => h("li", null, h("code", null, each.fingerprint), ` ${each.said}: ${each.reason}`));
  return h("details", { class: "aside" }, h("summary", null, `${counted(report.stale_decisions.length, "decision")} without a question`), h("ul", null, rows));
}

// One question

function questionHead(row) {
  const answers = (isAsked) =>
    h("span", { class: isAsked ? "asked" : "" }, Object.entries(row.table).filter(([chip]) => report.targets.includes(chip) === isAsked).map(([chip, answer]) => h("span", { class: row.verdicts[chip] }, `${chip} `, h("b", null, answerOf(answer)[0]))));
  return [
    h("span", { class: "rank" }, String(row.index + 1)),
    h("span", { class: "what" }, h("span", null, h("span", { class: `level ${row.kind}` }, row.kind), " ", h("span", { class: "rule" }, row.subject), " ", saidBadge(row)), h("span", { class: "quiet path" }, placeOf(row.place.path, row.place)), h("code", null, row.question), h("span", { class: "why" }, prose(row.why))),
    h("span", { class: "answers" }, answers(true), answers(false)),
    h("span", { class: "where" }, h("span", null, `score ${row.score}`), h("span", null, row.group === "own" ? row.form : `${row.form}, ${row.group}`), row.places.length > 1 && h("span", null, counted(row.places.length, "place"))),
  ];
}

/** The sign of an answer, and what it means; of an arm its number. */
const answerOf = (answer) => ANSWERS[answer] || [answer.replace("arm ", ""), answer];

function questionDetail(row) {
  return [
    decisionOfRow(row),
    answersTable(row),
    h("ul", { class: "ways-of" }, row.ways.map((way) => h("li", null, h("strong", null, way.chips.join(", ")), ": ", prose(way.does)))),
    row.behind && h("p", null, h("strong", null, "Behind it: "), prose(row.behind)),
    placesOf(row),
    partsOf(row),
    h("p", { class: "quiet" }, [row.fingerprint, ...row.findings.map((each) => `finding ${each}`)].join(" · "), " ", row.same_subject.length > 0 && h("button", { type: "button", class: "more", click: () => narrow({ subject: row.subject }) }, `${counted(row.same_subject.length, "other question")} of this subject`)),
  ];
}

function answersTable(row) {
  const columns = chipColumns(Object.keys(row.table), (chip) => row.table[chip] !== "-");
  const answer = (chip) => {
    const [sign, told] = answerOf(row.table[chip]);
    return truthCell(["", sign, told]);
  };
  const verdict = (chip) => h("td", { class: `level ${row.verdicts[chip] || ""}` }, row.verdicts[chip]);
  const rows = [
    h("tr", null, h("th", { scope: "row" }, row.rough ? "answer (rough: by its spelling)" : "answer"), chipCells(columns, answer)),
    h("tr", null, h("th", { scope: "row" }, "verdict"), chipCells(columns, verdict)),
  ];
  return chipTable(`answers of question ${row.index + 1}`, "truth", columns, h("td"), h("tbody", null, rows));
}

function partsOf(row) {
  const parts = row.parts.map((part) => [h("dt", null, `${part.points < 0 ? "−" : "+"}${Math.abs(part.points)} ${part.name}`), h("dd", null, prose(part.says))]);
  return [h("p", null, h("strong", null, `Score ${row.score}`)), parts.length > 0 && h("dl", { class: "proof" }, parts)];
}

/** The sources of the first places, and where the others are. */
function placesOf(row) {
  const [first, ...related] = row.places.slice(0, SHOWN_PLACES).map((place) => ({ ...place, message: place.says }));
  const rest = row.places.slice(SHOWN_PLACES);
  const more = rest.length > 0 && h("details", null, h("summary", null, `${counted(rest.length, "more place")}`), h("ul", null, rest.map((place) => h("li", null, h("code", null, placeOf(place.path, place)), place.says && ` ${place.says}`))));
  return [wayOf({ ...first, label: first.says, related }), more];
}

// Decisions: those of the file, and over them those of this page, which the browser keeps

// Pages from disk share one storage.
const DECISIONS = `bwlint-audit ${location.pathname}`;
const changes = storedDecisions();
let isKept = true;

function storedDecisions() {
  const found = Object.entries(stored(DECISIONS) || {});
  return new Map(found.filter(([, each]) => each === null || SAID.includes(each.said)));
}

/** What is decided about a row: `said`, `reason`, `who`, `date`; null where nothing is. */
const decisionOf = (row) => (changes.has(row.fingerprint) ? changes.get(row.fingerprint) : row.decision);
const saidOf = (row) => (decisionOf(row) ? decisionOf(row).said : UNDECIDED);

function keepDecision(row, decision) {
  changes.set(row.fingerprint, decision);
  isKept = store(DECISIONS, Object.fromEntries(changes));
  drawDecision(row);
  tellDecisions();
}

/** Say it of a row, or take it back where that is what was said; then the reason is asked for. */
function decide(row, said) {
  const reason = reasonOf(row);
  const isNew = saidOf(row) !== said;
  keepDecision(row, isNew ? { said, reason: reason.value, who: "", date: today() } : null);
  drawFacets();
  if (isNew && said !== "later") reason.focus();
}

function today() {
  const now = new Date();
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}

/** The field for the reason, in the detail of a row that is open by then. */
function reasonOf(row) {
  toggle(row.index, true);
  return entryOf(row).querySelector("input.reason");
}

function decisionOfRow(row) {
  const buttons = SAID.map((said, at) => h("button", { type: "button", class: `say ${said}`, "aria-keyshortcuts": String(at + 1), click: () => decide(row, said) }, `${at + 1} ${said}`));
  const reason = h("input", { type: "text", class: "reason", id: `reason-${row.index}`, placeholder: "Why?", autocomplete: "off" });
  reason.value = decisionOf(row) ? decisionOf(row).reason : "";
  reason.addEventListener("input", () => decisionOf(row) && keepDecision(row, { ...decisionOf(row), reason: reason.value, who: "", date: today() }));
  reason.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    step(1);
  });
  const group = h("div", { class: "line decision", role: "group", "aria-label": `decision on question ${row.index + 1}` }, buttons, h("label", { for: reason.id }, "Reason "), reason);
  drawDecision(row, group);
  return group;
}

function saidBadge(row) {
  const decision = decisionOf(row);
  const told = decision && [decision.reason, decision.who, decision.date].filter(Boolean).join(" · ");
  return h("span", { class: `said ${saidOf(row)}`, title: told }, decision && decision.said);
}

/** What is decided about a row, in its head and on its buttons. */
function drawDecision(row, group = entryOf(row).querySelector(".decision")) {
  entryOf(row).querySelector(".said").replaceWith(saidBadge(row));
  group?.querySelectorAll("button.say").forEach((button, at) => button.setAttribute("aria-pressed", String(saidOf(row) === SAID[at])));
}

function tellDecisions() {
  const all = questions.map(decisionOf).filter(Boolean);
  const bare = all.filter((each) => !each.reason.trim() && each.said !== "later").length;
  const told = [`${all.length.toLocaleString("en")} decided`, bare && `${bare.toLocaleString("en")} without a reason`, !isKept && "not kept: the browser stores nothing for this page"];
  document.getElementById("decided").textContent = told.filter(Boolean).join(", ");
}

/** All decisions, those of the file among them, as the file has them. */
function decisionsToml() {
  const made = questions.filter(decisionOf).map((row) => decisionBlock(row.fingerprint, decisionOf(row), { question: row.question, subject: row.subject }));
  const stale = report.stale_decisions.map((each) => decisionBlock(each.fingerprint, each, {}));
  return `version = 1\n${[...made, ...stale].join("")}`;
}

function decisionBlock(row, { said, reason, who, date }, more) {
  const lines = Object.entries({ row, verdict: said, reason: reason.trim() || "no reason was given", who, date, ...more }).map(([key, text]) => `${key} = ${tomlString(text)}\n`);
  return `\n[[decision]]\n${lines.join("")}`;
}

/** JSON's strings are TOML's, but for half of a pair and DEL; what nobody sees is written as an escape as well. */
function tomlString(text) {
  const escaped = (hidden) => {
    const code = hidden.codePointAt(0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
  };
  return JSON.stringify(text.replace(/\p{Surrogate}/gu, "\ufffd")).replace(HIDDEN, escaped);
}

function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/toml" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
