"""Writes the pages of docs/ that come from rules/, fixtures/ and the tables of src/bwlint/chips/.

    python tools/docs.py           writes them
    python tools/docs.py --check   writes nothing; exit code 1 and the names where a page is not what it should be

Pages that people write (docs/*.md, docs/walkthroughs/) are left alone: what they quote, tools/walkthroughs.py writes.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from bwlint.chips import Chip, ChipSet, TargetSet, all_chips, targets_of
from bwlint.chips.drivers import driver_for_chip
from bwlint.chips.instructions import Form, forms
from bwlint.chips.products import products
from bwlint.chips.table import overview
from bwlint.data import table
from bwlint.report.rule_text import facts, markdown
from bwlint.settings.catalog import BAD, UNUSED, Rule, rules

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MADE = "<!-- Written by tools/docs.py: change what it is made of, not this. -->\n\n"
NO_LIBRARY = "Names of no one library"
ASKED = ("12.0", "12.1")
FIRST_SHOWN = 90
"""The chip from which on pages of libraries have a column each."""
GROUPS = {"0": "Comments", "1": "Gates", "2": "Instructions", "3": "Builds", "4": "Links", "5": "Amounts"}
_MARKED = re.compile(r"(?://|#).*\b(?:error|warning|note): \[")
_ENDS = re.compile(r'(?:"""|// ?|# )(.+)')


def pages() -> dict[str, str]:
    """Every page that is made, by its path below docs/."""
    found = {"rules/README.md": rule_index(), "libraries/README.md": library_index(), "chips/README.md": chip_index()}
    found |= {f"rules/{rule.name}.md": rule_page(rule) for rule in rules()}
    found |= {f"chips/{chip.name}.md": chip_page(chip) for chip in all_chips()}
    found |= {f"libraries/{name}.md": library_page(one) for name, one in shelves().items()}
    return {path: MADE + text.strip() + "\n" for path, text in found.items()}


def rule_index() -> str:
    text = (
        "# Rules\n\n`bwlint explain RULE` prints these pages. `--fix` applies what is safe, `--unsafe-fixes` the rest;"
        " `--severity note` shows notes.\n"
    )
    for digit, some in groupby(rules(), key=lambda rule: rule.code[2]):
        rows = [
            (rule.code, f"[{rule.name}]({rule.name}.md)", rule.severity, rule.safety, rule.summary) for rule in some
        ]
        text += f"\n## {GROUPS[digit]}\n\n" + _table(("code", "rule", "level", "fix", "in one line"), rows)
    return text


def rule_page(rule: Rule) -> str:
    names, values = zip(*facts(rule), strict=True)
    text = f"# {rule.name} ({rule.code})\n\n**{_linked(rule.summary, rule)}**\n\n{_table(names, [values])}\n"
    text += _linked(markdown(rule, 2), rule)
    cases = list(_cases(rule))
    if cases:
        lines = "\n".join(f"- [{name}](../../{path}): {title}" for name, path, title in cases)
        text += "\n\n<details><summary>More cases: what is found is marked, what is not marked is silent</summary>\n\n"
        text += f"{lines}\n\n</details>"
    return text


def _cases(rule: Rule) -> Iterator[tuple[str, str, str]]:
    """The files of the rule's fixtures that say in their first lines what they show: name, path, words."""
    folder = ROOT / "fixtures" / ("suppression" if rule.name in (UNUSED, BAD) else rule.name)
    for path in sorted(folder.rglob("*"), key=lambda path: path.as_posix()) if folder.is_dir() else ():
        lines = path.read_text("utf-8").split("\n", 1) if path.is_file() and "." in path.name else [""]
        title = _ENDS.match(lines[0])
        if title and not _MARKED.search(lines[0]) and f"[{rule.name}]" in "".join(lines[1:]):
            yield path.relative_to(folder).as_posix(), path.relative_to(ROOT).as_posix(), title[1].removesuffix('"""')


def _linked(text: str, own: Rule) -> str:
    """The text with the names of other rules, where they stand as code, as links; code blocks stay as they are."""
    others = {rule.name for rule in rules()} - {own.name}
    parts = text.split("```")
    parts[::2] = [
        re.sub(r"`([a-z0-9-]+)`", lambda word: f"[{word[0]}]({word[1]}.md)" if word[1] in others else word[0], part)
        for part in parts[::2]
    ]
    return "```".join(parts)


