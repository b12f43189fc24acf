#include "common.cuh"

#include <vector>

static device_info query(int id) {
    device_info info = {};
    int major = 0;
    int minor = 0;
    int optin = 0;
    CUDA_OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, id));
    CUDA_OK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, id));
    CUDA_OK(cudaDeviceGetAttribute(&info.nsm, cudaDevAttrMultiProcessorCount, id));
    CUDA_OK(cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, id));
    info.cc = 100 * major + 10 * minor;
    info.smem_optin = optin;
    return info;
}

const device_info & get_device_info(int id) {
    static const std::vector<device_info> all = [] {
        int n = 0;
        CUDA_OK(cudaGetDeviceCount(&n));
        std::vector<device_info> v;
        for (int i = 0; i < n; ++i) {
            v.push_back(query(i));
        }
        return v;
    }();
    return all.at(id);
}
