"""Makes every page of `--format html`, opens it in a headless browser, and uses it as somebody would.

    PYTHONPATH=src:tests python tools/html_browser.py [PAGE.html ...] [--pictures FOLDER]

Takes playwright of PyPI, a Chromium, and axe-core of npm (or `--axe axe.min.js`); without them it says what is missing
and exits with 3. The pages of check, audit, matrix, port and inspect are made of bwlint's own fixtures; PAGE.html are
further ones. Each is opened light and dark, 420, 1280 and 1920 pixels wide: axe-core finds nothing, the console says
nothing, nothing is asked of a network, and nothing but a table or source scrolls sideways. `--pictures` keeps what is
seen. The findings and questions are multiplied and made hostile too: looked at are the time to the first paint,
filters, links to them, search, keys, one finding in full, what is copied, the patch of each fix, which `git apply` has
to take, decisions and their export.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, cycle, islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plan.configs import MIXTRAL_8X7B
from small_binaries import container, cubin, entry, ptx, shared_object, wheel

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

ROOT = Path(__file__).parents[1]
TREES = ("fixtures/across", "fixtures/family-split", "fixtures/reached")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SIZES = ((420, 900), (1280, 860), (1920, 1080))
CHECKED = (("dark", 420), ("light", 1280))
"""Where axe-core looks, which takes its time: both colours, both layouts."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
MANY = 5000
QUESTIONS = 1500
FIRST_PAINT = 1500
"""Milliseconds."""
HOSTILE = ' </script><img src=x onerror=alert(1)> "quoted" \'&amp; \u202e 🙂'
_CANNOT = 3


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=_absolute, nargs="*", help="another page to open and look at")
    parser.add_argument("--axe", type=_absolute, help="axe.min.js of axe-core; default: npm fetches it")
    parser.add_argument("--pictures", type=_absolute, help="folder for pictures")
    parser.add_argument("--browser", help="the program; default: the first of " + ", ".join(BROWSERS))
    given = parser.parse_args(arguments)
    os.chdir(ROOT)  # the places of the pages are told from here
    program = given.browser or next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("no playwright: pip install playwright", file=sys.stderr)
        return _CANNOT
    if program is None:
        print(f"no browser: none of {', '.join(BROWSERS)} is on the path", file=sys.stderr)
        return _CANNOT
    if given.axe is None and shutil.which("npm") is None:
        print("no axe-core: there is no npm, and --axe names no axe.min.js", file=sys.stderr)
        return _CANNOT
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        axe = given.axe or fetched_axe(folder)
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        visit = Visit(browser, axe.read_text("utf-8"), given.pictures)
        pages = made_pages(folder)
        for path in (*pages.values(), *given.page):
            visit.seen(path)
        visit.findings(folder / "report.json", pages["check"], folder)
        visit.audit(folder / "audit.json", folder)
        print(f"{browser.version}: {visit.done} looked at, {len(visit.faults)} wrong")
        browser.close()
    for fault in visit.faults:
        print(f"  {fault}")
    return 1 if visit.faults else 0


def _absolute(path: str) -> Path:
    return Path(path).resolve()


def fetched_axe(folder: Path) -> Path:
    """axe.min.js of the newest axe-core, installed in `folder`."""
    command = ["npm", "install", "--silent", "--no-save", "--prefix", str(folder), "axe-core"]
    subprocess.run(command, check=True, timeout=300)
    return folder / "node_modules/axe-core/axe.min.js"


def made_pages(folder: Path) -> dict[str, Path]:
    """A page of each kind, and beside them report.json and audit.json, of which two of them are made."""
    images = (entry(cubin(90, "a"), 90, "a"), entry(ptx(90), 90))
    wheel_file, config = folder / "made-1.0-py3-none-any.whl", folder / "config.json"
    wheel_file.write_bytes(wheel({"made/a.so": shared_object(container(*images))}))
    config.write_text(json.dumps(MIXTRAL_8X7B))
    check = ("check", "--exit-zero", "--severity", "note", "--format", f"json:{folder}/report.json", *TREES)
    commands: dict[str, tuple[str, ...]] = {
        "check": check,
        "audit": ("audit", "--format", f"json:{folder}/audit.json", *TREES),
        "matrix": ("matrix", *TREES),
        "port": ("port", "--to", "12.1", *TREES),
        "inspection": ("inspect", "--exit-zero", "--kernels", "--severity", "note", str(wheel_file)),
        "plan": ("plan", str(config), "--gpus", "4xRTX-PRO-6000"),
    }
    pages = {kind: folder / f"{kind}.html" for kind in commands}
    for kind, (command, *rest) in commands.items():
        html_format = f"html:{pages[kind]}" if kind in ("check", "audit") else "html"
        output = [] if kind in ("check", "audit") else ["--output", str(pages[kind])]
        call = [sys.executable, "-m", "bwlint", command, "--format", html_format, *output, *rest]
        done = subprocess.run(call, capture_output=True, text=True, timeout=600)
        if done.returncode > 1:
            raise SystemExit(f"{' '.join(call)}: {done.stderr}")
    return pages


