// Edges of a picture of bytes: a tile with its border in shared memory, one thread a pixel.
#include "check.h"
#include <vector>
const int TILE = 16;
__global__ void sobel(const unsigned char *in, unsigned char *out, int width, int height) {
    __shared__ int tile[TILE + 2][TILE + 2];
    int left = blockIdx.x * TILE - 1, top = blockIdx.y * TILE - 1;
    for (int i = threadIdx.y * TILE + threadIdx.x; i < (TILE + 2) * (TILE + 2); i += TILE * TILE) {
        int x = min(max(left + i % (TILE + 2), 0), width - 1), y = min(max(top + i / (TILE + 2), 0), height - 1);
        tile[i / (TILE + 2)][i % (TILE + 2)] = in[y * width + x];
    }
    __syncthreads();
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y, c = threadIdx.x + 1, r = threadIdx.y + 1;
    if (x >= width || y >= height) return;
    int across = tile[r - 1][c + 1] + 2 * tile[r][c + 1] + tile[r + 1][c + 1] - tile[r - 1][c - 1] - 2 * tile[r][c - 1] - tile[r + 1][c - 1];
    int down = tile[r + 1][c - 1] + 2 * tile[r + 1][c] + tile[r + 1][c + 1] - tile[r - 1][c - 1] - 2 * tile[r - 1][c] - tile[r - 1][c + 1];
    out[y * width + x] = min(abs(across) + abs(down), 255);
}
int main() {
    const int width = 45, height = 30;
    std::vector<unsigned char> in(width * height), out(width * height);
    for (int i = 0; i < width * height; i++) in[i] = (i % width > 20 ? 200 : 30) + i % 7;
    unsigned char *d_in, *d_out;
    CHECK(cudaMalloc((void **)&d_in, in.size())); CHECK(cudaMalloc((void **)&d_out, out.size()));
    CHECK(cudaMemcpy(d_in, in.data(), in.size(), cudaMemcpyHostToDevice));
    sobel<<<dim3((width + TILE - 1) / TILE, (height + TILE - 1) / TILE), dim3(TILE, TILE)>>>(d_in, d_out, width, height);
    CHECK(cudaMemcpy(out.data(), d_out, out.size(), cudaMemcpyDeviceToHost));
    auto at = [&](int x, int y) { return (int)in[std::min(std::max(y, 0), height - 1) * width + std::min(std::max(x, 0), width - 1)]; };
    bool right = true;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int a = at(x + 1, y - 1) + 2 * at(x + 1, y) + at(x + 1, y + 1) - at(x - 1, y - 1) - 2 * at(x - 1, y) - at(x - 1, y + 1);
            int d = at(x - 1, y + 1) + 2 * at(x, y + 1) + at(x + 1, y + 1) - at(x - 1, y - 1) - 2 * at(x, y - 1) - at(x + 1, y - 1);
            right = right && out[y * width + x] == std::min(std::abs(a) + std::abs(d), 255);
        }
    CHECK(cudaFree(d_in)); CHECK(cudaFree(d_out));
    return answer(right);
}
