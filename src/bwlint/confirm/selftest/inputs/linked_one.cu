__device__ unsigned int one() { return 1; }
