// Small kernels that print facts a simulator must reproduce. ./semantics runs parts a..h each in a child process
// (timeout 10); ./semantics X runs part X.
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include "hopper.cuh"

#define CK(x)                                                                        \
  do {                                                                               \
    cudaError_t e_ = (x);                                                            \
    if (e_ != cudaSuccess) {                                                         \
      printf("# ERROR %s line %d: %s\n", #x, __LINE__, cudaGetErrorString(e_));      \
      fflush(stdout);                                                                \
      exit(3);                                                                       \
    }                                                                                \
  } while (0)

// ---------------------------------------------------------------- a: wgmma descriptors
template <int TA, int TB>
__device__ __forceinline__ void wgmma_8(float (&d)[4], uint64_t a, uint64_t b) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 0, 1;\n"
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, p, 1, 1, %6, %7;\n}\n"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b), "n"(TA), "n"(TB));
}
// operand under test: an image of 16 KiB whose element e (f16) is e & 127 (pass lo) or e >> 7 (pass hi).
// which = 0: A is under test and B[n][k] = (k == n + 8*half), so D[m][n] = A[m][n + 8*half];
// which = 1: B is under test and A[m][k] = (k == m), so D[m][n] = B[n][m] for m < 16.
// which = 2: A[m][0] = m, A[m][1] = 1, B[n][0] = 8, B[n][1] = n, so D[m][n] = 8m + n (the fragment's layout).
// The known operand has no swizzle: A at (m/8)*256 + (k/8)*128 + (m%8)*16 + (k%8)*2, B at (k/8)*128 + n*16 + (k%8)*2.
template <int TA, int TB>
__global__ void wg_kernel(float* out, int which, int half, int hi, uint64_t fields, uint32_t start) {
  __shared__ __align__(1024) __half img[8192];
  __shared__ __align__(1024) __half known[1024];
  __shared__ __align__(1024) __half knownb[128];
  const int t = threadIdx.x;
  for (int e = t; e < 8192; e += 128) img[e] = __float2half((float)(hi ? e >> 7 : e & 127));
  for (int e = t; e < 1024; e += 128) {
    const int m = e / 16, k = e % 16;
    const float v = which == 2 ? (k == 0 ? (float)m : k == 1 ? 1.f : 0.f) : (k == m ? 1.f : 0.f);
    known[((m / 8) * 256 + (k / 8) * 128 + (m % 8) * 16) / 2 + k % 8] = __float2half(v);
  }
  {
    const int n = t / 16, k = t % 16;
    const float v = which == 2 ? (k == 0 ? 8.f : k == 1 ? (float)n : 0.f) : (k == n + 8 * half ? 1.f : 0.f);
    knownb[((k / 8) * 128 + n * 16) / 2 + k % 8] = __float2half(v);
  }
  fence_proxy_async();
  __syncthreads();
  const uint64_t plainA = (uint64_t)(smem_u32(known) >> 4) | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32;
  const uint64_t plainB = (uint64_t)(smem_u32(knownb) >> 4) | (uint64_t)(128 >> 4) << 16 | (uint64_t)(128 >> 4) << 32;
  const uint64_t test = (uint64_t)((smem_u32(img) + start) >> 4) | fields;
  float d[4] = {0.f, 0.f, 0.f, 0.f};
  const uint64_t a = which == 0 ? test : plainA, b = which == 1 ? test : plainB;
  fence_regs(d);
  wgmma_fence();
  wgmma_8<TA, TB>(d, a, b);
  wgmma_commit();
  wgmma_wait<0>();
  fence_regs(d);
  for (int i = 0; i < 4; ++i) out[t * 4 + i] = d[i];
}
struct Cfg { const char* name; int swz, lbo, sbo, start, base; };
template <int TA, int TB>
static void wg_run(float* h, float* d, int which, int half, int hi, const Cfg& c) {
  const uint64_t f = (uint64_t)(c.lbo >> 4) << 16 | (uint64_t)(c.sbo >> 4) << 32 | (uint64_t)c.base << 49 | (uint64_t)c.swz << 62;
  wg_kernel<TA, TB><<<1, 128>>>(d, which, half, hi, f, (uint32_t)c.start);
  CK(cudaGetLastError());
  float raw[512];
  CK(cudaMemcpy(raw, d, sizeof raw, cudaMemcpyDeviceToHost));
  for (int t = 0; t < 128; ++t)
    for (int i = 0; i < 4; ++i) {  // the documented fragment (checked by "fragment" below)
      const int m = (t / 32) * 16 + (t % 32) / 4 + (i / 2) * 8, n = (t % 4) * 2 + i % 2;
      h[m * 8 + n] = raw[t * 4 + i];
    }
}
template <int TA, int TB>
static void wg_case(float* d, int which, const Cfg& c, const char* label) {
  const int rows = which == 0 ? 64 : 8;
  std::vector<int> at(rows * 16, -1);  // element read for (row, k)
  float lo[512], hi[512];
  for (int half = 0; half < 2; ++half) {
    wg_run<TA, TB>(lo, d, which, half, 0, c);
    wg_run<TA, TB>(hi, d, which, half, 1, c);
    for (int m = 0; m < 64; ++m)
      for (int n = 0; n < 8; ++n) {
        const int e = (int)lo[m * 8 + n] + 128 * (int)hi[m * 8 + n];
        if (which == 0) at[m * 16 + n + 8 * half] = e;
        else if (m < 16) at[n * 16 + m] = e;
      }
  }
  printf("a %s %s swz=%d lbo=%d sbo=%d start=%d base=%d: byte offset from the image's start\n", label, c.name, c.swz, c.lbo, c.sbo, c.start, c.base);
  const bool trans = which == 0 ? TA : TB;
  if (!trans) {  // K-major: 8 elements along k form a 16-byte piece
    bool whole = true;
    for (int r = 0; r < rows; ++r)
      for (int k = 0; k < 16; ++k) whole &= at[r * 16 + k] == at[r * 16 + (k & 8)] + (k & 7);
    for (int r = 0; r < rows; ++r) printf("%s%d:%d,%d", r % 8 ? " " : r ? "\n  " : "  ", r, at[r * 16] * 2, at[r * 16 + 8] * 2);
    printf("\n  (row:k0,k8; pieces of 8 along k contiguous: %s)\n", whole ? "yes" : "NO");
    if (!whole) { printf("  row 0:"); for (int k = 0; k < 16; ++k) printf(" %d", at[k] * 2); printf("\n"); }
  } else {  // MN-major: 8 elements along m (n) form a piece
    bool whole = true;
    for (int r = 0; r < rows; ++r)
      for (int k = 0; k < 16; ++k) whole &= at[r * 16 + k] == at[(r & ~7) * 16 + k] + (r & 7);
    for (int k = 0; k < 16; ++k) {
      printf("  k%d:", k);
      for (int r = 0; r < rows; r += 8) printf(" %d", at[r * 16 + k] * 2);
      printf("\n");
    }
    printf("  (for each k rows 0,8,...; pieces of 8 along the rows contiguous: %s)\n", whole ? "yes" : "NO");
  }
}
static void part_a() {
  float* d;
  CK(cudaMalloc(&d, 2048));
  float h[512];
  const Cfg zero = {"", 0, 0, 0, 0, 0};
  wg_run<0, 0>(h, d, 2, 0, 0, zero);
  int bad = 0;
  for (int i = 0; i < 512; ++i) bad += h[i] != (float)i;
  printf("a fragment: D[m][n] = 8m+n with the documented layout: %d of 512 differ (first: %g %g %g %g)\n", bad, h[0], h[1], h[8], h[64]);
  const Cfg k[] = {{"none", 0, 128, 256, 0, 0},      {"none", 0, 1024, 128, 0, 0},   {"32B", 3, 16, 256, 0, 0},       {"32B", 3, 16, 512, 0, 0},
                   {"64B", 2, 16, 512, 0, 0},        {"64B", 2, 16, 512, 32, 0},     {"128B", 1, 16, 1024, 0, 0},     {"128B", 1, 16, 1024, 32, 0},
                   {"128B", 1, 16, 1024, 96, 0},     {"128B", 1, 256, 1024, 0, 0},   {"128B", 1, 16, 2048, 0, 0},     {"128B", 1, 16, 1024, 112, 0},
                   {"128B", 1, 16, 1024, 256, 0},    {"128B", 1, 16, 1024, 256, 2}, {"128B", 1, 16, 1024, 0, 1}};
  for (auto& c : k) wg_case<0, 0>(d, 0, c, "A K-major");
  const Cfg kb[] = {{"none", 0, 128, 256, 0, 0}, {"32B", 3, 16, 256, 0, 0}, {"64B", 2, 16, 512, 0, 0}, {"128B", 1, 16, 1024, 0, 0}, {"128B", 1, 16, 1024, 64, 0}};
  for (auto& c : kb) wg_case<0, 0>(d, 1, c, "B K-major");
  const Cfg t[] = {{"none", 0, 128, 1024, 0, 0}, {"none", 0, 1024, 128, 0, 0}, {"32B", 3, 512, 256, 0, 0}, {"32B", 3, 256, 1024, 0, 0},
                   {"64B", 2, 1024, 512, 0, 0},  {"64B", 2, 512, 2048, 0, 0},  {"128B", 1, 4096, 1024, 0, 0}, {"128B", 1, 1024, 2048, 0, 0}};
  for (auto& c : t) wg_case<1, 0>(d, 0, c, "A MN-major");
  const Cfg tb[] = {{"none", 0, 128, 1024, 0, 0}, {"none", 0, 1024, 128, 0, 0}, {"32B", 3, 512, 256, 0, 0}, {"64B", 2, 1024, 512, 0, 0}, {"128B", 1, 4096, 1024, 0, 0}};
  for (auto& c : tb) wg_case<0, 1>(d, 1, c, "B MN-major");
}

