from mlk.registry import REGISTRY, KernelSpec

REGISTRY.extend(
    [
        KernelSpec(op="gemm", min_sm=80, target="warp_gemm:gemm"),
        KernelSpec(op="gemm", min_sm=100, target="umma_gemm:gemm"),
        KernelSpec(op="row_sum", min_sm=70, target="rows:row_sum", dtypes=("float32", "float16", "bfloat16")),
    ]
)
