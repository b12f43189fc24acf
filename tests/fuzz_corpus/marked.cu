// bwlint: ignore[tcgen05] by hand
__global__ void k() {
#if __CUDA_ARCH__ >= 1000 /* bwlint: ignore[leak, BW101] why */ // # bwlint: ignore
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" :: "r"(0)); // bwlint: ignore[]
#endif
  const char *s = R"x(// bwlint: ignore[leak])x"; /* bwlint:
   ignore[empty-body] */
}
