// Matrices of operations, and binaries as a heat map of their containers by chip.

const PROVED = { confirmed: "+", refuted: "!" };
const SUPPORT = { yes: ["yes", "■"], no: ["no", "□"], fallback: ["other", "◧"], unknown: ["?", "·"] };

function matrixView() {
  const status = h("p", { role: "status", class: "line" });
  const columns = chipColumns(report.targets, (chip) => report.rows.some((row) => row.chips[chip].support !== "unknown"));
  const body = h("tbody");
  const gate = h("div", { class: "told-gate", "aria-live": "polite" });
  const all = report.rows.map((row) => ({ ...row, text: [row.module, row.name, row.backend, row.path].join(" ").toLowerCase() }));
  let building = null;
  const filter = (text) => {
    const found = all.filter((row) => holdsAll(row.text, words(text)));
    status.textContent = `${found.length} of ${counted(all.length, "row")}${report.ungated ? ` · ${counted(report.ungated, "public operation")} that no check decides` : ""}${report.apart.length ? ` · ${counted(report.apart.length, "C++ error")} outside these rows` : ""}`;
    keep({ search: [text] });
    if (building) building.stop();
    body.replaceChildren();
    let module = null;
    building = inTurn(
      found,
      (row) => {
        const head = row.module === module ? [] : [h("tr", { class: "group" }, h("th", { scope: "rowgroup", colspan: columns.length + 1 }, row.module))];
        module = row.module;
        return [...head, matrixRow(row, columns, gate)];
      },
      body,
    );
  };
  const search = searchField("Search operations", filter);
  const follow = () => filter((search.value = address().get("search") || ""));
  follow();
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", () => building.finish());
  const legend = h("p", { class: "legend" }, "■ its checks accept the chip; □ a check refuses it, or its code needs what the chip lacks; ◧ works, but by another code path than on the chips it is written for; · bwlint found no check that decides it; + a receipt confirms it on that chip; ! a receipt refutes it there");
  return [
    pageHead("matrix", "", search),
    h("main", null, status, legend, gate, chipTable("Operations by chip", "matrix", columns, h("td"), body), skippedSection()),
  ];
}

function matrixRow(row, columns, told) {
  const name = row.backend ? `${row.name} / ${row.backend}` : row.name;
  const cells = chipCells(columns, (chip) => {
    const cell = row.chips[chip];
    const [word, sign] = SUPPORT[cell.support];
    const proofs = cell.receipts || [];
    const proved = proofs.length ? (proofs.some((each) => each.outcome === "refuted") ? "refuted" : "confirmed") : "";
    const title = [name, chip, word, cell.fallback && `by ${cell.fallback}`, proved && `${proved} by a receipt`].filter(Boolean).join(" · ");
    if (!cell.gate) return h("td", { class: `support ${cell.support}`, title }, h("span", { "aria-hidden": "true" }, sign), h("span", { class: "unseen" }, word));
    const tell = () => told.replaceChildren(h("p", null, `${title}: `, h("code", null, `${cell.gate.path}:${cell.gate.line}:${cell.gate.column}`), " ", h("code", null, cell.gate.text)), ...proofs.map((each) => h("p", null, `${each.outcome} by ${each.rung}${each.device && ` on ${each.device}`}: ${each.reason} (${each.receipt})`)));
    return h("td", { class: `support ${cell.support}` }, h("button", { type: "button", title: `${title} · ${cell.gate.text}`, "aria-label": title, click: tell }, sign + (PROVED[proved] || "")));
  });
  return h("tr", null, h("th", { scope: "row", title: `${row.path}:${row.line}` }, h("bdi", null, name)), cells);
}

// Inspections

const WAYS = ["native", "family", "jit", "jit_link", "none"];
const SIGN_OF_WAY = { native: "■", family: "■", jit: "◧", "jit-link": "◧", none: "□" };
const MANY = 60;

function inspectionView() {
  // What is for none of the asked chips is not what was asked for.
  const shipments = report.shipments.map((shipment, at) => ({ ...shipment, ...beside.shipments[at] })).sort((one, other) => Number(!one.judged.length) - Number(!other.judged.length)).map(shipmentSection);
  const sentences = beside.sentences.map((sentence) => h("p", null, h("strong", null, prose(sentence))));
  const main = (...more) => h("main", null, sentences, shipments, more, skippedSection());
  const told = counted(findings.length, "finding");
  if (!findings.length) return [pageHead("inspection", told), main()];
  const view = findingsView();
  return [...findingsHead("inspection", told), main(pictureSection(), view)];
}

