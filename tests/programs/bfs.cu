// Breadth-first search by levels, until no frontier is left.
#include "check.h"
#include <queue>
#include <vector>
__global__ void expand(int nodes, const int *first, const int *to, int *level, int now, bool *more) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || level[node] != now) return;
    for (int edge = first[node]; edge < first[node + 1]; edge++)
        if (level[to[edge]] < 0) { level[to[edge]] = now + 1; *more = true; }
}
int main() {
    const int nodes = 600;
    std::vector<int> first(nodes + 1), to;
    for (int i = 0; i < nodes; i++) {
        first[i] = to.size();
        for (int k = 1; k <= 1 + i % 4; k++) to.push_back((i * 7 + k * k * 31) % nodes);
    }
    first[nodes] = to.size();
    std::vector<int> wanted(nodes, -1), found(nodes, -1);
    std::queue<int> waiting;
    waiting.push(0);
    wanted[0] = found[0] = 0;
    while (!waiting.empty()) {
        int i = waiting.front(); waiting.pop();
        for (int e = first[i]; e < first[i + 1]; e++)
            if (wanted[to[e]] < 0) { wanted[to[e]] = wanted[i] + 1; waiting.push(to[e]); }
    }
    int *d_first, *d_to, *d_level; bool *d_more, more = true;
    CHECK(cudaMalloc(&d_first, first.size() * sizeof(int)));
    CHECK(cudaMalloc(&d_to, to.size() * sizeof(int)));
    CHECK(cudaMalloc(&d_level, nodes * sizeof(int)));
    CHECK(cudaMalloc(&d_more, sizeof(bool)));
    CHECK(cudaMemcpy(d_first, first.data(), first.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_to, to.data(), to.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_level, found.data(), nodes * sizeof(int), cudaMemcpyHostToDevice));
    for (int now = 0; more; now++) {
        more = false;
        CHECK(cudaMemcpy(d_more, &more, sizeof more, cudaMemcpyHostToDevice));
        expand<<<(nodes + 127) / 128, 128>>>(nodes, d_first, d_to, d_level, now, d_more);
        CHECK(cudaMemcpy(&more, d_more, sizeof more, cudaMemcpyDeviceToHost));
    }
    CHECK(cudaMemcpy(found.data(), d_level, nodes * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_first)); CHECK(cudaFree(d_to)); CHECK(cudaFree(d_level)); CHECK(cudaFree(d_more));
    return answer(found == wanted);
}
