"""What bwlint believes of CMake equals what CMake does: intersections, regular expressions, conditions."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

from processes import cmake_prints

from bwlint.chips.toolkits import releases
from bwlint.readers.buildfiles.asked import on_toolkit, truth
from bwlint.readers.buildfiles.cmake_syntax import commands
from bwlint.readers.buildfiles.patterns import Regex
from bwlint.readers.buildfiles.targets import loose_intersection

INTERSECTION = r"""
function(kit_archs_intersection OUT OFFERED ASKED)
  set(plain)
  set(ptx)
  set(exact)
  foreach(one ${OFFERED})
    if(one MATCHES "\\+PTX$")
      string(REPLACE "+PTX" "" one "${one}")
      list(APPEND ptx ${one})
    endif()
    if(one MATCHES "[af]$")
      list(APPEND exact ${one})
    else()
      list(APPEND plain ${one})
    endif()
  endforeach()
  set(left ${ASKED})
  set(built)
  set(families)
  foreach(one ${exact})
    string(REGEX REPLACE "[af]$" "" number "${one}")
    if(number IN_LIST left)
      list(APPEND built ${one})
      list(REMOVE_ITEM left ${number})
    elseif(one MATCHES "f$")
      list(APPEND families ${number})
    endif()
  endforeach()
  foreach(number ${families})
    string(REGEX REPLACE "\\..*" "" major "${number}")
    foreach(asked ${left})
      if(asked MATCHES "^${major}\\.")
        list(APPEND built ${asked})
        list(REMOVE_ITEM left ${asked})
        break()
      endif()
    endforeach()
  endforeach()
  list(SORT plain COMPARE NATURAL)
  foreach(asked ${left})
    string(REGEX REPLACE "\\..*" "" major "${asked}")
    set(best)
    foreach(one ${plain})
      string(REGEX REPLACE "\\..*" "" own "${one}")
      if(one VERSION_LESS_EQUAL asked AND (one IN_LIST ptx OR own STREQUAL major))
        set(best ${one})
      endif()
    endforeach()
    if(best IN_LIST ptx)
      list(APPEND built "${best}+PTX")
    elseif(best)
      list(APPEND built ${best})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES built)
  set(${OUT} "${built}" PARENT_SCOPE)
endfunction()
"""

INPUTS = [
    ("12.0f", "12.0"),
    ("12.0f", "12.1"),
    ("12.0a", "12.1"),
    ("12.0a;12.1a", "12.0;12.1"),
    ("9.0a;10.0f;12.0f", "9.0;10.0;10.3;12.0;12.1"),
    ("9.0a;10.0a;10.3a", "8.0;12.0"),
    ("8.9;12.0", "12.1"),
    ("8.9;12.0", "8.6;8.9;12.0;12.1"),
    ("8.0+PTX", "9.0;12.0"),
    ("8.0+PTX;9.0+PTX", "7.5;8.6;12.1"),
    ("8.0+PTX;12.0f", "8.0;12.0;12.1"),
    ("8.0+PTX;12.0a;12.1a", "12.0;12.1"),
    ("7.5", "8.0"),
    ("7.5;8.0;8.6;8.7;8.9", "8.8;9.0"),
    ("9.0a", "9.0;9.0"),
    ("10.0f;11.0f", "10.3;11.0"),
    ("10.0f", "10.0;10.3;10.7"),
    ("12.1a", "12.0"),
    ("12.0;12.0a", "12.0;12.1"),
    ("8.0;9.0;10.0;12.0", "12.1;11.0;10.3;9.0;8.9"),
]


def test_intersections(cmake: str, tmp_path: Path) -> None:
    assert len(INPUTS) == 20
    calls = "".join(
        f'kit_archs_intersection(R "{offered}" "{asked}")\nmessage(STATUS "=${{R}}")\n' for offered, asked in INPUTS
    )
    printed = cmake_prints(cmake, tmp_path, INTERSECTION + calls)
    believed = [f"={';'.join(loose_intersection(one.split(';'), other.split(';')))}" for one, other in INPUTS]
    assert believed == printed


PATTERNS = [
    *("120a", "120a|120f|121a", "12[01][af]", "12.0a", r"12\\.0a", r"^1[02]\\.(0a|3a|0f)$", "[af]$", "^(9|10)[03]a?$"),
    *(
        "(1|2)*0+a",
        "(12|10)+",
        "1(2(0|1)?)*",
        "[^0-9]",
        "a?b?c?120",
        "(a+)+b",
        ".",
        "^$",
        "[0-9]+[a-f]",
        "x|",
        "12(0|)a",
    ),
]
TEXTS = ["120a", "120f", "121a", "12.0a", "10.3a", "90a", "90", "100f", "80;120a", "abc120", "aaaaaaaaaaaaaaaaaaaa"]


def test_regular_expressions(cmake: str, tmp_path: Path) -> None:
    pairs = list(itertools.product(PATTERNS, TEXTS))
    script = "".join(
        f'if("{text}" MATCHES "{pattern}")\nmessage(STATUS yes)\nelse()\nmessage(STATUS no)\nendif()\n'
        for pattern, text in pairs
    )
    printed = cmake_prints(cmake, tmp_path, script)
    believed = ["yes" if Regex(pattern.replace("\\\\", "\\")).search(text) else "no" for pattern, text in pairs]
    assert [pair for pair, one, other in zip(pairs, believed, printed, strict=True) if one != other] == []


def random_condition(random_: random.Random, depth: int = 0) -> str:
    kind = random_.randrange(5 if depth < 3 else 1)
    if kind == 0:
        order = random_.choice(["GREATER_EQUAL", "GREATER", "LESS", "LESS_EQUAL", "EQUAL"])
        name = random_.choice(["CUDA_VERSION", "${CUDA_VERSION}"])
        return f"{name} VERSION_{order} {random_.choice(['11.8', '12.8', '12.9', '12.9.0', '13', '13.0', '13.4'])}"
    if kind == 1:
        return f"NOT {random_condition(random_, 3)}"
    if kind == 2:
        return f"({random_condition(random_, depth + 1)})"
    word = random_.choice(["AND", "OR"])
    return f"{random_condition(random_, depth + 1)} {word} {random_condition(random_, depth + 1)}"


def test_conditions(cmake: str, tmp_path: Path) -> None:
    random_ = random.Random(120)
    cases = [(random_condition(random_), random_.choice(releases())) for _ in range(200)]
    script = "".join(
        f"set(CUDA_VERSION {release})\nif({condition})\n"
        'message(STATUS "True")\nelse()\nmessage(STATUS "False")\nendif()\n'
        for condition, release in cases
    )
    printed = cmake_prints(cmake, tmp_path, script)
    believed = []
    for condition, release in cases:
        (command,) = commands(f"if({condition})")
        believed.append(str(truth(command.words, on_toolkit(release))))
    assert [case for case, one, other in zip(cases, believed, printed, strict=True) if one != other] == []
