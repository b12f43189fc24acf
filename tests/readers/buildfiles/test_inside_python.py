"""Build settings inside Python."""

from __future__ import annotations

import ast

import pytest

from bwlint.readers.buildfiles.inside_python import carries_of_python


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('f = ["-gencode", "arch=compute_120f,code=sm_120"]', [("gencode", "120", "120f")]),
        ('f = ["-gencode=arch=compute_90a,code=sm_90a"]', [("gencode", "90a", "90a")]),
        ('f = "-arch=sm_121a"', [("gencode", "121a", "121a")]),
        ('compile(k, options="--gpu-arch sm_120a --opt 3")', [("gencode", "120a", "120a")]),
        ("spec(extra_cuda_cflags=sm120a_nvcc_flags)", [("option", "120a", "")]),
        ("spec(core.sm_90a_nvcc_flags + more)", [("option", "90a", "")]),
        ('cute.GPUArch("sm_120a")', [("option", "120a", "")]),
        ('build(k, gpu_arch="sm_121a")', [("option", "121a", "")]),
        ('os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0;9.0a"', [("request", "80 90a", "")]),
        ('os.getenv("KIT_CUDA_ARCHS", "80;90")', [("request", "80 90", "")]),
        ('KIT_CUDA_ARCHS = ["8.0", "12.0a"]', [("request", "80 120a", "")]),
        ('run(env={"TORCH_CUDA_ARCH_LIST": "9.0"})', [("request", "90", "")]),
        ("flags = sm120a_nvcc_flags if old else sm120f_nvcc_flags", [("option", "120a", ""), ("option", "120f", "")]),
        ("def f():\n flags = sm120a_nvcc_flags\n use(flags)", [("option", "120a", "")]),
        ("jit(v=[cu.CUjit_target.CU_TARGET_COMPUTE_120A])", [("option", "120a", "")]),
        ('T = "sm_120a"\ncute.GPUArch(T)', [("option", "120a", "")]),
        ('archs = ["8.0"]  # ARCH_LIST\narchs.append("12.0a")', [("request", "80", ""), ("piece", "120a", "")]),
        (
            'n = "90a"\nif new:\n n = "120"\nf = f"arch=compute_{n},code=sm_{n}"',
            [("gencode", "90a", "90a"), ("gencode", "120", "120")],
        ),
        (
            'f = [f"-gencode=arch=compute_{n},code=sm_{n}" for n in ("80", "120a")]',
            [("gencode", "80", "80"), ("gencode", "120a", "120a")],
        ),
        ('KNOWN_CUDA_ARCHS = {"8.0", "9.0"}\nbuilt = asked.intersection(KNOWN_CUDA_ARCHS)', [("filter", "80 90", "")]),
        ('KNOWN_CUDA_ARCHS = ["8.0", "9.0"]\nif name not in KNOWN_CUDA_ARCHS:\n stop()', [("filter", "80 90", "")]),
        ('OWN_ARCH_LIST = "8.0;9.0"\nif not "TORCH" in env:\n build(OWN_ARCH_LIST)', [("request", "80 90", "")]),
        ('def cuda_archs():\n return "80;90;120a"  # ARCH_LIST', [("request", "80 90 120a", "")]),
        ('def rows():\n return "80;90;120a"  # ARCH_LIST', []),
        ('archs = "8.0"  # ARCH_LIST\narchs += ";9.0"', [("request", "80", ""), ("piece", "90", "")]),
        ('f = f"arch=compute_90,code=sm_90 {n}"', [("gencode", "90", "90")]),
        # one of several values, of which not all are known
        ("flags = sm120a_nvcc_flags if old else wanted()", []),
        ("def f():\n try:\n  flags = wanted()\n except E:\n  flags = sm120a_nvcc_flags", []),
        # nothing is compiled here
        ('"""-arch=sm_120a"""', []),
        ("from kit import sm120a_nvcc_flags", []),
        ("sm120a_nvcc_flags = ARCH_LIST", []),
        ('if flag == "-arch=sm_120a": pass', []),
        ('print("use -arch=sm_120a for this")', []),
        ('f = f"-arch=sm_{n}a"', []),
        ('has(options, GPUArch, "sm_120a")', []),
        ('os.environ["TORCH_CUDA_ARCH_LIST"] = wanted', []),
        ('ARCH_LIST = ["8.0", other]', []),
        ('search("9.0a")', []),
        ('f = f"arch=compute_{n},code=sm_{n}"', []),
        ('n = wanted()\nf = f"arch=compute_{n},code=sm_{n}"', []),
        ('n = "80"\nf = f"-arch=sm_{n}{m}"', []),
        ("print(CU_TARGET_COMPUTE_90, CU_TARGET_COMPUTE_120ABC)", []),
        (
            'def add(flags, n):\n    flags.append(f"-arch=sm_{n}")\nadd(flags, "89")\nadd(flags, wanted)',
            [("gencode", "89", "89")],
        ),
        ('for n in wanted():\n    f = f"-arch=sm_{n}"\ndef wanted():\n    return read()', []),
        (
            'ns = ["80"]\nns.extend(["89", "90a"])\nns += more\nfor n in set(ns):\n    f = f"-arch=sm_{n}"',
            [("gencode", "80", "80"), ("gencode", "89", "89"), ("gencode", "90a", "90a")],
        ),
    ],
)
def test_python(source: str, expected: list[tuple[str, str, str]]) -> None:
    found = carries_of_python(ast.parse(source), source)
    assert [(each.kind, " ".join(each.sass), each.text) for each in found] == expected


