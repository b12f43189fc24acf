import setuptools
from torch.utils import cpp_extension

nvcc_flags = ["-O3", "--use_fast_math", "-std=c++17"]
for name in ("100f",):
    nvcc_flags.append(f"-gencode=arch=compute_{name},code=sm_{name}")

setuptools.setup(
    name="blockattn",
    version="1.1",
    packages=["blockattn"],
    ext_modules=[
        cpp_extension.CUDAExtension(
            name="blockattn._umma",
            sources=["csrc/module.cpp", "csrc/fwd.cu"],
            extra_compile_args={"nvcc": nvcc_flags},
        ),
    ],
    cmdclass={"build_ext": cpp_extension.BuildExtension},
)
