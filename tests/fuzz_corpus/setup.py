import os, torch
from torch.utils.cpp_extension import CUDAExtension
ARCHS = os.environ.get("OPS_ARCHS", "9.0;10.0").split(";")  # bwlint: ignore[arch-target]
flags = ["-gencode=arch=compute_{0},code=sm_{0}".format(a.replace(".", "")) for a in ARCHS]
if torch.version.cuda >= "12.8" and torch.cuda.get_device_capability()[0] in (10, 12):
    flags += ["-gencode", "arch=compute_120a,code=sm_120a"]
os.environ["TORCH_CUDA_ARCH_LIST"] = "9.0a;12.0"
ext = CUDAExtension("ops", ["a.cu"], extra_compile_args={"nvcc": flags})
