"""Static checks of a class or template by name: `Arch<900, 1000>::admits(sm)`.

Under the key of a static member, or of a function template, a file has a macro whose first parameters are those of the
template; a parameter that ends in dots takes any number of arguments. A type that is an argument is its own text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bwlint.model.expr import Expr, Span, const
from bwlint.readers.cuda.expressions import Resolve, number
from bwlint.readers.cuda.instances import given, template_head, template_parameters
from bwlint.readers.cuda.scopes import CodeScope

_MEMBER = re.compile(r"(?:\w+::)*(?P<owner>[A-Z]\w*)(?P<given><.*>)?::(?P<name>[A-Za-z_]\w*)$")
_GIVEN = re.compile(r"(?:\w+::)*(?P<name>[a-z_]\w*)(?P<given><.*>)$")
_TYPE = re.compile(r"(?:\w+::)*[A-Z]\w*[a-z]\w*(?:<.*>)?$|.*>$")
_BASE = re.compile(r"(?::(?!:)\s*(?:public\s+)?|=\s*)(?:\w+::)*(?P<name>[A-Z]\w*)\s*(?=<)")


@dataclass(frozen=True, slots=True)
class Template:
    """The parameters of a template, a pack with its dots, and the arguments that it is written for alone."""

    params: tuple[str, ...] = ()
    special: tuple[str, ...] = ()


def template(text: str, scope: CodeScope, name: str) -> Template:
    """What stands in front of a definition."""
    opening = template_head(text, scope)
    named = template_parameters(text, opening) if opening is not None else None
    head = text[opening : scope.open] if opening is not None else ""
    params = tuple(f"{one}..." if re.search(rf"\.\.\.\s*{one}\b", head) else one for one in named or ())
    special, _ = given(text, max(text.rfind(name, scope.header, scope.open), scope.header) + len(name))
    return Template(params, special)


def base(text: str, scope: CodeScope) -> tuple[str, tuple[str, ...]] | None:
    """The template that a class is made of, with its arguments."""
    found = _BASE.search(text, scope.header, scope.close if text.startswith("=", scope.open) else scope.open)
    return (found["name"], given(text, found.end())[0]) if found is not None else None


def asked(name: str, at: Span, resolve: Resolve) -> tuple[str, tuple[Expr, ...]] | None:
    """The key of a static member or of a function template, and the arguments of the template."""
    member = _MEMBER.match(name)
    found = member or _GIVEN.match(name)
    if found is None:
        return None
    key = f"{member['owner']}::{member['name']}" if member is not None else f"{found['name']}<>"
    return key, tuple(argument(one, at, resolve) for one in given(found["given"] or "", 0)[0])


def argument(text: str, at: Span, resolve: Resolve) -> Expr:
    """An argument of a template: a number, a type, or the name of a number."""
    value = number(text) if text.isdigit() else None
    if value is not None or _TYPE.match(text):
        return const(text if value is None else value, at)
    return resolve(text, at)
