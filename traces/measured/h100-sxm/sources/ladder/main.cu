// The ladder's host side.
//   ./main                     every kernel at 512 2048 4096 8192, each in a child process (timeout 20)
//   ./main K n [n...]          kernel K (1..6) at those sizes (M = N = K = n, multiples of 256)
//   ./main inputs n            prints the first values of A and B and the hash of the exact result at n (n <= 2048)
// Output: kernel,n,median_us,tflops,max_abs_error,ok,hash,clock_mhz,clock_before_mhz,min_us,inexact
//   ok: every checked element within 0.004*|ref| + 0.001 of the f32 reference (bf16 rounding: 2^-8 relative at most);
//   checked are all elements at n <= 2048, 64 rows evenly spread above; inexact: how many of them differ from bf16_rn(ref)
//   (0 is expected: every product is a multiple of 2^-12 and the sums stay below 2^12, so f32 sums are exact in any order);
//   expected (expected.py): n = 512 137a03fbb0e112db, n = 2048 18ae9ca3defae896
//   hash: FNV-1a 64 over the whole output's bytes, so equal at one n for all kernels when all are exact.
// Input element i (i = row * n + k, uint32, 0-based; A and B[n][k] both row-major; seed 1 for A, 2 for B), all uint32:
//   h = i * 2654435761 + seed * 0x9E3779B9; h ^= h>>16; h *= 0x85ebca6b; h ^= h>>13; h *= 0xc2b2ae35; h ^= h>>16;
//   value = (((h >> 8) & 0xff) - 128) / 64                 (exact in bf16);  C[m][n] = sum_k A[m][k] * B[n][k]
#include <cuda_runtime.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include "k1_mma_sync.cu"
#include "k2_tma_wgmma.cu"
#include "k3_pipeline.cu"
#include "k4_two_consumers.cu"
#include "k5_cluster.cu"
#include "k6_persistent.cu"

#define CK(x)                                                                                     \
  do {                                                                                            \
    cudaError_t e_ = (x);                                                                         \
    if (e_ != cudaSuccess) {                                                                      \
      printf("# ERROR %s at line %d: %s\n", #x, __LINE__, cudaGetErrorString(e_));                \
      fflush(stdout);                                                                             \
      _exit(3);                                                                                   \
    }                                                                                             \
  } while (0)

__global__ void fill(__nv_bfloat16* p, uint32_t count, uint32_t seed) {
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    uint32_t h = i * 2654435761u + seed * 0x9E3779B9u;
    h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u; h ^= h >> 16;
    p[i] = __float2bfloat16_rn((float)((int)((h >> 8) & 0xff) - 128) / 64.0f);
  }
}
// row i*stride of the product into R[i][:], f32
__global__ void naive(const __nv_bfloat16* A, const __nv_bfloat16* B, float* R, int n, int stride) {
  const int col = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  const size_t row = (size_t)i * stride;
  float s = 0.f;
  for (int k = 0; k < n; ++k) s = fmaf(__bfloat162float(A[row * n + k]), __bfloat162float(B[(size_t)col * n + k]), s);
  R[(size_t)i * n + col] = s;
}
__global__ void spin(long long* out, long long cycles) {
  unsigned long long g0, g1;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g0)::"memory");
  const long long c0 = clock64();
  long long c1;
  do c1 = clock64(); while (c1 - c0 < cycles);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g1)::"memory");
  out[0] = c1 - c0;
  out[1] = (long long)(g1 - g0);
}

typedef CUresult (*encode_fn)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                              const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static encode_fn encode;

static CUtensorMap make_map(void* p, int rows, int cols, int box_cols, int box_rows) {
  CUtensorMap m;
  cuuint64_t dims[2] = {(cuuint64_t)cols, (cuuint64_t)rows}, strides[1] = {(cuuint64_t)cols * 2};
  cuuint32_t box[2] = {(cuuint32_t)box_cols, (cuuint32_t)box_rows}, es[2] = {1, 1};
  CUresult r = encode(&m, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, p, dims, strides, box, es, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r != CUDA_SUCCESS) { printf("# ERROR cuTensorMapEncodeTiled %d\n", (int)r); fflush(stdout); _exit(4); }
  return m;
}
static uint64_t fnv1a(const void* p, size_t n) {
  const uint8_t* b = (const uint8_t*)p;
  uint64_t h = 14695981039346656037ull;
  for (size_t i = 0; i < n; ++i) h = (h ^ b[i]) * 1099511628211ull;
  return h;
}
static uint16_t bf16_rn(float f) {
  uint32_t u; memcpy(&u, &f, 4);
  return (uint16_t)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}
static float bf16_f(uint16_t b) { uint32_t u = (uint32_t)b << 16; float f; memcpy(&f, &u, 4); return f; }