def chip_index() -> str:
    header, rows = overview().header, [row.cells for row in overview().rows]
    known = {chip.name for chip in all_chips()}
    linked = [(f"[{row[0]}]({row[0]}.md)" if row[0] in known else row[0], *row[1:]) for row in rows]
    return (
        "# Chips\n\nEvery condition is evaluated on each of these. `bwlint chips 12.0 12.1 10.0` compares some."
        ' "?" is not known; clusters are portable / with the opt-in.\n\n' + _table(header, linked)
    )


def chip_page(chip: Chip) -> str:
    header, row = overview().header, next(row.cells for row in overview().rows if row.cells[0] == chip.name)
    evidence = [(what, _words(keys, table("devices")["sources"])) for what, keys in chip.source.items()]
    limits = [(name, cell) for name, cell in zip(header[1:], row[1:], strict=True) if name != "products"]
    driver = driver_for_chip(chip)
    limits += [("Linux driver", f"{driver} or newer")] if driver else []
    text = f"# {chip.name}{_products(chip)}\n\n"
    text += f"{chip.note}\n\n" if chip.note else ""
    text += _table(("limit", "value"), limits)
    rows = sorted((one for one in products() if one.chip == chip.name), key=lambda one: one.multiprocessors)
    sold = [(one.name, one.multiprocessors or "?", one.memory_gib or "?") for one in rows]
    if sold:
        text += "\n## As it is sold\n\n" + _table(("product", "multiprocessors", "GiB that a program sees"), sold)
    text += "\n## What loads here\n\n" + _table(("image", "targets"), _loading(chip))
    if chip.joined >= table("ptx")["ptxas"]["first"]:
        text += "\n## Instructions that not every chip has\n\n"
        text += f"How many forms of the table ptxas takes, by target ({table('ptx')['ptxas']['source']}).\n\n"
        text += _table(("group", *(target.name for target in targets_of(chip))), _instructions(chip))
    text += "\n## Libraries and options\n\n" + _needs(chip)
    return text + "\n## Evidence\n\n" + _table(("of", "source"), evidence)


def _products(chip: Chip) -> str:
    return f": {', '.join(chip.products)}" if chip.products else ""


def _loading(chip: Chip) -> list[tuple[str, str]]:
    own = ChipSet.of(chip.name)
    cubins = TargetSet.where(lambda target: bool(target.loads_on() & own))
    ptx = TargetSet.where(lambda target: bool(target.jits_on() & own))
    return [("cubin", ", ".join(cubins.names)), ("PTX, compiled by the driver", ", ".join(ptx.names))]


def _instructions(chip: Chip) -> list[tuple[str, ...]]:
    """For each group of forms of which some chip lacks something, how many each target of this one has."""
    groups: dict[str, list[Form]] = defaultdict(list)
    for form in forms():
        groups[form.group].append(form)
    return [
        (name, *(_share([target in form.legal for form in some]) for target in targets_of(chip)))
        for name, some in groups.items()
    ]


def _share(has: Sequence[bool]) -> str:
    return "yes" if all(has) else f"{sum(has)} of {len(has)}" if any(has) else "no"


def _needs(chip: Chip) -> str:
    rows = table("libraries")["need"]
    lacks = dict.fromkeys(row["what"] for row in rows if chip.name not in row.get("chips", [chip.name]))
    plans = [row for row in table("backends")["plan"] if chip.name not in row.get("chips", [chip.name])]
    options = dict.fromkeys(f"{row['launcher']}: {', '.join(f'`{value}`' for value in row['values'])}" for row in plans)
    text = "Rows of [the libraries](../libraries/README.md) that are for other chips (of some versions, see there):\n\n"
    text += "\n".join(f"- {_cell(what)}" for what in lacks) + "\n"
    if options:
        text += (
            "\nValues of launchers' options that do not run here:\n\n" + "\n".join(f"- {one}" for one in options) + "\n"
        )
    return text


@dataclass(slots=True)
class Shelf:
    """What the tables have of one library or launcher."""

    title: str
    rows: list[Mapping[str, Any]] = field(default_factory=list)
    options: list[Mapping[str, Any]] = field(default_factory=list)


