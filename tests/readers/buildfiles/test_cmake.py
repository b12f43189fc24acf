"""CMake files: kinds, toolkits, sources and filters of the lists that they make."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bwlint.model.facts import Carry

Carries = Callable[[str, str], tuple[Carry, ...]]


def short(found: tuple[Carry, ...]) -> list[tuple[str, str, str, tuple[str, str]]]:
    return [(each.kind, each.name, " ".join(each.sass), each.toolkit) for each in found]


LADDER = """
if(DEFINED CMAKE_CUDA_COMPILER_VERSION AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.0)
  set(ARCHS "12.0f")
elseif(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8 AND SOMETHING)
  set(ARCHS "12.0a")
else()
  set(ARCHS "9.0a")
endif()
set(ARCHS "8.0")
"""


def test_toolkits_of_a_ladder(carries: Carries) -> None:
    assert [(each.sass[0], each.toolkit) for each in carries("CMakeLists.txt", LADDER)] == [
        ("120f", ("13.0", "")),
        ("120a", ("12.8", "13.0")),
        ("90a", ("", "13.0")),  # SOMETHING may be false from 12.8 on
        ("80", ("", "")),
    ]


SOURCES = """
if(V)
  archs_intersection(OUT "9.0a" "${CUDA_ARCHS}")
else()
  archs_intersection(OUT "12.0a" "${CUDA_ARCHS}")
