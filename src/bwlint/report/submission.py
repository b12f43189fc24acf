"""Receipts for sending in, without anything personal, described by `submission.schema.json`.

A document keeps what its own schema names and nothing else, so that what comes in reads like any receipt. Texts lose
paths (those below a scanned repository keep their place in it), names of users and hosts, identifiers of devices and
addresses; what a compiler printed and code that was cut out of a source stay where they are.
"""

from __future__ import annotations

import getpass
import json
import os
import platform
import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from posixpath import commonpath
from typing import Any

from bwlint import __version__
from bwlint.report.write import dumps

MOST_BYTES = 64 << 20
"""Of a receipt."""
_KINDS = {"cases": "selftest", "receipts": "receipts"}
"""A kind of receipt by the list that it holds."""
_BLANK: Mapping[str, Any] = {"uuid": "", "commits": [], "log": "", "slice": ""}
_SLOTS = frozenset({"PCI_BUS_ID", "PCI_DEVICE_ID", "PCI_DOMAIN_ID", "GPU_PCI_SUBSYSTEM_ID", "HOST_NUMA_ID"})
"""Attributes that tell one machine from another."""
_REMOVED = "<removed>"
_IDENTIFIER = re.compile(
    r"\b(?:GPU|MIG)-[0-9A-Fa-f][0-9A-Fa-f/-]{7,}|\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b"
    r"|(?i:\bserial(?:[ _-]?(?:number|no))?\W{0,3}\w*\d\w*)|\b[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}\b"
    r"|[\w.+-]+@[\w-]+\.[\w.-]+|(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}\b(?!\.)|\b[a-z][a-z+]*://\S+"
)
_PATH = re.compile(r"(?:(?<![\w.)\]}>~/\\])|(?<=-[IL]))(?:~\w*|\b[A-Za-z]:|\.\.)?(?:[/\\]+[^\s/\\'\"`,;:()<>|]+)+")
_USER = re.compile(r"(?:/home|/Users|[A-Za-z]:\\Users)[/\\]([^/\\\n\"':;,]+)")
_KERNEL = re.compile(r"(\d+(?:\.\d+)+)[-+]\S*")
_VERSION = re.compile(r"[\d.]{1,40}(?:[a-z]+[\d.]*)?")
_EVERYBODY = frozenset(
    {"root", "user", "admin", "ubuntu", "debian", "linux", "nvidia", "cuda", "gpu", "localhost", "~", "/", "/root"}
)
"""What images and installers call people and machines; a word of receipts as well."""


class NotAReceipt(ValueError):
    """A file that cannot be sent in; the message says why."""


