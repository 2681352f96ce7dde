// B+tree search in the manner of Rodinia, with kernels by pointers, device function pointers, virtual functions, recursion, printf.
#include <cstdio>
#include <cstdlib>
#include <climits>
#include <cassert>
#include <map>
#include <vector>
#include <algorithm>
#include <ctime>
#include "helper.h"
#define ORDER 32
typedef struct knode { int location; int indices[ORDER + 1]; int keys[ORDER + 1]; bool is_leaf; int num_keys; } knode;
typedef struct { int value; } record;
typedef int (*combine_t)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int most(int a, int b) { return a > b ? a : b; }
__device__ combine_t table[2] = {add, most};
__device__ combine_t d_add = add;
struct Shape { __device__ virtual float area() const = 0; __device__ virtual ~Shape() {} };
struct Square : Shape { float s; __device__ Square(float s) : s(s) {} __device__ float area() const override { return s * s; } };
struct Circle : Shape { float r; __device__ Circle(float r) : r(r) {} __device__ float area() const override { return 3.f * r * r; } };
__global__ void areas(float *out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; Shape *s = i & 1 ? (Shape *)new Circle(i) : (Shape *)new Square(i); out[i] = s->area(); delete s; }
__global__ void findK(long height, const knode *knodesD, long knodes_elem, const record *recordsD, long *currKnodeD, long *offsetD, const int *keysD, record *ansD) {
    int thid = threadIdx.x, bid = blockIdx.x;
    for (int i = 0; i < height; i++) { if (knodesD[currKnodeD[bid]].keys[thid] <= keysD[bid] && knodesD[currKnodeD[bid]].keys[thid + 1] > keysD[bid]) if (knodesD[offsetD[bid]].indices[thid] < knodes_elem) offsetD[bid] = knodesD[offsetD[bid]].indices[thid]; __syncthreads(); if (thid == 0) currKnodeD[bid] = offsetD[bid]; __syncthreads(); }
    if (knodesD[currKnodeD[bid]].keys[thid] == keysD[bid]) ansD[bid].value = recordsD[knodesD[currKnodeD[bid]].indices[thid]].value;
}
__device__ __noinline__ int depth(const knode *nodes, int at) { if (nodes[at].is_leaf) return 1; return 1 + depth(nodes, nodes[at].indices[0]); }
__global__ void describe(const knode *nodes, int root, int *out, int which) { int d = depth(nodes, root); *out = table[which](d, 2) + d_add(0, 0); if (threadIdx.x == 0) printf("depth %d, %s %5.2f %c %llu\n", d, "root", 1.5, 'x', (unsigned long long)nodes[root].num_keys); assert(d > 0); }
template <int MODE> __global__ void many(const int *a, const int *b, const int *c, const int *d, const int *e, const int *f, int *o1, int *o2, int *o3, int *o4, int n, double scale, char flag, short s, long long q) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { o1[i] = a[i] + b[i] * (MODE + 1); o2[i] = c[i] - d[i] + flag; o3[i] = e[i] ^ f[i] ^ s; o4[i] = (int)(scale * a[i]) + (int)(q >> 33); } }
int main(int argc, char **argv) {
    int count = 20000; std::vector<record> records(count); std::vector<knode> nodes; for (int i = 0; i < count; i++) records[i].value = i * 3 + 1;
    // leaves of ORDER keys each, then levels above
    std::vector<int> level; for (int i = 0; i < count; i += ORDER) { knode k; memset(&k, 0, sizeof k); k.is_leaf = true; k.location = nodes.size(); for (int j = 0; j <= ORDER; j++) { bool in = j < ORDER && i + j < count; k.keys[j] = in ? (i + j) * 2 : INT_MAX; k.indices[j] = in ? i + j : 0; k.num_keys += in; } level.push_back(k.location); nodes.push_back(k); }
    int height = 0; while (level.size() > 1) { std::vector<int> up; for (size_t i = 0; i < level.size(); i += ORDER) { knode k; memset(&k, 0, sizeof k); k.location = nodes.size(); for (int j = 0; j <= ORDER; j++) { bool in = j < ORDER && i + j < level.size(); k.keys[j] = in ? (j || i ? nodes[level[i + j]].keys[0] : INT_MIN) : INT_MAX; k.indices[j] = in ? level[i + j] : level[std::min(i + j, level.size() - 1)]; k.num_keys += in; } up.push_back(k.location); nodes.push_back(k); } level = up; height++; }
    int root = level[0], queries = 600; std::vector<int> keys(queries); std::vector<long> start(queries, root); std::vector<record> answers(queries); srand(1); for (int i = 0; i < queries; i++) { keys[i] = rand() % (2 * count); answers[i].value = -1; }
    knode *dn; record *dr, *da; long *dc, *dof; int *dk; checkCudaErrors(cudaMalloc(&dn, nodes.size() * sizeof(knode))); checkCudaErrors(cudaMalloc(&dr, count * sizeof(record))); checkCudaErrors(cudaMalloc(&da, queries * sizeof(record))); checkCudaErrors(cudaMalloc(&dc, queries * 8)); checkCudaErrors(cudaMalloc(&dof, queries * 8)); checkCudaErrors(cudaMalloc(&dk, queries * 4));
    checkCudaErrors(cudaMemcpy(dn, nodes.data(), nodes.size() * sizeof(knode), cudaMemcpyHostToDevice)); checkCudaErrors(cudaMemcpy(dr, records.data(), count * sizeof(record), cudaMemcpyHostToDevice)); checkCudaErrors(cudaMemcpy(da, answers.data(), queries * 4, cudaMemcpyHostToDevice)); checkCudaErrors(cudaMemcpy(dc, start.data(), queries * 8, cudaMemcpyHostToDevice)); checkCudaErrors(cudaMemcpy(dof, start.data(), queries * 8, cudaMemcpyHostToDevice)); checkCudaErrors(cudaMemcpy(dk, keys.data(), queries * 4, cudaMemcpyHostToDevice));
    clock_t t0 = clock(); findK<<<queries, ORDER>>>(height, dn, nodes.size(), dr, dc, dof, dk, da); checkCudaErrors(cudaDeviceSynchronize()); printf("search: %.1f us\n", 1e6 * (clock() - t0) / CLOCKS_PER_SEC);
    checkCudaErrors(cudaMemcpy(answers.data(), da, queries * 4, cudaMemcpyDeviceToHost)); bool ok = true; for (int i = 0; i < queries; i++) { int want = keys[i] % 2 == 0 ? keys[i] / 2 * 3 + 1 : -1; if (answers[i].value != want) ok = false; } printf("found %d\n", ok);
    int *o; checkCudaErrors(cudaMallocManaged(&o, 4)); checkCudaErrors(cudaDeviceSetLimit(cudaLimitStackSize, 4096)); checkCudaErrors(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20)); void (*kernel)(const knode *, int, int *, int) = describe; kernel<<<1, 32>>>(dn, root, o, 0); checkCudaErrors(cudaDeviceSynchronize()); ok = ok && *o == height + 1 + 2; describe<<<1, 1>>>(dn, root, o, 1); checkCudaErrors(cudaDeviceSynchronize()); ok = ok && *o == std::max(height + 1, 2);
    float *fa; checkCudaErrors(cudaMallocManaged(&fa, 400)); areas<<<2, 64>>>(fa, 100); checkCudaErrors(cudaDeviceSynchronize()); for (int i = 0; i < 100; i++) ok = ok && fa[i] == (i & 1 ? 3.f * i * i : (float)i * i); printf("areas %d\n", ok);
    int n = 5000; int *arrays[10]; std::vector<std::vector<int>> h(10, std::vector<int>(n)); for (int k = 0; k < 10; k++) { checkCudaErrors(cudaMalloc(&arrays[k], n * 4)); for (int i = 0; i < n; i++) h[k][i] = i * (k + 3) % 1009; checkCudaErrors(cudaMemcpy(arrays[k], h[k].data(), n * 4, cudaMemcpyHostToDevice)); }
    typedef void (*many_t)(const int *, const int *, const int *, const int *, const int *, const int *, int *, int *, int *, int *, int, double, char, short, long long); many_t kernels[2] = {many<0>, many<1>}; double scale = 1.5; char flag = 3; short s = -7; long long q = 9ll << 33; void *args[] = {&arrays[0], &arrays[1], &arrays[2], &arrays[3], &arrays[4], &arrays[5], &arrays[6], &arrays[7], &arrays[8], &arrays[9], &n, &scale, &flag, &s, &q}; checkCudaErrors(cudaLaunchKernel((const void *)kernels[1], dim3(20), dim3(256), args, 0, 0)); std::vector<std::vector<int>> g(4, std::vector<int>(n)); for (int k = 0; k < 4; k++) checkCudaErrors(cudaMemcpy(g[k].data(), arrays[6 + k], n * 4, cudaMemcpyDeviceToHost)); for (int i = 0; i < n; i++) ok = ok && g[0][i] == h[0][i] + 2 * h[1][i] && g[1][i] == h[2][i] - h[3][i] + 3 && g[2][i] == (h[4][i] ^ h[5][i] ^ -7) && g[3][i] == (int)(1.5 * h[0][i]) + 9;
    printf("%s\n", ok ? "PASSED" : "FAILED"); return !ok;
}