def shelves() -> dict[str, Shelf]:
    """The libraries and launchers by the name of their page, alphabetically."""
    found: dict[str, Shelf] = {}

    def of(title: str) -> Shelf:
        return found.setdefault(title.lower().replace(" ", "-"), Shelf(title))

    for row in (*table("libraries")["need"], *table("libraries")["works"]):
        of(row.get("library", NO_LIBRARY)).rows.append(row)
    for row in table("backends")["plan"]:
        of(row["launcher"]).options.append(row)
    return dict(sorted(found.items()))


def library_index() -> str:
    text = (
        "# Libraries and launchers\n\nA page each, from `src/bwlint/chips/libraries.toml` and `backends.toml`: what"
        " works on which chip, from which version on, and where that was read.\n\n"
    )
    rows = [
        (
            f"[{one.title}]({name}.md)",
            len(one.rows) or "",
            len(one.options) or "",
            *(_answers(one, chip) for chip in ASKED),
        )
        for name, one in shelves().items()
    ]
    return text + _table(("library", "names", "options", *(f"on {chip}" for chip in ASKED)), rows)


def _answers(one: Shelf, chip: str) -> str:
    """How many rows of a library are for a chip, and how many for others alone."""
    words = [_on(row, chip) for row in (*one.rows, *one.options)]
    return ", ".join(f"{words.count(word)} {word}" for word in ("yes", "no") if word in words)


def library_page(one: Shelf) -> str:
    chips = [chip.name for chip in all_chips() if chip.joined >= FIRST_SHOWN]
    text = f"# {one.title}\n"
    if one.rows:
        text += (
            "\nWhat works where, by the names under which code uses it. Newer versions stand first; without one a"
            " row holds for all. A proof is a kernel or a refusal that was read, a name alone makes a note. Empty: not"
            " known.\n\n"
        )
        header = ("what", "code such as", "versions", *chips, "evidence", "source")
        text += _table(header, (_need(row, chips) for row in one.rows))
    if one.options:
        text += "\n## Options\n\nWhat [moe-plan](../rules/moe-plan.md) goes by.\n\n"
        rows = [
            (_codes(row["values"]), _codes(row["options"]), _where(row), row.get("instead", ""), row["source"])
            for row in one.options
        ]
        text += _table(("value", "of", "works on", "instead on 12.x", "source"), rows)
    return text


def _need(row: Mapping[str, Any], chips: Sequence[str]) -> tuple[str, ...]:
    example = f"`{row['example'].strip().splitlines()[-1].strip()}`"
    what = row["what"] + ("" if "chips" in row else f" ({_where(row)})")
    return what, example, row.get("versions", ""), *(_on(row, chip) for chip in chips), _strength(row), row["source"]


def _strength(row: Mapping[str, Any]) -> str:
    return str(row.get("strength", "works"))


def _on(row: Mapping[str, Any], chip: str) -> str:
    """What a row says of a chip: what is known to work somewhere says nothing of other chips."""
    if "chips" not in row:
        return ""
    return "yes" if chip in row["chips"] else "no" if "strength" in row or "outcome" in row else ""


def _where(row: Mapping[str, Any]) -> str:
    if "chips" in row:
        return str(ChipSet.of(*row["chips"])).removesuffix(" only")
    return f"machines with {row.get('needs') or row.get('links')}"


def _codes(values: Iterable[str]) -> str:
    return ", ".join(f"`{value}`" for value in values if value) or "set"


def _words(keys: str, sources: Mapping[str, str]) -> str:
    return "; ".join(sources[key] for key in keys.split())


def _table(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def stale(docs: Path) -> list[str]:
    """The pages below `docs` that are not what they should be, and made pages that are there for nothing."""
    made = pages()
    there = {path.relative_to(docs).as_posix(): path.read_text("utf-8") for path in docs.rglob("*.md")}
    left = [path for path, text in there.items() if text.startswith(MADE) and path not in made]
    return sorted([path for path, text in made.items() if there.get(path) != text] + left)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing and say what would change")
    wrong = stale(DOCS)
    if parser.parse_args().check:
        print("".join(f"docs/{path} is stale: python tools/docs.py\n" for path in wrong), end="")
        return bool(wrong)
    made = pages()
    for path in wrong:
        page = DOCS / path
        if path not in made:
            page.unlink()
            continue
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(made[path], "utf-8")
    print(f"{len(wrong)} of {len(made)} pages written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
