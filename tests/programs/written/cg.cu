// Conjugate gradient thrice: launches, a captured graph that is updated, and one cooperative kernel.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cmath>
#include <vector>
#include <chrono>
#include "helper.h"
namespace cg = cooperative_groups;
#define THREADS 256
__device__ double grid_dot_result = 0.0;
__global__ void spmv(const int *__restrict__ I, const int *__restrict__ J, const float *__restrict__ v, const float *x, float *y, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) { float s = 0; for (int k = I[i]; k < I[i + 1]; k++) s += v[k] * x[J[k]]; y[i] = s; } }
__global__ void dot(const float *a, const float *b, double *out, int n) { auto block = cg::this_thread_block(); auto warp = cg::tiled_partition<32>(block); double s = 0; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += (double)a[i] * b[i]; s = cg::reduce(warp, s, cg::plus<double>()); if (warp.thread_rank() == 0) atomicAdd(out, s); }
__global__ void init(const float *b, float *x, float *r, float *p, double *dots, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { x[i] = 0; r[i] = p[i] = b[i]; } if (i < 3) dots[i] = 0; }
__global__ void update(float *x, float *r, const float *p, const float *Ap, double *dots, int n) { double a = dots[0] / dots[1]; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) { x[i] += a * p[i]; r[i] -= a * Ap[i]; } }
__global__ void direction(float *p, const float *r, const double *dots, int n) { double b = dots[2] / dots[0]; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] = r[i] + b * p[i]; }
__global__ void roll(double *dots) { dots[0] = dots[2]; dots[1] = dots[2] = 0; }
__device__ void gpuDot(const float *a, const float *b, int n, cg::thread_block cta, const cg::grid_group &grid) { extern __shared__ double tmp[]; double s = 0; for (int i = grid.thread_rank(); i < n; i += grid.size()) s += (double)a[i] * b[i]; auto tile = cg::tiled_partition<32>(cta); s = cg::reduce(tile, s, cg::plus<double>()); if (!tile.thread_rank()) tmp[tile.meta_group_rank()] = s; cg::sync(cta); if (!tile.meta_group_rank()) { s = tile.thread_rank() < tile.meta_group_size() ? tmp[tile.thread_rank()] : 0.0; s = cg::reduce(tile, s, cg::plus<double>()); if (!tile.thread_rank()) atomicAdd(&grid_dot_result, s); } }
extern "C" __global__ void gpuConjugateGradient(int *I, int *J, float *v, float *x, float *Ax, float *p, float *r, int n, float tol, int *rounds) {
    cg::thread_block cta = cg::this_thread_block(); cg::grid_group grid = cg::this_grid();
    gpuDot(r, r, n, cta, grid); cg::sync(grid);
    double r1 = grid_dot_result, r0 = 0; int k = 1;
    while (r1 > tol * tol && k <= 200) {
        if (k > 1) { float b = r1 / r0; for (int i = grid.thread_rank(); i < n; i += grid.size()) p[i] = r[i] + b * p[i]; } else for (int i = grid.thread_rank(); i < n; i += grid.size()) p[i] = r[i];
        cg::sync(grid);
        for (int i = grid.thread_rank(); i < n; i += grid.size()) { float s = 0; for (int j = I[i]; j < I[i + 1]; j++) s += v[j] * p[J[j]]; Ax[i] = s; }
        if (threadIdx.x == 0 && blockIdx.x == 0) grid_dot_result = 0.0;
        cg::sync(grid); gpuDot(p, Ax, n, cta, grid); cg::sync(grid);
        float a = r1 / grid_dot_result;
        for (int i = grid.thread_rank(); i < n; i += grid.size()) { x[i] += a * p[i]; r[i] -= a * Ax[i]; }
        r0 = r1; cg::sync(grid); if (threadIdx.x == 0 && blockIdx.x == 0) grid_dot_result = 0.0;
        cg::sync(grid); gpuDot(r, r, n, cta, grid); cg::sync(grid); r1 = grid_dot_result; k++;
    }
    if (!grid.thread_rank()) *rounds = k - 1;
}
int main() {
    int side = 48, n = side * side; std::vector<int> I{0}, J; std::vector<float> v, b(n);
    for (int i = 0; i < n; i++) { int x = i % side, y = i / side; auto put = [&](int j, float a) { J.push_back(j); v.push_back(a); }; if (y) put(i - side, -1); if (x) put(i - 1, -1); put(i, 4.2f); if (x < side - 1) put(i + 1, -1); if (y < side - 1) put(i + side, -1); I.push_back(J.size()); b[i] = 1 + i % 7; }
    int *dI, *dJ, *rounds; float *dv, *db, *x, *r, *p, *Ap; double *dots;
    cudaStream_t s; checkCudaErrors(cudaStreamCreate(&s));
    checkCudaErrors(cudaMallocAsync(&dI, I.size() * 4, s)); checkCudaErrors(cudaMallocAsync(&dJ, J.size() * 4, s)); checkCudaErrors(cudaMallocAsync(&dv, v.size() * 4, s));
    for (float **q : {&db, &x, &r, &p, &Ap}) checkCudaErrors(cudaMallocAsync(q, n * 4, s)); checkCudaErrors(cudaMallocAsync(&dots, 24, s)); checkCudaErrors(cudaMallocManaged(&rounds, 4));
    checkCudaErrors(cudaMemcpyAsync(dI, I.data(), I.size() * 4, cudaMemcpyHostToDevice, s)); checkCudaErrors(cudaMemcpyAsync(dJ, J.data(), J.size() * 4, cudaMemcpyHostToDevice, s)); checkCudaErrors(cudaMemcpyAsync(dv, v.data(), v.size() * 4, cudaMemcpyHostToDevice, s)); checkCudaErrors(cudaMemcpyAsync(db, b.data(), n * 4, cudaMemcpyHostToDevice, s));
    int blocks = (n + THREADS - 1) / THREADS; const int steps = 60; bool ok = true;
    auto round = [&] { spmv<<<blocks, THREADS, 0, s>>>(dI, dJ, dv, p, Ap, n); dot<<<blocks, THREADS, 0, s>>>(p, Ap, dots + 1, n); update<<<blocks, THREADS, 0, s>>>(x, r, p, Ap, dots, n); dot<<<blocks, THREADS, 0, s>>>(r, r, dots + 2, n); direction<<<blocks, THREADS, 0, s>>>(p, r, dots, n); roll<<<1, 1, 0, s>>>(dots); };
    auto told = [&](const char *how, double seconds) { std::vector<float> h(n); checkCudaErrors(cudaMemcpy(h.data(), x, n * 4, cudaMemcpyDeviceToHost)); double err = 0; for (int i = 0; i < n; i++) { double t = 0; for (int k = I[i]; k < I[i + 1]; k++) t += v[k] * h[J[k]]; err = fmax(err, fabs(t - b[i])); } printf("%-12s %8.3f ms, residual %.2e\n", how, 1e3 * seconds, err); ok = ok && err < 1e-3; };
    auto now = [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); };
    init<<<blocks, THREADS, 0, s>>>(db, x, r, p, dots, n); dot<<<blocks, THREADS, 0, s>>>(r, r, dots, n); checkCudaErrors(cudaStreamSynchronize(s));
    double t = now(); for (int k = 0; k < steps; k++) round(); checkCudaErrors(cudaStreamSynchronize(s)); told("launches", now() - t);
    init<<<blocks, THREADS, 0, s>>>(db, x, r, p, dots, n); dot<<<blocks, THREADS, 0, s>>>(r, r, dots, n); checkCudaErrors(cudaStreamSynchronize(s));
    cudaGraph_t graph; cudaGraphExec_t exec; checkCudaErrors(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); round(); cudaStreamCaptureStatus st; checkCudaErrors(cudaStreamIsCapturing(s, &st)); ok = ok && st == cudaStreamCaptureStatusActive; checkCudaErrors(cudaStreamEndCapture(s, &graph));
    size_t nodes = 0; checkCudaErrors(cudaGraphGetNodes(graph, NULL, &nodes)); checkCudaErrors(cudaGraphInstantiate(&exec, graph, 0)); printf("%zu nodes\n", nodes); ok = ok && nodes == 6;
    t = now(); for (int k = 0; k < steps; k++) { if (k == 10) { cudaGraph_t again; checkCudaErrors(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal)); round(); checkCudaErrors(cudaStreamEndCapture(s, &again)); cudaGraphExecUpdateResultInfo info; checkCudaErrors(cudaGraphExecUpdate(exec, again, &info)); ok = ok && info.result == cudaGraphExecUpdateSuccess; checkCudaErrors(cudaGraphDestroy(again)); } checkCudaErrors(cudaGraphLaunch(exec, s)); }
    checkCudaErrors(cudaStreamSynchronize(s)); told("graph", now() - t);
    int supports = 0, resident = 0; cudaDeviceProp prop; checkCudaErrors(cudaGetDeviceProperties(&prop, 0)); checkCudaErrors(cudaDeviceGetAttribute(&supports, cudaDevAttrCooperativeLaunch, 0)); size_t shared = sizeof(double) * (THREADS / 32 + 1);
    checkCudaErrors(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, gpuConjugateGradient, THREADS, shared));
    init<<<blocks, THREADS, 0, s>>>(db, x, r, p, dots, n); int grid = std::min(resident * prop.multiProcessorCount, 16); float tol = 1e-4f; void *args[] = {&dI, &dJ, &dv, &x, &Ap, &p, &r, &n, &tol, &rounds};
    t = now(); checkCudaErrors(cudaLaunchCooperativeKernel((void *)gpuConjugateGradient, grid, THREADS, args, shared, s)); checkCudaErrors(cudaStreamSynchronize(s)); t = now() - t; printf("%d rounds\n", *rounds); told("cooperative", t);
    cudaGraphExecDestroy(exec); cudaGraphDestroy(graph); for (float *q : {db, x, r, p, Ap}) checkCudaErrors(cudaFreeAsync(q, s)); cudaFreeAsync(dI, s); cudaFreeAsync(dJ, s); cudaFreeAsync(dv, s); cudaFreeAsync(dots, s); cudaStreamSynchronize(s); cudaFree(rounds); cudaStreamDestroy(s);
    printf("&&&& conjugateGradient %s\n", ok ? "PASSED" : "FAILED"); return !ok;
}
