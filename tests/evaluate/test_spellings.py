"""Every spelling of a capability test that the interpreter understands, and the set that it stands for."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

from bwlint.evaluate.sources import Sources
from bwlint.readers.python import ReadError, read
from bwlint.world.tree import Sets, Tree

Evaluate = Callable[..., "Sets | None"]

ONE, FAMILY, REST = "12.0 only", "12.x", "every chip but 12.x"
MAJOR = "torch.cuda.get_device_capability()[0]"

DIRECT = [
    # text that is computed
    ("f'{major:02d}' == '12'", FAMILY),
    ("'sm_%d%d' % cap == 'sm_120'", ONE),
    ("'sm_{}{}'.format(*cap) == 'sm_120'", ONE),
    ("'{0:d}.{1!s}'.format(major, minor) == '12.0'", ONE),
    ("re.fullmatch(r'sm_12[0-9]', f'sm_{major}{minor}')", FAMILY),
    ("int(re.search(r'[0-9]+', f'sm_{major}{minor}').group()) == 120", ONE),
    # tuples and attributes
    ("cap == (12, 0)", ONE),
    ("cap != (12, 0)", "every chip but 12.0"),
    ("(12, 0) == cap", ONE),
    ("cap >= (9, 0)", "9.0 and newer"),
    ("(9, 0) <= cap < (10, 0)", "9.0 only"),
    ("cap[0] == 12", FAMILY),
    ("cap[-1] == 1", "10.1 and 12.1"),
    ("cap[:1] == (12,)", FAMILY),
    ("cap == (12, 0) or torch.xpu.is_available()", ONE),
    ("named == (12, 0)", ONE),
    ("named.major == 12", FAMILY),
    ("named.to_int() in (120, 121)", FAMILY),
    ("named[0] * 10 + named[1] == 120", ONE),
    ("props.major == 12 and props.minor == 0", ONE),
    ("major == 12", FAMILY),
    ("(major, minor) == (12, 1)", "12.1 only"),
    ("torch.cuda.get_device_capability()[0] == 12", FAMILY),
    ("torch.cuda.get_device_capability(torch.device('cuda')) == (12, 0)", ONE),
    # arithmetic
    ("major * 10 + minor == 120", ONE),
    ("(major * 10 + minor) // 10 == 12", FAMILY),
    ("(major * 10 + minor) % 10 == 1", "10.1 and 12.1"),
    ("divmod(major * 10 + minor, 10) == (12, 0)", ONE),
    ("max(major, 9) == 12 and min(minor, 5) == 0", ONE),
    ("-major == -12", FAMILY),
    ("major << 4 | minor == 0xC0 | 0", ONE),
    # text
    ('int(f"{major}{minor}") == 120', ONE),
    ('f"sm_{major}{minor}" == "sm_120"', ONE),
    ('str(major) + str(minor) == "120"', ONE),
    ('"".join(map(str, cap)) == "120"', ONE),
    ('".".join(str(part) for part in cap) == "12.0"', ONE),
    ('f"sm_{major}{minor}".startswith("sm_12")', FAMILY),
    ('f"sm_{major}{minor}".startswith(("sm_12", "sm_9"))', "9.0 and 12.x"),
    ('f"{major}{minor}"[:2] == "12"', FAMILY),
    ('f"{major}{minor}".isdigit() and major == 12', FAMILY),
    ('f"{major}.{minor}".split(".")[0] == "12"', FAMILY),
    ('"12" in f"sm_{major}{minor}"', FAMILY),
    # membership
    ("cap in ((12, 0), (12, 1))", FAMILY),
    ("cap in [(12, 0)]", ONE),
    ("cap in {(12, 0), (12, 1)}", FAMILY),
    ("major in range(12, 14)", FAMILY),
    ("major not in (7, 8, 9, 10, 11)", FAMILY),
    ("cap in {(12, 0): 1, (12, 1): 2}", FAMILY),
    ("{12: True}.get(major)", FAMILY),
    ("{12: True}.get(major, False)", FAMILY),
    ("{(12, 0): 'a', (12, 1): 'b'}.get(cap) == 'a'", ONE),
    ("major in list((12,))", FAMILY),
    ("major in sorted({12: 0})", FAMILY),
    # any, all, comprehensions
    ("any(cap == c for c in ((12, 0), (12, 1)))", FAMILY),
    ("all(major >= m for m in (10, 11, 12))", FAMILY),
    ("any(major == m for m in range(20) if m > 11)", FAMILY),
    ("cap in [(12, n) for n in range(2)]", FAMILY),
    ("any([major == 12, False])", FAMILY),
    ("len([m for m in (12,) if m == major]) == 1", FAMILY),
    # logic
    ("major > 9 and major != 10 and major != 11", FAMILY),
    ("not (major < 12)", FAMILY),
    ("major == 9 or major == 12", "9.0 and 12.x"),
    ("(major == 12 if minor == 0 else False)", ONE),
    ("(m := major) == 12 and m > 10", FAMILY),
    ("12 == major == 12", FAMILY),
    ("bool(major == 12)", FAMILY),
    ("(lambda m: m == 12)(major)", FAMILY),
    ("getattr(props, 'major') == 12", FAMILY),
    ("getattr(named, 'major', 0) == 12", FAMILY),
    ("isinstance(cap, tuple) and cap == (12, 0)", ONE),
    ("functools.partial(lambda a, b: a == b, 12)(major)", FAMILY),
    # libraries
    ("current_platform.is_device_capability(120)", ONE),
    ("current_platform.is_device_capability((12, 0))", ONE),
    ("current_platform.has_device_capability(100)", "10.0 and newer"),
    ("current_platform.is_device_capability_family(120)", FAMILY),
    ("current_platform.get_device_capability() == (12, 0)", ONE),
    ("tilelang.contrib.nvcc.get_target_compute_version() == '12.0'", ONE),
    ("props.shared_memory_per_block_optin > 200 * 1024", "9.0 to 11.0"),
]


def test_what_does_not_read_the_device_is_no_gate(evaluate: Evaluate) -> None:
    assert evaluate("os.environ.get('X') == '12'") is None


@pytest.mark.parametrize(("condition", "words"), DIRECT, ids=[row[0] for row in DIRECT])
def test_direct(condition: str, words: str, evaluate: Evaluate) -> None:
    sets = evaluate(condition)
    assert sets is not None
    assert (str(sets.may), str(sets.must)) == (words, words)
    assert not sets.atoms
    assert not sets.guessed


GUESSED = [
    ("arch == 120", ONE),
    ("arch >= 100", "10.0 and newer"),
    ("arch // 10 == 12", FAMILY),
    ("capability == (12, 0)", ONE),
    ("capability[0] == 12", FAMILY),
    ("compute_capability == '12.0'", ONE),
    ("arch == 'sm_120'", ONE),
    ("arch == 'sm_120a'", ONE),
    ("arch in ('sm_120a', 'sm_121a')", FAMILY),
    ("arch == Arch.sm_120a", ONE),
    ("cc == 12", FAMILY),
    ("cc in (120, 121)", FAMILY),
    ("sm_major == 12", FAMILY),
    ("sm_version >= 120", FAMILY),
    ("self.arch == 120", ONE),
    ("config.compute_capability in [(12, 0), (12, 1)]", FAMILY),
    ("device_capability.major == 12", FAMILY),
]


@pytest.mark.parametrize(("condition", "words"), GUESSED, ids=[row[0] for row in GUESSED])
def test_names_that_nobody_assigns(condition: str, words: str, evaluate: Evaluate) -> None:
    names = "arch, capability, compute_capability, cc, sm_major, sm_version, self, config, device_capability"
    setup = f"def gate({names}):\n    if {condition}: pass"
    sets = _of_function(evaluate, setup)
    assert sets is not None
    assert str(sets.core) == words
    assert sets.guessed


def _of_function(evaluate: Evaluate, setup: str) -> Sets | None:
    """The sets of the one gate inside `setup`."""
    module = read("/example.py", f"# sm_120\n{setup}\n", "example", False)
    gates = [gate for gate in module.gates if gate.kind == "condition"]
    return Tree(Sources(), lambda path, name: None).sets(module, gates[-1]) if gates else None


NO_CAPABILITY = [
    "a_major == 'k'",
    "cuda_major == 12",
    "version_major == 12",
    "window == (12, 0)",
    "rocm_version == (9, 4)",
    "toolkit.major == 12",
    "python_version >= (3, 12)",
    "block_m in (100, 120)",
    "arch == 'gfx942'",
    "arch == 'x86_64'",
    "len(arch) == 3",
]


IN_ENUM = [
    ("arch == Arch.sm_120a", ONE),
    # "equal or higher in the same family", whatever the suffix of the other
    ("arch > Arch.sm_100", "10.1 and newer"),
    ("arch >= Arch.sm_100f", "10.0 and newer"),
    ("Arch.sm_103 <= arch <= Arch.sm_103", "10.3 only"),
    ("Arch.sm_103 <= arch <= getattr(Arch, 'sm_107f', Arch.sm_103f)", "10.3 and 10.7"),
    ("arch.is_family_of(Arch.sm_120a)", FAMILY),
    ("arch.is_family_of(Arch.sm_120f)", FAMILY),
    ("arch.is_family_of(Arch.sm_121a)", "12.1 only"),
    ("arch.is_family_of(Arch.sm_100f)", "10.x"),
    ("arch.is_family_of(Arch.sm_103f)", "10.3 and 10.7"),
]


@pytest.mark.parametrize(("condition", "words"), IN_ENUM, ids=[row[0] for row in IN_ENUM])
def test_members_of_the_enum_of_a_kernel_dsl(condition: str, words: str, evaluate: Evaluate) -> None:
    setup = "from cutlass.base_dsl import Arch\narch = BaseDSL._get_dsl().get_arch_enum()"
    sets = evaluate(condition, setup)
    assert sets is not None
    assert str(sets.core) == words


@pytest.mark.parametrize("condition", NO_CAPABILITY)
def test_names_that_only_sound_like_one(condition: str, evaluate: Evaluate) -> None:
    names = "a_major, cuda_major, version_major, window, rocm_version, toolkit, python_version, block_m, arch"
    assert _of_function(evaluate, f"def gate({names}):\n    if {condition}: pass") is None


DEFINITIONS = [
    ("a sum", "n = 0\nn += major * 10\nn += minor", "n == 120", ONE),
    ("a tuple with names", "P = namedtuple('P', 'x y')\np = P(*cap)", "p.x == 12 and p == (12, 0)", ONE),
    ("a dataclass", "@dataclass\nclass I:\n    x: tuple\n    y: int = 0\ni = I(cap)", "i.x == (12, 0)", ONE),
    (
        "an argument that is kept",
        "class A:  # sm_120\n    def __init__(self, x):\n        self.x = x",
        "A(cap).x[0] == 12",
        FAMILY,
    ),
    ("an enum", "class E(Enum):\n    A = 120\n    B = 121", "E(major * 10 + minor) is E.A", ONE),
    ("a number of an enum", "class E(IntEnum):\n    A = 120", "major * 10 + minor >= E.A", FAMILY),
    ("an unpacking with the rest", "a, *rest = cap", "(a, rest) == (12, [0])", ONE),
    ("a constant", "WANTED = (12, 0)", "cap == WANTED", ONE),
    ("a flag", "IS = major == 12", "IS", FAMILY),
    ("a flag, negated", "IS = major == 12", "not IS", REST),
    ("the last definition", "x = 11\nx = 12", "major == x", FAMILY),
    ("both branches", "if major > 9:\n    x = 12\nelse:\n    x = 9", "major == x", "9.0 and 12.x"),
    ("a helper", "def is_sm120():\n    return cap == (12, 0)", "is_sm120()", ONE),
    ("a helper with an argument", "def sm_is(n):\n    return major == n", "sm_is(12)", FAMILY),
    ("a keyword", "def sm_is(a, n=9):\n    return major == n", "sm_is(1, n=12)", FAMILY),
    ("a default", "def sm_is(n=12):\n    return major == n", "sm_is()", FAMILY),
    (
        "early returns",
        "def sm_ok():\n    if major < 9:\n        return False\n    if major == 12:\n        return True\n"
        "    return False",
        "sm_ok()",
        FAMILY,
    ),
    (
        "a chain",
        "def sm_gen():\n    if major == 12:\n        return 'c'\n    elif major == 10:\n        return 'b'\n"
        "    return 'a'",
        "sm_gen() == 'c'",
        FAMILY,
    ),
    ("a cache", "@functools.lru_cache(maxsize=1)\ndef sm():\n    return major * 10 + minor", "sm() == 120", ONE),
    ("a bare cache", f"@functools.cache\ndef sm():\n    return {MAJOR}", "sm() == 12", FAMILY),
    ("a cached lambda", "sm = functools.lru_cache(lambda: major)", "sm() == 12", FAMILY),
    ("a partial", f"def sm_in(m):\n    return {MAJOR} in m\nsm12 = functools.partial(sm_in, (12,))", "sm12()", FAMILY),
    ("a lambda", "is_sm12 = lambda: major == 12", "is_sm12()", FAMILY),
    ("a tuple that is returned", "def sm():\n    return major, minor", "sm() == (12, 0)", ONE),
    ("a dictionary", "SM_TABLE = {(12, 0): 'x'}", "cap in SM_TABLE", ONE),
    ("a static method", "class A:\n    @staticmethod\n    def sm12():\n        return major == 12", "A.sm12()", FAMILY),
    (
        "a class method",
        "class A:\n    M = 12\n    @classmethod\n    def sm12(cls):\n        return major == cls.M",
        "A.sm12()",
        FAMILY,
    ),
    ("a property", "class A:\n    @property\n    def sm12(self):\n        return major == 12", "A().sm12", FAMILY),
    ("an attribute of self", "class A:\n    def __init__(self):\n        self.sm12 = major == 12", "A().sm12", FAMILY),
    ("a class attribute", "class A:  # sm_120\n    WANTED = (12, 0)", "cap == A.WANTED", ONE),
    (
        "an inherited method",
        "class A:\n    def sm12(self):\n        return major == 12\nclass B(A):  # sm_120\n    x = 1",
        "B().sm12()",
        FAMILY,
    ),
    ("two helpers", f"def sm():\n    return {MAJOR}\ndef sm12():\n    return sm() == 12  # sm_120", "sm12()", FAMILY),
    ("a try", "try:\n    sm = major\nexcept RuntimeError:\n    sm = 0", "sm == 12", FAMILY),
    ("a with", "with torch.no_grad():\n    sm = major", "sm == 12", FAMILY),
    ("a starred list", "A = (10,)\nSM = [*A, 12]", "major in SM", "10.x and 12.x"),
    (
        "a nested function",
        f"def sm():\n    def inner():\n        return {MAJOR}\n    return inner()",
        "sm() == 12",
        FAMILY,
    ),
]


@pytest.mark.parametrize(
    ("setup", "condition", "words"), [row[1:] for row in DEFINITIONS], ids=[row[0] for row in DEFINITIONS]
)
def test_definitions(setup: str, condition: str, words: str, evaluate: Evaluate) -> None:
    sets = evaluate(condition, setup)
    assert sets is not None
    assert (str(sets.may), str(sets.must)) == (words, words)


RAISES = [
    ("cap >= 9", "every chip"),
    ("cap < 'a'", "every chip"),
    ("cap[:1] < 9", "every chip"),
    ("named >= 90", "every chip"),
    ("major == 12 and cap >= 9", FAMILY),
    ("major != 12 or cap >= 9", FAMILY),
]


@pytest.mark.parametrize(("condition", "words"), RAISES)
def test_what_raises(condition: str, words: str, evaluate: Evaluate) -> None:
    sets = evaluate(condition)
    assert sets is not None
    assert str(sets.raises) == words
    assert not sets.raises & sets.may


def test_a_helper_that_raises(evaluate: Evaluate) -> None:
    sets = evaluate("sm()", "def sm():\n    if major != 12:\n        raise RuntimeError('no')\n    return True")
    assert sets is not None
    assert (str(sets.may), str(sets.raises)) == (FAMILY, REST)


CLASHES = [
    ("named in [89, 120]", "never equals the number"),
    ("cap == 120", "never equals the number"),
    ("cap == '12.0'", "never equals the string"),
    ("cap >= 9", "TypeError"),
]


@pytest.mark.parametrize(("condition", "words"), CLASHES)
def test_types_that_decide(condition: str, words: str, evaluate: Evaluate) -> None:
    sets = evaluate(condition)
    assert sets is not None
    (clash,) = sets.clashes
    assert words in clash.reason
    assert not sets.may


FREE = [
    # condition, may, must, core, number of atoms
    ("cap == (12, 0) and os.environ.get('X')", ONE, "no chip", ONE, 1),
    ("cap == (12, 0) or os.environ.get('X')", "every chip", ONE, ONE, 1),
    ("os.environ.get('X') and cap == (12, 0)", ONE, "no chip", ONE, 1),
    ("not (os.environ.get('X') and major == 12)", "every chip", REST, REST, 1),
    ("major == 12 and (f() or g())", FAMILY, "no chip", FAMILY, 2),
    ("(major == 12) if f() else (major == 9)", "9.0 and 12.x", "no chip", "no chip", 2),
    # what a comprehension keeps of unknown things
    ("major == 12 and [x for x in (a, b) if x]", FAMILY, "no chip", FAMILY, 2),
    ("major == 12 and not [x for x in (a, b) if x]", FAMILY, "no chip", FAMILY, 2),
    ("major == 12 and [x for x in (a, 1) if x]", FAMILY, FAMILY, FAMILY, 1),
    ("major == 12 and [x for x in (a, b)]", FAMILY, FAMILY, FAMILY, 0),
]


@pytest.mark.parametrize(("condition", "may", "must", "core", "atoms"), FREE, ids=[row[0] for row in FREE])
def test_free_atoms(condition: str, may: str, must: str, core: str, atoms: int, evaluate: Evaluate) -> None:
    sets = evaluate(condition)
    assert sets is not None
    assert (str(sets.may), str(sets.must), str(sets.core)) == (may, must, core)
    assert len(sets.atoms) == atoms


TOOLKIT = [
    ("major == 12 and torch.version.cuda is not None", FAMILY),
    ("major == 12 and torch.version.hip is None", FAMILY),
    ("torch.cuda.is_available() and major == 12", FAMILY),
    ("major == 12 and not current_platform.is_rocm()", FAMILY),
]


@pytest.mark.parametrize(("condition", "words"), TOOLKIT)
def test_the_machine_is_one_with_an_nvidia_gpu(condition: str, words: str, evaluate: Evaluate) -> None:
    sets = evaluate(condition)
    assert sets is not None
    assert (str(sets.may), str(sets.must)) == (words, words)


UNKNOWN = [
    ("a list that grows", "SM = [(12, 0)]\nSM.append(f())", "cap in SM"),
    ("a list that is written to", "SM = [12, 0]\nSM[0] = f()", "cap == tuple(SM)"),
    ("a value of a loop", "sm = (12, 0)\nfor x in f():\n    sm = x", "cap == sm"),
    ("a value of a while", "sm = 12\nwhile f():\n    sm = f()", "major == sm"),
    ("an augmented value", "sm = 12\nsm += f()", "major == sm"),
    (
        "an attribute assigned twice",
        "class A:  # sm_120\n    def __init__(self):\n        self.wanted = 12\n"
        "    def set(self, v):\n        self.wanted = v",
        "major == A().wanted",
    ),
    ("recursion", "def sm(n):\n    return sm(n)", "major == sm(1)"),
    ("a generator", "def sm():\n    yield 12", "sm() == major"),
    ("a name of nobody", "", "major == nobody"),
    ("a result of nobody", "", "cap == f()"),
    ("a wide format", "", "f'{major:400d}' == '12'"),
    ("a repeated group", "", "re.match(r'(s*)*(1*)*x', f'sm_{major}')"),
    ("a decorator that wraps", "@contextmanager\ndef sm():\n    return major", "sm() == 12"),
]


@pytest.mark.parametrize(("setup", "condition"), [row[1:] for row in UNKNOWN], ids=[row[0] for row in UNKNOWN])
def test_what_is_not_known_decides_nothing(setup: str, condition: str, evaluate: Evaluate) -> None:
    sets = evaluate(condition, setup)
    assert sets is None or not sets.decided


BUDGET = [
    "major == 12 ** 10 ** 10",
    "major in range(10 ** 12)",
    "'x' * 10 ** 10 == str(major)",
    "1 << 10 ** 9 == major",
    "any(any(any(a * b * c == major for a in range(300)) for b in range(300)) for c in range(300))",
    "[0] * 10 ** 9 == [major]",
    "int('9' * 5000) == major",
    " + ".join(["major"] * 2000) + " == 12",
    "(" * 60 + "major" + ")" * 60 + " == 12",
]


@pytest.mark.parametrize("condition", BUDGET, ids=range(len(BUDGET)))
def test_the_budget_ends_what_is_too_much(condition: str, evaluate: Evaluate) -> None:
    with contextlib.suppress(ReadError):
        evaluate(condition)


def test_helpers_that_call_each_other(evaluate: Evaluate) -> None:
    setup = "\n".join(f"def sm{i}():\n    return sm{i + 1}() or sm{i + 1}()" for i in range(40))
    evaluate("sm0() and major == 12", setup)


def test_a_test_of_the_toolkit_is_said(evaluate: Evaluate) -> None:
    sets = evaluate(
        "major == 12 and is_cuda_version_at_least('12.8')", "from flashinfer.utils import is_cuda_version_at_least"
    )
    assert sets is not None
    assert str(sets.must) == FAMILY
    assert sets.toolkit


@pytest.mark.parametrize("operand", ["(12, 0)", "Version('12.8')", "parse('12.8')", "(12, 8, 1)"])
def test_a_release_of_the_toolkit_is_a_tuple_or_an_object(operand: str, evaluate: Evaluate) -> None:
    setup = "from packaging.version import Version, parse\nfrom kit.env import get_cuda_version"
    sets = evaluate(f"major == 12 and get_cuda_version() >= {operand}", setup)
    assert sets is not None
    assert (str(sets.must), str(sets.raises), sets.toolkit) == (FAMILY, "no chip", True)


def test_a_release_beside_a_text_decides_nothing(evaluate: Evaluate) -> None:
    sets = evaluate("major == 12 and get_cuda_version() >= '12.8'", "from kit.env import get_cuda_version")
    assert sets is not None
    assert (str(sets.may), str(sets.must), str(sets.raises)) == (FAMILY, "no chip", "no chip")
