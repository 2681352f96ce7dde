// Managed memory goes to the device and comes back as the host uses it: each line is a step's microseconds.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include "check.h"

static const int BYTES = 16 << 20, N = BYTES / 4;

__global__ void add(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}

static auto last = std::chrono::steady_clock::now();
static void step(const char *name) {
    auto now = std::chrono::steady_clock::now();
    printf("%s %.1f\n", name, std::chrono::duration<double, std::micro>(now - last).count());
    last = std::chrono::steady_clock::now();
}
static void kernel(int *x, const char *name) {
    add<<<1, 256>>>(x, 256);  // the same time for all: of the moves alone
    CHECK(cudaDeviceSynchronize());
    step(name);
}
static long long sum(const int *x, int n) {
    long long found = 0;
    for (int i = 0; i < n; i++) found += x[i];
    return found;
}

int main() {
    int *x, *small, *other, *plain;
    CHECK(cudaMallocManaged(&x, BYTES));
    CHECK(cudaMallocManaged(&small, 256 * sizeof(int)));
    CHECK(cudaMallocManaged(&other, 200 * 1024));  // which the first does not bring along
    CHECK(cudaFree(other));
    CHECK(cudaMallocManaged(&other, 1024));
    CHECK(cudaMalloc(&plain, 256 * sizeof(int)));
    CHECK(cudaMemset(plain, 0, 256 * sizeof(int)));
    memset(x, 0, BYTES);
    memset(small, 0, 1024);
    memset(other, 0, 1024);
    long long found = 0;
    kernel(plain, "none");
    kernel(x, "comes");
    kernel(x, "stays");
    found += sum(x, N);
    step("read");
    found += sum(x, N);
    step("again");
    kernel(x, "comes_again");
    x[N / 2] = 7;
    step("one_page");
    kernel(x, "page_comes");
    kernel(x, "stays_again");
    int file = memfd_create("x", 0);
    if (write(file, x, 1 << 20) != 1 << 20) return 1;
    step("system_call");
    kernel(plain, "other_kernel");
    CHECK(cudaMemPrefetchAsync(x, BYTES, cudaCpuDeviceId));
    CHECK(cudaDeviceSynchronize());
    step("sent_back");
    found += sum(x, N);
    step("read_there");
    CHECK(cudaMemPrefetchAsync(x, BYTES, 0));
    CHECK(cudaDeviceSynchronize());
    step("sent");
    kernel(x, "sent_stays");
    CHECK(cudaMemAdvise(x, BYTES, cudaMemAdviseSetReadMostly, 0));
    kernel(x, "read_mostly");
    found += sum(x, N);
    step("own_copy");
    CHECK(cudaMemAdvise(x, BYTES, cudaMemAdviseUnsetReadMostly, 0));
    CHECK(cudaMemAdvise(x, BYTES, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
    kernel(x, "across");
    kernel(x, "across_again");
    found += sum(x, N);
    step("on_host");
    kernel(small, "small_comes");
    kernel(small, "small_stays");
    found += small[0] - 1;
    step("small_read");
    CHECK(cudaFree(x));
    CHECK(cudaMallocManaged(&x, BYTES));  // where it was
    memset(x, 0, BYTES);
    step("");
    kernel(x, "new_comes");
    found += sum(x, N);
    step("new_read");
    CHECK(cudaFree(x));
    CHECK(cudaFree(small));
    CHECK(cudaFree(other));
    CHECK(cudaFree(plain));
    return answer(found == 256 * (2 + 2 + 5 + 7 + 9 + 1) + 3 * 7 + 1);
}
