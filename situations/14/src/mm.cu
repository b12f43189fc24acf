#include "common.cuh"

struct mm_variant {
    const char * name;
    int min_cc;
    mm_launch_t launch;
    bool (*fits)(const mm_args &);
};

static const mm_variant k_variants[] = {
    { "tc5", 1000, mm_tc5, [](const mm_args & a) { return a.m >= 128 && a.n % 128 == 0; } },
    { "mma",  800, mm_mma, [](const mm_args & a) { return a.m % 16 == 0 && a.n % 8 == 0; } },
};

static int current_cc() {
    int id;
    cudaDeviceProp prop;
    CHECK(cudaGetDevice(&id));
    CHECK(cudaGetDeviceProperties(&prop, id));
    return 100 * prop.major + 10 * prop.minor;
}

void mul_mat_f16(const mm_args & args, cudaStream_t stream) {
    static const int cc = current_cc();
    for (const mm_variant & v : k_variants) {
        if (cc >= v.min_cc && v.fits(args)) {
            v.launch(args, stream);
            return;
        }
    }
    fprintf(stderr, "mul_mat_f16: no variant for cc %d, %d x %d x %d\n", cc, args.m, args.n, args.k);
    abort();
}
