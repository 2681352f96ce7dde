// k-nearest by thrust sort_by_key, cub segmented reduce, thrust transform_iterators, reduce_by_key, unique.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <algorithm>
#include <numeric>
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/sort.h>
#include <thrust/sequence.h>
#include <thrust/transform_reduce.h>
#include <thrust/reduce.h>
#include <thrust/unique.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

struct Square { __host__ __device__ float operator()(float v) const { return v * v; } };
struct Key { int n; __host__ __device__ int operator()(int i) const { return i / n; } };

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 4096, repeat = argc > 2 ? atoi(argv[2]) : 2;
  thrust::host_vector<float> h(n);
  srand(7);
  for (auto &v : h) v = (rand() % 1000) / 10.f;
  thrust::device_vector<float> keys(n), data = h;
  thrust::device_vector<int> index(n);
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeat; i++) {
    keys = data;
    thrust::sequence(index.begin(), index.end());
    thrust::stable_sort_by_key(keys.begin(), keys.end(), index.begin());
  }
  cudaDeviceSynchronize();
  double t = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / repeat;
  printf("sort: %.1f us, %.2f Mkeys/s\n", t * 1e6, n / t * 1e-6);
  std::vector<int> ref(n);
  std::iota(ref.begin(), ref.end(), 0);
  std::stable_sort(ref.begin(), ref.end(), [&](int a, int b) { return h[a] < h[b]; });
  thrust::host_vector<int> got = index;
  bool ok = std::equal(ref.begin(), ref.end(), got.begin());
  double norm = thrust::transform_reduce(data.begin(), data.end(), Square(), 0.f, thrust::plus<float>()), want = 0;
  for (float v : h) want += v * v;
  ok &= std::abs(norm - want) < 1e-4 * want;
  int segments = n / 64;
  thrust::device_vector<float> sums(segments);
  thrust::device_vector<int> unused(segments);
  auto k = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), Key{64});
  thrust::reduce_by_key(k, k + n, data.begin(), unused.begin(), sums.begin());
  thrust::device_vector<float> out(segments);
  std::vector<int> off(segments + 1);
  for (int i = 0; i <= segments; i++) off[i] = 64 * i;
  thrust::device_vector<int> offsets(off.begin(), off.end());
  size_t bytes = 0;
  cub::DeviceSegmentedReduce::Sum(nullptr, bytes, data.data().get(), out.data().get(), segments, offsets.data().get(), offsets.data().get() + 1);
  thrust::device_vector<char> temp(bytes);
  cub::DeviceSegmentedReduce::Sum(temp.data().get(), bytes, data.data().get(), out.data().get(), segments, offsets.data().get(), offsets.data().get() + 1);
  thrust::host_vector<float> a = sums, b = out;
  for (int i = 0; i < segments; i++) ok &= std::abs(a[i] - b[i]) < 1e-3 * b[i];
  int distinct = thrust::unique(keys.begin(), keys.end()) - keys.begin();
  std::vector<float> s(h.begin(), h.end());
  std::sort(s.begin(), s.end());
  ok &= distinct == std::unique(s.begin(), s.end()) - s.begin();
  printf("%s\n", ok ? "PASS" : "FAIL");
  return ok ? 0 : 1;
}
