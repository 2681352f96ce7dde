// 3-D heat: cudaMalloc3D and cudaMemcpy3D, a 3-D texture in the place of the power, a surface for what comes out.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cmath>
#include <vector>
#include <memory>
#include <helper.h>
__constant__ float coefficients[7];
__device__ float hottest_bits;
struct Grid { cudaPitchedPtr data; cudaExtent extent; __host__ __device__ float &at(int x, int y, int z) const { char *s = (char *)data.ptr + (size_t)z * data.pitch * data.ysize; return ((float *)(s + y * data.pitch))[x]; } };
__global__ void step(Grid in, Grid out, cudaTextureObject_t power, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    float below = in.at(x, y, 0), here = below, above;
    for (int z = 0; z < nz; z++) {
        above = z + 1 < nz ? in.at(x, y, z + 1) : here;
        float w = in.at(max(x - 1, 0), y, z), e = in.at(min(x + 1, nx - 1), y, z), n = in.at(x, max(y - 1, 0), z), s = in.at(x, min(y + 1, ny - 1), z);
        out.at(x, y, z) = coefficients[0] * here + coefficients[1] * w + coefficients[2] * e + coefficients[3] * n + coefficients[4] * s + coefficients[5] * (below + above) + coefficients[6] * tex3D<float>(power, x + .5f, y + .5f, z + .5f);
        below = here; here = above;
    }
}
__global__ void hottest(Grid g, int nx, int ny, int nz) {
    float most = -1e30f;
    for (int z = blockIdx.x; z < nz; z += gridDim.x) for (int i = threadIdx.x; i < nx * ny; i += blockDim.x) most = fmaxf(most, g.at(i % nx, i / nx, z));
    for (int o = 16; o; o >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
    if (!(threadIdx.x & 31)) atomicMax((int *)&hottest_bits, __float_as_int(most));
}
__global__ void slice(Grid g, cudaSurfaceObject_t out, int z, int nx, int ny) { int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y; if (x < nx && y < ny) surf2Dwrite((unsigned char)fminf(255, g.at(x, y, z)), out, x, y); }
int main(int argc, char **argv) {
    int nx = argc > 1 ? atoi(argv[1]) : 64, nz = argc > 2 ? atoi(argv[2]) : 8, iterations = argc > 3 ? atoi(argv[3]) : 100, ny = nx;
    std::vector<float> t(nx * ny * nz), p(t.size()), want, next(t.size());
    for (size_t i = 0; i < t.size(); i++) { t[i] = 80 + (i * 37 % 101) * 0.1f; p[i] = (i * 11 % 17) * 0.01f; }
    want = t;
    Grid a, b; a.extent = b.extent = make_cudaExtent(nx * sizeof(float), ny, nz);
    checkCudaErrors(cudaMalloc3D(&a.data, a.extent)); checkCudaErrors(cudaMalloc3D(&b.data, b.extent));
    checkCudaErrors(cudaMemset3D(b.data, 0, b.extent));
    cudaMemcpy3DParms c = {0};
    c.srcPtr = make_cudaPitchedPtr(t.data(), nx * 4, nx, ny); c.dstPtr = a.data; c.extent = a.extent; c.kind = cudaMemcpyHostToDevice;
    checkCudaErrors(cudaMemcpy3D(&c));
    cudaArray *array; cudaChannelFormatDesc f = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    checkCudaErrors(cudaMalloc3DArray(&array, &f, make_cudaExtent(nx, ny, nz)));
    cudaMemcpy3DParms d = {0}; d.srcPtr = make_cudaPitchedPtr(p.data(), nx * sizeof(float), nx, ny); d.dstArray = array; d.extent = make_cudaExtent(nx, ny, nz); d.kind = cudaMemcpyHostToDevice;
    cudaStream_t s; checkCudaErrors(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    checkCudaErrors(cudaMemcpy3DAsync(&d, s)); checkCudaErrors(cudaStreamSynchronize(s));
    cudaResourceDesc r; memset(&r, 0, sizeof r); r.resType = cudaResourceTypeArray; r.res.array.array = array;
    cudaTextureDesc td; memset(&td, 0, sizeof td); td.filterMode = cudaFilterModePoint; td.readMode = cudaReadModeElementType;
    cudaTextureObject_t power; checkCudaErrors(cudaCreateTextureObject(&power, &r, &td, NULL));
    float k[7] = {0.4f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 1.f};
    checkCudaErrors(cudaMemcpyToSymbol(coefficients, k, sizeof k));
    cudaEvent_t e0, e1; cudaEventCreate(&e0); cudaEventCreateWithFlags(&e1, cudaEventBlockingSync);
    auto begin = std::chrono::steady_clock::now();
    cudaEventRecord(e0, s);
    for (int i = 0; i < iterations; i++) { step<<<dim3((nx + 31) / 32, (ny + 7) / 8), dim3(32, 8), 0, s>>>(a, b, power, nx, ny, nz); std::swap(a, b); }
    cudaEventRecord(e1, s); checkCudaErrors(cudaEventSynchronize(e1));
    double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    float ms; cudaEventElapsedTime(&ms, e0, e1);
    printf("Time: %.6f (s) by the clock, %.6f by events\n", took, ms / 1e3);
    hottest<<<nz, 256, 0, s>>>(a, nx, ny, nz);
    float most; checkCudaErrors(cudaMemcpyFromSymbolAsync(&most, hottest_bits, 4, 0, cudaMemcpyDeviceToHost, s)); checkCudaErrors(cudaStreamSynchronize(s));
    cudaArray_t picture; cudaChannelFormatDesc u = cudaCreateChannelDesc<unsigned char>(); checkCudaErrors(cudaMallocArray(&picture, &u, nx, ny, cudaArraySurfaceLoadStore));
    r.res.array.array = picture; cudaSurfaceObject_t surface; checkCudaErrors(cudaCreateSurfaceObject(&surface, &r));
    slice<<<dim3((nx + 15) / 16, (ny + 15) / 16), dim3(16, 16), 0, s>>>(a, surface, nz / 2, nx, ny);
    std::vector<unsigned char> bytes(nx * ny); checkCudaErrors(cudaMemcpy2DFromArrayAsync(bytes.data(), nx, picture, 0, 0, nx, ny, cudaMemcpyDeviceToHost, s)); checkCudaErrors(cudaStreamSynchronize(s));
    std::vector<float> got(t.size());
    cudaMemcpy3DParms o = {0}; o.srcPtr = a.data; o.dstPtr = make_cudaPitchedPtr(got.data(), nx * 4, nx, ny); o.extent = a.extent; o.kind = cudaMemcpyDeviceToHost; checkCudaErrors(cudaMemcpy3D(&o));
    auto at = [&](const std::vector<float> &v, int x, int y, int z) { x = x < 0 ? 0 : x >= nx ? nx - 1 : x; y = y < 0 ? 0 : y >= ny ? ny - 1 : y; z = z < 0 ? 0 : z >= nz ? nz - 1 : z; return v[(z * ny + y) * nx + x]; };
    for (int i = 0; i < iterations; i++) { for (int z = 0; z < nz; z++) for (int y = 0; y < ny; y++) for (int x = 0; x < nx; x++) next[(z * ny + y) * nx + x] = .4f * at(want, x, y, z) + .1f * (at(want, x - 1, y, z) + at(want, x + 1, y, z) + at(want, x, y - 1, z) + at(want, x, y + 1, z) + at(want, x, y, z - 1) + at(want, x, y, z + 1)) + at(p, x, y, z); std::swap(want, next); }
    double error = 0, high = -1e30; for (size_t i = 0; i < t.size(); i++) { error += pow(want[i] - got[i], 2); high = fmax(high, got[i]); }
    bool ok = sqrt(error / t.size()) < 1e-2 && high == most; for (int i = 0; i < nx * ny; i++) ok = ok && bytes[i] == (unsigned char)fminf(255, got[nz / 2 * nx * ny + i]);
    printf("Accuracy: %e, hottest %f\n%s\n", sqrt(error / t.size()), most, ok ? "PASS" : "FAIL");
    cudaDestroySurfaceObject(surface); cudaDestroyTextureObject(power); cudaFreeArray(array); cudaFreeArray(picture); cudaFree(a.data.ptr); cudaFree(b.data.ptr); cudaStreamDestroy(s); cudaEventDestroy(e0); cudaEventDestroy(e1);
    return !ok;
}