@dataclass(frozen=True, slots=True)
class Personal:
    """What must not get out: `roots` are folders below which a path keeps its place, `words` names of people, homes and
    hosts."""

    roots: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def without(self, text: str) -> str:
        """A text in which nothing of this is left."""
        for root in self.roots:
            text = text.replace(f"{root}/", "")
        text = _IDENTIFIER.sub(_REMOVED, text)
        for word in self.words:
            if "/" in word or "\\" in word:
                text = text.replace(word, "~")
        text = _PATH.sub(lambda path: re.split(r"[/\\]", path[0])[-1], text)
        for word in self.words:
            text = re.sub(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", _REMOVED, text, flags=re.IGNORECASE)
        return text


def personal() -> Personal:
    """What is known of whoever runs this, and of the machine."""
    names = [os.environ.get(key, "") for key in ("USER", "LOGNAME", "USERNAME", "SUDO_USER", "HOSTNAME")]
    hosts = (socket.gethostname(), platform.node())
    with suppress(OSError, KeyError, ImportError):  # nobody is logged in, and there is no name to tell
        names.append(getpass.getuser())
    homes = [os.path.expanduser("~"), os.environ.get("USERPROFILE", "")]  # noqa: PTH111
    return Personal(words=_told([*names, *homes, *hosts, *(host.partition(".")[0] for host in hosts)]))


def _told(words: Iterable[str]) -> tuple[str, ...]:
    """Longest first, without what tells nothing."""
    kept = {word for word in words if len(word) > 1 and word.lower() not in _EVERYBODY}
    return tuple(sorted(kept, key=lambda word: (-len(word), word)))


def read(path: Path) -> dict[str, Any]:
    """A receipt of `bwlint confirm`. Raises NotAReceipt, OSError."""
    if not path.is_file():
        raise NotAReceipt(f"{path}: no plain file")
    if path.stat().st_size > MOST_BYTES:
        raise NotAReceipt(f"{path}: larger than {MOST_BYTES >> 20} MiB")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        kind_of(found)
    except (ValueError, RecursionError) as error:
        raise NotAReceipt(f"{path}: no receipt of bwlint confirm: {error}") from None
    return found  # type: ignore[no-any-return]


def kind_of(document: Any) -> str:
    """`selftest` or `receipts`. Raises NotAReceipt."""
    if not isinstance(document, dict) or document.get("version") != 1 or not isinstance(document.get("machine"), dict):
        raise NotAReceipt("it has no version 1 and no machine")
    found = [kind for key, kind in _KINDS.items() if isinstance(document.get(key), list)]
    if len(found) != 1:
        raise NotAReceipt("it has neither cases of a self-test nor receipts of findings")
    return found[0]


def document(receipts: Iterable[dict[str, Any]], known: Personal) -> dict[str, Any]:
    return {
        "version": 1,
        "tool": {"name": "bwlint", "version": __version__},
        "documents": [{"kind": kind_of(each), "document": _without(each, known)} for each in receipts],
    }


def render(submission: dict[str, Any]) -> str:
    return dumps(submission)


def contents(submission: dict[str, Any]) -> Iterator[str]:
    """What is in it and what was left out, a line each, for whoever is to send it."""
    for each in submission["documents"]:
        told = each["document"]
        rows = told.get("cases", told.get("receipts"))
        kind = "cases of the self-test" if each["kind"] == "selftest" else "receipts of findings, with what they quote"
        yield f"{len(rows)} {kind}: verdicts, reasons, times"
        for path in dict.fromkeys(row["path"] for row in told.get("receipts", ())):
            yield f"  of {path}"
        machine = told["machine"]
        for device in machine.get("devices", ()):
            yield f"  GPU: {device.get('name')} ({device.get('capability')}), {len(device['attributes'])} attributes"
        yield f"  driver {machine.get('driver') or 'none'}, {machine.get('system')}, Python {machine.get('python')}"
        packages = (f"{package.get('name')} {package.get('version')}" for package in machine.get("packages", ()))
        yield f"  versions of packages: {', '.join(packages) or 'none'}"
    yield (
        "left out: names of users and hosts, folders, environment, UUIDs, commits, times of day, output of compilers, "
        "cut-out code"
    )


def _without(receipt: dict[str, Any], known: Personal) -> dict[str, Any]:
    own = Personal(_roots(receipt), _told([*known.words, *_users(receipt)]))
    schema = _schema(kind_of(receipt))
    # A self-test's schema refers to that of receipts for what both have.
    found: dict[str, Any] = _Shape({**_schema("receipts")["$defs"], **schema["$defs"]}, own).kept(receipt, schema)
    return found


def _schema(kind: str) -> Any:
    return json.loads(files("bwlint.report").joinpath(f"{kind}.schema.json").read_text("utf-8"))


def _roots(receipt: dict[str, Any]) -> tuple[str, ...]:
    """The repositories that were scanned, and the folder that holds all else that was."""
    commits = receipt["machine"].get("commits", ())
    paths = {str(commit["path"]).rstrip("/") for commit in commits if isinstance(commit, dict) and "path" in commit}
    rows = [str(row.get("path")) for row in receipt.get("receipts", ()) if isinstance(row, dict)]
    elsewhere = [path.rpartition("/")[0] for path in rows if path.startswith("/")]
    elsewhere = [path for path in elsewhere if not any(f"{path}/".startswith(f"{root}/") for root in paths)]
    found = {*paths, commonpath(elsewhere) if elsewhere else ""}
    return tuple(sorted((path for path in found if path.count("/") > 1), key=lambda path: (-len(path), path)))


def _users(value: Any) -> Iterator[str]:
    """Names of home folders that stand anywhere in a receipt; it may be of another machine."""
    if isinstance(value, str):
        yield from (name for match in _USER.findall(value) for name in (match.strip(), *match.split()[:1]))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from (*_users(key), *_users(item))
    elif isinstance(value, list):
        for item in value:
            yield from _users(item)


@dataclass(frozen=True, slots=True)
class _Shape:
    """Values cut down to a schema: what it does not name goes, what it lists stays, and texts lose what is personal."""

    defs: Mapping[str, Any]
    known: Personal

    def kept(self, value: Any, schema: Mapping[str, Any]) -> Any:
        if "$ref" in schema:
            schema = self.defs[schema["$ref"].rpartition("/")[2]]
        if value in schema.get("enum", ()) or ("const" in schema and value == schema["const"]):
            return value
        if isinstance(value, dict) and "properties" in schema:
            return {
                name: self._field(name, value[name], part)
                for name, part in schema["properties"].items()
                if name in value
            }
        if isinstance(value, list):
            return [self.kept(item, schema.get("items", {})) for item in value]
        if isinstance(value, dict):
            return {
                self.known.without(str(key)): self._field(str(key), item, {})
                for key, item in value.items()
                if key not in _SLOTS
            }
        return self.known.without(value) if isinstance(value, str) else value

    def _field(self, name: str, value: Any, schema: Mapping[str, Any]) -> Any:
        if name in _BLANK:
            return _BLANK[name]
        if name in ("version", "driver", "bwlint") and isinstance(value, str) and _VERSION.fullmatch(value):
            return value
        if name == "started" and isinstance(value, str):
            return value[:10]
        if name == "system" and isinstance(value, str):
            return self.known.without(_KERNEL.sub(r"\1", value))
        if name == "path" and isinstance(value, str):
            return _cut(self.known.without(value))
        return self.kept(value, schema)


def _cut(path: str) -> str:
    """A path that leaves its tree, by its last name."""
    parts = path.replace("\\", "/").split("/")
    return parts[-1] if path.startswith("/") or ".." in parts else path.removeprefix("./")