GROWN = """
def targets():
    found = ["80"]
    if cuda_version >= Version("12.8"):
        found.append("120a")
    return found
for one in targets():
    flags.append(f"-arch=sm_{one}")
"""


def test_the_toolkits_of_a_list_that_grows() -> None:
    found = carries_of_python(ast.parse(GROWN), GROWN)
    assert [(carry.sass, carry.toolkit) for carry in found] == [(("80",), ("", "")), (("120a",), ("12.8", ""))]


def test_deep_nesting() -> None:
    source = "x = " + "[" * 80 + '"-arch=sm_90a"' + "]" * 80
    assert len(carries_of_python(ast.parse(source), source)) == 1
    tree = ast.parse("ARCH_LIST")
    node: ast.expr = ast.Name("x", ast.Load())
    for _ in range(5000):
        node = ast.UnaryOp(ast.Not(), node)
    tree.body.append(ast.Expr(node))
    assert carries_of_python(tree, "ARCH_LIST") == ()


AGAIN = """
flags = []
flags.append("-gencode")
flags.append("arch=compute_80,code=sm_80")
build(flags)
flags = ["-gencode", "arch=compute_90,code=sm_90"]
if cuda_version >= Version("12.8"):
    flags.append("arch=compute_120,code=sm_120")
else:
    flags.append("arch=compute_89,code=sm_89")
other = ["-gencode", "arch=compute_75,code=sm_75"]
"""


def test_a_variable_that_holds_one_list_after_another() -> None:
    found = carries_of_python(ast.parse(AGAIN), AGAIN)
    assert [(carry.sass[0], carry.group) for carry in found] == [
        ("80", "flags 1"),
        ("90", "flags 2"),
        ("120", "flags 2"),
        ("89", "flags 2"),
        ("75", ""),
    ]


@pytest.mark.parametrize(
    ("test", "held", "not_held"),
    [
        ('cuda_version >= Version("12.8")', ("12.8", ""), ("", "12.8")),
        ("bare_metal_version >= (12, 8)", ("12.8", ""), ("", "12.8")),
        ('torch_version >= Version("2.8")', ("", ""), ("", "")),
        ('cuda_version == Version("12.8")', ("", ""), ("", "")),
        ("cuda_version >= newest()", ("", ""), ("", "")),
        ("torch.cuda.get_device_capability() >= (9, 0)", ("", ""), ("", "")),
        ("get_cuda_capability_version() >= (9, 0)", ("", ""), ("", "")),
    ],
)
def test_the_toolkits_of_a_branch(test: str, held: tuple[str, str], not_held: tuple[str, str]) -> None:
    source = f'if {test}:\n f = "arch=compute_120,code=sm_120"\nelse:\n f = "arch=compute_90,code=sm_90"'
    assert [carry.toolkit for carry in carries_of_python(ast.parse(source), source)] == [held, not_held]


def test_one_branch_in_another() -> None:
    source = (
        'if cuda_version >= (13, 0):\n f = "-arch=sm_121"\nelif cuda_version >= (12, 8):\n f = "-arch=sm_120"\n'
        'else:\n f = "-arch=sm_90"'
    )
    bounds = [carry.toolkit for carry in carries_of_python(ast.parse(source), source)]
    assert bounds == [("13.0", ""), ("12.8", "13.0"), ("", "12.8")]


OPEN = """
for found in asked():
    number = found.replace(".", "")
    if number == "90":
        number = "90a"
    flags += ["-gencode", f"arch=compute_{number},code=sm_{number}"]
CUDAExtension("x", ["a.cu"], extra_compile_args={"nvcc": flags})
"""


def test_an_extension_whose_flags_are_put_together_at_run_time() -> None:
    assert [carry.kind for carry in carries_of_python(ast.parse(OPEN), OPEN)] == ["gencode"]


SEVERAL = """
make = CUDAExtension if cuda else CppExtension
old = [join(root, "old.cu")]
old.append(join(root, "older.cu"))
new = [one for one in [join(root, "new.cu")] if one not in old]
args = {"nvcc": ["-O3"]}
old_args = deepcopy(args)
old_args["nvcc"].extend(["-gencode=arch=compute_90a,code=sm_90a"])
new_args = {"nvcc": args["nvcc"] + ["-gencode=arch=compute_120,code=sm_120"]}
make("a", old, extra_compile_args=old_args)
make("b", sources=new, extra_compile_args=new_args)
make("c", ["by_torch.cu"], extra_compile_args=args)
"""


def test_extensions_with_flags_of_their_own() -> None:
    found = [carry for carry in carries_of_python(ast.parse(SEVERAL), SEVERAL) if carry.kind == "extension"]
    assert [(carry.sources, carry.sass) for carry in found] == [
        (("old.cu", "older.cu"), ("90a",)),
        (("new.cu",), ("120",)),
        (("by_torch.cu",), ("90a", "120")),
    ]
