import os
import re

from setuptools import find_packages, setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

DEFAULT_ARCHS = "8.0 8.9 9.0a 10.0a 10.3a 12.0f"
ARCH_NAME = re.compile(r"(?P<major>\d{1,2})\.(?P<minor>\d)(?P<suffix>a?)(?P<ptx>\+PTX)?")


def gencode_flags(text: str) -> list[str]:
    flags = []
    for name in re.split(r"[ ;,]+", text.strip()):
        m = ARCH_NAME.fullmatch(name)
        if m is None:
            continue
        num = f"{m['major']}{m['minor']}{m['suffix']}"
        flags.append(f"-gencode=arch=compute_{num},code=sm_{num}")
        if m["ptx"]:
            flags.append(f"-gencode=arch=compute_{num},code=compute_{num}")
    return flags


def extension():
    archs = os.environ.get("ROPEKIT_ARCHS", DEFAULT_ARCHS)
    nvcc = ["-O3", "-std=c++17", "--expt-relaxed-constexpr", "-lineinfo", *gencode_flags(archs)]
    return CUDAExtension(
        name="ropekit._C",
        sources=["csrc/bindings.cpp", "csrc/rope.cu"],
        extra_compile_args={"cxx": ["-O3", "-std=c++17"], "nvcc": nvcc},
    )


setup(
    name="ropekit",
    version="0.4.2",
    packages=find_packages(include=["ropekit"]),
    ext_modules=[extension()],
    cmdclass={"build_ext": BuildExtension},
    python_requires=">=3.10",
)
