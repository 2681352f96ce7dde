// Fills of memory by the driver's interface, which header libraries call beside the runtime's: numbers of 1, 2 and 4 bytes.
#include "driver.h"
#include "graphs.h"

using namespace simtmm;

static CUresult fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned size, size_t width, size_t height,
                     cudaStream_t stream) {
    Call call;
    if (to % size || pitch % size) return (CUresult)failed(cudaErrorInvalidValue);
    if (!width || !height) return CUDA_SUCCESS;
    cudaMemsetParams p = {(void *)to, pitch, value, size, width, height};
    return (CUresult)enqueue(stream, filled_by(p), cudaGraphNodeTypeMemset);  // both interfaces number errors alike
}

#define FILLS(type, one, later, rows, rows_later)                                                          \
    DRIVER one(CUdeviceptr to, type value, size_t count) {                                               \
        return fill(to, count * sizeof(type), value, sizeof(type), count, 1, nullptr);                   \
    }                                                                                                    \
    DRIVER later(CUdeviceptr to, type value, size_t count, CUstream stream) {                            \
        return fill(to, count * sizeof(type), value, sizeof(type), count, 1, stream);                    \
    }                                                                                                    \
    DRIVER rows(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height) {                 \
        return fill(to, pitch, value, sizeof(type), width, height, nullptr);                             \
    }                                                                                                    \
    DRIVER rows_later(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height, CUstream stream) { \
        return fill(to, pitch, value, sizeof(type), width, height, stream);                              \
    }

FILLS(unsigned char, cuMemsetD8, cuMemsetD8Async, cuMemsetD2D8, cuMemsetD2D8Async)
FILLS(unsigned short, cuMemsetD16, cuMemsetD16Async, cuMemsetD2D16, cuMemsetD2D16Async)
FILLS(unsigned int, cuMemsetD32, cuMemsetD32Async, cuMemsetD2D32, cuMemsetD2D32Async)
