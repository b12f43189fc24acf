# What the wheels carry. Override with -DPAGEKIT_CUDA_TARGETS=...
if(NOT PAGEKIT_CUDA_TARGETS)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    # Grace and Jetson class machines
    set(PAGEKIT_CUDA_TARGETS 87-real 90-real 100-real 110-real)
  else()
    set(PAGEKIT_CUDA_TARGETS 80-real 86-real 89-real 90-real 100-real 120-real)
  endif()
endif()
message(STATUS "pagekit: CUDA targets ${PAGEKIT_CUDA_TARGETS} on ${CMAKE_SYSTEM_PROCESSOR}")
