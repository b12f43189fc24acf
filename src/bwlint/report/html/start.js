// What the page is.

function checkView() {
  const counts = LEVELS.map((level) => [level, findings.filter((finding) => finding.severity === level).length]).filter(([, number]) => number);
  const told = [counts.map(([level, number]) => counted(number, level)).join(", ") || "no findings", `${report.stats.files === undefined ? "" : `${counted(report.stats.files, "file")}, `}asked about ${report.targets.join(", ")}`].join(" · ");
  return [...findingsHead("check", told), h("main", null, pictureSection(), findingsView(), skippedSection())];
}

const VIEWS = { check: checkView, inspection: inspectionView, matrix: matrixView, plan: planView, port: portView };
document.getElementById("waiting").remove();
document.body.append(...VIEWS[beside.kind]().flat().filter(Boolean), footer());
if (document.getElementById("list")) {
  refresh();
  followHash();
  addEventListener("hashchange", followHash);
}
