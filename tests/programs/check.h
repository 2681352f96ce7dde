// What the programs here share: errors end them, and answers are told.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                        \
    do {                                                                                                   \
        cudaError_t status_ = (call);                                                                      \
        if (status_ != cudaSuccess) {                                                                      \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_));    \
            exit(EXIT_FAILURE);                                                                            \
        }                                                                                                  \
    } while (0)

static inline int answer(bool right) {
    printf("%s\n", right ? "PASSED" : "FAILED");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

static inline bool close_to(double found, double wanted, double tolerance = 1e-4) {
    return fabs(found - wanted) <= tolerance * (1 + fabs(wanted));
}
