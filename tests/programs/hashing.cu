// A search for a number whose mixed bits begin with zeros; then a hash table filled by compare and swap.
#include "check.h"
#include <vector>
__host__ __device__ unsigned mixed(unsigned x) {
    for (int round = 0; round < 8; round++) { x ^= x >> 16; x *= 0x7feb352du; x = (x << 5) | (x >> 27); x += 0x9e3779b9u + round; }
    return x;
}
__global__ void search(unsigned *best, unsigned from) {
    unsigned nonce = from + blockIdx.x * blockDim.x + threadIdx.x;
    if (mixed(nonce) >> 24 == 0) atomicMin(best, nonce);
}
__global__ void insert(const unsigned *keys, int n, unsigned *table, unsigned mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (unsigned slot = mixed(keys[i]) & mask;; slot = (slot + 1) & mask) {
        unsigned there = atomicCAS(&table[slot], 0u, keys[i]);
        if (there == 0 || there == keys[i]) return;
    }
}
int main() {
    unsigned *d_best, best = 0xffffffffu, wanted = 0;
    CHECK(cudaMalloc(&d_best, sizeof best));
    CHECK(cudaMemcpy(d_best, &best, sizeof best, cudaMemcpyHostToDevice));
    for (unsigned from = 1; best == 0xffffffffu; from += 512) {
        search<<<4, 128>>>(d_best, from);
        CHECK(cudaMemcpy(&best, d_best, sizeof best, cudaMemcpyDeviceToHost));
    }
    do wanted++; while (mixed(wanted) >> 24);
    const int n = 300; const unsigned slots = 1024;
    std::vector<unsigned> keys(n), table(slots);
    for (int i = 0; i < n; i++) keys[i] = 1 + (i * 97) % 211;
    unsigned *d_keys, *d_table;
    CHECK(cudaMalloc(&d_keys, n * 4)); CHECK(cudaMalloc(&d_table, slots * 4)); CHECK(cudaMemset(d_table, 0, slots * 4));
    CHECK(cudaMemcpy(d_keys, keys.data(), n * 4, cudaMemcpyHostToDevice));
    insert<<<(n + 63) / 64, 64>>>(d_keys, n, d_table, slots - 1);
    CHECK(cudaMemcpy(table.data(), d_table, slots * 4, cudaMemcpyDeviceToHost));
    int filled = 0;
    for (unsigned key : table) filled += key != 0;
    cudaFree(d_best); cudaFree(d_keys); cudaFree(d_table);
    return answer(best == wanted && filled == 211);
}
