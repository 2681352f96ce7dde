"""Programs in the manner of public collections of benchmarks: each times itself, repeats its kernel, and checks itself.

`program(kernel, timer)` is the text of one; there are len(KERNELS) x len(TIMERS) of them.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Timer:
    """How a program times itself. head: what it includes; now: an expression for the time [s]."""

    head: str
    now: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kernel:
    """What a program does. code: on the device; launch: once; answer: an expression of the host, of what `right` is.

    repeat: how often it is launched.
    """

    code: str
    launch: str
    setup: str
    check: str
    repeat: int


TIMERS = {
    "chrono": Timer(
        "#include <chrono>",
        "std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()",
    ),
    "high_resolution": Timer(
        "#include <chrono>",
        "1e-9 * std::chrono::duration_cast<std::chrono::nanoseconds>("
        "std::chrono::high_resolution_clock::now().time_since_epoch()).count()",
    ),
    "gettimeofday": Timer(
        "#include <sys/time.h>\nstatic double seconds() { timeval t; gettimeofday(&t, 0); "
        "return t.tv_sec + 1e-6 * t.tv_usec; }",
        "seconds()",
    ),
    "clock_gettime": Timer(
        "#include <time.h>\nstatic double seconds() { timespec t; clock_gettime(CLOCK_MONOTONIC, &t); "
        "return t.tv_sec + 1e-9 * t.tv_nsec; }",
        "seconds()",
    ),
    "clock": Timer("#include <ctime>", "(double)clock() / CLOCKS_PER_SEC"),
    "omp": Timer("#include <omp.h>", "omp_get_wtime()", ("-Xcompiler", "-fopenmp")),
}

_PLACE = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
KERNELS = {
    "saxpy": Kernel(
        f"__global__ void work(int n, float a, float *x, float *y) {{ {_PLACE} if (i < n) y[i] = a * x[i] + 1; }}",
        "work<<<(n + 255) / 256, 256>>>(n, 3.0f, x, y)",
        "const int n = 50000;",
        "for (int i = 0; i < n; i++) right &= out[i] == 3 * in[i] + 1;",
        1000,
    ),
    "copy": Kernel(
        f"__global__ void work(int n, const float4 *x, float4 *y) {{ {_PLACE} if (i < n / 4) y[i] = x[i]; }}",
        "work<<<(n / 4 + 127) / 128, 128>>>(n, (const float4 *)x, (float4 *)y)",
        "const int n = 1 << 18;",
        "for (int i = 0; i < n; i++) right &= out[i] == in[i];",
        100,
    ),
    "reduce": Kernel(
        """__global__ void work(int n, const float *x, float *y) {
    __shared__ float sums[256];
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += x[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int by = 128; by; by /= 2) {
        if (threadIdx.x < by) sums[threadIdx.x] += sums[threadIdx.x + by];
        __syncthreads();
    }
    if (!threadIdx.x) y[blockIdx.x] = sums[0];
}""",
        "work<<<64, 256>>>(n, x, y)",
        "const int n = 100000;",
        "double sum = 0, want = 0; for (int i = 0; i < 64; i++) sum += out[i];"
        "for (int i = 0; i < n; i++) want += in[i]; right &= std::fabs(sum - want) < 1e-4 * want;",
        1000,
    ),
    "transpose": Kernel(
        """__global__ void work(int w, const float *x, float *y) {
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = x[(r + k) * w + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) y[(r + k) * w + c] = tile[threadIdx.x][threadIdx.y + k];
}""",
        "work<<<dim3(w / 32, w / 32), dim3(32, 8)>>>(w, x, y)",
        "const int w = 256, n = w * w;",
        "for (int r = 0; r < w; r++) for (int c = 0; c < w; c++) right &= out[c * w + r] == in[r * w + c];",
        100,
    ),
    "stencil": Kernel(
        f"""__global__ void work(int n, const float *x, float *y) {{
    {_PLACE}
    if (i > 1 && i < n - 2) y[i] = x[i - 2] + x[i - 1] + x[i] + x[i + 1] + x[i + 2];
    else if (i < n) y[i] = 0;
}}""",
        "work<<<(n + 127) / 128, 128>>>(n, x, y)",
        "const int n = 40000;",
        "for (int i = 2; i < n - 2; i++) right &= out[i] == in[i - 2] + in[i - 1] + in[i] + in[i + 1] + in[i + 2];",
        500,
    ),
    "histogram": Kernel(
        f"""__global__ void work(int n, const float *x, float *y) {{
    __shared__ unsigned bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;
    __syncthreads();
    {_PLACE}
    if (i < n) atomicAdd(&bins[(int)x[i] & 63], 1u);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&y[threadIdx.x], (float)bins[threadIdx.x]);
}}""",
        "cudaMemset(y, 0, 64 * sizeof(float)); work<<<(n + 255) / 256, 256>>>(n, x, y)",
        "const int n = 30000;",
        "std::vector<float> want(64); for (int i = 0; i < n; i++) want[(int)in[i] & 63]++;"
        "for (int i = 0; i < 64; i++) right &= out[i] == want[i];",
        200,
    ),
    "matmul": Kernel(
        """__global__ void work(int w, const float *x, float *y) {
    __shared__ float a[16][16], b[16][16];
    int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < w; k += 16) {
        a[threadIdx.y][threadIdx.x] = x[r * w + k + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = x[(k + threadIdx.y) * w + c];
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += a[threadIdx.y][j] * b[j][threadIdx.x];
        __syncthreads();
    }
    y[r * w + c] = sum;
}""",
        "work<<<dim3(w / 16, w / 16), dim3(16, 16)>>>(w, x, y)",
        "const int w = 96, n = w * w;",
        "for (int t = 0; t < 50; t++) { int r = t * 7 % w, c = t * 13 % w; double want = 0;"
        "for (int k = 0; k < w; k++) want += (double)in[r * w + k] * in[k * w + c];"
        "right &= std::fabs(out[r * w + c] - want) < 1e-3 * want; }",
        100,
    ),
    "nbody": Kernel(
        f"""__global__ void work(int n, const float *x, float *y) {{
    {_PLACE}
    if (i >= n) return;
    float at = x[i], force = 0;
    for (int j = 0; j < n; j++) {{ float d = x[j] - at; force += d * rsqrtf(d * d + 1); }}
    y[i] = force;
}}""",
        "work<<<(n + 63) / 64, 64>>>(n, x, y)",
        "const int n = 512;",
        "for (int i = 0; i < n; i += 17) { double want = 0;"
        "for (int j = 0; j < n; j++) { double d = in[j] - in[i]; want += d / std::sqrt(d * d + 1); }"
        "right &= std::fabs(out[i] - want) < 0.01 * std::fabs(want) + 0.1; }",
        50,
    ),
    "gather": Kernel(
        f"""__global__ void work(int n, const float *x, float *y) {{
    {_PLACE}
    if (i < n) y[i] = x[(i * 1103515245u + 12345u) % n];
}}""",
        "work<<<(n + 255) / 256, 256>>>(n, x, y)",
        "const int n = 30000;",
        "for (int i = 0; i < n; i++) right &= out[i] == in[(i * 1103515245u + 12345u) % n];",
        200,
    ),
    "mandelbrot": Kernel(
        """__global__ void work(int w, float *y) {
    int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
    float a = 3.0f * c / w - 2, b = 2.0f * r / w - 1, u = 0, v = 0;
    int steps = 0;
    while (steps < 64 && u * u + v * v < 4) { float t = u * u - v * v + a; v = 2 * u * v + b; u = t; steps++; }
    y[r * w + c] = steps;
}""",
        "work<<<dim3(w / 16, w / 16), dim3(16, 16)>>>(w, y)",
        "const int w = 128, n = w * w;",
        "int inside = 0; for (int i = 0; i < n; i++) { right &= out[i] >= 1 && out[i] <= 64; inside += out[i] == 64; }"
        "right &= inside > n / 10 && inside < n / 2;",
        100,
    ),
}

_TEXT = """// {title}
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
{head}
{code}
int main(int count, char **words) {{
    int repeat = count > 1 ? atoi(words[1]) : {repeat};
    {setup}
    std::vector<float> in(n), out(n);
    srand(7);
    for (int i = 0; i < n; i++) in[i] = rand() % 1000;
    float *x, *y;
    if (cudaMalloc(&x, n * sizeof(float)) || cudaMalloc(&y, n * sizeof(float))) return 1;
    cudaMemcpy(x, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    {launch};  // to warm up
    cudaDeviceSynchronize();
    double begin = {now};
    for (int i = 0; i < repeat; i++) {{
        {launch};
    }}
    cudaDeviceSynchronize();
    double took = {now} - begin;
    cudaEvent_t first, last;
    float milliseconds;
    cudaEventCreate(&first);
    cudaEventCreate(&last);
    cudaEventRecord(first);
    for (int i = 0; i < repeat; i++) {{
        {launch};
    }}
    cudaEventRecord(last);
    cudaEventSynchronize(last);
    cudaEventElapsedTime(&milliseconds, first, last);
    cudaMemcpy(out.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
    bool right = true;
    {check}
    printf("%.4f us a launch by the clock, %.4f us by events, %s\\n", 1e6 * took / repeat, 1e3 * milliseconds / repeat,
           right ? "PASS" : "FAIL");
    cudaFree(x);
    cudaFree(y);
    return !right;
}}
"""


def program(kernel: str, timer: str) -> str:
    """The text of one."""
    of, by = KERNELS[kernel], TIMERS[timer]
    return _TEXT.format(
        title=f"{kernel}, timed by {timer}", head=by.head, now=by.now, code=of.code, repeat=of.repeat, setup=of.setup,
        launch=of.launch, check=of.check,
    )  # fmt: skip
