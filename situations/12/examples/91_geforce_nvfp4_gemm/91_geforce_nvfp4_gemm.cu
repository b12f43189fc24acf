/*! NVFP4 x NVFP4 -> bfloat16 with the collective builder on GeForce Blackwell. */
#include <iostream>

#include "cutlass/cutlass.h"
#include "cute/tensor.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "options.hpp"

using namespace cute;

#if defined(CUTLASS_ARCH_MMA_SM120_SUPPORTED) || defined(CUTLASS_ARCH_MMA_SM121_SUPPORTED)

using ElementA = cutlass::nv_float4_t<cutlass::float_e2m1_t>;
using ElementB = cutlass::nv_float4_t<cutlass::float_e2m1_t>;
using ElementC = cutlass::bfloat16_t;
using LayoutA = cutlass::layout::RowMajor;
using LayoutB = cutlass::layout::ColumnMajor;
using LayoutC = cutlass::layout::RowMajor;

using ArchTag = cutlass::arch::Sm120;
using OperatorClass = cutlass::arch::OpClassBlockScaledTensorOp;
using TileShape = Shape<_128, _128, _128>;
using ClusterShape = Shape<_1, _1, _1>;

using CollectiveEpilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
    ArchTag, OperatorClass, TileShape, ClusterShape, cutlass::epilogue::collective::EpilogueTileAuto,
    float, float, ElementC, LayoutC, 8, ElementC, LayoutC, 8,
    cutlass::epilogue::collective::EpilogueScheduleAuto>::CollectiveOp;

using CollectiveMainloop = typename cutlass::gemm::collective::CollectiveBuilder<
    ArchTag, OperatorClass, ElementA, LayoutA, 32, ElementB, LayoutB, 32, float, TileShape, ClusterShape,
    cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename CollectiveEpilogue::SharedStorage))>,
    cutlass::gemm::collective::KernelScheduleAuto>::CollectiveOp;

using GemmKernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, CollectiveMainloop, CollectiveEpilogue, void>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<GemmKernel>;

int run(Options const& options) {
  Gemm gemm;
  typename Gemm::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm, {options.m, options.n, options.k, 1}};
  if (gemm.can_implement(arguments) != cutlass::Status::kSuccess) {
    std::cerr << "this problem cannot be run\n";
    return 1;
  }
  return gemm.run(arguments) == cutlass::Status::kSuccess ? 0 : 1;
}

#endif

int main(int argc, char const** argv) {
  cudaDeviceProp props;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&props, device) != cudaSuccess) {
    return -1;
  }
  if (!(props.major == 12 && (props.minor == 0 || props.minor == 1))) {
    std::cerr << "This example needs a GPU of compute capability 12.0 or 12.1.\n";
    return 0;
  }
  Options options;
  options.parse(argc, argv);
#if defined(CUTLASS_ARCH_MMA_SM120_SUPPORTED) || defined(CUTLASS_ARCH_MMA_SM121_SUPPORTED)
  return run(options);
#else
  std::cerr << "built with a toolkit that does not know this chip\n";
  return 0;
#endif
}
