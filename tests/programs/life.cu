// The game of life on a torus, with C++ classes that own memory of the device.
#include "check.h"
#include <vector>
template <typename T> class Array {
  public:
    explicit Array(size_t count) : count_(count) { CHECK(cudaMalloc(&data_, count * sizeof(T))); }
    Array(const Array &) = delete;
    ~Array() { cudaFree(data_); }
    void put(const std::vector<T> &from) { CHECK(cudaMemcpy(data_, from.data(), count_ * sizeof(T), cudaMemcpyHostToDevice)); }
    std::vector<T> get() const { std::vector<T> to(count_); CHECK(cudaMemcpy(to.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost)); return to; }
    T *data() { return data_; }
  private:
    T *data_ = nullptr;
    size_t count_;
};
__global__ void generation(const char *now, char *next, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int around = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) around += now[(y + dy + height) % height * width + (x + dx + width) % width];
    next[y * width + x] = around == 3 || (around == 2 && now[y * width + x]);
}
int main() {
    const int width = 20, height = 20;
    std::vector<char> board(width * height, 0);
    for (int cell : {1, width + 2, 2 * width, 2 * width + 1, 2 * width + 2}) board[cell] = 1;  // a glider
    Array<char> a(board.size()), b(board.size());
    a.put(board);
    for (int i = 0; i < 8; i += 2) {
        generation<<<dim3(3, 3), dim3(8, 8)>>>(a.data(), b.data(), width, height);
        generation<<<dim3(3, 3), dim3(8, 8)>>>(b.data(), a.data(), width, height);
    }
    std::vector<char> found = a.get();
    bool right = true;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) right = right && found[(y + 2) % height * width + (x + 2) % width] == board[y * width + x];
    return answer(right);
}