// ---------------------------------------------------------------- b: TMA
__global__ void tma_kernel(const __grid_constant__ CUtensorMap map, uint16_t* out, int c0, int c1, uint32_t bytes, uint32_t offset) {
  __shared__ __align__(1024) uint16_t buf[8192];
  __shared__ __align__(8) uint64_t bar;
  const int t = threadIdx.x;
  for (int i = t; i < 8192; i += 32) buf[i] = 0xdead;
  if (t == 0) { mbar_init(smem_u32(&bar), 1); mbar_fence_init(); }
  fence_proxy_async();
  __syncwarp();
  if (t == 0) {
    mbar_expect_tx(smem_u32(&bar), bytes);
    tma_load_2d(smem_u32(buf) + offset, &map, smem_u32(&bar), c0, c1);
  }
  mbar_wait(smem_u32(&bar), 0);
  for (int i = t; i < 8192; i += 32) out[i] = buf[i];
}
typedef CUresult (*encode_fn)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                              const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static void part_b() {
  void* fn = nullptr;
  cudaDriverEntryPointQueryResult q;
  CK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &fn, 12000, cudaEnableDefault, &q));
  encode_fn encode = (encode_fn)fn;
  uint16_t *g, *o;
  std::vector<uint16_t> in(64 * 256), out(8192);
  for (size_t i = 0; i < in.size(); ++i) in[i] = (uint16_t)(i + 1);  // element (row, col) holds row * 256 + col + 1
  CK(cudaMalloc(&g, in.size() * 2));
  CK(cudaMalloc(&o, out.size() * 2));
  CK(cudaMemcpy(g, in.data(), in.size() * 2, cudaMemcpyHostToDevice));
  struct { const char* name; CUtensorMapSwizzle s; int bc, br, c0, c1, off, w, h, nan; } cs[] = {
      {"none", CU_TENSOR_MAP_SWIZZLE_NONE, 64, 8, 0, 0, 0, 256, 64, 0},     {"32B", CU_TENSOR_MAP_SWIZZLE_32B, 16, 16, 0, 0, 0, 256, 64, 0},
      {"64B", CU_TENSOR_MAP_SWIZZLE_64B, 32, 16, 0, 0, 0, 256, 64, 0},      {"128B", CU_TENSOR_MAP_SWIZZLE_128B, 64, 16, 0, 0, 0, 256, 64, 0},
      {"128B", CU_TENSOR_MAP_SWIZZLE_128B, 64, 9, 64, 3, 0, 256, 64, 0},    {"128B", CU_TENSOR_MAP_SWIZZLE_128B, 64, 8, 0, 0, 256, 256, 64, 0},
      {"128B", CU_TENSOR_MAP_SWIZZLE_128B, 32, 8, 0, 0, 0, 256, 64, 0},     {"32B", CU_TENSOR_MAP_SWIZZLE_32B, 8, 8, 0, 0, 0, 256, 64, 0},
      {"none", CU_TENSOR_MAP_SWIZZLE_NONE, 16, 4, -8, -2, 0, 256, 64, 0},   {"none", CU_TENSOR_MAP_SWIZZLE_NONE, 16, 4, 48, 10, 0, 59, 12, 0},
      {"128B", CU_TENSOR_MAP_SWIZZLE_128B, 64, 8, 16, 6, 0, 59, 12, 0},     {"none", CU_TENSOR_MAP_SWIZZLE_NONE, 16, 4, 48, 10, 0, 59, 12, 1},
      {"none", CU_TENSOR_MAP_SWIZZLE_NONE, 16, 2, 3, 1, 0, 256, 64, 0}};
  for (auto& c : cs) {
    CUtensorMap m;
    cuuint64_t dims[2] = {(cuuint64_t)c.w, (cuuint64_t)c.h}, str[1] = {512};
    cuuint32_t box[2] = {(cuuint32_t)c.bc, (cuuint32_t)c.br}, es[2] = {1, 1};
    CUresult r = encode(&m, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, g, dims, str, box, es, CU_TENSOR_MAP_INTERLEAVE_NONE, c.s, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                        c.nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    printf("b %s tensor %dx%d (cols x rows) box %dx%d at (%d,%d) smem+%d nanfill=%d encode=%d\n", c.name, c.w, c.h, c.bc, c.br, c.c0, c.c1, c.off, c.nan, (int)r);
    if (r != CUDA_SUCCESS) continue;
    tma_kernel<<<1, 32>>>(m, o, c.c0, c.c1, c.bc * c.br * 2, c.off);
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(out.data(), o, out.size() * 2, cudaMemcpyDeviceToHost));
    int last = -1;
    for (int i = 0; i < 1024; ++i)
      for (int j = 0; j < 8; ++j) if (out[i * 8 + j] != 0xdead) last = i;
    for (int i = 0; i <= last; ++i) {
      const uint16_t* p = &out[i * 8];
      bool run = p[0] != 0 && p[0] < 0x4001;
      for (int j = 1; j < 8; ++j) run &= p[j] == p[0] + j;
      printf("%s", i % 8 ? " " : "  ");
      if (run) printf("r%dc%d", (p[0] - 1) / 256, (p[0] - 1) % 256);
      else if (p[0] == 0xdead) printf("----");
      else {
        bool same = true;
        for (int j = 1; j < 8; ++j) same &= p[j] == p[0];
        if (same) printf("all:%04x", p[0]);
        else { printf("["); for (int j = 0; j < 8; ++j) printf("%s%04x", j ? "," : "", p[j]); printf("]"); }
      }
      if (i % 8 == 7 || i == last) printf("\n");
    }
  }
}