struct Problem { __nv_bfloat16 *A, *B, *C; int n; CUtensorMap a128, b128, b256, c64; };

static void launch(int k, const Problem& p) {
  const int n = p.n;
  switch (k) {
    case 1: k1_mma_sync<<<dim3(n / 128, n / 128), 256>>>(p.A, p.B, p.C, n, n, n); break;
    case 2: k2_tma_wgmma<<<dim3(n / 128, n / 128), 256, k2_smem>>>(p.a128, p.b128, p.C, n, n, n); break;
    case 3: k3_pipeline<<<dim3(n / 128, n / 128), 160, k3_smem>>>(p.a128, p.b128, p.C, n, n, n); break;
    case 4: k4_two_consumers<<<dim3(n / 256, n / 128), 384, k4_smem>>>(p.a128, p.b256, p.C, n, n, n); break;
    case 5: k5_cluster<<<dim3(n / 128, n / 256), 384, k5_smem>>>(p.a128, p.b128, p.C, n, n, n); break;
    case 6: k6_persistent<<<132, 384, k6_smem>>>(p.a128, p.b128, p.c64, n, n, n); break;
  }
  CK(cudaGetLastError());
}
static void prepare(int k) {
  const cudaFuncAttribute a = cudaFuncAttributeMaxDynamicSharedMemorySize;
  if (k == 2) CK(cudaFuncSetAttribute(k2_tma_wgmma, a, k2_smem));
  if (k == 3) CK(cudaFuncSetAttribute(k3_pipeline, a, k3_smem));
  if (k == 4) CK(cudaFuncSetAttribute(k4_two_consumers, a, k4_smem));
  if (k == 5) CK(cudaFuncSetAttribute(k5_cluster, a, k5_smem));
  if (k == 6) CK(cudaFuncSetAttribute(k6_persistent, a, k6_smem));
}

static void setup(Problem& p, int n) {
  const size_t bytes = (size_t)n * n * 2;
  p.n = n;
  CK(cudaMalloc(&p.A, bytes));
  CK(cudaMalloc(&p.B, bytes));
  CK(cudaMalloc(&p.C, bytes));
  fill<<<1024, 256>>>(p.A, (uint32_t)n * n, 1);
  fill<<<1024, 256>>>(p.B, (uint32_t)n * n, 2);
  CK(cudaDeviceSynchronize());
  p.a128 = make_map(p.A, n, n, 64, 128);
  p.b128 = make_map(p.B, n, n, 64, 128);
  p.b256 = make_map(p.B, n, n, 64, 256);
  p.c64 = make_map(p.C, n, n, 64, 64);
}
static double mhz(long long* d, bool sync_first) {
  long long h[2];
  if (sync_first) CK(cudaDeviceSynchronize());
  spin<<<1, 1>>>(d, 500000);
  CK(cudaMemcpy(h, d, 16, cudaMemcpyDeviceToHost));
  return h[1] > 0 ? (double)h[0] * 1e3 / (double)h[1] : 0;
}

