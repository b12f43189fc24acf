"""Opens pages of `--format html` in a headless browser and uses them as somebody would who reads 5,000 findings.

    python tools/html_browser.py REPORT.json [--audit AUDIT.json] [--page PAGE.html ...] [--axe axe.min.js]
        [--pictures FOLDER]

Takes playwright of PyPI and a Chromium; without them it says what is missing and exits with 3. REPORT.json is what
`bwlint check --format json` has written in the current folder, AUDIT.json is of `bwlint audit`. Their findings and
questions are multiplied and made hostile. Looked at are the time to the first paint, filters, search, keys, one
finding in full, what is copied, the patch of each fix, which `git apply` has to take, the picture, decisions and their
export, what the console says and what axe-core (of npm) finds, light and dark.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bwlint.commands.terminal import lines_on_disk
from bwlint.model.findings import Finding, Report
from bwlint.report import Setting, html
from bwlint.report.read import read
from bwlint.settings.catalog import rules

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
MANY = 5000
QUESTIONS = 1500
FIRST_PAINT = 1500
"""Milliseconds."""
HOSTILE = ' </script><img src=x onerror=alert(1)> "quoted" \'&amp; \u202e 🙂'
SERIOUS = ("serious", "critical")
_CANNOT = 3


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path)
    parser.add_argument("--audit", type=Path, help="a ledger, whose page is looked at as well")
    parser.add_argument("--page", type=Path, action="append", default=[], help="another page to open and look at")
    parser.add_argument("--axe", type=Path, help="axe.min.js of axe-core")
    parser.add_argument("--pictures", type=Path, help="folder for pictures")
    parser.add_argument("--browser", help="the program; default: the first of " + ", ".join(BROWSERS))
    given = parser.parse_args(arguments)
    program = given.browser or next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("no playwright: pip install playwright", file=sys.stderr)
        return _CANNOT
    if program is None:
        print(f"no browser: none of {', '.join(BROWSERS)} is on the path", file=sys.stderr)
        return _CANNOT
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        visit = Visit(browser, given.axe.read_text("utf-8") if given.axe else "", given.pictures)
        visit.all(given.report, given.page, Path(folder))
        if given.audit:
            visit.audit(given.audit, Path(folder))
        print(f"{browser.version}: {visit.done} looked at, {len(visit.faults)} wrong")
        browser.close()
    for fault in visit.faults:
        print(f"  {fault}")
    return 1 if visit.faults else 0


class Visit:
    """What was done with pages, and what was wrong."""

    def __init__(self, browser: Browser, axe: str, pictures: Path | None) -> None:
        self.browser, self.axe, self.pictures = browser, axe, pictures
        self.done = 0
        self.faults: list[str] = []

    def all(self, path: Path, pages: list[Path], folder: Path) -> None:
        report = read(path)
        if not isinstance(report, Report) or not report.findings:
            raise SystemExit(f"{path}: no findings to look at")
        many = tuple(islice(multiplied(report.findings), MANY))
        large, small = folder / "large.html", folder / "small.html"
        setting = Setting(lines_on_disk(), "0", rules())
        large.write_text(html.render(replace(report, findings=many), setting), "utf-8")
        small.write_text(html.render(report, setting), "utf-8")
        self.large(self.open(large), many)
        fixed = next((finding for finding in report.findings if finding.fix and finding.related), None)
        if fixed is None:
            raise SystemExit(f"{path}: no finding with a fix and a second place")
        self.one(self.open(small), report, fixed)
        for scheme in ("light", "dark"):
            self.seen(self.open(small, scheme), f"check-{scheme}")
        self.seen(self.open(small, size=(420, 900)), "check-narrow")
        page = self.open(small)
        page.emulate_media(media="print")
        self.expect(not page.locator("#search").is_visible(), "the search is printed")
        for other in pages:
            self.seen(self.open(other), other.stem)
            self.seen(self.open(other, "dark"), f"{other.stem}-dark")

    def expect(self, holds: bool, fault: str) -> None:
        self.done += 1
        if not holds:
            self.faults.append(fault)

    def open(self, path: Path, scheme: Any = "light", size: tuple[int, int] = (1280, 800)) -> Page:
        """The page in a browser that has no network."""
        context = self.browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            offline=True,
            permissions=["clipboard-read", "clipboard-write"],
        )
        page = context.new_page()
        page.on("console", lambda message: self.faults.append(f"{path.name}: console: {message.text}"))
        page.on("pageerror", lambda error: self.faults.append(f"{path.name}: {error}"))
        page.on(
            "request",
            lambda request: self.expect(
                request.url == page.url or request.is_navigation_request(), f"{path.name} asks for {request.url}"
            ),
        )
        page.goto(path.resolve().as_uri())
        page.wait_for_function("document.querySelector('footer') !== null")
        return page

    def large(self, page: Page, findings: tuple[Finding, ...]) -> None:
        """Thousands of findings, with texts that want to be markup."""
        page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        ready = page.evaluate("performance.getEntriesByType('navigation')[0].domInteractive")
        whole = page.evaluate(_WHOLE, len(findings))
        words = f"first paint after {paint:.0f} ms, list after {ready:.0f} ms, all of it after {whole:.0f} ms"
        print(f"{len(findings)} findings: {words}")
        self.expect(paint < FIRST_PAINT, f"first paint after {paint:.0f} ms")
        self.expect(page.locator("#status").inner_text() == f"{len(findings):,} findings", "not every finding is there")
        self.expect(page.locator("img").count() == 0, "a message became markup")
        took = page.evaluate(_SEARCH, "onerror quoted 🙂")
        found = sum(HOSTILE in finding.message for finding in findings)
        print(f"search over {len(findings)} findings: {took:.0f} ms")
        self.expect(page.locator("#status").inner_text().startswith(f"{found:,} of "), "search for a hostile text")
        head = page.locator("li.finding button.head").first
        shown = HOSTILE.replace("\u202e", "\\u202e")
        self.expect(shown.strip() in (head.text_content() or ""), "a hostile text is not shown as it is")
        head.click()
        self.expect(page.locator("li.finding .detail").first.is_visible(), "a finding does not open")
        self.expect(page.locator("img").count() == 0, "a detail became markup")

    def one(self, page: Page, report: Report, finding: Finding) -> None:
        """Filters, search, keys, a finding in full and its patch."""
        rule = f"{finding.rule} {finding.name}"
        page.get_by_label(rule, exact=False).first.check()
        count_ = sum(each.rule == finding.rule for each in report.findings)
        self.expect(page.locator("#status").inner_text().startswith(f"{count_:,} of "), f"filter by {rule}")
        page.keyboard.press("Escape")
        self.expect(
            page.locator("#status").inner_text() == f"{len(report.findings):,} findings", "Esc clears no filter"
        )
        page.keyboard.press("j")
        self.expect(page.evaluate("document.activeElement.className") == "head", "j leads to no finding")
        page.keyboard.press("Enter")
        self.expect(page.locator("li.finding .detail").first.is_visible(), "Enter opens nothing")
        page.keyboard.press("?")
        self.expect(page.locator("dialog").is_visible(), "? shows no keys")
        self.checked(page, "keys")
        page.keyboard.press("Escape")
        page.evaluate("fingerprint => { location.hash = fingerprint; }", finding.fingerprint)
        row = page.locator(f"#finding-{report.findings.index(finding)}")
        row.locator(".detail").wait_for()
        self.expect(row.locator("mark.first").count() > 0, "the place is not marked")
        self.expect(row.locator(".step").count() >= 2, "the second place is not shown")
        self.expect(row.locator("table.truth tbody tr").count() >= 1, "no truth table")
        self.copied(page, row)
        self.checked(page, "a finding in full")
        self.picture(page, "finding", row)
        page.evaluate("scrollTo(0, 0)")
        cell = page.locator("table.picture td button").first
        words = cell.get_attribute("aria-label") or ""
        cell.click()
        narrowed = page.locator("#status").inner_text().split(" of ")[0]
        self.expect(f": {narrowed} finding" in words, f"{words}: {narrowed} are listed")

    def copied(self, page: Page, row: Any) -> None:
        """The patch of one finding on the clipboard, and those of all: none is refused."""
        row.locator("button.copy").click()
        row.get_by_text("Copied").wait_for()
        patches = page.evaluate("findings.filter(each => each.fix && isWhole(each.fix)).map(each => patchOf(each.fix))")
        self.expect(page.evaluate("navigator.clipboard.readText()") in patches, "what is copied is no patch")
        for patch in patches:
            command = ["git", "apply", "--check", "-"]
            done = subprocess.run(command, input=patch.encode(), capture_output=True, timeout=60)
            self.expect(done.returncode == 0, f"a patch is refused: {done.stderr.decode()}")

    def audit(self, path: Path, folder: Path) -> None:
        """A ledger with many questions: filters, keys, decisions, and what of them is kept and exported."""
        ledger = json.loads(path.read_text("utf-8"))
        rows = [{**row, "subject": row["subject"] + HOSTILE, "decision": None} for row in ledger["rows"]]
        ledger["stale_decisions"] = []
        ledger["rows"] = [
            {**row, "fingerprint": f"{number:032x}"} for number, row in zip(range(QUESTIONS), cycle(rows), strict=False)
        ]
        written = folder / "audit.html"
        written.write_text("".join(html.page("audit", (json.dumps(ledger),), {"forms": {}})), "utf-8")
        page = self.open(written)
        status = page.locator("#status")
        self.expect(page.locator("img").count() == 0, "a subject became markup")
        kind = ledger["rows"][0]["kind"]
        page.evaluate("kind => narrow({ kind })", kind)
        number = sum(row["kind"] == kind for row in ledger["rows"])
        told = f"{number:,} of {QUESTIONS:,} questions" if number < QUESTIONS else f"{number:,} questions"
        self.expect(status.inner_text() == told, f"filter by {kind}: {status.inner_text()}")
        page.keyboard.press("Escape")
        for key in ("j", "1", *"because", "Enter", "3", "ArrowDown", "2", "Escape", "k", "3"):
            page.keyboard.press(key)
        self.expect(page.locator("#decided").inner_text() == "2 decided, 1 without a reason", "keys decide otherwise")
        with page.expect_download() as waiting:
            page.get_by_role("button", name="Download").click()
        text = waiting.value.path().read_text("utf-8")
        decided = [(each["row"], each["verdict"], each["reason"]) for each in tomllib.loads(text)["decision"]]
        self.expect(decided == [(f"{0:032x}", "fine", "because"), (f"{2:032x}", "broken", "")], f"exported: {decided}")
        page.reload()
        page.locator("#decided").wait_for()
        self.expect(page.locator("#decided").inner_text().startswith("2 decided"), "decisions are lost")
        for scheme in ("light", "dark"):
            self.seen(self.open(written, scheme), f"audit-{scheme}")
        self.seen(self.open(written, size=(420, 900)), "audit-narrow")

    def seen(self, page: Page, name: str) -> None:
        self.checked(page, name)
        self.picture(page, name)

    def checked(self, page: Page, name: str) -> None:
        """What axe-core has to say; a serious fault is one."""
        if not self.axe:
            return
        page.evaluate(self.axe)
        for fault in page.evaluate("axe.run().then(found => found.violations)"):
            place = fault["nodes"][0]["html"][:120]
            print(f"{name}: axe: {fault['impact']}: {fault['help']}: {place}")
            self.expect(fault["impact"] not in SERIOUS, f"{name}: axe: {fault['id']}: {place}")
        self.done += 1

    def picture(self, page: Page, name: str, row: Any = None) -> None:
        if self.pictures is None:
            return
        self.pictures.mkdir(parents=True, exist_ok=True)
        if row is not None:
            row.evaluate("row => scrollTo(0, row.getBoundingClientRect().top + scrollY - 90)")
        page.screenshot(path=self.pictures / f"{name}.png")


_WHOLE = """async number => {
  while (document.querySelectorAll("li.finding").length < number) await new Promise(next => setTimeout(next, 100));
  return performance.now();
}"""
_SEARCH = """async words => {
  const field = document.getElementById("search");
  const start = performance.now();
  field.value = words;
  field.dispatchEvent(new Event("input"));
  const before = document.getElementById("status").textContent;
  while (document.getElementById("status").textContent === before) await new Promise(requestAnimationFrame);
  return performance.now() - start;
}"""


def multiplied(findings: tuple[Finding, ...]) -> Iterator[Finding]:
    """The findings, over and over; from the second time on their messages are hostile."""
    yield from findings
    for number in count():
        for finding in findings:
            yield replace(finding, message=finding.message + HOSTILE, fingerprint=f"{number}{finding.fingerprint}")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
