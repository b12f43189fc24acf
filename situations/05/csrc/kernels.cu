#include <ATen/ATen.h>
#include <c10/cuda/CUDAException.h>
#include <cstdint>
#include <cuda_bf16.h>

namespace grouped8 {

__global__ void __launch_bounds__(128) warpgroup_kernel(const uint8_t* a, const uint8_t* b, const int* offs, __nv_bfloat16* out, int n, int k) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
  asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory");
#endif
}

__global__ void __launch_bounds__(128) umma_kernel(const uint8_t* a, const uint8_t* b, const int* offs, __nv_bfloat16* out, int n, int k) {
#if defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && __CUDA_ARCH_FAMILY_SPECIFIC__ == 1000
  __shared__ uint32_t tmem;
  const uint32_t slot = static_cast<uint32_t>(__cvta_generic_to_shared(&tmem));
  if (threadIdx.x < 32) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 256;" ::"r"(slot));
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 256;" ::"r"(tmem));
  }
#endif
}

template <auto Kernel>
void launch(const at::Tensor& a, const at::Tensor& b, const at::Tensor& offs, at::Tensor& out, cudaStream_t s) {
  const dim3 grid((b.size(1) + 127) / 128, (a.size(0) + 127) / 128);
  Kernel<<<grid, 128, 0, s>>>(reinterpret_cast<const uint8_t*>(a.data_ptr()), reinterpret_cast<const uint8_t*>(b.data_ptr()),
                              offs.data_ptr<int>(), reinterpret_cast<__nv_bfloat16*>(out.data_ptr()), b.size(1), a.size(1));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void launch_warpgroup(const at::Tensor& a, const at::Tensor& b, const at::Tensor& offs, at::Tensor& out, cudaStream_t s) {
  launch<warpgroup_kernel>(a, b, offs, out, s);
}

void launch_umma(const at::Tensor& a, const at::Tensor& b, const at::Tensor& offs, at::Tensor& out, cudaStream_t s) {
  launch<umma_kernel>(a, b, offs, out, s);
}

}  // namespace grouped8
