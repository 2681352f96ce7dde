// Overlap: chunks in streams of priorities, registered and pinned memory, pools, host functions, threads, launch attributes.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>
#include <future>
#include <nvtx3/nvToolsExt.h>
#include <cuda_profiler_api.h>
#include <sys/mman.h>
#include <unistd.h>
#include "helper.h"
template <typename T, int UNROLL> __global__ void axpy(T a, const T *__restrict__ x, T *y, size_t n) { size_t i = (size_t)blockIdx.x * blockDim.x * UNROLL + threadIdx.x;
#pragma unroll
    for (int u = 0; u < UNROLL; u++, i += blockDim.x) if (i < n) y[i] = a * x[i] + y[i]; }
__global__ void mapped(const int *in, int *out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { out[i] = in[i] * 2; __threadfence_system(); } }
__global__ void secondary(const int *in, int *out, int n) {
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = in[i] + 1;
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
struct Job { int id; std::atomic<int> done{0}; };
static void CUDART_CB finished(void *data) { Job *j = (Job *)data; j->done.fetch_add(1); }
static void CUDART_CB old_callback(cudaStream_t s, cudaError_t status, void *data) { ((Job *)data)->done += status == cudaSuccess ? 10 : 1000; }
class Pool { std::vector<std::thread> workers; std::queue<std::packaged_task<float()>> tasks; std::mutex m; std::condition_variable cv; bool stop = false;
  public: Pool(int n) { for (int i = 0; i < n; i++) workers.emplace_back([this] { checkCudaErrors(cudaSetDevice(0)); for (;;) { std::packaged_task<float()> t; { std::unique_lock<std::mutex> l(m); cv.wait(l, [this] { return stop || !tasks.empty(); }); if (stop && tasks.empty()) return; t = std::move(tasks.front()); tasks.pop(); } t(); } }); }
  std::future<float> submit(std::function<float()> f) { std::packaged_task<float()> t(f); auto r = t.get_future(); { std::lock_guard<std::mutex> l(m); tasks.push(std::move(t)); } cv.notify_one(); return r; }
  ~Pool() { { std::lock_guard<std::mutex> l(m); stop = true; } cv.notify_all(); for (auto &w : workers) w.join(); } };
int main() {
    nvtxRangePushA("whole"); nvtxMarkA("begin"); cudaProfilerStart();
    const int chunks = 4; size_t n = 1 << 20, part = n / chunks, bytes = n * sizeof(float);
    int least, greatest; checkCudaErrors(cudaDeviceGetStreamPriorityRange(&least, &greatest)); bool ok = least >= greatest;
    float *x, *y; checkCudaErrors(cudaHostAlloc((void **)&x, bytes, cudaHostAllocPortable | cudaHostAllocWriteCombined)); long page = sysconf(_SC_PAGESIZE); y = (float *)aligned_alloc(page, bytes); checkCudaErrors(cudaHostRegister(y, bytes, cudaHostRegisterPortable));
    for (size_t i = 0; i < n; i++) x[i] = i % 1000, y[i] = 1;
    cudaPointerAttributes pa; checkCudaErrors(cudaPointerGetAttributes(&pa, y)); ok = ok && pa.type == cudaMemoryTypeHost;
    cudaMemPool_t pool; checkCudaErrors(cudaDeviceGetDefaultMemPool(&pool, 0)); uint64_t threshold = UINT64_MAX; checkCudaErrors(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    cudaStream_t s[chunks]; cudaEvent_t e[chunks], t0, t1; for (int i = 0; i < chunks; i++) { checkCudaErrors(cudaStreamCreateWithPriority(&s[i], cudaStreamNonBlocking, i & 1 ? greatest : least)); checkCudaErrors(cudaEventCreateWithFlags(&e[i], cudaEventDisableTiming)); }
    checkCudaErrors(cudaEventCreate(&t0)); checkCudaErrors(cudaEventCreate(&t1));
    Job job; job.id = 7; double seconds[2]; float *dx, *dy;
    for (int overlap = 0; overlap < 2; overlap++) {
        std::fill(y, y + n, 1.f); checkCudaErrors(cudaMallocAsync((void **)&dx, bytes, s[0])); checkCudaErrors(cudaMallocAsync((void **)&dy, bytes, s[0])); checkCudaErrors(cudaEventRecord(e[0], s[0])); checkCudaErrors(cudaDeviceSynchronize());
        auto b = std::chrono::steady_clock::now(); checkCudaErrors(cudaEventRecord(t0, s[0]));
        for (int c = 0; c < chunks; c++) { cudaStream_t q = s[overlap ? c : 0]; size_t o = c * part; if (c) checkCudaErrors(cudaStreamWaitEvent(q, e[0], 0)); checkCudaErrors(cudaMemcpyAsync(dx + o, x + o, part * 4, cudaMemcpyHostToDevice, q)); checkCudaErrors(cudaMemcpyAsync(dy + o, y + o, part * 4, cudaMemcpyHostToDevice, q)); axpy<float, 4><<<(part + 1023) / 1024, 256, 0, q>>>(2.f, dx + o, dy + o, part); getLastCudaError("axpy"); checkCudaErrors(cudaMemcpyAsync(y + o, dy + o, part * 4, cudaMemcpyDeviceToHost, q)); checkCudaErrors(cudaLaunchHostFunc(q, finished, &job)); checkCudaErrors(cudaStreamAddCallback(q, old_callback, &job, 0)); checkCudaErrors(cudaEventRecord(e[c], q)); }
        for (int c = 0; c < chunks; c++) checkCudaErrors(cudaStreamWaitEvent(s[0], e[c], 0)); checkCudaErrors(cudaEventRecord(t1, s[0])); while (cudaEventQuery(t1) == cudaErrorNotReady) std::this_thread::yield();
        seconds[overlap] = std::chrono::duration<double>(std::chrono::steady_clock::now() - b).count(); float ms; checkCudaErrors(cudaEventElapsedTime(&ms, t0, t1)); printf("%s: %.3f ms, events %.3f\n", overlap ? "streams" : "one", 1e3 * seconds[overlap], ms);
        for (size_t i = 0; i < n; i++) ok = ok && y[i] == 2.f * (i % 1000) + 1; checkCudaErrors(cudaFreeAsync(dx, s[0])); checkCudaErrors(cudaFreeAsync(dy, s[0])); checkCudaErrors(cudaStreamSynchronize(s[0]));
    }
    ok = ok && job.done == 2 * chunks * 11 && seconds[1] < 0.85 * seconds[0]; printf("job %d\n", job.done.load());
    int *hin, *hout, *din, *dout; checkCudaErrors(cudaHostAlloc(&hin, 4096, cudaHostAllocMapped)); hout = (int *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); checkCudaErrors(cudaHostRegister(hout, 4096, cudaHostRegisterMapped)); checkCudaErrors(cudaHostGetDevicePointer((void **)&din, hin, 0)); checkCudaErrors(cudaHostGetDevicePointer((void **)&dout, hout, 0));
    for (int i = 0; i < 1024; i++) hin[i] = i; mapped<<<4, 256>>>(din, dout, 1024); checkCudaErrors(cudaDeviceSynchronize()); for (int i = 0; i < 1024; i++) ok = ok && hout[i] == 2 * i;
    cudaLaunchConfig_t config = {}; config.gridDim = 4; config.blockDim = 256; config.stream = s[1]; cudaLaunchAttribute a[2]; a[0].id = cudaLaunchAttributePriority; a[0].val.priority = greatest; a[1].id = cudaLaunchAttributeProgrammaticStreamSerialization; a[1].val.programmaticStreamSerializationAllowed = 1; config.attrs = a; config.numAttrs = 2;
    cudaDeviceProp prop; checkCudaErrors(cudaGetDeviceProperties(&prop, 0)); if (prop.major < 9) config.numAttrs = 1;
    checkCudaErrors(cudaLaunchKernelEx(&config, secondary, (const int *)din, dout, 1024)); checkCudaErrors(cudaLaunchKernelEx(&config, secondary, (const int *)dout, dout, 1024)); checkCudaErrors(cudaStreamSynchronize(s[1])); for (int i = 0; i < 1024; i++) ok = ok && hout[i] == i + 2;
    { Pool workers(3); std::vector<std::future<float>> f; for (int i = 0; i < 6; i++) f.push_back(workers.submit([i] { float *d, h[256]; cudaStream_t q; checkCudaErrors(cudaStreamCreate(&q)); checkCudaErrors(cudaMalloc(&d, 1024)); for (int k = 0; k < 256; k++) h[k] = i; checkCudaErrors(cudaMemcpyAsync(d, h, 1024, cudaMemcpyHostToDevice, q)); axpy<float, 1><<<1, 256, 0, q>>>(1.f, d, d, 256); checkCudaErrors(cudaMemcpyAsync(h, d, 1024, cudaMemcpyDeviceToHost, q)); checkCudaErrors(cudaStreamSynchronize(q)); checkCudaErrors(cudaFree(d)); checkCudaErrors(cudaStreamDestroy(q)); return h[100]; })); for (int i = 0; i < 6; i++) ok = f[i].get() == 2 * i && ok; }
    int count; checkCudaErrors(cudaGetDeviceCount(&count)); for (int i = 0; i < count; i++) for (int j = 0; j < count; j++) { int can = -1; if (i != j) checkCudaErrors(cudaDeviceCanAccessPeer(&can, i, j)); } ok = ok && cudaDeviceEnablePeerAccess(1, 0) != cudaSuccess; cudaGetLastError();
    checkCudaErrors(cudaHostUnregister(y)); free(y); checkCudaErrors(cudaHostUnregister(hout)); munmap(hout, 4096); cudaFreeHost(hin); cudaFreeHost(x); for (int i = 0; i < chunks; i++) { cudaStreamDestroy(s[i]); cudaEventDestroy(e[i]); } cudaEventDestroy(t0); cudaEventDestroy(t1); cudaProfilerStop(); nvtxRangePop();
    puts(ok ? "PASSED" : "FAILED"); return !ok;
}