// ---------------------------------------------------------------- c: mbarrier words
__global__ void mbar_kernel() {
  __shared__ __align__(8) uint64_t word;
  volatile uint64_t* v = &word;
  const uint32_t a = smem_u32(&word);
  unsigned long long st;
#define SHOW(what) printf("c   %-34s word=%016llx try(0)=%d try(1)=%d\n", what, (unsigned long long)*v, (int)mbar_try_wait(a, 0), (int)mbar_try_wait(a, 1))
#define ARRIVE(what) do { asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(st) : "r"(a) : "memory"); \
    printf("c   %-34s returns=%016llx\n", what, st); SHOW(""); } while (0)
  for (int c = 1; c <= 5; ++c) {
    *v = 0xffffffffffffffffull;
    mbar_init(a, c);
    printf("c init(%d)\n", c);
    SHOW("init");
    for (int i = 0; i < 2 * c + 1; ++i) ARRIVE("arrive");
  }
  mbar_init(a, 1048575);
  SHOW("init(1048575)");
  mbar_init(a, 2);
  printf("c init(2), transactions\n");
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 1024;" ::"r"(a) : "memory");
  SHOW("expect_tx 1024");
  ARRIVE("arrive");
  ARRIVE("arrive");
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 512;" ::"r"(a) : "memory");
  SHOW("complete_tx 512");
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 512;" ::"r"(a) : "memory");
  SHOW("complete_tx 512");
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(a) : "memory");
  SHOW("complete_tx 16 (early)");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], 16;" : "=l"(st) : "r"(a) : "memory");
  SHOW("arrive.expect_tx 16");
  asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];" : "=l"(st) : "r"(a) : "memory");
  SHOW("arrive_drop");
  ARRIVE("arrive");
  mbar_init(a, 4);
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], 3;" : "=l"(st) : "r"(a) : "memory");
  SHOW("init(4), arrive 3");
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(a) : "memory");
  printf("c   inval word=%016llx\n", (unsigned long long)*v);
}

