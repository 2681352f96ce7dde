// Bodies that attract one another, tile by tile in shared memory; float4, rsqrtf, mapped memory of the host.
#include "check.h"
#include <vector>
const int N = 128, TILE = 64;
__global__ void accelerate(const float4 *bodies, float4 *velocity, float dt) {
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    float4 own = bodies[i], a = make_float4(0, 0, 0, 0);
    for (int start = 0; start < N; start += TILE) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < TILE; k++) {
            float x = tile[k].x - own.x, y = tile[k].y - own.y, z = tile[k].z - own.z;
            float inverse = rsqrtf(x * x + y * y + z * z + 0.01f), s = tile[k].w * inverse * inverse * inverse;
            a.x += s * x; a.y += s * y; a.z += s * z;
        }
        __syncthreads();
    }
    velocity[i].x += dt * a.x; velocity[i].y += dt * a.y; velocity[i].z += dt * a.z;
}
int main() {
    float4 *bodies, *velocity, *d_bodies, *d_velocity;
    CHECK(cudaSetDeviceFlags(cudaDeviceMapHost));
    CHECK(cudaHostAlloc((void **)&bodies, N * sizeof(float4), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer((void **)&d_bodies, bodies, 0));
    std::vector<float4> storage(N);
    velocity = storage.data();
    for (int i = 0; i < N; i++) { bodies[i] = make_float4(i % 7 - 3.0f, i % 5 - 2.0f, i % 11 - 5.0f, 1 + i % 2); velocity[i] = make_float4(0, 0, 0, 0); }
    CHECK(cudaHostRegister(velocity, N * sizeof(float4), cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer((void **)&d_velocity, velocity, 0));
    accelerate<<<N / TILE, TILE>>>(d_bodies, d_velocity, 0.01f);
    CHECK(cudaDeviceSynchronize());
    bool right = true;
    for (int i = 0; i < N; i++) {
        double x = 0, y = 0, z = 0;
        for (int k = 0; k < N; k++) {
            double dx = bodies[k].x - bodies[i].x, dy = bodies[k].y - bodies[i].y, dz = bodies[k].z - bodies[i].z;
            double s = bodies[k].w / pow(dx * dx + dy * dy + dz * dz + 0.01, 1.5);
            x += s * dx; y += s * dy; z += s * dz;
        }
        right = right && close_to(velocity[i].x, 0.01 * x, 1e-3) && close_to(velocity[i].y, 0.01 * y, 1e-3) && close_to(velocity[i].z, 0.01 * z, 1e-3);
    }
    CHECK(cudaHostUnregister(velocity)); CHECK(cudaFreeHost(bodies));
    return answer(right);
}
