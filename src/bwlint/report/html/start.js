// What the page is.

function checkView() {
  const counts = LEVELS.map((level) => [level, findings.filter((finding) => finding.severity === level).length]).filter(([, number]) => number);
  const told = [counts.map(([level, number]) => counted(number, level)).join(", ") || "no findings", `${report.stats.files === undefined ? "" : `${counted(report.stats.files, "file")}, `}asked about ${report.targets.join(", ")}`].join(" · ");
  const view = findingsView();
  return [...findingsHead("check", told), h("main", null, pictureSection(), view, skippedSection())];
}

const VIEWS = { audit: auditView, check: checkView, inspection: inspectionView, matrix: matrixView, plan: planView, port: portView };
document.getElementById("waiting").remove();
document.body.append(...VIEWS[beside.kind]().flat().filter(Boolean), footer());
if (document.getElementById("list")) {
  followAddress();
  if (beside.kind === "audit") tellDecisions();
  addEventListener("hashchange", followAddress);
}
const bar = document.querySelector("header.top");
new ResizeObserver(() => document.documentElement.style.setProperty("--top", `${bar.offsetHeight}px`)).observe(bar);