// ---------------------------------------------------------------- d: elect.sync
__global__ void elect_kernel(uint32_t mask, uint32_t* out) {
  const uint32_t lane = threadIdx.x;
  if (mask >> lane & 1) {
    uint32_t l, p;
    asm volatile("{\n.reg .pred p;\nelect.sync %0|p, %2;\nselp.u32 %1, 1, 0, p;\n}\n" : "=r"(l), "=r"(p) : "r"(mask));
    out[lane] = l << 1 | p;
  }
}

// ---------------------------------------------------------------- e, f: clusters
struct CInfo { uint32_t bx, by, id[3], nid[3], cta[3], ncta[3], rank, nrank, smid, own, clus, map[4], back[4]; unsigned long long gen, gmap1; };
#define SREG(dst, name) asm volatile("mov.u32 %0, %%" name ";" : "=r"(dst))
__global__ void __cluster_dims__(2, 2, 1) cluster_kernel(CInfo* out) {
  __shared__ uint32_t x[4];
  extern __shared__ uint32_t dyn[];
  CInfo c;
  x[0] = threadIdx.x;
  c.bx = blockIdx.x; c.by = blockIdx.y;
  SREG(c.id[0], "clusterid.x"); SREG(c.id[1], "clusterid.y"); SREG(c.id[2], "clusterid.z");
  SREG(c.nid[0], "nclusterid.x"); SREG(c.nid[1], "nclusterid.y"); SREG(c.nid[2], "nclusterid.z");
  SREG(c.cta[0], "cluster_ctaid.x"); SREG(c.cta[1], "cluster_ctaid.y"); SREG(c.cta[2], "cluster_ctaid.z");
  SREG(c.ncta[0], "cluster_nctaid.x"); SREG(c.ncta[1], "cluster_nctaid.y"); SREG(c.ncta[2], "cluster_nctaid.z");
  SREG(c.rank, "cluster_ctarank"); SREG(c.nrank, "cluster_nctarank"); SREG(c.smid, "smid");
  c.own = smem_u32(&x[1]);
  c.clus = c.own;
  for (int r = 0; r < 4; ++r) {
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(c.map[r]) : "r"(c.own), "r"(r));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(c.back[r]) : "r"(c.map[r]));
  }
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(c.clus) : "r"(c.own));
  c.gen = (unsigned long long)&x[1];
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(c.gmap1) : "l"(c.gen), "r"(1));
  cluster_sync();
  out[blockIdx.y * gridDim.x + blockIdx.x] = c;
  cluster_sync();
  dyn[0] = x[0];
}

