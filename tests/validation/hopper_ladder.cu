// The six products of the ladder, one launch of kernel K (1 to 6) on matrices of n by n: hopper_ladder K n [rows]
// rows: of the grid, the first ones, or of the last kernel's tiles; all if left out. The others' results are not computed.
#include <cuda_runtime.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include "../../traces/measured/h100-sxm/sources/ladder/k1_mma_sync.cu"
#include "../../traces/measured/h100-sxm/sources/ladder/k2_tma_wgmma.cu"
#include "../../traces/measured/h100-sxm/sources/ladder/k3_pipeline.cu"
#include "../../traces/measured/h100-sxm/sources/ladder/k4_two_consumers.cu"
#include "../../traces/measured/h100-sxm/sources/ladder/k5_cluster.cu"
#include "../../traces/measured/h100-sxm/sources/ladder/k6_persistent.cu"

#define CK(x)                                                                                     \
  do {                                                                                            \
    cudaError_t e_ = (x);                                                                         \
    if (e_ != cudaSuccess) {                                                                      \
      printf("# ERROR %s at line %d: %s\n", #x, __LINE__, cudaGetErrorString(e_));                \
      fflush(stdout);                                                                             \
      _exit(3);                                                                                   \
    }                                                                                             \
  } while (0)

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
struct Problem { __nv_bfloat16 *A, *B, *C; int n; CUtensorMap a128, b128, b256, c64; };

static void launch(int k, const Problem& p, int rows) {
  const int n = p.n;
  auto down = [rows](int all) { return rows ? rows : all; };
  switch (k) {
    case 1: k1_mma_sync<<<dim3(n / 128, down(n / 128)), 256>>>(p.A, p.B, p.C, n, n, n); break;
    case 2: k2_tma_wgmma<<<dim3(n / 128, down(n / 128)), 256, k2_smem>>>(p.a128, p.b128, p.C, n, n, n); break;
    case 3: k3_pipeline<<<dim3(n / 128, down(n / 128)), 160, k3_smem>>>(p.a128, p.b128, p.C, n, n, n); break;
    case 4: k4_two_consumers<<<dim3(n / 256, down(n / 128)), 384, k4_smem>>>(p.a128, p.b256, p.C, n, n, n); break;
    case 5: k5_cluster<<<dim3(n / 128, down(n / 256)), 384, k5_smem>>>(p.a128, p.b128, p.C, n, n, n); break;
    case 6: k6_persistent<<<132, 384, k6_smem>>>(p.a128, p.b128, p.c64, 256 * down(n / 256), n, n); break;
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

int main(int argc, char** argv) {
  CK(cudaSetDevice(0)); CK(cudaFree(0));
  void* fn = nullptr; cudaDriverEntryPointQueryResult q;
  CK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &fn, 12000, cudaEnableDefault, &q));
  encode = (encode_fn)fn;
  if (argc < 3 || argc > 4) { printf("hopper_ladder K n [rows]\n"); return 2; }
  const int k = atoi(argv[1]), n = atoi(argv[2]), rows = argc == 4 ? atoi(argv[3]) : 0;
  Problem p; const size_t bytes=(size_t)n*n*2; p.n=n;
  CK(cudaMalloc(&p.A, bytes)); CK(cudaMalloc(&p.B, bytes)); CK(cudaMalloc(&p.C, bytes));
  p.a128 = make_map(p.A, n, n, 64, 128); p.b128 = make_map(p.B, n, n, 64, 128); p.b256 = make_map(p.B, n, n, 64, 256); p.c64 = make_map(p.C, n, n, 64, 64);
  prepare(k); launch(k,p,rows); CK(cudaDeviceSynchronize()); printf("done\n"); return 0; }
