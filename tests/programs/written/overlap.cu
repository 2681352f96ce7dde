// Streams and events with chunks, pinned memory, callbacks, priorities, mapped flags, managed results, graphs by capture.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
__global__ void work(const float *in, float *out, int n, int trips) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = in[i];
  for (int k = 0; k < trips; k++) v = fmaf(v, 0.99f, 0.01f);
  out[i] = v;
}
__global__ void total(const float *x, int n, float *sum, volatile int *flag) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += x[i];
  atomicAdd(sum, s);
  __syncthreads();
  if (threadIdx.x == 0) { __threadfence_system(); *flag = 1; }
}
static std::atomic<int> called{0};
static void CUDART_CB done(void *p) { called += *(int *)p; }
int main(int argc, char **argv) {
  const int chunks = 4, n = argc > 1 ? atoi(argv[1]) : 1 << 16, each = n / chunks, trips = 50;
  float *h, *r, *in, *out, *sum; int *flag, *dflag, three = 3;
  cudaMallocHost(&h, n * 4); cudaHostAlloc(&r, n * 4, cudaHostAllocDefault); cudaMalloc(&in, n * 4); cudaMalloc(&out, n * 4);
  cudaMallocManaged(&sum, 4); cudaHostAlloc(&flag, 4, cudaHostAllocMapped); cudaHostGetDevicePointer(&dflag, flag, 0);
  for (int i = 0; i < n; i++) h[i] = i % 17;
  int low, high; cudaDeviceGetStreamPriorityRange(&low, &high);
  std::vector<cudaStream_t> s(chunks);
  for (int i = 0; i < chunks; i++) cudaStreamCreateWithPriority(&s[i], cudaStreamNonBlocking, i ? low : high);
  auto t0 = std::chrono::steady_clock::now();
  cudaMemcpy(in, h, n * 4, cudaMemcpyHostToDevice);
  work<<<(n + 255) / 256, 256>>>(in, out, n, trips);
  cudaMemcpy(r, out, n * 4, cudaMemcpyDeviceToHost);
  auto t1 = std::chrono::steady_clock::now();
  for (int i = 0; i < chunks; i++) {
    cudaMemcpyAsync(in + i * each, h + i * each, each * 4, cudaMemcpyHostToDevice, s[i]);
    work<<<(each + 255) / 256, 256, 0, s[i]>>>(in + i * each, out + i * each, each, trips);
    cudaMemcpyAsync(r + i * each, out + i * each, each * 4, cudaMemcpyDeviceToHost, s[i]);
    cudaLaunchHostFunc(s[i], done, &three);
  }
  cudaDeviceSynchronize();
  auto t2 = std::chrono::steady_clock::now();
  printf("serial %.1f us, overlapped %.1f us\n", std::chrono::duration<double, std::micro>(t1 - t0).count(), std::chrono::duration<double, std::micro>(t2 - t1).count());
  cudaGraph_t graph; cudaGraphExec_t exec;
  cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal);
  for (int k = 0; k < 5; k++) work<<<(n + 255) / 256, 256, 0, s[0]>>>(in, out, n, trips);
  cudaStreamEndCapture(s[0], &graph);
  cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
  auto t3 = std::chrono::steady_clock::now();
  for (int k = 0; k < 3; k++) cudaGraphLaunch(exec, s[0]);
  cudaStreamSynchronize(s[0]);
  printf("graph: %.2f us a kernel\n", std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - t3).count() / 15);
  *sum = 0; *flag = 0;
  total<<<1, 256>>>(out, n, sum, dflag);
  while (cudaStreamQuery(0) == cudaErrorNotReady) std::this_thread::yield();
  double want = 0; bool ok = called == 12 && *flag == 1;
  for (int i = 0; i < n; i++) { float v = h[i]; for (int k = 0; k < trips; k++) v = fmaf(v, 0.99f, 0.01f); want += v; ok &= r[i] == v; }
  ok &= std::abs(*sum - want) < 1e-3 * want;
  printf("%s\n", ok ? "PASS" : "FAIL");
  for (auto e : s) cudaStreamDestroy(e);
  cudaGraphExecDestroy(exec); cudaGraphDestroy(graph);
  cudaFreeHost(h); cudaFreeHost(r); cudaFree(in); cudaFree(out); cudaFree(sum); cudaFreeHost(flag);
  return !ok;
}
