// Plane i of a convolution in three dimensions: each inner point from eleven of its neighbourhood. The size is known to
// the compiler, as in PolyBench-GPU, where it is a macro: the neighbours are then at fixed distances.
template <int n> __device__ void plane(const float* a, float* b, int i)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (j < 1 || k < 1 || j >= n - 1 || k >= n - 1)
        return;
    const float* before = a + ((i - 1) * n + j) * n + k;
    const float* here = before + n * n;
    const float* behind = here + n * n;
    b[(i * n + j) * n + k] = -1.0f * before[-n - 1] + 21.0f * behind[-n - 1] - 3.0f * here[-n] + 6.0f * here[0]
        - 9.0f * here[n] + 2.0f * before[-n + 1] + 4.0f * behind[-n + 1] + 5.0f * before[1] + 7.0f * behind[1]
        - 8.0f * before[n + 1] + 10.0f * behind[n + 1];
}

#define OF_SIZE(n) \
    extern "C" __global__ void convolution_3d_##n(const float* a, float* b, int i) { plane<n>(a, b, i); }

OF_SIZE(16) OF_SIZE(32) OF_SIZE(48) OF_SIZE(64) OF_SIZE(96) OF_SIZE(128)
OF_SIZE(192) OF_SIZE(256) OF_SIZE(384) OF_SIZE(512)
