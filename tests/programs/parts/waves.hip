#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
struct Out { int sum, down, up, idx, far, near32, any, all, size; unsigned lane; unsigned long long ballot, odd; double twice; };
__global__ void waves(Out *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i * 3 + 1;
    Out o;
    o.size = warpSize;
    o.lane = __lane_id();
    o.sum = v;
    for (int by = warpSize / 2; by; by /= 2) o.sum += __shfl_xor(o.sum, by);
    o.down = __shfl_down(v, 40);
    o.up = __shfl_up(v, 33);
    o.idx = __shfl(v, 63 - (int)__lane_id());
    o.far = __shfl(v, 63);
    o.near32 = __shfl_down(v, 16, 32);
    o.twice = __shfl_xor(v * 0.5, 63);
    o.ballot = __ballot(v % 5 == 0);
    o.any = __any(v == 100);
    o.all = __all(v % 3 == 1);
    o.odd = 0;
    if (i & 1) o.odd = __ballot(v & 2) ^ (unsigned long long)__shfl(v, 32);
    out[i] = o;
}
__global__ void block_sum(const float *x, float *sums, int n) {
    __shared__ float of_waves[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize;
    float v = i < n ? x[i] : 0;
    for (int by = warpSize / 2; by > 0; by >>= 1) v += __shfl_down(v, by);
    if (lane == 0) of_waves[wave] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / warpSize ? of_waves[lane] : 0;
    if (wave == 0) {
        for (int by = warpSize / 2; by > 0; by >>= 1) v += __shfl_down(v, by);
        if (lane == 0) sums[blockIdx.x] = v;
    }
}
int main() {
    const int n = 256;
    Out *d; std::vector<Out> h(n);
    hipDeviceProp_t p; hipGetDeviceProperties(&p, 0);
    hipMalloc(&d, n * sizeof(Out));
    waves<<<2, 128>>>(d);
    if (hipDeviceSynchronize()) return 1;
    hipMemcpy(h.data(), d, n * sizeof(Out), hipMemcpyDeviceToHost);
    bool ok = p.warpSize == 64;
    auto v = [](int i) { return i * 3 + 1; };
    for (int i = 0; i < n; i++) {
        int w = i / 64 * 64, l = i % 64, sum = 0; unsigned long long b = 0, odd = 0; int any = 0;
        for (int k = 0; k < 64; k++) { sum += v(w + k); b |= (unsigned long long)(v(w + k) % 5 == 0) << k; any |= v(w + k) == 100; if (k & 1) odd |= (unsigned long long)((v(w + k) & 2) != 0) << k; }
        const Out &o = h[i];
        bool r = o.size == 64 && o.lane == (unsigned)l && o.sum == sum && o.down == (l + 40 < 64 ? v(i + 40) : v(i)) && o.up == (l >= 33 ? v(i - 33) : v(i)) &&
            o.idx == v(w + 63 - l) && o.far == v(w + 63) && o.near32 == (l % 32 < 16 ? v(i + 16) : v(i)) && o.twice == 0.5 * v(w + (l ^ 63)) &&
            o.ballot == b && o.any == any && o.all == 1 && o.odd == (i & 1 ? odd : 0);
        if (!r && ok) printf("%d: %d %d %d %d %d %d %g %llx %d %d %llx\n", i, o.sum, o.down, o.up, o.idx, o.far, o.near32, o.twice, o.ballot, o.any, o.all, o.odd);
        ok &= r;
    }
    const int m = 4000; std::vector<float> x(m), s((m + 255) / 256); for (int i = 0; i < m; i++) x[i] = i % 7;
    float *dx, *ds; hipMalloc(&dx, m * 4); hipMalloc(&ds, s.size() * 4);
    hipMemcpy(dx, x.data(), m * 4, hipMemcpyHostToDevice);
    block_sum<<<s.size(), 256>>>(dx, ds, m);
    hipMemcpy(s.data(), ds, s.size() * 4, hipMemcpyDeviceToHost);
    for (int b = 0; b < (int)s.size(); b++) { float w = 0; for (int i = b * 256; i < m && i < (b + 1) * 256; i++) w += x[i]; ok &= s[b] == w; }
    hipFree(d); hipFree(dx); hipFree(ds);
    printf("%s\n", ok ? "PASSED" : "FAILED");
    return !ok;
}
