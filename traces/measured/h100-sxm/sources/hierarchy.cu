// Memory hierarchy of a GPU: strides, L1 and L2 bandwidth, small kernels, streams over occupancy. One section a process.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
namespace cg = cooperative_groups;
#define CHECK(call) do { cudaError_t e_ = (call); if (e_ != cudaSuccess) { printf("ERROR,%s:%d,%s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); fflush(stdout); exit(1); } } while (0)

__global__ void spin(long long least, long long* out) { long long b = clock64(), n = b; while (n - b < least) n = clock64(); if (out) *out = n - b; }
static double clock_mhz() {
    static long long* d = nullptr; if (!d) CHECK(cudaMalloc(&d, 8));
    cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); double best = 0;
    for (int i = 0; i < 2; i++) { cudaEventRecord(a); spin<<<1, 1>>>(10000000, d); cudaEventRecord(b); CHECK(cudaDeviceSynchronize());
        float ms; cudaEventElapsedTime(&ms, a, b); long long t; cudaMemcpy(&t, d, 8, cudaMemcpyDeviceToHost); best = t / (ms * 1e3); }
    return best;
}
template <class F> static double median_ms(F f, int repeat = 7, int warm = 2) {
    cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); std::vector<float> t;
    for (int i = 0; i < warm; i++) f();
    for (int i = 0; i < repeat; i++) { cudaEventRecord(a); f(); cudaEventRecord(b); CHECK(cudaDeviceSynchronize()); float ms; cudaEventElapsedTime(&ms, a, b); t.push_back(ms); }
    CHECK(cudaGetLastError()); std::sort(t.begin(), t.end()); return t[t.size() / 2];
}