// ---------------------------------------------------------------- g: stmatrix
template <int T>
__global__ void stm_kernel(uint16_t* out) {
  __shared__ __align__(128) uint16_t s[256];
  const uint32_t lane = threadIdx.x, addr = smem_u32(s) + lane * 16;
  uint32_t r[4];
  for (uint32_t i = 0; i < 4; ++i) r[i] = (i * 64 + lane * 2) | (i * 64 + lane * 2 + 1) << 16;
  if (T) asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(addr), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
  else asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(addr), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
  __syncwarp();
  for (int i = 0; i < 8; ++i) out[lane * 8 + i] = s[lane * 8 + i];
}

// ---------------------------------------------------------------- h: shared memory sizes
template <int STATIC>
__global__ void size_kernel(uint32_t* out) {
  __shared__ uint8_t st[STATIC ? STATIC : 1];
  extern __shared__ __align__(16) uint8_t dyn2[];
  if (STATIC) st[threadIdx.x] = 1;
  if (threadIdx.x == 0) {
    SREG(out[0], "total_smem_size"); SREG(out[1], "dynamic_smem_size"); SREG(out[2], "aggr_smem_size");
    SREG(out[3], "reserved_smem_offset_begin"); SREG(out[4], "reserved_smem_offset_end"); SREG(out[5], "reserved_smem_offset_cap");
    out[6] = smem_u32(dyn2);
    out[7] = STATIC ? smem_u32(st) : 0xffffffffu;
  }
}

