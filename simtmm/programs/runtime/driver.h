// What the functions of the driver's interface have in common: each is one of the runtime's, with other words around it.
#pragma once

#include "runtime.h"

#include <cuda.h>

#define DRIVER extern "C" __attribute__((visibility("default"))) CUresult

namespace simtmm {

// Both interfaces number errors alike, but for these.
inline CUresult driver_error(cudaError_t error) {
    switch (error) {
        case cudaErrorInvalidConfiguration: return CUDA_ERROR_INVALID_VALUE;
        case cudaErrorInvalidSymbol: return CUDA_ERROR_NOT_FOUND;
        case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_INVALID_HANDLE;
        case cudaErrorInvalidMemcpyDirection: return CUDA_ERROR_INVALID_VALUE;
        default: return (CUresult)error;
    }
}

// Does work under the name of a driver's function, which messages have; the runtime's last error stays what it was.
template <class Work>
CUresult asked(const char *function, Work work) {
    Call call;
    cudaError_t kept = last_error;
    const char *outer = called_as;
    called_as = function;
    cudaError_t error = sticky_error ? sticky_error : work();
    called_as = outer;
    last_error = kept;
    return driver_error(error);
}

}  // namespace simtmm