endif()
set(SRCS "a.cu" "b.cu;c.cpp")
flags_for(SRCS "${SRCS}" ARCHS "${OUT}")
archs_intersection(OUT "10.0a" "${CUDA_ARCHS}")
flags_for(SRCS "d.cu" ARCHS "${OUT}")
"""


@pytest.mark.parametrize(
    ("added", "known"),
    [
        ("", True),
        ('list(APPEND FAST_ARCHS "12.0f")', True),
        ('list(APPEND FAST_ARCHS "${MORE_ARCHS}")', True),
        ('list(APPEND FAST_ARCHS "${_ARCH}")', False),
        ('foreach(_ARCH ${CUDA_ARCHS})\n  list(APPEND FAST_ARCHS "${_ARCH}")\nendforeach()', False),
        ('list(APPEND FAST_ARCHS "${_ARCH}")\nset(FAST_ARCHS "10.0f")', True),
    ],
)
def test_a_list_that_something_unknown_is_added_to_compiles_nothing_for_sure(
    carries: Carries, added: str, known: bool
) -> None:
    source = f'set(MORE_ARCHS "9.0a")\nset(FAST_ARCHS "10.0f")\n{added}\nflags(SRCS "a.cu" ARCHS "${{FAST_ARCHS}}")\n'
    assert any(each.sources for each in carries("a.cmake", source)) is known


def test_sources_go_to_what_the_variable_may_hold(carries: Carries) -> None:
    assert [each.sources for each in carries("a.cmake", SOURCES)] == [("a.cu", "b.cu"), ("a.cu", "b.cu"), ("d.cu",)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("set(CMAKE_CUDA_ARCHITECTURES 80 90a)", [("request", "CMAKE_CUDA_ARCHITECTURES", "80 90a", ("", ""))]),
        ('set(KIT_ARCHS "80;90" CACHE STRING "text")', [("list", "KIT_ARCHS", "80 90", ("", ""))]),
        ("list(APPEND KIT_ARCHS 120a)", [("piece", "KIT_ARCHS", "120a", ("", ""))]),
        ("set(SUPPORTED_ARCHS 90a)", [("filter", "SUPPORTED_ARCHS", "90a", ("", ""))]),
        (
            'list(APPEND SUPPORTED_ARCHS 90a)\narchs_cut(OUT "${SUPPORTED_ARCHS}" "${CUDA_ARCHS}")',
            [("kernel", "SUPPORTED_ARCHS", "90a", ("", ""))],
        ),
        (
            'set(SUPPORTED_ARCHS 90a)\narchs_cut(CUDA_ARCHS "${SUPPORTED_ARCHS}" "${CUDA_ARCHS}")',
            [("filter", "SUPPORTED_ARCHS", "90a", ("", ""))],
        ),
        ("set(KIT_TILES 64 80 90)", []),
        ("set(KIT_ARCHS native)", []),
        ("set(KIT_ARCHS)", []),
        ("message(STATUS 90a)", []),
        ("function(f)\nset(ARCHS 90a)\nendfunction()", [("list", "ARCHS", "90a", ("", ""))]),
        (
            "if(CUDA_VERSION VERSION_LESS 12.9)\nset(ARCHS 120a)\nendif()",
            [("list", "ARCHS", "120a", ("", "12.9"))],
        ),
    ],
)
def test_lists(carries: Carries, source: str, expected: list[tuple[str, str, str, tuple[str, str]]]) -> None:
    found = (each for each in carries("CMakeLists.txt", source) if each.kind != "inherited")
    assert short(tuple(found)) == expected


@pytest.mark.parametrize(
    ("condition", "body", "expected"),
    [
        ("ARCHS MATCHES 120a", "add(x)", "120a"),
        ("ARCHS MATCHES 120a OR ARCHS MATCHES 121a", "add(x)", "120a 121a"),
        ("WIN32 AND ARCHS MATCHES 120a", "add(x)", "120a"),
        ('ARCHS MATCHES "12\\\\.[01]a"', "add(x)", "120a 121a"),
        ('"120a" IN_LIST ARCHS', "add(x)", "120a"),
        ("NOT ARCHS MATCHES 120a", "return()", "120a"),
        ("NOT (ARCHS MATCHES 120a)", 'message(FATAL_ERROR "no")', "120a"),
        ("NOT ARCHS MATCHES 120", "add(x)", None),
        ("NAME MATCHES 120a", "add(x)", ""),
        ("ARCHS", "add(x)", ""),
        ('ARCHS MATCHES "${ELSEWHERE}"', "add(x)", ""),
        ('ARCHS MATCHES "12(0a"', "add(x)", ""),
        ("ARCHS MATCHES", "add(x)", ""),
    ],
)
def test_conditions_over_lists(carries: Carries, condition: str, body: str, expected: str | None) -> None:
    found = carries("CMakeLists.txt", f"if({condition})\n  {body}\nendif()\n")
    if expected is None:
        assert "120a" not in found[0].sass
        assert "90a" in found[0].sass
    else:
        assert [" ".join(each.sass) for each in found] == ([expected] if expected else [])


def test_spans_are_bytes(carries: Carries) -> None:
    (found,) = carries("CMakeLists.txt", "#\nset(KIT_é_ARCHS 1)\nset(ARCHS é) set(ARCHS 90a) # é\n")
    assert found.at == (3, 24, 3, 27)


def test_what_is_handed_down(carries: Carries) -> None:
    own = carries("CMakeLists.txt", "set(CMAKE_CUDA_ARCHITECTURES 80 90a)\nadd_library(k a.cu)")
    assert [(each.kind, each.sass, each.sources) for each in own] == [
        ("request", ("80", "90a"), ("a.cu",)),
        ("inherited", ("80", "90a"), ()),
    ]
    flags = 'set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -gencode arch=compute_${ARCH},code=sm_${ARCH}")\n'
    off = f'set(ARCH "90a" CACHE STRING "one")\nset(CMAKE_CUDA_ARCHITECTURES OFF)\n{flags}'
    assert [(one.kind, one.sass) for one in carries("CMakeLists.txt", off)][1:] == [("inherited", ("90a",))]
    (below,) = carries("csrc/CMakeLists.txt", "add_library(k a.cu)")
    assert (below.kind, below.sass, below.sources) == ("inherited", (), ("a.cu",))
    (maybe,) = carries("CMakeLists.txt", "if(X)\nset(CMAKE_CUDA_ARCHITECTURES native)\nendif()\nadd_library(k a.cu)")
    assert (maybe.kind, maybe.sources) == ("asked", ())
    (here,) = carries("CMakeLists.txt", "set(CMAKE_CUDA_ARCHITECTURES native)\nadd_library(k a.cu)")
    assert (here.kind, here.text, here.sources) == ("asked", "native", ("a.cu",))


def test_what_a_user_is_told_to_give(carries: Carries) -> None:
    told = carries("CMakeLists.txt", 'set(MY_CUDA_ARCHS "" CACHE STRING "Chips (such as 90, 120 or 121a)")')
    assert [(one.kind, one.sass) for one in told] == [("asked", ("90", "120"))]
    assert not carries("CMakeLists.txt", 'set(MY_CUDA_ARCHS "" CACHE STRING "Chips (such as 90a or 120a)")')
    assert not carries("CMakeLists.txt", 'set(MY_LEVEL "" CACHE STRING "one of 80 and 90")')