static void run(int k, int n) {
  Problem p;
  setup(p, n);
  const size_t bytes = (size_t)n * n * 2;
  long long* d;
  CK(cudaMalloc(&d, 16));
  const int rows = n <= 2048 ? n : 64, stride = n / rows;
  float* R;
  CK(cudaMalloc(&R, (size_t)rows * n * 4));
  naive<<<dim3(n / 16, rows / 16), dim3(16, 16)>>>(p.A, p.B, R, n, stride);
  CK(cudaGetLastError());
  std::vector<float> ref((size_t)rows * n);
  CK(cudaMemcpy(ref.data(), R, ref.size() * 4, cudaMemcpyDeviceToHost));

  prepare(k);
  CK(cudaMemset(p.C, 0xff, bytes));
  CK(cudaDeviceSynchronize());
  if (n >= 8192) usleep(300000);
  const double before = mhz(d, true);
  launch(k, p);
  CK(cudaDeviceSynchronize());  // a hang or a trap shows here
  launch(k, p);
  launch(k, p);
  CK(cudaMemset(p.C, 0xff, bytes));
  const int reps = 10;
  cudaEvent_t e0[reps], e1[reps];
  for (int i = 0; i < reps; ++i) { CK(cudaEventCreate(&e0[i])); CK(cudaEventCreate(&e1[i])); }
  for (int i = 0; i < reps; ++i) {
    CK(cudaEventRecord(e0[i]));
    launch(k, p);
    CK(cudaEventRecord(e1[i]));
  }
  const double after = mhz(d, false);  // queued right behind the timed runs
  CK(cudaDeviceSynchronize());
  std::vector<float> us(reps);
  for (int i = 0; i < reps; ++i) { CK(cudaEventElapsedTime(&us[i], e0[i], e1[i])); us[i] *= 1e3f; }
  std::sort(us.begin(), us.end());
  const double med = (us[reps / 2 - 1] + us[reps / 2]) / 2;

  std::vector<uint16_t> out((size_t)n * n);
  CK(cudaMemcpy(out.data(), p.C, bytes, cudaMemcpyDeviceToHost));
  double worst = 0;
  size_t bad = 0, inexact = 0;
  int shown = 0;
  for (int i = 0; i < rows; ++i)
    for (int c = 0; c < n; ++c) {
      const float r = ref[(size_t)i * n + c];
      const uint16_t got = out[(size_t)i * stride * n + c];
      const float g = bf16_f(got);
      const double err = std::fabs((double)g - r);
      inexact += got != bf16_rn(r) && !(g == 0 && r == 0);
      if (!(err <= 0.004 * std::fabs(r) + 0.001)) {
        ++bad;
        if (shown++ < 4) printf("# wrong: kernel %d n %d row %d col %d: got %g (0x%04x), expected %g\n", k, n, i * stride, c, g, got, r);
      }
      if (!(err <= worst)) worst = err;  // a NaN stays out of later comparisons but shows
    }
  if (bad) printf("# wrong: kernel %d n %d: %zu of %zu checked elements\n", k, n, bad, (size_t)rows * n);
  printf("%d,%d,%.2f,%.1f,%.6g,%d,%016llx,%.0f,%.0f,%.2f,%zu\n", k, n, med, 2.0 * n * n * (double)n / med * 1e-6, worst, bad == 0,
         (unsigned long long)fnv1a(out.data(), bytes), after, before, us[0], inexact);
  fflush(stdout);
  for (int i = 0; i < reps; ++i) { cudaEventDestroy(e0[i]); cudaEventDestroy(e1[i]); }
  cudaFree(p.A); cudaFree(p.B); cudaFree(p.C); cudaFree(R); cudaFree(d);
}

static void inputs(int n) {
  Problem p;
  setup(p, n);
  std::vector<uint16_t> a(8), b(8), o((size_t)n * n);
  CK(cudaMemcpy(a.data(), p.A, 16, cudaMemcpyDeviceToHost));
  CK(cudaMemcpy(b.data(), p.B, 16, cudaMemcpyDeviceToHost));
  float* R;
  CK(cudaMalloc(&R, (size_t)n * n * 4));
  naive<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(p.A, p.B, R, n, 1);
  std::vector<float> ref((size_t)n * n);
  CK(cudaMemcpy(ref.data(), R, ref.size() * 4, cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < ref.size(); ++i) o[i] = bf16_rn(ref[i]);
  printf("# A:");
  for (int i = 0; i < 8; ++i) printf(" %g", bf16_f(a[i]));
  printf("\n# B:");
  for (int i = 0; i < 8; ++i) printf(" %g", bf16_f(b[i]));
  printf("\n0,%d,,,,,%016llx,,,,\n", n, (unsigned long long)fnv1a(o.data(), o.size() * 2));
  fflush(stdout);
}

int main(int argc, char** argv) {
  if (argc < 3) {
    printf("kernel,n,median_us,tflops,max_abs_error,ok,hash,clock_mhz,clock_before_mhz,min_us,inexact\n");
    fflush(stdout);
    std::vector<std::string> jobs = {"inputs 512", "inputs 2048"};
    for (int k = 1; k <= 6; ++k)
      if (argc < 2 || atoi(argv[1]) == k) jobs.push_back(std::to_string(k) + " 512 2048 4096 8192");
    for (auto& j : jobs) {
      const std::string cmd = std::string("timeout -k 2 20 '") + argv[0] + "' " + j;
      const int rc = system(cmd.c_str());
      if (rc) { printf("# job '%s' ended with status %d (31744 = timed out)\n", j.c_str(), rc); fflush(stdout); }
    }
    return 0;
  }
  CK(cudaSetDevice(0));
  CK(cudaFree(0));
  void* fn = nullptr;
  cudaDriverEntryPointQueryResult q;
  CK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &fn, 12000, cudaEnableDefault, &q));
  if (q != cudaDriverEntryPointSuccess || !fn) { printf("# ERROR no cuTensorMapEncodeTiled (%d)\n", (int)q); return 5; }
  encode = (encode_fn)fn;
  if (!strcmp(argv[1], "inputs")) { inputs(atoi(argv[2])); return 0; }
  const int k = atoi(argv[1]);
  for (int i = 2; i < argc; ++i) {
    const int n = atoi(argv[i]);
    if (k < 1 || k > 6 || n < 256 || n % 256) { printf("# bad arguments\n"); return 2; }
    run(k, n);
  }
  return 0;
}
