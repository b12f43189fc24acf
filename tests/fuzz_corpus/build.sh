#!/usr/bin/env bash
set -e  # bwlint: ignore[BW101]
CUDA_VERSION=$(nvcc --version | grep -oP 'V\K[0-9.]+')
case "$CUDA_VERSION" in
  12.[0-7]*) export TORCH_CUDA_ARCH_LIST="8.0;9.0" ;;
  12.*|13.*) export TORCH_CUDA_ARCH_LIST="9.0a;10.0a;12.0+PTX" ;;
esac
for arch in 80 90a 120; do FLAGS+=" -gencode arch=compute_$arch,code=sm_$arch"; done
if [[ "$(uname -m)" == aarch64 && ${USE_FP4:-0} == 1 ]]; then ARCHS="100;103"; else ARCHS="${ARCHS:-120}"; fi
cat > conf <<'EOF'
cuda_arch_list = "90"
EOF
cmake -DCMAKE_CUDA_ARCHITECTURES="${ARCHS}" . && nvidia-smi --query-gpu=compute_cap --format=csv
