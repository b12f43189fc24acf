from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

NVCC = [
    "-O3",
    "-std=c++17",
    "-gencode=arch=compute_90a,code=sm_90a",
    "-gencode=arch=compute_100f,code=sm_100f",
]

setup(
    name="grouped8",
    version="0.2.0",
    package_dir={"": "python"},
    packages=["grouped8"],
    ext_modules=[
        CUDAExtension(
            "grouped8._C",
            ["csrc/ops.cpp", "csrc/kernels.cu"],
            extra_compile_args={"cxx": ["-O3"], "nvcc": NVCC},
            libraries=["cuda"],
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
