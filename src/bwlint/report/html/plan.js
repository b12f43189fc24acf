// Plans: what a step takes, of links and of weights, for each way to split a model.

/** A number with the largest of the units that it reaches. */
function scaled(value, units) {
  const [unit, name] = units.find(([each]) => value >= each) || units.at(-1);
  return `${Number((value / unit).toPrecision(3)).toLocaleString("en")} ${name}`;
}

const seconds = (value) => scaled(value, [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]]);
const bytes = (value) => scaled(value, [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]]);

function planView() {
  const { model, machine, load } = report;
  const told = `${model.name} on ${machine.gpus} × ${machine.product}, ${machine.link}, ${counted(load.tokens, "token")} a step`;
  const best = report.best ? [h("strong", null, report.best), " takes the least time of what fits."] : ["No plan fits the memory."];
  const facts = {
    parameters: model.parameters.toLocaleString("en"),
    weights: `${model.weights}, ${bytes(model.weight_bytes)}`,
    memory: `${bytes(machine.memory_bytes)} a GPU, ${bytes(machine.memory_bytes_per_second)} a second`,
    link: `${machine.link}, ${bytes(machine.link_bytes_per_second_one_direction)} a second in one direction, ${seconds(machine.latency_seconds)} a hop`,
    "on the wire": `dispatch ${load.dispatch}, combine ${load.combine}, a copy to each ${load.copies}`,
  };
  return [
    pageHead("plan", told),
    h(
      "main",
      null,
      h("p", { class: "answer" }, best, report.best_without_latency && report.best_without_latency !== report.best ? ` Without latency it would be ${report.best_without_latency}.` : ""),
      plansTable(),
      stretches(),
      h("h2", null, "Model and machine"),
      h("dl", { class: "proof" }, Object.entries(facts).map(([name, value]) => [h("dt", null, name), h("dd", null, value)])),
      suggestions(),
      listOf("Not possible", report.refused.map((each) => [h("strong", null, each.name), `: ${each.reason}`])),
      listOf("Assumptions", report.assumptions.map((each) => [each])),
      listOf("Remarks", report.remarks.map((each) => [each])),
    ),
  ];
}

function plansTable() {
  const most = Math.max(...report.plans.map((plan) => plan.seconds_per_step), 1e-12);
  const rows = report.plans.map((plan) =>
    h(
      "tr",
      { class: plan.name === report.best ? "best" : plan.fits ? "" : "misfit" },
      h("th", { scope: "row" }, plan.name, plan.name === report.best && h("span", null, "best")),
      h("td", { class: "number" }, bytes(plan.weight_bytes_per_gpu), plan.fits ? "" : h("span", { class: "verdict refuted" }, "does not fit")),
      h("td", { class: "number" }, bytes(plan.link_bytes_per_token_one_direction)),
      h("td", { class: "number" }, seconds(plan.link_seconds_per_step)),
      h("td", { class: "number" }, seconds(plan.weight_seconds_per_step)),
      h("td", { class: "number" }, seconds(plan.seconds_per_step)),
      h("td", { class: "times" }, timeBar(plan, most)),
    ),
  );
  const heads = ["plan", "weights a GPU", "on links, a token", "links", "weights", "a step", [h("span", { class: "key weights" }), "weights, ", h("span", { class: "key links" }), "links"]];
  return wide("plans", h("table", { class: "plans" }, h("caption", { class: "unseen" }, "Plans"), h("thead", null, h("tr", null, heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", null, rows)));
}

function timeBar(plan, most) {
  const drawn = svg("svg", { class: "time", viewBox: "0 0 200 14", width: "200", height: "14", "aria-hidden": "true", focusable: "false" });
  const weights = (200 * plan.weight_seconds_per_step) / most;
  const whole = (200 * plan.seconds_per_step) / most;
  drawn.append(svg("rect", { class: "weights", x: 0, y: 2, width: weights, height: 10 }), svg("rect", { class: "links", x: weights, y: 2, width: Math.max(0, whole - weights), height: 10 }));
  return drawn;
}

function stretches() {
  if (report.best_by_tokens.length < 2) return null;
  const rows = report.best_by_tokens.map((each) => [h("strong", null, each.name), `: ${each.first === each.last ? "" : `${each.first.toLocaleString("en")} to `}${counted(each.last, "token")} a step`]);
  return listOf("Best by tokens", rows);
}

function suggestions() {
  if (!report.suggestions.length) return null;
  const rows = report.suggestions.map((each) => {
    const written = each.written.join("\n");
    return h(
      "li",
      null,
      h("p", null, h("strong", null, `${each.launcher} ${each.launcher_version}`), ` in line ${each.line}`, each.present && `, now ${each.present}`, each.why && `: ${each.why}`, each.stopped.map((why) => `; cannot run: ${why}`), " ", written && copyButton("Copy", () => written)),
      written && h("pre", { tabindex: "0" }, written),
      each.remark && h("p", null, each.remark),
    );
  });
  return [h("h2", null, report.config ? `Launch: ${report.config}` : "Launch"), h("ul", { class: "plain" }, rows)];
}

const listOf = (title, rows) => (rows.length ? [h("h2", null, title), h("ul", null, rows.map((row) => h("li", null, row)))] : null);
