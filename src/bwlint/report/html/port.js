// Plans to port: the ways of each operation as a graph, then the edits in their order.

const VERDICTS = {
  opens: "works after the edits below",
  unproved: "may run once its checks let the chip in; try it first",
  partly: "works, but not in all uses",
  switch: "answers no, so callers take another path",
  impossible: "impossible",
  unseen: "refused, but bwlint found no check that refuses it",
};
const NODE = { width: 230, height: 26, gap: 30, line: 36 };

function portView() {
  const told = `to ${report.chip} · ${counted(report.operations.length, "row")}, ${counted(report.steps.length, "step")}${report.apart.length ? ` · ${counted(report.apart.length, "error")} outside known operations` : ""}`;
  const parts = Object.entries(VERDICTS).map(([verdict, words]) => {
    const rows = report.operations.filter((row) => row.verdict === verdict).map(portRow);
    return rows.length ? folded(`${words} (${rows.length})`, rows, verdict !== "impossible") : null;
  });
  const apart = report.apart.map((spot) => h("li", null, spotOf(spot), " ", h("code", null, spot.text)));
  const left = report.left.map((row) => h("li", null, spotOf(row.places[0]), " ", prose(row.why)));
  const steps = report.steps.length ? [portSteps((step) => step.proved && !step.keeps_out, "To edit, in this order"), portSteps((step) => !step.proved && !step.keeps_out, "To edit if a trial shows that the code behind runs, in this order"), portSteps((step) => step.keeps_out, `To keep ${report.chip} out of code that it cannot run`)] : h("p", null, "bwlint knows no edit.");
  return [
    pageHead("port", told),
    h(
      "main",
      null,
      steps,
      parts,
      apart.length > 0 && folded(`Errors that ${report.chip} may meet, outside known operations (${apart.length})`, h("ul", null, apart)),
      left.length > 0 && folded(`Checks that are for you to judge (${left.length})`, h("ul", null, left)),
      skippedSection(),
    ),
  ];
}

const folded = (title, rows, open = false) => h("details", { open }, h("summary", null, h("h2", null, title.charAt(0).toUpperCase() + title.slice(1))), rows);
const spotOf = (spot) => h("code", { class: "at" }, `${spot.path}:${spot.line}`);

function portRow(row) {
  const instead = row.instead.length ? h("p", { class: "quiet" }, `meanwhile: ${row.instead.join(", ")}`) : null;
  const head = h("p", null, h("code", null, row.name), " ", spotOf(row), row.fallback && ` takes ${row.fallback} today`);
  const drawn = row.ways.length ? wide(`code paths of ${row.name}`, waysGraph(row)) : null;
  return h("section", { class: "port-row" }, head, drawn, instead);
}

/** From the name on the left each way to the right, a line each: its gates, and what it ends in. */
function waysGraph(row) {
  const ways = row.ways.map((way) => [...way.gates.map((gate) => gateNode(way, gate)), endNode(way)]);
  const columns = 1 + Math.max(...ways.map((nodes) => nodes.length));
  const step = NODE.width + NODE.gap;
  const size = [columns * step, ways.length * NODE.line + 4];
  const drawn = svg("svg", { class: "ways", viewBox: `0 0 ${size[0]} ${size[1]}`, width: size[0], height: size[1], role: "img", "aria-label": ways.map((nodes, at) => `${row.ways[at].name}: ${nodes.map((node) => node.told).join(", then ")}`).join("; ") });
  const start = ((ways.length - 1) * NODE.line) / 2 + 2;
  ways.forEach((nodes, line) => {
    const y = line * NODE.line + 2;
    nodes.forEach((node, at) => {
      const from = at ? y : start;
      drawn.append(svg("path", { d: `M${at * step + NODE.width} ${from + NODE.height / 2}L${(at + 1) * step} ${y + NODE.height / 2}` }), portNode(node, (at + 1) * step, y));
    });
  });
  drawn.append(portNode({ kind: "start", text: row.name.split(".").pop(), told: row.name }, 0, start));
  return drawn;
}

function gateNode(way, gate) {
  const step = way.lacks.length ? null : report.steps.find((each) => way.steps.includes(each.number) && each.path === gate.path && each.line === gate.line);
  const place = `${gate.path.split("/").pop()}:${gate.line}`;
  return { kind: way.chosen ? "gate chosen" : "gate", text: step ? `${step.number}: ${place}` : place, told: `${gate.path}:${gate.line} ${gate.text}` };
}

function endNode(way) {
  const [lack] = way.lacks;
  if (lack) return { kind: lack.by_check ? "open" : "lack", text: lack.what, told: `${lack.what} (${lack.path}:${lack.line})` };
  return way.works.length ? { kind: "works", text: way.works[0], told: way.works[0] } : { kind: "open", text: "not known to work", told: `${way.name}: not known to work` };
}

function portNode({ kind, text, told }, x, y) {
  const written = shown(text).textContent;
  const label = svg("text", { x: x + 8, y: y + NODE.height - 8 }, written.length > 29 ? `${written.slice(0, 28)}…` : written);
  return svg("g", { class: kind }, svg("title", {}, shown(told).textContent), svg("rect", { x, y, width: NODE.width, height: NODE.height, rx: 4 }), label);
}

function portSteps(isMeant, title) {
  const steps = report.steps.filter(isMeant);
  if (!steps.length) return null;
  const rows = steps.map((step) => {
    const byHand = step.said ? step.by_hand : `let ${step.wanted.join(", ")} in${step.admits.length ? " too" : ""} (${step.by_hand})`;
    const places = [step, ...step.also].map((spot, at) => [at ? ", " : "", spotOf(spot)]);
    return h("li", { value: step.number }, h("p", null, step.fix ? prose(step.fix.title) : [h("strong", null, "By hand: "), prose(byHand)]), h("p", null, places, ` ${step.kind} `, h("code", { class: "long" }, step.text)), h("p", { class: "quiet" }, prose(step.said || `for ${step.needed_by.join(", ") || "all that is built"}`)));
  });
  return [h("h2", null, title), h("ol", { class: "steps" }, rows)];
}
