import os
import pathlib

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

HERE = pathlib.Path(__file__).parent
os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "8.0;9.0a;10.0a;10.3a;12.0a;12.1a")

setup(
    name="rowquant",
    version="0.1.3",
    packages=["rowquant"],
    ext_modules=[
        CUDAExtension(
            name="rowquant._C",
            sources=["csrc/rowquant.cu"],
            include_dirs=[str(HERE / "csrc")],
            extra_compile_args={"cxx": ["-O3"], "nvcc": ["-O3", "--use_fast_math"]},
        )
    ],
    cmdclass={"build_ext": BuildExtension.with_options(use_ninja=True)},
)