class Visit:
    """What was done with pages, and what was wrong."""

    def __init__(self, browser: Browser, axe: str, pictures: Path | None) -> None:
        self.browser, self.axe, self.pictures = browser, axe, pictures
        self.done = 0
        self.faults: list[str] = []

    def findings(self, path: Path, small: Path, folder: Path) -> None:
        report = read(path)
        assert isinstance(report, Report)
        many = tuple(islice(multiplied(report.findings), MANY))
        large = folder / "large.html"
        setting = Setting(lines_on_disk(), "0", rules())
        large.write_text(html.render(replace(report, findings=many), setting), "utf-8")
        self.large(self.open(large), many)
        fixed = next(finding for finding in report.findings if finding.fix and finding.related)
        self.one(self.open(small), report, fixed)
        self.linked(small, report)
        page = self.open(small)
        page.emulate_media(media="print")
        self.expect(not page.locator("#search").is_visible(), "the search is printed")

    def expect(self, holds: bool, fault: str) -> None:
        self.done += 1
        if not holds:
            self.faults.append(fault)

    def open(self, path: Path, scheme: Any = "light", size: tuple[int, int] = (1280, 860), at: str = "") -> Page:
        """The page, `at` a view of it, in a browser that has no network."""
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
        page.goto(f"{path.resolve().as_uri()}#{at}" if at else path.resolve().as_uri())
        until(page, "document.querySelector('footer')")
        return page

    def large(self, page: Page, findings: tuple[Finding, ...]) -> None:
        """Thousands of findings, with texts that want to be markup."""
        until(page, "performance.getEntriesByName('first-contentful-paint').length")
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
        page.evaluate("fingerprint => { location.hash = `open=${fingerprint}`; }", finding.fingerprint)
        row = page.locator(f"#finding-{report.findings.index(finding)}")
        row.locator(".detail").wait_for()
        self.expect(row.locator("mark.first").count() > 0, "the place is not marked")
        self.expect(row.locator(".step").count() >= 2, "the second place is not shown")
        self.expect(row.locator("table.truth tbody tr").count() >= 1, "no truth table")
        self.copied(page, row)
        self.checked(page, "a finding in full")
        self.picture(page, "finding")
        page.evaluate("scrollTo(0, 0)")
        cell = page.locator("table.picture tbody td button").first
        words = cell.get_attribute("aria-label") or ""
        cell.click()
        narrowed = page.locator("#status").inner_text().split(" of ")[0]
        self.expect(f": {narrowed} finding" in words, f"{words}: {narrowed} are listed")

    def linked(self, path: Path, report: Report) -> None:
        """A link opens the view that it was copied from; a finding is never without its file."""
        page = self.open(path)
        page.get_by_label("warning", exact=False).first.check()
        page.locator("#order").select_option("rule")
        page.locator("#search").fill("12")
        until(page, "location.hash.includes('search=12')")
        told = page.locator("#status").inner_text()
        again = self.open(path, at=page.url.partition("#")[2])
        self.expect(again.locator("#status").inner_text() == told, f"a link to {told} opens another view")
        self.expect(again.locator("#order").input_value() == "rule", "a link forgets the order")
        for order in page.locator("#order option").all_inner_texts():
            every = self.open(path, at=f"order={order}")
            every.evaluate(_WHOLE, len(report.findings))
            told = sorted(every.evaluate(_PLACES))
            own = sorted(f"{one.path}:{one.region.line}" for one in report.findings)
            self.expect(told == own, f"by {order}, a finding is without its file")

    def copied(self, page: Page, row: Any) -> None:
        """The patch of one finding on the clipboard, and those of all: none is refused."""
        row.locator("button.copy").click()
        row.get_by_text("Copied").wait_for()
        patches = page.evaluate("beside.patches.filter(files => files.length && isWhole(files)).map(patchOf)")
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
            page.locator("button", has_text="Download").click()
        text = waiting.value.path().read_text("utf-8")
        decided = [(each["row"], each["verdict"], each["reason"]) for each in tomllib.loads(text)["decision"]]
        made = [(f"{0:032x}", "fine", "because"), (f"{2:032x}", "broken", "no reason was given")]
        self.expect(decided == made, f"exported: {decided}")
        page.reload()
        page.locator("#decided").wait_for()
        self.expect(page.locator("#decided").inner_text().startswith("2 decided"), "decisions are lost")

    def seen(self, path: Path) -> None:
        """A page in every width, light and dark."""
        for scheme, (width, height) in product(("light", "dark"), SIZES):
            page = self.open(path, scheme, (width, height))
            name = f"{path.stem}-{width}-{scheme}"
            if (scheme, width) in CHECKED:
                self.checked(page, name)
            needed = page.evaluate("document.documentElement.scrollWidth")
            self.expect(needed <= width, f"{name} scrolls sideways, to {needed}")
            self.picture(page, name)
            page.evaluate("scrollTo(0, document.body.scrollHeight)")
            is_seen = "field => !field || field.getBoundingClientRect().top >= 0"
            self.expect(page.evaluate(f"({is_seen})(document.getElementById('search'))"), f"{name}: the search goes")
            page.context.close()

    def checked(self, page: Page, name: str) -> None:
        """What axe-core has to say of a page as it opens, with one finding opened."""
        page.evaluate(self.axe)
        for fault in page.evaluate("axe.run({ resultTypes: ['violations'] }).then(found => found.violations)"):
            place = fault["nodes"][0]["html"][:120]
            self.expect(False, f"{name}: axe: {fault['impact']}: {fault['id']}: {fault['help']}: {place}")
        self.done += 1

    def picture(self, page: Page, name: str) -> None:
        if self.pictures is not None:
            self.pictures.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=self.pictures / f"{name}.png")


def until(page: Page, holds: str) -> None:
    """Wait until an expression holds; playwright's own way is one that the policy of the pages forbids."""
    page.evaluate(f"async () => {{ while (!({holds})) await new Promise(next => setTimeout(next, 50)); }}")


_WHOLE = """async number => {
  while (document.querySelectorAll("li.finding").length < number) await new Promise(next => setTimeout(next, 100));
  return performance.now();
}"""
_PLACES = """() => [...document.querySelectorAll("li.finding .head .at")]
  .filter((place) => place.checkVisibility()).map((place) => place.textContent)"""
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