// ---- strides
template <class T> __global__ void stride_kernel(const T* A, T* out, int trips, int parameter, int zero) {
    const T* at = A + (threadIdx.x % 64) * parameter; T sum = 0;
#pragma unroll 1
    for (int i = 0; i < trips; i++) { sum += at[0] * at[4] + at[8] * at[12] + at[20] * at[16] + at[24] * at[28]; at += zero; }
    if (sum == T(-1234)) out[threadIdx.x] = sum;
}
template <class T> __global__ void block_kernel(const T* A, T* out, int trips, int pitch, int zero) {
    const T* at = A + threadIdx.x % 64 + (threadIdx.y % 32) * pitch + pitch; T sum = 0;
#pragma unroll 1
    for (int i = 0; i < trips; i++) { sum += at[0] * at[4] + at[8] * at[12] + at[20] * at[16] + at[24] * at[28]; at += zero; }
    if (sum == T(-1234)) out[threadIdx.x] = sum;
}
__global__ void timed_dummy() {}
template <class T> static void strides(const char* type, const char* file) {
    T *A, *out; CHECK(cudaMalloc(&A, 64 << 20)); CHECK(cudaMalloc(&out, 1 << 16)); CHECK(cudaMemset(A, 0, 64 << 20));
    FILE* f = fopen(file, "r"); if (!f) { printf("ERROR,no %s\n", file); return; }
    char line[256]; double mhz = clock_mhz();
    while (fgets(line, sizeof line, f)) {
        char ty[32], k[32]; int p, pitch; if (sscanf(line, "%31[^,],%31[^,],%d,%d", ty, k, &p, &pitch) != 4 || strcmp(ty, type)) continue;
        int few = 2000, many = 12000; bool s = !strcmp(k, "stride");
        auto go = [&](int trips) { if (s) stride_kernel<T><<<1, 1024>>>(A, out, trips, p, 0); else block_kernel<T><<<1, dim3(p, 1024 / p)>>>(A, out, trips, pitch, 0); };
        double a = median_ms([&] { go(few); }, 3, 1), b = median_ms([&] { go(many); }, 3, 1);
        double cycles = (b - a) * 1e3 * mhz / ((double)(many - few) * 8 * 32);
        printf("l1_strides,%s,%s,%d,%d,%.3f\n", ty, k, p, pitch, cycles); fflush(stdout);
    }
    printf("# clock %.1f then %.1f MHz\n", mhz, clock_mhz()); fclose(f);
}
// ---- L1/L2 bandwidth, the same buffer in each block
__global__ void same_buffer(const float* B, float* out, int N, int trips, int zero) {
    float sum = 0;
#pragma unroll 1
    for (int t = 0; t < trips; t++) { const float* B2 = B + N;
#pragma unroll 8
        for (int i = threadIdx.x; i < N; i += blockDim.x) sum += B[i] * B2[i];
        B += zero; }
    if (sum == -1234.f) out[threadIdx.x] = sum;
}
static void l1l2() {
    int kb[] = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 160, 176, 192, 200, 208, 216, 224, 232, 240, 256, 288, 320, 384, 512, 768, 1024, 2048, 4096, 8192, 16384, 24576, 32768, 40960, 49152, 57344, 65536, 98304, 131072};
    float *B, *out; CHECK(cudaMalloc(&B, 256 << 20)); CHECK(cudaMalloc(&out, 1 << 16)); CHECK(cudaMemset(B, 0, 256 << 20)); int sms; cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    CHECK(cudaFuncSetAttribute(same_buffer, cudaFuncAttributePreferredSharedMemoryCarveout, 0));
    for (int k : kb) for (int per : {1, 2, 4}) { int N = k * 1024 / 8, threads = std::min(512, N); if (per > 1 && k > 256) continue; long trips = std::max(4L, 60000L * 1024 / ((long)k * 1024));
        auto go = [&](int t) { same_buffer<<<sms * per, threads>>>(B, out, N, t, 0); };
        double a = median_ms([&] { go(trips); }, 3, 1), b = median_ms([&] { go(3 * trips); }, 3, 1);
        printf("l1_l2_bandwidth,%d,%d,%.1f,%.1f\n", k, per, 2.0 * trips * (double)sms * per * N * 8 / ((b - a) * 1e6), clock_mhz()); fflush(stdout); }
}
// ---- L2 bandwidth, parts
__global__ void __launch_bounds__(1024) read_parts(const double* buffer, double* sums, int parts) {
    const double* part = buffer + (long long)(blockIdx.x % parts) * 1024 * 64 + threadIdx.x; double sum = 0;
#pragma unroll
    for (int l = 0; l < 64; l++) sum += part[l * 1024];
    if (sum == -1) sums[threadIdx.x] = sum;
}
// the layout as it is described: loads as far apart as all parts together
__global__ void __launch_bounds__(1024) read_apart(const double* buffer, double* sums, int parts) {
    const double* part = buffer + (long long)(blockIdx.x % parts) * 1024 + threadIdx.x; double sum = 0;
#pragma unroll
    for (int l = 0; l < 64; l++) sum += part[(long long)l * 1024 * parts];
    if (sum == -1) sums[threadIdx.x] = sum;
}
static void l2() {
    double *B, *s; CHECK(cudaMalloc(&B, 512 << 20)); CHECK(cudaMalloc(&s, 1 << 16)); CHECK(cudaMemset(B, 0, 512 << 20));
    for (int k : {1536, 2048, 3072, 4096, 6144, 8192, 10240, 12288, 14336, 16896, 20480, 22528, 24576, 26624, 28672, 30720, 32768, 36864, 40960, 45056, 49152, 53248, 57344, 61440, 65536, 73728, 81920, 98304, 131072, 196608, 262144, 393216}) {
        int parts = k / 512; double a = median_ms([&] { read_parts<<<50000, 1024>>>(B, s, parts); }, 3, 1), b = median_ms([&] { read_apart<<<50000, 1024>>>(B, s, parts); }, 3, 1);
        printf("l2_bandwidth,%d,%.1f,%.1f,%.1f\n", k, 50000.0 * 524288 / (a * 1e6), 50000.0 * 524288 / (b * 1e6), clock_mhz()); fflush(stdout); }
}
// ---- small kernels
__global__ void quarter(double* a, const double* b, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] = 0.25 * b[i]; }
__global__ void quarter_trips(double* a, double* b, int n, int trips) {
    cg::grid_group grid = cg::this_grid(); int i0 = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (int t = 0; t < trips; t++) { for (int i = i0; i < n; i += step) a[i] = 0.25 * b[i]; grid.sync(); double* c = a; a = b; b = c; }
}
static void small() {
    double *A, *B; CHECK(cudaMalloc(&A, 256 << 20)); CHECK(cudaMalloc(&B, 256 << 20)); CHECK(cudaMemset(A, 0, 256 << 20)); CHECK(cudaMemset(B, 0, 256 << 20)); cudaStream_t st; cudaStreamCreate(&st); int sms; cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    for (int block : {32, 64, 128, 256, 512, 1024}) for (int n : {1024, 4096, 16562, 33317, 67031, 134870, 271378, 546056, 1098763, 1558613, 2210918, 3145728, 4448794, 8950000, 18000000}) {
        int trips = n > 1000000 ? 200 : 1000, grid = n / block + 1;
        auto loop = [&](cudaStream_t s) { for (int t = 0; t < trips; t++) if (t % 2) quarter<<<grid, block, 0, s>>>(A, B, n); else quarter<<<grid, block, 0, s>>>(B, A, n); };
        double plain = median_ms([&] { loop(0); }, 3, 1) / trips, graph = -1, gsync = -1;
        cudaGraph_t g; cudaGraphExec_t e; CHECK(cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal)); loop(st); CHECK(cudaStreamEndCapture(st, &g)); CHECK(cudaGraphInstantiate(&e, g, 0));
        { cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); std::vector<float> t; for (int i = 0; i < 4; i++) { cudaEventRecord(a, st); cudaGraphLaunch(e, st); cudaEventRecord(b, st); CHECK(cudaDeviceSynchronize()); float ms; cudaEventElapsedTime(&ms, a, b); if (i) t.push_back(ms); } std::sort(t.begin(), t.end()); graph = t[1] / trips; }
        cudaGraphExecDestroy(e); cudaGraphDestroy(g);
        int per = 0; cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, quarter_trips, block, 0); int cgrid = std::min(grid, per * sms); void* args[] = {&A, &B, &n, &trips};
        gsync = median_ms([&] { CHECK(cudaLaunchCooperativeKernel((void*)quarter_trips, dim3(cgrid), dim3(block), args, 0, 0)); }, 3, 1) / trips;
        printf("small_kernels,%d,%d,%.4f,%.4f,%.4f,us of a launch; a graph's node; a trip with a grid barrier (%d blocks)\n", n, block, plain * 1e3, graph * 1e3, gsync * 1e3, cgrid); fflush(stdout); }
    printf("# clock %.1f\n", clock_mhz());
}
// ---- streams over occupancy
__global__ void s_init(double* A, double* B, double* C, double* D, long n) { extern __shared__ double sh[]; long i = blockIdx.x * (long)blockDim.x + threadIdx.x; if (i < n) A[i] = 1.5; }
__global__ void s_read(double* A, double* B, double* C, double* D, long n) { extern __shared__ double sh[]; long i = blockIdx.x * (long)blockDim.x + threadIdx.x; if (i < n) { double v = B[i]; if (v == 123.0) A[i] = v; } }
__global__ void s_scale(double* A, double* B, double* C, double* D, long n) { extern __shared__ double sh[]; long i = blockIdx.x * (long)blockDim.x + threadIdx.x; if (i < n) A[i] = B[i] * 1.2; }
__global__ void s_triad(double* A, double* B, double* C, double* D, long n) { extern __shared__ double sh[]; long i = blockIdx.x * (long)blockDim.x + threadIdx.x; if (i < n) A[i] = B[i] + C[i] * 1.2; }
__global__ void s_3pt(double* A, double* B, double* C, double* D, long n) { extern __shared__ double sh[]; long i = blockIdx.x * (long)blockDim.x + threadIdx.x; if (i > 0 && i < n - 1) A[i] = 0.5 * B[i - 1] - 1.0 * B[i] + 0.5 * B[i + 1]; }
__global__ void s_5pt(double* A, double* B, double* C, double* D, long n) { extern __shared__ double sh[]; long i = blockIdx.x * (long)blockDim.x + threadIdx.x; if (i > 1 && i < n - 2) A[i] = 0.25 * B[i - 2] + 0.25 * B[i - 1] - 1.0 * B[i] + 0.5 * B[i + 1] + 0.5 * B[i + 2]; }
static void stream() {
    long n = 1L << 26; double* p[4]; for (auto& q : p) { CHECK(cudaMalloc(&q, n * 8)); CHECK(cudaMemset(q, 0, n * 8)); }
    typedef void (*K)(double*, double*, double*, double*, long); K ks[] = {s_init, s_read, s_scale, s_triad, s_3pt, s_5pt}; const char* names[] = {"init", "read", "scale", "triad", "3pt", "5pt"}; int arrays[] = {1, 1, 2, 3, 2, 2};
    for (auto k : ks) { CHECK(cudaFuncSetAttribute((void*)k, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024)); CHECK(cudaFuncSetAttribute((void*)k, cudaFuncAttributePreferredSharedMemoryCarveout, 100)); }
    struct P { int block, per; }; P ps[] = {{32, 1}, {64, 1}, {96, 1}, {128, 1}, {160, 1}, {192, 1}, {224, 1}, {256, 1}, {320, 1}, {384, 1}, {448, 1}, {512, 1}, {576, 1}, {640, 1}, {704, 1}, {768, 1}, {832, 1}, {896, 1}, {960, 1}, {1024, 1}, {576, 2}, {640, 2}, {704, 2}, {768, 2}, {832, 2}, {896, 2}, {960, 2}, {1024, 2}, {512, 4}, {256, 8}, {128, 16}, {64, 32}, {32, 32}, {256, 4}, {256, 2}, {128, 4}, {64, 8}};
    for (P q : ps) for (int k = 0; k < 6; k++) {
        int shared = 0; int got = 0; // the most that leaves q.per blocks
        for (int kb = 227; kb >= 0; kb--) { cudaOccupancyMaxActiveBlocksPerMultiprocessor(&got, (void*)ks[k], q.block, kb * 1024); if (got >= q.per) { shared = kb * 1024; break; } }
        double ms = median_ms([&] { ks[k]<<<n / q.block + 1, q.block, shared>>>(p[0], p[1], p[2], p[3], n); }, 5, 1);
        printf("stream,%s,%d,%d,%.1f\n", names[k], q.block, got, arrays[k] * 8.0 * n / (ms * 1e6)); fflush(stdout); }
    printf("# clock %.1f\n", clock_mhz());
}
int main(int argc, char** argv) {
    if (argc < 2) { for (const char* s : {"strides", "l1l2", "l2", "small", "stream"}) { std::string c = std::string("timeout 60 ") + argv[0] + " " + s; int r = system(c.c_str()); if (r) printf("ERROR,%s,%d\n", s, r); fflush(stdout); } return 0; }
    std::string s = argv[1]; printf("# %s, clock %.1f MHz\n", argv[1], clock_mhz());
    const char* f = getenv("STRIDES") ? getenv("STRIDES") : "strides.csv";
    if (s == "strides") { strides<float>("float", f); strides<double>("double", f); } if (s == "l1l2") l1l2(); if (s == "l2") l2(); if (s == "small") small(); if (s == "stream") stream();
}