function shipmentSection(shipment) {
  const title = [shipment.tag || shipment.machine, shipment.missing].filter(Boolean).join(" · ");
  const possible = CHIPS.filter((chip) => shipment.possible.includes(chip) && shipment.libraries.some((library) => library.chips[chip]));
  const columns = chipColumns(possible, (chip) => shipment.libraries.some((library) => servedOf(library.chips[chip])));
  const head = h("h2", null, prose(shipment.headline));
  const name = h("p", null, h("bdi", null, shipment.name), title && h("span", { class: "quiet" }, ` ${title}`));
  const rest = shipment.others ? h("p", { class: "quiet" }, `${counted(shipment.others, "other file")} without device code`) : null;
  const needs = shipment.needs.map((line) => h("li", null, line));
  return h("section", { class: "shipment" }, head, name, needs.length > 0 && h("ul", { class: "needs" }, needs), columns.length > 0 && heatMap(shipment, columns), operationsOf(shipment), rest);
}

/** Libraries down, chips across: how many of the containers of each run; below, where they are listed, the containers. */
function heatMap(shipment, columns) {
  const lead = [h("td"), h("th", { scope: "col" }, "containers")];
  const made = chipTable(`containers of ${shipment.name} by chip`, "picture heat", columns, lead, []);
  const more = firstOf(shipment.libraries, (library) => libraryGroup(shipment, library, columns), MANY, made.firstChild, "files");
  const legend = "Number: containers that run, of all in the file; the darker, the more. Hatched: some only after the driver has compiled their PTX.";
  return [h("p", { class: "legend" }, legend), made, more];
}

function libraryGroup(shipment, library, columns) {
  const name = library.path.startsWith(`${shipment.name}/`) ? library.path.slice(shipment.name.length + 1) : library.path;
  const told = [library.toolkit && `CUDA ${library.toolkit}`, library.driver && `driver ${library.driver}`, library.windows_driver && `Windows ${library.windows_driver}`, ...library.faults].filter(Boolean).join(" · ");
  const number = (library.units || []).length ? h("button", { type: "button", "aria-expanded": "false", title: "list them", click: (event) => list(event.currentTarget) }, String(library.containers)) : String(library.containers);
  const cells = chipCells(columns, (chip) => tallyCell(name, chip, library.chips[chip]));
  const group = h("tbody", null, h("tr", null, h("th", { scope: "row", title: told }, h("bdi", null, name)), h("td", { class: "number" }, number), cells));
  let building = null;
  function list(button) {
    const isOpen = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isOpen));
    if (building) building.stop();
    group.querySelectorAll("tr.unit").forEach((row) => row.remove());
    building = isOpen ? null : inTurn(library.units, (unit) => unitRow(unit, columns), group);
  }
  return group;
}

const totalOf = (tally) => WAYS.reduce((sum, way) => sum + tally[way], 0);
const servedOf = (tally) => (tally ? totalOf(tally) - tally.none : 0);

function tallyCell(name, chip, tally) {
  if (!tally) return h("td", { title: "not judged" }, "?");
  const [total, served] = [totalOf(tally), servedOf(tally)];
  const told = WAYS.filter((way) => tally[way]).map((way) => `${way.replace("_", " ")} ${tally[way]}`).join(", ");
  const kind = !served ? "serves-none" : tally.jit + tally.jit_link ? "compiled" : "";
  const cell = h("td", { class: kind, title: `${name}, ${chip}: ${told || "no container"}` }, String(total ? served : "-"), h("span", { class: "unseen" }, ` of ${total}`));
  return shaded(cell, total ? (0.52 * served) / total : 0);
}

function unitRow(unit, columns) {
  const cells = chipCells(columns, (chip) => {
    const verdict = unit.chips[chip];
    const way = verdict ? verdict.way : "";
    return h("td", { class: way === "none" ? "no" : way.startsWith("jit") ? "maybe" : "yes", title: verdict ? `${way}${verdict.reason ? `: ${verdict.reason}` : ""}` : "" }, h("span", { "aria-hidden": "true" }, SIGN_OF_WAY[way] || "?"), h("span", { class: "unseen" }, way || "not judged"));
  });
  const kernels = unit.kernels.length ? h("details", null, h("summary", null, counted(unit.kernels.length, "kernel")), h("ul", null, unit.kernels.map((name) => h("li", null, h("code", null, name))))) : null;
  const images = [...new Set(unit.images.map((image) => `${image.kind} ${image.target}`))].join(", ");
  return h("tr", { class: "unit" }, h("th", { scope: "row" }, h("code", null, `0x${unit.at.toString(16)}`), unit.fault && h("span", { class: "quiet" }, ` ${unit.fault}`)), h("td"), cells, h("td", { class: "images" }, images, kernels));
}

function operationsOf(shipment) {
  if (!shipment.operations.length) return null;
  const rows = shipment.operations.map((each) => h("li", null, h("code", null, each.name), ` not on ${each.unserved.join(", ")}: ${each.reason}`));
  return h("details", null, h("summary", null, `${counted(shipment.operations.length, "operation")} without an image for some chips`), h("ul", null, rows));
}
