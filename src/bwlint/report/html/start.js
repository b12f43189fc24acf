// What the page is.

function checkView() {
  const counts = LEVELS.map((level) => [level, findings.filter((finding) => finding.severity === level).length]).filter(([, number]) => number);
  const told = [counts.map(([level, number]) => counted(number, level)).join(", ") || "no findings", `${report.stats.files === undefined ? "" : `${counted(report.stats.files, "file")}, `}asked about ${report.targets.join(", ")}`].join(" · ");
  const help = helpDialog();
  listenToKeys(help);
  const keys = h("button", { type: "button", click: () => help.showModal() }, "Keys ( ? )");
  const head = pageHead("check", told, searchField("Search  ( / )", (text) => ((wanted = words(text)), refresh())), keys);
  return [head, h("main", null, pictureSection(), findingsView(), skippedSection()), help];
}

const VIEWS = { check: checkView, inspection: inspectionView, matrix: matrixView, plan: planView };
document.getElementById("waiting").remove();
document.body.append(...VIEWS[beside.kind]().flat().filter(Boolean), footer());
if (document.getElementById("list")) {
  refresh();
  followHash();
  addEventListener("hashchange", followHash);
}
