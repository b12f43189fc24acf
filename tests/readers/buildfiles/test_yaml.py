"""YAML: what keys, environments and anchors give, where that stands, and files that are hostile or none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bwlint.model.facts import Carry
from bwlint.readers.buildfiles.yaml import read_yaml

Carries = Callable[[str, str], tuple[Carry, ...]]
_NAME = "TORCH_CUDA_ARCH_LIST"


@pytest.mark.parametrize(
    ("source", "written"),
    [
        (f"env:\n  {_NAME}: 8.0 12.0a  # all\n", ["8.0 12.0a"]),
        (f"env:\n  '{_NAME}': '8.0 12.0a'\n", ["8.0 12.0a"]),
        (f"env: {{A: 1, {_NAME}: 8.0 12.0a}}\n", ["8.0 12.0a"]),
        (f"env: {{{_NAME}: 8.0 12.0a, A: 1}}\n", ["8.0 12.0a"]),
        (f"? {_NAME}\n: 8.0 12.0a\n", ["8.0 12.0a"]),
        # over several lines
        (f"env:\n  {_NAME}:\n    8.0 12.0a\n", ["8.0 12.0a"]),
        (f"env:\n  {_NAME}: 8.0\n    12.0a\n  A: 1\n", ["8.0\n    12.0a"]),
        (f'env:\n  {_NAME}: "8.0\n    12.0a"\n', ["8.0\n    12.0a"]),
        (f'env:\n  {_NAME}: "8.0 \\\n    12.0a"\n', ["8.0 \\\n    12.0a"]),
        (f"env:\n  {_NAME}: |\n    8.0 12.0a\n\n  A: 1\n", ["8.0 12.0a"]),
        (f"env:\n  {_NAME}: >-\n    8.0\n    12.0a\n  A: 1\n", ["8.0\n    12.0a"]),
        # an environment of Kubernetes, an input of a workflow, arguments of Compose
        (f'env:\n- name: {_NAME}\n  value: "8.0 12.0a"\n', ["8.0 12.0a"]),
        (f"env:\n- value: 8.0 12.0a\n  name: {_NAME}\n", ["8.0 12.0a"]),
        (f"env: [{{name: {_NAME}, value: '8.0 12.0a'}}]\n", ["8.0 12.0a"]),
        ("inputs:\n  arch_list:\n    description: which\n    default: '8.0 12.0a'\n", ["8.0 12.0a"]),
        (f"environment:\n  - {_NAME}=8.0 12.0a\n", ["8.0 12.0a"]),
        (f'environment:\n  - "{_NAME}=8.0 12.0a"\n', ["8.0 12.0a"]),
        (f"args:\n  {_NAME}: ${{{_NAME}:-8.0 12.0a}}\n", ["8.0 12.0a"]),
        (f'command: ["docker", "--build-arg", "{_NAME}=8.0 12.0a", "."]\n', ["8.0 12.0a"]),
        # anchors, tags, documents
        (f'all: &all "8.0 12.0a"\nenv:\n  {_NAME}: *all\n', ["8.0 12.0a"]),
        (f'archs: &all "8.0 12.0a"\nenv:\n  {_NAME}: *all\n', ["8.0 12.0a"]),
        (f'a: &e\n  {_NAME}: "8.0 12.0a"\nb:\n  <<: *e\n', ["8.0 12.0a"]),
        (f"env:\n  {_NAME}: !!str &a 8.0 12.0a\n", ["8.0 12.0a"]),
        (f"a: 1\n---\nenv:\n  {_NAME}: 8.0 12.0a\n", ["8.0 12.0a"]),
        (f"\ufeffenv:\n  {_NAME}: 8.0 12.0a\n", ["8.0 12.0a"]),
        (f"# \udce9\nenv: [{{name: {_NAME}, value: 8.0 12.0a}}]\n", ["8.0 12.0a"]),
        (f"é: 😀\nenv: {{ü: 1, {_NAME}: 8.0 12.0a}}\n", ["8.0 12.0a"]),
        (f"env:\r\n  {_NAME}: >\r\n    8.0\r\n    12.0a\r\n  A: 1\r\n", ["8.0\r\n    12.0a"]),
        # sequences
        ('arch_list: ["8.0", 12.0a]\n', ['"8.0", 12.0a']),
        ('arch_list:\n  - "8.0"\n  # and\n  - "12.0a"\nb: 1\n', ['"8.0"\n  # and\n  - "12.0a"']),
        ("a: &a 8.0\narch_list: [*a, 12.0a]\n", ["[*a, 12.0a]"]),
        ("a: &a 12.0a\narch_list:\n  - 8.0\n  - *a\n\nb: 1\n", ["- 8.0\n  - *a"]),
        # what a matrix hands on
        (
            f"m:\n  include:\n  - arch: '8.0 12.0a'\n    cuda: '12.8'\ne:\n  {_NAME}: ${{{{ matrix.arch }}}}\n",
            ["8.0 12.0a"],
        ),
        (
            f"on: {{arch: {{default: 8.0 12.0a}}}}\nrun: X {_NAME}=\"${{{{ inputs.arch || '9.0 12.0' }}}}\"\n",
            ["8.0 12.0a", "9.0 12.0"],
        ),
        (f"env:\n  {_NAME}: >-\n    ${{{{ inputs.x ||\n    '8.0 12.0a' }}}}\n", ["8.0 12.0a"]),
        # scripts
        (f'- run: |\n    export {_NAME}="8.0 12.0a"\n', ["8.0 12.0a"]),
        (f'- run: |\n    export A=1 {_NAME}="8.0 \\\n      12.0a"\n', ["8.0 \\\n      12.0a"]),
        (f'- run: echo "{_NAME}=8.0 12.0a" >> $GITHUB_ENV\n', ["8.0 12.0a"]),
        ('- run: >\n    cmake\n    -DCMAKE_CUDA_ARCHITECTURES="80;120a" ..\n', ["80;120a"]),
        (f"build-args: |\n  {_NAME}=8.0 12.0a\n  B=1\n", ["8.0 12.0a"]),
        # a template is no YAML, and is read by its lines
        (f"{{{{ if x }}}}\nenv:\n  {_NAME}: 8.0 12.0a\n{{{{ end }}}}\n", ["8.0 12.0a"]),
        # nothing is said
        (f"env:\n- name: {_NAME}\n  valueFrom: {{key: b}}\n", []),
        ("env:\n- name: OTHER\n  value: 8.0 12.0a\n", []),
        (f"env:\n  # {_NAME}: 8.0 12.0a\n  A: 1\n", []),
        (f"env:\n  {_NAME}:\n  A: 8.0 12.0a\n", []),
        (f"env:\n  {_NAME}: |\n    8.0 # a comment is text here\n", []),
        (f"about: Set {_NAME} to 8.0 12.0a\n", []),
        ("arch_list:\n  - {a: 8.0}\n  - 12.0a\n", []),
        (f"cuda: ['12.8', '13.0']\ne:\n  {_NAME}: ${{{{ matrix.cuda == '12.8' && '8.0' }}}}\n", ["8.0"]),
    ],
)
def test_what_is_given_and_where(carries: Carries, source: str, written: list[str]) -> None:
    found = carries("a.yml", source)
    whole = source.encode("utf-8", "surrogatepass")
    data = whole.splitlines(keepends=True)
    starts = [sum(map(len, data[:line])) for line in range(len(data) + 1)]
    spans = [(starts[at[0] - 1] + at[1], starts[at[2] - 1] + at[3]) for at in (one.at for one in found)]
    assert [whole[start:end].decode() for start, end in spans] == written
    assert [one.sass for one in found if len(one.sass) != 2] == ([("80",)] if written == ["8.0"] else [])


def test_an_entry_has_its_keys_and_what_stands_beside_it() -> None:
    source = "jobs:\n  build:\n    include:\n      - host: x86_64\n        archs: 80\n      - host: aarch64\n"
    archs = next(entry for entry in read_yaml(source).entries if entry.name == "archs")
    assert archs.keys == ("jobs", "build", "include", "archs")
    assert archs.beside == ("host: x86_64", "archs: 80")


def test_the_jobs_of_a_workflow() -> None:
    source = "env: {A: 1}\njobs:\n  one:\n    # arm\n    runs-on: x\n  two:\n    runs-on: y\nlast: 1\n"
    jobs = read_yaml(source).jobs
    assert [text for _, text in jobs] == ["one:\n    runs-on: x\n  ", "two:\n    runs-on: y"]
    assert [source[stretch.start : stretch.stop].split(":")[0] for stretch, _ in jobs] == ["one", "two"]


@pytest.mark.parametrize(
    "source",
    [
        "a: &a0 [x]\n" + "".join(f"b{n}: &a{n + 1} [*a{n}, *a{n}, *a{n}, *a{n}]\n" for n in range(60)),
        "a: &a [x, *a]\nb: &b {c: *b}\n",
        "arch_list: " + "[" * 5000,
        "- " * 5000 + "x",
        "? " * 5000 + "x",
        "a: *nowhere",
        "a: [1, 2",
        "a:\n\tb: 1",
        'a: "\\UFFFFFFFF"',
        "a: \x00",
        "a: \ud800",
        "%YAML 9.9\n---\na: 1",
        "<<: *a\n&a <<: &a *a",
        "arch_list: &a [" + "8.0, " * 99 + "8.0]\n" + "".join(f"b{n}_arch_list: *a\n" for n in range(3000)),
        "arch_list: x\n" * 30_000,
    ],
)
def test_hostile_files_end(carries: Carries, source: str) -> None:
    assert len(carries("a.yml", source)) <= 3001
