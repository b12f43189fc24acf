variable "TORCH_CUDA_ARCH_LIST" { default = "8.0 9.0 10.0 12.0" }
variable "archs" { default = ["90a", "100a", "120"] }
target "wheel" {
  args = {
    CUDA_VERSION = "12.8.1"
    NVCC_ARCHS = join(";", archs) // bwlint: ignore[arch-target] the twin has its own
    FLAGS = "-gencode arch=compute_${archs[0]},code=sm_${archs[0]}"
    TEXT = <<-EOT
      cuda_arch_list=12.0
    EOT
  }
}
