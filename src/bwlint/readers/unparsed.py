"""Why a file of JSON, TOML or YAML that says nothing may say something: it cannot be parsed as what it is."""

from __future__ import annotations

import json
import re

from bwlint.data import parsed_toml

_LONGEST = 200_000
"""Characters: nobody wrote a longer one by hand, where errors are made."""
_DEEPEST = 500
_TOO_DEEP = "nested too deep to read"
_COMMENT_LINE = re.compile(r"(?m)^[ \t]*//.*$")
_LAST_COMMA = re.compile(r",(?=\s*[}\]])")


def fault(path: str, source: str) -> str:
    """What is wrong with the syntax of a file, and in which line; "" where nothing is, or it is of another kind."""
    suffix = path[path.rfind(".") :]
    if len(source) > _LONGEST or suffix not in _FAULTS:
        return ""
    try:
        return _FAULTS[suffix](source)
    except RecursionError:
        return _TOO_DEEP


def _of_json(source: str) -> str:
    # Editors and compilers take comments and a comma behind the last item.
    text = _LAST_COMMA.sub(" ", _COMMENT_LINE.sub("", source))
    try:
        json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        return f"not JSON: {error.msg} (line {error.lineno})"
    return ""


def _of_toml(source: str) -> str:
    try:
        parsed_toml(source)
    except ValueError as error:
        return f"not TOML: {error}"
    return ""


def _of_yaml(source: str) -> str:
    import yaml

    depth = 0
    try:
        for event in yaml.parse(source, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                return _TOO_DEEP
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return f"not YAML: {error.problem or error.context} (line {mark.line + 1})" if mark else "not YAML"
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        return f"not YAML: {str(error).splitlines()[0]}"
    return ""


_FAULTS = {".json": _of_json, ".toml": _of_toml, ".yaml": _of_yaml, ".yml": _of_yaml}