int main(int argc, char** argv) {
  if (argc < 2) {
    for (char c = 'a'; c <= 'h'; ++c) {
      if (c == 'f') continue;  // with e
      const int rc = system((std::string("timeout -k 2 10 '") + argv[0] + "' " + c).c_str());
      if (rc) { printf("# part %c ended with status %d\n", c, rc); fflush(stdout); }
    }
    return 0;
  }
  uint32_t* d;
  CK(cudaMalloc(&d, 65536));
  CK(cudaMemset(d, 0xff, 65536));
  switch (argv[1][0]) {
    case 'a': part_a(); break;
    case 'b': part_b(); break;
    case 'c': mbar_kernel<<<1, 1>>>(); CK(cudaGetLastError()); CK(cudaDeviceSynchronize()); break;
    case 'd':
      for (uint32_t m : {0xffffffffu, 0xfffffffeu, 0x80000000u, 0x0000fff0u, 0xaaaaaaaau, 0x00010001u}) {
        uint32_t h[32];
        CK(cudaMemset(d, 0xff, 128));
        elect_kernel<<<1, 32>>>(m, d);
        CK(cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost));
        printf("d mask %08x:", m);
        for (int i = 0; i < 32; ++i) if (h[i] != 0xffffffffu) printf(" %d:leader=%u,p=%u", i, h[i] >> 1, h[i] & 1);
        printf("\n");
      }
      break;
    case 'e': {
      CInfo h[16];
      cluster_kernel<<<dim3(8, 2), 1, 16>>>((CInfo*)d);
      CK(cudaGetLastError());
      CK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
      for (auto& c : h) {
        printf("e block(%u,%u) clusterid(%u,%u,%u) nclusterid(%u,%u,%u) cluster_ctaid(%u,%u,%u) cluster_nctaid(%u,%u,%u) ctarank %u nctarank %u smid %u\n", c.bx, c.by,
               c.id[0], c.id[1], c.id[2], c.nid[0], c.nid[1], c.nid[2], c.cta[0], c.cta[1], c.cta[2], c.ncta[0], c.ncta[1], c.ncta[2], c.rank, c.nrank, c.smid);
        printf("f   own %08x getctarank(own) %u; mapa r0..3 minus own:", c.own, c.clus);
        for (int r = 0; r < 4; ++r) printf(" %08x", c.map[r] - c.own);
        printf(" getctarank of those: %u %u %u %u; generic own %llx, mapa.u64 r1 %llx\n", c.back[0], c.back[1], c.back[2], c.back[3], c.gen, c.gmap1);
      }
      break;
    }
    case 'g':
      for (int t = 0; t < 2; ++t) {
        uint16_t h[256];
        if (t) stm_kernel<1><<<1, 32>>>((uint16_t*)d); else stm_kernel<0><<<1, 32>>>((uint16_t*)d);
        CK(cudaMemcpy(h, d, 512, cudaMemcpyDeviceToHost));
        printf("g stmatrix.x4%s: lane's row address = lane*16; each entry reg.lane.half\n", t ? ".trans" : "");
        for (int r = 0; r < 32; ++r) {
          printf("  %2d:", r);
          for (int j = 0; j < 8; ++j) printf(" %d.%d.%d", h[r * 8 + j] >> 6, (h[r * 8 + j] >> 1) & 31, h[r * 8 + j] & 1);
          printf("\n");
        }
      }
      break;
    case 'h': {
      CK(cudaFuncSetAttribute(size_kernel<0>, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
      for (int s = 0; s < 2; ++s)
        for (int dyn : {0, 4, 1000, 1024, 5000, 40000, 100000, 232448}) {
          if (s && dyn > 40000) continue;
          uint32_t h[8];
          if (s) size_kernel<200><<<1, 32, dyn>>>(d); else size_kernel<0><<<1, 32, dyn>>>(d);
          CK(cudaGetLastError());
          CK(cudaMemcpy(h, d, 32, cudaMemcpyDeviceToHost));
          printf("h static %d dynamic %d: total %u dynamic %u aggr %u reserved %u..%u cap %u, first dynamic byte at %u, static at %d\n", s ? 200 : 0, dyn, h[0], h[1], h[2], h[3],
                 h[4], h[5], h[6], (int)h[7]);
        }
      break;
    }
  }
  CK(cudaDeviceSynchronize());
  return 0;
}
