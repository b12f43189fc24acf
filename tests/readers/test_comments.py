"""Comments by kind of file, and strings that look like them."""

from __future__ import annotations

import pytest
from effort import grows_as_its_input

from bwlint.readers.comments import comments_of
from bwlint.sources.kinds import kind_of


def comments(name: str, source: str) -> list[str]:
    kind = kind_of(name)
    assert kind is not None
    return [source[start:end] for start, end in comments_of(kind, name).find(source)]


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("a.cu", "int a; // one\nint b; /* two\n */", ["// one", "/* two\n */"]),
        ("a.cu", 'auto s = "// no";\nauto r = R"x(// no )" )x"; char c = \'"\'; // yes', ["// yes"]),
        ("a.h", 'auto s = "\\"// no";', []),
        ("a.cu.jinja", "// {{ x }}", ["// {{ x }}"]),
        ("a.ptx", '.file 1 "a//b.cu" // yes', ["// yes"]),
        ("CMakeLists.txt", "set(A b) # one\n#[[ two\n]] set(B c)", ["# one", "#[[ two\n]]"]),
        ("a.cmake", 'set(A "# no \\" # no") # yes', ["# yes"]),
        ("a.cmake", "set(A [=[ # no ]] # no ]=]) # yes", ["# yes"]),
        ("a.cmake", 'set(A b\\"c) # yes', ["# yes"]),
        ("a.sh", "a='# no\n # no' # yes\necho $# ${x#y} a#b", ["# yes"]),
        ("a.sh", 'a="# no\n # no" # yes', ["# yes"]),
        ("a.sh", "cat <<EOF\n# no\nEOF\n# yes", ["# yes"]),
        ("a.sh", "cat <<-'EOF' > x\n# no\n\tEOF\n# yes", ["# yes"]),
        ("a.sh", "x=$((1 << 2)); cat <<< y # yes\ncat <<NEVER\n# yes", ["# yes", "# yes"]),
        ("a.sh", "echo it\\'s # yes", ["# yes"]),
        ("Dockerfile.kit", "RUN a && \\\n    # yes\n    b '# no'", ["# yes"]),
        ("Makefile", "A = don't # yes\nB = '# no' #also", ["# yes", "#also"]),
        ("Makefile", "A = \\# no", []),
        ("a.mk", "\t@echo it's # yes", ["# yes"]),
        ("a.yaml", "a: don't # yes\nb: '# no' # yes\nc: \" # no\"\nd: x#y", ["# yes", "# yes"]),
        ("a.yml", "run: |\n  nvcc x # yes", ["# yes"]),
        (
            "a.toml",
            "a = \"# no\" # yes\nb = \"\"\"\n# no\n\"\"\" # yes\nc = '# no'\nd = '''\n# no'''",
            ["# yes", "# yes"],
        ),
        ("a.toml", 'a = "\\"# no"', []),
        ("setup.cfg", "# yes\n[a]\nb = c # no\n  # yes", ["# yes", "# yes"]),
        ("a.hcl", 'a = "# no" # yes\nb = 1 // yes\n/* yes */\nc = <<EOT\n# no\nEOT', ["# yes", "// yes", "/* yes */"]),
        ("a.hcl", 'a = "http://no"', []),
        ("a.json", '{"a": "# no"} // no', []),
    ],
)
def test_comments_and_strings(name: str, source: str, expected: list[str]) -> None:
    assert comments(name, source) == expected


NAMES = ("a.cu", "a.ptx", "CMakeLists.txt", "a.sh", "Makefile", "a.yml", "a.toml", "a.hcl", "setup.cfg", "a.json")
HOSTILE = ('"', "'", "/*", "#[[", "[=[", '"""', "'''", "<<A\n", "\\", "#", "x" * 9, "\0", '"\\', "[[")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unit", HOSTILE)
def test_what_never_ends_takes_linear_time(name: str, unit: str) -> None:
    grows_as_its_input(lambda source: comments(name, source), lambda length: unit * (length // len(unit)), 10_000)
