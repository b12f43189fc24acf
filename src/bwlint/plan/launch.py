"""Find launch commands in scripts, containers and YAML: which plan they use, and how to write another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from shlex import quote

from bwlint.chips.backends import plan_of
from bwlint.chips.launchers import Launcher, LaunchOption, PlanSpelling, launchers
from bwlint.plan.compare import Comparison, JoinedGpus, PlanCost, Split, Suggestion

_MOST_LAUNCHES = 8
_MOST_WORDS = 2000
_LONGEST_NAME = 300
_MOST_LINES = 100
"""Of a command."""

_PIECE = re.compile(r"""\\.|["']|\s+|[;|]+|[^\s"'\\;|]+|\\""", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:@|\{?\w{0,40}(?:ARG|OPT|FLAG|EXTRA|\[[@*]\]))", re.IGNORECASE)
_UNSEEN = "bwlint cannot read options that come from variables"
_QUOTES = frozenset({"'", '"'})
_ENDS = frozenset({";", ";;", "|", "||", "&&", "&"})
_REDIRECTION = re.compile(r"\d*[<>]|&>")
_ROW = re.compile(r"(?P<key>[A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(?P<value>[^#\n]*))?")
_ON = frozenset({"true", "yes", "on", "1"})


@dataclass(frozen=True, slots=True)
class LaunchLine:
    """A command that starts a server, or a file of its options."""

    launcher: Launcher
    line: int
    words: tuple[str, ...]
    """Of the command; for a file its options as if they stood in one."""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    """What stands beside the command in its line."""
    is_file: bool = False
    has_lines: bool = False
    """Whether the command goes over several lines."""

    @property
    def split(self) -> dict[str, str]:
        """What the roles have by which it splits the model, "on" for a switch; a size of 1 splits nothing."""
        options = _options(self.words, self.launcher)
        found = {option.role: value for option, value, _ in options if option is not None and not option.needs}
        return {role: value for role, value in found.items() if value not in ("", "1")}


def launches(text: str, is_yaml: bool) -> list[LaunchLine]:
    found = _in_yaml(text) if is_yaml else []
    if found:
        return found
    contained, taken = _in_containers(text) if is_yaml else ([], frozenset())
    commands = ((line, command) for line, command in _commands(text) if _may_launch(command))
    found_in = (one for line, command in commands for one in _in_command(line, _words(command), "\n" in command))
    lines = (launch for launch in found_in if launch.line not in taken)
    return sorted((*contained, *islice(lines, _MOST_LAUNCHES)), key=lambda launch: launch.line)[:_MOST_LAUNCHES]


def with_suggestions(found: Comparison, path: str, starts: Sequence[LaunchLine]) -> Comparison:
    """The comparison with how each launch of the file at `path` is written for the best plan."""
    best, machine = found.best, found.machine
    suggestions = tuple(suggestion(start, best, machine) for start in starts) if best else ()
    return replace(found, config=path, suggestions=suggestions)


def suggestion(launch: LaunchLine, best: PlanCost, machine: JoinedGpus) -> Suggestion:
    """How the launch is written for the best plan, without what cannot run on these GPUs."""
    gpus, stopped = machine.gpus, dict(_stopped(launch, machine.product.chip))
    present = _present(launch, gpus)
    name, why = (present[0].name, present[1].alike) if present else ("", "")
    wanted = _wanted(launch.launcher, best.split, gpus)
    able = replace(launch, words=tuple(word for place, word in enumerate(launch.words) if place not in stopped))
    written = _as_file(able, wanted) if launch.is_file else _as_command(able, wanted)
    written += tuple(f"# without {launch.words[place]}" for place, why in stopped.items() if launch.is_file and why)
    # Arrays, and what is named for arguments, may hold any option.
    has_unseen = any(_VARIABLE.search(word) for word in launch.words)
    remarks = (launch.launcher.remarks.get(best.split.kind, ""), _UNSEEN if has_unseen else "")
    return Suggestion(
        launch.launcher.name,
        launch.launcher.version,
        launch.line,
        name,
        why,
        () if name == best.split.name and not stopped else written,
        "; ".join(filter(None, remarks)),
        tuple(filter(None, stopped.values())),
    )


def _stopped(launch: LaunchLine, chip: str) -> Iterator[tuple[int, str]]:
    """The words of a launch that ask for what cannot run on a chip, by their places: why, once for each option."""
    for place, word in enumerate(launch.words):
        head, joined, value = word.partition("=")
        following = launch.words[place + 1] if not joined and place + 1 < len(launch.words) else ""
        given = _unquoted(value if joined else "" if following.startswith("-") else following)
        plan = plan_of(head, given) if joined or head.startswith("-") else None
        if (
            plan is not None
            and plan.launcher == launch.launcher.name
            and not plan.costs
            and chip not in plan.legal.names
        ):
            asks = f"`{head} {given}`".replace(" `", "`")
            yield place, f"{asks} asks for {plan.what}; on {chip} it {plan.outcome}; {plan.instead}"
            if following and given:
                yield place + 1, ""


def _in_containers(text: str) -> tuple[list[LaunchLine], frozenset[int]]:
    """Launches by lists of words, and the lines that they take up."""
    found: list[LaunchLine] = []
    taken: set[int] = set()
    for command in container_commands(text):
        words = tuple(map(quote, command.words))
        launcher = _launcher(words)
        if launcher is not None:
            found.append(LaunchLine(launcher, command.lines[0], words))
            taken.update(command.lines)
    return found, frozenset(taken)


def _in_command(line: int, words: tuple[str, ...], has_lines: bool) -> Iterator[LaunchLine]:
    first = 0
    for end in [place for place, word in enumerate(words) if word in _ENDS] + [len(words)]:
        part = words[first:end]
        launcher = _launcher(part)
        if launcher is not None:
            yield LaunchLine(launcher, line, part, words[:first], words[end:], has_lines=has_lines)
        for inner in (word[1:-1] for word in part if word[0] in "\"'" and word[-1] == word[0]):
            inside = _words(inner)
            if len(inside) > 1 and _launcher(inside) is not None:  # bash -c "..."
                yield from _in_command(line, inside, has_lines)
        first = end + 1


def _commands(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a script, joined where they go on, with the number of the first. A line that begins with an option
    belongs to the one above, which is how folded text of YAML has it; and a launch goes on within quotes, as JSON of
    several lines does."""
    begun: list[str] = []
    first, goes_on, quote = 1, False, ""
    for number, line in enumerate(text.split("\n"), start=1):
        is_quoted = quote and len(begun) < _MOST_LINES
        if begun and not (goes_on or is_quoted or line.lstrip().startswith("--")):
            yield first, "\n".join(begun)
            begun, quote = [], ""
        first = first if begun else number
        row = line.rstrip("\r")
        goes_on = row.endswith("\\")
        begun.append(row[:-1] if goes_on else row)
        if len(begun) > 1 or _may_launch(row):
            quote = _quote_after(begun[-1], quote)
    yield first, "\n".join(begun)


def _quote_after(line: str, quote: str) -> str:
    """The quote that is open behind a line, with the one that was before it."""
    for match in _PIECE.finditer(line):
        piece = match.group()
        if quote:
            quote = "" if _closes(piece, quote) else quote
        elif piece[0] == "#" and match.start() and line[match.start() - 1].isspace():
            break
        elif piece in _QUOTES:
            quote = piece
    return quote


def _closes(piece: str, quote: str) -> bool:
    return piece == quote or (quote == "'" and piece[-1] == "'")


def _may_launch(command: str) -> bool:
    return any(launcher.name.lower() in command for launcher in launchers())


def _words(command: str) -> tuple[str, ...]:
    """The words of a command up to its comment, with their quotes; what parts commands is a word too."""
    words: list[str] = []
    begun: list[str] = []
    quote = ""
    for match in _PIECE.finditer(command):
        piece = match.group()
        if quote:
            begun.append(piece)
            quote = "" if _closes(piece, quote) else quote
        elif piece.isspace() or piece[0] in ";|":
            words += ["".join(begun)] if begun else []
            words += [] if piece.isspace() else [piece]
            begun = []
        elif piece[0] == "#" and not begun:
            break
        else:
            begun.append(piece)
            quote = piece if piece in _QUOTES else ""
    words += ["".join(begun)] if begun else []
    return tuple(words[:_MOST_WORDS])


def _launcher(words: Sequence[str]) -> Launcher | None:
    line = " ".join(word for word in words if " " not in word and len(word) < _LONGEST_NAME)
    return next((launcher for launcher in launchers() if launcher.command.search(line)), None)


def _in_yaml(text: str) -> list[LaunchLine]:
    """The options at the top of a file, for the launcher that knows most of them."""
    words = []
    for line in text.split("\n")[:_MOST_WORDS]:
        match = _ROW.match(line)
        if match is not None:
            words.append(f"--{match['key'].replace('_', '-')}={_unquoted((match['value'] or '').strip())}")
    known = [(sum(option is not None for option, _, _ in _options(words, each)), each) for each in launchers()]
    most, launcher = max(known, key=lambda each: each[0])
    return [LaunchLine(launcher, 1, tuple(words), is_file=True)] if most else []


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _options(words: Sequence[str], launcher: Launcher) -> Iterator[tuple[LaunchOption | None, str, Sequence[str]]]:
    """The words of a command, those of an option of the launcher together, with its value."""
    names = {name: option for option in launcher.options for name in option.names}
    place = 0
    while place < len(words):
        word = words[place]
        head, joined, value = word.partition("=")
        option = names.get(head.replace("_", "-") if head.startswith("--") else head)
        place += 1
        if option is None:
            yield None, "", (word,)
        elif option.kind == "switch":
            is_off = bool(joined) and _unquoted(value).lower() not in _ON
            yield option, "" if is_off else "on", (word,)
        elif joined or place == len(words):
            yield option, _unquoted(value), (word,)
        else:
            yield option, _unquoted(words[place]), (word, words[place])
            place += 1


def _present(launch: LaunchLine, gpus: int) -> tuple[Split, PlanSpelling] | None:
    if gpus == 1:
        return None if launch.split else (Split("one"), PlanSpelling("one", {}))
    sizes = (size for size in range(1, gpus) if gpus % size == 0)
    pipelines = (Split("TP+PP", tensor=size, pipeline=gpus // size) for size in sizes)
    for split in (Split("EP", expert=gpus), Split("TP", tensor=gpus), *pipelines):
        for spelling in launch.launcher.spellings:
            if spelling.plan == split.kind and launch.split == _valued(spelling.options, split, gpus):
                return split, spelling
    return None


def _wanted(launcher: Launcher, split: Split, gpus: int) -> dict[str, str]:
    if split.kind == "one":
        return {}
    spelling = next(each for each in launcher.spellings if each.plan == split.kind and not each.alike)
    return _valued(spelling.options, split, gpus)


def _valued(options: Mapping[str, str], split: Split, gpus: int) -> dict[str, str]:
    """The values of a plan's roles; a size of 1 is what an option has that nobody gives."""
    numbers = {"gpus": gpus, "tensor": split.tensor, "pipeline": split.pipeline}
    values = {role: str(numbers.get(word, word)) for role, word in options.items()}
    return {role: value for role, value in values.items() if value != "1"}


def _as_command(launch: LaunchLine, wanted: Mapping[str, str]) -> tuple[str, ...]:
    """The command with the plan's options in the place of those that it has, an option a line where it has lines."""
    left = dict(wanted)
    groups: list[list[str]] = [[*launch.before]]
    end: list[str] = []
    for option, _, words in _options(launch.words, launch.launcher):
        if option is None and (end or _REDIRECTION.match(words[0])):
            end.extend(words)
        elif option is None:
            groups.append([*words]) if words[0].startswith("-") else groups[-1].extend(words)
        elif option.role in left:
            groups.append(_spelled(option, left.pop(option.role)))
        elif option.needs in wanted:
            groups.append([*words])
        else:
            groups.append([])
    groups += [_spelled(_option(launch.launcher, role), value) for role, value in left.items()]
    groups.append([*end, *launch.after])
    texts = [" ".join(group) for group in groups if group]
    if not launch.has_lines:
        return (" ".join(texts),)
    return tuple(
        ("    " if number else "") + text + (" \\" if number < len(texts) - 1 else "")
        for number, text in enumerate(texts)
    )


def _as_file(launch: LaunchLine, wanted: Mapping[str, str]) -> tuple[str, ...]:
    """The rows of a file that are to change, and those that are to go."""
    left = dict(wanted)
    rows = []
    for option, _, words in _options(launch.words, launch.launcher):
        if option is None or option.needs in wanted:
            continue
        key = words[0].partition("=")[0].removeprefix("--")
        rows.append(_row(key, left.pop(option.role)) if option.role in left else f"# without {key}")
    rows += [_row(_option(launch.launcher, role).names[0].removeprefix("--"), value) for role, value in left.items()]
    return tuple(rows)


def _row(key: str, value: str) -> str:
    return f"{key}: {'true' if value == 'on' else value}"


def _option(launcher: Launcher, role: str) -> LaunchOption:
    return next(option for option in launcher.options if option.role == role)


def _spelled(option: LaunchOption, value: str) -> list[str]:
    return [option.names[0]] if option.kind == "switch" else [option.names[0], value]


_MOST_YAML_LINES = 4000
_MOST_ITEMS = 400
_LONGEST_LINE = 2000
_KEY = re.compile(r"(?P<indent>[ \t]*(?:- +)?)(?P<key>command|args|entrypoint)[ \t]*:[ \t]*(?P<rest>\[.*)?(?:#.*)?$")
_ITEM = re.compile(r"(?P<indent>[ \t]*)-[ \t]+(?P<item>\S.*)$")
_SCALAR = re.compile(r"\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>(?:[^']|'')*)'|(?P<plain>[^\s,\[\]\"'][^,\[\]]*)")
_PLAIN = re.compile(r"\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>(?:[^']|'')*)'|(?P<plain>[^\"'|>&*!{\[].*?)")
_YAML_COMMENT = re.compile(r"\s+#.*$")
_FIRST, _LAST = ("entrypoint", "command"), "args"


@dataclass(slots=True)
class ContainerCommand:
    """What a container runs: the words of its lists, by key, and the 1-based lines that they stand in."""

    lists: dict[str, list[str]] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)

    @property
    def words(self) -> tuple[str, ...]:
        """The words in the order in which they are run, whatever the order of the keys."""
        return tuple(word for key in (*_FIRST, _LAST) for word in self.lists.get(key, ()))


def container_commands(text: str) -> Iterator[ContainerCommand]:
    """The commands of a file that are lists of words, in order. One that holds a script is none: its lines are read."""
    lines = text.split("\n")[:_MOST_YAML_LINES]
    found: dict[tuple[int, int], ContainerCommand] = {}
    scripts: set[tuple[int, int]] = set()
    above: list[int] = []
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        while above and _indent(lines[above[-1]]) >= _indent(line):
            above.pop()
        key = _KEY.match(line[:_LONGEST_LINE])
        if key is None:
            above.append(number)
            continue
        column = len(key["indent"])
        begins = _indent(line) < column
        owner = (number if begins else above[-1] if above else -1, column)
        above.append(number)
        items, last = _flow(lines, number) if key["rest"] else _block(lines, number, column)
        if items is None:
            scripts.add(owner)
        else:
            one = found.setdefault(owner, ContainerCommand())
            one.lists.setdefault(key["key"], items)
            one.lines += range(number + 1, last + 2)
    yield from (one for owner, one in found.items() if owner not in scripts)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _flow(lines: Sequence[str], number: int) -> tuple[list[str] | None, int]:
    """`[a, "b"]`, over several lines too, and its last line."""
    text = lines[number].partition(":")[2]
    for last in range(number, min(len(lines), number + _MOST_ITEMS)):
        text += "" if last == number else f" {lines[last].strip()}"
        if text.rstrip().endswith("]"):
            inside = text.strip()[1:-1]
            return [_scalar_word(match) for match in _SCALAR.finditer(inside)][:_MOST_ITEMS], last
    return None, number


def _block(lines: Sequence[str], number: int, column: int) -> tuple[list[str] | None, int]:
    """Items below a key, each of one line, and the last of their lines; no items where one is a script."""
    items: list[str] = []
    last = number
    for at in range(number + 1, min(len(lines), number + _MOST_ITEMS)):
        line = lines[at].rstrip()
        if not line or line.lstrip().startswith("#"):
            continue
        match = _ITEM.match(line)
        if match is None or len(match["indent"]) < column:
            break
        scalar = _PLAIN.fullmatch(_YAML_COMMENT.sub("", match["item"]))
        if scalar is None:
            return None, number
        items.append(_scalar_word(scalar))
        last = at
    return items, last


def _scalar_word(scalar: re.Match[str]) -> str:
    if scalar["double"] is not None:
        return re.sub(r"\\(.)", r"\1", scalar["double"])
    return scalar["single"].replace("''", "'") if scalar["single"] is not None else scalar["plain"].strip()
