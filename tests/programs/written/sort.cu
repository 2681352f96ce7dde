// Radix sort of its own, beside CUB's and Thrust's; scans, reductions by key, selections.
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/sort.h>
#include <thrust/scan.h>
#include <thrust/reduce.h>
#include <thrust/transform_reduce.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/execution_policy.h>
#include <thrust/copy.h>
#include <thrust/unique.h>
#include <thrust/random.h>
#include <thrust/inner_product.h>
#include <thrust/gather.h>
#include <thrust/iterator/constant_iterator.h>
#include <algorithm>
#include <thrust/tuple.h>
#include <iostream>
#include <iomanip>
#include <chrono>
#include <numeric>
#include "helper.h"
#define BITS 4
#define BUCKETS (1 << BITS)
__global__ void histogram(const unsigned *keys, unsigned *counts, int n, int shift) { __shared__ unsigned local[BUCKETS]; if (threadIdx.x < BUCKETS) local[threadIdx.x] = 0; __syncthreads(); int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&local[keys[i] >> shift & (BUCKETS - 1)], 1u); __syncthreads(); if (threadIdx.x < BUCKETS) counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x]; }
__global__ void scatter(const unsigned *keys, const unsigned *values, unsigned *keysOut, unsigned *valuesOut, const unsigned *offsets, int n, int shift) {
    typedef cub::WarpScan<unsigned> Scan; __shared__ unsigned before[8][BUCKETS]; int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x & 31; unsigned key = i < n ? keys[i] : ~0u, bucket = key >> shift & (BUCKETS - 1);
    if (lane < BUCKETS) before[warp][lane] = 0; __syncwarp();
    unsigned same = __match_any_sync(~0u, i < n ? bucket : BUCKETS), rank = __popc(same & ((1u << lane) - 1)); if (i < n && rank == 0) before[warp][bucket] = __popc(same); __syncthreads();
    if (i < n) { unsigned at = offsets[bucket * gridDim.x + blockIdx.x] + rank; for (int w = 0; w < warp; w++) at += before[w][bucket]; keysOut[at] = key; valuesOut[at] = values[i]; }
}
struct saxpy_functor { float a; __host__ __device__ float operator()(float x, float y) const { return a * x + y; } };
struct weigh { template <class T> __host__ __device__ double operator()(const T &t) const { return thrust::get<0>(t) * (double)thrust::get<1>(t); } };
struct GreaterThan { int compare; __host__ __device__ bool operator()(const int &a) const { return a > compare; } };
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 40000; bool ok = true; thrust::host_vector<unsigned> keys(n), values(n); thrust::minstd_rand g(3); for (int i = 0; i < n; i++) keys[i] = g() * 2654435761u, values[i] = i; std::vector<unsigned> want(keys.begin(), keys.end()); std::sort(want.begin(), want.end());
    thrust::device_vector<unsigned> k = keys, v = values, k2(n), v2(n); int blocks = (n + 255) / 256; thrust::device_vector<unsigned> counts(BUCKETS * blocks), offsets(BUCKETS * blocks);
    auto t = std::chrono::high_resolution_clock::now();
    for (int shift = 0; shift < 32; shift += BITS) { histogram<<<blocks, 256>>>(thrust::raw_pointer_cast(k.data()), thrust::raw_pointer_cast(counts.data()), n, shift); thrust::exclusive_scan(counts.begin(), counts.end(), offsets.begin()); scatter<<<blocks, 256>>>(thrust::raw_pointer_cast(k.data()), thrust::raw_pointer_cast(v.data()), thrust::raw_pointer_cast(k2.data()), thrust::raw_pointer_cast(v2.data()), thrust::raw_pointer_cast(offsets.data()), n, shift); k.swap(k2); v.swap(v2); }
    checkCudaErrors(cudaDeviceSynchronize()); std::cout << "own " << std::fixed << std::setprecision(3) << std::chrono::duration<double, std::micro>(std::chrono::high_resolution_clock::now() - t).count() << " us\n"; thrust::host_vector<unsigned> hk = k, hv = v; for (int i = 0; i < n; i++) ok = ok && hk[i] == want[i] && keys[hv[i]] == want[i]; std::cout << ok << "\n";
    k = keys; v = values; void *temp = nullptr; size_t bytes = 0; cub::DoubleBuffer<unsigned> dk(thrust::raw_pointer_cast(k.data()), thrust::raw_pointer_cast(k2.data())), dv(thrust::raw_pointer_cast(v.data()), thrust::raw_pointer_cast(v2.data()));
    checkCudaErrors(cub::DeviceRadixSort::SortPairs(temp, bytes, dk, dv, n)); checkCudaErrors(cudaMalloc(&temp, bytes)); t = std::chrono::high_resolution_clock::now(); checkCudaErrors(cub::DeviceRadixSort::SortPairs(temp, bytes, dk, dv, n)); checkCudaErrors(cudaDeviceSynchronize()); std::cout << "CUB " << std::chrono::duration<double, std::micro>(std::chrono::high_resolution_clock::now() - t).count() << " us\n"; std::vector<unsigned> h(n); checkCudaErrors(cudaMemcpy(h.data(), dk.Current(), n * 4, cudaMemcpyDeviceToHost)); ok = ok && h == want; checkCudaErrors(cudaFree(temp));
    thrust::device_vector<float> x(n), y(n, 1.f); thrust::sequence(x.begin(), x.end()); thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), saxpy_functor{2.f}); double dot = thrust::transform_reduce(thrust::make_zip_iterator(thrust::make_tuple(x.begin(), y.begin())), thrust::make_zip_iterator(thrust::make_tuple(x.end(), y.end())), weigh(), 0.0, thrust::plus<double>()); double expect = 0; for (int i = 0; i < n; i++) expect += (double)i * (float)(2.f * i + 1); ok = ok && fabs(dot - expect) < 1e-9 * expect; std::cout << dot << "\n";
    thrust::device_vector<int> d(n), u(n), c(n); thrust::transform(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n), d.begin(), [] __host__ __device__(int i) { return i / 7; }); auto ends = thrust::reduce_by_key(d.begin(), d.end(), thrust::make_constant_iterator(1), u.begin(), c.begin()); ok = ok && ends.first - u.begin() == (n + 6) / 7 && c[0] == 7; auto last = thrust::unique(d.begin(), d.end()); ok = ok && last - d.begin() == (n + 6) / 7;
    int *in, *out, *num; checkCudaErrors(cudaMalloc(&in, n * 4)); checkCudaErrors(cudaMalloc(&out, n * 4)); checkCudaErrors(cudaMallocManaged(&num, 4)); thrust::sequence(thrust::device, in, in + n); size_t b2 = 0; void *t2 = nullptr; cub::DeviceSelect::If(t2, b2, in, out, num, n, GreaterThan{n / 3}); checkCudaErrors(cudaMalloc(&t2, b2)); cub::DeviceSelect::If(t2, b2, in, out, num, n, GreaterThan{n / 3}); checkCudaErrors(cudaDeviceSynchronize()); ok = ok && *num == n - n / 3 - 1; cudaFree(in); cudaFree(out); cudaFree(num); cudaFree(t2);
    std::cout << (ok ? "PASSED" : "FAILED") << std::endl; return !ok;
}
