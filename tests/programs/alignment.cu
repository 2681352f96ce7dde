// Needleman and Wunsch: a table filled diagonal by diagonal, a kernel each.
#include "check.h"
#include <algorithm>
#include <string>
#include <vector>
__global__ void diagonal(int *table, const char *a, const char *b, int n, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = d - i;
    if (i > n || j < 1 || j > n) return;
    int w = n + 1, match = table[(i - 1) * w + j - 1] + (a[i - 1] == b[j - 1] ? 2 : -1);
    table[i * w + j] = max(match, max(table[(i - 1) * w + j], table[i * w + j - 1]) - 1);
}
int main() {
    const int n = 40, w = n + 1;
    std::string a, b;
    for (int i = 0; i < n; i++) { a += "ACGT"[(i * i + i / 3) % 4]; b += "ACGT"[(i * 3 + i / 5) % 4]; }
    std::vector<int> wanted(w * w), found(w * w);
    for (int i = 0; i <= n; i++) wanted[i] = wanted[i * w] = found[i] = found[i * w] = -i;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
            wanted[i * w + j] = std::max(wanted[(i - 1) * w + j - 1] + (a[i - 1] == b[j - 1] ? 2 : -1), std::max(wanted[(i - 1) * w + j], wanted[i * w + j - 1]) - 1);
    int *d_table; char *d_a, *d_b;
    CHECK(cudaMalloc(&d_table, w * w * sizeof(int))); CHECK(cudaMalloc(&d_a, n)); CHECK(cudaMalloc(&d_b, n));
    CHECK(cudaMemcpy(d_table, found.data(), w * w * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_a, a.data(), n, cudaMemcpyHostToDevice)); CHECK(cudaMemcpy(d_b, b.data(), n, cudaMemcpyHostToDevice));
    for (int d = 2; d <= 2 * n; d++) diagonal<<<1, 64>>>(d_table, d_a, d_b, n, d);
    CHECK(cudaMemcpy(found.data(), d_table, w * w * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_table)); CHECK(cudaFree(d_a)); CHECK(cudaFree(d_b));
    return answer(found == wanted);
}
