// What a program says of itself: one line of JSON. `steps` are the status of the calls that it looks at, by name;
// `right` of `of` words came back as its kernel writes them, `untouched` as they were before.
#pragma once

#include <cstdio>
#include <cuda_runtime.h>

constexpr unsigned int kBefore = 0xBEEFu;

struct Report {
    const char* names[8];
    int codes[8];
    int count = 0;
    unsigned int* out = nullptr;
    unsigned int words = 0;

    explicit Report(unsigned int size) : words(size) {
        int started = cudaMalloc(&out, sizeof(unsigned int) * words);
        unsigned int* before = new unsigned int[words];
        for (unsigned int i = 0; i < words; ++i) before[i] = kBefore;
        if (started == 0) started = cudaMemcpy(out, before, sizeof(unsigned int) * words, cudaMemcpyHostToDevice);
        delete[] before;
        if (started != 0) step("start", started);
    }

    void step(const char* name, int code) {
        names[count] = name;
        codes[count++] = code;
    }

    int finish(int blocks = -1, int asked = -1) {
        unsigned int* after = new unsigned int[words]();
        int copied = out == nullptr ? 1 : cudaMemcpy(after, out, sizeof(unsigned int) * words, cudaMemcpyDeviceToHost);
        unsigned int right = 0, untouched = 0;
        for (unsigned int i = 0; i < words; ++i) {
            right += after[i] == 1u;
            untouched += after[i] == kBefore;
        }
        delete[] after;
        std::printf("{\"steps\": [");
        for (int i = 0; i < count; ++i) std::printf("%s[\"%s\", %d]", i ? ", " : "", names[i], codes[i]);
        std::printf("], \"copied\": %d, \"right\": %u, \"untouched\": %u, \"of\": %u", copied, right, untouched, words);
        if (asked >= 0) std::printf(", \"blocks\": %d, \"asked\": %d", blocks, asked);
        std::printf("}\n");
        return 0;
    }
};
