// FDTD3d as in the samples: cooperative groups, constant stencil, register queue, occupancy, dynamic shared memory, templates.
#include <cooperative_groups.h>
#include <iostream>
#include <algorithm>
#include <random>
#include <chrono>
#include "helper.h"
namespace cg = cooperative_groups;
#define RADIUS 4
__constant__ float stencil[RADIUS + 1];
template <int RX, int BX, int BY> __global__ void __launch_bounds__(BX * BY) FiniteDifferences3DKernel(float *output, const float *__restrict__ input, const int dimx, const int dimy, const int dimz) {
    extern __shared__ __align__(16) unsigned char raw[];
    float(*tile)[BX + 2 * RX] = reinterpret_cast<float(*)[BX + 2 * RX]>(raw);
    cg::thread_block cta = cg::this_thread_block();
    bool validr = true, validw = true;
    const int gtidx = blockIdx.x * blockDim.x + threadIdx.x, gtidy = blockIdx.y * blockDim.y + threadIdx.y, ltidx = threadIdx.x, ltidy = threadIdx.y, workx = blockDim.x, worky = blockDim.y;
    const int stride_y = dimx + 2 * RX, stride_z = stride_y * (dimy + 2 * RX);
    int inputIndex = 0, outputIndex = 0;
    inputIndex += RX * stride_y + RX; inputIndex += gtidy * stride_y + gtidx;
    float infront[RX], behind[RX], current;
    const int tx = ltidx + RX, ty = ltidy + RX;
    if ((gtidx >= dimx + RX) || (gtidy >= dimy + RX)) validr = false;
    if ((gtidx >= dimx) || (gtidy >= dimy)) validw = false;
#pragma unroll
    for (int i = RX - 2; i >= 0; i--) { if (validr) behind[i] = input[inputIndex]; inputIndex += stride_z; }
    if (validr) current = input[inputIndex];
    outputIndex = inputIndex; inputIndex += stride_z;
#pragma unroll
    for (int i = 0; i < RX; i++) { if (validr) infront[i] = input[inputIndex]; inputIndex += stride_z; }
#pragma unroll 9
    for (int iz = 0; iz < dimz; iz++) {
        for (int i = RX - 1; i > 0; i--) behind[i] = behind[i - 1];
        behind[0] = current; current = infront[0];
#pragma unroll
        for (int i = 0; i < RX - 1; i++) infront[i] = infront[i + 1];
        if (validr) infront[RX - 1] = input[inputIndex];
        inputIndex += stride_z; outputIndex += stride_z;
        cg::sync(cta);
        if (ltidy < RX) { tile[ltidy][tx] = input[outputIndex - RX * stride_y]; tile[ltidy + worky + RX][tx] = input[outputIndex + worky * stride_y]; }
        if (ltidx < RX) { tile[ty][ltidx] = input[outputIndex - RX]; tile[ty][ltidx + workx + RX] = input[outputIndex + workx]; }
        tile[ty][tx] = current;
        cg::sync(cta);
        float value = stencil[0] * current;
#pragma unroll
        for (int i = 1; i <= RX; i++) value += stencil[i] * (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
        if (validw) output[outputIndex] = value;
    }
}
static void host(float *out, const float *in, const float *c, int nx, int ny, int nz) { int sy = nx + 8, sz = sy * (ny + 8); for (int z = 0; z < nz; z++) for (int y = 0; y < ny; y++) for (int x = 0; x < nx; x++) { size_t i = (size_t)(z + 4) * sz + (y + 4) * sy + x + 4; float v = c[0] * in[i]; for (int r = 1; r <= 4; r++) v += c[r] * (in[i + r * (size_t)sz] + in[i - r * (size_t)sz] + in[i - r * sy] + in[i + r * sy] + in[i - r] + in[i + r]); out[i] = v; } }
int main(int argc, char **argv) {
    int nx = 96, ny = 64, nz = 24, steps = 5;
    for (int i = 1; i < argc; i++) { std::string a = argv[i]; if (a.rfind("--dimx=", 0) == 0) nx = std::stoi(a.substr(7)); else if (a.rfind("--timesteps=", 0) == 0) steps = std::stoi(a.substr(12)); else { std::cerr << "unknown " << a << "\n"; return EXIT_FAILURE; } }
    size_t volume = (size_t)(nx + 8) * (ny + 8) * (nz + 8), padding = (128 / sizeof(float)) - 4, padded = volume + padding;
    std::vector<float> in(volume), c = {0.2f, 0.05f, 0.03f, 0.02f, 0.01f};
    std::mt19937 g(1); std::uniform_real_distribution<float> u(0, 1); std::generate(in.begin(), in.end(), [&] { return u(g); });
    float *bufferIn, *bufferOut; checkCudaErrors(cudaMalloc(&bufferOut, padded * 4)); checkCudaErrors(cudaMalloc(&bufferIn, padded * 4));
    auto kernel = FiniteDifferences3DKernel<RADIUS, 32, 16>;
    cudaFuncAttributes attr; checkCudaErrors(cudaFuncGetAttributes(&attr, kernel));
    size_t bytes = sizeof(float) * (32 + 8) * (16 + 8);
    checkCudaErrors(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes)); checkCudaErrors(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
    int minGrid, best, resident; checkCudaErrors(cudaOccupancyMaxPotentialBlockSize(&minGrid, &best, kernel, bytes, 0)); checkCudaErrors(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, 512, bytes));
    checkCudaErrors(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&minGrid, &best, kernel, [](int threads) { return size_t(threads) * 4; }));
    printf(" %d registers, best block %d, %d blocks of 512 on a multiprocessor\n", attr.numRegs, best, resident);
    checkCudaErrors(cudaMemcpy(bufferIn + padding, in.data(), volume * 4, cudaMemcpyHostToDevice)); checkCudaErrors(cudaMemcpy(bufferOut + padding, in.data(), volume * 4, cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpyToSymbol(stencil, (void *)c.data(), (RADIUS + 1) * sizeof(float)));
    float *src = bufferIn + padding, *dst = bufferOut + padding;
    dim3 block(32, 16), grid((nx + 31) / 32, (ny + 15) / 16);
    auto t0 = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; i++) { kernel<<<grid, block, bytes>>>(dst, src, nx, ny, nz); std::swap(src, dst); }
    getLastCudaError("kernel"); checkCudaErrors(cudaDeviceSynchronize());
    double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
    printf("FDTD3d, Throughput = %.4f MPoints/s, Time = %.5f s, Size = %u Points, NumDevsUsed = %i, Blocksize = %u\n", 1e-6 * nx * ny * nz * steps / s, s / steps, nx * ny * nz, 1, 512);
    std::vector<float> got(volume), a = in, b = in; checkCudaErrors(cudaMemcpy(got.data(), src, volume * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < steps; i++) { host(b.data(), a.data(), c.data(), nx, ny, nz); std::swap(a, b); }
    double worst = 0; for (int z = 4; z < nz + 4; z++) for (int y = 4; y < ny + 4; y++) for (int x = 4; x < nx + 4; x++) { size_t i = ((size_t)z * (ny + 8) + y) * (nx + 8) + x; worst = std::max(worst, (double)std::abs(a[i] - got[i])); }
    std::cout << "worst " << worst << (worst < 1e-3 ? "\nPASS" : "\nFAIL") << std::endl; cudaFree(bufferIn); cudaFree(bufferOut);
    return worst < 1e-3 ? 0 : 1;
}
